// The loader: delivery, order, random numbers, errors.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "tests/core/expect_error.h"
#include "tests/data/numbers.h"

namespace cresset::data {
namespace {

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
    while (true) try {
        for (; it != loader->end(); ++it) batches++;
        break;
      } catch (const WorkerException& error) {
        failures++;
        const std::string words = error.what();
        EXPECT_NE(words.find("index 17"), std::string::npos) << words;
        EXPECT_NE(words.find("batch 3"), std::string::npos) << words;
        EXPECT_NE(words.find("the disk is full of eels"), std::string::npos) << words;
        EXPECT_THROW(std::rethrow_exception(error.original_exception), std::runtime_error);
      }
    EXPECT_EQ(batches, 7U) << "the loop goes on after the batch that failed";
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
  auto it = loader->begin();
  EXPECT_THROW(while (it != loader->end())++ it, std::runtime_error);
  EXPECT_EQ(it->front().data.item<int64_t>(), 20) << "and the loop goes on after it";
}

TEST(Loader, ErrorsOfCollationNameTheIndex) {
  auto ragged = Numbers(8).map(transforms::Lambda<TensorExample>(
      [](TensorExample e) { return TensorExample(zeros({e.data.item<int64_t>() + 1})); }));
  auto loader = make_data_loader<SequentialSampler>(std::move(ragged).map(Stack<TensorExample>()),
                                                    DataLoaderOptions(2).workers(1));
  EXPECT_ERROR(WorkerException, *loader->begin(),
               "index 1: Caught exception in DataLoader worker thread. Original message: Stack: the data of sample 1");
}

TEST(Loader, BadOptionsAreRefused) {
  EXPECT_ERROR(ValueError, make_data_loader(Numbers(3), DataLoaderOptions(0)), "batch_size 0");
  EXPECT_ERROR(ValueError, make_data_loader(Numbers(3), DataLoaderOptions(1).workers(2).max_jobs(0)), "max_jobs");
}

}  // namespace
}  // namespace cresset::data
