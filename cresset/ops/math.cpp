// Functions of one number. The gradient stands in each op's line; gradients that are hot have kernels of their own.
#include "cresset/ops/math.h"

#include <cmath>
#include <numbers>

#include "cresset/core/kernel.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/unary.h"

namespace cresset {

using std::numbers::ln10;
using std::numbers::ln2;
using std::numbers::pi;

static Tensor reciprocal_of(const Tensor& x) { return div(wrapped_number(1), x); }

// ---- powers
// As pow(self, 2), which makes int64 of bool.
static Tensor square_into(const Into& into, const Tensor& self) {
  DType compute = self.dtype() == kBool ? kInt64 : self.dtype();
  Tensor y = pointwise_result("square", into, {&self}, compute, compute);
  Tensor x = preserved(into, self, self.requires_grad());
  square_kernel(y, self, compute);
  return differentiable("PowBackward0", into, y, inputs(self), saved(x),
                        [](const Tensor& g, Wants, const Tensor& x) { return grads(mul(g, mul(conj(x), 2))); });
}
CRESSET_FORMS(square, , (const Tensor& self), (self), "self", "self * self, element by element.")
CRESSET_UNARY(reciprocal, "Reciprocal", y, (neg(mul(g, conj(mul(y, y))))), complex_numbers,
              "1 / self, element by element.")
CRESSET_UNARY(sqrt, "Sqrt", y, (div(g, mul(conj(y), 2))), complex_numbers, "The square root of each element.")
CRESSET_UNARY(rsqrt, "Rsqrt", y, (mul(g, mul(conj(mul(mul(y, y), y)), -0.5))), complex_numbers,
              "1 / sqrt(self), element by element.")
CRESSET_UNARY(exp2, "Exp2", y, (mul(g, mul(y, ln2))), real_numbers, "2 to the power of each element.")
CRESSET_UNARY(expm1, "Expm1", y, (mul(g, add(y, 1))), real_numbers, "exp(self) - 1, exact also near 0.")

// ---- logarithms
CRESSET_UNARY(log, "Log", x, (div(g, conj(x))), complex_numbers, "The natural logarithm of each element.")
CRESSET_UNARY(log2, "Log2", x, (div(g, mul(conj(x), ln2))), complex_numbers, "The logarithm to base 2.")
CRESSET_UNARY(log10, "Log10", x, (div(g, mul(conj(x), ln10))), complex_numbers, "The logarithm to base 10.")
CRESSET_UNARY(log1p, "Log1P", x, (div(g, add(x, 1))), real_numbers, "log(1 + self), exact also near 0.")

// ---- trigonometry
CRESSET_UNARY(sin, "Sin", x, (mul(g, conj(cos(x)))), complex_numbers, "The sine of each element, in radians.")
CRESSET_UNARY(cos, "Cos", x, (neg(mul(g, conj(sin(x))))), complex_numbers, "The cosine of each element, in radians.")
CRESSET_UNARY(tan, "Tan", y, (mul(g, conj(add(mul(y, y), 1)))), complex_numbers,
              "The tangent of each element, in radians.")
CRESSET_UNARY(asin, "Asin", x, (mul(g, conj(rsqrt(1 - mul(x, x))))), complex_numbers, "The inverse of the sine.")
CRESSET_UNARY(acos, "Acos", x, (neg(mul(g, conj(rsqrt(1 - mul(x, x)))))), complex_numbers, "The inverse of the cosine.")
CRESSET_UNARY(atan, "Atan", x, (div(g, conj(add(mul(x, x), 1)))), complex_numbers, "The inverse of the tangent.")
CRESSET_UNARY(sinh, "Sinh", x, (mul(g, conj(cosh(x)))), complex_numbers, "The hyperbolic sine of each element.")
CRESSET_UNARY(cosh, "Cosh", x, (mul(g, conj(sinh(x)))), complex_numbers, "The hyperbolic cosine of each element.")
CRESSET_UNARY(tanh, "Tanh", y, (tanh_backward(g, y)), complex_numbers, "The hyperbolic tangent of each element.")
CRESSET_UNARY(asinh, "Asinh", x, (div(g, conj(sqrt(add(mul(x, x), 1))))), complex_numbers,
              "The inverse of the hyperbolic sine.")
// A complex root of the product would take the wrong branch on the left.
static Tensor acosh_slope(const Tensor& x) {
  return x.is_complex() ? reciprocal_of(mul(sqrt(sub(x, 1)), sqrt(add(x, 1)))) : rsqrt(sub(mul(x, x), 1));
}
CRESSET_UNARY(acosh, "Acosh", x, (mul(g, conj(acosh_slope(x)))), complex_numbers,
              "The inverse of the hyperbolic cosine.")
CRESSET_UNARY(atanh, "Atanh", x, (div(g, conj(1 - mul(x, x)))), complex_numbers,
              "The inverse of the hyperbolic tangent.")
CRESSET_UNARY(rad2deg, "Rad2Deg", nothing, (mul(g, 180 / pi)), real_numbers, "Radians as degrees.")
CRESSET_UNARY(deg2rad, "Deg2Rad", nothing, (mul(g, pi / 180)), real_numbers, "Degrees as radians.")

// sin(v) / v with v = pi x: the slope is (cos(v) v - sin(v)) / (v x), and 0 at 0.
// It cancels near 0: half types compute in float.
static Tensor sinc_backward(const Tensor& g, const Tensor& x) {
  if (compute_dtype(x.dtype()) != x.dtype()) return sinc_backward(g.to(kFloat), x.to(kFloat)).to(x.dtype());
  Tensor v = mul(x, pi), slope = div(sub(mul(cos(v), v), sin(v)), mul(v, x));
  return where(x.to(kBool), mul(g, conj(slope)), g.new_zeros({}));
}
CRESSET_UNARY(sinc, "Sinc", x, (sinc_backward(g, x)), complex_numbers, "sin(pi self) / (pi self), 1 at 0.")

// ---- rounding: steps, whose slope is 0
CRESSET_UNARY(floor, "Floor", nothing, (zeros_like(g)), integers_stay, "The largest whole number not above.")
CRESSET_UNARY(ceil, "Ceil", nothing, (zeros_like(g)), integers_stay, "The smallest whole number not below.")
CRESSET_UNARY(round, "Round", nothing, (zeros_like(g)), integers_stay, "The nearest whole number; of two the even one.")
CRESSET_UNARY(trunc, "Trunc", nothing, (zeros_like(g)), integers_stay, "The whole part, towards 0.")
CRESSET_UNARY(frac, "Frac", nothing, (g), floats_only, "What trunc leaves: self - trunc(self).")

static Tensor round_into(const Into& into, const Tensor& self, int64_t decimals) {
  DType compute = unary_dtype("round", floats_only, self.dtype());
  Tensor y = pointwise_result("round", into, {&self}, compute, compute);
  round_decimals_kernel(y, self, decimals, compute);
  return differentiable("RoundBackward1", into, y, inputs(self), saved(),
                        [](const Tensor& g, Wants) { return grads(zeros_like(g)); });
}
CRESSET_FORMS(round, decimals, (const Tensor& self, int64_t decimals), (self, decimals), "self, decimals",
              "Rounded to so many decimals; negative ones round before the point.")

// ---- sign and size
CRESSET_UNARY(sign, "Sign", nothing, (zeros_like(g)), sign_numbers, "-1, 0 or 1, element by element.")

// On the unit circle only what turns counts: dx = (g - s Re(conj(s) g)) / |x|, and 0 at 0.
static Tensor sgn_backward(const Tensor& g, const Tensor& x) {
  if (!x.is_complex()) return zeros_like(g);
  Tensor s = sgn(x), along = mul(conj(s), g).to(to_real(g.dtype()));
  return where(x.to(kBool), div(sub(g, mul(s, along)), abs(x)), g.new_zeros({}));
}
CRESSET_UNARY(sgn, "Sgn", x, (sgn_backward(g, x)), sgn_numbers,
              "self / |self|, and 0 for 0: the sign also of complex numbers.")

static Tensor real_of(const Tensor& x) { return x.is_complex() ? x.to(to_real(x.dtype())) : x; }

static Tensor abs_into(const Into& into, const Tensor& self) {
  DType compute = unary_dtype("abs", {Integers::stay, true, false}, self.dtype()), real = to_real(compute);
  Tensor y = pointwise_result("abs", into, {&self}, real, real);
  Tensor x = preserved(into, self, self.requires_grad());
  abs_kernel(y, self, compute);
  return differentiable("AbsBackward0", into, y, inputs(self), saved(x),
                        [](const Tensor& g, Wants, const Tensor& x) { return grads(mul(real_of(g), sgn(x))); });
}
CRESSET_FORMS(abs, , (const Tensor& self), (self), "self", "The absolute value; of complex numbers a real one.")

// The slope of the angle of x is i x / |x|^2.
static Tensor angle_into(const Into& into, const Tensor& self) {
  DType compute = unary_dtype("angle", complex_numbers, self.dtype()), real = to_real(compute);
  // Contiguous for complex numbers, as PyTorch's.
  Tensor y = into.fresh() && self.is_complex() ? empty_contiguous(self.sizes(), real, self.device())
                                               : pointwise_result("angle", into, {&self}, real, real);
  angle_kernel(y, self, compute);
  return differentiable("AngleBackward0", into, y, inputs(self), saved(self),
                        [](const Tensor& g, Wants, const Tensor& x) {
                          if (!x.is_complex()) return grads(zeros_like(g));
                          Tensor r = abs(x), turned = mul(x, Scalar(std::complex<double>(0, 1)));
                          return grads(where(x.to(kBool), div(mul(g, turned), mul(r, r)), x.new_zeros({})));
                        });
}
CRESSET_FORMS_OUT(angle, , (const Tensor& self), (self), "self", "The angle of complex numbers; 0 or pi for real ones.")

CRESSET_OP(positive, , Tensor, (const Tensor& self), "self", Gradient::composed, "self as it is.")
Tensor positive(const Tensor& self) try {
  CRESSET_INTERCEPT(positive, , Tensor, self);
  CRESSET_CHECK_AS(TypeError, self.dtype() != kBool, "positive: The `+` operator, on a bool tensor is not supported.");
  return self;
}
CRESSET_ERRORS_OF(positive, , self)

static Tensor conj_physical_into(const Into& into, const Tensor& self) {
  if (into.fresh() && !self.is_complex()) return self;
  Tensor y = pointwise_result("conj_physical", into, {&self}, self.dtype(), self.dtype());
  conj_kernel(y, self, self.dtype());
  return differentiable("ConjPhysicalBackward0", into, y, inputs(self), saved(),
                        [](const Tensor& g, Wants) { return grads(conj(g)); });
}
CRESSET_FORMS(conj_physical, , (const Tensor& self), (self), "self",
              "The complex conjugate, written out; a real tensor is returned as it is.")

// ---- tanh, sigmoid, silu: a kernel does g times the slope in one pass; its own gradient is linear in g
static Tensor product_rule(const char* op, const BinaryKernel& kernel, const Tensor& g, const Tensor& x) {
  DType compute = result_type(g, x);
  Tensor dx = pointwise_result(op, Into{}, {&g, &x}, compute, compute);
  kernel(dx, g, x, compute);
  return dx;
}

Tensor tanh_backward(const Tensor& g, const Tensor& y) {
  if (y.is_complex()) return mul(g, conj(1 - mul(y, y)));
  Tensor dx = product_rule("tanh_backward", tanh_backward_kernel, g, y);
  return differentiable("TanhBackwardBackward0", dx, inputs(g, y), saved(g, y),
                        [](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& y) {
                          return grads(wants(0) ? tanh_backward(gg, y) : Tensor(),
                                       wants(1) ? mul(mul(gg, g), mul(y, -2)) : Tensor());
                        });
}

CRESSET_UNARY(sigmoid, "Sigmoid", y, (sigmoid_backward(g, y)), complex_numbers, "1 / (1 + exp(-self)).")
Tensor sigmoid_backward(const Tensor& g, const Tensor& y) {
  if (y.is_complex()) return mul(g, conj(mul(y, 1 - y)));
  Tensor dx = product_rule("sigmoid_backward", sigmoid_backward_kernel, g, y);
  return differentiable("SigmoidBackwardBackward0", dx, inputs(g, y), saved(g, y),
                        [](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& y) {
                          return grads(wants(0) ? sigmoid_backward(gg, y) : Tensor(),
                                       wants(1) ? mul(mul(gg, g), add(mul(y, -2), 1)) : Tensor());
                        });
}

// With s = sigmoid(x), the slope is s (1 + x (1 - s)) and its own slope s (1 - s) (2 + x (1 - 2 s)).
CRESSET_UNARY(silu, "Silu", x, (silu_backward(g, x)), complex_floats_only, "self * sigmoid(self).")
Tensor silu_backward(const Tensor& g, const Tensor& x) {
  if (x.is_complex()) {
    Tensor s = sigmoid(x);
    return mul(g, conj(mul(s, add(mul(x, 1 - s), 1))));
  }
  Tensor dx = product_rule("silu_backward", silu_backward_kernel, g, x);
  return differentiable("SiluBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor to_g, to_x;
                          if (wants(0)) to_g = silu_backward(gg, x);
                          if (wants(1)) {
                            Tensor s = sigmoid(x), bend = mul(mul(s, 1 - s), add(mul(x, 1 - mul(s, 2)), 2));
                            to_x = mul(mul(gg, g), bend);
                          }
                          return grads(to_g, to_x);
                        });
}

// ---- gelu
static bool is_tanh(const char* op, std::string_view approximate) {
  CRESSET_CHECK_AS(ValueError, approximate == "none" || approximate == "tanh", op,
                   ": approximate argument must be either none or tanh, found \"", approximate, "\"");
  return approximate == "tanh";
}
static Tensor gelu_into(const Into& into, const Tensor& self, std::string_view approximate) {
  bool by_tanh = is_tanh("gelu", approximate);
  DType type = unary_dtype("gelu", floats_only, self.dtype());
  Tensor y = pointwise_result("gelu", into, {&self}, type, type);
  Tensor x = preserved(into, self, self.requires_grad());
  gelu_kernel(y, self, by_tanh);
  return differentiable("GeluBackward0", into, y, inputs(self), saved(x),
                        [by_tanh](const Tensor& g, Wants, const Tensor& x) {
                          return grads(gelu_backward(g, x, by_tanh ? "tanh" : "none"));
                        });
}
CRESSET_FORMS(gelu, , (const Tensor& self, std::string_view approximate), (self, approximate),
              "self, approximate=\"none\"",
              "self times the normal distribution's function of it; approximate=\"tanh\" by way of tanh.")

// The slope of the slope: phi(x) (2 - x^2); by tanh, with v = k (x + c x^3), t = tanh(v) and v' = k (1 + 3 c x^2), it
// is (1 - t^2) (v' + x (v'' / 2 - t v'^2)), v'' = 6 k c x.
static Tensor gelu_bend(const Tensor& x, bool by_tanh) {
  Tensor z = mul(x, x);
  if (!by_tanh) return mul(exp(mul(z, -0.5)), add(mul(z, -1 / std::sqrt(2 * pi)), 2 / std::sqrt(2 * pi)));
  const double k = std::sqrt(2 / pi), c = 0.044715;
  Tensor t = tanh(mul(x, add(mul(z, k * c), k))), v1 = add(mul(z, 3 * k * c), k);
  Tensor inside = add(v1, mul(x, sub(mul(x, 3 * k * c), mul(t, mul(v1, v1)))));
  return mul(1 - mul(t, t), inside);
}
Tensor gelu_backward(const Tensor& g, const Tensor& x, std::string_view approximate) {
  bool by_tanh = is_tanh("gelu_backward", approximate);
  DType type = result_type(g, x);
  Tensor dx = pointwise_result("gelu_backward", Into{}, {&g, &x}, type, type);
  gelu_backward_kernel(dx, g, x, by_tanh);
  return differentiable("GeluBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [by_tanh](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          return grads(wants(0) ? gelu_backward(gg, x, by_tanh ? "tanh" : "none") : Tensor(),
                                       wants(1) ? mul(mul(gg, g), gelu_bend(x, by_tanh)) : Tensor());
                        });
}

// ---- logit: the slope 1 / (x (1 - x)) is 0 where eps cuts, and nan outside [0, 1] without eps
static Tensor logit_backward(const Tensor& g, const Tensor& x, std::optional<double> eps) {
  DType compute = result_type(g, x);
  Tensor dx = pointwise_result("logit_backward", Into{}, {&g, &x}, compute, compute);
  logit_backward_kernel(dx, g, x, eps, compute);
  return differentiable("LogitBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [eps](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor to_g, to_x;
                          if (wants(0)) to_g = logit_backward(gg, x, eps);
                          if (wants(1)) {  // d/dx of the slope is the slope squared times (2 x - 1)
                            Tensor slope = logit_backward(ones_like(x), x, eps);
                            to_x = mul(mul(gg, g), mul(mul(slope, slope), add(mul(x, 2), -1)));
                          }
                          return grads(to_g, to_x);
                        });
}
static Tensor logit_into(const Into& into, const Tensor& self, std::optional<double> eps) {
  DType compute = unary_dtype("logit", real_numbers, self.dtype());
  Tensor y = pointwise_result("logit", into, {&self}, compute, compute);
  Tensor x = preserved(into, self, self.requires_grad());
  logit_kernel(y, self, eps, compute);
  return differentiable("LogitBackward0", into, y, inputs(self), saved(x),
                        [eps](const Tensor& g, Wants, const Tensor& x) { return grads(logit_backward(g, x, eps)); });
}
CRESSET_FORMS(logit, , (const Tensor& self, std::optional<double> eps), (self, eps), "self, eps=std::nullopt",
              "log(self / (1 - self)); with eps, self is first brought into [eps, 1 - eps].")

}  // namespace cresset
