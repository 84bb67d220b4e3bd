// Samplers that give each of several processes its share of the indices. All must have the same seed (0 unless set),
// and set_epoch or the loader's own count keeps their orders equal.
#pragma once

#include "cresset/data/samplers/base.h"

namespace cresset::data::samplers {

// What to do with indices that cannot be shared out evenly.
enum class Remainder {
  kPad,   // repeat the first indices: every rank gets as many, some examples come twice (PyTorch's default)
  kDrop,  // leave out the last indices: every rank gets as many, no example comes twice
  kKeep   // share out what is there: the first ranks may get one more (for training with uneven inputs)
};

template <typename BatchRequest = std::vector<size_t>>
class DistributedSampler;

// PyTorch's: rank r takes indices r, r + world, … of the (shuffled) order.
template <>
class CRESSET_API DistributedSampler<std::vector<size_t>> : public IndexSampler {
 public:
  DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true);

  DistributedSampler& shuffle(bool on);
  DistributedSampler& seed(uint64_t seed);
  DistributedSampler& drop_last(bool on);  // kDrop or kPad
  DistributedSampler& remainder(Remainder what);
  using Sampler::seed;

  size_t num_samples() const;  // of this rank
  std::optional<size_t> size() const override { return num_samples(); }
  size_t num_replicas() const { return num_replicas_; }
  size_t rank() const { return rank_; }

 protected:
  std::vector<size_t> order() const override;
  void resize(size_t new_size) override { size_ = new_size; }
  size_t local_sample_count() const { return num_samples(); }
  std::vector<size_t> made_even(std::vector<size_t> all) const;  // padded or cut, for all ranks together

  size_t size_;
  size_t num_replicas_;
  size_t rank_;
  Remainder remainder_;
  bool shuffle_ = true;
};
DistributedSampler(size_t, size_t = 1, size_t = 0, bool = true)->DistributedSampler<>;

// libtorch's two: each rank takes one piece of the order in a row. What is repeated or left out is decided before they
// are shuffled: always the first, always the last.
class CRESSET_API DistributedRandomSampler : public DistributedSampler<> {
 public:
  DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : DistributedSampler(size, num_replicas, rank, allow_duplicates) {}

 protected:
  std::vector<size_t> order() const override;
};

class CRESSET_API DistributedSequentialSampler : public DistributedRandomSampler {
 public:
  DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : DistributedRandomSampler(size, num_replicas, rank, allow_duplicates) {
    shuffle_ = false;
  }
};

}  // namespace cresset::data::samplers
