// Weight normalisation: a parameter as direction times length, weight = g * v / |v|, trained apart.
#pragma once

#include "cresset/nn/utils/module_ref.h"

namespace cresset::nn::utils {

// Replaces the parameter by `name`_g and `name`_v. Lengths are over all dimensions but dim; nullopt or -1: over all.
// The weight is computed before each call of the module (not before a bare forward).
CRESSET_API void weight_norm(ModuleRef module, const std::string& name = "weight", std::optional<int64_t> dim = 0);
CRESSET_API void remove_weight_norm(ModuleRef module, const std::string& name = "weight");

}  // namespace cresset::nn::utils
