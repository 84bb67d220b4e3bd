// A client that is let in may still want too much: it is told so, and the others go on.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "cresset/distributed/socket.h"
#include "cresset/distributed/store_wire.h"
#include "store_support.h"

namespace cresset::distributed {
namespace store_limits {

using wire::Ask;

std::shared_ptr<TcpStore> limited(const TcpStoreLimits& limits, const std::string& token = "") {
  TcpStoreOptions options;
  options.is_server = true;
  options.limits = limits;
  options.token = token;
  options.timeout = 30s;
  return std::make_shared<TcpStore>(options);
}

TEST(StoreLimits, BytesThatAreTooManyAreRefusedAndTheRestStays) {
  const auto store = limited({.max_bytes = size_t{1} << 20});
  const auto client = make_client(store->port());
  client->set("a", std::string(600'000, 'a'));
  EXPECT_EQ(message_when([&] { client->set("b", std::string(600'000, 'b')); }),
            "TcpStore: the store is full: key 'b' with 600000 bytes would make it 1200002 bytes (expected at most "
            "1048576; TcpStoreLimits::max_bytes)");
  EXPECT_THROW(client->compare_set("b", "", std::string(600'000, 'b')), ValueError);
  EXPECT_FALSE(client->check({"b"}));
  // What is small still finds room, what gets smaller always does, and what is deleted makes some.
  client->set("a", std::string(500'000, 'a'));
  client->set("c", std::string(500'000, 'c'));
  for (int i = 0; i < 10; i++) client->set("beat", std::string(static_cast<size_t>(3000 + i), '1'));
  EXPECT_EQ(client->add("count", 3), 3);
  client->delete_key("a");
  client->set("b", std::string(500'000, 'b'));
  EXPECT_EQ(store->get("b").size(), 500'000u);
}

TEST(StoreLimits, KeysThatAreTooManyAreRefused) {
  const auto store = limited({.max_keys = 160});
  const auto client = make_client(store->port());
  int count = 0;
  const std::string text = message_when([&] {
    for (; count < 1000; count++) client->set("key " + std::to_string(count), std::string(5000, 'v'));
  });
  EXPECT_EQ(text,
            "TcpStore: the store is full: key 'key 160' would be its 161th (expected at most 160; "
            "TcpStoreLimits::max_keys)");
  EXPECT_EQ(count, 160);
  client->set("small", "v");  // there is room for a few of these
  count = 0;
  EXPECT_THROW(
      {
        for (; count < 1000; count++) client->set("small " + std::to_string(count), "v");
      },
      ValueError);
  EXPECT_EQ(count, 9);
  client->set("small", "w");
  EXPECT_EQ(store->get("small"), "w");
}

TEST(StoreLimits, ClientsThatAreTooManyAreToldSo) {
  for (const char* token : {"", "secret"}) {
    const auto store = limited({.max_clients = 4}, token);  // of which the server's own client is one
    std::vector<std::shared_ptr<TcpStore>> clients;
    for (int i = 0; i < 3; i++) clients.push_back(make_client(store->port(), token));
    EXPECT_EQ(message_when([&] { make_client(store->port(), token); }),
              "TcpStore: the server at tcp://127.0.0.1:" + std::to_string(store->port()) +
                  " refused the connection (it has 4 clients, and takes no more; TcpStoreLimits::max_clients)");
    clients.pop_back();
    clients.push_back(make_client(store->port(), token));
    clients.back()->set("k", "v");
    EXPECT_EQ(store->get("k"), "v");
  }
}

// Neither those who are let in nor those who say nothing may take the descriptors that the process needs for others.
TEST(StoreLimits, DescriptorsAreKeptBackForTheProcess) {
  Child child([] {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit few{256, before.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) throw DistributedError("setrlimit");
    const auto store = limited({});
    int ends[2];
    if (pipe(ends) != 0) throw DistributedError("pipe");
    // Those who come are another process, whose descriptors are its own.
    Child guests([before, port = store->port(), end = ends[1]] {
      setrlimit(RLIMIT_NOFILE, &before);
      std::vector<std::shared_ptr<TcpStore>> clients;
      std::vector<Socket> silent;
      const std::string refused = message_when([&] {
        while (clients.size() < 300) clients.push_back(make_client(port));
      });
      while (silent.size() < 60) silent.push_back(connect_to("127.0.0.1", port, deadline_after(30s)));
      const bool right = contains(refused, "refused the connection (it has 160 clients, and takes no more");
      if (!right) throw DistributedError(refused);
      const char answer = 'y';
      if (write(end, &answer, 1) != 1) _exit(3);
      pause();
    });
    close(ends[1]);
    char answer = 0;
    if (read(ends[0], &answer, 1) != 1 || answer != 'y') throw DistributedError("the guests were not refused in time");
    std::vector<OwnedFd> free;
    for (int fd = dup(0); fd >= 0 && free.size() < 40; fd = dup(0)) free.emplace_back(fd);
    if (free.size() < 40) throw DistributedError(message_of("only ", free.size(), " descriptors are left"));
  });
  EXPECT_EQ(child.wait(), 0);
}

// A connection that was let in, without the client's manners.
Socket guest_of(const TcpStore& store) {
  Socket socket = connect_to("127.0.0.1", store.port(), deadline_after(30s));
  wire::Writer hello;
  hello.number(wire::kProtocol, 1);
  hello.text(std::string(32, 'n'));
  hello.number(0, 1);
  hello.text("");
  const std::string message = wire::frame(Ask::kHello, hello.body());
  socket.write_exactly(message.data(), message.size(), deadline_after(30s));
  std::string reply(wire::kHeaderBytes, '\0');
  socket.read_exactly(reply.data(), reply.size(), deadline_after(30s));
  return socket;
}

// 0 bytes are read when the server has closed.
bool is_closed(Socket& socket) {
  std::string bytes(4096, '\0');
  try {
    for (;;) socket.read_exactly(bytes.data(), bytes.size(), deadline_after(20s));
  } catch (const SocketError& error) {
    return error.kind() == SocketError::Kind::kClosed;
  }
}

TEST(StoreLimits, LongMessagesThatNeverEndAreCutOff) {
  const auto store = limited({.max_bytes = size_t{1} << 20});
  std::vector<Socket> greedy;
  wire::Writer header;
  header.number(wire::kMagic, 4);
  header.number(static_cast<uint8_t>(Ask::kSet), 1);
  header.number(size_t{60} << 20, 4);
  const std::string some(size_t{1} << 20, 'x');
  int cut_off = 0;
  for (int i = 0; i < 8; i++) {
    greedy.push_back(guest_of(*store));
    try {
      greedy.back().write_exactly(header.body().data(), header.body().size(), deadline_after(30s));
      greedy.back().write_exactly(some.data(), some.size(), deadline_after(30s));
    } catch (const SocketError&) {
      // cut off while we were still sending
    }
  }
  // Half of them have used up what there is; who was first may stay.
  for (size_t i = 4; i < 8; i++) cut_off += is_closed(greedy[i]);
  EXPECT_EQ(cut_off, 4);
  store->set("k", std::string(100, 'v'));
  EXPECT_EQ(make_client(store->port())->get("k").size(), 100u);
}

TEST(StoreLimits, ValuesThatAreAskedForAndNotReadAreRefusedAtSomePoint) {
  constexpr size_t kLarge = 8'000'000;
  const auto store = limited({.max_bytes = size_t{8} << 20});
  store->set("large", std::string(kLarge, 'l'));
  wire::Writer body;
  body.text("large");
  const std::string ask = wire::frame(Ask::kTryGet, body.body());
  std::vector<Socket> lazy;
  for (int i = 0; i < 8; i++) {
    lazy.push_back(guest_of(*store));
    lazy.back().write_exactly(ask.data(), ask.size(), deadline_after(30s));
  }
  EXPECT_EQ(make_client(store->port())->num_keys(), 1);  // who asks for little is served
  int refused = 0;
  for (Socket& socket : lazy) {
    std::string header(wire::kHeaderBytes, '\0');
    socket.read_exactly(header.data(), header.size(), deadline_after(30s));
    wire::Reader reader(header);
    reader.number(4);
    const auto answer = static_cast<wire::Answer>(reader.number(1));
    std::string words(reader.number(4), '\0');
    socket.read_exactly(words.data(), words.size(), deadline_after(30s));
    if (answer != wire::Answer::kBadValue) continue;
    refused++;
    EXPECT_EQ(words.find("an answer of 8000000 bytes found no room beside "), 0u) << words.substr(0, 200);
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 8);
  EXPECT_EQ(make_client(store->port())->get("large").size(), kLarge) << "there is room again";
}

TEST(StoreLimits, AListOfTooManyKeysIsRefusedOnBothSides) {
  const auto store = limited({});
  const std::vector<std::string> keys(wire::kMaxKeys + 1, "k");
  EXPECT_EQ(message_when([&] { store->check(keys); }),
            "TcpStore: found 100001 keys to wait or look for at once (expected at most 100000)");
  wire::Writer body;
  body.texts(keys);
  Socket socket = guest_of(*store);
  const std::string ask = wire::frame(Ask::kCheck, body.body());
  socket.write_exactly(ask.data(), ask.size(), deadline_after(30s));
  EXPECT_TRUE(is_closed(socket));
}

}  // namespace store_limits
}  // namespace cresset::distributed
