// The token of a TcpStore: who does not know it stays outside, on both sides, and it never goes over the wire.
#include <gtest/gtest.h>

#include "cresset/distributed/sha256.h"
#include "cresset/distributed/socket.h"
#include "cresset/distributed/store_wire.h"
#include "store_support.h"

namespace cresset::distributed {
namespace {

std::string hex(const Digest& digest) {
  std::string text;
  for (const uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HmacGivesTheDigestsOfRfc4231) {
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\xaa'), std::string(50, '\xdd'))),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Sha256, EqualityLooksAtEveryByte) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("xbc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abcd"));
}

TEST(TcpStoreToken, TheRightOneOpensTheStore) {
  const auto store = make_server("secret");
  const auto client = make_client(store->port(), "secret");
  client->set("k", "v");
  EXPECT_EQ(store->clone()->get("k"), "v");
}

TEST(TcpStoreToken, AWrongOneIsRefusedAndTheServerGoesOn) {
  const auto store = make_server("secret");
  const std::string where = "the server at tcp://127.0.0.1:" + std::to_string(store->port());
  EXPECT_THROW(make_client(store->port(), "Secret"), DistributedError);
  EXPECT_EQ(message_when([&] { make_client(store->port(), "secre"); }), "TcpStore: " + where + " refused the token");
  EXPECT_EQ(message_when([&] { make_client(store->port()); }),
            "TcpStore: " + where + " asks for a token (found none; CRESSET_TOKEN or the options name it)");
  store->set("k", "v");
  EXPECT_EQ(make_client(store->port(), "secret")->get("k"), "v");
}

TEST(TcpStoreToken, AServerThatAsksForNoneIsNotTrustedWithOne) {
  const auto store = make_server();
  EXPECT_EQ(message_when([&] { make_client(store->port(), "secret"); }),
            "TcpStore: the server at tcp://127.0.0.1:" + std::to_string(store->port()) +
                " asks for no token (expected one that knows the token given here)");
}

// A server that only pretends: it lets everybody in and keeps what it hears.
TEST(TcpStoreToken, AServerThatDoesNotKnowItIsFoundOutAndHearsNoSecret) {
  const std::string token = "a secret of some length";
  Socket listener = listen_on("127.0.0.1", 0);
  std::string heard;
  std::thread liar([&] {
    Socket socket;
    while (!(socket = listener.accept())) std::this_thread::sleep_for(1ms);
    const auto hear = [&](size_t bytes) {
      std::string part(bytes, '\0');
      socket.read_exactly(part.data(), part.size(), deadline_after(30s));
      heard += part;
    };
    const auto say = [&](wire::Answer answer) {
      const std::string message = wire::frame(answer, std::string(32, 'x'));
      socket.write_exactly(message.data(), message.size(), deadline_after(30s));
    };
    hear(wire::kHeaderBytes + 1 + 4 + 32);
    say(wire::Answer::kChallenge);
    hear(wire::kHeaderBytes + 4 + 32);
    say(wire::Answer::kDone);
  });
  EXPECT_EQ(
      message_when([&] { make_client(listener.local_port(), token); }),
      "TcpStore: the server at tcp://127.0.0.1:" + std::to_string(listener.local_port()) + " does not know the token");
  liar.join();
  EXPECT_FALSE(contains(heard, token));
  EXPECT_EQ(heard.size(), 2 * wire::kHeaderBytes + 5 + 32 + 4 + 32);
}

TEST(TcpStoreToken, AnOldProofDoesNotOpenTheStoreAgain) {
  const auto store = make_server("secret");
  const std::string nonce(32, 'n');
  const auto greet = [&](const std::string& use_proof, std::string& challenge) {
    Socket socket = connect_to("127.0.0.1", store->port(), deadline_after(30s));
    wire::Writer hello, proof;
    hello.number(wire::kProtocol, 1);
    hello.text(nonce);
    hello.number(1, 1);
    hello.text("");
    std::string message = wire::frame(wire::Ask::kHello, hello.body());
    socket.write_exactly(message.data(), message.size(), deadline_after(30s));
    challenge.assign(wire::kHeaderBytes + 32, '\0');
    socket.read_exactly(challenge.data(), challenge.size(), deadline_after(30s));
    challenge.erase(0, wire::kHeaderBytes);
    proof.text(use_proof.empty() ? wire::proof("client", "secret", challenge, nonce) : use_proof);
    message = wire::frame(wire::Ask::kProof, proof.body());
    socket.write_exactly(message.data(), message.size(), deadline_after(30s));
    std::string answer(wire::kHeaderBytes, '\0');
    socket.read_exactly(answer.data(), answer.size(), deadline_after(30s));
    return static_cast<wire::Answer>(answer[4]);
  };
  std::string first, second;
  EXPECT_EQ(greet("", first), wire::Answer::kDone);
  EXPECT_EQ(greet(wire::proof("client", "secret", first, nonce), second), wire::Answer::kRefused);
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace cresset::distributed
