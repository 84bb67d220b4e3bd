// Loaders, samplers and chunks where libtorch's own tests look closely: iterators, copies for workers, saving, words.
#include "cresset/torch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>

#include "tests/core/expect_error.h"

namespace cresset::testing::libtorch_loader_test {
namespace {

namespace datasets = torch::data::datasets;
namespace samplers = torch::data::samplers;
using samplers::SequentialSampler;
using torch::data::DataLoaderOptions;
using torch::data::Example;
using torch::data::make_data_loader;
using torch::data::WorkerException;

struct Counted : datasets::Dataset<Counted, int> {
  explicit Counted(size_t count = 10) : count(count) {}
  int get(size_t index) override { return static_cast<int>(index) + 1; }
  torch::optional<size_t> size() const override { return count; }
  size_t count;
};

TEST(LibtorchLoader, TwoLiveIteratorsWithoutWorkersCompare) {
  auto loader = make_data_loader(Counted(), 4);
  auto i = loader->begin(), j = loader->begin();
  EXPECT_TRUE(i != j);
  EXPECT_TRUE(i == i && j == j);
  ++j;
  EXPECT_TRUE(i != j);
  auto copy = j;
  EXPECT_TRUE(copy == j) << "copies share their place";
  ++copy;
  ++j;
  EXPECT_TRUE(copy == loader->end() && j == loader->end());
  EXPECT_TRUE(loader->end() == loader->end());
}

TEST(LibtorchLoader, ASecondIteratorWhileWorkersServeAnotherThrows) {
  auto loader = make_data_loader(Counted(100), DataLoaderOptions(1).workers(2));
  {
    auto i = loader->begin();
    EXPECT_ERROR(c10::Error, loader->begin(),
                 "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
    EXPECT_EQ(i->size(), 1U) << "and the first goes on";
  }
  size_t batches = 0;
  for (auto& batch : *loader) batches += batch.size();
  EXPECT_EQ(batches, 100U) << "one that is gone is in nobody's way";
  auto left = loader->begin();
  loader->join();
  EXPECT_EQ(loader->begin()->size(), 1U) << "nor after join()";
  auto all = make_data_loader(Counted(3), DataLoaderOptions(1).workers(2));
  auto it = all->begin();
  ++it;
  ++it;
  static_cast<void>(*it);  // the last batch is there: nothing is under way, though nobody asked for the end
  EXPECT_EQ(all->begin()->size(), 1U);
}

TEST(LibtorchLoader, IteratorsPastTheEndSpeakAsLibtorchs) {
  auto loader = make_data_loader(Counted(), 10);
  auto i = loader->begin();
  ++i;
  EXPECT_ERROR(c10::Error, ++i, "Attempted to increment iterator past the end");
  EXPECT_ERROR(c10::Error, *i, "Attempted to dereference iterator that was past the end");
  auto end = loader->end();
  EXPECT_ERROR(c10::Error, ++end, "Incrementing the DataLoader's past-the-end iterator is not allowed");
  EXPECT_ERROR(c10::Error, *end, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
}

// Numbers its copies, as libtorch's test of ordering does. Its first copy is the one for worker 0.
struct Numbered : datasets::BatchDataset<Numbered, int> {
  explicit Numbered(std::shared_ptr<std::atomic<int>> copies) : copies(std::move(copies)) {}
  Numbered(const Numbered& other) : copies(other.copies), number((*copies)++) {}
  Numbered(Numbered&&) = default;
  Numbered& operator=(const Numbered&) = delete;
  Numbered& operator=(Numbered&&) = delete;
  int get_batch(torch::ArrayRef<size_t>) override { return number; }
  torch::optional<size_t> size() const override { return 64; }
  std::shared_ptr<std::atomic<int>> copies;
  int number = -1;
};
TEST(LibtorchLoader, EachWorkerHasACopyOfTheDataSet) {
  for (size_t workers : {1U, 4U}) {
    auto copies = std::make_shared<std::atomic<int>>(0);
    auto loader = make_data_loader(Numbered(copies), SequentialSampler(64), DataLoaderOptions(1).workers(workers));
    EXPECT_EQ(*copies, static_cast<int>(workers));
    for (int number : *loader) {
      EXPECT_GE(number, 0) << "the original serves nobody";
      EXPECT_LT(number, static_cast<int>(workers));
    }
  }
  auto copies = std::make_shared<std::atomic<int>>(0);
  auto alone = make_data_loader(Numbered(copies), SequentialSampler(64), DataLoaderOptions(1));
  EXPECT_EQ(*alone->begin(), -1);
  EXPECT_EQ(*copies, 0) << "without workers it is the original";
}

struct Unsized : datasets::Dataset<Unsized> {
  Example<> get(size_t) override { return {torch::ones({1}), torch::ones({1})}; }
  torch::optional<size_t> size() const override { return torch::nullopt; }
};
TEST(LibtorchLoader, ErrorsHaveLibtorchsSentences) {
  EXPECT_ERROR(c10::Error, make_data_loader(Unsized()),
               "Expected the dataset to be sized in order to construct the Sampler");

  struct Bad : datasets::Dataset<Bad, int> {
    int get(size_t) override { throw std::invalid_argument("badness"); }
    torch::optional<size_t> size() const override { return 4; }
  };
  auto bad = make_data_loader(Bad(), SequentialSampler(4), DataLoaderOptions().workers(2));
  EXPECT_ERROR(WorkerException, *bad->begin(),
               "index 0: Caught exception in DataLoader worker thread. Original message: badness");

  struct Slow : datasets::Dataset<Slow, int> {
    explicit Slow(std::shared_future<void> go) : go(std::move(go)) {}
    int get(size_t) override {
      go.wait();
      return 0;
    }
    torch::optional<size_t> size() const override { return 4; }
    std::shared_future<void> go;
  };
  std::promise<void> go;
  auto slow = make_data_loader(Slow(go.get_future().share()),
                               DataLoaderOptions().workers(1).timeout(std::chrono::milliseconds(10)));
  EXPECT_ERROR(c10::Error, *slow->begin(),
               "Timeout in DataLoader queue while waiting for next batch (timeout was 10 ms)");
  go.set_value();
}

// The indices of a batch that cannot be stacked are not enough: which sample is it?
TEST(LibtorchLoader, AStackOfUnlikeSamplesNamesTheSample) {
  struct Ragged : datasets::Dataset<Ragged> {
    Example<> get(size_t index) override { return {torch::zeros({2}), torch::zeros({index == 17 ? 3 : 1})}; }
    torch::optional<size_t> size() const override { return 20; }
  };
  auto stacked = Ragged().map(torch::data::transforms::Stack<>());
  const char* words = "Stack: the target of sample 2 (index 17) is of shape [3]";
  auto plain = make_data_loader<SequentialSampler>(stacked, DataLoaderOptions(5));
  auto it = plain->begin();
  for (int i = 0; i < 2; i++) ++it;
  EXPECT_ERROR(c10::ShapeError, ++it, words);
  auto by_workers = make_data_loader<SequentialSampler>(stacked, DataLoaderOptions(5).workers(2));
  auto worked = by_workers->begin();
  for (int i = 0; i < 2; i++) ++worked;
  EXPECT_ERROR(WorkerException, ++worked, words);
  std::vector<Example<>> batch{Ragged().get(1), Ragged().get(17)};
  EXPECT_ERROR(
      c10::ShapeError, torch::data::transforms::Stack<>().apply_batch(batch),
      "Stack: the target of sample 1 is of shape [3], float32 on cpu (expected as that of sample 0, of shape [1]");
}

// ---- samplers
std::vector<size_t> all_of(samplers::DistributedRandomSampler& sampler) {
  sampler.reset();
  std::vector<size_t> all;
  while (auto indices = sampler.next(3)) all.insert(all.end(), indices->begin(), indices->end());
  return all;
}
TEST(LibtorchLoader, TheRandomDistributedSamplerPadsAndDropsBeforeItShuffles) {
  for (size_t epoch = 0; epoch < 5; epoch++) {
    std::multiset<size_t> padded, dropped;
    bool in_order = true;
    for (size_t rank = 0; rank < 3; rank++) {
      samplers::DistributedRandomSampler with(10, 3, rank, true), without(10, 3, rank, false);
      with.set_epoch(epoch);
      without.set_epoch(epoch);
      const std::vector<size_t> share = all_of(with), less = all_of(without);
      EXPECT_EQ(share.size(), 4U);
      EXPECT_EQ(less.size(), 3U);
      in_order = in_order && std::is_sorted(share.begin(), share.end());
      padded.insert(share.begin(), share.end());
      dropped.insert(less.begin(), less.end());
    }
    EXPECT_EQ(padded, (std::multiset<size_t>{0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9})) << "the first ones come twice";
    EXPECT_EQ(dropped, (std::multiset<size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8})) << "the last one is left out";
    EXPECT_FALSE(in_order);
  }
}

// A sampler that writes itself is saved by what it writes.
TEST(LibtorchLoader, AnOwnSamplersSaveIsCalled) {
  struct Own : samplers::Sampler<> {
    void reset(torch::optional<size_t> = torch::nullopt) override { at = 0; }
    torch::optional<std::vector<size_t>> next(size_t) override { return std::vector<size_t>{at++}; }
    void save(torch::serialize::OutputArchive& archive) const override {
      archive.write("at", torch::tensor(static_cast<int64_t>(at)), /*is_buffer=*/true);
    }
    void load(torch::serialize::InputArchive& archive) override {
      torch::Tensor value = torch::empty(1, torch::kInt64);
      archive.read("at", value, /*is_buffer=*/true);
      at = static_cast<size_t>(value.item<int64_t>());
    }
    size_t at = 0;
  };
  Own first, second;
  first.next(1);
  first.next(1);
  std::stringstream stream;
  torch::save(first, stream);
  torch::load(second, stream);
  EXPECT_EQ(second.at, 2U);
}

// ---- chunks
struct Chunks : datasets::ChunkDataReader<int> {
  using BatchType = std::vector<int>;
  std::vector<int> read_chunk(size_t index) override {
    return {static_cast<int>(2 * index), static_cast<int>(2 * index + 1)};
  }
  size_t chunk_count() override { return 5; }
  void reset() override {}
};
using ChunkSet = datasets::ChunkDataset<Chunks, SequentialSampler, SequentialSampler>;

TEST(LibtorchLoader, AChunkDatasetIsSavedAsItsChunkSampler) {
  SequentialSampler skipped(5);
  skipped.next(2);
  std::stringstream of_sampler;
  torch::save(skipped, of_sampler);
  auto dataset = datasets::make_shared_dataset<ChunkSet>(Chunks(), SequentialSampler(0), SequentialSampler(0),
                                                         datasets::ChunkDatasetOptions(1, 2, 2));
  torch::load(*dataset, of_sampler);
  auto loader = make_data_loader(dataset, DataLoaderOptions(2));
  std::vector<int> first, second;
  for (auto& batch : *loader) first.insert(first.end(), batch.begin(), batch.end());
  for (auto& batch : *loader) second.insert(second.end(), batch.begin(), batch.end());
  EXPECT_EQ(first, (std::vector<int>{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(second.size(), 10U) << "the next epoch is a whole one";

  std::stringstream of_dataset, of_shared;
  torch::save(*dataset, of_dataset);
  SequentialSampler at(0);
  torch::load(at, of_dataset);
  EXPECT_EQ(at.index(), 5U);
  torch::save(dataset, of_shared);
  SequentialSampler again(0);
  torch::load(again, of_shared);
  EXPECT_EQ(again.index(), 5U);
}

TEST(LibtorchLoader, ChunkOptionsAreRefusedInLibtorchsWords) {
  using Options = datasets::ChunkDatasetOptions;
  EXPECT_ERROR(c10::ValueError, Options(0, 1), "Preloader count is 0. At least one preloader needs to be specified.");
  EXPECT_ERROR(c10::ValueError, Options(1, 0), "Batch size is 0. A positive batch size needs to be specified.");
  EXPECT_ERROR(c10::ValueError, Options(1, 1, 0), "Cache size is 0. A positive cache size needs to be specified.");
  EXPECT_ERROR(c10::ValueError, Options(1, 5, 4),
               "Cache size is less than batch size. Cache needs to be large enough to hold at least one batch.");
  EXPECT_ERROR(c10::ValueError, Options(1, 5, 5, 0), "cross_chunk_shuffle_count needs to be greater than 0.");
  auto dataset =
      datasets::make_shared_dataset<ChunkSet>(Chunks(), SequentialSampler(0), SequentialSampler(0), Options(1, 5));
  auto loader = make_data_loader(dataset, DataLoaderOptions(6));
  EXPECT_ERROR(c10::ValueError, *loader->begin(),
               "The requested batch size does not match with the initialized batch size.\n The requested batch size is "
               "6, while the dataset is created with batch size equal to 5");
}

}  // namespace
}  // namespace cresset::testing::libtorch_loader_test
