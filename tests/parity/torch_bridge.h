// Tensors and calls carried over to libtorch. An op is called by its schema's name through libtorch's dispatcher, so
// that one conversion serves all ops and only ATen's core headers are needed.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "cresset/core/registry.h"

namespace cresset::test {

at::ScalarType torch_dtype(DType dtype);
at::Tensor to_torch(const Tensor& tensor);  // the same memory layout, copied
Tensor from_torch(const at::Tensor& tensor);

// "add.Tensor" with Cresset's arguments; what is missing at the end takes libtorch's defaults. Tensors among the
// arguments are replaced by `tensors`, in order. Throws what libtorch throws.
std::vector<at::Tensor> call_torch(const std::string& schema, const Values& values,
                                   const std::vector<at::Tensor>& tensors);
std::vector<at::Tensor> tensors_to_torch(const Values& values);

}  // namespace cresset::test
