// Gradients against central differences, in double or complex double. Small and separate from the library's gradcheck,
// which it therefore also checks.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "cresset/core/tensor.h"

namespace cresset::test {

using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

// f's gradients with respect to inputs, for random gradients of its outputs. Inputs are detached copies of the given.
::testing::AssertionResult gradients_match(const Function& f, const std::vector<Tensor>& inputs,
                                           double tolerance = 1e-5);
// The gradients of those gradients, with respect to the inputs and to the outputs' gradients.
::testing::AssertionResult second_gradients_match(const Function& f, const std::vector<Tensor>& inputs,
                                                  double tolerance = 1e-5);

// The gradients of the inputs for given gradients of the outputs; zeros where none arrives.
std::vector<Tensor> gradients_of(const Function& f, const std::vector<Tensor>& inputs,
                                 const std::vector<Tensor>& output_gradients);
// Fixed pseudo-random tensors like the differentiable ones among `outputs`.
std::vector<Tensor> random_like(const std::vector<Tensor>& outputs, uint64_t seed = 11);

}  // namespace cresset::test
