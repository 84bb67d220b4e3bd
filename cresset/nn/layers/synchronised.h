// Batch norms that were told to take their statistics from all processes. They stay the objects that they are: a member
// of a user's class could not be exchanged for a SyncBatchNorm from outside.
#pragma once

#include "cresset/nn/module.h"

namespace cresset::nn {

// Of a BatchNorm1d, 2d or 3d. Without the distributed library, or without a process group, nothing changes.
CRESSET_API void synchronise(const std::shared_ptr<Module>& batch_norm, bool on = true);
CRESSET_API bool is_synchronised(const Module& batch_norm);

}  // namespace cresset::nn
