// Random ops: the shape rule reserves counters of the generator and hands them to the kernels.
#include "cresset/ops/random.h"

#include <limits>

#include "cresset/core/kernel.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/creation.h"

namespace cresset {
namespace {

// Counters for every element of y, each of which takes 1 / per_counter of one. Meta tensors draw nothing.
PhiloxCursor reserved(const std::optional<Generator>& given, const Tensor& y, int64_t per_counter) {
  if (y.is_meta()) return {};
  Generator generator = given.value_or(default_generator());
  int64_t numbers = y.numel() * (y.is_complex() ? 2 : 1);
  return generator.reserve(static_cast<uint64_t>((numbers + per_counter - 1) / per_counter));
}
int64_t per_counter(DType dtype) { return to_real(dtype) == kDouble ? 2 : 4; }

Tensor written(const char* op, const Tensor& self) {
  check_defined(op, "self", self);
  return result(op, in_place(self), self.sizes(), self.dtype(), self.device());
}
// What was there before has no influence any more.
Tensor& overwritten(const char* name, const Tensor& self) {
  differentiable(name, in_place(self), self, inputs(self), saved(),
                 [](const Tensor& g, Wants) { return grads(g.new_zeros(g.sizes())); });
  return const_cast<Tensor&>(self);
}

void check_probability(const char* op, double p) {
  CRESSET_CHECK_AS(ValueError, p >= 0 && p <= 1, op, ": expects p to be in [0, 1], but got p=", p);
}

// The largest value that dtype holds, and the largest up to which it holds every integer.
double largest_finite(DType dtype) {
  return dispatch(dtype, [](auto* p) -> double {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_complex(dtype_of<T>))
      return static_cast<double>(std::numeric_limits<typename T::value_type>::max());
    else
      return static_cast<double>(std::numeric_limits<T>::max());
  });
}
int64_t largest_exact(DType dtype) {
  return dispatch(dtype, [](auto* p) -> int64_t {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_complex(dtype_of<T>))
      return 0;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<int64_t>(std::numeric_limits<T>::max());
    else
      return int64_t{1} << std::numeric_limits<T>::digits;
  });
}
int64_t smallest_integer(DType dtype) {
  return dispatch(dtype, [](auto* p) -> int64_t {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_integral_v<T>)
      return static_cast<int64_t>(std::numeric_limits<T>::min());
    else
      return std::numeric_limits<int64_t>::min();
  });
}

void check_holds(DType dtype, int64_t value, const char* what) {
  bool fits = is_integral(dtype, true) ? value >= smallest_integer(dtype) && value <= largest_exact(dtype)
                                       : std::abs(static_cast<double>(value)) <= largest_finite(dtype);
  CRESSET_CHECK_AS(ValueError, fits, "random_: ", what, " is out of bounds for ", name_of(dtype), ", found ", value);
}

// from … last, both included.
Tensor& random_between(const Tensor& self, int64_t from, int64_t last, const std::optional<Generator>& generator) {
  Tensor y = written("random_", self);
  CRESSET_CHECK_AS(TypeError, !self.is_complex(), "random_: not implemented for '", toString(self.dtype()),
                   "' (expected a real dtype)");
  uint64_t range = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  PhiloxCursor at = reserved(generator, y, 2);
  random_kernel(y, from, static_cast<int64_t>(range), at);
  return overwritten("RandomBackward0", self);
}
Tensor& random_below(const Tensor& self, int64_t from, int64_t to, const std::optional<Generator>& generator) {
  CRESSET_CHECK_AS(ValueError, from < to, "random_: random_ expects 'from' to be less than 'to', but got from=", from,
                   " >= to=", to);
  check_defined("random_", "self", self);
  if (!self.is_complex()) {
    check_holds(self.dtype(), from, "from");
    check_holds(self.dtype(), to - 1, "to - 1");
  }
  return random_between(self, from, to - 1, generator);
}

}  // namespace

CRESSET_OP(uniform_, , Tensor&, (const Tensor& self, double from, double to, std::optional<Generator> generator),
           "self, from=0, to=1, generator=std::nullopt", Gradient::formula,
           "Fills self with numbers drawn evenly from [from, to).")
Tensor& uniform_(const Tensor& self, double from, double to, std::optional<Generator> generator) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(uniform__op, self, from, to, generator))
    return const_cast<Tensor&>(self);
  Tensor y = written("uniform_", self);
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()), "uniform_: not implemented for '",
                   toString(self.dtype()), "' (expected a floating point or complex dtype)");
  CRESSET_CHECK_AS(ValueError, from <= to,
                   "uniform_: uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  double most = largest_finite(self.dtype());
  CRESSET_CHECK_AS(ValueError, std::abs(from) <= most && std::abs(to) <= most, "uniform_: from=", from, " or to=", to,
                   " is out of bounds for ", name_of(self.dtype()));
  CRESSET_CHECK_AS(ValueError, to - from <= most, "uniform_: uniform_ expects to-from <= std::numeric_limits<",
                   toString(self.dtype()), ">::max(), but found to=", to, " and from=", from);
  PhiloxCursor at = reserved(generator, y, per_counter(self.dtype()));
  uniform_kernel(y, from, to, at);
  return overwritten("UniformBackward0", self);
}
CRESSET_ERRORS_OF(uniform_, , self, from, to, generator)

CRESSET_OP(normal_, , Tensor&, (const Tensor& self, double mean, double std, std::optional<Generator> generator),
           "self, mean=0, std=1, generator=std::nullopt", Gradient::formula,
           "Fills self with normally distributed numbers.")
Tensor& normal_(const Tensor& self, double mean, double std, std::optional<Generator> generator) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(normal__op, self, mean, std, generator))
    return const_cast<Tensor&>(self);
  Tensor y = written("normal_", self);
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()), "normal_: not implemented for '", toString(self.dtype()),
                   "' (expected a floating point or complex dtype)");
  CRESSET_CHECK_AS(ValueError, std >= 0, "normal_: normal expects std >= 0.0, but found std ", std);
  PhiloxCursor at = reserved(generator, y, per_counter(self.dtype()));
  normal_kernel(y, mean, std, at);
  return overwritten("NormalBackward0", self);
}
CRESSET_ERRORS_OF(normal_, , self, mean, std, generator)

CRESSET_OP(random_, , Tensor&, (const Tensor& self, std::optional<Generator> generator), "self, generator=std::nullopt",
           Gradient::formula,
           "Fills self with integers from 0 to the largest that its dtype holds (for floats: without gaps).")
Tensor& random_(const Tensor& self, std::optional<Generator> generator) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(random__op, self, generator))
    return const_cast<Tensor&>(self);
  check_defined("random_", "self", self);
  return random_between(self, 0, largest_exact(self.dtype()), generator);
}
CRESSET_ERRORS_OF(random_, , self, generator)
CRESSET_OP(random_, to, Tensor&, (const Tensor& self, int64_t to, std::optional<Generator> generator),
           "self, to, generator=std::nullopt", Gradient::formula, "Fills self with integers from [0, to).")
Tensor& random_(const Tensor& self, int64_t to, std::optional<Generator> generator) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(random_to_op, self, to, generator))
    return const_cast<Tensor&>(self);
  return random_below(self, 0, to, generator);
}
CRESSET_ERRORS_OF(random_to, , self, to, generator)
CRESSET_OP(random_, from, Tensor&,
           (const Tensor& self, int64_t from, std::optional<int64_t> to, std::optional<Generator> generator),
           "self, from, to, generator=std::nullopt", Gradient::formula,
           "Fills self with integers from [from, to), or from `from` to the largest that its dtype holds.")
Tensor& random_(const Tensor& self, int64_t from, std::optional<int64_t> to, std::optional<Generator> generator) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(random_from_op, self, from, to, generator))
    return const_cast<Tensor&>(self);
  if (to) return random_below(self, from, *to, generator);
  check_defined("random_", "self", self);
  if (!self.is_complex()) check_holds(self.dtype(), from, "from");
  CRESSET_CHECK_AS(ValueError, self.is_complex() || from <= largest_exact(self.dtype()), "random_: from is out of ",
                   "bounds for ", name_of(self.dtype()), ", found ", from);
  return random_between(self, from, largest_exact(self.dtype()), generator);
}
CRESSET_ERRORS_OF(random_from, , self, from, to, generator)

CRESSET_OP(bernoulli_, , Tensor&, (const Tensor& self, double p, std::optional<Generator> generator),
           "self, p=0.5, generator=std::nullopt", Gradient::formula,
           "Fills self with ones, with probability p, and zeros.")
Tensor& bernoulli_(const Tensor& self, double p, std::optional<Generator> generator) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(bernoulli__op, self, p, generator))
    return const_cast<Tensor&>(self);
  Tensor y = written("bernoulli_", self);
  check_probability("bernoulli_", p);
  PhiloxCursor at = reserved(generator, y, 4);
  bernoulli_kernel(y, p, at);
  return overwritten("BernoulliBackward0", self);
}
CRESSET_ERRORS_OF(bernoulli_, , self, p, generator)

// p with y's shape, checked for dtype, device and shape.
static Tensor probabilities(const char* op, const Tensor& y, const Tensor& p) {
  check_defined(op, "p", p);
  CRESSET_CHECK_AS(TypeError, is_floating_point(p.dtype()), op, ": not implemented for probabilities of '",
                   toString(p.dtype()), "' (expected a floating point dtype)");
  check_same_device(op, y, p);
  CRESSET_CHECK_AS(ShapeError, broadcast_shapes(op, y.sizes(), p.sizes()) == Dims(y.sizes()), op, ": p of shape ",
                   text_of(p.sizes()), " does not broadcast to ", text_of(y.sizes()));
  Dims strides = Dims::filled(static_cast<int>(y.dim()), 0);
  int lead = static_cast<int>(y.dim() - p.dim());
  for (int i = 0; i < p.dim(); i++)
    if (p.size(i) != 1) strides[lead + i] = p.stride(i);
  return alias(p, y.sizes(), strides, p.storage_offset());
}

CRESSET_OP(bernoulli_, Tensor, Tensor&, (const Tensor& self, const Tensor& p, std::optional<Generator> generator),
           "self, p, generator=std::nullopt", Gradient::formula,
           "Fills self with ones, each with its own probability, and zeros.")
Tensor& bernoulli_(const Tensor& self, const Tensor& p, std::optional<Generator> generator) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(bernoulli_Tensor_op, self, p, generator))
    return const_cast<Tensor&>(self);
  Tensor wide = probabilities("bernoulli_", self, p);
  Tensor y = result("bernoulli_", in_place(self), self.sizes(), self.dtype(), self.device(), {&p});
  if (!self.is_same(p)) check_no_overlap("bernoulli_", y, p);
  PhiloxCursor at = reserved(generator, y, 4);
  bernoulli_tensor_kernel(y, wide, at);
  differentiable("BernoulliBackward1", in_place(self), y, inputs(self, p), saved(),
                 [b = Broadcast(p, y)](const Tensor& g, Wants wants) {
                   Tensor zero = g.new_zeros(g.sizes());
                   return grads(wants(0) ? zero : Tensor(), wants(1) ? b.reduce(zero) : Tensor());
                 });
  return const_cast<Tensor&>(self);
}
CRESSET_ERRORS_OF(bernoulli_Tensor, , self, p, generator)

CRESSET_OP(bernoulli, , Tensor, (const Tensor& self, std::optional<Generator> generator),
           "self, generator=std::nullopt", Gradient::formula,
           "Ones, each with the probability that self holds, and zeros.")
Tensor bernoulli(const Tensor& self, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT(bernoulli, , Tensor, self, generator);
  check_defined("bernoulli", "self", self);
  Tensor wide = probabilities("bernoulli", self, self);
  Tensor y = empty_like(self.detach(), {}, MemoryFormat::Contiguous);
  PhiloxCursor at = reserved(generator, y, 4);
  bernoulli_tensor_kernel(y, wide, at);
  return differentiable("BernoulliBackward0", y, inputs(self), saved(),
                        [](const Tensor& g, Wants) { return grads(g.new_zeros(g.sizes())); });
}
CRESSET_ERRORS_OF(bernoulli, , self, generator)
CRESSET_COPIED_OUT(bernoulli, , (const Tensor& self, std::optional<Generator> generator), (self, generator), (&self),
                   "self, generator=std::nullopt", "Ones, each with the probability that self holds, and zeros.")
CRESSET_OP(bernoulli, p, Tensor, (const Tensor& self, double p, std::optional<Generator> generator),
           "self, p, generator=std::nullopt", Gradient::composed, "Like self, ones with probability p, and zeros.")
Tensor bernoulli(const Tensor& self, double p, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT(bernoulli, p, Tensor, self, p, generator);
  return bernoulli_(empty_like(self.detach(), {}, MemoryFormat::Contiguous), p, generator);
}
CRESSET_ERRORS_OF(bernoulli, p, self, p, generator)

// ---- dropout
// Linear in x: its gradient is the same op, with the same numbers, on the gradient.
static Tensor dropout_at(const Into& into, const Tensor& x, double p, PhiloxCursor at) {
  Tensor y = pointwise_result("dropout", into, {&x}, x.dtype(), x.dtype());
  dropout_kernel(y, x, p, at);
  return differentiable("DropoutBackward0", into, y, inputs(x), saved(),
                        [p, at](const Tensor& g, Wants) { return grads(dropout_at(Into{}, g, p, at)); });
}
static Tensor dropout_into(const Into& into, const Tensor& self, double p, bool train) {
  check_defined("dropout", "input", self);
  CRESSET_CHECK_AS(ValueError, p >= 0 && p <= 1, "dropout: dropout probability has to be between 0 and 1, but got ", p);
  if (!train || p == 0 || self.numel() == 0) return self;
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()),
                   "dropout: result type Float can't be cast to the desired ", "output type ", toString(self.dtype()),
                   " (expected a floating point or complex input)");
  return dropout_at(into, self, p, reserved(std::nullopt, self, self.is_complex() ? 8 : 4));
}
CRESSET_FUNCTION_FORM(dropout, , (const Tensor& self, double p, bool train), (self, p, train), "input, p, train",
                      "input / (1 - p), with elements zeroed with probability p; input itself when not training.")
CRESSET_INPLACE_FORM(dropout, , (const Tensor& self, double p, bool train), (self, p, train), "input, p, train",
                     "Zeroes elements with probability p and divides the others by 1 - p, when training.")

}  // namespace cresset
