// The loader: delivery, order, errors, early exits, time limits, forks.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "cresset/core/parallel.h"
#include "cresset/data/data.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/support/child_process.h"

namespace cresset::data {
namespace {

using datasets::Dataset;
using datasets::TensorDataset;
using samplers::RandomSampler;
using samplers::SequentialSampler;
using transforms::Stack;

// Example i is the number i.
struct Numbers : Dataset<Numbers, TensorExample> {
  explicit Numbers(size_t count) : count(count) {}
  TensorExample get(size_t index) override { return scalar_tensor(static_cast<int64_t>(index), kLong); }
  std::optional<size_t> size() const override { return count; }
  size_t count;
};

auto stacked_numbers(size_t count) { return Numbers(count).map(Stack<TensorExample>()); }

template <class Loader>
std::vector<int64_t> values_of(Loader& loader) {
  std::vector<int64_t> values;
  for (auto& batch : loader)
    for (int64_t value : batch.data.template tolist<int64_t>()) values.push_back(value);
  return values;
}

std::vector<int64_t> counted(int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(Loader, DeliversEverythingInOrderOnAnyNumberOfWorkers) {
  for (size_t workers : {0, 1, 2, 5}) {
    auto loader = make_data_loader<SequentialSampler>(stacked_numbers(103), DataLoaderOptions(8).workers(workers));
    EXPECT_EQ(loader->size(), 13U);
    for (int epoch = 0; epoch < 3; epoch++) EXPECT_EQ(values_of(*loader), counted(103)) << workers << " workers";
  }
}

TEST(Loader, DropLastLeavesOutTheRest) {
  for (size_t workers : {0, 2}) {
    auto loader =
        make_data_loader<SequentialSampler>(stacked_numbers(10), DataLoaderOptions(4).workers(workers).drop_last(true));
    EXPECT_EQ(values_of(*loader), counted(8));
    EXPECT_EQ(loader->size(), 2U);
  }
}

TEST(Loader, WithoutOrderEveryBatchComesOnce) {
  auto loader =
      make_data_loader<RandomSampler>(stacked_numbers(200), DataLoaderOptions(7).workers(4).enforce_ordering(false));
  for (int epoch = 0; epoch < 3; epoch++) {
    std::vector<int64_t> values = values_of(*loader);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, counted(200));
  }
}

TEST(Loader, EmptyDatasetsGiveNoBatch) {
  for (size_t workers : {0, 2}) {
    auto loader = make_data_loader<RandomSampler>(stacked_numbers(0), DataLoaderOptions(4).workers(workers));
    EXPECT_TRUE(values_of(*loader).empty());
  }
}

TEST(Loader, EachEpochHasAnOrderOfItsOwnAndTheSeedRepeatsIt) {
  const auto run = [](uint64_t seed, size_t workers) {
    auto loader =
        make_data_loader<RandomSampler>(stacked_numbers(50), DataLoaderOptions(8).workers(workers).seed(seed));
    std::vector<std::vector<int64_t>> epochs;
    for (int epoch = 0; epoch < 3; epoch++) epochs.push_back(values_of(*loader));
    return epochs;
  };
  const auto once = run(3, 0);
  EXPECT_EQ(once, run(3, 3));
  EXPECT_NE(once[0], once[1]);
  EXPECT_NE(once[1], once[2]);
  EXPECT_NE(once, run(4, 0));
}

TEST(Loader, ManualSeedFixesTheOrder) {
  const auto run = [] {
    manual_seed(5);
    return values_of(*make_data_loader<RandomSampler>(stacked_numbers(50), 10));
  };
  EXPECT_EQ(run(), run());
}

TEST(Loader, SetEpochChoosesTheOrder) {
  auto loader = make_data_loader<RandomSampler>(stacked_numbers(50), DataLoaderOptions(10).seed(1));
  const auto first = values_of(*loader), second = values_of(*loader);
  loader->set_epoch(0);
  EXPECT_EQ(values_of(*loader), first);
  EXPECT_EQ(values_of(*loader), second);
  loader->sampler().set_epoch(0);  // as PyTorch's users do
  EXPECT_EQ(values_of(*loader), first);
  EXPECT_EQ(loader->epoch(), 0U);
}

// Random numbers: the same for any number of workers, another for each sample, epoch and transform.
struct Noisy : Dataset<Noisy, TensorExample> {
  TensorExample get(size_t index) override { return rand({2}, sample_generator()).add(static_cast<double>(index)); }
  std::optional<size_t> size() const override { return 40; }
};

std::vector<float> augmented(size_t workers, uint64_t seed, size_t batch_size, bool ordered = true) {
  auto dataset = Noisy()
                     .map(transforms::Lambda<TensorExample>([](TensorExample e) {
                       return TensorExample(e.data + random_uniform() + static_cast<double>(random_integer(10)));
                     }))
                     .map(transforms::Lambda<TensorExample>(
                         [](TensorExample e) { return TensorExample(e.data * random_uniform()); }))
                     .map(Stack<TensorExample>());
  auto loader = make_data_loader<RandomSampler>(
      std::move(dataset), DataLoaderOptions(batch_size).workers(workers).seed(seed).enforce_ordering(ordered));
  std::vector<float> values;
  for (int epoch = 0; epoch < 2; epoch++)
    for (auto& batch : *loader)
      for (float value : batch.data.tolist<float>()) values.push_back(value);
  return values;
}

TEST(Loader, AugmentationIsTheSameForAnyNumberOfWorkersAndBatches) {
  const auto values = augmented(0, 7, 8);
  EXPECT_EQ(values, augmented(1, 7, 8));
  EXPECT_EQ(values, augmented(4, 7, 8));
  EXPECT_EQ(values, augmented(3, 7, 5));  // the batch's size does not matter either
  EXPECT_NE(values, augmented(0, 8, 8));
  EXPECT_EQ(std::set<float>(values.begin(), values.end()).size(), values.size()) << "no two samples share numbers";
}

TEST(Loader, RepeatedSamplesAreAugmentedAnew) {
  auto dataset = Noisy().map(Stack<TensorExample>());
  const auto run = [&](size_t workers) {
    auto loader = make_data_loader(dataset, RandomSampler(40).replacement(true).num_samples(200),
                                   DataLoaderOptions(10).workers(workers).seed(1));
    std::vector<float> values;
    for (auto& batch : *loader)
      for (float value : batch.data.tolist<float>()) values.push_back(value);
    return values;
  };
  const auto values = run(0);
  EXPECT_EQ(values, run(3));
  EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), values.size() - 3);
}

TEST(Loader, OutsideALoaderTheDefaultGeneratorIsUsed) {
  EXPECT_TRUE(sample_generator() == default_generator());
  manual_seed(3);
  const double a = random_uniform();
  manual_seed(3);
  EXPECT_EQ(a, random_uniform());
}

// ---- errors

struct Faulty : Numbers {
  using Numbers::Numbers;
  TensorExample get(size_t index) override {
    if (index == 17) throw std::runtime_error("the disk is full of eels");
    return Numbers::get(index);
  }
};

TEST(Loader, WorkersErrorsReachTheCallerWithTextAndIndex) {
  for (bool ordered : {true, false}) {
    auto dataset = Faulty(40);
    auto loader =
        make_data_loader(dataset, SequentialSampler(40), DataLoaderOptions(5).workers(2).enforce_ordering(ordered));
    size_t batches = 0, failures = 0;
    auto it = loader->begin();
    for (bool more = true; more;) {
      try {
        if (it == loader->end()) break;
        batches++;
        ++it;
      } catch (const WorkerException& error) {
        failures++;
        const std::string words = error.what();
        EXPECT_NE(words.find("index 17"), std::string::npos) << words;
        EXPECT_NE(words.find("batch 3"), std::string::npos) << words;
        EXPECT_NE(words.find("the disk is full of eels"), std::string::npos) << words;
        EXPECT_THROW(std::rethrow_exception(error.original_exception), std::runtime_error);
        more = batches < 40;
        if (it == loader->end()) break;
      }
    }
    EXPECT_EQ(failures, 1U);
  }
}

TEST(Loader, AfterAnErrorTheNextEpochWorks) {
  auto loader = make_data_loader(Faulty(40), SequentialSampler(40), DataLoaderOptions(5).workers(3));
  for (int epoch = 0; epoch < 3; epoch++) {
    size_t batches = 0;
    try {
      for (auto& batch : *loader) batches += batch.empty() ? 0 : 1;
      ADD_FAILURE() << "no error";
    } catch (const WorkerException&) {
    }
    EXPECT_EQ(batches, 3U);
  }
}

TEST(Loader, WithoutWorkersErrorsComeAsTheyAre) {
  auto loader = make_data_loader(Faulty(40), SequentialSampler(40), DataLoaderOptions(5));
  EXPECT_THROW(for (auto& batch : *loader) static_cast<void>(batch), std::runtime_error);
}

TEST(Loader, ErrorsOfCollationNameTheIndices) {
  auto ragged = Numbers(8).map(transforms::Lambda<TensorExample>(
      [](TensorExample e) { return TensorExample(zeros({e.data.item<int64_t>() + 1})); }));
  auto loader = make_data_loader<SequentialSampler>(std::move(ragged).map(Stack<TensorExample>()),
                                                    DataLoaderOptions(2).workers(1));
  EXPECT_ERROR(WorkerException, *loader->begin(), "indices 0, 1: stack");
}

TEST(Loader, BadOptionsAreRefused) {
  EXPECT_ERROR(ValueError, make_data_loader(Numbers(3), DataLoaderOptions(0)), "batch_size 0");
  EXPECT_ERROR(ValueError, make_data_loader(Numbers(3), DataLoaderOptions(1).workers(2).max_jobs(0)), "max_jobs");
}

// ---- leaving early

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
  EXPECT_ERROR(Error, *it, "no batch within the timeout of 20 ms");
  gate->let_go();
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
  EXPECT_ERROR(Error, *loader->end(), "past the end");
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

// ---- streams

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
