// var and std, and both with the mean. Every form is one call with a correction: unbiased means 1.
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce_rule.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/statistics.h"

namespace cresset {

namespace {
struct Moment {
  const char *op, *node;
  bool root;
};
constexpr Moment variance{"var", "VarBackward0", false}, deviation{"std", "StdBackward0", true};

// With d = x - mean(x): dvar/dx = 2 d / (n - correction), dstd = dvar / (2 std), and 0 where std is 0.
Tensor moment(const Moment& which, const Into& into, const Tensor& self, IntArrayRef dim, int64_t correction,
              bool keepdim) {
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()), which.op,
                   ": std and var only support floating point and complex dtypes, found ", name_of(self.dtype()));
  uint64_t mask = dim_mask(which.op, dim, self);
  Tensor y = result(which.op, into, reduced_sizes(self, mask, keepdim), to_real(self.dtype()), self.device(), {&self});
  var_kernel(y, self, masked_dims(self, mask), correction, which.root);
  double scale = 2.0 / static_cast<double>(reduced_count(self, mask) - correction);
  autograd::SavedRef spread = which.root ? autograd::SavedRef(output(y)) : autograd::SavedRef(autograd::no_tensor());
  return differentiable(
      which.node, into, y, inputs(self), saved(self, spread),
      [mask, keepdim, scale, root = which.root](const Tensor& g, Wants, const Tensor& self, const Tensor& y) {
        Tensor of_var = g;
        if (root) {
          Tensor spreads = y.to(kBool), zero = g.new_zeros({});
          of_var = where(spreads, div(g, mul(where(spreads, y, g.new_ones({})), 2)), zero);
        }
        Tensor distance = sub(self, mean(self, masked_dims(self, mask), true));
        return grads(mul(mul(unreduced(of_var, self.dim(), mask, keepdim), scale), distance));
      });
}
IntArrayRef given(const OptionalIntArrayRef& dim) { return dim.value_or(IntArrayRef()); }
}  // namespace

// A line of forms: all elements, dims, dims with a correction.
#define CRESSET_MOMENT_FORMS(name, which, doc)                                                                      \
  static Tensor name##_into(const Into& into, const Tensor& self, bool unbiased) {                                  \
    return moment(which, into, self, IntArrayRef(), unbiased, false);                                               \
  }                                                                                                                 \
  static Tensor name##_into(const Into& into, const Tensor& self, IntArrayRef dim, bool unbiased, bool keepdim) {   \
    return moment(which, into, self, dim, unbiased, keepdim);                                                       \
  }                                                                                                                 \
  static Tensor name##_into(const Into& into, const Tensor& self, OptionalIntArrayRef dim,                          \
                            std::optional<int64_t> correction, bool keepdim) {                                      \
    return moment(which, into, self, given(dim), correction.value_or(1), keepdim);                                  \
  }                                                                                                                 \
  CRESSET_FUNCTION_FORM(name, , (const Tensor& self, bool unbiased), (self, unbiased), "self, unbiased=true",       \
                        doc " of all elements.")                                                                    \
  CRESSET_FORMS_OUT(name, dim, (const Tensor& self, IntArrayRef dim, bool unbiased, bool keepdim),                  \
                    (self, dim, unbiased, keepdim), "self, dim, unbiased=true, keepdim=false",                      \
                    doc " over the given dimensions (none: all).")                                                  \
  CRESSET_FORMS_OUT(name, correction,                                                                               \
                    (const Tensor& self, OptionalIntArrayRef dim, std::optional<int64_t> correction, bool keepdim), \
                    (self, dim, correction, keepdim), "self, dim, correction, keepdim=false",                       \
                    doc " over the given dimensions; its divisor is the count less the correction (1 if not given).")
CRESSET_MOMENT_FORMS(var, variance, "The variance")
CRESSET_MOMENT_FORMS(std, deviation, "The standard deviation")
#undef CRESSET_MOMENT_FORMS

#define CRESSET_MOMENT_AND_MEAN(name, which, doc)                                                                   \
  CRESSET_OP(name, , detail::TwoTensors, (const Tensor& self, bool unbiased), "self, unbiased=true",                \
             Gradient::composed, doc " of all elements, and their mean.", .where = Where::function)                 \
  std::tuple<Tensor, Tensor> name(const Tensor& self, bool unbiased) try {                                          \
    CRESSET_INTERCEPT(name, , detail::TwoTensors, self, unbiased);                                                  \
    return {moment(which, {}, self, IntArrayRef(), unbiased, false), mean(self)};                                   \
  }                                                                                                                 \
  CRESSET_ERRORS_OF(name, , self, unbiased)                                                                         \
  CRESSET_OP(name, dim, detail::TwoTensors, (const Tensor& self, IntArrayRef dim, bool unbiased, bool keepdim),     \
             "self, dim, unbiased=true, keepdim=false", Gradient::composed,                                         \
             doc " over the given dimensions (none: all), and the mean.", .where = Where::function)                 \
  std::tuple<Tensor, Tensor> name(const Tensor& self, IntArrayRef dim, bool unbiased, bool keepdim) try {           \
    CRESSET_INTERCEPT(name, dim, detail::TwoTensors, self, dim, unbiased, keepdim);                                 \
    return {moment(which, {}, self, dim, unbiased, keepdim), mean(self, dim, keepdim)};                             \
  }                                                                                                                 \
  CRESSET_ERRORS_OF(name, dim, self, dim, unbiased, keepdim)                                                        \
  CRESSET_OP(name, correction, detail::TwoTensors,                                                                  \
             (const Tensor& self, OptionalIntArrayRef dim, std::optional<int64_t> correction, bool keepdim),        \
             "self, dim, correction, keepdim=false", Gradient::composed,                                            \
             doc " over the given dimensions, with the correction (1 if not given), and the mean.",                 \
             .where = Where::function)                                                                              \
  std::tuple<Tensor, Tensor> name(const Tensor& self, OptionalIntArrayRef dim, std::optional<int64_t> correction,   \
                                  bool keepdim) try {                                                               \
    CRESSET_INTERCEPT(name, correction, detail::TwoTensors, self, dim, correction, keepdim);                        \
    return {moment(which, {}, self, given(dim), correction.value_or(1), keepdim), mean(self, given(dim), keepdim)}; \
  }                                                                                                                 \
  CRESSET_ERRORS_OF(name, correction, self, dim, correction, keepdim)
CRESSET_MOMENT_AND_MEAN(var_mean, variance, "The variance")
CRESSET_MOMENT_AND_MEAN(std_mean, deviation, "The standard deviation")
#undef CRESSET_MOMENT_AND_MEAN

}  // namespace cresset
