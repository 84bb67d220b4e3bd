// gradcheck: a function's gradients against finite differences, element by element. For tests of ops and of users'
// functions; inputs are float64 or complex128, since finite differences have no meaning in less.
#pragma once

#include "cresset/autograd/node.h"

namespace cresset::autograd {

struct GradcheckOptions {
  double eps = 1e-6;   // the step
  double atol = 1e-5;  // |numerical - analytical| <= atol + rtol * |numerical|
  double rtol = 1e-3;
  double nondet_tol = 0;        // how far two runs of the same backward may differ
  bool raise_exception = true;  // false: a wrong gradient returns false
};

// Checks every output of floating or complex type against every input that requires grad. The error names the output,
// the input, the elements and both values.
CRESSET_API bool gradcheck(const std::function<variable_list(const variable_list&)>& function,
                           const variable_list& inputs, GradcheckOptions options = {});
CRESSET_API bool gradcheck(const std::function<Tensor(const Tensor&)>& function, const Tensor& input,
                           GradcheckOptions options = {});

// The same for the gradients' own gradients, also by the outputs' gradients, which are drawn if none are given.
CRESSET_API bool gradgradcheck(const std::function<variable_list(const variable_list&)>& function,
                               const variable_list& inputs, const variable_list& grad_outputs = {},
                               GradcheckOptions options = {});
CRESSET_API bool gradgradcheck(const std::function<Tensor(const Tensor&)>& function, const Tensor& input,
                               GradcheckOptions options = {});

}  // namespace cresset::autograd
