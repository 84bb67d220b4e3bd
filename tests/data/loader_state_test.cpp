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
  std::vector<size_t> stops{in_epoch - 1};  // after an epoch's last batch the following epoch comes
  for (size_t stop = 0; stop + 1 < in_epoch; stop += 3) stops.push_back(stop);
  for (size_t stop : stops)
    for (size_t workers : {0, 3}) {
      auto other = made(sampler, workers, 99);
      other->load_state_dict(states[stop]);
      EXPECT_EQ(other->state_dict().toDict().at("batches").toInt(), static_cast<int64_t>(stop + 1));
      std::vector<std::vector<float>> rest;
      for (int epoch = stop + 1 < in_epoch ? 0 : 1; epoch < 2; epoch++)
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

std::vector<std::vector<float>> pass_over(auto& loader) {
  std::vector<std::vector<float>> batches;
  for (auto& batch : loader) batches.push_back(batch.data.template tolist<float>());
  return batches;
}

// A run as docs/training.md has it, with its checkpoints inside the loop: epochs are counted by steps.
template <class Make>
void resumes_after_every_batch(const Make& make, int64_t steps) {
  constexpr int64_t kEpochs = 3;
  std::vector<std::vector<float>> whole;
  std::vector<IValue> states;
  auto loader = make(0, 11);
  for (int64_t epoch = 0; epoch < kEpochs; epoch++)
    for (auto& batch : *loader) {
      whole.push_back(batch.data.template tolist<float>());
      states.push_back(loader->state_dict());
    }
  ASSERT_EQ(static_cast<int64_t>(whole.size()), kEpochs * steps);
  for (size_t workers : {0, 1, 3})
    for (int64_t killed = 1; killed < kEpochs * steps; killed++) {
      auto resumed = make(workers, 99);
      resumed->load_state_dict(states[static_cast<size_t>(killed - 1)]);
      std::vector<std::vector<float>> rest;
      for (int64_t epoch = killed / steps; epoch < kEpochs; epoch++) {
        const size_t before = rest.size();
        for (auto& batch : *resumed) rest.push_back(batch.data.template tolist<float>());
        EXPECT_GT(rest.size(), before) << "an empty pass after step " << killed << ", " << workers << " workers";
      }
      EXPECT_EQ(rest, std::vector(whole.begin() + killed, whole.end())) << "after step " << killed;
    }
}

TEST(LoaderState, ARunThatCountsEpochsLosesNoneWhereverItWasSaved) {
  resumes_after_every_batch(
      [](size_t workers, uint64_t seed) { return made(samplers::RandomSampler(10), workers, seed); }, 3);
  resumes_after_every_batch(
      [](size_t workers, uint64_t seed) { return made(samplers::DistributedSampler(20, 2, 1), workers, seed); }, 3);
  resumes_after_every_batch(
      [](size_t workers, uint64_t seed) {
        return make_data_loader(NoisyNumbers().map(transforms::Stack<TensorExample>()), samplers::RandomSampler(10),
                                DataLoaderOptions(4).workers(workers).seed(seed).drop_last(true));
      },
      2);
}

TEST(LoaderState, AfterTheLastBatchWithoutOrderTheNextEpochFollows) {
  auto loader = made(samplers::SequentialSampler(50), 3, 1, false);
  IValue state;
  for (auto& batch : *loader) {
    static_cast<void>(batch);
    state = loader->state_dict();
  }
  for (size_t workers : {0, 2}) {
    auto other = made(samplers::SequentialSampler(50), workers, 9, false);
    other->load_state_dict(state);
    EXPECT_EQ(pass_over(*other).size(), 13U);
    EXPECT_EQ(other->epoch(), 1U);
  }
}

TEST(LoaderState, TakenBeforeAndAfterTheEndOfAPassItLeadsToTheSameBatches) {
  auto loader = made(samplers::RandomSampler(50), 2, 3);
  std::vector<IValue> states;
  for (auto& batch : *loader) {
    static_cast<void>(batch);
    states = {loader->state_dict()};
  }
  states.push_back(loader->state_dict());
  const auto expected = pass_over(*loader);
  for (const IValue& state : states) {
    auto other = made(samplers::RandomSampler(50), 0, 4);
    other->load_state_dict(state);
    other->load_state_dict(other->state_dict());  // loaded twice
    // At batch 0: somebody looks at the iterator before the first batch is there.
    auto at = other->begin();
    other->load_state_dict(other->state_dict());
    EXPECT_EQ(pass_over(*other), expected);
    EXPECT_EQ(other->epoch(), 1U);
  }
  // Programs that name the epoch before each pass.
  for (const IValue& state : states)
    for (size_t epoch : {1, 5}) {
      auto other = made(samplers::RandomSampler(50), 0, 4);
      other->load_state_dict(state);
      other->set_epoch(epoch);
      pass_over(*other);
      EXPECT_EQ(other->epoch(), epoch);
      pass_over(*other);
      EXPECT_EQ(other->epoch(), epoch + 1);
    }
}

TEST(LoaderState, APassThatWasLeftEarlyIsGoneOnWith) {
  auto loader = made(samplers::RandomSampler(50), 2, 3);
  const auto whole = pass_over(*made(samplers::RandomSampler(50), 0, 3));
  size_t batches = 0;
  for (auto& batch : *loader) {
    static_cast<void>(batch);
    if (++batches == 5) break;
  }
  auto other = made(samplers::RandomSampler(50), 0, 4);
  other->load_state_dict(loader->state_dict());
  EXPECT_EQ(pass_over(*other), std::vector(whole.begin() + 5, whole.end()));
  // The same loader, which was not interrupted, starts its next epoch; so does one that left at the last batch.
  auto at = loader->begin();
  EXPECT_EQ(loader->epoch(), 1U);
  EXPECT_EQ(loader->state_dict().toDict().at("epoch").toInt(), 1);
  EXPECT_EQ(loader->state_dict().toDict().at("batches").toInt(), 0);
}

// A run that goes on with more processes has shorter epochs: what was done of one may be more than there is of it now.
TEST(LoaderState, AnEpochThatIsSharedOutAnewMayBeOver) {
  auto loader = made(samplers::DistributedSampler(48, 2, 1), 2, 3);
  IValue state;
  for (auto& batch : *loader) {
    static_cast<void>(batch);
    state = loader->state_dict();
  }
  for (size_t workers : {0, 2}) {
    auto more = made(samplers::DistributedSampler(48, 4, 1), workers, 3);
    more->load_state_dict(state);
    EXPECT_EQ(pass_over(*more).size(), 3U);
    EXPECT_EQ(more->epoch(), 1U);
  }
}

TEST(LoaderState, AnEmptyDataSetStaysEmpty) {
  auto loader = made(samplers::RandomSampler(0), 0, 3);
  IValue state = loader->state_dict();
  state.toDict()["batches"] = int64_t{2};
  for (size_t workers : {0, 2}) {
    auto other = made(samplers::RandomSampler(0), workers, 3);
    other->load_state_dict(state);
    EXPECT_EQ(pass_over(*other).size(), 0U);
  }
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

TEST(LoaderState, AStreamsLastBatchIsFollowedByItsNextPass) {
  const auto make = [](size_t workers, uint64_t seed) {
    return make_data_loader(CountingStream().map(transforms::Stack<TensorExample>()),
                            DataLoaderOptions(4).workers(workers).seed(seed));
  };
  resumes_after_every_batch(make, 8);
}

// A batch that fails has been delivered: the pass that goes on after it is not begun anew.
TEST(LoaderState, AnErrorAtTheResumedBatchDoesNotSkipToTheNextEpoch) {
  struct Fails : datasets::Dataset<Fails, TensorExample> {
    TensorExample get(size_t index) override {
      CRESSET_CHECK(index < 45, "no sample ", index);
      return TensorExample(ones({1}));
    }
    std::optional<size_t> size() const override { return 48; }
  };
  for (size_t workers : {0, 2}) {
    auto loader = make_data_loader(Fails().map(transforms::Stack<TensorExample>()), samplers::SequentialSampler(48),
                                   DataLoaderOptions(4).workers(workers));
    IValue state = loader->state_dict();
    state.toDict()["batches"] = int64_t{11};
    loader->load_state_dict(state);
    auto at = loader->begin();
    EXPECT_THROW(static_cast<void>(at == loader->end()), Error);
    EXPECT_TRUE(at == loader->end());
    EXPECT_EQ(loader->epoch(), 0U);
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
