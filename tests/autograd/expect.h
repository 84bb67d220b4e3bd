// Short words for the autograd tests: tensors from values, values from tensors; and what errors say.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cresset/cresset.h"
#include "tests/core/expect_error.h"
#include "tests/support/message_when.h"

namespace cresset {

inline Tensor tensor_of(const std::vector<double>& values, IntArrayRef sizes, DType dtype = kFloat) {
  Tensor x = empty(sizes, kDouble);
  for (size_t i = 0; i < values.size(); i++) x.data_ptr<double>()[i] = values[i];
  return x.to(dtype);
}
inline Tensor leaf_of(const std::vector<double>& values, DType dtype = kFloat) {
  return tensor_of(values, {static_cast<int64_t>(values.size())}, dtype).requires_grad_();
}
inline Tensor leaf_of(const std::vector<double>& values, IntArrayRef sizes, DType dtype = kFloat) {
  return tensor_of(values, sizes, dtype).requires_grad_();
}

inline std::vector<double> values_of(const Tensor& x) {
  if (!x.defined()) return {};
  Tensor flat = x.detach().to(kDouble).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}
using Numbers = std::vector<double>;

}  // namespace cresset
