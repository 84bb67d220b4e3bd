// The orders of an epoch.
#include "cresset/data/samplers/samplers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cresset/data/random.h"
#include "cresset/io/serialize.h"

namespace cresset::data {

void detail::write_sampler(serialize::OutputArchive& archive, const IValue& state) {
  for (const auto& [key, value] : state.toDict()) archive.write(key.toStringRef(), value);
}
IValue detail::read_sampler(const serialize::InputArchive& archive) {
  IValue state;
  if (archive.try_read("sampler", state)) return state;  // as earlier versions wrote it
  return archive.values();
}

namespace samplers {
namespace {

// Uniform number i of an epoch, in [0, 1).
double uniform(uint64_t key, uint64_t i) {
  const PhiloxBlock bits = philox(key, i);
  return uniform_double(bits[0], bits[1]);
}

}  // namespace

void IndexSampler::reset(std::optional<size_t> new_size) {
  if (new_size) resize(*new_size);
  enter_epoch();
  indices_ = order();
  index_ = 0;
  listed_ = true;
}

std::optional<std::vector<size_t>> IndexSampler::next(size_t batch_size) {
  if (!listed_) reset();
  if (index_ >= indices_.size()) return std::nullopt;
  const size_t count = std::min(batch_size, indices_.size() - index_);
  const auto first = indices_.begin() + static_cast<int64_t>(index_);
  index_ += count;
  return std::vector<size_t>(first, first + static_cast<int64_t>(count));
}

IValue IndexSampler::state_dict() const {
  IValue state = Sampler::state_dict();
  state.toDict()["index"] = static_cast<int64_t>(index_);
  return state;
}

void IndexSampler::load_state_dict(const IValue& state) {
  Sampler::load_state_dict(state);
  const int64_t index = state.toDict().at("index").toInt();
  const size_t epoch = epoch_;
  reset();
  CRESSET_CHECK_AS(ValueError, index >= 0 && index <= static_cast<int64_t>(indices_.size()),
                   "Sampler::load_state_dict: found index ", index, " (expected 0 to ", indices_.size(), ")");
  index_ = static_cast<size_t>(index);
  if (index_ == 0) set_epoch(epoch);  // not begun: the next reset starts this epoch, not the following one
}

void SequentialSampler::reset(std::optional<size_t> new_size) {
  if (new_size) size_ = *new_size;
  enter_epoch();
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (index_ >= size_) return std::nullopt;
  std::vector<size_t> indices(std::min(batch_size, size_ - index_));
  std::iota(indices.begin(), indices.end(), index_);
  index_ += indices.size();
  return indices;
}

IValue SequentialSampler::state_dict() const {
  IValue state = Sampler::state_dict();
  state.toDict()["index"] = static_cast<int64_t>(index_);
  return state;
}

void SequentialSampler::load_state_dict(const IValue& state) {
  Sampler::load_state_dict(state);
  const int64_t index = state.toDict().at("index").toInt();
  // A sampler of size 0 gets its size later, as those of a ChunkDataset.
  CRESSET_CHECK_AS(ValueError, index >= 0 && (size_ == 0 || index <= static_cast<int64_t>(size_)),
                   "Sampler::load_state_dict: found index ", index, " (expected 0 to ", size_, ")");
  index_ = static_cast<size_t>(index);
}

RandomSampler::RandomSampler(int64_t size, DType) : size_(static_cast<size_t>(size)) {
  CRESSET_CHECK_AS(ValueError, size >= 0, "RandomSampler: found size ", size, " (expected 0 or more)");
  seed_ = detail::drawn_seed();
}

RandomSampler& RandomSampler::replacement(bool on) {
  replacement_ = on;
  return *this;
}

RandomSampler& RandomSampler::num_samples(size_t count) {
  num_samples_ = count;
  return *this;
}

std::vector<size_t> RandomSampler::order() const {
  const size_t count = size().value();
  if (!replacement_) {
    // More than there are: one permutation after the other, as PyTorch does.
    std::vector<size_t> all;
    for (uint64_t round = 0; all.size() < count && size_ > 0; round++) {
      const std::vector<size_t> one =
          detail::permutation(round == 0 ? seed_ : detail::mixed_seed(seed_, 0, round), epoch_, size_);
      all.insert(all.end(), one.begin(), one.begin() + static_cast<int64_t>(std::min(size_, count - all.size())));
    }
    return all;
  }
  CRESSET_CHECK_AS(ValueError, size_ > 0 || count == 0, "RandomSampler: found an empty data set (expected examples)");
  const uint64_t key = detail::mixed_seed(seed_, epoch_, 0);
  std::vector<size_t> indices(count);
  for (size_t i = 0; i < count; i++)
    indices[i] = std::min(size_ - 1, static_cast<size_t>(uniform(key, i) * static_cast<double>(size_)));
  return indices;
}

SubsetRandomSampler::SubsetRandomSampler(std::vector<size_t> indices) : indices_(std::move(indices)) {
  seed_ = detail::drawn_seed();
}

std::vector<size_t> SubsetRandomSampler::order() const {
  std::vector<size_t> indices = detail::permutation(seed_, epoch_, indices_.size());
  for (size_t& index : indices) index = indices_[index];
  return indices;
}

void SubsetRandomSampler::resize(size_t new_size) {
  throw ValueError(
      message_of("SubsetRandomSampler::reset: found new size ", new_size, " (expected none: its indices are fixed)"));
}

namespace {
std::vector<double> numbers_in(const Tensor& weights) {
  CRESSET_CHECK_AS(ShapeError, weights.dim() == 1, "WeightedRandomSampler: found weights of shape ",
                   text_of(weights.sizes()), " (expected one dimension)");
  const Tensor numbers = weights.detach().to(kDouble).cpu().contiguous();
  return {numbers.data_ptr<double>(), numbers.data_ptr<double>() + numbers.numel()};
}
}  // namespace

WeightedRandomSampler::WeightedRandomSampler(const Tensor& weights, size_t num_samples, bool replacement)
    : WeightedRandomSampler(numbers_in(weights), num_samples, replacement) {}

WeightedRandomSampler::WeightedRandomSampler(std::vector<double> weights, size_t num_samples, bool replacement)
    : weights_(std::move(weights)), num_samples_(num_samples), replacement_(replacement) {
  size_t positive = 0;
  double sum = 0;
  for (size_t i = 0; i < weights_.size(); i++) {
    CRESSET_CHECK_AS(ValueError, std::isfinite(weights_[i]) && weights_[i] >= 0, "WeightedRandomSampler: found weight ",
                     weights_[i], " at ", i, " (expected a finite number from 0 up)");
    positive += weights_[i] > 0 ? 1 : 0;
    sum += weights_[i];
  }
  CRESSET_CHECK_AS(ValueError, std::isfinite(sum), "WeightedRandomSampler: found weights that add up to ", sum,
                   " (expected a finite sum)");
  CRESSET_CHECK_AS(ValueError, positive >= (replacement ? std::min<size_t>(1, num_samples) : num_samples),
                   "WeightedRandomSampler: found ", positive, " weights above 0 for ", num_samples, " samples ",
                   replacement ? "with" : "without", " replacement (expected more)");
  seed_ = detail::drawn_seed();
}

std::vector<size_t> WeightedRandomSampler::order() const {
  const uint64_t key = detail::mixed_seed(seed_, epoch_, 0);
  std::vector<size_t> indices(num_samples_);
  if (replacement_) {
    std::vector<double> ends(weights_.size());
    std::partial_sum(weights_.begin(), weights_.end(), ends.begin());
    const double total = ends.empty() ? 0 : ends.back();
    for (size_t i = 0; i < num_samples_; i++) {
      auto at = std::upper_bound(ends.begin(), ends.end(), uniform(key, i) * total);
      if (at == ends.end()) at = std::lower_bound(ends.begin(), ends.end(), total);  // rounding, at the very end
      indices[i] = static_cast<size_t>(at - ends.begin());
    }
    return indices;
  }
  // The smallest of exponential variables with the weights as rates (Efraimidis and Spirakis 2006).
  std::vector<std::pair<double, size_t>> keys;
  for (size_t i = 0; i < weights_.size(); i++)
    if (weights_[i] > 0) keys.emplace_back(-std::log1p(-uniform(key, i)) / weights_[i], i);
  std::partial_sort(keys.begin(), keys.begin() + static_cast<int64_t>(num_samples_), keys.end());
  for (size_t i = 0; i < num_samples_; i++) indices[i] = keys[i].second;
  return indices;
}

void WeightedRandomSampler::resize(size_t new_size) {
  throw ValueError(
      message_of("WeightedRandomSampler::reset: found new size ", new_size, " (expected none: its weights are fixed)"));
}

void StreamSampler::reset(std::optional<size_t> new_size) {
  if (new_size) epoch_size_ = *new_size;
  enter_epoch();
  taken_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (taken_ >= epoch_size_) return std::nullopt;
  const size_t count = std::min(batch_size, epoch_size_ - taken_);
  taken_ += count;
  return BatchSize(count);
}

}  // namespace samplers
}  // namespace cresset::data
