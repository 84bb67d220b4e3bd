// The arithmetic of shares.
#include "cresset/data/samplers/distributed.h"

#include <numeric>

#include "cresset/data/random.h"

namespace cresset::data::samplers {

using Shares = DistributedSampler<>;

Shares::DistributedSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : size_(size),
      num_replicas_(num_replicas),
      rank_(rank),
      remainder_(allow_duplicates ? Remainder::kPad : Remainder::kDrop) {
  CRESSET_CHECK_AS(ValueError, num_replicas > 0, "DistributedSampler: found 0 replicas (expected at least 1)");
  CRESSET_CHECK_AS(ValueError, rank < num_replicas, "DistributedSampler: found rank ", rank, " (expected less than ",
                   num_replicas, ")");
}

Shares& Shares::shuffle(bool on) {
  shuffle_ = on;
  return *this;
}

Shares& Shares::seed(uint64_t seed) {
  seed_ = seed;
  return *this;
}

Shares& Shares::drop_last(bool on) { return remainder(on ? Remainder::kDrop : Remainder::kPad); }

Shares& Shares::remainder(Remainder what) {
  remainder_ = what;
  return *this;
}

size_t Shares::num_samples() const {
  const size_t share = size_ / num_replicas_, left = size_ % num_replicas_;
  if (remainder_ == Remainder::kDrop || left == 0) return share;
  if (remainder_ == Remainder::kPad) return share + 1;
  return share + (rank_ < left ? 1 : 0);
}

namespace {
std::vector<size_t> counted_up_to(size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}
}  // namespace

std::vector<size_t> Shares::made_even(std::vector<size_t> all) const {
  if (remainder_ == Remainder::kDrop) all.resize(size_ - size_ % num_replicas_);
  // From the front again, more than once if there are fewer examples than ranks.
  if (remainder_ == Remainder::kPad && size_ > 0)
    for (size_t i = 0; all.size() % num_replicas_ != 0; i++) all.push_back(all[i]);
  return all;
}

std::vector<size_t> Shares::order() const {
  const std::vector<size_t> all =
      made_even(shuffle_ ? data::detail::permutation(seed_, epoch_, size_) : counted_up_to(size_));
  std::vector<size_t> mine;
  mine.reserve(num_samples());
  for (size_t i = rank_; i < all.size(); i += num_replicas_) mine.push_back(all[i]);
  return mine;
}

std::vector<size_t> DistributedRandomSampler::order() const {
  const std::vector<size_t> plain = made_even(counted_up_to(size_));
  std::vector<size_t> all = shuffle_ ? data::detail::permutation(seed_, epoch_, plain.size()) : plain;
  if (shuffle_)
    for (size_t& index : all) index = plain[index];
  const size_t share = all.size() / num_replicas_, left = all.size() % num_replicas_;
  const size_t first = rank_ * share + std::min(rank_, left);
  const auto begin = all.begin() + static_cast<int64_t>(first);
  return {begin, begin + static_cast<int64_t>(num_samples())};
}

}  // namespace cresset::data::samplers
