#include "cresset/distributed/sampler.h"

#include <algorithm>
#include <numeric>

#include "cresset/data/random.h"

namespace cresset::distributed {

// The last step of splitmix64: neighbours part.
size_t HashShares::owner_of(size_t index, size_t world_size) {
  uint64_t x = index + 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return (x ^ (x >> 31)) % world_size;
}

size_t HashShares::share() const {
  std::vector<size_t> shares(num_replicas_, 0);
  for (size_t i = 0; i < size_; i++) shares[owner_of(i, num_replicas_)]++;
  if (remainder_ == Remainder::kPad) return *std::max_element(shares.begin(), shares.end());
  if (remainder_ == Remainder::kDrop) return *std::min_element(shares.begin(), shares.end());
  return shares[rank_];
}

std::optional<size_t> HashShares::size() const { return share(); }

std::vector<size_t> HashShares::order() const {
  std::vector<size_t> all(size_);
  if (shuffle_)
    all = data::detail::permutation(seed_, epoch_, size_);
  else
    std::iota(all.begin(), all.end(), size_t{0});
  std::erase_if(all, [&](size_t index) { return owner_of(index, num_replicas_) != rank_; });
  const size_t own = all.size(), wanted = share();
  CRESSET_CHECK_AS(ValueError, own > 0 || wanted == 0, "DistributedHashSampler: rank ", rank_, " has no example of ",
                   size_, " (expected a larger data set, or round robin)");
  for (size_t i = 0; all.size() < wanted; i++) all.push_back(all[i % own]);
  all.resize(wanted);
  return all;
}

}  // namespace cresset::distributed
