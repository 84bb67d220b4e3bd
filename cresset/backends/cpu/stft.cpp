// CPU kernels of ops/stft. Overlapping frames are added up sample by sample, in the frames' order: the sum is the same
// for any number of threads.
#include "cresset/ops/stft.h"

#include <cmath>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 16384;

void frames(const Tensor& out, const Tensor& x, int64_t hop) {
  const int64_t count = out.size(1), size = out.size(2), item = x.element_size();
  parallel_for(
      0, out.size(0) * count, std::max<int64_t>(1, kGrain / std::max<int64_t>(size, 1)),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
          const int64_t b = i / count, frame = i % count;
          convert(static_cast<char*>(out.impl()->data()) + (b * out.stride(0) + frame * out.stride(1)) * item,
                  out.dtype(), out.stride(2) * item,
                  static_cast<const char*>(x.impl()->data()) + (b * x.stride(0) + frame * hop * x.stride(1)) * item,
                  x.dtype(), x.stride(1) * item, size);
        }
      });
}

template <class T>
void overlap_add_typed(const Tensor& out, const Tensor& frames, int64_t hop) {
  const int64_t length = out.size(1), count = frames.size(1), size = frames.size(2);
  T* to = static_cast<T*>(out.impl()->data());
  const T* from = static_cast<const T*>(frames.impl()->data());
  using Sum = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
  parallel_for(0, out.size(0) * length, kGrain / 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const int64_t b = i / length, at = i % length;
      Sum sum{};
      for (int64_t f = at < size ? 0 : (at - size) / hop + 1; f < count && f * hop <= at; f++)
        sum += static_cast<Sum>(from[b * frames.stride(0) + f * frames.stride(1) + (at - f * hop) * frames.stride(2)]);
      to[b * out.stride(0) + at * out.stride(1)] = static_cast<T>(sum);
    }
  });
}
void overlap_add(const Tensor& out, const Tensor& frames, int64_t hop) {
  dispatch(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_differentiable(dtype_of<T>)) overlap_add_typed<T>(out, frames, hop);
  });
}

// The modified Bessel function of order 0, by its series: every term is positive.
double bessel0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-17; k++) {
    term *= x * x / (4.0 * k * k);
    sum += term;
  }
  return sum;
}
double window_value(int64_t kind, double at, double a, double b, double c) {
  constexpr double pi = 3.14159265358979323846;
  if (kind == 1) return 1 - std::abs(2 * at - 1);
  if (kind == 2) return bessel0(a * std::sqrt(std::max(0.0, 1 - (2 * at - 1) * (2 * at - 1)))) / bessel0(a);
  return a - b * std::cos(2 * pi * at) + c * std::cos(4 * pi * at);
}
void window(const Tensor& out, int64_t kind, int64_t length, double a, double b, double c) {
  const int64_t n = out.numel(), item = out.element_size();
  parallel_for(0, n, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      double value =
          length == 0 ? 1 : window_value(kind, static_cast<double>(i) / static_cast<double>(length), a, b, c);
      convert(static_cast<char*>(out.impl()->data()) + i * item, out.dtype(), item, &value, kDouble, 8, 1);
    }
  });
}

[[maybe_unused]] const bool registered =
    frames_kernel.set(kCPU, frames) && overlap_add_kernel.set(kCPU, overlap_add) && window_kernel.set(kCPU, window);

}  // namespace
}  // namespace cresset::cpu
