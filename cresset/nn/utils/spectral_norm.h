// Spectral normalisation: a weight divided by its largest singular value, which power iteration follows from step to
// step.
#pragma once

#include "cresset/nn/utils/module_ref.h"

namespace cresset::nn::utils {

// Replaces the parameter by `name`_orig and the buffers `name`_u and `name`_v. dim is the one of the outputs; unless
// given, 1 for transposed convolutions and 0 otherwise. In training each call of the module iterates.
CRESSET_API void spectral_norm(ModuleRef module, const std::string& name = "weight", int64_t n_power_iterations = 1,
                               double eps = 1e-12, std::optional<int64_t> dim = std::nullopt);
CRESSET_API void remove_spectral_norm(ModuleRef module, const std::string& name = "weight");

}  // namespace cresset::nn::utils
