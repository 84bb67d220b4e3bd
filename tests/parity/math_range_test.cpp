// The functions whose error in float32 goes beyond 2 ulp somewhere, beside libtorch's over all floats: in every binade
// ours is at most 2 ulp or libtorch's own, whichever is more.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "cresset/ops/all.h"
#include "tests/parity/torch_twin.h"

namespace cresset {
namespace {

using parity::torch_twin;

double exact_sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double exact_gelu_tanh(double x) {
  return x * exact_sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x));
}

struct Function {
  const char* name;
  Tensor (*ours)(const Tensor&);
  at::Tensor (*theirs)(const at::Tensor&);
  double (*exact)(double);
};
const Function functions[] = {
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }, [](const at::Tensor& x) { return at::sigmoid(x); },
     exact_sigmoid},
    {"silu", [](const Tensor& x) { return silu(x); }, [](const at::Tensor& x) { return at::silu(x); },
     [](double x) { return x * exact_sigmoid(x); }},
    {"gelu", [](const Tensor& x) { return gelu(x); }, [](const at::Tensor& x) { return at::gelu(x); },
     [](double x) { return x * 0.5 * std::erfc(-x / std::numbers::sqrt2); }},
    {"gelu, tanh", [](const Tensor& x) { return gelu(x, "tanh"); },
     [](const at::Tensor& x) { return at::gelu(x, "tanh"); }, exact_gelu_tanh},
};

// In units of the distance between floats at the exact value.
double error_of(float found, double exact) {
  if (std::isnan(exact)) return std::isnan(found) ? 0 : INFINITY;
  if (std::isinf(static_cast<float>(exact)) || !std::isfinite(found))
    return found == static_cast<float>(exact) ? 0 : INFINITY;
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::abs(found - exact) / std::ldexp(1., std::max(exponent, -125) - 24);
}

TEST(MathRangeParity, AtMostTwoUlpsOrLibtorchsError) {
  constexpr int64_t kStep = 2039;
  constexpr int64_t kBinade = (int64_t{1} << 23) / kStep;
  Tensor x = empty({kBinade}, kFloat);
  for (const Function& f : functions)
    for (uint32_t binade = 0; binade < 512; binade++) {  // sign and exponent
      for (int64_t i = 0; i < kBinade; i++)
        x.data_ptr<float>()[i] = std::bit_cast<float>((binade << 23) + static_cast<uint32_t>(i * kStep));
      const Tensor ours = f.ours(x);
      const at::Tensor theirs = f.theirs(torch_twin(x));
      double worst = 0, their_worst = 0;
      float at = 0;
      for (int64_t i = 0; i < kBinade; i++) {
        const float in = x.data_ptr<float>()[i];
        const double exact = f.exact(in), error = error_of(ours.data_ptr<float>()[i], exact);
        their_worst = std::max(their_worst, error_of(theirs.data_ptr<float>()[i], exact));
        if (error > worst) worst = error, at = in;
      }
      EXPECT_LE(worst, std::max(2., their_worst)) << f.name << " at " << at << ", libtorch " << their_worst;
    }
}

}  // namespace
}  // namespace cresset
