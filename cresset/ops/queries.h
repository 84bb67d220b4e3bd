// Questions about tensors and types as free functions, as PyTorch has them beside the methods.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset {

inline bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }
inline bool is_complex(const Tensor& self) { return self.is_complex(); }
inline bool is_signed(const Tensor& self) { return self.is_signed(); }
inline int64_t numel(const Tensor& self) { return self.numel(); }

// The dtype of the result of an op on both: tensors with dimensions count before 0-d ones, those before plain numbers.
CRESSET_API DType result_type(const Tensor& tensor, const Tensor& other);
inline DType result_type(const Tensor& tensor, const Scalar& other) {
  return result_type(tensor, wrapped_number(other));
}
inline DType result_type(const Scalar& scalar, const Tensor& tensor) { return result_type(tensor, scalar); }
inline DType result_type(const Scalar& scalar1, const Scalar& scalar2) {
  return result_type(wrapped_number(scalar1), wrapped_number(scalar2));
}

}  // namespace cresset
