// The samplers: sequential, random, of a subset, by weights, in batches of its own, for streams.
#pragma once

#include <memory>

#include "cresset/data/samplers/base.h"

namespace cresset::data::samplers {

class CRESSET_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  std::optional<size_t> size() const override { return size_; }
  size_t index() const noexcept { return index_; }
  IValue state_dict() const override;
  void load_state_dict(const IValue& state) override;

 private:
  size_t size_;
  size_t index_ = 0;
};

// A fresh order for each epoch. Its seed is drawn from the default generator, so that manual_seed fixes it.
class CRESSET_API RandomSampler : public IndexSampler {
 public:
  explicit RandomSampler(int64_t size, DType index_dtype = kLong);
  // With replacement every index is drawn from all; num_samples then may be anything (size, unless said).
  RandomSampler& replacement(bool on);
  RandomSampler& num_samples(size_t count);
  std::optional<size_t> size() const override { return num_samples_.value_or(size_); }
  bool may_repeat() const override { return replacement_ || size().value() > size_; }

 protected:
  std::vector<size_t> order() const override;
  void resize(size_t new_size) override { size_ = new_size; }

 private:
  size_t size_;
  bool replacement_ = false;
  std::optional<size_t> num_samples_;
};

// These indices, in a fresh order for each epoch.
class CRESSET_API SubsetRandomSampler : public IndexSampler {
 public:
  explicit SubsetRandomSampler(std::vector<size_t> indices);
  std::optional<size_t> size() const override { return indices_.size(); }

 protected:
  std::vector<size_t> order() const override;
  void resize(size_t new_size) override;

 private:
  std::vector<size_t> indices_;
};

// Index i with a chance in proportion to weights[i].
class CRESSET_API WeightedRandomSampler : public IndexSampler {
 public:
  WeightedRandomSampler(std::vector<double> weights, size_t num_samples, bool replacement = true);
  WeightedRandomSampler(const Tensor& weights, size_t num_samples, bool replacement = true);
  std::optional<size_t> size() const override { return num_samples_; }
  bool may_repeat() const override { return replacement_; }

 protected:
  std::vector<size_t> order() const override;
  void resize(size_t new_size) override;

 private:
  std::vector<double> weights_;
  size_t num_samples_;
  bool replacement_;
};

// Batches of a size of its own, whatever size the loader asks for, from another sampler.
template <typename Base>
class BatchSampler : public Sampler<> {
 public:
  BatchSampler(Base sampler, size_t batch_size, bool drop_last = false)
      : sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
    CRESSET_CHECK_AS(ValueError, batch_size > 0, "BatchSampler: found batch size 0 (expected at least 1)");
  }
  void reset(std::optional<size_t> new_size = std::nullopt) override {
    enter_epoch();
    sampler_.set_epoch(epoch_);
    sampler_.reset(new_size);
  }
  std::optional<std::vector<size_t>> next(size_t) override {
    auto indices = sampler_.next(batch_size_);
    if (indices && drop_last_ && indices->size() < batch_size_) return std::nullopt;
    return indices;
  }
  void set_seed(uint64_t seed) override { sampler_.set_seed(seed); }
  std::optional<size_t> size() const override { return sampler_.size(); }
  bool may_repeat() const override { return sampler_.may_repeat(); }
  IValue state_dict() const override { return sampler_.state_dict(); }
  void load_state_dict(const IValue& state) override {
    sampler_.load_state_dict(state);
    set_epoch(sampler_.epoch());
  }
  size_t batch_size() const { return batch_size_; }
  size_t batches() const {
    const size_t size = sampler_.size().value_or(0);
    return drop_last_ ? size / batch_size_ : (size + batch_size_ - 1) / batch_size_;
  }

 private:
  Base sampler_;
  size_t batch_size_;
  bool drop_last_;
};

// A request that is more than a list of indices.
struct CustomBatchRequest {
  virtual ~CustomBatchRequest() = default;
  virtual size_t size() const = 0;
};

struct BatchSize : public CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept override { return size_; }
  operator size_t() const noexcept { return size_; }
  size_t size_;
};

// For stream data sets: only how many, epoch_size in all.
class CRESSET_API StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  std::optional<size_t> size() const override { return epoch_size_; }

 private:
  size_t taken_ = 0;
  size_t epoch_size_;
};

}  // namespace cresset::data::samplers
