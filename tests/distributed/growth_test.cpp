// What is made and destroyed again and again leaves nothing: neither memory here nor keys in the store.
#include <gtest/gtest.h>
#include <malloc.h>

#include <fstream>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/groups.h"
#include "tests/distributed/store_support.h"

namespace cresset::distributed {
namespace growth {

using namespace cresset::testing;

constexpr int kRounds = 200;

int threads_of_this_process() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "Threads:") break;
  int count = 0;
  status >> count;
  return count;
}

// The lowest of a few looks: threads that are about to end, and what they hold, are no growth.
struct Usage {
  size_t bytes = SIZE_MAX;
  int64_t keys = INT64_MAX;
  int threads = INT32_MAX;

  static Usage of(Store& store) {
    Usage least;
    for (int look = 0; look < 20; look++) {
      least.bytes = std::min(least.bytes, mallinfo2().uordblks + mallinfo2().hblkhd);
      least.keys = std::min(least.keys, store.num_keys());
      least.threads = std::min(least.threads, threads_of_this_process());
      pause_for(20);
    }
    return least;
  }
};

// Both ranks do it, first to fill every cache, then to be measured.
void expect_no_growth(const std::function<void(const InitOptions&)>& round) {
  const auto server = make_server();
  const Outcome outcome = run_ranks(
      2,
      [&, port = server->port()](int) {
        mallopt(M_ARENA_MAX, 1);  // mallinfo2 counts the first arena only
        const auto store = make_client(port);
        const auto look = [&](const char* when) {
          store->add(when, 1);
          while (store->get(when) != "2") pause_for(5);
          return Usage::of(*store);
        };
        InitOptions options;
        options.store = store;
        init_process_group(options);
        for (int i = 0; i < 30; i++) round(options);
        const Usage before = look("before");
        for (int i = 0; i < kRounds; i++) round(options);
        const Usage after = look("after");
        destroy_process_group();
        EXPECT_LE(after.keys, before.keys + 1) << "in the store";  // "after" itself
        EXPECT_LE(after.threads, before.threads);
        // Threads that live on keep freed memory of many sizes for themselves, up to some 30 KB after thousands of
        // rounds.
        EXPECT_LT(after.bytes, before.bytes + kRounds * 300) << "bytes, of " << kRounds << " rounds";
      },
      std::chrono::seconds(150));
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Growth, GroupsThatAreDestroyedLeaveNothing) {
  expect_no_growth([](const InitOptions&) {
    const Group group = new_group();
    barrier(group);
    destroy_process_group(group);
    monitored_barrier();
  });
}

TEST(Growth, WorldsThatAreDestroyedLeaveNothing) {
  expect_no_growth([](const InitOptions& options) {
    destroy_process_group();
    init_process_group(options);
    barrier();
  });
}

}  // namespace growth
}  // namespace cresset::distributed
