// Ranks that stop, leave early or fail, a port that is taken, and a disk that is full.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "cresset/io/checkpoint.h"
#include "trial.h"

using namespace faults;

namespace {

std::string bits_of_undisturbed_run() {
  static const std::string bits = [] {
    Trial trial;
    trial.launch(3, {}, {program("train"), "--steps", "20"});
    EXPECT_EQ(trial.finish("run"), 0) << trial.everything();
    return after_last(trial.said_by(0), "bits ");
  }();
  return bits;
}

}  // namespace

TEST(Stop, ShorterThanTheTimeoutChangesNothing) {
  Trial trial;
  trial.launch(3, {}, {program("train"), "--steps", "20", "--fault", "stop:forward:5:1"});
  ASSERT_TRUE(trial.wait_for(1, "stop in forward"));
  pause_ms(3000);
  EXPECT_EQ(errors_in(trial.output("run")).size(), 0u);
  kill(trial.pid_of(1), SIGCONT);
  EXPECT_EQ(trial.finish("run"), 0) << trial.everything();
  EXPECT_EQ(after_last(trial.said_by(0), "bits "), bits_of_undisturbed_run());
}

TEST(Stop, LongerThanTheTimeoutNamesTheRankAndItsLastOperation) {
  Trial trial;
  trial.launch(3, {"--stop-grace", "1"},
               {program("train"), "--steps", "1000", "--pause-ms", "40", "--timeout-ms", "4000", "--fault",
                "stop:forward:50:1"});
  EXPECT_NE(trial.finish("run"), 0);
  for (int rank : {0, 2}) {
    const Words errors = errors_in(trial.said_by(rank));
    ASSERT_EQ(errors.size(), 1u) << trial.everything();
    EXPECT_TRUE(matches(errors[0], "did not finish within 4000 ms")) << errors[0];
    EXPECT_TRUE(matches(errors[0], "missing: rank 1 \\(host [^,]+, pid " + std::to_string(trial.pid_of(1)) +
                                       ", silent for [0-9]+ s; last operation: [A-Za-z_' ]+ #[0-9]+\\)"))
        << errors[0];
    EXPECT_TRUE(blames_only(errors[0], 1)) << errors[0];
  }
}

// Ranks of one host reach into each other's memory: not after an operation that has failed.
TEST(Stop, WhoIsWokenAfterTheOthersGaveUpTouchesNothingOfTheirs) {
  Trial trial;
  trial.start_ranks(3, {program("late")});
  ASSERT_TRUE(trial.wait_for(2, "stops"));
  for (int rank : {0, 1}) ASSERT_TRUE(trial.wait_for(rank, "given up"));
  pause_ms(200);
  kill(trial.pid_of(2), SIGCONT);
  EXPECT_EQ(trial.finish_ranks(3), (std::vector<int>{3, 3, 3})) << trial.everything();
  for (int rank : {0, 1}) EXPECT_TRUE(matches(trial.said_by(rank), "\nintact")) << trial.everything();
  for (int rank : {0, 1, 2}) EXPECT_EQ(errors_in(trial.said_by(rank)).size(), 1u) << trial.everything();
}

TEST(Leave, ExitWithZeroBeforeTheOthersIsNamed) {
  Trial trial;
  trial.launch(3, {}, {program("train"), "--fault", "exit:forward:5:1"});
  EXPECT_NE(trial.finish("run"), 0);
  const std::string pattern = pattern_of(1, trial.pid_of(1)) + " exited with status 0 before the others were done";
  for (int rank : {0, 2}) {
    const Words errors = errors_in(trial.said_by(rank));
    ASSERT_EQ(errors.size(), 1u) << trial.everything();
    EXPECT_TRUE(matches(errors[0], pattern)) << errors[0];
    EXPECT_TRUE(blames_only(errors[0], 1)) << errors[0];
  }
}

TEST(Leave, AnExceptionOnOneRankIsTheFirstCause) {
  Trial trial;
  trial.launch(3, {}, {program("train"), "--fault", "throw:forward:5:2"});
  EXPECT_EQ(trial.finish("run"), 3);
  EXPECT_TRUE(matches(trial.output("run"), "\\[cresset-run\\] failed: rank 2 .* exited with status 3"))
      << trial.output("run");
  EXPECT_TRUE(matches(trial.output("run"), "\\[cresset-run\\] +error at [0-9.]+: the disk of rank 2 is on fire"))
      << trial.output("run");
  for (int rank : {0, 1}) {
    const Words errors = errors_in(trial.said_by(rank));
    ASSERT_EQ(errors.size(), 1u) << trial.everything();
    EXPECT_TRUE(matches(errors[0], pattern_of(2, trial.pid_of(2)) + " exited with status 3")) << errors[0];
    EXPECT_TRUE(blames_only(errors[0], 2)) << errors[0];
  }
}

TEST(Port, TakenIsSaidAndNobodyHangs) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(fd, 5), 0);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  const std::string port = std::to_string(ntohs(address.sin_port));
  {
    Trial trial;
    for (int rank = 0; rank < 2; rank++)
      trial.start(
          std::to_string(rank), {program("train"), "--timeout-ms", "2500"},
          {{"RANK", std::to_string(rank)}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port}});
    EXPECT_EQ(trial.finish_ranks(2), (std::vector<int>{3, 3}));
    EXPECT_TRUE(matches(trial.output("0"), "error at .*port " + port + " of 127.0.0.1 is in use already"))
        << trial.output("0");
    EXPECT_TRUE(matches(trial.output("1"), "error at .*127.0.0.1:" + port)) << trial.output("1");
    close(fd);
  }
}

namespace {

// A small file system of its own where the tests may have one, a limit on files otherwise.
class SmallDisk {
 public:
  SmallDisk() : mounted_(is_root() && ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=3m") == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  std::string path() const { return folder_.path(); }
  bool mounted() const { return mounted_; }

 private:
  Folder folder_;
  bool mounted_;
};

}  // namespace

TEST(Disk, FullWhileACheckpointIsWritten) {
  SmallDisk disk;
  const std::string checkpoints = disk.path() + "/runs";
  Words command{program("train"), "--steps", "20", "--checkpoints", checkpoints, "--every", "4"};
  {
    Trial trial;
    trial.launch(2, {}, [&] {
      Words first = command;
      first[2] = "8";
      return first;
    }());
    ASSERT_EQ(trial.finish("run"), 0) << trial.everything();
  }
  {
    // More ballast than there is room for.
    Words more = command;
    more.insert(more.end(), {"--ballast-mb", "4"});
    if (!disk.mounted()) more.insert(more.end(), {"--file-limit", "1000000"});
    Trial trial;
    // The ballast is not the one in the files: this run begins anew, in the same folder.
    std::filesystem::create_directories(checkpoints + "/kept");
    for (int rank : {0, 1})
      std::filesystem::rename(checkpoints + "/" + std::to_string(rank), checkpoints + "/kept/" + std::to_string(rank));
    trial.launch(2, {}, more);
    EXPECT_EQ(trial.finish("run"), 3);
    EXPECT_TRUE(matches(trial.output("run"), disk.mounted() ? "error at [0-9.]+: save: .*No space left on device"
                                                            : "error at [0-9.]+: save: .*File too large"))
        << trial.output("run");
    // Nothing half-written, not even under another name.
    for (int rank : {0, 1})
      for (const auto& entry : std::filesystem::directory_iterator(checkpoints + "/" + std::to_string(rank)))
        ADD_FAILURE() << "left: " << entry.path();
    for (int rank : {0, 1}) {
      std::filesystem::remove_all(checkpoints + "/" + std::to_string(rank));
      std::filesystem::rename(checkpoints + "/kept/" + std::to_string(rank), checkpoints + "/" + std::to_string(rank));
    }
  }
  // The older one is whole, and the run goes on from it.
  Trial trial;
  trial.launch(2, {}, [&] {
    Words on = command;
    on[2] = "12";
    return on;
  }());
  EXPECT_EQ(trial.finish("run"), 0) << trial.everything();
  EXPECT_TRUE(matches(trial.said_by(0), "begins at step 8")) << trial.everything();
}
