// The loaders: StatelessDataLoader asks a sampler which examples to fetch, StatefulDataLoader takes what a stream
// gives. make_data_loader chooses.
#pragma once

#include <memory>
#include <type_traits>

#include "cresset/data/iterator.h"
#include "cresset/data/loader_core.h"
#include "cresset/data/random.h"
#include "cresset/data/samplers/samplers.h"

namespace cresset::data {

// What both share and the batch's type decides.
template <typename Batch>
class DataLoaderBase : public detail::LoaderCore {
 public:
  using BatchType = Batch;
  using detail::LoaderCore::LoaderCore;

  // Starts an epoch. With workers, no iterator may be left that has not come to its end; without, an earlier one is
  // over.
  Iterator<Batch> begin() {
    const size_t iteration = begin_epoch();
    Iterator<Batch> first([loader = std::weak_ptr<LoaderCore*>(self_), iteration]() -> std::optional<Batch> {
      const std::shared_ptr<LoaderCore*> there = loader.lock();
      CRESSET_CHECK(there, "DataLoader: this iterator's loader is gone");
      auto parcel = static_cast<DataLoaderBase*>(*there)->next(iteration);
      if (!parcel) return std::nullopt;
      return std::move(static_cast<detail::ParcelOf<Batch>&>(*parcel).value);
    });
    iterator_ = first.life();
    return first;
  }
  Iterator<Batch> end() { return {}; }
};

template <typename Dataset, typename Sampler>
class StatelessDataLoader : public DataLoaderBase<typename Dataset::BatchType> {
 public:
  using Base = DataLoaderBase<typename Dataset::BatchType>;
  using Batch = typename Dataset::BatchType;
  using BatchRequestType = typename Sampler::BatchRequestType;

  // Each worker has a copy of the data set, as in libtorch: its copy constructor may give each a part of its own.
  StatelessDataLoader(Dataset dataset, Sampler sampler, const DataLoaderOptions& options)
      : Base(options, false), sampler_(std::move(sampler)) {
    const size_t workers = this->options().workers;
    datasets_.reserve(std::max<size_t>(1, workers));
    if constexpr (std::is_copy_constructible_v<Dataset>)
      for (size_t i = 0; i < workers; i++) datasets_.push_back(dataset);
    else
      CRESSET_CHECK_AS(ValueError, workers <= 1, "DataLoader: found ", workers,
                       " workers for a data set that cannot be copied (expected at most 1)");
    if (datasets_.empty()) datasets_.push_back(std::move(dataset));
    if constexpr (requires { sampler_.set_seed(uint64_t{}); })
      if (options.seed()) sampler_.set_seed(*options.seed());
  }
  ~StatelessDataLoader() override { this->shut_down(); }

  Sampler& sampler() { return sampler_; }
  const Sampler& sampler() const { return sampler_; }
  // Batches in an epoch, if the sampler knows.
  std::optional<size_t> size() const {
    if constexpr (requires { sampler_.batches(); }) {
      return sampler_.batches();
    } else if constexpr (kCounts) {
      const std::optional<size_t> count = sampler_.size();
      if (!count) return std::nullopt;
      const size_t batch = this->options().batch_size;
      return this->options().drop_last ? *count / batch : (*count + batch - 1) / batch;
    } else {
      return std::nullopt;
    }
  }

 private:
  static constexpr bool kListsIndices = std::is_base_of_v<samplers::IndexSampler, Sampler>;
  static constexpr bool kCounts = std::is_base_of_v<samplers::Sampler<BatchRequestType>, Sampler>;

  size_t open_epoch(std::optional<size_t> epoch) override {
    taken_ = 0;
    if constexpr (kCounts) {
      if (epoch) sampler_.set_epoch(*epoch);
      sampler_.next_epoch();
      sampler_.reset();
      begun_ = true;
      return sampler_.epoch();
    } else {
      epoch_ = epoch.value_or(begun_ ? epoch_ + 1 : 0);
      begun_ = true;
      sampler_.reset();
      return epoch_;
    }
  }
  size_t upcoming_epoch() const override {
    if constexpr (kCounts)
      return sampler_.upcoming_epoch();
    else
      return begun_ ? epoch_ + 1 : 0;
  }
  std::unique_ptr<detail::Request> next_request() override {
    const size_t wanted = this->options().batch_size;
    std::optional<BatchRequestType> request = sampler_.next(wanted);
    if (!request) return nullptr;
    if constexpr (requires { request->size(); })
      if (this->options().drop_last && request->size() < wanted) return nullptr;
    auto job = std::make_unique<detail::RequestOf<BatchRequestType>>(std::move(*request));
    if constexpr (std::is_convertible_v<const BatchRequestType&, ArrayRef<size_t>>) {
      job->indices = ArrayRef<size_t>(job->value).vec();
    } else {
      size_t count = wanted;
      if constexpr (requires { job->value.size(); }) count = job->value.size();
      job->indices.resize(count);
      for (size_t& index : job->indices) index = taken_++;
    }
    return job;
  }
  std::unique_ptr<detail::Parcel> fetch(size_t worker, detail::Request& request) override {
    auto& job = static_cast<detail::RequestOf<BatchRequestType>&>(request);
    return std::make_unique<detail::ParcelOf<Batch>>(datasets_[worker].get_batch(job.value));
  }
  bool may_repeat() const override {
    if constexpr (kCounts)
      return sampler_.may_repeat();
    else
      return false;
  }
  IValue source_state() const override {
    if constexpr (requires { sampler_.state_dict(); })
      return sampler_.state_dict();
    else
      return {};
  }
  void load_source_state(const IValue& state) override {
    if constexpr (kListsIndices) {
      // How far it was asked ahead matters to nobody, and may be more than there is when the processes share the data
      // out anew.
      IValue at_start = state;
      at_start.toDict()["index"] = int64_t{0};
      sampler_.load_state_dict(at_start);
    } else if constexpr (requires { sampler_.load_state_dict(state); }) {
      sampler_.load_state_dict(state);
    }
  }

  Sampler sampler_;
  std::vector<Dataset> datasets_;
  size_t taken_ = 0;
  size_t epoch_ = 0;
  bool begun_ = false;
};

template <typename Dataset>
class StatefulDataLoader : public DataLoaderBase<typename Dataset::BatchType::value_type> {
 public:
  using Batch = typename Dataset::BatchType::value_type;
  using Base = DataLoaderBase<Batch>;
  using BatchRequestType = typename Dataset::BatchRequestType;

  StatefulDataLoader(Dataset dataset, const DataLoaderOptions& options)
      : Base(options, true), dataset_(std::move(dataset)) {}
  ~StatefulDataLoader() override { this->shut_down(); }

 private:
  size_t open_epoch(std::optional<size_t> epoch) override {
    epoch_ = epoch.value_or(begun_ ? epoch_ + 1 : 0);
    begun_ = true;
    taken_ = 0;
    dataset_.reset();
    return epoch_;
  }
  size_t upcoming_epoch() const override { return begun_ ? epoch_ + 1 : 0; }
  std::unique_ptr<detail::Request> next_request() override {
    const size_t wanted = this->options().batch_size;
    auto job = std::make_unique<detail::RequestOf<BatchRequestType>>(BatchRequestType(wanted));
    job->indices.resize(wanted);
    for (size_t& index : job->indices) index = taken_++;
    return job;
  }
  std::unique_ptr<detail::Parcel> fetch(size_t, detail::Request& request) override {
    auto& job = static_cast<detail::RequestOf<BatchRequestType>&>(request);
    std::optional<Batch> batch = dataset_.get_batch(job.value);
    if (!batch) return nullptr;
    std::optional<size_t> examples = detail::BatchScope::current()->examples();
    if constexpr (requires { batch->size(); }) examples = batch->size();
    if (this->options().drop_last && examples && *examples < this->options().batch_size) return nullptr;
    return std::make_unique<detail::ParcelOf<Batch>>(std::move(*batch));
  }
  bool skips_by_fetching() const override { return true; }

  Dataset dataset_;
  size_t taken_ = 0;
  size_t epoch_ = 0;
  bool begun_ = false;
};

template <typename Dataset, typename Sampler>
requires(!Dataset::is_stateful) std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
    Dataset dataset, Sampler sampler, DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset), std::move(sampler), options);
}

template <typename Sampler = samplers::RandomSampler, typename Dataset>
requires(!Dataset::is_stateful && std::is_constructible_v<Sampler, size_t>)
    std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
        Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<size_t> size = dataset.size();
  CRESSET_CHECK_AS(
      ValueError, size.has_value(),
      "make_data_loader: Expected the dataset to be sized in order to construct the Sampler (or give it a sampler)");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}

template <typename Dataset>
requires(Dataset::is_stateful) std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), options);
}

}  // namespace cresset::data
