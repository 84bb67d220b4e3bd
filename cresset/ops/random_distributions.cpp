// Distributions beyond uniform and normal. What is drawn has no gradient but zero.
#include "cresset/ops/random_distributions.h"

#include "cresset/core/kernel.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/random.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

PhiloxCursor reserved_counters(const std::optional<Generator>& given, const Tensor& y, int64_t counters) {
  if (y.is_meta()) return {};
  Generator generator = given.value_or(default_generator());
  return generator.reserve(static_cast<uint64_t>(counters));
}

// Overwrites self: what was there before has no influence any more.
Tensor& filled(const char* op, const char* node, const Tensor& self, Distribution distribution, double a, double b,
               const std::optional<Generator>& generator) {
  bool whole = distribution == Distribution::geometric;
  CRESSET_CHECK_AS(TypeError, self.is_floating_point() || (whole && is_integral(self.dtype(), false)), op,
                   ": not implemented for '", toString(self.dtype()), "' (expected a floating point ",
                   whole ? "or integer " : "", "dtype)");
  Tensor y = result(op, in_place(self), self.sizes(), self.dtype(), self.device());
  distribution_kernel(y, static_cast<int64_t>(distribution), a, b,
                      reserved_counters(generator, y, (y.numel() + 1) / 2));
  differentiable(node, in_place(self), self, inputs(self), saved(),
                 [](const Tensor& g, Wants) { return grads(new_zeros(g, g.sizes())); });
  return const_cast<Tensor&>(self);
}

#define CRESSET_INTERCEPT_INPLACE(name, ...)                                                        \
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(name##_op, __VA_ARGS__)) \
  return const_cast<Tensor&>(self)

}  // namespace

CRESSET_OP(exponential_, , Tensor&, (const Tensor& self, double lambd, std::optional<Generator> generator),
           "self, lambd=1, generator=std::nullopt", Gradient::formula,
           "Fills self with waiting times of an event that happens lambd times in a unit of time.")
Tensor& exponential_(const Tensor& self, double lambd, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT_INPLACE(exponential_, self, lambd, generator);
  CRESSET_CHECK_AS(ValueError, lambd >= 0, "exponential_: expects lambda >= 0.0, but found lambda=", lambd);
  return filled("exponential_", "ExponentialBackward0", self, Distribution::exponential, lambd, 0, generator);
}
CRESSET_ERRORS_OF(exponential_, , self, lambd, generator)

CRESSET_OP(geometric_, , Tensor&, (const Tensor& self, double p, std::optional<Generator> generator),
           "self, p, generator=std::nullopt", Gradient::formula,
           "Fills self with the number of trials up to the first success, each of probability p.")
Tensor& geometric_(const Tensor& self, double p, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT_INPLACE(geometric_, self, p, generator);
  CRESSET_CHECK_AS(ValueError, p > 0 && p < 1, "geometric_: expects p to be in (0, 1), but got p=", p);
  return filled("geometric_", "GeometricBackward0", self, Distribution::geometric, p, 0, generator);
}
CRESSET_ERRORS_OF(geometric_, , self, p, generator)

CRESSET_OP(cauchy_, , Tensor&, (const Tensor& self, double median, double sigma, std::optional<Generator> generator),
           "self, median=0, sigma=1, generator=std::nullopt", Gradient::formula,
           "Fills self with numbers of Cauchy's distribution.")
Tensor& cauchy_(const Tensor& self, double median, double sigma, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT_INPLACE(cauchy_, self, median, sigma, generator);
  CRESSET_CHECK_AS(ValueError, sigma > 0, "cauchy_: expects sigma > 0.0, but found sigma=", sigma);
  return filled("cauchy_", "CauchyBackward0", self, Distribution::cauchy, median, sigma, generator);
}
CRESSET_ERRORS_OF(cauchy_, , self, median, sigma, generator)

CRESSET_OP(log_normal_, , Tensor&, (const Tensor& self, double mean, double std, std::optional<Generator> generator),
           "self, mean=1, std=2, generator=std::nullopt", Gradient::formula,
           "Fills self with exp of normally distributed numbers.")
Tensor& log_normal_(const Tensor& self, double mean, double std, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT_INPLACE(log_normal_, self, mean, std, generator);
  CRESSET_CHECK_AS(ValueError, std > 0, "log_normal_: expects std > 0.0, but found std=", std);
  return filled("log_normal_", "LogNormalBackward0", self, Distribution::log_normal, mean, std, generator);
}
CRESSET_ERRORS_OF(log_normal_, , self, mean, std, generator)

// ---- normal
static Tensor normal_of(const Tensor& mean, const Tensor& std, const std::optional<Generator>& generator) {
  for (const Tensor* given : {&mean, &std})
    CRESSET_CHECK_AS(TypeError, is_differentiable(given->dtype()), "normal: not implemented for '",
                     toString(given->dtype()), "' (expected a floating point dtype)");
  CRESSET_CHECK_AS(TypeError, !std.is_complex(), "normal: expects standard deviation to be non-complex");
  check_same_device("normal", mean, std);
  Tensor y = empty_contiguous(broadcast_shapes("normal", mean.sizes(), std.sizes()), mean.dtype(), mean.device());
  int64_t numbers = y.numel() * (y.is_complex() ? 2 : 1), each = to_real(y.dtype()) == kDouble ? 2 : 4;
  normal_kernel(y, 0, 1, reserved_counters(generator, y, (numbers + each - 1) / each));
  spread_kernel(y, mean, std);
  return y;
}
static Tensor normal_with_gradient(const Tensor& y, const Tensor& mean, const Tensor& std) {
  return differentiable("NormalBackward1", y, inputs(mean, std), saved(),
                        [a = Broadcast(mean, y), b = Broadcast(std, y)](const Tensor& g, Wants wants) {
                          Tensor zero = new_zeros(g, g.sizes());
                          return grads(wants(0) ? a.reduce(zero) : Tensor(), wants(1) ? b.reduce(zero) : Tensor());
                        });
}
static Tensor one_like(double value, const Tensor& like) {
  return scalar_tensor(value, TensorOptions(to_real(like.dtype())).device(like.device()));
}

static const Op& normalTensor_float_op =
    define_op("normal", static_cast<Tensor (*)(const Tensor&, double, std::optional<Generator>)>(&normal),
              "mean, std=1, generator=std::nullopt", "Normally distributed numbers, each with its own mean.",
              {.overload = "Tensor_float", .where = Where::function});
Tensor normal(const Tensor& mean, double std, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT(normal, Tensor_float, Tensor, mean, std, generator);
  CRESSET_CHECK_AS(ValueError, std >= 0, "normal: expects std >= 0.0, but found std ", std);
  Tensor spread = one_like(std, mean);
  return normal_with_gradient(normal_of(mean, spread, generator), mean, spread);
}
CRESSET_ERRORS_OF(normal, Tensor_float, mean, std, generator)
CRESSET_COPIED_OUT(normal, Tensor_float, (const Tensor& mean, double std, std::optional<Generator> generator),
                   (mean, std, generator), (&mean), "mean, std=1, generator=std::nullopt",
                   "Normally distributed numbers, each with its own mean.")
static const Op& normalfloat_Tensor_op = define_op(
    "normal", static_cast<Tensor (*)(double, const Tensor&, std::optional<Generator>)>(&normal),
    "mean, std, generator=std::nullopt", "Normally distributed numbers, each with its own standard deviation.",
    {.overload = "float_Tensor", .where = Where::function});
Tensor normal(double mean, const Tensor& std, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT(normal, float_Tensor, Tensor, mean, std, generator);
  Tensor middle = one_like(mean, std);
  return normal_with_gradient(normal_of(middle, std, generator), middle, std);
}
CRESSET_ERRORS_OF(normal, float_Tensor, mean, std, generator)
CRESSET_COPIED_OUT(normal, float_Tensor, (double mean, const Tensor& std, std::optional<Generator> generator),
                   (mean, std, generator), (&std), "mean, std, generator=std::nullopt",
                   "Normally distributed numbers, each with its own standard deviation.")
static const Op& normalTensor_Tensor_op = define_op(
    "normal", static_cast<Tensor (*)(const Tensor&, const Tensor&, std::optional<Generator>)>(&normal),
    "mean, std, generator=std::nullopt", "Normally distributed numbers, each with its own mean and standard deviation.",
    {.overload = "Tensor_Tensor", .where = Where::function});
Tensor normal(const Tensor& mean, const Tensor& std, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT(normal, Tensor_Tensor, Tensor, mean, std, generator);
  return normal_with_gradient(normal_of(mean, std, generator), mean, std);
}
CRESSET_ERRORS_OF(normal, Tensor_Tensor, mean, std, generator)
CRESSET_COPIED_OUT(normal, Tensor_Tensor, (const Tensor& mean, const Tensor& std, std::optional<Generator> generator),
                   (mean, std, generator), (&mean, &std), "mean, std, generator=std::nullopt",
                   "Normally distributed numbers, each with its own mean and standard deviation.")
static const Op& normalfloat_float_op = define_op(
    "normal",
    static_cast<Tensor (*)(double, double, IntArrayRef, std::optional<Generator>, const TensorOptions&)>(&normal),
    "mean, std, size, generator=std::nullopt, options={}", "Normally distributed numbers of one mean and spread.",
    {.overload = "float_float", .gradient = Gradient::none, .where = Where::function});
Tensor normal(double mean, double std, IntArrayRef size, std::optional<Generator> generator,
              const TensorOptions& options) try {
  CRESSET_INTERCEPT(normal, float_float, Tensor, mean, std, size, generator, options);
  Tensor y = empty(size, options.requires_grad(false));
  normal_(y, mean, std, generator);
  return options.requires_grad() ? y.requires_grad_() : y;
}
CRESSET_ERRORS_OF(normal, float_float, mean, std, size, generator, options)
static Tensor normal_into(const Into& into, double mean, double std, IntArrayRef size,
                          const std::optional<Generator>& generator, DType dtype, Device device) {
  return normal_(result("normal", into, size, dtype, device), mean, std, generator);
}
CRESSET_CREATION_OUT(normal, float_float,
                     (double mean, double std, IntArrayRef size, std::optional<Generator> generator),
                     (mean, std, size, generator), "mean, std, size, generator=std::nullopt",
                     "Normally distributed numbers of one mean and spread.", mean, std, size, generator)

// ---- counts
static void check_rates(const char* op, const Tensor& x) {
  CRESSET_CHECK_AS(TypeError, x.is_floating_point(), op, ": not implemented for '", toString(x.dtype()),
                   "' (expected a floating point dtype)");
}
CRESSET_OP(poisson, , Tensor, (const Tensor& self, std::optional<Generator> generator), "self, generator=std::nullopt",
           Gradient::formula, "Counts of events, each with the rate that self holds.")
Tensor poisson(const Tensor& self, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT(poisson, , Tensor, self, generator);
  check_rates("poisson", self);
  Tensor y = empty_contiguous(self.sizes(), self.dtype(), self.device());
  poisson_kernel(y, self, reserved_counters(generator, y, y.numel()));
  return differentiable("PoissonBackward0", y, inputs(self), saved(),
                        [](const Tensor& g, Wants) { return grads(new_zeros(g, g.sizes())); });
}
CRESSET_ERRORS_OF(poisson, , self, generator)

static const Op& binomial_op =
    define_op("binomial", &binomial, "count, prob, generator=std::nullopt",
              "Numbers of successes in count trials of probability prob.", {.where = Where::function});
Tensor binomial(const Tensor& count, const Tensor& prob, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT(binomial, , Tensor, count, prob, generator);
  check_rates("binomial", count);
  check_dtype("binomial", "prob", prob, count.dtype());
  check_same_device("binomial", count, prob);
  Dims sizes = broadcast_shapes("binomial", count.sizes(), prob.sizes());
  Tensor y = empty_contiguous(sizes, count.dtype(), count.device());
  binomial_kernel(y, expand(count.detach(), sizes), expand(prob.detach(), sizes),
                  reserved_counters(generator, y, y.numel()));
  return differentiable("BinomialBackward0", y, inputs(count, prob), saved(),
                        [a = Broadcast(count, y), b = Broadcast(prob, y)](const Tensor& g, Wants wants) {
                          Tensor zero = new_zeros(g, g.sizes());
                          return grads(wants(0) ? a.reduce(zero) : Tensor(), wants(1) ? b.reduce(zero) : Tensor());
                        });
}
CRESSET_ERRORS_OF(binomial, , count, prob, generator)

CRESSET_OP(multinomial, , Tensor,
           (const Tensor& self, int64_t num_samples, bool replacement, std::optional<Generator> generator),
           "self, num_samples, replacement=false, generator=std::nullopt", Gradient::none,
           "Indices drawn with the weights that each row of self holds.")
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement, std::optional<Generator> generator) try {
  CRESSET_INTERCEPT(multinomial, , Tensor, self, num_samples, replacement, generator);
  CRESSET_CHECK_AS(TypeError, self.is_floating_point(),
                   "multinomial: only supports floating-point dtypes for input, got: ", toString(self.dtype()));
  CRESSET_CHECK_AS(ShapeError, self.dim() == 1 || self.dim() == 2,
                   "multinomial: prob_dist must be 1 or 2 dim, found shape ", text_of(self.sizes()));
  CRESSET_CHECK_AS(ValueError, num_samples > 0, "multinomial: cannot sample n_sample <= 0 samples, found ",
                   num_samples);
  int64_t classes = self.size(-1), rows = self.dim() == 2 ? self.size(0) : 1;
  CRESSET_CHECK_AS(ValueError, replacement || num_samples <= classes,
                   "multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement, found ",
                   num_samples, " of ", classes);
  Tensor y = empty_contiguous({rows, num_samples}, kLong, self.device());
  Tensor weights = self.dim() == 2 ? self.detach() : unsqueeze(self.detach(), 0);
  int64_t counters = (std::max(classes, num_samples) + 1) / 2;
  multinomial_kernel(y, weights, replacement, reserved_counters(generator, y, rows * counters));
  return self.dim() == 2 ? y : select(y, 0, 0);
}
CRESSET_ERRORS_OF(multinomial, , self, num_samples, replacement, generator)
CRESSET_COPIED_OUT(multinomial, ,
                   (const Tensor& self, int64_t num_samples, bool replacement, std::optional<Generator> generator),
                   (self, num_samples, replacement, generator), (&self),
                   "self, num_samples, replacement=false, generator=std::nullopt",
                   "Indices drawn by the weights that self holds.")

}  // namespace cresset
