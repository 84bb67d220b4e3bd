// Randomness of samples. While a loader fetches, sample_generator() is a generator made from (seed, epoch, index of the
// sample): a random transform that draws from it gives the same result on any number of workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "cresset/core/generator.h"
#include "cresset/core/tensor.h"

namespace cresset::data {

// The current sample's generator inside a loader, the default generator elsewhere.
CRESSET_API Generator& sample_generator();

// Numbers from sample_generator().
CRESSET_API double random_uniform(double low = 0, double high = 1);
CRESSET_API int64_t random_integer(int64_t count);  // 0 to count - 1

// Which worker this thread is; nothing outside one.
struct WorkerInfo {
  size_t id = 0;
  size_t num_workers = 0;
};
CRESSET_API std::optional<WorkerInfo> get_worker_info();

namespace detail {

// 64 bits that depend on all of the arguments, and evenly so.
CRESSET_API uint64_t mixed_seed(uint64_t seed, uint64_t epoch, uint64_t index, uint32_t repeat = 0);
// 0 to count - 1 in an order that is a function of (seed, epoch).
CRESSET_API std::vector<size_t> permutation(uint64_t seed, uint64_t epoch, size_t count);
// A seed from the default generator, so that manual_seed makes everything repeatable.
CRESSET_API uint64_t drawn_seed();

void set_worker_info(std::optional<WorkerInfo> info);

// Leaves a fetch that nobody waits for any more.
struct Cancelled {};

// The batch that this thread is fetching.
class CRESSET_API BatchScope {
 public:
  struct Key {
    uint64_t seed = 0;
    uint64_t epoch = 0;
    ArrayRef<size_t> indices;
    ArrayRef<uint32_t> repeats;  // how often each index came before in this epoch; empty: never
    const std::atomic<bool>* cancelled = nullptr;
  };
  explicit BatchScope(const Key& key);
  ~BatchScope();
  BatchScope(const BatchScope&) = delete;
  BatchScope& operator=(const BatchScope&) = delete;

  std::optional<size_t> failed_index() const { return failed_; }
  // Which of the data set's samples stands at a place of the batch.
  std::optional<size_t> index_at(size_t position) const {
    return position < key_.indices.size() ? std::optional(key_.indices[position]) : std::nullopt;
  }
  // How many examples a stream had for this batch, which its transforms may hide.
  void note_examples(size_t count) { examples_ = count; }
  std::optional<size_t> examples() const { return examples_; }
  static BatchScope* current();

 private:
  friend class SampleScope;
  friend CRESSET_API Generator& data::sample_generator();
  friend CRESSET_API std::vector<Tensor> rows_of(const Tensor& whole);
  friend CRESSET_API Tensor whole_of(ArrayRef<Tensor> rows);

  Key key_;
  Generator generator_;
  std::vector<uint64_t> offsets_;  // where each sample's numbers stand: several transforms share one stream
  std::optional<size_t> failed_;
  std::optional<size_t> examples_;
  std::vector<Tensor> wholes_;
  bool open_ = false;
  BatchScope* outer_;
};

// One sample of that batch, by its place. Does nothing outside a loader or inside another SampleScope.
class CRESSET_API SampleScope {
 public:
  explicit SampleScope(size_t position);
  ~SampleScope();
  SampleScope(const SampleScope&) = delete;
  SampleScope& operator=(const SampleScope&) = delete;

 private:
  BatchScope* batch_ = nullptr;
  size_t position_ = 0;
  int exceptions_ = 0;
};

// The rows of a batch that was gathered in one go, as tensors of their own; and the way back. A loader's thread
// remembers the whole, so that transforms and Stack may work on it without copying. Only for memory that nobody else
// holds.
CRESSET_API std::vector<Tensor> rows_of(const Tensor& whole);
CRESSET_API Tensor whole_of(ArrayRef<Tensor> rows);  // undefined unless the rows are all of one whole, in order

}  // namespace detail
}  // namespace cresset::data
