// CPU kernels of ops/extrema.
#include "cresset/ops/extrema.h"

#include <cmath>
#include <limits>

#include "cresset/backends/cpu/binary_simd.h"
#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

template <BinaryOp op>
void extremum(const Tensor& out, const Tensor& a, const Tensor& b, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&a, &b}, type, {binary_simd(op, type)});
}
void extremum_backward(const Tensor& out, const Tensor& g, const Tensor& a, const Tensor& b, int64_t sign,
                       DType compute) {
  DType type = compute_dtype(compute);
  Constants constant(type, {sign});
  run_pointwise(out, {&g, &a, &b}, type,
                {.inner = binary_simd(BinaryOp::extremum_backward, type), .constant = constant.bytes});
}

struct Fmax {
  template <class T>
  static T call(T a, T b) {
    return a > b || b != b ? a : b;
  }
};
struct Fmin {
  template <class T>
  static T call(T a, T b) {
    return a < b || b != b ? a : b;
  }
};

// Bounds that are missing are the last numbers of the type.
Constants bounds(DType type, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  Scalar low = 0, high = 0;
  dispatch(type, [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_floating_point_v<T>) {
      high = std::numeric_limits<T>::infinity();
      low = -high;
    } else if constexpr (std::is_integral_v<T>) {
      low = std::numeric_limits<T>::min();
      high = std::numeric_limits<T>::max();
    }
  });
  return {type, {min.value_or(low), max.value_or(high)}};
}

void clamp(const Tensor& out, const Tensor& x, const std::optional<Scalar>& min, const std::optional<Scalar>& max,
           DType compute) {
  DType type = compute_dtype(compute);
  Constants constants = bounds(type, min, max);
  run_pointwise(out, {&x}, type, {.inner = binary_simd(BinaryOp::clamp, type), .constant = constants.bytes});
}
void clamp_tensor(const Tensor& out, const Tensor& x, const Tensor& min, const Tensor& max, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&x, &min, &max}, type, {binary_simd(BinaryOp::clamp_tensor, type)});
}
void clamp_backward(const Tensor& out, const Tensor& g, const Tensor& x, const std::optional<Scalar>& min,
                    const std::optional<Scalar>& max, bool inner) {
  DType type = compute_dtype(g.dtype());
  Constants constants = bounds(type, min, max);
  BinaryOp op = inner ? BinaryOp::inside : BinaryOp::within;
  run_pointwise(out, {&g, &x}, type, {.inner = binary_simd(op, type), .constant = constants.bytes});
}

[[maybe_unused]] const bool registered =
    maximum_kernel.set(kCPU, extremum<BinaryOp::maximum>) && minimum_kernel.set(kCPU, extremum<BinaryOp::minimum>) &&
    fmax_kernel.set(kCPU, binary_kernel<Fmax, kNumbers | kBools, 1>) &&
    fmin_kernel.set(kCPU, binary_kernel<Fmin, kNumbers | kBools, 1>) &&
    extremum_backward_kernel.set(kCPU, extremum_backward) && clamp_kernel.set(kCPU, clamp) &&
    clamp_tensor_kernel.set(kCPU, clamp_tensor) && clamp_backward_kernel.set(kCPU, clamp_backward);

}  // namespace
}  // namespace cresset::cpu
