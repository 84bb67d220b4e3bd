// The loop: who comes, greets, says something that makes no sense, or leaves.
#include "cresset/distributed/tcp_store_server.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cresset/distributed/tcp_store_connection.h"

namespace cresset::distributed {

using wire::Answer;
using wire::Ask;

namespace {

constexpr uint64_t kListenerId = 0;
constexpr uint64_t kStopId = 1;
constexpr Milliseconds kStrangerPatience = std::chrono::seconds(10);
constexpr size_t kUnderWay = 4;                  // times max_bytes: many may ask for one large value at once
constexpr size_t kOwnBuffer = size_t{64} << 10;  // every connection's: with it all can still be asked, and all deleted
constexpr size_t kReadBytes = size_t{256} << 10;

// The process has other uses for its descriptors: of 8 parts 5 are for those who were let in, 1 for strangers.
size_t eighths_of_descriptors(size_t parts) {
  rlimit limit{};
  const bool is_known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return std::min<size_t>(is_known ? limit.rlim_cur : 1024, size_t{1} << 20) / 8 * parts;
}

}  // namespace

std::string wire::new_nonce() {
  std::string nonce(kNonceBytes, '\0');
  for (size_t at = 0; at < nonce.size();) {
    const ssize_t count = ::getrandom(nonce.data() + at, nonce.size() - at, 0);
    CRESSET_CHECK_AS(DistributedError, count >= 0 || errno == EINTR, "TcpStore: the kernel gives no random numbers");
    if (count > 0) at += static_cast<size_t>(count);
  }
  return nonce;
}

TcpStoreServer::TcpStoreServer(Socket listener, std::string token, const TcpStoreLimits& limits)
    : host_(listener.local_host()),
      port_(listener.local_port()),
      token_(std::move(token)),
      listener_(std::move(listener)),
      owner_(::getpid()),
      limits_(limits),
      max_clients_(limits.max_clients > 0 ? limits.max_clients : std::max<size_t>(8, eighths_of_descriptors(5))),
      max_strangers_(std::clamp<size_t>(eighths_of_descriptors(1), 8, 256)),
      read_buffer_(kReadBytes, '\0'),
      table_(TableLimits{limits.max_bytes, limits.max_keys}) {
  events_ = ::epoll_create1(EPOLL_CLOEXEC);
  stop_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event listen_event{EPOLLIN, {.u64 = kListenerId}}, stop_event{EPOLLIN, {.u64 = kStopId}};
  const bool is_ready = events_ >= 0 && stop_event_ >= 0 &&
                        ::epoll_ctl(events_, EPOLL_CTL_ADD, listener_.fd(), &listen_event) == 0 &&
                        ::epoll_ctl(events_, EPOLL_CTL_ADD, stop_event_, &stop_event) == 0;
  if (!is_ready) {
    const int error = errno;
    if (events_ >= 0) ::close(events_);
    if (stop_event_ >= 0) ::close(stop_event_);
    throw DistributedError(message_of("TcpStore: the server at ", host_and_port(host_, port_),
                                      " cannot watch sockets: ", std::generic_category().message(error)));
  }
  // Signals are for the program's own threads.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::make_unique<std::thread>([this] { serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TcpStoreServer::~TcpStoreServer() {
  if (::getpid() != owner_) {
    // The thread stayed with the parent: nothing to stop here, and joining it would wait for ever.
    (void)thread_.release();
  } else {
    stopping_ = true;
    const uint64_t one = 1;
    (void)!::write(stop_event_, &one, sizeof one);
    thread_->join();
  }
  ::close(events_);
  ::close(stop_event_);
}

void TcpStoreServer::serve() {
  std::array<epoll_event, 64> events;
  while (!stopping_) {
    const int count = ::epoll_wait(events_, events.data(), static_cast<int>(events.size()), next_pause());
    for (int i = 0; i < count && !stopping_; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      if (event.data.u64 == kListenerId) {
        accept_some();
      } else if (event.data.u64 != kStopId) {
        on_event(event.data.u64, event.events);
      }
    }
    drop_late_strangers();
    answer_parked();
    const bool may_accept = std::chrono::steady_clock::now() >= accept_after_;
    if (may_accept != is_accepting_) {
      is_accepting_ = may_accept;
      epoll_event event{may_accept ? EPOLLIN : 0U, {.u64 = kListenerId}};
      ::epoll_ctl(events_, EPOLL_CTL_MOD, listener_.fd(), &event);
    }
  }
}

int TcpStoreServer::next_pause() const {
  TimePoint next = deadline_after(std::chrono::hours(1));
  for (const Id id : parked_) next = std::min(next, connections_.at(id)->parked->deadline);
  if (!strangers_.empty()) next = std::min(next, connections_.at(*strangers_.begin())->born + kStrangerPatience);
  if (!is_accepting_) next = std::min(next, accept_after_);
  return static_cast<int>(left_until(next).count());
}

void TcpStoreServer::accept_some() {
  // A few at a time: those who are here already are served in between.
  for (int i = 0; i < 16; ++i) {
    auto connection = std::make_unique<Connection>();
    connection->socket = listener_.accept();
    if (!connection->socket) {
      const bool none_waits = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED;
      if (!none_waits) accept_after_ = deadline_after(Milliseconds(100));  // no descriptor is free
      return;
    }
    connection->socket.watch_peer();
    connection->id = next_id_++;
    connection->born = std::chrono::steady_clock::now();
    watch(*connection, EPOLLIN, EPOLL_CTL_ADD);
    strangers_.insert(connection->id);
    connections_.emplace(connection->id, std::move(connection));
    // A crowd that says nothing must keep nobody out. A client that is pushed out before it could greet comes again.
    if (strangers_.size() > max_strangers_) drop(*strangers_.begin());
  }
}

void TcpStoreServer::watch(const Connection& connection, uint32_t events, int operation) const {
  epoll_event event{events, {.u64 = connection.id}};
  ::epoll_ctl(events_, operation, connection.socket.fd(), &event);
}

void TcpStoreServer::on_event(Id id, uint32_t events) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  try {
    if (events & EPOLLOUT) flush(connection);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_from(connection);
    handle_frames(connection);
    count_buffers(connection);
  } catch (const std::exception&) {
    drop(id);  // it left, or cannot be understood; nobody else is touched
  }
}

void TcpStoreServer::read_from(Connection& connection) {
  try {
    const size_t count = connection.socket.read_some(read_buffer_.data(), read_buffer_.size());
    // Who sends long messages bit by bit uses up what is kept for them.
    CRESSET_CHECK_AS(ValueError, has_room_for(connection, count), "too much is under way");
    connection.in.append(read_buffer_.data(), count);
  } catch (const SocketError&) {
    handle_frames(connection);  // what came before the end still counts: it may be a goodbye
    throw;
  }
}

bool TcpStoreServer::has_room_for(const Connection& connection, size_t bytes) const {
  const size_t own = connection.in.size() + connection.out.size() + bytes;
  return own <= kOwnBuffer || (buffered_ - connection.counted + own) / kUnderWay <= limits_.max_bytes;
}

void TcpStoreServer::count_buffers(Connection& connection) {
  const size_t own = connection.in.size() + connection.out.size();
  buffered_ -= connection.counted;
  connection.counted = own > kOwnBuffer ? own : 0;
  buffered_ += connection.counted;
}

void TcpStoreServer::flush(Connection& connection) {
  std::string& out = connection.out;
  while (connection.sent < out.size()) {
    const size_t count = connection.socket.write_some(out.data() + connection.sent, out.size() - connection.sent);
    if (count == 0) break;
    connection.sent += count;
  }
  const bool is_done = connection.sent == out.size();
  if (is_done) {
    std::string().swap(out);
    connection.sent = 0;
  }
  if (connection.is_writing == !is_done) return;
  connection.is_writing = !is_done;
  watch(connection, is_done ? EPOLLIN : EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
}

// One request at a time: the next is looked at when the answer to this one is on its way.
void TcpStoreServer::handle_frames(Connection& connection) {
  size_t at = 0;
  while (!connection.parked && connection.out.empty() && connection.in.size() - at >= wire::kHeaderBytes) {
    const std::string_view rest = std::string_view(connection.in).substr(at);
    wire::Reader header(rest.substr(0, wire::kHeaderBytes));
    CRESSET_CHECK_AS(ValueError, header.number(4) == wire::kMagic, "not one of our messages");
    const auto ask = static_cast<Ask>(header.number(1));
    const size_t bytes = header.number(4);
    const size_t limit = connection.is_trusted ? wire::kMaxRequestBytes : wire::kMaxGreetingBytes;
    CRESSET_CHECK_AS(ValueError, bytes <= limit, "a message of ", bytes, " bytes");
    if (rest.size() < wire::kHeaderBytes + bytes) break;
    wire::Reader body(rest.substr(wire::kHeaderBytes, bytes));
    connection.is_trusted ? handle(connection, ask, body) : greet(connection, ask, body);
    at += wire::kHeaderBytes + bytes;
  }
  connection.in.erase(0, at);
  const size_t limit = connection.parked ? 0 : wire::kHeaderBytes + wire::kMaxRequestBytes + kReadBytes;
  CRESSET_CHECK_AS(ValueError, connection.in.size() <= limit, "more than was asked for");
  if (connection.in.empty() && connection.in.capacity() > 4 * kReadBytes) std::string().swap(connection.in);
}

void TcpStoreServer::greet(Connection& connection, Ask ask, wire::Reader& body) {
  if (ask == Ask::kHello && connection.expected_proof.empty()) {
    const uint64_t protocol = body.number(1);
    if (protocol != wire::kProtocol) {
      reply(connection, Answer::kRefused, "another version of the protocol");
      throw ValueError("another protocol");
    }
    const std::string client_nonce = body.text();
    const bool has_token = body.number(1) != 0;
    connection.introduction = body.text();
    body.end();
    if (has_token && token_.empty()) turn_away(connection, "came with a token, and this rank has none");
    if (!has_token && !token_.empty()) turn_away(connection, "came without a token");
    if (!token_.empty()) {
      const std::string nonce = wire::new_nonce();
      connection.expected_proof = wire::proof("client", token_, nonce, client_nonce);
      connection.own_proof = wire::proof("server", token_, nonce, client_nonce);
      return reply(connection, Answer::kChallenge, nonce);
    }
    check_not_crowded(connection);
    reply(connection, Answer::kOpen);
  } else {
    CRESSET_CHECK_AS(ValueError, ask == Ask::kProof && !connection.expected_proof.empty(), "no greeting");
    const std::string proof = body.text();
    body.end();
    if (!equal_in_constant_time(proof, connection.expected_proof)) {
      turn_away(connection, "came with another token");
      reply(connection, Answer::kRefused, "token");
      throw ValueError("wrong token");
    }
    check_not_crowded(connection);
    reply(connection, Answer::kDone, connection.own_proof);
  }
  connection.is_trusted = true;
  strangers_.erase(connection.id);
}

void TcpStoreServer::check_not_crowded(Connection& connection) {
  const size_t clients = connections_.size() - strangers_.size();
  if (clients < max_clients_) return;
  reply(connection, Answer::kRefused,
        message_of("it has ", clients, " clients, and takes no more; TcpStoreLimits::max_clients"));
  throw ValueError("too many clients");
}

// For the process that keeps the store: it would wait for this one in vain. A stranger's words are not to be trusted.
void TcpStoreServer::turn_away(const Connection& connection, const char* why) {
  constexpr size_t kRemembered = 64;
  std::string who = connection.introduction.substr(0, wire::kMaxIntroduction);
  std::erase_if(who, [](unsigned char c) { return c < 32 || c > 126; });
  const std::lock_guard lock(turned_away_mutex_);
  if (!who.empty() && turned_away_.size() < kRemembered) turned_away_.push_back(who + " " + why);
}

std::vector<std::string> TcpStoreServer::turned_away() const {
  const std::lock_guard lock(turned_away_mutex_);
  return turned_away_;
}

void TcpStoreServer::reply(Connection& connection, Answer answer, std::string_view body) {
  if (has_room_for(connection, body.size())) {
    connection.out += wire::frame(answer, body);
  } else {
    connection.out += wire::frame(Answer::kBadValue,
                                  message_of("an answer of ", body.size(), " bytes found no room beside ", buffered_,
                                             " of others that were not read yet (expected at "
                                             "most ",
                                             kUnderWay, " * ", limits_.max_bytes, "; TcpStoreLimits::max_bytes)"));
  }
  flush(connection);
  count_buffers(connection);
}

void TcpStoreServer::drop(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const std::unique_ptr<Connection> connection = std::move(found->second);
  connections_.erase(found);
  strangers_.erase(id);
  parked_.erase(id);
  buffered_ -= connection->counted;
  for (const auto& [key, value] : connection->wills) {
    will_bytes_ -= key.size() + value.size();
    table_.set_always(key, value);
  }
}

void TcpStoreServer::drop_late_strangers() {
  const auto now = std::chrono::steady_clock::now();
  while (!strangers_.empty()) {
    const Id oldest = *strangers_.begin();
    if (connections_.at(oldest)->born + kStrangerPatience > now) return;
    drop(oldest);
  }
}

}  // namespace cresset::distributed
