// Samplers: what they hand out, in which order, and for which rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "cresset/data/data.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset::data::samplers {
namespace {

template <class S>
std::vector<size_t> epoch_of(S& sampler, size_t batch = 7) {
  std::vector<size_t> all;
  sampler.reset();
  while (auto indices = sampler.next(batch)) {
    EXPECT_LE(indices->size(), batch);
    all.insert(all.end(), indices->begin(), indices->end());
  }
  return all;
}

std::vector<size_t> sorted(std::vector<size_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<size_t> counted(size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

TEST(Samplers, SequentialIsInOrderAndTakesANewSize) {
  SequentialSampler sampler(10);
  EXPECT_EQ(*sampler.next(4), (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(sampler.index(), 4U);
  EXPECT_EQ(epoch_of(sampler, 4), counted(10));
  sampler.reset(3);
  EXPECT_EQ(sampler.next(10)->size(), 3U);
  EXPECT_FALSE(sampler.next(1));
}

TEST(Samplers, RandomIsAPermutationAndAnotherEachEpoch) {
  manual_seed(1);
  RandomSampler sampler(100);
  EXPECT_EQ(sampler.next(3)->size(), 3U) << "works without reset, as libtorch's";
  const auto a = epoch_of(sampler), b = epoch_of(sampler);
  EXPECT_EQ(sorted(a), counted(100));
  EXPECT_NE(a, b);
  sampler.set_epoch(1);
  EXPECT_EQ(epoch_of(sampler), a);
  manual_seed(1);
  RandomSampler same(100);
  same.set_epoch(1);
  EXPECT_EQ(epoch_of(same), a);
}

TEST(Samplers, RandomOrderIsEven) {
  // Each index stands first about as often: 2000 draws of 10, a deviation of 5 sigma is a fault.
  std::vector<int> first(10);
  RandomSampler sampler(10);
  sampler.set_seed(5);
  for (size_t epoch = 0; epoch < 2000; epoch++) first[epoch_of(sampler)[0]]++;
  for (int count : first) EXPECT_NEAR(count, 200, 5 * std::sqrt(2000 * 0.1 * 0.9));
}

TEST(Samplers, RandomWithReplacementAndMoreThanThereAre) {
  RandomSampler with = RandomSampler(10).replacement(true).num_samples(1000);
  const auto drawn = epoch_of(with);
  EXPECT_EQ(drawn.size(), 1000U);
  EXPECT_EQ(std::set<size_t>(drawn.begin(), drawn.end()).size(), 10U);
  RandomSampler more = RandomSampler(10).num_samples(25);
  std::map<size_t, int> counts;
  for (size_t index : epoch_of(more)) counts[index]++;
  for (const auto& [index, count] : counts) EXPECT_TRUE(count == 2 || count == 3) << index;
  EXPECT_TRUE(more.may_repeat());
}

TEST(Samplers, SubsetKeepsToItsIndices) {
  SubsetRandomSampler sampler({3, 14, 15, 92, 65, 35});
  const auto a = epoch_of(sampler), b = epoch_of(sampler);
  EXPECT_EQ(sorted(a), (std::vector<size_t>{3, 14, 15, 35, 65, 92}));
  EXPECT_EQ(sorted(b), sorted(a));
  EXPECT_ERROR(ValueError, sampler.reset(4), "indices are fixed");
}

TEST(Samplers, WeightsDecideHowOften) {
  WeightedRandomSampler sampler({1, 0, 3, 6}, 20000);
  sampler.set_seed(1);
  std::vector<double> counts(4);
  for (size_t index : epoch_of(sampler, 1000)) counts[index]++;
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[0] / 20000, 0.1, 0.01);
  EXPECT_NEAR(counts[2] / 20000, 0.3, 0.017);
  EXPECT_NEAR(counts[3] / 20000, 0.6, 0.018);
}

TEST(Samplers, WeightsWithoutReplacementTakeEachOnce) {
  WeightedRandomSampler sampler({1, 0, 3, 6, 2}, 4, false);
  sampler.set_seed(2);
  std::vector<int> first(5);
  for (int epoch = 0; epoch < 3000; epoch++) {
    const auto drawn = epoch_of(sampler);
    EXPECT_EQ(sorted(drawn), (std::vector<size_t>{0, 2, 3, 4}));
    first[drawn[0]]++;
  }
  EXPECT_NEAR(first[3] / 3000.0, 0.5, 0.05);  // 6 of 12
  EXPECT_NEAR(first[0] / 3000.0, 1 / 12.0, 0.03);
}

TEST(Samplers, BadWeightsAreNamed) {
  EXPECT_ERROR(ValueError, WeightedRandomSampler({1, -2}, 1), "weight -2 at 1");
  EXPECT_ERROR(ShapeError, WeightedRandomSampler(ones({2, 2}), 1), "found weights of shape [2, 2] (expected one");
  EXPECT_ERROR(ValueError, WeightedRandomSampler({1, NAN}, 1), "at 1");
  EXPECT_ERROR(ValueError, WeightedRandomSampler({1e308, 1e308}, 1), "found weights that add up to inf");
  EXPECT_ERROR(ValueError, WeightedRandomSampler({0, 0}, 1), "found 0 weights above 0");
  EXPECT_ERROR(ValueError, WeightedRandomSampler({1, 1}, 3, false), "found 2 weights above 0 for 3 samples without");
  EXPECT_ERROR(ValueError, RandomSampler(-1), "size -1");
}

TEST(Samplers, BatchSamplerHasASizeOfItsOwn) {
  BatchSampler batches(SequentialSampler(10), 4);
  EXPECT_EQ(batches.batches(), 3U);
  batches.reset();
  EXPECT_EQ(batches.next(1)->size(), 4U);
  EXPECT_EQ(batches.next(1)->size(), 4U);
  EXPECT_EQ(batches.next(1)->size(), 2U);
  EXPECT_FALSE(batches.next(1));
  BatchSampler even(RandomSampler(10), 4, true);
  even.set_seed(1);
  const auto a = epoch_of(even, 4);
  EXPECT_EQ(a.size(), 8U);
  EXPECT_NE(epoch_of(even, 4), a);
  even.set_epoch(0);
  EXPECT_EQ(epoch_of(even, 4), a);
  EXPECT_ERROR(ValueError, BatchSampler(SequentialSampler(10), 0), "batch size 0");
}

// Every way of sharing, for many sizes and worlds: what the ranks get together.
TEST(Samplers, RanksShareAnEpoch) {
  for (size_t size : {0, 1, 2, 7, 12, 100})
    for (size_t world : {1, 2, 3, 5})
      for (Remainder remainder : {Remainder::kPad, Remainder::kDrop, Remainder::kKeep})
        for (bool shuffle : {true, false}) {
          std::vector<size_t> all, lengths;
          for (size_t rank = 0; rank < world; rank++) {
            DistributedSampler sampler(size, world, rank);
            sampler.remainder(remainder).shuffle(shuffle).seed(3);
            const auto mine = epoch_of(sampler);
            EXPECT_EQ(mine.size(), sampler.num_samples());
            lengths.push_back(mine.size());
            all.insert(all.end(), mine.begin(), mine.end());
          }
          const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
          EXPECT_LE(*most - *least, remainder == Remainder::kKeep ? 1U : 0U);
          const std::set<size_t> distinct(all.begin(), all.end());
          if (remainder == Remainder::kPad) {
            EXPECT_EQ(distinct.size(), size);
            EXPECT_EQ(all.size(), (size + world - 1) / world * world);
          } else if (remainder == Remainder::kDrop) {
            EXPECT_EQ(all.size(), size / world * world);
            EXPECT_EQ(distinct.size(), all.size());
          } else {
            EXPECT_EQ(sorted(all), counted(size));
          }
        }
}

TEST(Samplers, DistributedInterleavesAsPyTorchDoes) {
  // torch.utils.data.DistributedSampler(range(10), num_replicas=4, rank=r, shuffle=False)
  const std::vector<std::vector<size_t>> padded = {{0, 4, 8}, {1, 5, 9}, {2, 6, 0}, {3, 7, 1}};
  const std::vector<std::vector<size_t>> dropped = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  for (size_t rank = 0; rank < 4; rank++) {
    DistributedSampler sampler(10, 4, rank);
    sampler.shuffle(false);
    EXPECT_EQ(epoch_of(sampler), padded[rank]);
    sampler.drop_last(true);
    EXPECT_EQ(epoch_of(sampler), dropped[rank]);
  }
}

TEST(Samplers, DistributedEpochsAgreeBetweenRanks) {
  std::vector<size_t> epochs[2];
  for (size_t epoch : {0, 1})
    for (size_t rank = 0; rank < 2; rank++) {
      manual_seed(rank);  // processes need not agree on anything but the sampler's seed
      DistributedSampler sampler(20, 2, rank);
      sampler.set_epoch(epoch);
      const auto mine = epoch_of(sampler);
      epochs[epoch].insert(epochs[epoch].end(), mine.begin(), mine.end());
    }
  EXPECT_EQ(sorted(epochs[0]), counted(20));
  EXPECT_EQ(sorted(epochs[1]), counted(20));
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(Samplers, LibtorchsDistributedTakePieces) {
  DistributedSequentialSampler second(10, 3, 1);
  EXPECT_EQ(epoch_of(second), (std::vector<size_t>{4, 5, 6, 7}));
  DistributedSequentialSampler last(10, 3, 2);
  EXPECT_EQ(epoch_of(last), (std::vector<size_t>{8, 9, 0, 1}));
  DistributedSequentialSampler even(10, 3, 2, false);
  EXPECT_EQ(epoch_of(even), (std::vector<size_t>{6, 7, 8}));
  DistributedRandomSampler a(10, 2, 0), b(10, 2, 1);
  auto all = epoch_of(a);
  const auto more = epoch_of(b);
  all.insert(all.end(), more.begin(), more.end());
  EXPECT_EQ(sorted(all), counted(10));
  EXPECT_ERROR(ValueError, DistributedSampler(10, 3, 3), "rank 3 (expected less than 3)");
  EXPECT_ERROR(ValueError, DistributedSampler(10, 0, 0), "0 replicas");
}

TEST(Samplers, StateRestoresOrderAndPlace) {
  RandomSampler sampler(50);
  sampler.reset();
  sampler.reset();
  sampler.next(13);
  const IValue state = sampler.state_dict();
  const auto rest = *sampler.next(100);
  RandomSampler other(50);
  other.load_state_dict(state);
  EXPECT_EQ(other.index(), 13U);
  EXPECT_EQ(*other.next(100), rest);
  EXPECT_EQ(epoch_of(sampler), epoch_of(other)) << "and the epoch after it";
  IValue wrong = state;
  wrong.toDict()["index"] = 51;
  EXPECT_ERROR(ValueError, other.load_state_dict(wrong), "index 51 (expected 0 to 50)");
}

TEST(WeightedRandomSampler, TakesATensorOfWeights) {
  WeightedRandomSampler numbers({1, 0, 3}, 50), same(tensor({1.0, 0.0, 3.0}), 50);
  numbers.set_seed(3);
  same.set_seed(3);
  EXPECT_EQ(epoch_of(numbers), epoch_of(same));
}

}  // namespace
}  // namespace cresset::data::samplers
