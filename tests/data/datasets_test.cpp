// Data sets in memory and data sets made of data sets.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <set>

#include "cresset/data/data.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset::data::datasets {
namespace {

using transforms::Stack;

Tensor counting(int64_t rows, int64_t columns) { return arange(rows * columns).reshape({rows, columns}).to(kFloat); }

TEST(Datasets, TensorDatasetGivesSlices) {
  TensorDataset dataset(counting(5, 3));
  EXPECT_EQ(dataset.size(), 5U);
  EXPECT_TRUE(equal(dataset.get(2).data, counting(5, 3)[2]));
  const auto batch = dataset.get_batch({4, 0});
  EXPECT_TRUE(equal(batch[0].data, counting(5, 3)[4]));
  EXPECT_TRUE(equal(batch[1].data, counting(5, 3)[0]));
  EXPECT_TRUE(equal(TensorDataset(std::vector<Tensor>{ones({2}), zeros({2})}).get(1).data, zeros({2})));
  EXPECT_ERROR(IndexError, dataset.get(5), "index 5 is out of range (expected less than 5)");
  EXPECT_ERROR(IndexError, dataset.get_batch({1, 7}), "index 7");
  EXPECT_ERROR(ShapeError, TensorDataset(ones({})), "0-d");
}

TEST(Datasets, BatchesAreCopiesWhateverTheSampler) {
  // A batch of neighbours must not be a view of the data set: training changes it.
  PairDataset dataset(counting(8, 2), arange(8));
  for (size_t workers : {0, 1}) {
    auto loader =
        make_data_loader<samplers::SequentialSampler>(dataset.map(Stack<>()), DataLoaderOptions(4).workers(workers));
    for (auto& batch : *loader) {
      batch.data.zero_();
      batch.target.zero_();
    }
  }
  EXPECT_TRUE(equal(dataset.data, counting(8, 2)));
  EXPECT_TRUE(equal(dataset.target, arange(8)));
}

// get() gives neighbours of one tensor: Stack may not take them for a batch that was gathered.
struct Views : Dataset<Views> {
  Example<> get(size_t index) override {
    return {rows[static_cast<int64_t>(index)], rows[static_cast<int64_t>(index)]};
  }
  std::optional<size_t> size() const override { return 6; }
  Tensor rows = counting(6, 2);
};

TEST(Datasets, StackCopiesViews) {
  Views dataset;
  auto loader = make_data_loader<samplers::SequentialSampler>(dataset.map(Stack<>()), DataLoaderOptions(6));
  for (auto& batch : *loader) batch.data.zero_();
  EXPECT_TRUE(equal(dataset.rows, counting(6, 2)));
}

TEST(Datasets, GatheredBatchesGoThroughTransformsAsOneAndGiveTheSame) {
  const Tensor images = rand({12, 3, 4, 4}), labels = arange(12);
  PairDataset dataset(images, labels);
  int calls = 0;
  auto counted = [&calls](Tensor x) {
    calls++;
    return x;
  };
  using transforms::Compose;
  using transforms::Normalize;
  const Normalize<> normalize({0.1, 0.2, 0.3}, {0.5, 0.6, 0.7});
  auto one_by_one = dataset.map(Compose<>(normalize, counted)).map(Stack<>());
  auto together = dataset.map(normalize).map(Compose<>(transforms::CenterCrop<>(4), normalize)).map(Stack<>());
  auto twice = dataset.map(normalize).map(normalize).map(Stack<>());
  const auto first = [](auto d) { return *make_data_loader<samplers::SequentialSampler>(d, 12)->begin(); };
  const Tensor mean = tensor({0.1, 0.2, 0.3}, kFloat).reshape({3, 1, 1}),
               dev = tensor({0.5, 0.6, 0.7}, kFloat).reshape({3, 1, 1});
  const Tensor wanted = (images - mean) / dev;
  EXPECT_TRUE(equal(first(one_by_one).data, wanted));
  EXPECT_EQ(calls, 12);
  EXPECT_TRUE(equal(first(together).data, (wanted - mean) / dev));
  EXPECT_TRUE(equal(first(twice).data, (wanted - mean) / dev));
  EXPECT_TRUE(equal(first(twice).target, labels));
  // Outside a loader nothing is remembered, and the result is the same.
  EXPECT_TRUE(equal(twice.get_batch({0, 1, 2}).data, ((wanted - mean) / dev).narrow(0, 0, 3)));
}

TEST(Datasets, RowsChangedByATransformAreSeen) {
  PairDataset dataset(counting(6, 3), arange(6));
  auto changed = dataset
                     .map(transforms::Lambda<Example<>>([](Example<> e) {
                       if (e.target.item<int64_t>() == 2) e.data = full({3}, -1.0);
                       if (e.target.item<int64_t>() == 4) e.data.fill_(7);  // in place
                       return e;
                     }))
                     .map(Stack<>());
  Tensor wanted = counting(6, 3);
  wanted[2].fill_(-1);
  wanted[4].fill_(7);
  EXPECT_TRUE(equal((*make_data_loader<samplers::SequentialSampler>(changed, 6)->begin()).data, wanted));
  auto reversed = dataset
                      .map(transforms::BatchLambda<std::vector<Example<>>>([](std::vector<Example<>> batch) {
                        std::reverse(batch.begin(), batch.end());
                        batch.pop_back();
                        return batch;
                      }))
                      .map(Stack<>());
  EXPECT_TRUE(equal((*make_data_loader<samplers::SequentialSampler>(reversed, 6)->begin()).target,
                    tensor({5, 4, 3, 2, 1}, kLong)));
}

TEST(Datasets, CollationIsTheUsers) {
  auto dataset = PairDataset(counting(6, 3), arange(6))
                     .map(transforms::Collate<int64_t, std::vector<Example<>>>([](std::vector<Example<>> batch) {
                       int64_t sum = 0;
                       for (auto& e : batch) sum += e.target.item<int64_t>();
                       return sum;
                     }));
  std::vector<int64_t> sums;
  auto loader = make_data_loader<samplers::SequentialSampler>(dataset, DataLoaderOptions(2).workers(1));
  for (int64_t sum : *loader) sums.push_back(sum);
  EXPECT_EQ(sums, (std::vector<int64_t>{1, 5, 9}));
}

TEST(Datasets, SubsetAndRandomSplit) {
  PairDataset dataset(counting(10, 2), arange(10));
  Subset subset(dataset, {7, 2, 2});
  EXPECT_EQ(subset.size(), 3U);
  EXPECT_EQ(subset.get(0).target.item<int64_t>(), 7);
  EXPECT_EQ(subset.get_batch({2, 0})[1].target.item<int64_t>(), 7);
  EXPECT_ERROR(IndexError, subset.get(3), "Subset: index 3");
  EXPECT_ERROR(IndexError, Subset(dataset, {10}), "Subset: index 10");

  auto parts = random_split(dataset, std::vector<size_t>{6, 3, 1}, Generator(4));
  std::set<size_t> all;
  for (auto& part : parts) all.insert(part.indices().begin(), part.indices().end());
  EXPECT_EQ(all.size(), 10U);
  EXPECT_EQ(parts[1].size(), 3U);
  EXPECT_EQ(random_split(dataset, std::vector<size_t>{6, 3, 1}, Generator(4))[0].indices(), parts[0].indices());
  auto fractions = random_split(dataset, std::vector<double>{0.5, 0.25, 0.25});
  EXPECT_EQ(fractions[0].size(), 6U);
  EXPECT_EQ(fractions[1].size(), 2U);
  EXPECT_EQ(random_split(dataset, {6, 3, 1}, Generator(4))[0].indices(), parts[0].indices());
  EXPECT_EQ(random_split(dataset, {0.3, 0.7})[1].size(), 7U);
  EXPECT_ERROR(ValueError, random_split(dataset, {15, -5}), "found length 15 (expected 0 to the size, 10)");
  EXPECT_ERROR(ValueError, random_split(dataset, {-5, 15}), "found length -5 (expected 0 to the size, 10)");
  const PairDataset large(zeros({4'000'000}), zeros({4'000'000}));
  EXPECT_EQ(random_split(large, {0.5, 0.5000005})[1].size(), 2'000'000U) << "a sum a little above 1";
  EXPECT_ERROR(ValueError, random_split(dataset, std::vector<size_t>{6, 3}), "add up to 9 (expected the size, 10)");
  EXPECT_ERROR(ValueError, random_split(dataset, std::vector<double>{0.6, 0.3}), "add up to 0.9");
}

TEST(Datasets, ConcatOfDifferentTypes) {
  PairDataset numbers(counting(3, 2), arange(3));
  auto mapped =
      Views().map(transforms::Lambda<Example<>>([](Example<> e) { return Example<>(e.data, full({}, 50, kLong)); }));
  ConcatDataset<> both({numbers, mapped, Subset(numbers, {1})});
  EXPECT_EQ(both.size(), 10U);
  EXPECT_EQ(both.get(2).target.item<int64_t>(), 2);
  EXPECT_EQ(both.get(3).target.item<int64_t>(), 50);
  EXPECT_TRUE(equal(both.get(3).data, counting(6, 2)[0]));
  EXPECT_EQ(both.get(9).target.item<int64_t>(), 1);
  EXPECT_ERROR(IndexError, both.get(10), "ConcatDataset: index 10");
  auto loader = make_data_loader<samplers::RandomSampler>(both.map(Stack<>()), DataLoaderOptions(3).workers(2));
  int64_t seen = 0;
  for (auto& batch : *loader) seen += batch.data.size(0);
  EXPECT_EQ(seen, 10);
}

TEST(Datasets, StackDatasetGivesTuples) {
  StackDataset both(TensorDataset(counting(4, 2)), PairDataset(counting(4, 1), arange(4)));
  const auto [left, right] = both.get(3);
  EXPECT_TRUE(equal(left.data, counting(4, 2)[3]));
  EXPECT_EQ(right.target.item<int64_t>(), 3);
  EXPECT_ERROR(ShapeError, StackDataset(TensorDataset(ones({4})), TensorDataset(ones({5}))), "4 and 5 examples");
}

struct Slow : Dataset<Slow, TensorExample> {
  explicit Slow(std::shared_ptr<std::atomic<int>> reads) : reads(std::move(reads)) {}
  TensorExample get(size_t index) override {
    (*reads)++;
    return full({2}, static_cast<double>(index));
  }
  std::optional<size_t> size() const override { return 20; }
  std::shared_ptr<std::atomic<int>> reads;
};

TEST(Datasets, CacheReadsEachExampleOnceForAllWorkers) {
  auto reads = std::make_shared<std::atomic<int>>(0);
  CachedDataset cached{Slow(reads)};
  auto loader =
      make_data_loader<samplers::RandomSampler>(cached.map(Stack<TensorExample>()), DataLoaderOptions(4).workers(3));
  for (int epoch = 0; epoch < 4; epoch++)
    for (auto& batch : *loader) EXPECT_EQ(batch.data.size(0), 4);
  EXPECT_EQ(*reads, 20);
  EXPECT_EQ(cached.cached(), 20U);
  EXPECT_TRUE(equal(cached.get(7).data, full({2}, 7.0)));
  EXPECT_EQ(*reads, 20);
}

TEST(Datasets, CacheHoldsNoMoreThanItMay) {
  auto reads = std::make_shared<std::atomic<int>>(0);
  CachedDataset cached(Slow(reads), 5);
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < 20; i++) cached.get(i);
  EXPECT_EQ(cached.cached(), 5U);
  EXPECT_EQ(*reads, 20 + 15);
}

TEST(Datasets, SharedDatasetIsOne) {
  auto reads = std::make_shared<std::atomic<int>>(0);
  auto shared = make_shared_dataset<Slow>(reads);
  EXPECT_EQ(shared.get_batch({1, 2}).size(), 2U);
  EXPECT_EQ(shared->size(), 20U);
  auto loader = make_data_loader<samplers::SequentialSampler>(shared, DataLoaderOptions(5).workers(2));
  for (auto& batch : *loader) EXPECT_EQ(batch.size(), 5U);
  EXPECT_EQ(*reads, 22);
}

}  // namespace
}  // namespace cresset::data::datasets
