// CachedDataset: remembers examples of a data set that is slow to read. Copies share the memory, so all workers of a
// loader fill one cache.
#pragma once

#include <memory>
#include <mutex>

#include "cresset/data/datasets/base.h"

namespace cresset::data::datasets {

// Keeps up to `capacity` examples (0: all); those asked for first stay. Random transforms belong above the cache: below
// it they would be drawn once and for all. What get() returns shares its tensors with the cache.
template <typename D>
class CachedDataset : public Dataset<CachedDataset<D>, typename D::ExampleType> {
 public:
  using ExampleType = typename D::ExampleType;

  explicit CachedDataset(D dataset, size_t capacity = 0)
      : dataset_(std::move(dataset)), store_(std::make_shared<Store>()) {
    const size_t size = dataset_.size().value_or(0);
    store_->capacity = capacity == 0 ? size : capacity;
    store_->examples.resize(size);
  }

  ExampleType get(size_t index) override {
    if (index >= store_->examples.size()) return dataset_.get(index);
    {
      const std::lock_guard lock(store_->mutex);
      if (store_->examples[index]) return *store_->examples[index];
    }
    ExampleType example = dataset_.get(index);
    const std::lock_guard lock(store_->mutex);
    if (store_->used < store_->capacity && !store_->examples[index]) {
      store_->examples[index] = example;
      store_->used++;
    }
    return example;
  }
  std::optional<size_t> size() const override { return dataset_.size(); }
  size_t cached() const {
    const std::lock_guard lock(store_->mutex);
    return store_->used;
  }

 private:
  struct Store {
    std::mutex mutex;
    size_t capacity = 0;
    size_t used = 0;
    std::vector<std::optional<ExampleType>> examples;
  };
  D dataset_;
  std::shared_ptr<Store> store_;
};

}  // namespace cresset::data::datasets
