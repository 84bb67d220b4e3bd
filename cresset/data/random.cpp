// The thread's current batch and sample, and the numbers that belong to them.
#include "cresset/data/random.h"

#include <exception>
#include <numeric>
#include <utility>

#include "cresset/core/error.h"

namespace cresset::data {
namespace {

constinit thread_local detail::BatchScope* current_batch = nullptr;
constinit thread_local std::optional<WorkerInfo> worker_info;

// A number below count from 64 random bits; the bias is below count / 2^64.
uint64_t below(uint64_t bits, uint64_t count) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * count) >> 64);
}

}  // namespace

Generator& sample_generator() {
  detail::BatchScope* batch = current_batch;
  if (!batch || batch->key_.indices.empty()) return default_generator();
  return batch->generator_;
}

double random_uniform(double low, double high) {
  const PhiloxBlock bits = sample_generator().reserve(1).block(0);
  return low + (high - low) * uniform_double(bits[0], bits[1]);
}

int64_t random_integer(int64_t count) {
  CRESSET_CHECK_AS(ValueError, count > 0, "random_integer: found count ", count, " (expected at least 1)");
  const PhiloxBlock bits = sample_generator().reserve(1).block(0);
  return static_cast<int64_t>(below((uint64_t{bits[0]} << 32) | bits[1], static_cast<uint64_t>(count)));
}

std::optional<WorkerInfo> get_worker_info() { return worker_info; }

namespace detail {

void set_worker_info(std::optional<WorkerInfo> info) { worker_info = info; }

uint64_t mixed_seed(uint64_t seed, uint64_t epoch, uint64_t index, uint32_t repeat) {
  // The epoch's upper half goes into the key: no run counts that far, but nothing is lost.
  const PhiloxBlock bits = philox4x32_10(
      {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), static_cast<uint32_t>(epoch), repeat},
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32) ^ static_cast<uint32_t>(epoch >> 32)});
  return (uint64_t{bits[0]} << 32) | bits[1];
}

std::vector<size_t> permutation(uint64_t seed, uint64_t epoch, size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  const uint64_t key = mixed_seed(seed, epoch, ~uint64_t{0});
  for (size_t i = count; i > 1; i--) {
    const PhiloxBlock bits = philox(key, i);
    std::swap(order[i - 1], order[below((uint64_t{bits[0]} << 32) | bits[1], i)]);
  }
  return order;
}

uint64_t drawn_seed() {
  const PhiloxBlock bits = default_generator().reserve(1).block(0);
  return (uint64_t{bits[0]} << 32) | bits[1];
}

BatchScope* BatchScope::current() { return current_batch; }

// Outside a sample (a data set that makes whole batches) numbers belong to the batch's first index.
BatchScope::BatchScope(const Key& key)
    : key_(key),
      generator_(key.indices.empty() ? 0 : mixed_seed(key.seed, key.epoch, key.indices[0], ~uint32_t{0})),
      offsets_(key.indices.size(), 0),
      outer_(std::exchange(current_batch, this)) {}

BatchScope::~BatchScope() { current_batch = outer_; }

SampleScope::SampleScope(size_t position) {
  BatchScope* batch = current_batch;
  if (!batch || batch->open_ || batch->key_.indices.empty()) return;
  const BatchScope::Key& key = batch->key_;
  if (key.cancelled && key.cancelled->load(std::memory_order_relaxed)) throw Cancelled{};
  position_ = position % key.indices.size();  // a transform may have changed the number of samples
  const uint32_t repeat = key.repeats.empty() ? 0 : key.repeats[position_];
  batch->generator_.set_state(
      {mixed_seed(key.seed, key.epoch, key.indices[position_], repeat), batch->offsets_[position_]});
  batch->open_ = true;
  batch_ = batch;
  exceptions_ = std::uncaught_exceptions();
}

SampleScope::~SampleScope() {
  if (!batch_) return;
  batch_->offsets_[position_] = batch_->generator_.get_offset();
  if (std::uncaught_exceptions() > exceptions_ && !batch_->failed_) batch_->failed_ = batch_->key_.indices[position_];
  batch_->open_ = false;
}

std::vector<Tensor> rows_of(const Tensor& whole) {
  std::vector<Tensor> rows;
  const int64_t count = whole.size(0);
  rows.reserve(static_cast<size_t>(count));
  const IntArrayRef sizes = whole.sizes().slice(1), strides = whole.strides().slice(1);
  for (int64_t i = 0; i < count; i++)
    rows.push_back(alias(whole, sizes, strides, whole.storage_offset() + i * whole.stride(0)));
  if (current_batch && !current_batch->open_ && count > 0) current_batch->wholes_.push_back(whole);
  return rows;
}

Tensor whole_of(ArrayRef<Tensor> rows) {
  BatchScope* batch = current_batch;
  if (!batch || rows.empty() || !rows[0].defined()) return {};
  for (size_t w = 0; w < batch->wholes_.size(); w++) {
    Tensor whole = batch->wholes_[w];
    if (!rows[0].is_alias_of(whole)) continue;
    if (static_cast<int64_t>(rows.size()) != whole.size(0)) return {};
    for (size_t i = 0; i < rows.size(); i++) {
      const Tensor& row = rows[i];
      const bool same = row.defined() && row.is_alias_of(whole) && row.dtype() == whole.dtype() &&
                        row.storage_offset() == whole.storage_offset() + static_cast<int64_t>(i) * whole.stride(0) &&
                        row.sizes() == whole.sizes().slice(1) && row.strides() == whole.strides().slice(1) &&
                        !row.requires_grad();
      if (!same) return {};
    }
    batch->wholes_.erase(batch->wholes_.begin() + static_cast<int64_t>(w));
    return whole;
  }
  return {};
}

}  // namespace detail
}  // namespace cresset::data
