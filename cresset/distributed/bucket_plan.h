// Which gradients travel together, and in which order: a list of buckets, each of parameters of one dtype. All ranks
// follow the same plan, and a run that goes on from a checkpoint follows the old one, or it would add in another order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cresset/core/ivalue.h"

namespace cresset::distributed {

struct BucketLimits {
  size_t first_bytes = 1 << 20;  // small, so that the first all-reduce starts early
  size_t bytes = size_t{25} << 20;
};

struct CRESSET_API BucketPlan {
  std::vector<std::vector<size_t>> buckets;  // indices of parameters
  bool rebuilt = false;                      // from the order in which gradients really arrive

  std::vector<size_t> order() const;
  // The same number on two ranks: the same plan.
  uint64_t digest() const;

  // {"buckets": [["2.weight", "2.bias"], …], "rebuilt": true}
  IValue state(const std::vector<std::string>& names) const;
  // A plan that does not fit these parameters is an error that says why.
  static BucketPlan from_state(const IValue& state, const std::vector<std::string>& names);
};

// Fills bucket after bucket in the given order, for each dtype and device its own.
CRESSET_API BucketPlan plan_buckets(const std::vector<Tensor>& parameters, const std::vector<size_t>& order,
                                    const BucketLimits& limits);
// The last parameter first: roughly the order in which backward reaches them.
CRESSET_API std::vector<size_t> reverse_order(size_t count);

}  // namespace cresset::distributed
