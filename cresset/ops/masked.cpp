// masked_fill with a kernel of its own, since attention masks are hot; selecting and scattering go through index.
#include "cresset/ops/masked.h"

#include "cresset/core/kernel.h"
#include "cresset/core/warning.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/index.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/statistics.h"

namespace cresset {

static void check_mask(const char* op, const Tensor& mask) {
  if (CRESSET_UNLIKELY(mask.defined() && mask.dtype() == kByte))
    CRESSET_WARN_ONCE_UNLESS_HANDLED(op, std::string_view(op) == "masked_select" ? "" : "_",
                                     " received a mask with dtype torch.uint8, this behavior is now deprecated,please "
                                     "use a mask with dtype torch.bool instead.");
  CRESSET_CHECK_AS(TypeError, mask.dtype() == kBool || mask.dtype() == kByte, op,
                   ": expected mask to be a bool tensor, but got a tensor with dtype ", name_of(mask.dtype()));
}

// ---- masked_fill
// The result is contiguous, whatever self is, as in PyTorch.
static Tensor filled_result(const Into& into, const Tensor& self, const Tensor& mask) {
  check_mask("masked_fill", mask);
  check_same_device("masked_fill", self, mask);
  return result("masked_fill", into, broadcast_shapes("masked_fill", self.sizes(), mask.sizes()), self.dtype(),
                self.device());
}
// What repeats its memory is filled once, where the mask holds at any of the places that share it.
template <class Value>
static Tensor filled_once(const Tensor& self, const Tensor& mask, const Value& value) {
  Tensor target = self, chosen = expand(mask, self.sizes());
  for (int i = 0; i < self.dim(); i++) {
    if (self.size(i) < 2 || self.stride(i) != 0) continue;
    target = narrow(target, i, 0, 1);
    chosen = any(chosen, i, true);
  }
  masked_fill_(target, chosen, value);
  return self;
}
static Tensor masked_fill_into(const Into& into, const Tensor& self, const Tensor& mask, const Scalar& value) {
  if (into.in_place() && repeats_memory(self)) return filled_once(self, mask, value);
  Tensor y = filled_result(into, self, mask);
  masked_fill_kernel(y, self, mask, value);
  return differentiable("MaskedFillBackward0", into, y, inputs(self), saved(mask),
                        [a = Broadcast(self, y)](const Tensor& g, Wants, const Tensor& mask) {
                          return grads(a.reduce(masked_fill(g, mask, Scalar(0))));
                        });
}
static Tensor masked_fill_into(const Into& into, const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (into.in_place() && repeats_memory(self)) return filled_once(self, mask, value);
  CRESSET_CHECK_AS(ShapeError, value.dim() == 0,
                   "masked_fill: only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
                   " dimension(s)");
  check_same_device("masked_fill", self, value);
  CRESSET_CHECK_AS(TypeError, can_cast(value.dtype(), self.dtype()) || !value.is_complex(),
                   "masked_fill: value of dtype ", name_of(value.dtype()), " can't be cast to ", name_of(self.dtype()));
  Tensor y = filled_result(into, self, mask);
  if (into.in_place()) autograd::check_inplace("masked_fill_", self, value.requires_grad());
  where_kernel(y, mask, value, self);
  return differentiable(
      "MaskedFillBackward1", into, y, inputs(self, value), saved(mask),
      [a = Broadcast(self, y), b = Broadcast(value, y)](const Tensor& g, Wants wants, const Tensor& mask) {
        return grads(wants(0) ? a.reduce(masked_fill(g, mask, Scalar(0))) : Tensor(),
                     wants(1) ? b.reduce(where(mask, g, g.new_zeros({}))) : Tensor());
      });
}
#define CRESSET_MASKED_FILL(form, overload_name, Value)                                                               \
  form(masked_fill, overload_name, (const Tensor& self, const Tensor& mask, const Value& value), (self, mask, value), \
       "self, mask, value", "self with value where the mask holds.")
CRESSET_MASKED_FILL(CRESSET_FUNCTION_FORM, Scalar, Scalar)
CRESSET_MASKED_FILL(CRESSET_INPLACE_FORM, Scalar, Scalar)
CRESSET_MASKED_FILL(CRESSET_FUNCTION_FORM, , Tensor)
CRESSET_MASKED_FILL(CRESSET_INPLACE_FORM, , Tensor)

// ---- masked_select
CRESSET_OP(masked_select, , Tensor, (const Tensor& self, const Tensor& mask), "self, mask", Gradient::composed,
           "The elements where the mask holds, in row-major order.")
Tensor masked_select(const Tensor& self, const Tensor& mask) try {
  CRESSET_INTERCEPT(masked_select, , Tensor, self, mask);
  check_mask("masked_select", mask);
  check_same_device("masked_select", self, mask);
  Dims sizes = broadcast_shapes("masked_select", self.sizes(), mask.sizes());
  Tensor x = self, chosen = mask.dtype() == kByte ? mask.to(kBool) : mask;  // index would warn once more
  if (sizes.empty()) {
    x = unsqueeze(x, 0);
    chosen = unsqueeze(chosen, 0);
  } else {
    x = expand(x, sizes);
    chosen = expand(chosen, sizes);
  }
  return index(x, {chosen});
}
CRESSET_ERRORS_OF(masked_select, , self, mask)
CRESSET_COPIED_OUT(masked_select, , (const Tensor& self, const Tensor& mask), (self, mask), (&self, &mask),
                   "self, mask", "The elements where the mask holds, in row-major order.")

// ---- masked_scatter
static Tensor masked_scatter_into(const Into& into, const Tensor& self, const Tensor& mask, const Tensor& source) {
  check_mask("masked_scatter", mask);
  check_same_device("masked_scatter", self, mask);
  CRESSET_CHECK_AS(TypeError, self.dtype() == source.dtype(),
                   "masked_scatter: expected self and source to have same dtypes but got ", name_of(self.dtype()),
                   " and ", name_of(source.dtype()));
  Dims sizes = broadcast_shapes("masked_scatter", self.sizes(), mask.sizes());
  CRESSET_CHECK_AS(ShapeError, into.fresh() || self.sizes() == IntArrayRef(sizes), "masked_scatter_: self has shape ",
                   text_of(self.sizes()), ", which the mask's ", text_of(mask.sizes()), " does not broadcast to");
  if (into.in_place()) check_no_repeats("masked_scatter_", self);
  Tensor y = into.fresh() ? clone(expand(self, sizes), MemoryFormat::Contiguous) : self;
  bool number = sizes.empty();
  Tensor target = number ? unsqueeze(y, 0) : y;
  Tensor places = nonzero(number ? unsqueeze(mask, 0) : expand(mask, sizes));
  int64_t count = places.size(0);
  CRESSET_CHECK_AS(ShapeError, count <= source.numel(), "masked_scatter: expected source to have at least ", count,
                   " elements (the number of ones in mask), found ", source.numel());
  index_put_(target, unbind(places, 1), narrow(reshape(source, {-1}), 0, 0, count));
  return y;
}
CRESSET_FUNCTION_FORM(masked_scatter, , (const Tensor& self, const Tensor& mask, const Tensor& source),
                      (self, mask, source), "self, mask, source", "self with source's elements where the mask holds.",
                      .gradient = Gradient::composed)
CRESSET_INPLACE_FORM(masked_scatter, , (const Tensor& self, const Tensor& mask, const Tensor& source),
                     (self, mask, source), "self, mask, source", "self with source's elements where the mask holds.",
                     .gradient = Gradient::composed)

}  // namespace cresset
