// Sockets with deadlines, errors that name the peer, and descriptors that stay with their process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cresset/distributed/hash_store.h"
#include "cresset/distributed/socket.h"
#include "store_support.h"

namespace cresset::distributed {
namespace {

struct Pair {
  Socket listener = listen_on("127.0.0.1", 0);
  Socket here = connect_to("127.0.0.1", listener.local_port(), deadline_after(30s));
  Socket there = [this] {
    Socket accepted;
    while (!accepted) accepted = listener.accept();
    return accepted;
  }();
};

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(Socket, AReadEndsAtItsDeadlineAndNamesThePeer) {
  Pair pair;
  char byte = 0;
  try {
    pair.here.read_exactly(&byte, 1, deadline_after(20ms));
    FAIL();
  } catch (const SocketError& error) {
    EXPECT_EQ(error.kind(), SocketError::Kind::kTimeout);
    EXPECT_EQ(error.msg(), host_and_port("127.0.0.1", pair.listener.local_port()) + ": no answer in time");
  }
}

TEST(Socket, AWriteThatNobodyReadsEndsAtItsDeadline) {
  Pair pair;
  const std::string bytes(size_t{32} << 20, 'x');
  EXPECT_THROW(pair.here.write_exactly(bytes.data(), bytes.size(), deadline_after(50ms)), SocketError);
}

TEST(Socket, AClosedPeerIsAnErrorAndNoSignal) {
  Pair pair;
  pair.there.close();
  const std::string bytes(1 << 20, 'x');
  try {
    for (;;) pair.here.write_exactly(bytes.data(), bytes.size(), deadline_after(30s));
  } catch (const SocketError& error) {
    EXPECT_EQ(error.kind(), SocketError::Kind::kClosed) << error.msg();
  }
}

TEST(Socket, AllBytesArriveWhateverThePieces) {
  Pair pair;
  std::string sent(3'000'000, '\0'), received(sent.size(), '\1');
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 31);
  std::thread writer([&] { pair.there.write_exactly(sent.data(), sent.size(), deadline_after(30s)); });
  pair.here.read_exactly(received.data(), received.size(), deadline_after(30s));
  writer.join();
  EXPECT_TRUE(sent == received);
}

TEST(Socket, HostsAndPortsReadAsUsersWriteThem) {
  EXPECT_EQ(host_and_port("node1", 80), "node1:80");
  EXPECT_EQ(host_and_port("::1", 80), "[::1]:80");
}

TEST(OwnedFd, IsNothingInAForkedChild) {
  const TemporaryFolder folder;
  OwnedFd fd(::open((folder.path() + "/file").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_TRUE(fd);
  EXPECT_EQ(::fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
  Child child([&] {
    struct stat ours {
    }, null{};
    if (::fstat(fd.get(), &ours) != 0 || ::stat("/dev/null", &null) != 0) _exit(3);
    _exit(ours.st_rdev == null.st_rdev ? 0 : 1);
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(::write(fd.get(), "x", 1), 1);
}

TEST(HashStore, AForkedChildIsRefused) {
  HashStore store;
  Child child([&] {
    _exit(contains(message_when([&] { store.set("k", "v"); }), "HashStore: this store belongs to process ") ? 0 : 1);
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(TcpStore, ManyDeathsLeaveNoDescriptorBehind) {
  const auto store = make_server();
  PrefixStore generation("0", store);
  const size_t before = open_descriptors();
  for (int i = 0; i < 40; ++i) {
    const std::string key = "death/" + std::to_string(i);
    Child child([&] {
      PrefixStore own("0", make_client(store->port()));
      own.last_will(key, "lost");
      i % 2 == 0 ? (void)raise(SIGKILL) : _exit(1);
    });
    EXPECT_EQ(generation.get(key, 60s), "lost");
    EXPECT_EQ(child.wait(), i % 2 == 0 ? -SIGKILL : 1);
  }
  EXPECT_EQ(store->get("0/death/39"), "lost");
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace cresset::distributed
