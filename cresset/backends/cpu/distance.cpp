// CPU kernels of ops/distance.
#include "cresset/ops/distance.h"

#include <cmath>
#include <vector>

#include "cresset/backends/cpu/slab.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

struct Power {
  double exponent;
  bool is_signed;
};

template <class T>
T power(T x, T exponent) {  // of x >= 0
  if (exponent == 0) return T(1);
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == T(0.5)) return std::sqrt(x);
  if (x == 0 && exponent < 0) return T(0);
  return std::pow(x, exponent);
}
template <class T>
void power_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  const Power& how = *static_cast<const Power*>(constant);
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out);
  const T exponent = static_cast<T>(how.exponent);
  for (int64_t i = 0; i < n; i++) {
    const T value = power(std::abs(x[i]), exponent);
    y[i] = !how.is_signed ? value : x[i] > 0 ? value : x[i] < 0 ? -value : x[i];
  }
}
void magnitude_power(const Tensor& y, const Tensor& x, double exponent, bool is_signed) {
  const DType type = compute_dtype(y.dtype());
  const Power how{exponent, is_signed};
  run_pointwise(y, {&x}, type,
                {.inner = type == kDouble ? &power_elements<double> : &power_elements<float>,
                 .constant = &how,
                 .cost = exponent == 1 || exponent == 2 ? 2 : 20});
}

// What |a - b| adds to a distance, and what becomes of the total.
template <class T>
void accumulate(T* total, const T* row, const T* columns, int64_t width, int64_t n, double p) {
  std::fill_n(total, n, T(0));
  for (int64_t m = 0; m < width; m++) {
    const T a = row[m];
    const T* b = columns + m * n;
    if (p == 2)
      for (int64_t j = 0; j < n; j++) total[j] += (a - b[j]) * (a - b[j]);
    else if (p == 1)
      for (int64_t j = 0; j < n; j++) total[j] += std::abs(a - b[j]);
    else if (p == 0)
      for (int64_t j = 0; j < n; j++) total[j] += a != b[j] ? T(1) : T(0);
    else if (std::isinf(p))
      for (int64_t j = 0; j < n; j++) {
        const T apart = std::abs(a - b[j]);
        total[j] = apart > total[j] || apart != apart ? apart : total[j];
      }
    else
      for (int64_t j = 0; j < n; j++) total[j] += std::pow(std::abs(a - b[j]), static_cast<T>(p));
  }
  if (p == 2)
    for (int64_t j = 0; j < n; j++) total[j] = std::sqrt(total[j]);
  else if (p != 1 && p != 0 && !std::isinf(p))
    for (int64_t j = 0; j < n; j++) total[j] = std::pow(total[j], static_cast<T>(1 / p));
}

struct Sizes {
  int64_t leading, batch, rows, others, width;
  Sizes(const Tensor& a, const Tensor& b) : leading(a.dim() - 2), batch(1) {
    for (int64_t i = 0; i < leading; i++) batch *= a.size(i);
    rows = a.size(-2);
    others = b.size(-2);
    width = a.size(-1);
  }
};

// b is turned once for each matrix, so that its rows lie side by side.
template <class T>
void cdist_typed(const Tensor& out, const Tensor& a, const Tensor& b, double p) {
  const Sizes s(a, b);
  std::vector<T> columns(static_cast<size_t>(s.others * s.width));
  Slab<T> from_b(b, s.leading);
  for (int64_t k = 0; k < s.batch; k++) {
    const T* rows = from_b.read(k);
    for (int64_t j = 0; j < s.others; j++)
      for (int64_t m = 0; m < s.width; m++) columns[static_cast<size_t>(m * s.others + j)] = rows[j * s.width + m];
    const int64_t work = std::max<int64_t>(1, s.others * s.width);
    parallel_for(0, s.rows, std::max<int64_t>(1, 16384 / work), [&](int64_t begin, int64_t end) {
      Slab<T> from(a, s.leading + 1), to(out, s.leading + 1);
      for (int64_t i = begin; i < end; i++) {
        const int64_t at = k * s.rows + i;
        accumulate(to.to_write(at), from.read(at), columns.data(), s.width, s.others, p);
        to.written(at);
      }
    });
  }
}
void cdist(const Tensor& out, const Tensor& a, const Tensor& b, double p) {
  if (out.numel() == 0) return;
  (out.dtype() == kDouble ? &cdist_typed<double> : &cdist_typed<float>)(out, a, b, p);
}

// The slope of a distance by one coordinate.
template <class T>
T slope(T apart, T distance, double p) {
  if (distance == 0 || apart == 0) return T(0);
  const T sign = apart > 0 ? T(1) : T(-1);
  if (p == 2) return apart / distance;
  if (p == 1) return sign;
  if (p == 0) return T(0);
  if (std::isinf(p)) return std::abs(apart) == distance ? sign : T(0);
  return sign * std::pow(std::abs(apart) / distance, static_cast<T>(p - 1));
}
template <class T>
void cdist_backward_typed(const Tensor& da, const Tensor& g, const Tensor& a, const Tensor& b, const Tensor& distances,
                          double p) {
  const Sizes s(a, b);
  const int64_t work = std::max<int64_t>(1, s.others * s.width);
  parallel_for(0, s.batch * s.rows, std::max<int64_t>(1, 16384 / work), [&](int64_t begin, int64_t end) {
    Slab<T> from_g(g, s.leading + 1), from_a(a, s.leading + 1), from_b(b, s.leading), from_y(distances, s.leading + 1),
        to(da, s.leading + 1);
    const T* others = nullptr;
    for (int64_t i = begin; i < end; i++) {
      if (i == begin || i % s.rows == 0) others = from_b.read(i / s.rows);
      const T *grad = from_g.read(i), *row = from_a.read(i), *distance = from_y.read(i);
      T* sum = to.to_write(i);
      std::fill_n(sum, s.width, T(0));
      for (int64_t j = 0; j < s.others; j++) {
        const T* other = others + j * s.width;
        T size = distance[j];
        if (std::isinf(p))  // in a half type the distance is rounded, and nothing would equal it
          for (int64_t m = 0; m < s.width; m++) size = std::max(m == 0 ? T(0) : size, std::abs(row[m] - other[m]));
        for (int64_t m = 0; m < s.width; m++) sum[m] += grad[j] * slope(row[m] - other[m], size, p);
      }
      to.written(i);
    }
  });
}
void cdist_backward(const Tensor& da, const Tensor& g, const Tensor& a, const Tensor& b, const Tensor& distances,
                    double p) {
  if (da.numel() == 0) return;
  (da.dtype() == kDouble ? &cdist_backward_typed<double> : &cdist_backward_typed<float>)(da, g, a, b, distances, p);
}

[[maybe_unused]] const bool registered = magnitude_power_kernel.set(kCPU, magnitude_power) &&
                                         cdist_kernel.set(kCPU, cdist) &&
                                         cdist_backward_kernel.set(kCPU, cdist_backward);

}  // namespace
}  // namespace cresset::cpu
