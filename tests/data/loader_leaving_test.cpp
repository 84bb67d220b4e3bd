// The loader when things end: loops left early, time limits, destruction, forks, streams.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "cresset/core/parallel.h"
#include "tests/core/expect_error.h"
#include "tests/data/numbers.h"
#include "tests/support/child_process.h"

namespace cresset::data {
namespace {

TEST(Loader, LeavingTheLoopEarlyAndStartingAgain) {
  for (size_t workers : {0, 1, 4}) {
    auto loader = make_data_loader<SequentialSampler>(stacked_numbers(1000), DataLoaderOptions(3).workers(workers));
    for (int epoch = 0; epoch < 5; epoch++) {
      int64_t batches = 0;
      for (auto& batch : *loader) {
        EXPECT_EQ(batch.data[0].item<int64_t>(), 3 * batches);
        if (++batches == 4) break;
      }
    }
    EXPECT_EQ(values_of(*loader), counted(1000));
  }
}

// Fetching blocks at every sample until it is let go, and notes how far it came.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  std::atomic<int> samples{0};
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return open; });
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
};

struct Gated : Numbers {
  Gated(size_t count, std::shared_ptr<Gate> gate) : Numbers(count), gate(std::move(gate)) {}
  TensorExample get(size_t index) override {
    gate->samples++;
    gate->wait();
    return Numbers::get(index);
  }
  std::shared_ptr<Gate> gate;
};

TEST(Loader, TimeoutIsAnErrorAndLosesNothing) {
  auto gate = std::make_shared<Gate>();
  auto loader = make_data_loader(Gated(4, gate), SequentialSampler(4),
                                 DataLoaderOptions(2).workers(2).timeout(std::chrono::milliseconds(20)));
  auto it = loader->begin();
  EXPECT_ERROR(Error, *it, "while waiting for next batch (timeout was 20 ms)");
  gate->let_go();
}

TEST(Loader, JoinSaysWhoIsStillFetchingAndMayBeCalledAgain) {
  auto gate = std::make_shared<Gate>();
  auto loader = make_data_loader(Gated(4, gate), SequentialSampler(4),
                                 DataLoaderOptions(2).workers(1).timeout(std::chrono::milliseconds(20)));
  static_cast<void>(loader->begin());
  while (gate->samples < 1) std::this_thread::yield();
  EXPECT_ERROR(Error, loader->join(),
               "join: not within the timeout of 20 ms: worker 0 is still fetching batch 0 of epoch 0");
  EXPECT_ERROR(Error, loader->begin(), "worker 0 is still fetching batch 0 of epoch 0");
  gate->let_go();
  for (int i = 0; i < 1000; i++) {  // the worker leaves when it can
    try {
      loader->join();
      break;
    } catch (const Error&) {
    }
  }
  auto it = loader->begin();
  EXPECT_EQ((*it).size(), 2U);
}

TEST(Loader, TheDestructorSaysWhatItWaitsFor) {
  auto gate = std::make_shared<Gate>();
  auto loader = make_data_loader(Gated(4, gate), SequentialSampler(4),
                                 DataLoaderOptions(2).workers(2).timeout(std::chrono::milliseconds(20)));
  static_cast<void>(loader->begin());
  while (gate->samples < 2) std::this_thread::yield();
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const int old = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  std::string said;
  std::thread reader([&] {  // lets the workers go once the loader has complained
    struct pollfd waiting {
      ends[0], POLLIN, 0
    };
    char text[1024];
    if (::poll(&waiting, 1, 60'000) > 0)
      said.assign(text, static_cast<size_t>(std::max<ssize_t>(0, ::read(ends[0], text, sizeof text))));
    gate->let_go();
  });
  loader.reset();
  reader.join();
  ::dup2(old, STDERR_FILENO);
  for (int file : {old, ends[0], ends[1]}) ::close(file);
  EXPECT_NE(
      said.find("DataLoader: its destructor has waited 20 ms for its worker threads and goes on waiting: worker 0 is "
                "still fetching batch "),
      std::string::npos)
      << said;
  EXPECT_NE(said.find("A thread cannot be ended from outside"), std::string::npos) << said;
  EXPECT_NE(said.find("give what that code waits for (a file, a socket, a lock) a deadline"), std::string::npos)
      << said;
  EXPECT_NE(said.find("worker 1 is still fetching batch "), std::string::npos) << said;
}

TEST(Loader, AnAbandonedFetchStopsAtTheNextSample) {
  auto gate = std::make_shared<Gate>();
  auto loader = make_data_loader(Gated(2000, gate), SequentialSampler(2000), DataLoaderOptions(500).workers(2));
  static_cast<void>(loader->begin());
  while (gate->samples < 2) std::this_thread::yield();  // both workers wait in their first sample
  auto it = loader->begin();
  gate->let_go();
  size_t batches = 0;
  for (; it != loader->end(); ++it) batches++;
  EXPECT_EQ(batches, 4U);
  EXPECT_EQ(gate->samples, 2 + 2000);
}

TEST(Loader, DestructionInAnyOrder) {
  {  // an iterator that outlives its loader
    auto loader = make_data_loader<SequentialSampler>(stacked_numbers(100), DataLoaderOptions(3).workers(2));
    auto it = loader->begin();
    EXPECT_TRUE((*it).data.defined());
    loader.reset();
    EXPECT_TRUE((*it).data.defined());
    EXPECT_ERROR(Error, ++it, "loader is gone");
  }
  {  // a loader that was never used, and one that only began
    auto unused = make_data_loader<SequentialSampler>(stacked_numbers(100), DataLoaderOptions(3).workers(2));
    auto begun = make_data_loader<SequentialSampler>(stacked_numbers(100), DataLoaderOptions(3).workers(2));
    static_cast<void>(begun->begin());
  }
  {  // a batch that outlives both
    Tensor kept;
    {
      auto loader = make_data_loader<SequentialSampler>(stacked_numbers(100), DataLoaderOptions(3).workers(2));
      for (auto& batch : *loader) kept = batch.data;
    }
    EXPECT_EQ(kept.tolist<int64_t>(), (std::vector<int64_t>{99}));
  }
  {  // joined by hand, twice
    auto loader = make_data_loader<SequentialSampler>(stacked_numbers(100), DataLoaderOptions(3).workers(2));
    auto it = loader->begin();
    loader->join();
    loader->join();
    EXPECT_ERROR(Error, *it, "iterator is over");
    EXPECT_EQ(values_of(*loader), counted(100));
  }
}

TEST(Loader, OldAndFinishedIteratorsSaySo) {
  auto loader = make_data_loader<SequentialSampler>(stacked_numbers(4), DataLoaderOptions(2));
  auto old = loader->begin();
  static_cast<void>(*old);
  auto it = loader->begin();
  EXPECT_ERROR(Error, ++old, "iterator is over");
  ++it;
  ++it;
  EXPECT_TRUE(it == loader->end());
  EXPECT_ERROR(Error, ++it, "past the end");
  EXPECT_ERROR(Error, *it, "past the end");
  EXPECT_ERROR(Error, *loader->end(), "past-the-end");
}

TEST(Loader, PrefetchIsBounded) {
  auto gate = std::make_shared<Gate>();
  gate->let_go();
  auto loader =
      make_data_loader(Gated(1000, gate), SequentialSampler(1000), DataLoaderOptions(1).workers(2).max_jobs(3));
  auto it = loader->begin();
  static_cast<void>(*it);  // one taken: one more was asked for
  for (int i = 0; i < 100; i++) std::this_thread::yield();
  EXPECT_LE(gate->samples, 4);
}

TEST(Loader, WorkersRunSeriallyAndKnowWhoTheyAre) {
  struct Asking : Dataset<Asking, TensorExample> {
    TensorExample get(size_t) override {
      const auto info = get_worker_info();
      int64_t parts = 0;
      parallel_for(0, 1 << 20, 1, [&](int64_t, int64_t) { parts++; });
      return tensor(
          {static_cast<int64_t>(info ? info->id : 99), static_cast<int64_t>(info ? info->num_workers : 0), parts});
    }
    std::optional<size_t> size() const override { return 8; }
  };
  auto loader = make_data_loader<SequentialSampler>(Asking(), DataLoaderOptions(1).workers(3));
  for (auto& batch : *loader) {
    const auto seen = batch[0].data.tolist<int64_t>();
    EXPECT_LT(seen[0], 3);
    EXPECT_EQ(seen[1], 3);
    EXPECT_EQ(seen[2], 1);
  }
  EXPECT_FALSE(get_worker_info());
}

TEST(Loader, AForkedChildMakesItsOwnAndDropsAnInheritedOne) {
  auto loader = make_data_loader<SequentialSampler>(stacked_numbers(64), DataLoaderOptions(4).workers(2));
  auto it = loader->begin();
  static_cast<void>(*it);
  EXPECT_EQ(testing::outcome_in_child([&] {
              auto own = make_data_loader<SequentialSampler>(stacked_numbers(64), DataLoaderOptions(4).workers(2));
              if (values_of(*own) != counted(64)) return false;
              try {
                for (int i = 0; i < 40; i++) ++it;
                return false;
              } catch (const Error& error) {
                if (std::string(error.what()).find("forked") == std::string::npos) return false;
              }
              if (values_of(*loader) != counted(64)) return false;  // begin() starts workers of the child's own
              loader.reset();
              return true;
            }),
            "ok");
  EXPECT_EQ(testing::outcome_in_child([&] {
              loader.reset();  // without having used it
              return true;
            }),
            "ok");
  ++it;
  EXPECT_EQ((*it).data[0].item<int64_t>(), 4);
}

struct Stream : datasets::IterableDataset<Stream, TensorExample> {
  explicit Stream(int64_t count, int64_t first = 0) : count(count), first(first) {}
  std::optional<TensorExample> next() override {
    if (at >= count) return std::nullopt;
    return TensorExample(scalar_tensor(first + at++, kLong));
  }
  void reset() override { at = 0; }
  int64_t count, first, at = 0;
};

TEST(Loader, StreamsKeepTheirOrderOnAnyNumberOfWorkers) {
  for (size_t workers : {0, 1, 4}) {
    auto loader = make_data_loader(Stream(25).map(Stack<TensorExample>()), DataLoaderOptions(4).workers(workers));
    for (int epoch = 0; epoch < 3; epoch++) EXPECT_EQ(values_of(*loader), counted(25)) << workers;
    auto even =
        make_data_loader(Stream(25).map(Stack<TensorExample>()), DataLoaderOptions(4).workers(workers).drop_last(true));
    EXPECT_EQ(values_of(*even), counted(24));
    for (auto& batch : *loader) {
      static_cast<void>(batch);
      break;
    }
    EXPECT_EQ(values_of(*loader), counted(25));
  }
}

TEST(Loader, ChainedStreams) {
  datasets::ChainDataset<Stream> chain({Stream(3), Stream(0), Stream(2, 3)});
  auto loader = make_data_loader(std::move(chain).map(Stack<TensorExample>()), DataLoaderOptions(2).workers(1));
  EXPECT_EQ(values_of(*loader), counted(5));
  EXPECT_EQ(values_of(*loader), counted(5));
}

}  // namespace
}  // namespace cresset::data
