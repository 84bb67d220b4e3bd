// Powers and functions of two variables, the gradient under each. Logarithms in formulas are xlogy(1, x).
#include "cresset/ops/power.h"

#include <limits>

#include "cresset/core/kernel.h"
#include "cresset/ops/comparison.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/copy.h"

namespace cresset {

static Tensor log_of(const Tensor& x) { return xlogy(Scalar(1), x); }
static DType floating_type(DType compute) { return is_integral(compute, true) ? default_dtype() : compute; }
static DType real_floating_type(const char* op, DType compute) {
  CRESSET_CHECK_AS(TypeError, is_floating_point(compute), op, ": not implemented for '", toString(compute),
                   "' (expected a real floating-point type)");
  return compute;
}
static DType real_type(const char* op, DType compute) {
  CRESSET_CHECK_AS(TypeError, !is_complex(compute), op, ": not implemented for '", toString(compute),
                   "' (expected real numbers)");
  return compute;
}

// ---- pow
static DType power_type(DType compute) {
  CRESSET_CHECK_AS(TypeError, compute != kBool, "pow: not implemented for 'Bool' (expected numbers)");
  return compute;
}
// 0^0 is 1 and stays so when the base changes: no gradient through the logarithm of zero.
static Tensor to_exponent(const Tensor& g, const Tensor& base, const Tensor& exponent, const Tensor& y) {
  Tensor flat = eq(base, 0);
  if (!exponent.is_complex()) flat = logical_and(flat, ge(exponent, 0));
  Tensor gradient = mul(g, conj(mul(y, log_of(where(flat, g.new_ones({}), base)))));
  return where(flat, g.new_zeros({}), gradient);
}
static Tensor to_base(const Tensor& g, const Tensor& base, const Tensor& exponent) {
  Tensor gradient = mul(g, conj(mul(exponent, pow(base, sub(exponent, 1)))));
  return where(eq(exponent, 0), g.new_zeros({}), gradient);
}

static Tensor pow_in(Tensor y, const Into& into, const Tensor& self, const Tensor& exponent, DType compute) {
  bool keep = self.requires_grad() || exponent.requires_grad();
  Tensor base = preserved(into, self, keep), power = preserved(into, exponent, keep);
  pow_kernel(y, self, exponent, compute);
  return differentiable("PowBackward1", into, y, inputs(self, exponent), saved(base, power, output(y)),
                        [a = Broadcast(self, y), b = Broadcast(exponent, y)](
                            const Tensor& g, Wants wants, const Tensor& base, const Tensor& exponent, const Tensor& y) {
                          return grads(wants(0) ? a.reduce(to_base(g, base, exponent)) : Tensor(),
                                       wants(1) ? b.reduce(to_exponent(g, base, exponent, y)) : Tensor());
                        });
}
static Tensor pow_into(const Into& into, const Tensor& self, const Tensor& exponent) {
  DType compute = power_type(result_type(self, exponent));
  return pow_in(pointwise_result("pow", into, {&self, &exponent}, compute, compute), into, self, exponent, compute);
}
static Scalar less_one(const Scalar& x) {
  if (x.isComplex()) return x.toComplexDouble() - 1.0;
  return x.isFloatingPoint() ? Scalar(x.toDouble() - 1) : Scalar(x.toLong() - 1);
}
static Tensor pow_into(const Into& into, const Tensor& self, const Scalar& exponent) {
  DType compute = power_type(result_type(self, as_operand(exponent)));
  CRESSET_CHECK_AS(ValueError, !is_integral(compute, true) || exponent.toLong() >= 0,
                   "pow: Integers to negative integer powers are not allowed, found the exponent ", exponent);
  Tensor y = pointwise_result("pow", into, {&self}, compute, compute);
  Tensor base = preserved(into, self, self.requires_grad());
  pow_scalar_kernel(y, self, exponent, compute);
  return differentiable("PowBackward0", into, y, inputs(self), saved(base),
                        [exponent, a = Broadcast(self, y)](const Tensor& g, Wants, const Tensor& base) {
                          if (exponent.equal(0)) return grads(a.reduce(g.new_zeros(g.sizes())));
                          Tensor slope =
                              exponent.equal(1) ? g : mul(g, conj(mul(pow(base, less_one(exponent)), exponent)));
                          return grads(a.reduce(slope));
                        });
}
static Tensor pow_into(const Into& into, const Scalar& self, const Tensor& exponent) {
  Tensor base = as_operand(self);
  DType compute = power_type(result_type(base, exponent));
  Tensor y = into.fresh() ? empty_contiguous(exponent.sizes(), compute, exponent.device())  // as in PyTorch
                          : pointwise_result("pow", into, {&exponent}, compute, compute);
  return pow_in(y, into, base, exponent, compute);
}
CRESSET_FORMS(pow, , (const Tensor& self, const Tensor& exponent), (self, exponent), "self, exponent",
              "self to the power of exponent, element by element.")
CRESSET_FORMS(pow, Scalar, (const Tensor& self, const Scalar& exponent), (self, exponent), "self, exponent",
              "self to the power of a number.")
CRESSET_FORMS_OUT(pow, Scalar_Tensor, (const Scalar& self, const Tensor& exponent), (self, exponent), "self, exponent",
                  "A number to the power of each exponent.")

// ---- float_power
static DType wide_type(bool complex) { return complex ? kComplexDouble : kDouble; }
static Scalar widened(const Scalar& x) { return x.isComplex() ? x : Scalar(x.toDouble()); }
static Tensor float_power_into(const Into& into, const Tensor& self, const Tensor& exponent) {
  DType wide = wide_type(self.is_complex() || exponent.is_complex());
  return pow_into(into, self.to(wide), exponent.to(wide));
}
static Tensor float_power_into(const Into& into, const Tensor& self, const Scalar& exponent) {
  DType wide = wide_type(self.is_complex() || exponent.isComplex());
  return pow_into(into, self.to(wide), widened(exponent));
}
static Tensor float_power_into(const Into& into, const Scalar& self, const Tensor& exponent) {
  DType wide = wide_type(self.isComplex() || exponent.is_complex());
  return pow_into(into, widened(self), exponent.to(wide));
}
#define CRESSET_FLOAT_POWER(form, overload_name, First, Second)                                                     \
  form(float_power, overload_name, (const First& self, const Second& exponent), (self, exponent), "self, exponent", \
       "self to the power of exponent, in float64 or complex128.", .gradient = Gradient::composed)
CRESSET_FLOAT_POWER(CRESSET_FORMS, , Tensor, Tensor)
CRESSET_FLOAT_POWER(CRESSET_FORMS, Scalar, Tensor, Scalar)
CRESSET_FLOAT_POWER(CRESSET_FORMS_OUT, Scalar_Tensor, Scalar, Tensor)

// ---- functions of two variables. `formula(g, self, other, y)` gives the gradient for one of them.
using Partial = Tensor (*)(const Tensor& g, const Tensor& self, const Tensor& other);
static Tensor two_variables(const char* op, const char* node, const BinaryKernel& kernel, DType compute,
                            const Into& into, const Tensor& self, const Tensor& other, Partial to_self,
                            Partial to_other) {
  Tensor y = pointwise_result(op, into, {&self, &other}, compute, compute);
  bool keep = self.requires_grad() || other.requires_grad();
  Tensor left = preserved(into, self, keep), right = preserved(into, other, keep);
  kernel(y, self, other, compute);
  return differentiable(node, into, y, inputs(self, other), saved(left, right),
                        [a = Broadcast(self, y), b = Broadcast(other, y), to_self, to_other](
                            const Tensor& g, Wants wants, const Tensor& self, const Tensor& other) {
                          return grads(wants(0) ? a.reduce(to_self(g, self, other)) : Tensor(),
                                       wants(1) ? b.reduce(to_other(g, self, other)) : Tensor());
                        });
}

// d = self / hypot and other / hypot.
static Tensor hypot_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = real_floating_type("hypot", result_type(self, other));
  return two_variables(
      "hypot", "HypotBackward0", hypot_kernel, compute, into, self, other,
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return mul(g, div(a, hypot(a, b))); },
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return mul(g, div(b, hypot(a, b))); });
}
CRESSET_FORMS(hypot, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "The length of the vector (self, other), element by element.")

static Tensor atan2_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = real_type("atan2", floating_type(result_type(self, other)));
  return two_variables(
      "atan2", "Atan2Backward0", atan2_kernel, compute, into, self, other,
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return mul(g, div(b, add(mul(a, a), mul(b, b)))); },
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return mul(g, div(neg(a), add(mul(a, a), mul(b, b)))); });
}
CRESSET_FORMS(atan2, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "The angle of the point (other, self).")

// d = 1 / (1 + exp(other - self)) and the same the other way round.
static Tensor logaddexp_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = real_floating_type("logaddexp", result_type(self, other));
  return two_variables(
      "logaddexp", "LogaddexpBackward0", logaddexp_kernel, compute, into, self, other,
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return div(g, add(exp(sub(b, a)), 1)); },
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return div(g, add(exp(sub(a, b)), 1)); });
}
CRESSET_FORMS_OUT(logaddexp, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
                  "log(exp(self) + exp(other)).")
static Tensor logaddexp2_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = real_floating_type("logaddexp2", result_type(self, other));
  return two_variables(
      "logaddexp2", "Logaddexp2Backward0", logaddexp2_kernel, compute, into, self, other,
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return div(g, add(pow(Scalar(2), sub(b, a)), 1)); },
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return div(g, add(pow(Scalar(2), sub(a, b)), 1)); });
}
CRESSET_FORMS_OUT(logaddexp2, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
                  "log2(2^self + 2^other).")

// d = log(other), 0 where xlogy is 0 by agreement, and self / other.
static Tensor xlogy_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = floating_type(result_type(self, other));
  return two_variables(
      "xlogy", "XlogyBackward0", xlogy_kernel, compute, into, self, other,
      [](const Tensor& g, const Tensor& a, const Tensor& b) {
        Tensor agreed = logical_and(eq(a, 0), b.is_complex() ? eq(b, 0) : le(b, 0));
        return where(agreed, g.new_zeros({}), mul(g, conj(log_of(b))));
      },
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return mul(g, conj(div(a, b))); });
}
static Tensor xlogy_into(const Into& into, const Tensor& self, const Scalar& other) {
  return xlogy_into(into, self, as_operand(other));
}
static Tensor xlogy_into(const Into& into, const Scalar& self, const Tensor& other) {
  return xlogy_into(into, as_operand(self), other);
}
CRESSET_FORMS(xlogy, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "self * log(other), 0 where self is 0.")
CRESSET_FORMS(xlogy, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other",
              "self * log(other) for a number.")
CRESSET_FORMS_OUT(xlogy, Scalar_Tensor, (const Scalar& self, const Tensor& other), (self, other), "self, other",
                  "A number times log(other).", .where = Where::function)

static Tensor special_xlog1py_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = real_type("special_xlog1py", floating_type(result_type(self, other)));
  return two_variables(
      "special_xlog1py", "SpecialXlog1PyBackward0", xlog1py_kernel, compute, into, self, other,
      [](const Tensor& g, const Tensor& a, const Tensor& b) {
        Tensor agreed = logical_and(eq(a, 0), le(b, -1));
        return where(agreed, g.new_zeros({}), mul(g, special_xlog1py(Scalar(1), b)));
      },
      [](const Tensor& g, const Tensor& a, const Tensor& b) { return mul(g, div(a, add(b, 1))); });
}
static Tensor special_xlog1py_into(const Into& into, const Tensor& self, const Scalar& other) {
  return special_xlog1py_into(into, self, as_operand(other));
}
static Tensor special_xlog1py_into(const Into& into, const Scalar& self, const Tensor& other) {
  return special_xlog1py_into(into, as_operand(self), other);
}
CRESSET_FORMS_OUT(special_xlog1py, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
                  "self * log(1 + other), 0 where self is 0.", .where = Where::function)
CRESSET_FORMS_OUT(special_xlog1py, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other",
                  "self * log(1 + other) for a number.", .where = Where::function)
CRESSET_FORMS_OUT(special_xlog1py, Scalar_Tensor, (const Scalar& self, const Tensor& other), (self, other),
                  "self, other", "A number times log(1 + other).", .where = Where::function)

// ---- copysign: d = the two signs' product, 0 at 0
static Tensor copysign_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = real_type("copysign", floating_type(result_type(self, other)));
  return two_variables(
      "copysign", "CopysignBackward0", copysign_kernel, compute, into, self, other,
      [](const Tensor& g, const Tensor& a, const Tensor& b) {
        Tensor one = as_operand(1.0);
        return where(eq(a, 0), g.new_zeros({}), mul(g, mul(copysign(one, a), copysign(one, b))));
      },
      [](const Tensor& g, const Tensor&, const Tensor&) { return g.new_zeros(g.sizes()); });
}
static Tensor copysign_into(const Into& into, const Tensor& self, const Scalar& other) {
  return copysign_into(into, self, as_operand(other));
}
CRESSET_FORMS(copysign, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "self's magnitude with other's sign.")
CRESSET_FORMS(copysign, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other",
              "self's magnitude with a number's sign.")

// ---- nextafter, heaviside: derivatives are not defined, so nobody may ask for them
static void refuse_gradient(const char* op, const Tensor& self, const Tensor& other) {
  CRESSET_CHECK_AS(AutogradError, !thread_state.grad_enabled || !(self.requires_grad() || other.requires_grad()), op,
                   ": the derivative is not implemented (expected inputs that do not require grad)");
}
static Tensor nextafter_into(const Into& into, const Tensor& self, const Tensor& other) {
  refuse_gradient("nextafter", self, other);
  DType compute = real_floating_type("nextafter", result_type(self, other));
  Tensor y = pointwise_result("nextafter", into, {&self, &other}, compute, compute);
  nextafter_kernel(y, self, other, compute);
  return not_differentiable(into, y);
}
CRESSET_FORMS(nextafter, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "self's neighbour among the dtype's numbers, on other's side.", .gradient = Gradient::none)
static Tensor heaviside_into(const Into& into, const Tensor& self, const Tensor& other) {
  refuse_gradient("heaviside", self, other);
  CRESSET_CHECK_AS(TypeError, self.dtype() == other.dtype(),
                   "heaviside: not yet implemented for tensors with different dtypes, found ", name_of(self.dtype()),
                   " and ", name_of(other.dtype()));
  DType compute = real_type("heaviside", self.dtype());
  Tensor y = pointwise_result("heaviside", into, {&self, &other}, compute, compute);
  heaviside_kernel(y, self, other, compute);
  return not_differentiable(into, y);
}
CRESSET_FORMS(heaviside, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "1 above zero, 0 below it, other at zero.", .gradient = Gradient::none)

// ---- ldexp, frexp
static Tensor ldexp_into(const Into& into, const Tensor& self, const Tensor& other) {
  Tensor factor = pow(Scalar(2.0), other);
  if (into.fresh()) return mul(self, factor);
  Tensor y = *into.tensor;
  return into.in_place() ? mul_(y, factor) : mul_out(y, self, factor);
}
CRESSET_FORMS(ldexp, , (const Tensor& self, const Tensor& other), (self, other), "self, other", "self * 2^other.",
              .gradient = Gradient::composed)

CRESSET_OP(frexp, , detail::TwoTensors, (const Tensor& self), "self", Gradient::formula,
           "The mantissa and the exponent of each element.")
std::tuple<Tensor, Tensor> frexp(const Tensor& self) try {
  CRESSET_INTERCEPT(frexp, , detail::TwoTensors, self);
  DType compute = real_floating_type("frexp", self.dtype());
  Tensor mantissa = pointwise_result("frexp", Into{}, {&self}, compute, compute);
  Tensor exponent = pointwise_result("frexp", Into{}, {&self}, kInt, kInt);
  frexp_mantissa_kernel(mantissa, self, compute);
  frexp_exponent_kernel(exponent, self, compute);
  mantissa = differentiable("FrexpBackward0", mantissa, inputs(self), saved(exponent),
                            [](const Tensor& g, Wants, const Tensor& exponent) {
                              return grads(mul(g, pow(Scalar(2.0), neg(exponent)).to(g.dtype())));
                            });
  return {mantissa, exponent};
}
CRESSET_ERRORS_OF(frexp, , self)
CRESSET_COPIED_OUTS(frexp, mantissa, exponent, (const Tensor& self), (self), (&self), "self",
                    "The mantissa and the exponent of each element.")

// ---- nan_to_num
static double largest(DType dtype) {
  return dispatch(dtype, [](auto* p) -> double {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_floating_point(dtype_of<T>)) return static_cast<double>(std::numeric_limits<T>::max());
    return 0;
  });
}
static Tensor nan_to_num_into(const Into& into, const Tensor& self, std::optional<double> nan,
                              std::optional<double> posinf, std::optional<double> neginf) {
  DType dtype = real_type("nan_to_num", self.dtype());
  Tensor y = pointwise_result("nan_to_num", into, {&self}, dtype, dtype);
  Tensor x = preserved(into, self, self.requires_grad());
  if (self.is_floating_point())
    nan_to_num_kernel(y, self, nan.value_or(0), posinf.value_or(largest(dtype)), neginf.value_or(-largest(dtype)));
  else if (!into.in_place())
    copy_kernel(y, self);
  return differentiable(
      "NanToNumBackward0", into, y, inputs(self), saved(x),
      [](const Tensor& g, Wants, const Tensor& x) { return grads(where(isfinite(x), g, g.new_zeros({}))); });
}
CRESSET_FORMS(nan_to_num, ,
              (const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
               std::optional<double> neginf),
              (self, nan, posinf, neginf), "self, nan=std::nullopt, posinf=std::nullopt, neginf=std::nullopt",
              "self with numbers in place of nan and the infinities.")

}  // namespace cresset
