// Whoever reaches the store's port may send what they like: the server goes on serving the others.
#include <gtest/gtest.h>

#include <random>

#include "cresset/distributed/socket.h"
#include "cresset/distributed/store_wire.h"
#include "store_support.h"

namespace cresset::distributed {
namespace {

using wire::Ask;

class Hostile : public ::testing::Test {
 protected:
  ~Hostile() override {
    // Those who behave have noticed nothing, and new ones come in.
    EXPECT_EQ(bystander_->get("before"), "v");
    EXPECT_EQ(make_client(store_->port())->get("before"), "v");
  }

  Socket stranger() const { return connect_to("127.0.0.1", store_->port(), deadline_after(30s)); }

  Socket guest() const {
    Socket socket = stranger();
    wire::Writer hello;
    hello.number(wire::kProtocol, 1);
    hello.text(std::string(32, 'n'));
    hello.number(0, 1);
    hello.text("");
    send(socket, wire::frame(Ask::kHello, hello.body()));
    std::string reply(wire::kHeaderBytes, '\0');
    socket.read_exactly(reply.data(), reply.size(), deadline_after(30s));
    return socket;
  }

  static void send(Socket& socket, std::string_view bytes) {
    socket.write_exactly(bytes.data(), bytes.size(), deadline_after(30s));
  }

  static bool is_cut_off(Socket& socket) {
    std::string bytes(4096, '\0');
    try {
      for (;;) socket.read_exactly(bytes.data(), bytes.size(), deadline_after(20s));
    } catch (const SocketError& error) {
      return error.kind() == SocketError::Kind::kClosed;
    }
  }

  std::shared_ptr<TcpStore> store_ = make_server();
  std::shared_ptr<TcpStore> bystander_ = [this] {
    store_->set("before", "v");
    return make_client(store_->port());
  }();
};

TEST_F(Hostile, RandomBytesAreCutOff) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    std::string bytes(9 + random() % 5000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    Socket before_greeting = stranger(), after_greeting = guest();
    try {
      send(before_greeting, bytes);
      send(after_greeting, bytes);
    } catch (const SocketError&) {
      // cut off while we were still sending
    }
    EXPECT_TRUE(is_cut_off(before_greeting));
    EXPECT_TRUE(is_cut_off(after_greeting));
  }
}

TEST_F(Hostile, RandomBodiesOfEveryRequestDoNoHarm) {
  std::mt19937 random(6);
  for (int round = 0; round < 400; ++round) {
    std::string body(random() % 60, '\0');
    for (char& c : body) c = static_cast<char>(random() % 4 ? 0 : random());
    Socket socket = guest();
    send(socket, wire::frame(static_cast<Ask>(round % 20), body));
  }
}

TEST_F(Hostile, HalfAMessageHoldsNobodyUp) {
  wire::Writer body;
  body.text("key");
  body.text("value");
  const std::string whole = wire::frame(Ask::kSet, body.body());
  std::vector<Socket> sockets;
  for (size_t bytes = 1; bytes < whole.size(); ++bytes) {
    sockets.push_back(guest());
    send(sockets.back(), std::string_view(whole).substr(0, bytes));
  }
  bystander_->set("during", "v");
  sockets.clear();
  EXPECT_FALSE(bystander_->check({"key"}));
  // In pieces it is still understood.
  Socket slow = guest();
  for (const char c : whole) send(slow, std::string_view(&c, 1));
  EXPECT_EQ(bystander_->get("key"), "value");
}

TEST_F(Hostile, AHugeLengthIsCutOffBeforeItIsRead) {
  for (const uint64_t bytes : {uint64_t{0xffffffff}, uint64_t{wire::kMaxRequestBytes + 1}}) {
    wire::Writer header;
    header.number(wire::kMagic, 4);
    header.number(static_cast<uint8_t>(Ask::kSet), 1);
    header.number(bytes, 4);
    Socket socket = guest();
    send(socket, header.body());
    EXPECT_TRUE(is_cut_off(socket));
  }
  wire::Writer header;
  header.number(wire::kMagic, 4);
  header.number(static_cast<uint8_t>(Ask::kHello), 1);
  header.number(wire::kMaxGreetingBytes + 1, 4);
  Socket socket = stranger();
  send(socket, header.body());
  EXPECT_TRUE(is_cut_off(socket));
}

TEST_F(Hostile, ALengthInsideTheBodyThatIsTooLongIsCutOff) {
  wire::Writer text, list, key;
  text.number(0xffffffff, 4);
  list.number(1000);
  list.number(0);
  list.number(0xffffffff, 4);
  key.text(std::string(kMaxKeyBytes + 1, 'k'));
  key.text("v");
  for (const auto& [ask, body] : {std::pair(Ask::kSet, text), {Ask::kWait, list}, {Ask::kSet, key}}) {
    Socket socket = guest();
    send(socket, wire::frame(ask, body.body()));
    EXPECT_TRUE(is_cut_off(socket));
  }
}

TEST_F(Hostile, WhoDoesNotGreetIsNotServed) {
  wire::Writer body;
  body.text("key");
  body.text("value");
  Socket socket = stranger();
  send(socket, wire::frame(Ask::kSet, body.body()));
  EXPECT_TRUE(is_cut_off(socket));
  EXPECT_FALSE(bystander_->check({"key"}));
}

TEST_F(Hostile, WhoTalksWhileItWaitsIsCutOff) {
  wire::Writer body;
  body.number(60'000);
  body.number(0);
  body.texts({"never"});
  Socket socket = guest();
  const std::string get = wire::frame(Ask::kGet, body.body());
  send(socket, get + get);
  EXPECT_TRUE(is_cut_off(socket));
}

TEST_F(Hostile, WhoAsksAndDoesNotListenHoldsNobodyUp) {
  bystander_->set("large", std::string(size_t{20} << 20, 'l'));
  wire::Writer body;
  body.text("large");
  Socket socket = guest();
  for (int i = 0; i < 20; ++i) send(socket, wire::frame(Ask::kTryGet, body.body()));
  bystander_->set("after", "v");
}

TEST_F(Hostile, ACrowdOfSilentConnectionsLetsOthersIn) {
  std::vector<Socket> crowd;
  for (int i = 0; i < 300; ++i) crowd.push_back(stranger());
  EXPECT_EQ(make_client(store_->port())->get("before"), "v");
}

TEST(TcpStore, SomethingElseBehindThePortIsNoStore) {
  Socket listener = listen_on("127.0.0.1", 0);
  std::thread web([&] {
    Socket socket;
    while (!(socket = listener.accept())) std::this_thread::sleep_for(1ms);
    const std::string page = "HTTP/1.0 400 Bad Request\r\n\r\n";
    socket.write_exactly(page.data(), page.size(), deadline_after(10s));
  });
  EXPECT_EQ(message_when([&] { make_client(listener.local_port()); }),
            "TcpStore: what answers at tcp://127.0.0.1:" + std::to_string(listener.local_port()) + " is no store");
  web.join();
}

TEST(TcpStore, ASilentListenerIsAnErrorAtTheDeadline) {
  const Socket listener = listen_on("127.0.0.1", 0);
  const std::string text = message_when([&] { make_client(listener.local_port(), "", 100ms); });
  EXPECT_TRUE(contains(text, " after 100 ms (no answer in time)")) << text;
}

}  // namespace
}  // namespace cresset::distributed
