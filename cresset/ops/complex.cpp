// Complex numbers from parts, and parts as views over the same memory under another dtype.
#include "cresset/ops/complex.h"

#include "cresset/autograd/views.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

// x's memory as another dtype; sizes, strides and offset count in elements of that.
Tensor retyped(const Tensor& x, DType dtype, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  Tensor y = alias(x, {0}, {1}, 0);
  y.impl()->dtype = dtype;
  y.impl()->offset = offset;
  y.impl()->set_geometry(sizes, strides);
  return y;
}
Tensor as_real(const Tensor& x) {
  Dims sizes(x.sizes()), strides(x.strides());
  for (int64_t& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return retyped(x, to_real(x.dtype()), sizes, strides, 2 * x.storage_offset());
}
// One part of a tensor that is just being made.
Tensor part_of(const Tensor& x, int64_t part) {
  Tensor both = as_real(x);
  Dims sizes(x.sizes()), strides(both.strides());
  strides.erase(strides.rank() - 1);
  return alias(both, sizes, strides, both.storage_offset() + part);
}

// How autograd replays a view whose base has another dtype: all of the base's memory, whatever its shape.
Tensor memory_with_dtype(const Tensor& x, DType) {
  if (x.is_complex()) return view_as_real(x);
  int64_t first = x.storage_offset() + x.storage_offset() % 2, end = x.storage_offset() + 1;
  for (int64_t i = 0; i < x.dim(); i++) end += (x.size(i) - 1) * x.stride(i);
  return view_as_complex(as_strided(x, {(end - first) / 2, 2}, {2, 1}, first));
}
[[maybe_unused]] const bool replays = [] {
  autograd::retype_view = &memory_with_dtype;
  return true;
}();

}  // namespace

CRESSET_OP(view_as_real, , Tensor, (const Tensor& self), "self", Gradient::formula,
           "A view of a complex tensor as real numbers: the last dimension holds the two parts.")
Tensor view_as_real(const Tensor& self) try {
  CRESSET_INTERCEPT(view_as_real, , Tensor, self);
  CRESSET_CHECK_AS(TypeError, self.is_complex(), "view_as_real: is only supported for complex tensors, found ",
                   name_of(self.dtype()));
  return differentiable_view("ViewAsRealBackward0", as_real(self), self,
                             [](const Tensor& g, Wants) { return grads(view_as_complex(contiguous(g))); });
}
CRESSET_ERRORS_OF(view_as_real, , self)

CRESSET_OP(view_as_complex, , Tensor, (const Tensor& self), "self", Gradient::formula,
           "A view of real numbers as complex ones: the last dimension, of size 2, holds the two parts.")
Tensor view_as_complex(const Tensor& self) try {
  CRESSET_INTERCEPT(view_as_complex, , Tensor, self);
  CRESSET_CHECK_AS(TypeError, self.dtype() == kFloat || self.dtype() == kDouble,
                   "view_as_complex: is only supported for float and double tensors, but got a tensor of scalar type: ",
                   toString(self.dtype()));
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0 && self.size(-1) == 2,
                   "view_as_complex: Tensor must have a last dimension of size 2, found shape ", text_of(self.sizes()));
  Dims sizes(self.sizes()), strides(self.strides());
  CRESSET_CHECK_AS(ShapeError, strides.back() == 1,
                   "view_as_complex: Tensor must have a last dimension with stride 1, found strides ",
                   text_of(self.strides()));
  sizes.erase(sizes.rank() - 1);
  strides.erase(strides.rank() - 1);
  for (int64_t& stride : strides) {
    CRESSET_CHECK_AS(ShapeError, stride % 2 == 0,
                     "view_as_complex: Tensor must have a stride divisible by 2 for all but last dimension, found ",
                     text_of(self.strides()));
    stride /= 2;
  }
  CRESSET_CHECK_AS(ShapeError, self.storage_offset() % 2 == 0,
                   "view_as_complex: Tensor must have a storage_offset divisible by 2, found ", self.storage_offset());
  Tensor y = retyped(self, to_complex(self.dtype()), sizes, strides, self.storage_offset() / 2);
  return differentiable_view("ViewAsComplexBackward0", y, self,
                             [](const Tensor& g, Wants) { return grads(view_as_real(g)); });
}
CRESSET_ERRORS_OF(view_as_complex, , self)

CRESSET_OP(real, , Tensor, (const Tensor& self), "self", Gradient::composed,
           "A view of the real parts; a real tensor itself.")
Tensor real(const Tensor& self) try {
  CRESSET_INTERCEPT(real, , Tensor, self);
  return self.is_complex() ? select(view_as_real(self), self.dim(), 0) : self;
}
CRESSET_ERRORS_OF(real, , self)

CRESSET_OP(imag, , Tensor, (const Tensor& self), "self", Gradient::composed, "A view of the imaginary parts.")
Tensor imag(const Tensor& self) try {
  CRESSET_INTERCEPT(imag, , Tensor, self);
  CRESSET_CHECK_AS(TypeError, self.is_complex(), "imag: is not implemented for tensors with non-complex dtypes, found ",
                   name_of(self.dtype()));
  return select(view_as_real(self), self.dim(), 1);
}
CRESSET_ERRORS_OF(imag, , self)

CRESSET_OP(resolve_conj, , Tensor, (const Tensor& self), "self", Gradient::composed,
           "self itself: conjugation is never lazy here.")
Tensor resolve_conj(const Tensor& self) try {
  CRESSET_INTERCEPT(resolve_conj, , Tensor, self);
  check_defined("resolve", "self", self);
  return self;
}
CRESSET_ERRORS_OF(resolve_conj, , self)
CRESSET_OP(resolve_neg, , Tensor, (const Tensor& self), "self", Gradient::composed,
           "self itself: negation is never lazy here.")
Tensor resolve_neg(const Tensor& self) try {
  CRESSET_INTERCEPT(resolve_neg, , Tensor, self);
  check_defined("resolve", "self", self);
  return self;
}
CRESSET_ERRORS_OF(resolve_neg, , self)

// ---- from parts
static Tensor complex_into(const Into& into, const Tensor& real, const Tensor& imag) {
  CRESSET_CHECK_AS(
      TypeError,
      (real.dtype() == kFloat || real.dtype() == kDouble) && (imag.dtype() == kFloat || imag.dtype() == kDouble),
      "complex: Expected both inputs to be Float or Double tensors but got ", toString(real.dtype()), " and ",
      toString(imag.dtype()));
  CRESSET_CHECK_AS(TypeError, real.dtype() == imag.dtype(), "complex: Expected object of scalar type ",
                   toString(real.dtype()), " but got scalar type ", toString(imag.dtype()), " for second argument");
  DType dtype = to_complex(real.dtype());
  CRESSET_CHECK_AS(TypeError, into.fresh() || !into.tensor->defined() || into.tensor->dtype() == dtype,
                   "complex: Expected object of scalar type ", toString(dtype), " but got scalar type ",
                   toString(into.tensor->dtype()), " for argument 'out'");
  Tensor y = pointwise_result("complex", into, {&real, &imag}, dtype, dtype);
  copy_kernel(part_of(y, 0), real);
  copy_kernel(part_of(y, 1), imag);
  return differentiable("ComplexBackward0", into, y, inputs(real, imag), saved(),
                        [a = Broadcast(real, y), b = Broadcast(imag, y)](const Tensor& g, Wants wants) {
                          return grads(wants(0) ? a.reduce(cresset::real(g)) : Tensor(),
                                       wants(1) ? b.reduce(cresset::imag(g)) : Tensor());
                        });
}
static const Op& complex_op =
    define_op("complex", &complex, "real, imag", "Complex numbers from their two parts.", {.where = Where::function});
Tensor complex(const Tensor& real, const Tensor& imag) try {
  CRESSET_INTERCEPT(complex, , Tensor, real, imag);
  return complex_into(Into{}, real, imag);
}
CRESSET_ERRORS_OF(complex, , real, imag)
CRESSET_OUT_FORM(complex, , (const Tensor& real, const Tensor& imag), (real, imag), "real, imag",
                 "Complex numbers from their two parts.")

static const Op& polar_op = define_op("polar", &polar, "abs, angle", "Complex numbers of given size and angle.",
                                      {.gradient = Gradient::composed, .where = Where::function});
Tensor polar(const Tensor& abs, const Tensor& angle) try {
  CRESSET_INTERCEPT(polar, , Tensor, abs, angle);
  Tensor unit = exp(complex(new_zeros(angle, {}), angle));
  return complex(mul(abs, real(unit)), mul(abs, imag(unit)));
}
CRESSET_ERRORS_OF(polar, , abs, angle)
CRESSET_COPIED_OUT(polar, , (const Tensor& abs, const Tensor& angle), (abs, angle), (&abs, &angle), "abs, angle",
                   "Complex numbers of given size and angle.")

}  // namespace cresset
