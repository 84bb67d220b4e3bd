// Dropouts are products with random factors, composed of other ops.
#include "cresset/ops/dropout.h"

#include <cmath>

#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/random.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/softmax.h"

namespace cresset {
namespace {

void check(const char* op, const Tensor& x, double p) {
  CRESSET_CHECK_AS(ValueError, p >= 0 && p <= 1, op, ": dropout probability has to be between 0 and 1, but got ", p);
  CRESSET_CHECK_AS(TypeError, is_differentiable(x.dtype()), op, ": result type Float can't be cast to the desired ",
                   "output type ", toString(x.dtype()), " (expected a floating point or complex input)");
}

// Ones with probability 1 - p: for each element, or for each channel.
Tensor kept(const char* op, const Tensor& x, double p, bool channels) {
  Dims sizes = x.sizes();
  if (channels) {
    CRESSET_CHECK_AS(ShapeError, x.dim() >= 2, op,
                     ": Feature dropout requires at least 2 dimensions in the input, found shape ", text_of(x.sizes()));
    for (int i = 2; i < sizes.rank(); i++) sizes[i] = 1;
  }
  return bernoulli_(empty_contiguous(sizes, x.dtype(), x.device()), 1 - p);
}

enum class Form : uint8_t { fresh, in_place };
Tensor times(Form form, const Tensor& x, const Tensor& factor) {
  return form == Form::in_place ? mul_(x, factor) : mul(x, factor);
}
Tensor dropped(const char* op, Form form, const Tensor& x, double p, bool train, bool channels) {
  CRESSET_CHECK_AS(ValueError, p >= 0 && p <= 1, op, ": dropout probability has to be between 0 and 1, but got ", p);
  if (!train || p == 0 || x.numel() == 0) return x;
  if (p == 1) return times(form, x, new_zeros(x.detach(), {}));
  check(op, x, p);
  return times(form, x, div(kept(op, x, p, channels), 1 - p));
}
Tensor alpha_dropped(const char* op, Form form, const Tensor& x, double p, bool train, bool channels) {
  CRESSET_CHECK_AS(ValueError, p >= 0 && p <= 1, op, ": dropout probability has to be between 0 and 1, but got ", p);
  if (!train || p == 0 || x.numel() == 0) return x;
  if (p == 1) return times(form, x, new_zeros(x.detach(), {}));
  check(op, x, p);
  constexpr double alpha = 1.7580993408473766;
  const double a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
  const Tensor noise = kept(op, x, p, channels);
  const Tensor shift = add(mul(sub(noise, 1), alpha * a), alpha * a * p);
  const Tensor scaled = times(form, x, mul(noise, a));
  return form == Form::in_place ? add_(scaled, shift) : add(scaled, shift);
}

}  // namespace

#define CRESSET_DROPOUT(name, function, channels, doc)                                                                \
  CRESSET_OP(name, , Tensor, (const Tensor& input, double p, bool train), "input, p, train", Gradient::composed, doc) \
  Tensor name(const Tensor& input, double p, bool train) try {                                                        \
    CRESSET_INTERCEPT(name, , Tensor, input, p, train);                                                               \
    return function(#name, Form::fresh, input, p, train, channels);                                                   \
  }                                                                                                                   \
  CRESSET_ERRORS_OF(name, , input, p, train)                                                                          \
  static const Op& name##_inplace_op = define_op(#name "_", &name##_, "input, p, train", doc,                         \
                                                 {.gradient = Gradient::composed, .functional = &name##_op});         \
  Tensor& name##_(const Tensor& input, double p, bool train) try {                                                    \
    if (CRESSET_LIKELY(thread_state.modes_above == 0) || !intercepted<void>(name##_inplace_op, input, p, train))      \
      function(#name, Form::in_place, input, p, train, channels);                                                     \
    return const_cast<Tensor&>(input);                                                                                \
  }                                                                                                                   \
  CRESSET_ERRORS_OF(name, _inplace, input, p, train)

CRESSET_DROPOUT(feature_dropout, dropped, true,
                "Zeroes whole channels with probability p and divides the others by 1 - p.")
CRESSET_DROPOUT(alpha_dropout, alpha_dropped, false,
                "Dropout for selu: dropped elements become its lower end; mean and variance stay.")
CRESSET_DROPOUT(feature_alpha_dropout, alpha_dropped, true,
                "Dropout of whole channels for selu: they become its lower end; mean and variance stay.")

// One image or signal without a batch is one channel list.
static Tensor spatial_dropout(const char* op, const Tensor& input, double p, bool training, int64_t rank) {
  CRESSET_CHECK_AS(ShapeError, input.dim() == rank + 1 || input.dim() == rank + 2, op, ": Expected ", rank + 1, "D or ",
                   rank + 2, "D input, but received a ", input.dim(), "D input");
  if (input.dim() == rank + 2) return feature_dropout(input, p, training);
  return squeeze(feature_dropout(unsqueeze(input, 0), p, training), 0);
}
#define CRESSET_SPATIAL_DROPOUT(name, rank)                                                                   \
  CRESSET_OP(name, , Tensor, (const Tensor& input, double p, bool training), "input, p=0.5, training=true",   \
             Gradient::composed, "Zeroes whole channels with probability p and divides the others by 1 - p.") \
  Tensor name(const Tensor& input, double p, bool training) try {                                             \
    CRESSET_INTERCEPT(name, , Tensor, input, p, training);                                                    \
    return spatial_dropout(#name, input, p, training, rank);                                                  \
  }                                                                                                           \
  CRESSET_ERRORS_OF(name, , input, p, training)
CRESSET_SPATIAL_DROPOUT(dropout1d, 1)
CRESSET_SPATIAL_DROPOUT(dropout2d, 2)
CRESSET_SPATIAL_DROPOUT(dropout3d, 3)

// ---- gumbel_softmax
CRESSET_OP(gumbel_softmax, , Tensor, (const Tensor& logits, double tau, bool hard, int64_t dim),
           "logits, tau=1, hard=false, dim=-1", Gradient::composed,
           "softmax of logits with Gumbel noise, or the choice that it makes.")
Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, int64_t dim) try {
  CRESSET_INTERCEPT(gumbel_softmax, , Tensor, logits, tau, hard, dim);
  CRESSET_CHECK_AS(TypeError, logits.is_floating_point(), "gumbel_softmax: not implemented for '",
                   toString(logits.dtype()), "' (expected floating point logits)");
  wrap_dim("gumbel_softmax", dim, logits);
  Tensor noise = empty_contiguous(logits.sizes(), logits.dtype(), logits.device());
  PhiloxCursor at;
  if (!logits.is_meta()) at = default_generator().reserve(static_cast<uint64_t>((logits.numel() + 3) / 4));
  gumbel_kernel(noise, at);
  Tensor soft = softmax(div(add(logits, noise), tau), dim);
  if (!hard || logits.numel() == 0) return soft;
  Tensor choice = std::get<1>(max(soft.detach(), dim, true));
  Tensor chosen = scatter_along(soft.sizes(), choice, new_ones(soft.detach(), choice.sizes()), wrap_dim("", dim, soft));
  return add(sub(chosen, soft.detach()), soft);
}
CRESSET_ERRORS_OF(gumbel_softmax, , logits, tau, hard, dim)

}  // namespace cresset
