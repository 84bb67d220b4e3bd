// Batch norm over the batches of all ranks of a group, which may be of different sizes: statistics and
// gradients are those of one batch norm on the whole batch. nn::SyncBatchNorm calls it in training.
#pragma once

#include "cresset/distributed/process_group.h"
#include "cresset/nn/layers/norm.h"

namespace cresset::distributed {

CRESSET_API Tensor sync_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                   const Tensor& running_mean, const Tensor& running_var, double momentum, double eps,
                                   const Group& group = nullptr);

// nn::SyncBatchNorm knows it from the start of the program; named here so that a linker of static libraries keeps it.
CRESSET_API bool install_sync_batch_norm();
[[maybe_unused]] inline const bool sync_batch_norm_installed = install_sync_batch_norm();

// Every BatchNorm1d, 2d and 3d below takes its statistics from all ranks of the group (null: the default one) from now
// on, and prints as a SyncBatchNorm. The modules, their parameters and buffers stay the same objects, so that members
// of a class and optimizers that hold them need not be told. Returns how many there are.
CRESSET_API size_t convert_sync_batchnorm(nn::Module& module, const Group& group = nullptr);
CRESSET_API size_t convert_sync_batchnorm(const std::shared_ptr<nn::Module>& module, const Group& group = nullptr);
template <class Holder>
requires(nn::detail::is_module_holder_v<Holder>) size_t
    convert_sync_batchnorm(const Holder& holder, const Group& group = nullptr) {
  return convert_sync_batchnorm(std::shared_ptr<nn::Module>(holder.ptr()), group);
}

}  // namespace cresset::distributed
