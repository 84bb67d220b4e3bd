// Products, truth values, counts and moments. Kernels convert while they read: nothing is cast as a whole.
#include "cresset/ops/statistics.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce_rule.h"
#include "cresset/ops/scan.h"
#include "cresset/ops/shape.h"

namespace cresset {

// ---- prod
// Each element's slope is the product of all others: of those before it and of those behind it. Zeros need no care.
static Tensor prod_slopes(const Tensor& x, int64_t dim) {
  return conj(mul(exclusive_prod(x, dim, false), exclusive_prod(x, dim, true)));
}
static DType prod_dtype(const Into& into, const Tensor& self, std::optional<DType> dtype) {
  return dtype.value_or(into.out() && into.tensor->defined() ? into.tensor->dtype()
                        : is_integral(self.dtype(), true)    ? kLong
                                                             : self.dtype());
}
static Tensor prod_into(const Into& into, const Tensor& self, int64_t dim, bool keepdim, std::optional<DType> dtype) {
  dim = wrap_dim("prod", dim, self);
  uint64_t mask = uint64_t{1} << dim;
  Tensor y =
      result("prod", into, reduced_sizes(self, mask, keepdim), prod_dtype(into, self, dtype), self.device(), {&self});
  prod_kernel(y, self, dim);
  return differentiable("ProdBackward1", into, y, inputs(self), saved(self),
                        [dim, mask, keepdim](const Tensor& g, Wants, const Tensor& self) {
                          Tensor slopes = prod_slopes(self.to(g.dtype()), dim);
                          return grads(mul(unreduced(g, self.dim(), mask, keepdim), slopes).to(self.dtype()));
                        });
}
static Tensor prod_into(const Into& into, const Tensor& self, std::optional<DType> dtype) {
  Tensor y = result("prod", into, {}, prod_dtype(into, self, dtype), self.device(), {&self});
  prod_kernel(y, self, IntArrayRef());
  return differentiable("ProdBackward0", into, y, inputs(self), saved(self),
                        [](const Tensor& g, Wants, const Tensor& self) {
                          Tensor slopes = prod_slopes(reshape(self, self.numel()).to(g.dtype()), 0);
                          return grads(reshape(mul(g, slopes), self.sizes()).to(self.dtype()));
                        });
}
CRESSET_FORMS_OUT(prod, , (const Tensor& self, std::optional<DType> dtype), (self, dtype), "self, dtype=std::nullopt",
                  "The product of all elements.")
CRESSET_FORMS_OUT(prod, dim, (const Tensor& self, int64_t dim, bool keepdim, std::optional<DType> dtype),
                  (self, dim, keepdim, dtype), "self, dim, keepdim=false, dtype=std::nullopt",
                  "The product along a dimension.")

// ---- any, all
static Tensor truth_into(const ReduceKernel& kernel, const char* op, const Into& into, const Tensor& self,
                         uint64_t mask, bool keepdim) {
  DType type = self.dtype() == kByte ? kByte : kBool;
  Tensor y = result(op, into, reduced_sizes(self, mask, keepdim), type, self.device(), {&self});
  kernel(y, self, masked_dims(self, mask));
  return not_differentiable(into, y);
}
static Tensor any_into(const Into& into, const Tensor& self) {
  return truth_into(any_kernel, "any", into, self, ~uint64_t{0}, false);
}
static Tensor any_into(const Into& into, const Tensor& self, int64_t dim, bool keepdim) {
  return truth_into(any_kernel, "any", into, self, uint64_t{1} << wrap_dim("any", dim, self), keepdim);
}
static Tensor all_into(const Into& into, const Tensor& self) {
  return truth_into(all_kernel, "all", into, self, ~uint64_t{0}, false);
}
static Tensor all_into(const Into& into, const Tensor& self, int64_t dim, bool keepdim) {
  return truth_into(all_kernel, "all", into, self, uint64_t{1} << wrap_dim("all", dim, self), keepdim);
}
CRESSET_FORMS_OUT_OF(Gradient::none, any, , (const Tensor& self), (self), "self", "Whether any element is not zero.")
CRESSET_FORMS_OUT_OF(Gradient::none, any, dim, (const Tensor& self, int64_t dim, bool keepdim), (self, dim, keepdim),
                     "self, dim, keepdim=false", "Whether any element along a dimension is not zero.")
CRESSET_FORMS_OUT_OF(Gradient::none, all, , (const Tensor& self), (self), "self", "Whether no element is zero.")
CRESSET_FORMS_OUT_OF(Gradient::none, all, dim, (const Tensor& self, int64_t dim, bool keepdim), (self, dim, keepdim),
                     "self, dim, keepdim=false", "Whether no element along a dimension is zero.")

// ---- count_nonzero
static Tensor counts(const char* op, const Tensor& self, IntArrayRef dim) {
  uint64_t mask = dim_mask(op, dim, self);
  Tensor y = empty_contiguous(reduced_sizes(self, mask, false), kLong, self.device());
  nonzero_counts_kernel(y, self, masked_dims(self, mask));
  return not_differentiable(Into{}, y);
}
CRESSET_OP(count_nonzero, , Tensor, (const Tensor& self, std::optional<int64_t> dim), "self, dim=std::nullopt",
           Gradient::none, "How many elements along a dimension (none: of all) are not zero.")
Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) try {
  CRESSET_INTERCEPT(count_nonzero, , Tensor, self, dim);
  return counts("count_nonzero", self, dim ? IntArrayRef(*dim) : IntArrayRef());
}
CRESSET_ERRORS_OF(count_nonzero, , self, dim)
CRESSET_OP(count_nonzero, dim_IntList, Tensor, (const Tensor& self, IntArrayRef dim), "self, dim", Gradient::none,
           "How many elements over the given dimensions (none: all) are not zero.")
Tensor count_nonzero(const Tensor& self, IntArrayRef dim) try {
  CRESSET_INTERCEPT(count_nonzero, dim_IntList, Tensor, self, dim);
  return counts("count_nonzero", self, dim);
}
CRESSET_ERRORS_OF(count_nonzero, dim_IntList, self, dim)

// ---- nansum, nanmean
static Tensor not_nan(const Tensor& x) {
  Tensor mask = empty_contiguous(x.sizes(), kBool, x.device());
  not_nan_kernel(mask, x);
  return mask;
}
static Tensor nansum_into(const Into& into, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                          std::optional<DType> dtype) {
  CRESSET_CHECK_AS(TypeError, !self.is_complex(), "nansum: nansum does not support complex inputs, found ",
                   name_of(self.dtype()));
  uint64_t mask = dim_mask("nansum", dim.value_or(IntArrayRef()), self);
  Tensor y =
      result("nansum", into, reduced_sizes(self, mask, keepdim), prod_dtype(into, self, dtype), self.device(), {&self});
  (self.is_floating_point() ? nansum_kernel : sum_kernel)(y, self, masked_dims(self, mask));
  return differentiable("NansumBackward0", into, y, inputs(self), saved(self),
                        [mask, keepdim](const Tensor& g, Wants, const Tensor& self) {
                          Tensor wide = spread(g, self.sizes(), mask, keepdim).to(self.dtype());
                          return grads(where(not_nan(self), wide, wide.new_zeros({})));
                        });
}
CRESSET_FORMS_OUT(nansum, , (const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                  (self, dim, keepdim, dtype), "self, dim=std::nullopt, keepdim=false, dtype=std::nullopt",
                  "The sum over the given dimensions (none: all), in which nan counts as 0.")

static Tensor nanmean_into(const Into& into, const Tensor& self, OptionalIntArrayRef dim, bool keepdim,
                           std::optional<DType> dtype) {
  CRESSET_CHECK_AS(TypeError, self.is_floating_point(), "nanmean: expected input to have floating point dtype but got ",
                   toString(self.dtype()));
  uint64_t mask = dim_mask("nanmean", dim.value_or(IntArrayRef()), self);
  Tensor sum = nansum_into(into, self, dim, keepdim, dtype);
  Tensor count = empty_contiguous(sum.sizes(), kLong, self.device());
  nonzero_counts_kernel(count, not_nan(self), masked_dims(self, mask));
  return into.fresh() ? div(sum, count) : div_(sum, count);
}
CRESSET_FORMS_OUT_OF(Gradient::composed, nanmean, ,
                     (const Tensor& self, OptionalIntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                     (self, dim, keepdim, dtype), "self, dim=std::nullopt, keepdim=false, dtype=std::nullopt",
                     "The mean over the given dimensions (none: all) of what is not nan.")

// ---- logsumexp
static Tensor logsumexp_into(const Into& into, const Tensor& self, IntArrayRef dim, bool keepdim) {
  CRESSET_CHECK_AS(TypeError, !self.is_complex(), "logsumexp: not implemented for '", toString(self.dtype()),
                   "' (expected a real dtype)");
  uint64_t mask = dim_mask("logsumexp", dim, self);
  DType type = self.is_floating_point() ? self.dtype() : default_dtype();
  Tensor y = result("logsumexp", into, reduced_sizes(self, mask, keepdim), type, self.device(), {&self});
  logsumexp_kernel(y, self, masked_dims(self, mask));
  return differentiable("LogsumexpBackward0", into, y, inputs(self), saved(self, output(y)),
                        [mask, keepdim](const Tensor& g, Wants, const Tensor& self, const Tensor& y) {
                          Tensor wide = unreduced(y, self.dim(), mask, keepdim);
                          return grads(mul(unreduced(g, self.dim(), mask, keepdim), exp(sub(self, wide))));
                        });
}
CRESSET_FORMS_OUT(logsumexp, , (const Tensor& self, IntArrayRef dim, bool keepdim), (self, dim, keepdim),
                  "self, dim, keepdim=false", "The logarithm of the sum of exp(self) over the given dimensions.")

}  // namespace cresset
