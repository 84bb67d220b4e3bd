// Derivatives of functions rather than of tensors: jacobian, hessian and their products with vectors, as in
// torch.autograd.functional.
#pragma once

#include "cresset/autograd/node.h"

namespace cresset::autograd::functional {

using TensorFunction = std::function<Tensor(const Tensor&)>;
using ListFunction = std::function<variable_list(const variable_list&)>;

struct Options {
  bool create_graph = false;  // the results can be differentiated again
  bool strict = false;        // an output that does not depend on an input is an error rather than zeros
};

// [output][input], each of shape output.sizes() + input.sizes().
CRESSET_API std::vector<variable_list> jacobian(const ListFunction& function, const variable_list& inputs,
                                                Options options = {});
CRESSET_API Tensor jacobian(const TensorFunction& function, const Tensor& input, Options options = {});

// [input][input], of a function with one output of one element.
CRESSET_API std::vector<variable_list> hessian(const ListFunction& function, const variable_list& inputs,
                                               Options options = {});
CRESSET_API Tensor hessian(const TensorFunction& function, const Tensor& input, Options options = {});

struct Product {
  variable_list outputs;  // of the function
  variable_list product;
};
// v times the jacobian: v has the outputs' shapes (none for one output of one element), the product the inputs'.
CRESSET_API Product vjp(const ListFunction& function, const variable_list& inputs, const variable_list& v = {},
                        Options options = {});
// The jacobian times v: v has the inputs' shapes (none for one input of one element), the product the outputs'.
CRESSET_API Product jvp(const ListFunction& function, const variable_list& inputs, const variable_list& v = {},
                        Options options = {});
CRESSET_API std::pair<Tensor, Tensor> vjp(const TensorFunction& function, const Tensor& input, const Tensor& v = {},
                                          Options options = {});
CRESSET_API std::pair<Tensor, Tensor> jvp(const TensorFunction& function, const Tensor& input, const Tensor& v = {},
                                          Options options = {});

}  // namespace cresset::autograd::functional
