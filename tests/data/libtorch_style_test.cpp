// Lines as they stand in programs written for libtorch.
#include "cresset/torch.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "tests/support/message_when.h"

namespace {

using torch::data::TensorExample;

class Spirals : public torch::data::datasets::Dataset<Spirals> {
 public:
  explicit Spirals(size_t count) {
    auto t = torch::rand({static_cast<int64_t>(count)}) * 9 + 1;
    auto label = torch::randint(0, 2, {static_cast<int64_t>(count)}, torch::kLong);
    auto angle = t + label.to(torch::kFloat) * 3.14159;
    points_ = torch::stack({t * torch::cos(angle), t * torch::sin(angle)}, 1) / 10;
    labels_ = label;
  }
  torch::data::Example<> get(size_t i) override { return {points_[i], labels_[i]}; }
  torch::optional<size_t> size() const override { return points_.size(0); }

 private:
  torch::Tensor points_, labels_;
};

TEST(LibtorchStyle, ClassifierLinesCompileAndRun) {
  torch::manual_seed(0);
  auto train = Spirals(200).map(torch::data::transforms::Stack<>());
  const size_t count = train.size().value();
  EXPECT_EQ(count, 200U);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(train), torch::data::DataLoaderOptions().batch_size(64).workers(2));
  for (int epoch = 1; epoch <= 3; epoch++) {
    int64_t seen = 0;
    for (auto& batch : *loader) {
      EXPECT_EQ(batch.data.size(1), 2);
      EXPECT_EQ(batch.data.size(0), batch.target.size(0));
      seen += batch.data.size(0);
    }
    EXPECT_EQ(seen, 200);
  }
  auto test_set = Spirals(50).map(torch::data::transforms::Stack<>());
  auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(test_set), 20);
  int batches = 0;
  for (auto& batch : *test) batches += batch.data.defined() ? 1 : 0;
  EXPECT_EQ(batches, 3);
}

TEST(LibtorchStyle, TensorDatasetWithStackAndLambda) {
  auto dataset = torch::data::datasets::TensorDataset(torch::eye(4))
                     .map(torch::data::transforms::Lambda<TensorExample>(
                         [](TensorExample e) { return TensorExample(e.data * 2); }))
                     .map(torch::data::transforms::Stack<TensorExample>());
  auto loader = torch::data::make_data_loader(dataset, torch::data::samplers::SequentialSampler(4), 4);
  for (torch::Tensor batch : *loader) EXPECT_TRUE(torch::equal(batch, torch::eye(4).mul(2)));
}

struct Counter : torch::data::datasets::BatchDataset<Counter, int, size_t> {
  int get_batch(size_t count) override { return static_cast<int>(count); }
  torch::optional<size_t> size() const override { return torch::nullopt; }
};

TEST(LibtorchStyle, StreamSamplerAsksForNumbers) {
  auto loader = torch::data::make_data_loader(Counter(), torch::data::samplers::StreamSampler(10),
                                              torch::data::DataLoaderOptions(4));
  std::vector<int> counts;
  for (int count : *loader) counts.push_back(count);
  EXPECT_EQ(counts, (std::vector<int>{4, 4, 2}));
}

// A sampler as libtorch's users write them, archives included.
class EvenSampler : public torch::data::samplers::Sampler<> {
 public:
  explicit EvenSampler(size_t size) : size_(size) {}
  void reset(torch::optional<size_t> new_size = torch::nullopt) override {
    if (new_size) size_ = *new_size;
    at_ = 0;
  }
  torch::optional<std::vector<size_t>> next(size_t batch_size) override {
    std::vector<size_t> indices;
    for (; indices.size() < batch_size && at_ < size_; at_ += 2) indices.push_back(at_);
    if (indices.empty()) return torch::nullopt;
    return indices;
  }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}

 private:
  size_t size_;
  size_t at_ = 0;
};

TEST(LibtorchStyle, SamplerOfOnesOwn) {
  auto dataset =
      torch::data::datasets::TensorDataset(torch::arange(10)).map(torch::data::transforms::Stack<TensorExample>());
  auto loader = torch::data::make_data_loader<EvenSampler>(std::move(dataset), 3);
  std::vector<int64_t> sums;
  for (int epoch = 0; epoch < 2; epoch++)
    for (auto& batch : *loader) sums.push_back(batch.data.sum().item<int64_t>());
  EXPECT_EQ(sums, (std::vector<int64_t>{6, 14, 6, 14}));
}

TEST(LibtorchStyle, SamplersGoIntoArchivesAndComeBack) {
  torch::data::samplers::RandomSampler sampler(10), other(10);
  sampler.set_seed(7);
  sampler.reset();
  sampler.next(4);
  torch::serialize::OutputArchive out;
  sampler.save(out);
  std::vector<char> bytes;
  out.save_to(bytes);
  torch::serialize::InputArchive in;
  in.load_from(bytes);
  other.load(in);
  EXPECT_EQ(other.index(), 4U);
  EXPECT_EQ(other.next(6), sampler.next(6));
}

TEST(LibtorchStyle, OptionsReadAsLibtorchs) {
  torch::data::DataLoaderOptions options(32);
  options.workers(3).timeout(std::chrono::milliseconds(500)).enforce_ordering(false).drop_last(true);
  const torch::data::FullDataLoaderOptions full(options);
  EXPECT_EQ(full.batch_size, 32U);
  EXPECT_EQ(full.max_jobs, 6U);
  EXPECT_EQ(full.timeout->count(), 500);
  EXPECT_FALSE(full.enforce_ordering);
  EXPECT_TRUE(full.drop_last);
  EXPECT_EQ(torch::data::FullDataLoaderOptions(options.prefetch_factor(5)).max_jobs, 15U);
  EXPECT_EQ(torch::data::FullDataLoaderOptions(options.max_jobs(7)).max_jobs, 7U);
}

class Counted : public torch::data::datasets::StatefulDataset<Counted, int, size_t> {
 public:
  torch::optional<int> get_batch(size_t) override {
    if (at_ == 3) return torch::nullopt;
    return at_++;
  }
  torch::optional<size_t> size() const override { return 3; }
  void reset() override { at_ = 0; }
  void save(torch::serialize::OutputArchive& archive) const override { archive.write("at", torch::IValue(at_)); }
  void load(torch::serialize::InputArchive& archive) override {
    torch::IValue at;
    archive.read("at", at);
    at_ = at.to<int>();
  }

 private:
  int at_ = 0;
};

TEST(LibtorchStyle, AStatefulDatasetSavesItself) {
  Counted counted, other;
  counted.get_batch(1);
  torch::serialize::OutputArchive archive;
  counted.save(archive);
  torch::serialize::InputArchive saved{torch::IValue(archive.values())};
  other.load(saved);
  EXPECT_EQ(other.get_batch(1), 1);
  int sum = 0;
  auto loader = torch::data::make_data_loader(Counted(), torch::data::DataLoaderOptions(1));
  for (int batch : *loader) sum += batch;
  EXPECT_EQ(sum, 3);
}

// Chunk c holds c + 1 numbers from 10 c on; reading the one that is told to fails.
struct Shards : torch::data::datasets::ChunkDataReader<int> {
  using BatchType = ChunkType;
  explicit Shards(size_t broken = 99) : broken(broken) {}
  BatchType read_chunk(size_t chunk) override {
    if (chunk == broken) throw std::runtime_error("broken shard");
    BatchType numbers(chunk + 1);
    std::iota(numbers.begin(), numbers.end(), static_cast<int>(10 * chunk));
    return numbers;
  }
  size_t chunk_count() override { return 4; }
  void reset() override {}
  size_t broken;
};
using torch::data::samplers::SequentialSampler;
using InOrder = torch::data::datasets::ChunkDataset<Shards, SequentialSampler, SequentialSampler>;
using Options = torch::data::datasets::ChunkDatasetOptions;

TEST(LibtorchStyle, ChunksFollowOneAnotherInBatches) {
  auto dataset = torch::data::datasets::make_shared_dataset<InOrder>(Shards(), SequentialSampler(0),
                                                                     SequentialSampler(0), Options(1, 3));
  auto loader = torch::data::make_data_loader(dataset, torch::data::DataLoaderOptions(3));
  for (int epoch = 0; epoch < 2; epoch++) {
    std::vector<std::vector<int>> batches;
    for (auto& batch : *loader) batches.push_back(batch);
    EXPECT_EQ(batches, (std::vector<std::vector<int>>{{0, 10, 11}, {20, 21, 22}, {30, 31, 32}, {33}}));
  }
}

TEST(LibtorchStyle, ChunksAreReadByManyThreadsInASmallCache) {
  auto dataset = torch::data::datasets::make_shared_dataset<torch::data::datasets::ChunkDataset<Shards>>(
      Shards(), torch::data::samplers::RandomSampler(0), torch::data::samplers::RandomSampler(0),
      Options(3, 4).cache_size(1).cross_chunk_shuffle_count(2), [](std::vector<int>& chunk) { chunk.push_back(-1); });
  auto loader = torch::data::make_data_loader(dataset, torch::data::DataLoaderOptions(4).workers(2));
  std::multiset<int> numbers;
  for (auto& batch : *loader) numbers.insert(batch.begin(), batch.end());
  EXPECT_EQ(numbers, (std::multiset<int>{-1, -1, 0, 10, 11, 20, 21, 22, 30, 31, 32, 33}));
  for (auto& batch : *loader) {  // leaving early, and going with chunks unread, waits for nobody
    EXPECT_EQ(batch.size(), 4U);
    break;
  }
}

TEST(LibtorchStyle, AChunkThatFailsIsToldInItsPlace) {
  InOrder dataset(Shards(2), SequentialSampler(0), SequentialSampler(0), Options(1, 3));
  EXPECT_THROW(dataset.get_batch(), c10::Error);  // before reset
  dataset.reset();
  EXPECT_THROW(dataset.get_batch(2), c10::ValueError);
  EXPECT_EQ(*dataset.get_batch(), (std::vector<int>{0, 10, 11}));
  try {
    dataset.get_batch();
    FAIL() << "the broken chunk was passed over";
  } catch (const torch::data::WorkerException& error) {
    EXPECT_STREQ(
        error.what(),
        "ChunkDataset: reading a chunk failed: Caught exception in DataLoader worker thread. Original message: "
        "broken shard");
    EXPECT_THROW(std::rethrow_exception(error.original_exception), std::runtime_error);
  }
  EXPECT_EQ(*dataset.get_batch(), (std::vector<int>{30, 31, 32}));
  EXPECT_EQ(*dataset.get_batch(), (std::vector<int>{33}));
  EXPECT_FALSE(dataset.get_batch());
  EXPECT_THROW(Options(0, 1), c10::ValueError);
}

// Reads nothing before it is let go.
struct StuckShards : torch::data::datasets::ChunkDataReader<int> {
  using BatchType = std::vector<int>;
  explicit StuckShards(std::shared_future<void> go) : go(std::move(go)) {}
  std::vector<int> read_chunk(size_t) override {
    go.wait();
    return {1, 2};
  }
  size_t chunk_count() override { return 1; }
  void reset() override {}
  std::shared_future<void> go;
};
TEST(LibtorchStyle, AChunkThatNeverComesIsAnErrorAfterTheTimeout) {
  std::promise<void> go;
  torch::data::datasets::ChunkDataset<StuckShards, SequentialSampler, SequentialSampler> dataset(
      StuckShards(go.get_future().share()), SequentialSampler(0), SequentialSampler(0),
      Options(1, 2).timeout(std::chrono::milliseconds(20)));
  dataset.reset();
  EXPECT_EQ(cresset::test::message_when<c10::Error>([&] { dataset.get_batch(); }),
            "ChunkDataset: no batch within the timeout of 20 ms: 1 of 1 threads are still reading");
  EXPECT_EQ(
      cresset::test::message_when<c10::Error>([&] { dataset.reset(); }),
      "ChunkDataset: reset: a chunk is still being read after the timeout of 20 ms (reset() may be called again)");
  go.set_value();
  while (cresset::test::message_when<c10::Error>([&] { dataset.reset(); }) != "no error") {
  }
  EXPECT_EQ(*dataset.get_batch(), (std::vector<int>{1, 2}));
  EXPECT_FALSE(dataset.get_batch());
}

TEST(LibtorchStyle, AChunkDatasetGoesOnFromItsSavedPlace) {
  InOrder first(Shards(), SequentialSampler(0), SequentialSampler(0), Options(1, 10));
  first.chunk_sampler().reset(4);
  first.chunk_sampler().next(2);
  torch::serialize::OutputArchive out;
  first.save(out);
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  InOrder second(Shards(), SequentialSampler(4), SequentialSampler(0), Options(1, 10));
  second.load(in);
  second.reset();
  EXPECT_EQ(*second.get_batch(), (std::vector<int>{20, 21, 22, 30, 31, 32, 33}));
  second.reset();
  EXPECT_EQ(second.get_batch()->front(), 0);
}

}  // namespace
