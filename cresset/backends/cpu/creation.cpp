// CPU kernels of ops/creation: values that follow from their index.
#include "cresset/ops/creation.h"

#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 16384;

// out[i] = f(i), converted to the element type.
template <class T, class F>
void generate(const Tensor& out, const F& f) {
  T* data = static_cast<T*>(out.data_ptr());
  const int64_t stride = out.stride(0);
  parallel_for(0, out.numel(), kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) data[i * stride] = static_cast<T>(f(i));
  });
}

template <class T>
inline constexpr bool is_complex_type = !std::is_integral_v<T> && !std::is_convertible_v<T, float>;

// Integers step in int64 arithmetic (unsigned, so that a last step beyond the range is no overflow), floating-point
// types in double.
void arange(const Tensor& out, const Scalar& start, const Scalar& step) {
  dispatch(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_integral_v<T>) {
      const auto from = static_cast<uint64_t>(start.toLong()), by = static_cast<uint64_t>(step.toLong());
      generate<T>(out, [=](int64_t i) { return static_cast<int64_t>(from + by * static_cast<uint64_t>(i)); });
    } else if constexpr (!is_complex_type<T>) {
      const double from = start.toDouble(), by = step.toDouble();
      generate<T>(out, [=](int64_t i) { return from + by * static_cast<double>(i); });
    }
  });
}

// From both ends towards the middle: the ends are exact and the values symmetric.
template <class T, class Compute>
void linspace_as(const Tensor& out, Compute start, Compute end) {
  const int64_t steps = out.numel(), half = steps / 2;
  if (steps == 1) return generate<T>(out, [=](int64_t) { return start; });
  const Compute step = (end - start) / static_cast<double>(steps - 1);
  generate<T>(out, [=](int64_t i) {
    return i < half ? start + step * static_cast<double>(i) : end - step * static_cast<double>(steps - 1 - i);
  });
}
void linspace(const Tensor& out, const Scalar& start, const Scalar& end) {
  dispatch(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_complex_type<T>)
      linspace_as<T>(out, start.toComplexDouble(), end.toComplexDouble());
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      linspace_as<T>(out, static_cast<double>(start.to<T>()), static_cast<double>(end.to<T>()));
    else
      linspace_as<T>(out, start.toDouble(), end.toDouble());
  });
}

void eye(const Tensor& out) {
  const int64_t rows = out.size(0), columns = out.size(1), down = out.stride(0), right = out.stride(1);
  dispatch(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    T* data = static_cast<T*>(out.data_ptr());
    parallel_for(0, rows, kGrain / (columns + 1) + 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; i++)
        for (int64_t j = 0; j < columns; j++) data[i * down + j * right] = T(i == j ? 1.f : 0.f);
    });
  });
}

[[maybe_unused]] const bool registered =
    arange_kernel.set(kCPU, arange) && linspace_kernel.set(kCPU, linspace) && eye_kernel.set(kCPU, eye);

}  // namespace
}  // namespace cresset::cpu
