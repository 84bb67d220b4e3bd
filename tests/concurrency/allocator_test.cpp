// The allocator between threads: blocks freed elsewhere come back to their owner, heaps outlive their threads, and a
// fork in the middle of it all leaves the child a working allocator. CRESSET_LONG=1 runs the soak tests for minutes.
#include "cresset/core/allocator.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/child_process.h"

namespace cresset {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMiB = int64_t{1} << 20;

// ./x test --soak MINUTES says how long; --long means two minutes.
Clock::time_point soak_end() {
  const char *minutes = std::getenv("CRESSET_SOAK_MINUTES"), *is_long = std::getenv("CRESSET_TEST_LONG");
  if (minutes) return Clock::now() + std::chrono::minutes(std::atoi(minutes));
  return Clock::now() + std::chrono::milliseconds(is_long ? 120000 : 1500);
}

struct Block {
  unsigned char* data = nullptr;
  size_t bytes = 0;
};

Block take(size_t bytes) {
  Block block{static_cast<unsigned char*>(allocate(bytes)), bytes};
  block.data[0] = block.data[bytes - 1] = static_cast<unsigned char>(bytes % 251);
  return block;
}

bool give(const Block& block) {
  const auto mark = static_cast<unsigned char>(block.bytes % 251);
  const bool intact = block.data[0] == mark && block.data[block.bytes - 1] == mark;
  deallocate(block.data, block.bytes);
  return intact;
}

// A bounded queue between one producer and one consumer.
class Queue {
 public:
  bool push(const Block& block) {
    const size_t end = end_.load(std::memory_order_relaxed);
    if (end - begin_.load(std::memory_order_acquire) == ring_.size()) return false;
    ring_[end % ring_.size()] = block;
    end_.store(end + 1, std::memory_order_release);
    return true;
  }
  bool pop(Block& block) {
    const size_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) return false;
    block = ring_[begin % ring_.size()];
    begin_.store(begin + 1, std::memory_order_release);
    return true;
  }

 private:
  std::array<Block, 1024> ring_;
  std::atomic<size_t> begin_{0};
  std::atomic<size_t> end_{0};
};

TEST(AllocatorSoak, AProducerWhoseBlocksAreFreedElsewhereStaysFlat) {
  empty_cache();
  Queue queue;
  std::atomic<bool> stop{false};
  std::thread producer([&] {
    std::minstd_rand random(1);
    while (!stop) {
      const Block block = take(64 + random() % (random() % 16 == 0 ? 60000 : 2000));
      bool pushed = queue.push(block);
      while (!pushed && !stop) {
        std::this_thread::yield();
        pushed = queue.push(block);
      }
      if (!pushed) give(block);
    }
  });
  const auto end = soak_end();
  const int64_t before = memory_stats().reserved_bytes;
  int64_t most = 0, freed = 0;
  Block block;
  while (Clock::now() < end) {
    for (int i = 0; i < 1000; ++i) {
      if (!queue.pop(block)) {
        std::this_thread::yield();
        continue;
      }
      ASSERT_TRUE(give(block));
      ++freed;
    }
    most = std::max(most, memory_stats().reserved_bytes);
  }
  stop = true;
  producer.join();
  while (queue.pop(block)) ASSERT_TRUE(give(block));
  EXPECT_GT(freed, 1000);
  EXPECT_LT(most - before, 64 * kMiB) << "after " << freed << " blocks";
}

TEST(AllocatorSoak, ThreadsThatSwapBlocksKeepThemIntact) {
  const int64_t before = memory_stats().allocated_bytes;
  std::array<std::pair<std::mutex, Block>, 256> shelf;
  std::atomic<bool> intact{true};
  const auto end = soak_end();
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::minstd_rand random(seed);
      while (Clock::now() < end) {
        for (int i = 0; i < 100; ++i) {
          Block block = take(1 + random() % (random() % 32 == 0 ? 2000000 : 5000));
          auto& [mutex, place] = shelf[random() % shelf.size()];
          {
            std::lock_guard lock(mutex);
            std::swap(block, place);
          }
          if (block.data != nullptr && !give(block)) intact = false;
        }
        if (random() % 1000 == 0) empty_cache();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& [mutex, block] : shelf) {
    if (block.data != nullptr) intact = give(block) && intact;
  }
  EXPECT_TRUE(intact);
  EXPECT_EQ(memory_stats().allocated_bytes, before);
}

TEST(AllocatorThreads, HeapsOfEndedThreadsAreAdopted) {
  empty_cache();
  std::vector<Block> blocks;
  const auto work = [&blocks] {
    for (int i = 0; i < 4000; ++i) blocks.push_back(take(1000));
  };
  int64_t after_first = 0;
  for (int round = 0; round < 50; ++round) {
    std::thread(work).join();
    for (const Block& block : blocks) EXPECT_TRUE(give(block));  // after their thread ended
    blocks.clear();
    if (round == 0) after_first = memory_stats().reserved_bytes;
  }
  EXPECT_LE(memory_stats().reserved_bytes, after_first);
}

TEST(AllocatorThreads, EmptyCacheReachesHeapsOfEndedThreads) {
  empty_cache();
  const int64_t before = memory_stats().reserved_bytes;
  std::thread([] {
    std::vector<Block> blocks;
    for (int i = 0; i < 20000; ++i) blocks.push_back(take(1000));
    for (const Block& block : blocks) EXPECT_TRUE(give(block));
  }).join();
  empty_cache();
  EXPECT_LE(memory_stats().reserved_bytes, before);
}

pthread_key_t late_key;
std::atomic<int> late_rounds{0};

// Runs again and again in a thread's last moments, after the allocator has taken the thread's heap away.
void use_after_thread_end(void* block) {
  deallocate(block, 100);
  if (++late_rounds == 3) return;
  deallocate(allocate(70000), 70000);
  deallocate(allocate(3000), 3000);
  pthread_setspecific(late_key, allocate(100));
}

TEST(AllocatorThreads, DestructorsOfAnEndingThreadStillAllocateAndFree) {
  const int64_t before = memory_stats().allocated_bytes;
  pthread_key_create(&late_key, use_after_thread_end);
  std::thread([] { pthread_setspecific(late_key, allocate(100)); }).join();
  pthread_key_delete(late_key);
  EXPECT_EQ(late_rounds, 3);
  EXPECT_EQ(memory_stats().allocated_bytes, before);
}

#if !CRESSET_ADDRESS_SANITIZER  // whose own allocator hangs in such a child

TEST(AllocatorThreads, ForkAmidBusyThreadsLeavesAWorkingChild) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::vector<Block> of_others(2);
  std::atomic<int> ready{0};
  for (unsigned seed = 0; seed < 2; ++seed) {
    threads.emplace_back([&, seed] {
      of_others[seed] = take(500);
      ++ready;
      std::minstd_rand random(seed + 1);
      while (!stop) give(take(1 + random() % 100000));
    });
  }
  while (ready < 2) std::this_thread::yield();
  for (int round = 0; round < 20; ++round) {
    const std::string outcome = testing::outcome_in_child([&] {
      bool intact = true;
      for (const Block& block : of_others) intact = give(block) && intact;
      for (size_t bytes = 1; bytes < 200000; bytes += 997) intact = give(take(bytes)) && intact;
      empty_cache();
      return intact && memory_stats().allocations > 0;
    });
    EXPECT_EQ(outcome, "ok");
    if (outcome != "ok") break;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (const Block& block : of_others) EXPECT_TRUE(give(block));
}

#endif

}  // namespace
}  // namespace cresset
