// The loader's position: saved in mid-epoch and taken up again exactly.
#include <gtest/gtest.h>

#include "cresset/data/data.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset::data {
namespace {

struct NoisyNumbers : datasets::Dataset<NoisyNumbers, TensorExample> {
  TensorExample get(size_t index) override { return rand({2}, sample_generator()).add(static_cast<double>(index)); }
  std::optional<size_t> size() const override { return 50; }
};

template <class Sampler>
auto made(Sampler sampler, size_t workers, uint64_t seed, bool ordered = true) {
  return make_data_loader(NoisyNumbers().map(transforms::Stack<TensorExample>()), std::move(sampler),
                          DataLoaderOptions(4).workers(workers).seed(seed).enforce_ordering(ordered));
}

// Interrupts a run after each batch of its second epoch; another loader, made with another seed, goes on from there.
template <class Sampler>
void goes_on_exactly(const Sampler& sampler) {
  std::vector<std::vector<float>> whole;
  std::vector<IValue> states;
  auto loader = made(sampler, 2, 11);
  for (auto& batch : *loader) static_cast<void>(batch);
  for (int epoch = 0; epoch < 2; epoch++)
    for (auto& batch : *loader) {
      whole.push_back(batch.data.template tolist<float>());
      if (epoch == 0) states.push_back(loader->state_dict());
    }
  const size_t in_epoch = whole.size() / 2;
  ASSERT_EQ(states.size(), in_epoch);
  for (size_t stop = 0; stop < in_epoch; stop += 3)
    for (size_t workers : {0, 3}) {
      auto other = made(sampler, workers, 99);
      other->load_state_dict(states[stop]);
      EXPECT_EQ(other->state_dict().toDict().at("batches").toInt(), static_cast<int64_t>(stop + 1));
      std::vector<std::vector<float>> rest;
      for (int epoch = 0; epoch < 2; epoch++)
        for (auto& batch : *other) rest.push_back(batch.data.template tolist<float>());
      EXPECT_EQ(rest, std::vector(whole.begin() + static_cast<int64_t>(stop) + 1, whole.end()))
          << "after batch " << stop;
    }
}

TEST(LoaderState, GoesOnExactlyWithEverySampler) {
  goes_on_exactly(samplers::SequentialSampler(50));
  goes_on_exactly(samplers::RandomSampler(50));
  goes_on_exactly(samplers::RandomSampler(50).replacement(true).num_samples(61));
  goes_on_exactly(samplers::SubsetRandomSampler({1, 5, 9, 20, 33, 34, 35, 36, 37, 38, 39}));
  goes_on_exactly(samplers::WeightedRandomSampler(std::vector<double>(50, 0.5), 40));
  goes_on_exactly(samplers::DistributedSampler(50, 3, 1));
  goes_on_exactly(samplers::BatchSampler(samplers::RandomSampler(50), 6));
}

TEST(LoaderState, AtTheEndOfAnEpochTheNextOneFollows) {
  auto loader = made(samplers::RandomSampler(50), 2, 3);
  for (auto& batch : *loader) static_cast<void>(batch);
  const IValue state = loader->state_dict();
  EXPECT_EQ(state.toDict().at("epoch").toInt(), 1);
  EXPECT_EQ(state.toDict().at("batches").toInt(), 0);
  const auto expected = (*loader->begin()).data.tolist<float>();
  auto other = made(samplers::RandomSampler(50), 0, 4);
  other->load_state_dict(state);
  EXPECT_EQ((*other->begin()).data.tolist<float>(), expected);
}

TEST(LoaderState, BeforeTheFirstEpochNothingIsDelivered) {
  auto loader = made(samplers::RandomSampler(50), 2, 3);
  const IValue state = loader->state_dict();
  EXPECT_EQ(state.toDict().at("epoch").toInt(), 0);
  EXPECT_EQ(state.toDict().at("batches").toInt(), 0);
  loader->set_epoch(6);
  EXPECT_EQ(loader->state_dict().toDict().at("epoch").toInt(), 6);
}

TEST(LoaderState, WithoutOrderWhatWasDeliveredIsNotRepeated) {
  auto loader = made(samplers::SequentialSampler(50), 3, 1, false);
  std::vector<float> seen;
  IValue state;
  int batches = 0;
  for (auto& batch : *loader) {
    for (float value : batch.data.tolist<float>()) seen.push_back(value);
    if (++batches == 5) {
      state = loader->state_dict();
      break;
    }
  }
  for (size_t workers : {0, 2}) {
    std::vector<float> all = seen;
    auto other = made(samplers::SequentialSampler(50), workers, 1, false);
    other->load_state_dict(state);
    for (auto& batch : *other)
      for (float value : batch.data.tolist<float>()) all.push_back(value);
    std::sort(all.begin(), all.end());
    std::vector<float> whole;
    auto undisturbed = made(samplers::SequentialSampler(50), 0, 1);
    for (auto& batch : *undisturbed)
      for (float value : batch.data.tolist<float>()) whole.push_back(value);
    std::sort(whole.begin(), whole.end());
    EXPECT_EQ(all, whole);
  }
}

TEST(LoaderState, ABatchAheadOfAGapIsNotRepeatedWhenTheGapCloses) {
  std::vector<std::vector<float>> expected;
  auto whole = made(samplers::SequentialSampler(50), 0, 1);
  for (auto& batch : *whole) expected.push_back(batch.data.tolist<float>());
  expected.erase(expected.begin() + 2);
  expected.erase(expected.begin());
  for (size_t workers : {0, 1}) {
    auto loader = made(samplers::SequentialSampler(50), workers, 1, false);
    IValue::Dict state = loader->state_dict().toDict();
    state["batches"] = int64_t{1};
    state["ahead"] = std::vector<int64_t>{2};
    loader->load_state_dict(state);
    std::vector<std::vector<float>> rest;
    for (auto& batch : *loader) rest.push_back(batch.data.tolist<float>());
    EXPECT_EQ(rest, expected) << workers << " workers";
  }
}

struct CountingStream : datasets::IterableDataset<CountingStream, TensorExample> {
  std::optional<TensorExample> next() override {
    if (at >= 30) return std::nullopt;
    return TensorExample(rand({1}, sample_generator()).add(static_cast<double>(at++)));
  }
  void reset() override { at = 0; }
  int at = 0;
};

TEST(LoaderState, StreamsGoOnToo) {
  const auto make = [](size_t workers, uint64_t seed) {
    return make_data_loader(CountingStream().map(transforms::Stack<TensorExample>()),
                            DataLoaderOptions(4).workers(workers).seed(seed));
  };
  auto loader = make(2, 5);
  std::vector<std::vector<float>> rest;
  IValue state;
  int batches = 0;
  for (auto& batch : *loader) {
    if (batches >= 3) rest.push_back(batch.data.tolist<float>());
    if (++batches == 3) state = loader->state_dict();
  }
  for (size_t workers : {0, 2}) {
    auto other = make(workers, 6);
    other->load_state_dict(state);
    std::vector<std::vector<float>> again;
    for (auto& batch : *other) again.push_back(batch.data.tolist<float>());
    EXPECT_EQ(again, rest);
  }
}

TEST(LoaderState, StatesThatDoNotFitAreRefused) {
  auto loader = made(samplers::RandomSampler(50), 0, 3);
  IValue state = loader->state_dict();
  state.toDict()["batch_size"] = 5;
  EXPECT_ERROR(ValueError, loader->load_state_dict(state), "batches of 5 (expected 4");
  state = loader->state_dict();
  state.toDict()["epoch"] = -1;
  EXPECT_ERROR(ValueError, loader->load_state_dict(state), "epoch -1");
  EXPECT_ERROR(Error, loader->load_state_dict(IValue(3)), "dict");
}

}  // namespace
}  // namespace cresset::data
