// A process that comes with a rank which another has: it is refused, and the others notice nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/groups.h"
#include "tests/distributed/store_support.h"

namespace cresset::distributed {
namespace duplicates {

using namespace cresset::testing;

// Ranks 0 and 1 work; then a second rank 1 comes, is refused and ends; then they work on.
void expect_the_others_go_on(const std::string& file) {
  const auto talk = make_server();
  Processes processes(3, [&, port = talk->port()](int process) {
    const auto signs = make_client(port);
    InitOptions options;
    options.rank = std::min(process, 1);
    options.world_size = 2;
    if (!file.empty()) options.init_method = "file://" + file;
    if (process == 2) {
      signs->wait({"0 works", "1 works"}, kDeadline);
      say(message_when([&] { init_process_group(options); }));
      return;
    }
    init_process_group(options);
    Tensor x = ones({10});
    all_reduce(x);
    signs->set(std::to_string(process) + " works", "");
    signs->wait({"the other was refused"}, kDeadline);
    for (int i = 0; i < 3; i++) all_reduce(x);
    monitored_barrier();
    EXPECT_EQ(x[0].item<double>(), 16.0);
    // Not at the same time: what the last one still needs must be there.
    if (process == 0) default_store()->wait({"1 leaves"}, kDeadline);
    if (process == 1) default_store()->set("1 leaves", "");
    destroy_process_group();
  });
  ASSERT_TRUE(processes.wait_for(2, "two processes have the same rank"));
  talk->set("the other was refused", "");
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
  EXPECT_EQ(outcome[2].find("init_process_group: rank 1 is taken by another process (host " + host() + ", pid " +
                            std::to_string(processes.pid(1)) + ")"),
            0u)
      << outcome[2];
}

TEST(DuplicateRank, IsRefusedAndTheOthersGoOn) { expect_the_others_go_on(""); }

TEST(DuplicateRank, InAFileIsRefusedAndTheOthersGoOn) {
  const TemporaryFolder folder;
  expect_the_others_go_on(folder.path() + "/meet");
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/meet")) << "the last one removes it";
}

}  // namespace duplicates
}  // namespace cresset::distributed
