// Somebody connects to a job's ports before the ranks do: nothing is said to it, and the ranks meet all the same.
#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <set>
#include <sstream>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "cresset/distributed/gloo/meeting.h"
#include "cresset/distributed/gloo/peer_proof.h"
#include "cresset/distributed/hash_store.h"
#include "cresset/distributed/health_keys.h"
#include "tests/distributed/groups.h"
#include "tests/distributed/store_support.h"

namespace cresset::distributed {
namespace strangers {

using namespace cresset::testing;
using Sockets = std::vector<Socket>;

// A group of two in this process; rank 0 listens.
class Strangers : public ::testing::Test {
 protected:
  MeetingOptions options(int rank, Milliseconds timeout = 60s) const {
    MeetingOptions out;
    out.rank = rank;
    out.size = 2;
    out.store = store_;
    out.host = "127.0.0.1";
    out.token = "secret";
    out.group = "mesh/0/default";
    out.timeout = timeout;
    return out;
  }
  std::future<Sockets> meet(const MeetingOptions& options) {
    return std::async(std::launch::async, [options] { return Meeting(options).run(); });
  }
  // Where rank 0 listens, and its ticket.
  std::vector<std::string> address() { return split(store_->get("0", kDeadline), '\t'); }
  Socket visit() {
    return connect_to("127.0.0.1", static_cast<uint16_t>(std::stoi(address()[1])), deadline_after(kDeadline));
  }
  static std::string read(Socket& socket, size_t bytes) {
    std::string text(bytes, '\0');
    socket.read_exactly(text.data(), bytes, deadline_after(kDeadline));
    return text;
  }
  static void write(Socket& socket, std::string_view text) {
    socket.write_exactly(text.data(), text.size(), deadline_after(kDeadline));
  }
  // What is still to be read before the other side closes.
  static std::string rest(Socket& socket) {
    std::string all;
    try {
      for (;;) all += read(socket, 1);
    } catch (const SocketError& error) {
      EXPECT_EQ(error.kind(), SocketError::Kind::kClosed) << error.msg();
    }
    return all;
  }
  static void expect_connected(Sockets a, Sockets b) {
    ASSERT_TRUE(a[1] && b[0]);
    write(a[1], "ping");
    EXPECT_EQ(read(b[0], 4), "ping");
    write(b[0], "pong");
    EXPECT_EQ(read(a[1], 4), "pong");
  }

  std::shared_ptr<Store> store_ = std::make_shared<HashStore>();
};

TEST_F(Strangers, WhoComesFirstIsTurnedAwayWhateverItSays) {
  for (const char* token : {"secret", ""}) {
    MeetingOptions first = options(0), second = options(1);
    first.token = second.token = token;
    auto listener = meet(first);
    const std::string half = std::string(kPeerMagic) + std::string(20, '\0');
    const std::string whole = std::string(kPeerMagic) + std::string("\1\0\0\0\0\0\0\0", 8) + std::string(64, '\0');
    ASSERT_EQ(whole.size(), kGreetingBytes);
    Sockets strangers;
    for (const std::string& words : {std::string(200, 'x'), half, whole, std::string()}) {
      strangers.push_back(visit());
      write(strangers.back(), words);
    }
    auto visitor = meet(second);
    expect_connected(listener.get(), visitor.get());
    // They got a challenge, which is random, and nothing else; those who said half a thing, when the meeting was over.
    for (Socket& stranger : strangers) EXPECT_LE(rest(stranger).size(), kChallengeBytes);
    EXPECT_EQ(store_->num_keys(), 0) << "the address is no longer needed";
  }
}

TEST_F(Strangers, AProofServesForNothingElseThanItWasMadeFor) {
  auto listener = meet(options(0));
  const std::string ticket = address()[2];
  const PeerSecret right{"secret", "mesh/0/default", ticket};
  // One that was overheard, for another connection.
  std::string overheard;
  {
    Socket other = visit();
    overheard = greeting_of(right, {1, 0, nonce_of(read(other, kChallengeBytes)), std::string(32, 'n')});
  }
  const auto is_refused = [&](const std::string& greeting, Socket& socket) {
    write(socket, greeting);
    return rest(socket).empty();
  };
  {
    Socket again = visit();
    read(again, kChallengeBytes);
    EXPECT_TRUE(is_refused(overheard, again));
  }
  struct Case {
    PeerSecret secret;
    int from, to;
  };
  for (const Case& wrong :
       {Case{{"Secret", "mesh/0/default", ticket}, 1, 0}, Case{{"", "mesh/0/default", ticket}, 1, 0},
        Case{{"secret", "mesh/1/default", ticket}, 1, 0}, Case{{"secret", "mesh/0/default", "t"}, 1, 0},
        Case{right, 0, 0}, Case{right, 2, 0}, Case{right, -1, 0}, Case{right, 1, 1}}) {
    Socket socket = visit();
    const std::string nonce = nonce_of(read(socket, kChallengeBytes));
    EXPECT_TRUE(is_refused(greeting_of(wrong.secret, {wrong.from, wrong.to, nonce, std::string(32, 'n')}), socket))
        << wrong.secret.token << " " << wrong.from << " " << wrong.to;
  }
  // The right one is let in, and sees that it came to the right place.
  Socket socket = visit();
  const PeerExchange exchange{1, 0, nonce_of(read(socket, kChallengeBytes)), std::string(32, 'n')};
  write(socket, greeting_of(right, exchange));
  EXPECT_EQ(read(socket, kPeerProofBytes), listener_proof(right, exchange));
  listener.get();
}

TEST_F(Strangers, ACrowdThatSaysNothingIsThinnedOutAndKeepsNobodyOut) {
  auto listener = meet(options(0));
  Sockets crowd;
  for (int i = 0; i < 300; i++) crowd.push_back(visit());
  EXPECT_EQ(rest(crowd.front()).size(), kChallengeBytes) << "the first had to make room";
  auto visitor = meet(options(1));
  expect_connected(listener.get(), visitor.get());
}

TEST_F(Strangers, WhoListensInARanksPlaceIsFoundOut) {
  Socket impostor = listen_on("127.0.0.1", 0);
  store_->set("0", message_of("127.0.0.1\t", impostor.local_port(), "\t", std::string(64, '0')));
  auto visitor = meet(options(1, 2s));
  Socket guest;
  while (!(guest = impostor.accept())) pause_for(1);
  write(guest, challenge_of(std::string(32, 'n')));
  read(guest, kGreetingBytes);
  write(guest, std::string(kPeerProofBytes, 'p'));
  EXPECT_EQ(message_when([&] { visitor.get(); }),
            message_of("there was no connection with rank 0 within 2000 ms (the last: 127.0.0.1:",
                       impostor.local_port(), ": does not know this group)"));
}

// Lets a rank look for the addresses of the others only when the strangers have been there.
class LateReader final : public Store {
 public:
  explicit LateReader(std::shared_ptr<Store> inner) : Store(kDeadline), inner_(std::move(inner)) {}
  using Store::get;
  using Store::wait;
  void set(const std::string& key, std::string_view value) override { inner_->set(key, value); }
  std::string get(const std::string& key, Milliseconds timeout) override { return late(key).get(key, timeout); }
  std::optional<std::string> try_get(const std::string& key) override { return late(key).try_get(key); }
  int64_t add(const std::string& key, int64_t amount) override { return inner_->add(key, amount); }
  std::string compare_set(const std::string& key, const std::string& a, const std::string& b) override {
    return inner_->compare_set(key, a, b);
  }
  void wait(const std::vector<std::string>& keys, Milliseconds timeout) override { late(keys[0]).wait(keys, timeout); }
  bool check(const std::vector<std::string>& keys) override { return late(keys[0]).check(keys); }
  bool delete_key(const std::string& key) override { return inner_->delete_key(key); }
  int64_t num_keys() override { return inner_->num_keys(); }
  Changes changes(const std::string& prefix, uint64_t since, Milliseconds timeout) override {
    return inner_->changes(prefix, since, timeout);
  }
  void last_will(const std::string& key, std::string_view value) override { inner_->last_will(key, value); }
  void withdraw_will(const std::string& key) override { inner_->withdraw_will(key); }
  std::shared_ptr<Store> clone() override { return std::make_shared<LateReader>(inner_->clone()); }
  std::string name() const override { return inner_->name(); }

 private:
  Store& late(const std::string& key) {
    if (key.starts_with("mesh/")) inner_->wait({"strangers came"}, kDeadline);
    return *inner_;
  }
  std::shared_ptr<Store> inner_;
};

// The TCP ports at which a process listens.
std::set<uint16_t> ports_of(pid_t pid) {
  std::set<std::string> sockets;
  const std::string folder = message_of("/proc/", pid, "/fd/");
  DIR* listing = opendir(folder.c_str());
  if (!listing) return {};
  while (const dirent* entry = readdir(listing)) {
    char target[256] = "";
    if (readlink((folder + entry->d_name).c_str(), target, sizeof target - 1) > 8) sockets.insert(target);
  }
  closedir(listing);
  std::set<uint16_t> ports;
  std::ifstream table("/proc/net/tcp");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string place, local, remote, state, queues, timer, retries, user, timeout, inode;
    words >> place >> local >> remote >> state >> queues >> timer >> retries >> user >> timeout >> inode;
    if (state == "0A" && sockets.contains("socket:[" + inode + "]"))
      ports.insert(static_cast<uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
  }
  return ports;
}

TEST(StrangersAtAJob, CannotStopItsRanksFromMeeting) {
  for (const char* token : {"a secret", ""}) {
    const auto server = make_server(token);
    Processes processes(2, [&, port = server->port()](int rank) {
      InitOptions options;
      options.token = token;
      options.store = make_client(port, token);
      if (rank == 1) options.store = std::make_shared<LateReader>(options.store);
      init_process_group(options);
      Tensor x = full({1000}, rank + 1.0);
      all_reduce(x);
      EXPECT_EQ(x[0].item<double>(), 3.0);
      destroy_process_group();
    });
    std::set<uint16_t> ports;
    const auto deadline = deadline_after(kDeadline);
    while ((ports = ports_of(processes.pid(0))).empty() && left_until(deadline).count() > 0) pause_for(5);
    ASSERT_FALSE(ports.empty());
    std::vector<Socket> strangers;
    for (const uint16_t port : ports)
      for (const std::string& words : {std::string(4096, 'x'), std::string("CRpeer1\n"), std::string()}) {
        strangers.push_back(connect_to("127.0.0.1", port, deadline));
        strangers.back().write_exactly(words.data(), words.size(), deadline);
      }
    pause_for(100);  // they are first, whatever the ranks do with them
    server->set("strangers came", "");
    const Outcome outcome = processes.wait(kDeadline);
    EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
  }
}

}  // namespace strangers
}  // namespace cresset::distributed
