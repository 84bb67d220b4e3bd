#include "cresset/distributed/tcp_store_server.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>

namespace cresset::distributed {

using wire::Answer;
using wire::Ask;

namespace {

constexpr uint64_t kListenerId = 0;
constexpr uint64_t kStopId = 1;
constexpr size_t kMaxStrangers = 256;
constexpr Milliseconds kStrangerPatience = std::chrono::seconds(10);
constexpr Milliseconds kCrowdedPatience = std::chrono::seconds(1);
constexpr size_t kMaxWills = 1024;
constexpr size_t kReadBytes = size_t{256} << 10;
constexpr size_t kNamedMissing = 16;

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

// A request that waits for keys, or for changes under a prefix.
struct TcpStoreServer::Parked {
  Ask ask = Ask::kGet;
  TimePoint deadline;
  std::vector<std::string> keys;  // of changes: the prefix alone
  size_t present = 0;             // this many keys in front were there already
  uint64_t since = 0;
};

struct TcpStoreServer::Connection {
  Id id = 0;
  Socket socket;
  TimePoint born;
  bool is_trusted = false;
  std::string introduction;               // who it says it is
  std::string expected_proof, own_proof;  // after the challenge
  std::string in, out;
  size_t sent = 0;          // of out
  bool is_writing = false;  // waits until the socket takes more of it
  std::unique_ptr<Parked> parked;
  std::map<std::string, std::string> wills;
};

TcpStoreServer::TcpStoreServer(Socket listener, std::string token)
    : host_(listener.local_host()),
      port_(listener.local_port()),
      token_(std::move(token)),
      listener_(std::move(listener)),
      owner_(::getpid()),
      read_buffer_(kReadBytes, '\0') {
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
    const bool may_accept = strangers_.size() < kMaxStrangers && std::chrono::steady_clock::now() >= accept_after_;
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
  if (!strangers_.empty()) {
    const auto patience = strangers_.size() >= kMaxStrangers ? kCrowdedPatience : kStrangerPatience;
    next = std::min(next, connections_.at(*strangers_.begin())->born + patience);
  }
  if (!is_accepting_ && strangers_.size() < kMaxStrangers) next = std::min(next, accept_after_);
  return static_cast<int>(left_until(next).count());
}

void TcpStoreServer::accept_some() {
  // A few at a time: those who are here already are served in between.
  for (int i = 0; i < 16 && strangers_.size() < kMaxStrangers; ++i) {
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
  } catch (const std::exception&) {
    drop(id);  // it left, or cannot be understood; nobody else is touched
  }
}

void TcpStoreServer::read_from(Connection& connection) {
  try {
    const size_t count = connection.socket.read_some(read_buffer_.data(), read_buffer_.size());
    connection.in.append(read_buffer_.data(), count);
  } catch (const SocketError&) {
    handle_frames(connection);  // what came before the end still counts: it may be a goodbye
    throw;
  }
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
    reply(connection, Answer::kDone, connection.own_proof);
  }
  connection.is_trusted = true;
  strangers_.erase(connection.id);
}

void TcpStoreServer::handle(Connection& connection, Ask ask, wire::Reader& body) {
  wire::Writer out;
  switch (ask) {
    case Ask::kSet: {
      const std::string key = body.key();
      const std::string value = body.text();
      body.end();
      table_.set(key, value);
      return reply(connection, Answer::kDone);
    }
    case Ask::kTryGet: {
      const std::string* value = table_.find(body.key());
      return value ? reply(connection, Answer::kDone, *value) : reply(connection, Answer::kNo);
    }
    case Ask::kAdd: {
      const std::string key = body.key();
      const auto amount = static_cast<int64_t>(body.number());
      body.end();
      try {
        out.number(static_cast<uint64_t>(table_.add(key, amount)));
      } catch (const ValueError& error) {
        return reply(connection, Answer::kBadValue, error.msg());
      }
      return reply(connection, Answer::kDone, out.body());
    }
    case Ask::kCompareSet: {
      const std::string key = body.key();
      const std::string expected = body.text();
      const std::string desired = body.text();
      body.end();
      return reply(connection, Answer::kDone, table_.compare_set(key, expected, desired));
    }
    case Ask::kGet:
    case Ask::kWait:
    case Ask::kChanges: {
      Parked parked;
      parked.ask = ask;
      parked.deadline = deadline_after(Milliseconds(static_cast<int64_t>(body.number())));
      parked.since = body.number();
      parked.keys = body.keys();
      body.end();
      CRESSET_CHECK_AS(ValueError, ask == Ask::kWait || parked.keys.size() == 1, "one key is wanted");
      return park(connection, std::move(parked));
    }
    case Ask::kCheck:
      return reply(connection, missing_keys(table_, body.keys()).empty() ? Answer::kDone : Answer::kNo);
    case Ask::kDelete:
      return reply(connection, table_.erase(body.key()) ? Answer::kDone : Answer::kNo);
    case Ask::kNumKeys:
      out.number(static_cast<uint64_t>(table_.size()));
      return reply(connection, Answer::kDone, out.body());
    case Ask::kLastWill: {
      const std::string key = body.key();
      std::string value = body.text();
      body.end();
      if (connection.wills.size() >= kMaxWills && !connection.wills.contains(key)) {
        return reply(connection, Answer::kBadValue,
                     message_of("last_will: a client has at most ", kMaxWills, " wills"));
      }
      connection.wills[key] = std::move(value);
      return reply(connection, Answer::kDone);
    }
    case Ask::kWithdrawWill:
      connection.wills.erase(body.key());
      return reply(connection, Answer::kDone);
    case Ask::kGoodbye:
      connection.wills.clear();
      return reply(connection, Answer::kDone);
    case Ask::kHello:
    case Ask::kProof:
      break;
  }
  throw ValueError("an unknown request");
}

void TcpStoreServer::park(Connection& connection, Parked parked) {
  connection.parked = std::make_unique<Parked>(std::move(parked));
  const bool is_late = connection.parked->deadline <= std::chrono::steady_clock::now();
  if (!answer_if_ready(connection, is_late)) parked_.insert(connection.id);
}

bool TcpStoreServer::answer_if_ready(Connection& connection, bool is_late) {
  Parked& parked = *connection.parked;
  wire::Writer out;
  auto answer = Answer::kDone;
  if (parked.ask == Ask::kChanges) {
    const Changes changes = table_.changes(parked.keys.front(), parked.since);
    parked.since = std::max(parked.since, changes.version);
    if (changes.entries.empty() && !is_late) return false;
    out.number(changes.version);
    out.number(changes.entries.size(), 4);
    for (const auto& [key, value] : changes.entries) out.text(key), out.text(value);
  } else {
    // A key that was there once may be gone by the time the last one comes; only then is everything looked at again.
    while (parked.present < parked.keys.size() && table_.contains(parked.keys[parked.present])) ++parked.present;
    std::vector<std::string> missing;
    if (parked.present == parked.keys.size() || is_late) missing = missing_keys(table_, parked.keys);
    const bool is_complete = parked.present == parked.keys.size() && missing.empty();
    if (!is_complete && !is_late) {
      parked.present = missing.empty() ? parked.present : 0;
      return false;
    }
    if (!missing.empty()) {
      answer = Answer::kLate;
      out.number(missing.size());
      missing.resize(std::min(missing.size(), kNamedMissing));
      out.texts(missing);
    }
  }
  const bool is_get = parked.ask == Ask::kGet && answer == Answer::kDone;
  const std::string key = is_get ? parked.keys.front() : std::string();
  connection.parked.reset();
  parked_.erase(connection.id);
  is_get ? reply(connection, answer, *table_.find(key)) : reply(connection, answer, out.body());
  return true;
}

void TcpStoreServer::answer_parked() {
  uint64_t version = 0;
  do {
    version = table_.version();
    const std::vector<Id> ids(parked_.begin(), parked_.end());
    const auto now = std::chrono::steady_clock::now();
    for (const Id id : ids) {
      Connection& connection = *connections_.at(id);
      try {
        answer_if_ready(connection, connection.parked->deadline <= now);
      } catch (const std::exception&) {
        drop(id);
      }
    }
  } while (table_.version() != version);  // a connection broke just now, and its will was done
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
  connection.out += wire::frame(answer, body);
  flush(connection);
}

void TcpStoreServer::drop(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const std::unique_ptr<Connection> connection = std::move(found->second);
  connections_.erase(found);
  strangers_.erase(id);
  parked_.erase(id);
  for (const auto& [key, value] : connection->wills) table_.set(key, value);
}

void TcpStoreServer::drop_late_strangers() {
  const auto now = std::chrono::steady_clock::now();
  while (!strangers_.empty()) {
    const Id oldest = *strangers_.begin();
    const auto patience = strangers_.size() >= kMaxStrangers ? kCrowdedPatience : kStrangerPatience;
    if (connections_.at(oldest)->born + patience > now) return;
    drop(oldest);
  }
}

}  // namespace cresset::distributed
