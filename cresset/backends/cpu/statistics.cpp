// CPU kernels of ops/statistics. All go through the reduction loop, with accumulators or maps of their own: variances
// and logsumexp read memory once and combine pieces exactly where they were cut.
#include "cresset/ops/statistics.h"

#include <cmath>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/reduce_loop.h"
#include "cresset/backends/cpu/softmax_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/vector_norm.h"

namespace cresset::cpu {
namespace {

// ---- prod: in the widest type of its kind
template <class A>
void prod_start(void* acc, int64_t n) {
  std::fill_n(static_cast<A*>(acc), n, A(1));
}
template <class A, class T>
void prod_rows(void* acc, const void* x, int64_t n, int64_t rows, int64_t row_stride) {
  const char* row = static_cast<const char*>(x);
  for (int64_t r = 0; r < rows; r++, row += row_stride) {
    const T* p = reinterpret_cast<const T*>(row);
    constexpr int64_t kLanes = 16;  // chains, since one waits for each product
    A lanes[kLanes];
    std::fill_n(lanes, kLanes, A(1));
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t k = 0; k < kLanes; k++) lanes[k] *= p[i + k];
    for (; i < n; i++) lanes[i % kLanes] *= p[i];
    for (int64_t step = kLanes / 2; step > 0; step /= 2)
      for (int64_t k = 0; k < step; k++) lanes[k] *= lanes[k + step];
    static_cast<A*>(acc)[r] *= lanes[0];
  }
}
template <class A, class T>
void prod_columns(void* acc, const void* const* rows, int count, int64_t n) {
  A* to = static_cast<A*>(acc);
  for (int k = 0; k < count; k++)
    for (int64_t j = 0; j < n; j++) to[j] *= static_cast<const T*>(rows[k])[j];
}
template <class A>
void prod_combine(void* acc, const void* other, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<A*>(acc)[i] *= static_cast<const A*>(other)[i];
}
template <class A, class T, DType type>
constexpr ReduceInner prod_inner = {type, &prod_start<A>, &prod_rows<A, T>, &prod_columns<A, T>, &prod_combine<A>};

void prod(const Tensor& out, const Tensor& x, IntArrayRef dims) {
  if (is_complex(out.dtype()))
    run_reduction(out, x, dims, kComplexDouble, prod_inner<std::complex<double>, std::complex<double>, kComplexDouble>);
  else if (out.dtype() == kFloat && x.dtype() == kFloat)
    run_reduction(out, x, dims, kFloat, prod_inner<double, float, kDouble>);
  else if (is_floating_point(out.dtype()))
    run_reduction(out, x, dims, kDouble, prod_inner<double, double, kDouble>);
  else
    run_reduction(out, x, dims, kLong, prod_inner<uint64_t, uint64_t, kLong>);
}

// ---- truth values and counts: every dtype is read as bool
void any(const Tensor& out, const Tensor& x, IntArrayRef dims) { run_reduction(out, x, dims, kBool, max_inner(kBool)); }
void all(const Tensor& out, const Tensor& x, IntArrayRef dims) { run_reduction(out, x, dims, kBool, min_inner(kBool)); }
void nonzero_counts(const Tensor& out, const Tensor& x, IntArrayRef dims) {
  run_reduction(out, x, dims, kBool, sum_inner(kBool));
}

// ---- nansum
template <class T>
void without_nan(void* to, const void* from, int64_t n, const void*) {
  const T* x = static_cast<const T*>(from);
  for (int64_t i = 0; i < n; i++) static_cast<T*>(to)[i] = x[i] == x[i] ? x[i] : T(0);
}
void nansum(const Tensor& out, const Tensor& x, IntArrayRef dims) {
  if (compute_dtype(x.dtype()) == kDouble)
    run_reduction(out, x, dims, kDouble, sum_inner(kDouble), 1, {&without_nan<double>});
  else
    run_reduction(out, x, dims, kFloat, sum_inner(kFloat), 1, {&without_nan<float>});
}

template <class T>
void mark_numbers(void* out, const void* const* in, int64_t n, const void*) {
  const T* x = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < n; i++) static_cast<bool*>(out)[i] = x[i] == x[i];
}
void not_nan(const Tensor& mask, const Tensor& x) {
  if (compute_dtype(x.dtype()) == kDouble)
    run_pointwise(mask, {&x}, kDouble, kBool, {&mark_numbers<double>});
  else
    run_pointwise(mask, {&x}, kFloat, kBool, {&mark_numbers<float>});
}

// ---- var: mean, sum of squared distances to it, and count. Two such are combined by Chan's formula.
struct Moments {
  double mean = 0, m2 = 0, count = 0;

  void take(double other_mean, double other_m2, double other_count) {
    if (other_count == 0) return;
    if (count == 0) {  // the square of a large mean would be infinite, and zero times it nan
      mean = other_mean, m2 = other_m2, count = other_count;
      return;
    }
    double total = count + other_count, delta = other_mean - mean;
    mean += delta * (other_count / total);
    m2 += other_m2 + delta * delta * (count * other_count / total);
    count = total;
  }
  void take(const Moments& other) { take(other.mean, other.m2, other.count); }
};

struct VarConstant {
  double correction;
  bool root;
};
double variance(double m2, double count, const VarConstant& c) {
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  double v = m2 / std::max(0.0, count - c.correction);
  return c.root ? std::sqrt(v) : v;
}

void moments_start(void* acc, int64_t n) { std::fill_n(static_cast<Moments*>(acc), n, Moments{}); }
// A row that stays in the cache is read twice: first its mean, then the distances.
template <class T>
void moments_rows(void* acc, const void* x, int64_t n, int64_t rows, int64_t row_stride) {
  const char* row = static_cast<const char*>(x);
  const ReduceInner& sum = sum_inner(dtype_of<T>);
  for (int64_t r = 0; r < rows; r++, row += row_stride) {
    const T* p = reinterpret_cast<const T*>(row);
    double total = 0, lanes[8] = {};
    sum.rows(&total, p, n, 1, 0);
    const double mean = total / static_cast<double>(n);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 8; k++) {
        double d = p[i + k] - mean;
        lanes[k] += d * d;
      }
    for (; i < n; i++) lanes[i % 8] += (p[i] - mean) * (p[i] - mean);
    double m2 = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    static_cast<Moments*>(acc)[r].take(mean, m2, static_cast<double>(n));
  }
}
template <class T>
void moments_columns(void* acc, const void* const* rows, int count, int64_t n) {
  Moments* to = static_cast<Moments*>(acc);
  for (int k = 0; k < count && n > 0; k++) {
    const T* row = static_cast<const T*>(rows[k]);
    const double now = to[0].count + 1, share = 1 / now;  // all columns have taken as many
    for (int64_t j = 0; j < n; j++) {
      double delta = row[j] - to[j].mean;
      to[j].mean += delta * share;
      to[j].m2 += delta * (row[j] - to[j].mean);
      to[j].count = now;
    }
  }
}
void moments_combine(void* acc, const void* other, int64_t n) {
  for (int64_t i = 0; i < n; i++) static_cast<Moments*>(acc)[i].take(static_cast<const Moments*>(other)[i]);
}
void moments_finish(void* values, const void* acc, int64_t n, const void* constant) {
  const Moments* from = static_cast<const Moments*>(acc);
  for (int64_t i = 0; i < n; i++)
    static_cast<double*>(values)[i] = variance(from[i].m2, from[i].count, *static_cast<const VarConstant*>(constant));
}
template <class T>
constexpr ReduceInner var_inner = {kDouble,          &moments_start,  &moments_rows<T>, &moments_columns<T>,
                                   &moments_combine, sizeof(Moments), &moments_finish};

// A complex number's distance is that of both parts; they are staged as double.
struct ComplexMoments {
  std::complex<double> mean = 0;
  double m2 = 0, count = 0;

  void take(std::complex<double> other_mean, double other_m2, double other_count) {
    if (other_count == 0) return;
    if (count == 0) {
      mean = other_mean, m2 = other_m2, count = other_count;
      return;
    }
    double total = count + other_count;
    std::complex<double> delta = other_mean - mean;
    mean += delta * (other_count / total);
    m2 += other_m2 + std::norm(delta) * (count * other_count / total);
    count = total;
  }
};
void complex_start(void* acc, int64_t n) { std::fill_n(static_cast<ComplexMoments*>(acc), n, ComplexMoments{}); }
void complex_rows(void* acc, const void* x, int64_t n, int64_t rows, int64_t row_stride) {
  const char* row = static_cast<const char*>(x);
  for (int64_t r = 0; r < rows; r++, row += row_stride)
    for (int64_t i = 0; i < n; i++)
      static_cast<ComplexMoments*>(acc)[r].take(reinterpret_cast<const std::complex<double>*>(row)[i], 0, 1);
}
void complex_columns(void* acc, const void* const* rows, int count, int64_t n) {
  for (int k = 0; k < count; k++)
    for (int64_t j = 0; j < n; j++)
      static_cast<ComplexMoments*>(acc)[j].take(static_cast<const std::complex<double>*>(rows[k])[j], 0, 1);
}
void complex_combine(void* acc, const void* other, int64_t n) {
  const ComplexMoments* from = static_cast<const ComplexMoments*>(other);
  for (int64_t i = 0; i < n; i++) static_cast<ComplexMoments*>(acc)[i].take(from[i].mean, from[i].m2, from[i].count);
}
void complex_finish(void* values, const void* acc, int64_t n, const void* constant) {
  const ComplexMoments* from = static_cast<const ComplexMoments*>(acc);
  for (int64_t i = 0; i < n; i++)
    static_cast<double*>(values)[i] = variance(from[i].m2, from[i].count, *static_cast<const VarConstant*>(constant));
}
constexpr ReduceInner complex_var_inner = {kDouble,          &complex_start,         &complex_rows,  &complex_columns,
                                           &complex_combine, sizeof(ComplexMoments), &complex_finish};

void var(const Tensor& out, const Tensor& x, IntArrayRef dims, int64_t correction, bool root) {
  VarConstant constant{static_cast<double>(correction), root};
  ReduceMap extra{nullptr, &constant};
  if (x.is_complex())
    run_reduction(out, x, dims, kComplexDouble, complex_var_inner, 1, extra);
  else if (x.dtype() == kDouble)
    run_reduction(out, x, dims, kDouble, var_inner<double>, 1, extra);
  else
    run_reduction(out, x, dims, kFloat, var_inner<float>, 1, extra);
}

// ---- logsumexp: the largest term so far, and the sum of all terms in its units
struct LogSum {
  double top = -std::numeric_limits<double>::infinity(), total = 0;

  void take(double other_top, double other_total) {
    if (other_total == 0 && !std::isnan(other_top)) return;
    if (std::isnan(other_top) || std::isnan(top)) {
      top = std::numeric_limits<double>::quiet_NaN();
    } else if (other_top <= top) {
      total += other_total * (other_top == top ? 1 : std::exp(other_top - top));
    } else {
      total = other_total + total * std::exp(top - other_top);
      top = other_top;
    }
  }
};
void logsum_start(void* acc, int64_t n) { std::fill_n(static_cast<LogSum*>(acc), n, LogSum{}); }
template <class T>
void logsum_rows(void* acc, const void* x, int64_t n, int64_t rows, int64_t row_stride) {
  if (n == 0) return;
  const char* row = static_cast<const char*>(x);
  for (int64_t r = 0; r < rows; r++, row += row_stride) {
    const T* p = reinterpret_cast<const T*>(row);
    LogSum& to = static_cast<LogSum*>(acc)[r];
    T top, total = softmax_inner<T>().exp_total(p, n, &top);
    if (std::isfinite(top)) {
      to.take(top, total);
    } else {  // infinities and nan, one by one
      for (int64_t i = 0; i < n; i++)
        if (p[i] != -std::numeric_limits<T>::infinity()) to.take(p[i], 1);
    }
  }
}
// The rows at hand first, on vectors; then one term per column.
template <class T>
void logsum_columns(void* acc, const void* const* rows, int count, int64_t n) {
  constexpr int64_t kWidth = 256;
  const SoftmaxInner<T>& inner = softmax_inner<T>();
  LogSum* to = static_cast<LogSum*>(acc);
  alignas(64) T top[kWidth], total[kWidth], unused[kWidth];
  for (int64_t from = 0; from < n; from += kWidth) {
    int64_t width = std::min(kWidth, n - from);
    std::fill_n(top, width, -std::numeric_limits<T>::infinity());
    std::fill_n(total, width, T(0));
    auto row = [&](int k) { return static_cast<const T*>(rows[k]) + from; };
    for (int k = 0; k < count; k++) inner.max_columns(top, row(k), width);
    for (int k = 0; k < count; k++) inner.exp_columns(unused, row(k), top, total, width);
    for (int64_t j = 0; j < width; j++) {
      if (std::isfinite(top[j])) {
        to[from + j].take(top[j], total[j]);
        continue;
      }
      for (int k = 0; k < count; k++)
        if (row(k)[j] != -std::numeric_limits<T>::infinity()) to[from + j].take(row(k)[j], 1);
    }
  }
}
void logsum_combine(void* acc, const void* other, int64_t n) {
  const LogSum* from = static_cast<const LogSum*>(other);
  for (int64_t i = 0; i < n; i++) static_cast<LogSum*>(acc)[i].take(from[i].top, from[i].total);
}
void logsum_finish(void* values, const void* acc, int64_t n, const void*) {
  const LogSum* from = static_cast<const LogSum*>(acc);
  for (int64_t i = 0; i < n; i++)
    static_cast<double*>(values)[i] = std::isfinite(from[i].top) ? from[i].top + std::log(from[i].total) : from[i].top;
}
template <class T>
constexpr ReduceInner logsum_inner = {kDouble,         &logsum_start,  &logsum_rows<T>, &logsum_columns<T>,
                                      &logsum_combine, sizeof(LogSum), &logsum_finish};

void logsumexp(const Tensor& out, const Tensor& x, IntArrayRef dims) {
  if (out.dtype() == kDouble)
    run_reduction(out, x, dims, kDouble, logsum_inner<double>);
  else
    run_reduction(out, x, dims, kFloat, logsum_inner<float>);
}

// ---- norm: a sum, or an extremum, of what |x| maps to
enum class Power : uint8_t { zero, one, two, any };
template <class T, Power power>
void powers(void* to, const void* from, int64_t n, const void* constant) {
  const T* x = static_cast<const T*>(from);
  using R = decltype(std::abs(T()));
  R* y = static_cast<R*>(to);
  const double p = *static_cast<const double*>(constant);
  for (int64_t i = 0; i < n; i++) {
    if constexpr (power == Power::zero)
      y[i] = x[i] == T(0) ? R(0) : R(1);
    else if constexpr (power == Power::one)
      y[i] = std::abs(x[i]);
    else if constexpr (power == Power::two && std::is_floating_point_v<T>)
      y[i] = x[i] * x[i];
    else if constexpr (power == Power::two)
      y[i] = x[i].real() * x[i].real() + x[i].imag() * x[i].imag();
    else
      y[i] = static_cast<R>(std::pow(static_cast<double>(std::abs(x[i])), p));
  }
}
void root_finish(void* values, const void* acc, int64_t n, const void* constant) {
  const double p = *static_cast<const double*>(constant);
  for (int64_t i = 0; i < n; i++) {
    double sum = static_cast<const double*>(acc)[i];
    static_cast<double*>(values)[i] = p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
  }
}
template <class R>
void zeros_start(void* acc, int64_t n) {
  std::fill_n(static_cast<R*>(acc), n, R(0));
}
template <class T>
void norm_typed(const Tensor& out, const Tensor& x, IntArrayRef dims, double p) {
  DType real = to_real(dtype_of<T>);
  auto reduce = [&](const ReduceInner& inner, decltype(ReduceMap::map) map) {
    run_reduction(out, x, dims, dtype_of<T>, inner, 1, {map, &p});
  };
  if (std::isinf(p)) {
    ReduceInner best = p > 0 ? max_inner(real) : min_inner(real);
    if (p > 0) best.start = &zeros_start<decltype(std::abs(T()))>;  // the norm of nothing is 0
    return reduce(best, &powers<T, Power::one>);
  }
  ReduceInner inner = sum_inner(real);
  if (p == 0) return reduce(inner, &powers<T, Power::zero>);
  if (p == 1) return reduce(inner, &powers<T, Power::one>);
  inner.finish = &root_finish;
  reduce(inner, p == 2 ? &powers<T, Power::two> : &powers<T, Power::any>);
}
void norm(const Tensor& out, const Tensor& x, IntArrayRef dims, double p) {
  bool wide = out.dtype() == kDouble;
  if (x.is_complex())
    wide ? norm_typed<std::complex<double>>(out, x, dims, p) : norm_typed<std::complex<float>>(out, x, dims, p);
  else
    wide ? norm_typed<double>(out, x, dims, p) : norm_typed<float>(out, x, dims, p);
}

// ---- |x|^p and x |x|^p
template <class T, bool times_x>
void abs_powers(void* out, const void* const* in, int64_t n, const void* constant) {
  using R = decltype(std::abs(T()));
  using Y = std::conditional_t<times_x, T, R>;
  const double p = *static_cast<const double*>(constant);
  const T* x = static_cast<const T*>(in[0]);
  Y* y = static_cast<Y*>(out);
  for (int64_t i = 0; i < n; i++) {
    R size = std::abs(x[i]);
    if (size == 0) {
      y[i] = times_x || p != 0 ? Y(0) : Y(1);
      continue;
    }
    if constexpr (times_x && std::is_floating_point_v<T>) {
      if (p == -1) {  // of infinities, too
        y[i] = size != size ? size : std::copysign(T(1), x[i]);
        continue;
      }
    }
    R power = p == 1 ? size : p == -1 ? R(1) / size : static_cast<R>(std::pow(size, static_cast<R>(p)));
    if constexpr (times_x)
      y[i] = x[i] * power;
    else
      y[i] = power;
  }
}
template <class T>
void abs_power_typed(const Tensor& out, const Tensor& x, double p, bool times_x) {
  DType type = dtype_of<T>;
  run_pointwise(out, {&x}, type, times_x ? type : to_real(type),
                {.inner = times_x ? &abs_powers<T, true> : &abs_powers<T, false>, .constant = &p, .cost = 20});
}
void abs_power(const Tensor& out, const Tensor& x, double p, bool times_x) {
  switch (compute_dtype(x.dtype())) {
    case kDouble:
      return abs_power_typed<double>(out, x, p, times_x);
    case kComplexFloat:
      return abs_power_typed<std::complex<float>>(out, x, p, times_x);
    case kComplexDouble:
      return abs_power_typed<std::complex<double>>(out, x, p, times_x);
    default:
      return abs_power_typed<float>(out, x, p, times_x);
  }
}

[[maybe_unused]] const bool registered = prod_kernel.set(kCPU, prod) && any_kernel.set(kCPU, any) &&
                                         all_kernel.set(kCPU, all) && nonzero_counts_kernel.set(kCPU, nonzero_counts) &&
                                         nansum_kernel.set(kCPU, nansum) && not_nan_kernel.set(kCPU, not_nan) &&
                                         var_kernel.set(kCPU, var) && logsumexp_kernel.set(kCPU, logsumexp) &&
                                         norm_kernel.set(kCPU, norm) && abs_power_kernel.set(kCPU, abs_power);

}  // namespace
}  // namespace cresset::cpu
