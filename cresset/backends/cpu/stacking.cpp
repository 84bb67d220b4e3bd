// CPU kernels of ops/stacking: lists of indices, and logspace.
#include "cresset/ops/stacking.h"
#include "cresset/core/kernel.h"

#include <cmath>
#include <numeric>

namespace cresset::cpu {
namespace {

void combinations(const Tensor& out, int64_t n, bool with_replacement) {
  auto* to = static_cast<int64_t*>(out.impl()->data());
  const int64_t r = out.size(1);
  std::vector<int64_t> at(static_cast<size_t>(r));
  if (!with_replacement) std::iota(at.begin(), at.end(), 0);
  for (int64_t row = 0; row < out.size(0); row++) {
    to = std::copy(at.begin(), at.end(), to);
    // The last place that can still grow; those behind it start over.
    int64_t k = r - 1;
    auto last = [&](int64_t place) { return with_replacement ? n - 1 : n - r + place; };
    while (k > 0 && at[static_cast<size_t>(k)] == last(k)) k--;
    int64_t value = ++at[static_cast<size_t>(k)];
    for (int64_t i = k + 1; i < r; i++) at[static_cast<size_t>(i)] = with_replacement ? value : ++value;
  }
}

template <class T>
void write_triangle(T* rows, T* columns, int64_t n, int64_t m, int64_t offset, bool lower) {
  // Only rows that have places: many may lie above a triangle or below one.
  const __int128 first = lower ? std::max<__int128>(0, -static_cast<__int128>(offset)) : 0;
  const __int128 last = lower ? n : std::min<__int128>(n, static_cast<__int128>(m) - offset);
  for (auto i = static_cast<int64_t>(first); i < last; i++) {
    const int64_t edge = std::clamp<int64_t>(offset > m ? m : offset < -n ? 0 : i + offset + (lower ? 1 : 0), 0, m);
    for (int64_t j = lower ? 0 : edge; j < (lower ? edge : m); j++) {
      *rows++ = static_cast<T>(i);
      *columns++ = static_cast<T>(j);
    }
  }
}
void triangle_indices(const Tensor& out, int64_t rows, int64_t columns, int64_t offset, bool lower) {
  dispatch(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    T* to = static_cast<T*>(out.impl()->data());
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
      write_triangle(to, to + out.size(1), rows, columns, offset, lower);
    else
      throw TypeError(message_of("triangle_indices: not implemented for '", toString(out.dtype()), "'"));
  });
}

// From both ends to the middle, as linspace: both are met exactly.
template <class T, class C>
void write_powers(T* to, int64_t stride, int64_t steps, C start, C end, C base) {
  const C step = steps > 1 ? (end - start) / static_cast<C>(steps - 1) : C(0);
  for (int64_t i = 0; i < steps; i++) {
    const C power = i < steps / 2 ? start + step * static_cast<C>(i) : end - step * static_cast<C>(steps - 1 - i);
    const C value = std::pow(base, steps == 1 ? start : power);
    if constexpr (std::is_same_v<C, std::complex<double>> && std::is_same_v<T, std::complex<float>>)
      to[i * stride] = static_cast<T>(value);
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      to[i * stride] = T(static_cast<float>(value));
    else
      to[i * stride] = static_cast<T>(value);
  }
}
void logspace(const Tensor& out, const Scalar& start, const Scalar& end, double base) {
  const int64_t steps = out.numel(), stride = steps ? out.stride(0) : 1;
  dispatch(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    T* to = static_cast<T*>(out.impl()->data());
    if constexpr (is_complex(dtype_of<T>)) {
      write_powers(to, stride, steps, start.toComplexDouble(), end.toComplexDouble(), std::complex<double>(base));
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      // PyTorch's bounds and step are in float for integers.
      const float step = steps > 1
                             ? static_cast<float>(static_cast<T>(end.toDouble()) - static_cast<T>(start.toDouble())) /
                                   static_cast<float>(steps - 1)
                             : 0;
      const auto first = static_cast<T>(start.toDouble()), last = static_cast<T>(end.toDouble());
      for (int64_t i = 0; i < steps; i++) {
        const double power =
            i < steps / 2 || steps == 1
                ? static_cast<double>(static_cast<float>(first) + step * static_cast<float>(i))
                : static_cast<double>(static_cast<float>(last) - step * static_cast<float>(steps - 1 - i));
        to[i * stride] = static_cast<T>(std::pow(base, power));
      }
    } else if constexpr (!std::is_same_v<T, bool>) {
      write_powers(to, stride, steps, start.toDouble(), end.toDouble(), base);
    }
  });
}

[[maybe_unused]] const bool registered = combinations_kernel.set(kCPU, combinations) &&
                                         triangle_indices_kernel.set(kCPU, triangle_indices) &&
                                         logspace_kernel.set(kCPU, logspace);

}  // namespace
}  // namespace cresset::cpu
