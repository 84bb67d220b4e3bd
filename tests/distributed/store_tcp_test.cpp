// TcpStore between real processes: who sets, who waits, who dies.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <iomanip>
#include <sstream>

#include "cresset/distributed/socket.h"
#include "store_support.h"
#include "tests/support/ports.h"

namespace cresset::distributed {
namespace {

using cresset::testing::free_port;

bool is_refused(uint16_t port) {
  try {
    connect_to("127.0.0.1", port, deadline_after(10s));
  } catch (const SocketError& error) {
    return contains(error.msg(), "refused");
  }
  return false;
}

TEST(TcpStore, AdditionsFromFourProcessesAllCount) {
  const auto store = make_server();
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Child>([&] {
      const auto client = make_client(store->port());
      for (int j = 0; j < 250; ++j) client->add("sum", 1);
    }));
  }
  for (auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_EQ(store->get("sum"), "1000");
}

TEST(TcpStore, ARaceOfCompareSetHasOneWinner) {
  const auto store = make_server();
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Child>([&, i] {
      const auto client = make_client(store->port());
      client->add("ready", 1);
      client->get("go");
      for (int round = 0; round < 20; ++round) {
        const std::string me = std::to_string(i);
        if (client->compare_set("prize/" + std::to_string(round), "", me) == me) client->add("wins", 1);
      }
    }));
  }
  while (store->add("ready", 0) < 4) std::this_thread::sleep_for(1ms);
  store->set("go", "");
  for (auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_EQ(store->get("wins"), "20");
}

TEST(TcpStore, ManyClientsFindEachOther) {
  const auto store = make_server();
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 12; ++i) {
    children.push_back(std::make_unique<Child>([&, i] {
      const auto client = make_client(store->port());
      client->set("member/" + std::to_string(i), "here");
      std::vector<std::string> all;
      for (int j = 0; j < 12; ++j) all.push_back("member/" + std::to_string(j));
      client->wait(all, 60s);
    }));
  }
  for (auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_EQ(store->num_keys(), 12);
}

TEST(TcpStore, TheLastWillOfAKilledProcessIsDoneAtOnce) {
  const auto store = make_server();
  Child child([&] {
    const auto client = make_client(store->port());
    client->last_will("death/1", "replaced");
    client->last_will("death/1", "lost");
    client->set("ready", "");
    pause();
  });
  store->wait({"ready"}, 60s);
  EXPECT_FALSE(store->check({"death/1"}));
  const uint64_t since = store->changes("", 0, 0ms).version;
  child.signal(SIGKILL);
  const Changes changes = store->changes("death/", since, 60s);
  ASSERT_EQ(changes.entries.size(), 1U);
  EXPECT_EQ(changes.entries[0], std::make_pair(std::string("death/1"), std::string("lost")));
  EXPECT_EQ(child.wait(), -SIGKILL);
}

TEST(TcpStore, AProcessThatExitsWithoutAGoodbyeLeavesItsWill) {
  const auto store = make_server();
  Child child([&] {
    const auto client = make_client(store->port());
    client->last_will("death/1", "lost");
    _exit(7);
  });
  EXPECT_EQ(store->get("death/1", 60s), "lost");
  EXPECT_EQ(child.wait(), 7);
}

TEST(TcpStore, AGoodbyeAndAWithdrawalEndTheWill) {
  const auto store = make_server();
  Child child([&] {
    {
      const auto client = make_client(store->port());
      client->last_will("goodbye", "lost");
    }
    const auto client = make_client(store->port());
    client->last_will("withdrawn", "lost");
    client->last_will("kept", "lost");
    client->withdraw_will("withdrawn");
    client->withdraw_will("never made");
    _exit(0);
  });
  EXPECT_EQ(store->get("kept", 60s), "lost");
  EXPECT_FALSE(store->check({"goodbye"}));
  EXPECT_FALSE(store->check({"withdrawn"}));
  EXPECT_EQ(child.wait(), 0);
}

TEST(TcpStore, AStoppedProcessKeepsItsConnection) {
  const auto store = make_server();
  Child child([&] {
    const auto client = make_client(store->port());
    client->last_will("death", "lost");
    client->set("ready", "");
    client->get("go", 100s);
    client->set("went on", "");
  });
  store->wait({"ready"}, 60s);
  child.signal(SIGSTOP);
  std::this_thread::sleep_for(100ms);
  store->set("go", "");
  EXPECT_TRUE(store->changes("death", 0, 300ms).entries.empty());
  child.signal(SIGCONT);
  store->wait({"went on"}, 60s);
  EXPECT_EQ(child.wait(), 0);
}

// Its child holds copies of all descriptors, but not of those of the store.
TEST(TcpStore, AKilledProcessIsNoticedThoughItsForkedChildLives) {
  const auto store = make_server();
  const Grandparent grandparent;
  Child child([&] {
    const auto client = make_client(store->port());
    client->last_will("death", "lost");
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      alarm(60);
      pause();
    }
    client->set("grandchild", std::to_string(grandchild));
    pause();
  });
  const std::string grandchild = store->get("grandchild", 60s);
  child.signal(SIGKILL);
  EXPECT_EQ(store->get("death", 30s), "lost");
  EXPECT_EQ(child.wait(), -SIGKILL);
  EXPECT_TRUE(Grandparent::end(grandchild));
}

TEST(TcpStore, AForkedChildIsRefusedAndDoesNoHarm) {
  auto store = make_server();
  auto client = make_client(store->port());
  client->last_will("death", "lost");
  Child child([&] {
    const std::string text = message_when([&] { client->set("k", "v"); });
    client.reset();
    store.reset();
    const bool is_named = contains(text, "cannot be used in its forked child " + std::to_string(getpid())) &&
                          contains(text, "belongs to process " + std::to_string(getppid()));
    _exit(is_named ? 0 : 1);
  });
  EXPECT_EQ(child.wait(), 0);
  client->set("k", "v");
  EXPECT_EQ(store->get("k"), "v");
  EXPECT_FALSE(store->check({"death"}));
}

TEST(TcpStore, WhenTheServerDiesTheWaitNamesItsKey) {
  const uint16_t port = free_port();
  Child server([&] {
    const auto store = make_server("", port);
    pause();
  });
  const auto client = make_client(port);
  const std::string where = "tcp://127.0.0.1:" + std::to_string(port);
  std::thread killer([&] {
    std::this_thread::sleep_for(50ms);
    server.signal(SIGKILL);
  });
  const std::string text = message_when([&] { client->get("x", 60s); });
  killer.join();
  EXPECT_EQ(text, "TcpStore: the store at " + where + " went away while waiting for key 'x'");
  EXPECT_EQ(message_when([&] { client->set("y", ""); }), text);  // and stays gone
}

TEST(TcpStore, WaitingClientsHearOfADestroyedServer) {
  auto store = make_server();
  const auto client = make_client(store->port());
  std::thread ender([&] {
    std::this_thread::sleep_for(20ms);
    store.reset();
  });
  const std::string text = message_when([&] { client->wait({"a", "b"}, 60s); });
  ender.join();
  EXPECT_TRUE(contains(text, "went away while waiting for keys 'a' and 1 more")) << text;
}

TEST(TcpStore, AClientWaitsForAServerThatComesLater) {
  const uint16_t port = free_port();
  Child server([&] {
    std::this_thread::sleep_for(100ms);
    const auto store = make_server("", port);
    store->get("done", 60s);
  });
  const auto client = make_client(port);
  client->set("done", "");
  EXPECT_EQ(server.wait(), 0);
}

TEST(TcpStore, NoServerIsAnErrorThatSaysWhatWasTried) {
  const uint16_t port = free_port();
  EXPECT_EQ(message_when([&] { make_client(port, "", 120ms); }),
            "TcpStore: no server at tcp://127.0.0.1:" + std::to_string(port) + " after 120 ms (connection refused)");
  TcpStoreOptions options;
  options.host = "no-such-host.invalid";
  options.port = 1;
  options.timeout = 10ms;
  const std::string text = message_when([&] { TcpStore{options}; });
  EXPECT_TRUE(contains(text, "TcpStore: no server at tcp://no-such-host.invalid:1 after 10 ms (")) << text;
}

TEST(TcpStore, ATakenPortIsNamed) {
  const auto store = make_server();
  const std::string port = std::to_string(store->port());
  EXPECT_THROW(make_server("", store->port()), DistributedError);
  EXPECT_EQ(message_when([&] { make_server("", store->port()); }),
            "TcpStore: port " + port + " of 127.0.0.1 is in use already");
}

TEST(TcpStore, OptionsThatMakeNoSenseAreRefused) {
  TcpStoreOptions client;
  EXPECT_EQ(message_when([&] { TcpStore{client}; }),
            "TcpStore: found port 0 on a client of 127.0.0.1 (expected the server's port)");
  client.listen_fd = 5;
  EXPECT_EQ(message_when([&] { TcpStore{client}; }),
            "TcpStore: found listen_fd 5 on a client (expected it with is_server)");
  TcpStoreOptions server;
  server.is_server = true;
  server.host = "192.0.2.1";  // nobody's
  EXPECT_TRUE(contains(message_when([&] { TcpStore{server}; }), "TcpStore: 192.0.2.1:0: listen: "));
}

TEST(TcpStore, NothingListensWhenTheLastOfThemIsGone) {
  auto store = make_server("", free_port());
  const uint16_t port = store->port();
  auto copy = store->clone();
  store.reset();
  EXPECT_FALSE(is_refused(port));
  copy->set("k", "v");
  copy.reset();
  EXPECT_TRUE(is_refused(port));
  EXPECT_EQ(make_server("", port)->port(), port);  // free at once
}

TEST(TcpStore, ListensOnTheGivenAddressOnly) {
  const auto store = make_server();
  std::ostringstream wanted;
  wanted << "0100007F:" << std::uppercase << std::hex << std::setw(4) << std::setfill('0') << store->port();
  wanted << " 00000000:0000 0A";
  std::ostringstream everywhere;
  everywhere << "00000000:" << std::uppercase << std::hex << std::setw(4) << std::setfill('0') << store->port();
  std::stringstream sockets;
  sockets << std::ifstream("/proc/net/tcp").rdbuf();
  EXPECT_TRUE(contains(sockets.str(), wanted.str())) << wanted.str();
  EXPECT_FALSE(contains(sockets.str(), everywhere.str()));
}

TEST(TcpStore, TakesASocketThatListensAlready) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(fd, 16), 0);
  TcpStoreOptions options;
  options.is_server = true;
  options.listen_fd = fd;
  TcpStore store(options);
  EXPECT_NE(store.port(), 0);
  EXPECT_EQ(store.host(), "127.0.0.1");
  make_client(store.port())->set("k", "v");
  EXPECT_EQ(store.get("k"), "v");
}

TEST(TcpStore, ServesIpv6) {
  TcpStoreOptions options;
  options.is_server = true;
  options.host = "::1";
  // Asked of the kernel, not of the store: a store that fails must not pass for a machine without IPv6.
  const int probe = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  const bool has_ipv6 = probe >= 0 && ::bind(probe, reinterpret_cast<sockaddr*>(&loopback), sizeof loopback) == 0;
  if (probe >= 0) ::close(probe);
  if (!has_ipv6) GTEST_SKIP() << "this machine has no IPv6";
  auto store = std::make_unique<TcpStore>(options);
  store->set("k", "v");
  EXPECT_EQ(store->clone()->get("k"), "v");
  EXPECT_EQ(store->name(), "tcp://[::1]:" + std::to_string(store->port()));
}

TEST(TcpStore, ALongListOfChangesComesInParts) {
  const auto store = make_server();
  const std::string value(size_t{6} << 20, 'v');
  for (int i = 0; i < 8; ++i) store->set("large/" + std::to_string(i), value);
  size_t count = 0;
  Changes part;
  do {
    part = store->changes("large/", part.version, 0ms);
    count += part.entries.size();
    EXPECT_LE(part.entries.size(), 3U);
  } while (!part.entries.empty());
  EXPECT_EQ(count, 8U);
}

}  // namespace
}  // namespace cresset::distributed
