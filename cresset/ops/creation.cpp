// Creation ops.
#include "cresset/ops/creation.h"

#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"

namespace cresset {
namespace {

Tensor filled(Tensor y, const Scalar& value, bool requires_grad) {
  fill_kernel(y, value);
  if (requires_grad) y.requires_grad_();
  return y;
}

TensorOptions like(const Tensor& self, const TensorOptions& options) { return self.options().merge_in(options); }

Tensor filled_into(const char* op, const Into& into, IntArrayRef size, const Scalar& value, DType dtype,
                   Device device) {
  Tensor y = result(op, into, size, dtype, device);
  return fill_(y, value);
}
Tensor empty_into(const Into& into, IntArrayRef size, std::optional<MemoryFormat> memory_format, DType dtype,
                  Device device) {
  CRESSET_CHECK_AS(ValueError, !memory_format, "empty: found a memory_format beside out (expected one of the two)");
  return not_differentiable(into, result("empty", into, size, dtype, device));
}
Tensor zeros_into(const Into& into, IntArrayRef size, DType dtype, Device device) {
  return filled_into("zeros", into, size, 0, dtype, device);
}
Tensor ones_into(const Into& into, IntArrayRef size, DType dtype, Device device) {
  return filled_into("ones", into, size, 1, dtype, device);
}
Tensor full_into(const Into& into, IntArrayRef size, const Scalar& fill_value, DType dtype, Device device) {
  return filled_into("full", into, size, fill_value, dtype, device);
}

}  // namespace

CRESSET_OP(empty, , Tensor, (IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> memory_format),
           "size, options={}, memory_format=std::nullopt", Gradient::none, "A tensor whose values are not set.")
Tensor empty(IntArrayRef size, const TensorOptions& options, std::optional<MemoryFormat> memory_format) try {
  CRESSET_INTERCEPT(empty, , Tensor, size, options, memory_format);
  check_strided("empty", options);
  MemoryFormat format = memory_format.value_or(options.memory_format_opt().value_or(MemoryFormat::Contiguous));
  Tensor y = CRESSET_LIKELY(format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve)
                 ? empty_contiguous(size, options.dtype(), options.device())
                 : empty_strided(size, channels_last_strides(size), options.requires_grad(false));
  if (options.requires_grad()) y.requires_grad_();
  return y;
}
CRESSET_ERRORS_OF(empty, , size, options, memory_format)
CRESSET_CREATION_OUT(empty, , (IntArrayRef size, std::optional<MemoryFormat> memory_format), (size, memory_format),
                     "size, memory_format=std::nullopt", "A tensor whose values are not set.", size, memory_format)

CRESSET_OP(full, , Tensor, (IntArrayRef size, const Scalar& fill_value, const TensorOptions& options),
           "size, fill_value, options={}", Gradient::none,
           "A tensor filled with a value, whose type decides the dtype if none is given.")
Tensor full(IntArrayRef size, const Scalar& fill_value, const TensorOptions& options) try {
  CRESSET_INTERCEPT(full, , Tensor, size, fill_value, options);
  check_strided("full", options);
  DType natural = fill_value.isFloatingPoint() ? default_dtype()
                  : fill_value.isComplex()     ? to_complex(default_dtype())
                                               : fill_value.type();
  return filled(empty_contiguous(size, options.dtype_opt().value_or(natural), options.device()), fill_value,
                options.requires_grad());
}
CRESSET_ERRORS_OF(full, , size, fill_value, options)
CRESSET_CREATION_OUT(full, , (IntArrayRef size, const Scalar& fill_value), (size, fill_value), "size, fill_value",
                     "A tensor filled with a value.", size, fill_value)

CRESSET_OP(zeros, , Tensor, (IntArrayRef size, const TensorOptions& options), "size, options={}", Gradient::none,
           "A tensor of zeros.")
Tensor zeros(IntArrayRef size, const TensorOptions& options) try {
  CRESSET_INTERCEPT(zeros, , Tensor, size, options);
  check_strided("zeros", options);
  return filled(empty_contiguous(size, options.dtype(), options.device()), 0, options.requires_grad());
}
CRESSET_ERRORS_OF(zeros, , size, options)
CRESSET_CREATION_OUT(zeros, , (IntArrayRef size), (size), "size", "A tensor of zeros.", size)

CRESSET_OP(ones, , Tensor, (IntArrayRef size, const TensorOptions& options), "size, options={}", Gradient::none,
           "A tensor of ones.")
Tensor ones(IntArrayRef size, const TensorOptions& options) try {
  CRESSET_INTERCEPT(ones, , Tensor, size, options);
  check_strided("ones", options);
  return filled(empty_contiguous(size, options.dtype(), options.device()), 1, options.requires_grad());
}
CRESSET_ERRORS_OF(ones, , size, options)
CRESSET_CREATION_OUT(ones, , (IntArrayRef size), (size), "size", "A tensor of ones.", size)

CRESSET_OP(empty_like, , Tensor,
           (const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format),
           "self, options={}, memory_format=std::nullopt", Gradient::none,
           "A tensor of self's shape, dtype, device and layout whose values are not set.")
Tensor empty_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) try {
  CRESSET_INTERCEPT(empty_like, , Tensor, self, options, memory_format);
  TensorOptions full_options = like(self, options);
  MemoryFormat format = memory_format.value_or(options.memory_format_opt().value_or(MemoryFormat::Preserve));
  if (format == MemoryFormat::Preserve && !self.is_contiguous()) {
    if (self.is_non_overlapping_and_dense()) return empty_strided(self.sizes(), self.strides(), full_options);
    Tensor shaped = pointwise_result("empty_like", Into{}, {&self}, self.dtype(), self.dtype());
    return empty_strided(self.sizes(), shaped.strides(), full_options);
  }
  return empty(self.sizes(), full_options, format);
}
CRESSET_ERRORS_OF(empty_like, , self, options, memory_format)
CRESSET_OP(full_like, , Tensor,
           (const Tensor& self, const Scalar& fill_value, const TensorOptions& options,
            std::optional<MemoryFormat> memory_format),
           "self, fill_value, options={}, memory_format=std::nullopt", Gradient::none,
           "A tensor like self, filled with a value.")
Tensor full_like(const Tensor& self, const Scalar& fill_value, const TensorOptions& options,
                 std::optional<MemoryFormat> memory_format) try {
  CRESSET_INTERCEPT(full_like, , Tensor, self, fill_value, options, memory_format);
  return filled(empty_like(self, options.requires_grad(false), memory_format), fill_value, options.requires_grad());
}
CRESSET_ERRORS_OF(full_like, , self, fill_value, options, memory_format)
CRESSET_OP(zeros_like, , Tensor,
           (const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format),
           "self, options={}, memory_format=std::nullopt", Gradient::none, "Zeros like self.")
Tensor zeros_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) try {
  CRESSET_INTERCEPT(zeros_like, , Tensor, self, options, memory_format);
  return full_like(self, 0, options, memory_format);
}
CRESSET_ERRORS_OF(zeros_like, , self, options, memory_format)
CRESSET_OP(ones_like, , Tensor,
           (const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format),
           "self, options={}, memory_format=std::nullopt", Gradient::none, "Ones like self.")
Tensor ones_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) try {
  CRESSET_INTERCEPT(ones_like, , Tensor, self, options, memory_format);
  return full_like(self, 1, options, memory_format);
}
CRESSET_ERRORS_OF(ones_like, , self, options, memory_format)

CRESSET_OP(new_empty, , Tensor, (const Tensor& self, IntArrayRef size, const TensorOptions& options),
           "self, size, options={}", Gradient::none, "empty with self's dtype and device.")
Tensor new_empty(const Tensor& self, IntArrayRef size, const TensorOptions& options) try {
  CRESSET_INTERCEPT(new_empty, , Tensor, self, size, options);
  return empty(size, like(self, options));
}
CRESSET_ERRORS_OF(new_empty, , self, size, options)
CRESSET_OP(new_empty_strided, , Tensor,
           (const Tensor& self, IntArrayRef size, IntArrayRef stride, const TensorOptions& options),
           "self, size, stride, options={}", Gradient::none, "empty_strided with self's dtype and device.")
Tensor new_empty_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, const TensorOptions& options) try {
  CRESSET_INTERCEPT(new_empty_strided, , Tensor, self, size, stride, options);
  return empty_strided(size, stride, like(self, options));
}
CRESSET_ERRORS_OF(new_empty_strided, , self, size, stride, options)
CRESSET_OP(new_zeros, , Tensor, (const Tensor& self, IntArrayRef size, const TensorOptions& options),
           "self, size, options={}", Gradient::none, "zeros with self's dtype and device.")
Tensor new_zeros(const Tensor& self, IntArrayRef size, const TensorOptions& options) try {
  CRESSET_INTERCEPT(new_zeros, , Tensor, self, size, options);
  return zeros(size, like(self, options));
}
CRESSET_ERRORS_OF(new_zeros, , self, size, options)
CRESSET_OP(new_ones, , Tensor, (const Tensor& self, IntArrayRef size, const TensorOptions& options),
           "self, size, options={}", Gradient::none, "ones with self's dtype and device.")
Tensor new_ones(const Tensor& self, IntArrayRef size, const TensorOptions& options) try {
  CRESSET_INTERCEPT(new_ones, , Tensor, self, size, options);
  return ones(size, like(self, options));
}
CRESSET_ERRORS_OF(new_ones, , self, size, options)
CRESSET_OP(new_full, , Tensor,
           (const Tensor& self, IntArrayRef size, const Scalar& fill_value, const TensorOptions& options),
           "self, size, fill_value, options={}", Gradient::none, "full with self's dtype and device.")
Tensor new_full(const Tensor& self, IntArrayRef size, const Scalar& fill_value, const TensorOptions& options) try {
  CRESSET_INTERCEPT(new_full, , Tensor, self, size, fill_value, options);
  return full(size, fill_value, like(self, options));
}
CRESSET_ERRORS_OF(new_full, , self, size, fill_value, options)

CRESSET_OP(scalar_tensor, , Tensor, (const Scalar& s, const TensorOptions& options), "s, options={}", Gradient::none,
           "A 0-d tensor that holds a number, in the default dtype if none is given.")
Tensor scalar_tensor(const Scalar& s, const TensorOptions& options) try {
  CRESSET_INTERCEPT(scalar_tensor, , Tensor, s, options);
  return full({}, s, options.dtype(options.dtype()));
}
CRESSET_ERRORS_OF(scalar_tensor, , s, options)

}  // namespace cresset
