// The same tensor in libtorch: a view of Cresset's memory, so that both sides read equal values.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "cresset/core/tensor.h"

namespace cresset::parity {

inline at::ScalarType torch_dtype(DType dtype) {
  constexpr at::ScalarType types[] = {at::kByte,         at::kChar,          at::kShort, at::kInt,
                                      at::kLong,         at::kHalf,          at::kFloat, at::kDouble,
                                      at::kComplexFloat, at::kComplexDouble, at::kBool,  at::kBFloat16};
  return types[static_cast<int>(dtype)];
}

// Borrows x's memory: x must outlive it.
inline at::Tensor torch_twin(const Tensor& x) {
  std::vector<int64_t> sizes = x.sizes().vec(), strides = x.strides().vec();
  return at::from_blob(x.data_ptr(), sizes, strides, at::TensorOptions(torch_dtype(x.dtype())));
}

inline std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  for (int i = 0; i < kDTypes; i++) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}

}  // namespace cresset::parity
