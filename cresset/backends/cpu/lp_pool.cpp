// The CPU kernel of ops/lp_pool: elements to a power.
#include "cresset/ops/lp_pool.h"

#include <cmath>

#include "cresset/backends/cpu/pointwise_loop.h"

namespace cresset::cpu {
namespace {

template <class T>
void power_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in[0]);
  const T exponent = static_cast<T>(*static_cast<const double*>(constant));
  if (exponent == T(2)) {
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * x[i];
  } else if (exponent == T(0.5)) {
    for (int64_t i = 0; i < n; i++) y[i] = std::sqrt(x[i]);
  } else {
    for (int64_t i = 0; i < n; i++) y[i] = std::pow(x[i], exponent);
  }
}

void power(const Tensor& out, const Tensor& x, double exponent) {
  const DType type = compute_dtype(x.dtype());
  run_pointwise(
      out, {&x}, type,
      {.inner = type == kDouble ? &power_elements<double> : &power_elements<float>, .constant = &exponent, .cost = 20});
}

[[maybe_unused]] const bool registered = pool_power_kernel.set(kCPU, power);

}  // namespace
}  // namespace cresset::cpu
