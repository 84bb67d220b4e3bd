// Drift: parameters that should be equal on all ranks and are not. A digest of each tensor is compared; the error names
// the first tensor that differs and the ranks.
#pragma once

#include "cresset/distributed/process_group.h"
#include "cresset/nn/module.h"

namespace cresset::distributed {

// 64 bits of all its bytes; a NaN counts by its bits.
CRESSET_API uint64_t digest_of(const Tensor& tensor);

// Every rank of the group calls it; throws DistributedError on all of them where values differ.
CRESSET_API void check_parameters(const nn::Module& module, const Group& group = nullptr);
template <class Contained>
void check_parameters(const nn::ModuleHolder<Contained>& module, const Group& group = nullptr) {
  check_parameters(*module, group);
}
CRESSET_API void check_parameters(const std::vector<Tensor>& parameters, const Group& group = nullptr);

struct DriftCheck {
  const std::vector<std::string>& names;
  const std::vector<Tensor>& tensors;
  Group group;
  std::string when;        // " after step 300": behind what differs
  bool takes_part = true;  // false: this rank is known to be behind, and only helps the others to compare
  uint64_t agreement = 0;  // something else that must be equal, and what it is
  const char* agreement_on = "";
};
CRESSET_API void check_drift(const DriftCheck& check);

// The indices that are not equal to what most have (a draw goes to the one that comes first).
CRESSET_API std::vector<size_t> odd_ones_out(const std::vector<uint64_t>& values, const std::vector<bool>& counts);

}  // namespace cresset::distributed
