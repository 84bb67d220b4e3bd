// One thread and one poll for all connections of a meeting. Nothing here waits for anybody in particular: who sends
// half a greeting, or nothing, only uses up its own time.
#include "cresset/distributed/gloo/meeting.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "cresset/distributed/gloo/peer_proof.h"
#include "cresset/distributed/health_keys.h"
#include "cresset/distributed/store_wire.h"
#include "cresset/distributed/transport.h"

namespace cresset::distributed {
namespace {

constexpr size_t kMaxArrivals = 64;  // besides the ranks that are expected
constexpr Milliseconds kArrivalPatience = std::chrono::seconds(10);
constexpr int kMeetingTick = 20;  // milliseconds

std::string in_hex(std::string_view bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

// A few bytes on a connection that is new: they fit, or something is wrong with it.
void say_at_once(Socket& socket, std::string_view bytes) {
  if (socket.write_some(bytes.data(), bytes.size()) != bytes.size())
    throw SocketError(SocketError::Kind::kFailed, message_of(socket.peer(), ": takes no bytes"));
}

// Never more than that: what follows is for Gloo. True when all are there.
bool hear_up_to(Socket& socket, std::string& in, size_t bytes) {
  std::string more(bytes - in.size(), '\0');
  const size_t count = socket.read_some(more.data(), more.size());
  in.append(more, 0, count);
  return in.size() == bytes;
}

}  // namespace

struct Meeting::Arrival {
  Socket socket;
  std::string nonce, in;
  TimePoint until;
};

struct Meeting::Visit {
  enum class State { address, rest, connect, challenge, answer, done };
  int peer = 0;
  State state = State::address;
  std::string host;
  uint16_t port = 0;
  PeerSecret secret;
  PeerExchange exchange;
  Socket socket;
  std::string in;
  TimePoint again{};
  Milliseconds pause{5};
};

Meeting::Meeting(MeetingOptions options)
    : options_(std::move(options)),
      ticket_(in_hex(wire::new_nonce())),
      deadline_(deadline_after(options_.timeout)),
      settled_(static_cast<size_t>(options_.size)),
      missing_(options_.size - 1) {
  for (int peer = 0; peer < options_.rank; peer++) {
    visits_.push_back(std::make_unique<Visit>());
    visits_.back()->peer = peer;
  }
  // The last rank visits all others, and nobody visits it.
  if (options_.rank + 1 < options_.size) listener_ = listen_on(options_.host, 0);
}

Meeting::~Meeting() = default;

std::vector<Socket> Meeting::run() {
  publish();
  while (missing_ > 0) {
    if (abandoned_) throw Interrupted();
    CRESSET_CHECK_AS(DistributedError, std::chrono::steady_clock::now() < deadline_, who_is_missing());
    look_for_addresses();
    set_out();
    wait_and_serve();
    drop_late_arrivals();
  }
  // Whoever needed the address has come.
  if (listener_) options_.store->delete_key(std::to_string(options_.rank));
  return std::move(settled_);
}

void Meeting::publish() {
  if (!listener_) return;
  options_.store->set(std::to_string(options_.rank),
                      message_of(listener_.local_host(), "\t", listener_.local_port(), "\t", ticket_));
}

// One after the other: they all come at about the same time, and a rank that is late is waited for anyway.
void Meeting::look_for_addresses() {
  if (std::chrono::steady_clock::now() < look_after_) return;
  for (const auto& visit : visits_) {
    if (visit->state != Visit::State::address) continue;
    const auto text = options_.store->try_get(std::to_string(visit->peer));
    if (!text) {
      look_after_ = deadline_after(look_pause_);
      look_pause_ = std::min(look_pause_ * 2, Milliseconds(kMeetingTick));
      return;
    }
    const auto parts = split(*text, '\t');
    CRESSET_CHECK_AS(DistributedError, parts.size() == 3 && parts[1].size() <= 5, "found \"", text->substr(0, 100),
                     "\" as the address of rank ", visit->peer, " (expected host, port and ticket)");
    visit->host = parts[0];
    visit->port = static_cast<uint16_t>(std::strtoul(parts[1].c_str(), nullptr, 10));
    visit->secret = {options_.token, options_.group, parts[2]};
    visit->state = Visit::State::rest;
  }
}

void Meeting::set_out() {
  const auto now = std::chrono::steady_clock::now();
  for (const auto& visit : visits_) {
    if (visit->state != Visit::State::rest || visit->again > now) continue;
    visit->in.clear();
    visit->exchange = {options_.rank, visit->peer, {}, wire::new_nonce()};
    visit->socket = begin_connecting(visit->host, visit->port);
    visit->state = Visit::State::connect;
  }
}

int Meeting::next_pause() const {
  TimePoint until = std::min(deadline_, deadline_after(Milliseconds(kMeetingTick)));
  for (const auto& visit : visits_) {
    if (visit->state == Visit::State::address) until = std::min(until, look_after_);
    if (visit->state == Visit::State::rest) until = std::min(until, visit->again);
  }
  return static_cast<int>(left_until(until).count());
}

void Meeting::wait_and_serve() {
  std::vector<pollfd> fds;
  std::vector<Visit*> visitors;
  for (const auto& visit : visits_) {
    if (!visit->socket) continue;
    fds.push_back({visit->socket.fd(), visit->state == Visit::State::connect ? short{POLLOUT} : short{POLLIN}, 0});
    visitors.push_back(visit.get());
  }
  const size_t first_arrival = fds.size();
  for (const auto& arrival : arrivals_) fds.push_back({arrival->socket.fd(), POLLIN, 0});
  const size_t arrived = arrivals_.size();
  const bool is_accepting = listener_ && std::chrono::steady_clock::now() >= accept_after_;
  if (is_accepting) fds.push_back({listener_.fd(), POLLIN, 0});
  if (::poll(fds.data(), fds.size(), next_pause()) <= 0) return;

  for (size_t i = 0; i < visitors.size(); i++)
    if (fds[i].revents) serve(*visitors[i], fds[i].revents);
  for (size_t i = 0; i < arrived; i++)
    if (fds[first_arrival + i].revents && !serve(*arrivals_[i])) arrivals_[i]->socket.close();
  std::erase_if(arrivals_, [](const auto& arrival) { return !arrival->socket; });
  if (is_accepting && fds.back().revents) accept_some();
}

void Meeting::accept_some() {
  for (int i = 0; i < 64; i++) {
    auto arrival = std::make_unique<Arrival>();
    arrival->socket = listener_.accept();
    if (!arrival->socket) {
      const bool none_waits = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED;
      if (!none_waits) accept_after_ = deadline_after(Milliseconds(100));  // no descriptor is free
      return;
    }
    arrival->nonce = wire::new_nonce();
    arrival->until = deadline_after(kArrivalPatience);
    try {
      say_at_once(arrival->socket, challenge_of(arrival->nonce));
    } catch (const SocketError&) {
      continue;  // it has left again
    }
    arrivals_.push_back(std::move(arrival));
    // A crowd of strangers must not keep a rank out, nor use up the descriptors. A rank that is pushed out comes again.
    if (arrivals_.size() > kMaxArrivals + static_cast<size_t>(options_.size)) {
      turn_away(*arrivals_.front(), "said nothing while others came");
      arrivals_.erase(arrivals_.begin());
    }
  }
}

// False: it is to be dropped, or was settled.
bool Meeting::serve(Arrival& arrival) {
  try {
    if (!hear_up_to(arrival.socket, arrival.in, kGreetingBytes)) return true;
    const PeerSecret secret{options_.token, options_.group, ticket_};
    PeerExchange exchange{-1, options_.rank, arrival.nonce, {}};
    if (!accepts(secret, arrival.in, exchange) || exchange.from <= options_.rank || exchange.from >= options_.size) {
      turn_away(arrival, "did not prove to be a rank of this group");
      return false;
    }
    say_at_once(arrival.socket, listener_proof(secret, exchange));
    // One that comes again has lost its first connection.
    settle(exchange.from, std::move(arrival.socket));
  } catch (const SocketError&) {
    turn_away(arrival, "left before it had proved to be a rank of this group");
  }
  return false;
}

void Meeting::serve(Visit& visit, short events) {
  try {
    advance(visit, events);
  } catch (const SocketError& error) {
    // Nobody listens there: the rank is gone, and does not come back under this address.
    if (visit.state == Visit::State::connect) throw;
    visit.socket.close();
    visit.state = Visit::State::rest;
    visit.again = deadline_after(visit.pause);
    visit.pause = std::min(visit.pause * 2, Milliseconds(200));
    last_turned_away_ = error.msg();
  }
}

void Meeting::advance(Visit& visit, short events) {
  using State = Visit::State;
  if (visit.state == State::connect) {
    if (!(events & (POLLOUT | POLLERR | POLLHUP))) return;
    check_connected(visit.socket);
    visit.state = State::challenge;
    return;
  }
  if (visit.state == State::challenge) {
    if (!hear_up_to(visit.socket, visit.in, kChallengeBytes)) return;
    visit.exchange.listener_nonce = nonce_of(visit.in);
    if (visit.exchange.listener_nonce.empty())
      throw SocketError(SocketError::Kind::kFailed, message_of(visit.socket.peer(), ": no rank of ours listens there"));
    say_at_once(visit.socket, greeting_of(visit.secret, visit.exchange));
    visit.in.clear();
    visit.state = State::answer;
    return;
  }
  if (!hear_up_to(visit.socket, visit.in, kPeerProofBytes)) return;
  if (!equal_in_constant_time(visit.in, listener_proof(visit.secret, visit.exchange)))
    throw SocketError(SocketError::Kind::kFailed, message_of(visit.socket.peer(), ": does not know this group"));
  visit.state = State::done;
  settle(visit.peer, std::move(visit.socket));
}

void Meeting::settle(int peer, Socket socket) {
  Socket& place = settled_[static_cast<size_t>(peer)];
  if (!place) missing_--;
  place = std::move(socket);
}

void Meeting::turn_away(const Arrival& arrival, const char* why) {
  turned_away_++;
  last_turned_away_ = message_of(arrival.socket.peer(), " ", why);
}

void Meeting::drop_late_arrivals() {
  const auto now = std::chrono::steady_clock::now();
  while (!arrivals_.empty() && arrivals_.front()->until <= now) {
    turn_away(*arrivals_.front(), "said nothing");
    arrivals_.erase(arrivals_.begin());
  }
}

std::string Meeting::who_is_missing() const {
  std::string ranks;
  for (int peer = 0; peer < options_.size; peer++) {
    if (peer == options_.rank || settled_[static_cast<size_t>(peer)]) continue;
    const bool is_named = static_cast<size_t>(peer) < options_.names.size();
    ranks += message_of(ranks.empty() ? "" : ", ", is_named ? options_.names[static_cast<size_t>(peer)] : peer);
  }
  std::string words =
      message_of("there was no connection with rank ", ranks, " within ", options_.timeout.count(), " ms");
  if (turned_away_ > 0) words += message_of("; ", turned_away_, " who came were turned away");
  if (!last_turned_away_.empty()) words += message_of(" (the last: ", last_turned_away_, ")");
  return words;
}

}  // namespace cresset::distributed
