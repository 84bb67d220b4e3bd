// DistributedSampler: each rank's share of a data set, with rank and world size from the default group.
//
//   auto loader = data::make_data_loader(set, distributed::DistributedSampler(size), data::DataLoaderOptions(64));
#pragma once

#include "cresset/data/samplers/distributed.h"
#include "cresset/distributed/collectives.h"

namespace cresset::distributed {

using data::samplers::Remainder;

struct SamplerOptions {
  bool shuffle = true;
  uint64_t seed = 0;                      // the same on all ranks
  Remainder remainder = Remainder::kPad;  // kDrop: drop_last; kKeep: for training with join
  Group group = nullptr;
};

class CRESSET_API HashShares : public data::samplers::DistributedSampler<> {
 public:
  using DistributedSampler::DistributedSampler;
  std::optional<size_t> size() const override;
  static size_t owner_of(size_t index, size_t world_size);

 protected:
  std::vector<size_t> order() const override;

 private:
  size_t share() const;  // of this rank, after padding or dropping
};

namespace detail {
template <class Sampler>
class GroupSampler : public Sampler {
 public:
  explicit GroupSampler(size_t size, const SamplerOptions& options = {})
      : Sampler(size, static_cast<size_t>(get_world_size(options.group)), rank_in(options.group)) {
    this->shuffle(options.shuffle).seed(options.seed).remainder(options.remainder);
  }

 private:
  static size_t rank_in(const Group& group) {
    const int rank = get_rank(group);
    CRESSET_CHECK_AS(ValueError, rank >= 0, "DistributedSampler: this process is no member of the group");
    return static_cast<size_t>(rank);
  }
};
}  // namespace detail

// Round robin, PyTorch's way: rank r takes indices r, r + world, … of the (shuffled) order.
using DistributedSampler = detail::GroupSampler<data::samplers::DistributedSampler<>>;
// One piece of the order in a row.
using DistributedChunkSampler = detail::GroupSampler<data::samplers::DistributedRandomSampler>;
// By a hash of the index: an example belongs to the same rank in every epoch, and stays there when the data set grows,
// so that each rank may keep its own on its own disk. Shares are only nearly equal; kPad repeats a rank's own first
// examples until it has as many as the largest share, kDrop leaves out what the smallest has not.
using DistributedHashSampler = detail::GroupSampler<HashShares>;

}  // namespace cresset::distributed
