#include "cresset/distributed/tcp_store.h"

#include <unistd.h>

#include <mutex>
#include <thread>

#include "cresset/distributed/tcp_store_server.h"

namespace cresset::distributed {

using wire::Answer;
using wire::Ask;

namespace {

constexpr const char* kStore = "TcpStore";
// What a server may take to answer, besides the time for which it was asked to wait.
constexpr Milliseconds kGrace = std::chrono::seconds(10);
// A long message that moves may take longer: each piece has the time.
constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr Milliseconds kGoodbyePatience = std::chrono::seconds(2);

std::string keys_text(const std::vector<std::string>& keys) {
  if (keys.empty()) return "no keys";
  std::string text = (keys.size() == 1 ? "key '" : "keys '") + keys.front() + "'";
  if (keys.size() > 1) text += " and " + std::to_string(keys.size() - 1) + " more";
  return text;
}

}  // namespace

// One connection. Requests of several threads take turns.
struct TcpStore::Client {
  struct Reply {
    Answer answer;
    std::string body;
  };

  Client(const TcpStoreOptions& options, std::string host, uint16_t port)
      : host(std::move(host)), port(port), name("tcp://" + host_and_port(this->host, port)) {
    connect(options);
  }

  ~Client() {
    // In a forked child the connection is the parent's, and so is the goodbye.
    if (getpid() != owner || !broken.empty()) return;
    try {
      const auto deadline = deadline_after(kGoodbyePatience);
      send(Ask::kGoodbye, {}, deadline);
      receive(deadline);
    } catch (const Error&) {
    }
  }

  void connect(const TcpStoreOptions& options) {
    const auto deadline = deadline_after(options.timeout);
    auto pause = Milliseconds(5);
    for (;;) {
      std::string why;
      try {
        socket = connect_to(host, port, deadline);
        return greet(options, deadline);
      } catch (const SocketError& error) {
        // "host:port: connect: connection refused"; the name stands in the message already.
        const size_t colon = error.msg().rfind(": ");
        why = colon == std::string::npos ? error.msg() : error.msg().substr(colon + 2);
      }
      socket.close();
      const auto left = left_until(deadline);
      CRESSET_CHECK_AS(DistributedError, left > Milliseconds(0), kStore, ": no server at ", name, " after ",
                       options.timeout.count(), " ms (", why, ")");
      std::this_thread::sleep_for(std::min(pause, left));
      pause = std::min(pause * 2, Milliseconds(200));
    }
  }

  void greet(const TcpStoreOptions& options, TimePoint deadline) {
    const std::string& token = options.token;
    const std::string nonce = wire::new_nonce();
    wire::Writer hello;
    hello.number(wire::kProtocol, 1);
    hello.text(nonce);
    hello.number(token.empty() ? 0 : 1, 1);
    hello.text(std::string_view(options.introduction).substr(0, wire::kMaxIntroduction));
    send(Ask::kHello, hello.body(), deadline);
    const Reply first = receive(deadline);
    CRESSET_CHECK_AS(DistributedError, first.answer != Answer::kRefused, kStore, ": the server at ", name,
                     " refused the connection (", first.body, ")");
    if (first.answer == Answer::kOpen) {
      CRESSET_CHECK_AS(DistributedError, token.empty(), kStore, ": the server at ", name,
                       " asks for no token (expected one that knows the token given here)");
      return;
    }
    CRESSET_CHECK_AS(DistributedError, first.answer == Answer::kChallenge && first.body.size() == wire::kNonceBytes,
                     kStore, ": what answers at ", name, " is no store");
    CRESSET_CHECK_AS(DistributedError, !token.empty(), kStore, ": the server at ", name,
                     " asks for a token (found none; CRESSET_TOKEN or the options name it)");
    wire::Writer proof;
    proof.text(wire::proof("client", token, first.body, nonce));
    send(Ask::kProof, proof.body(), deadline);
    const Reply second = receive(deadline);
    CRESSET_CHECK_AS(DistributedError, second.answer != Answer::kRefused || second.body == "token", kStore,
                     ": the server at ", name, " refused the connection (", second.body, ")");
    CRESSET_CHECK_AS(DistributedError, second.answer == Answer::kDone, kStore, ": the server at ", name,
                     " refused the token");
    CRESSET_CHECK_AS(DistributedError,
                     equal_in_constant_time(second.body, wire::proof("server", token, first.body, nonce)), kStore,
                     ": the server at ", name, " does not know the token");
  }

  void send(Ask ask, std::string_view body, TimePoint deadline) {
    const std::string message = wire::frame(ask, body);
    for (size_t at = 0; at < message.size(); at += kPieceBytes) {
      const size_t bytes = std::min(kPieceBytes, message.size() - at);
      socket.write_exactly(message.data() + at, bytes, at == 0 ? deadline : std::max(deadline, deadline_after(kGrace)));
    }
  }

  Reply receive(TimePoint deadline) {
    std::string header(wire::kHeaderBytes, '\0');
    socket.read_exactly(header.data(), header.size(), deadline);
    wire::Reader reader(header);
    const uint64_t magic = reader.number(4);
    Reply reply{static_cast<Answer>(reader.number(1)), {}};
    const size_t bytes = reader.number(4);
    CRESSET_CHECK_AS(DistributedError, magic == wire::kMagic && bytes <= wire::kMaxReplyBytes, kStore,
                     ": what answers at ", name, " is no store");
    reply.body.resize(bytes);
    for (size_t at = 0; at < bytes; at += kPieceBytes) {
      socket.read_exactly(reply.body.data() + at, std::min(kPieceBytes, bytes - at),
                          at == 0 ? deadline : std::max(deadline, deadline_after(kGrace)));
    }
    return reply;
  }

  // `doing` ends the sentence when the server is lost: "waiting for key 'x'".
  template <class Doing>
  Reply ask(Ask kind, const wire::Writer& body, Milliseconds timeout, const Doing& doing) {
    CRESSET_CHECK_AS(DistributedError, getpid() == owner, kStore, ": this connection to ", name, " belongs to process ",
                     owner, " and cannot be used in its forked child ", getpid(),
                     " (expected a store that the child made)");
    const std::lock_guard lock(mutex);
    CRESSET_CHECK_AS(DistributedError, broken.empty(), broken);
    const auto patience = std::min(std::max(timeout, Milliseconds(0)), Milliseconds(std::chrono::hours(24 * 3650)));
    try {
      const auto deadline = deadline_after(patience + kGrace);
      send(kind, body.body(), deadline);
      Reply reply = receive(deadline);
      CRESSET_CHECK_AS(ValueError, reply.answer != Answer::kBadValue, kStore, ": ", reply.body);
      return reply;
    } catch (const SocketError& error) {
      // After half an answer nothing on this connection can be understood any more.
      broken = error.kind() == SocketError::Kind::kTimeout
                   ? message_of(kStore, ": the store at ", name, " did not answer within ", (patience + kGrace).count(),
                                " ms while ", doing())
                   : message_of(kStore, ": the store at ", name, " went away while ", doing());
      socket.close();
      throw DistributedError(broken);
    }
  }

  const std::string host;
  const uint16_t port;
  const std::string name;
  const pid_t owner = getpid();
  std::mutex mutex;
  Socket socket;
  std::string broken;  // why the connection is no longer of use
};

namespace {

std::shared_ptr<TcpStoreServer> make_server(const TcpStoreOptions& options) {
  if (!options.is_server) {
    CRESSET_CHECK_AS(ValueError, options.listen_fd < 0, kStore, ": found listen_fd ", options.listen_fd,
                     " on a client (expected it with is_server)");
    CRESSET_CHECK_AS(ValueError, options.port != 0, kStore, ": found port 0 on a client of ", options.host,
                     " (expected the server's port)");
    return nullptr;
  }
  try {
    Socket listener = options.listen_fd >= 0 ? Socket(options.listen_fd, message_of("fd ", options.listen_fd))
                                             : listen_on(options.host, options.port);
    return std::make_shared<TcpStoreServer>(std::move(listener), options.token, options.limits);
  } catch (const SocketError& error) {
    throw DistributedError(message_of(kStore, ": ", error.msg()));
  }
}

// Where a client of this process finds the server: one that listens everywhere also listens here.
std::string reachable(const std::string& host) {
  if (host == "0.0.0.0") return "127.0.0.1";
  return host == "::" ? "::1" : host;
}

}  // namespace

TcpStore::TcpStore(const TcpStoreOptions& options) : TcpStore(options, make_server(options)) {}

TcpStore::TcpStore(const TcpStoreOptions& options, std::shared_ptr<TcpStoreServer> server)
    : Store(options.timeout), options_(options), server_(std::move(server)) {
  client_ = server_ ? std::make_unique<Client>(options_, reachable(server_->host()), server_->port())
                    : std::make_unique<Client>(options_, options_.host, options_.port);
}

TcpStore::~TcpStore() = default;

std::vector<std::string> TcpStore::turned_away() const {
  return server_ ? server_->turned_away() : std::vector<std::string>();
}

uint16_t TcpStore::port() const { return client_->port; }
const std::string& TcpStore::host() const { return client_->host; }
std::string TcpStore::name() const { return client_->name; }

void TcpStore::set(const std::string& key, std::string_view value) {
  check_value(kStore, key, value.size());
  wire::Writer body;
  body.text(key);
  body.text(value);
  client_->ask(Ask::kSet, body, timeout_, [&] { return "setting key '" + key + "'"; });
}

std::string TcpStore::get(const std::string& key, Milliseconds timeout) {
  check_key(kStore, key);
  wire::Writer body;
  body.number(static_cast<uint64_t>(timeout.count()));
  body.number(0);
  body.texts({key});
  auto reply = client_->ask(Ask::kGet, body, timeout, [&] { return "waiting for key '" + key + "'"; });
  if (reply.answer == Answer::kLate) throw_not_set(kStore, name(), {key}, 1, timeout);
  return std::move(reply.body);
}

std::optional<std::string> TcpStore::try_get(const std::string& key) {
  check_key(kStore, key);
  wire::Writer body;
  body.text(key);
  auto reply = client_->ask(Ask::kTryGet, body, timeout_, [&] { return "reading key '" + key + "'"; });
  if (reply.answer == Answer::kNo) return std::nullopt;
  return std::move(reply.body);
}

int64_t TcpStore::add(const std::string& key, int64_t amount) {
  check_key(kStore, key);
  wire::Writer body;
  body.text(key);
  body.number(static_cast<uint64_t>(amount));
  const auto reply = client_->ask(Ask::kAdd, body, timeout_, [&] { return "adding to key '" + key + "'"; });
  return static_cast<int64_t>(wire::Reader(reply.body).number());
}

std::string TcpStore::compare_set(const std::string& key, const std::string& expected, const std::string& desired) {
  check_value(kStore, key, desired.size() + expected.size());
  wire::Writer body;
  body.text(key);
  body.text(expected);
  body.text(desired);
  return client_->ask(Ask::kCompareSet, body, timeout_, [&] { return "setting key '" + key + "'"; }).body;
}

namespace {

void check_keys(const std::vector<std::string>& keys) {
  CRESSET_CHECK_AS(ValueError, keys.size() <= wire::kMaxKeys, kStore, ": found ", keys.size(),
                   " keys to wait or look for at once (expected at most ", wire::kMaxKeys, ")");
  for (const std::string& key : keys) check_key(kStore, key);
}

}  // namespace

void TcpStore::wait(const std::vector<std::string>& keys, Milliseconds timeout) {
  check_keys(keys);
  wire::Writer body;
  body.number(static_cast<uint64_t>(timeout.count()));
  body.number(0);
  body.texts(keys);
  const auto reply = client_->ask(Ask::kWait, body, timeout, [&] { return "waiting for " + keys_text(keys); });
  if (reply.answer != Answer::kLate) return;
  wire::Reader reader(reply.body);
  const size_t count = reader.number();
  throw_not_set(kStore, name(), reader.keys(), count, timeout);
}

bool TcpStore::check(const std::vector<std::string>& keys) {
  check_keys(keys);
  wire::Writer body;
  body.texts(keys);
  const auto reply = client_->ask(Ask::kCheck, body, timeout_, [&] { return "looking for " + keys_text(keys); });
  return reply.answer == Answer::kDone;
}

bool TcpStore::delete_key(const std::string& key) {
  check_key(kStore, key);
  wire::Writer body;
  body.text(key);
  const auto reply = client_->ask(Ask::kDelete, body, timeout_, [&] { return "deleting key '" + key + "'"; });
  return reply.answer == Answer::kDone;
}

int64_t TcpStore::num_keys() {
  const auto reply = client_->ask(Ask::kNumKeys, {}, timeout_, [] { return "counting the keys"; });
  return static_cast<int64_t>(wire::Reader(reply.body).number());
}

Changes TcpStore::changes(const std::string& prefix, uint64_t since, Milliseconds timeout) {
  check_key(kStore, prefix);
  wire::Writer body;
  body.number(static_cast<uint64_t>(timeout.count()));
  body.number(since);
  body.texts({prefix});
  const auto reply =
      client_->ask(Ask::kChanges, body, timeout, [&] { return "waiting for changes under '" + prefix + "'"; });
  wire::Reader reader(reply.body);
  Changes changes;
  changes.version = reader.number();
  for (uint64_t left = reader.number(4); left > 0; --left) {
    std::string key = reader.text();
    changes.entries.emplace_back(std::move(key), reader.text());
  }
  return changes;
}

void TcpStore::last_will(const std::string& key, std::string_view value) {
  check_value(kStore, key, value.size());
  wire::Writer body;
  body.text(key);
  body.text(value);
  client_->ask(Ask::kLastWill, body, timeout_, [&] { return "leaving a will for key '" + key + "'"; });
}

void TcpStore::withdraw_will(const std::string& key) {
  check_key(kStore, key);
  wire::Writer body;
  body.text(key);
  client_->ask(Ask::kWithdrawWill, body, timeout_, [&] { return "withdrawing the will for key '" + key + "'"; });
}

std::shared_ptr<Store> TcpStore::clone() {
  TcpStoreOptions options = options_;
  options.host = host();
  options.port = port();
  options.timeout = timeout();
  return std::shared_ptr<Store>(new TcpStore(options, server_));
}

}  // namespace cresset::distributed
