// All parameters of a model as one vector, and back.
#pragma once

#include <vector>

#include "cresset/core/tensor.h"

namespace cresset::nn::utils {

CRESSET_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
// The parameters get the vector's values; they keep their own memory.
CRESSET_API void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

}  // namespace cresset::nn::utils
