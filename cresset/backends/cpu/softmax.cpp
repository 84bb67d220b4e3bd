// CPU kernels of ops/softmax. Lines that are contiguous in memory are done row by row; where the neighbouring elements
// belong to different lines, many lines are done side by side. Other types and strides pass through small buffers.
#include "cresset/ops/softmax.h"

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/reduce_lines.h"
#include "cresset/backends/cpu/softmax_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 4096;
constexpr int64_t kColumns = 1024;
constexpr int64_t kRows = 32;  // of columns, that stay in the cache while they are read twice

bool side_by_side(const Lines& lines) {
  return lines.width() >= 8 && lines.length(0) > 1 && std::abs(lines.across(0)) < std::abs(lines.stride(0));
}

// Calls f, softmax's or its logarithm's function for a row.
template <class T, class F>
void rows(const Tensor& out, const Tensor& x, const Lines& lines, const F& f) {
  int64_t n = lines.length(0);
  parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    Row<T> from(x, lines, 0), to(out, lines, 1);
    bool stream = to.direct() && out.nbytes() >= kBeyondCache;
    for (int64_t i = begin; i < end; i++) {
      auto at = lines.at(i);
      f(to.to_write(at.data[1]), from.read(at.data[0]), n, stream);
      to.written(at.data[1]);
    }
  });
}

// A piece of one row of many columns, as contiguous T.
template <class T>
const T* columns(T* buffer, const char* at, DType dtype, int64_t across, int64_t n) {
  if (dtype == dtype_of<T> && across == kItem<T>) return reinterpret_cast<const T*>(at);
  convert(buffer, dtype_of<T>, kItem<T>, at, dtype, across, n);
  return buffer;
}

// The maximum of each of n columns and the sum of exp(x - top), a few rows at a time: the sums follow the maxima as
// they move, so that memory is read once. A maximum of -inf is taken as 0 meanwhile.
template <class T, class R>
void column_sums(const R& row, int64_t rows, int64_t n, T* top, T* total) {
  const SoftmaxInner<T>& inner = softmax_inner<T>();
  const T least = -std::numeric_limits<T>::infinity();
  alignas(64) T before[kColumns], shift[kColumns], terms[kColumns];
  std::fill_n(top, n, least);
  std::fill_n(total, n, T(0));
  for (int64_t first = 0; first < rows; first += kRows) {
    int64_t last = std::min(rows, first + kRows);
    std::copy_n(top, n, before);
    for (int64_t i = first; i < last; i++) inner.max_columns(top, row(i), n);
    if (first > 0) inner.move_columns(total, before, top, n);
    for (int64_t j = 0; j < n; j++) shift[j] = top[j] == least ? T(0) : top[j];
    for (int64_t i = first; i < last; i++) inner.exp_columns(terms, row(i), shift, total, n);
  }
}

// exp is taken twice rather than kept in a narrower type.
template <class T>
void softmax_columns(const Tensor& out, const Tensor& x, const Lines& lines, int64_t line, int64_t n) {
  const SoftmaxInner<T>& inner = softmax_inner<T>();
  alignas(64) T in[kColumns], terms[kColumns], top[kColumns], total[kColumns], scale[kColumns];
  auto at = lines.at(line);
  auto row = [&](int64_t i) { return columns(in, at.data[0] + i * lines.stride(0), x.dtype(), lines.across(0), n); };
  column_sums(row, lines.length(0), n, top, total);
  for (int64_t j = 0; j < n; j++)
    scale[j] = std::isfinite(top[j]) ? T(1) / total[j] : std::numeric_limits<T>::quiet_NaN();
  for (int64_t i = 0; i < lines.length(0); i++) {
    inner.exp_columns(terms, row(i), top, total, n);
    for (int64_t j = 0; j < n; j++) terms[j] *= scale[j];
    convert(at.data[1] + i * lines.stride(1), out.dtype(), lines.across(1), terms, dtype_of<T>, kItem<T>, n);
  }
}

// Calls f(first line, count) for groups of lines that lie side by side.
template <class F>
void groups(const Lines& lines, const F& f) {
  parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / lines.length(0)), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end;) {
      int64_t n = std::min({kColumns, end - line, lines.width() - line % lines.width()});
      f(line, n);
      line += n;
    }
  });
}

template <class T>
void softmax_typed(const Tensor& out, const Tensor& x, int64_t dim) {
  Lines lines({&x, &out}, dim);
  if (!side_by_side(lines)) return rows<T>(out, x, lines, softmax_inner<T>().row);
  groups(lines, [&](int64_t line, int64_t n) { softmax_columns<T>(out, x, lines, line, n); });
}
void softmax(const Tensor& out, const Tensor& x, int64_t dim) {
  if (out.numel() == 0) return;
  out.dtype() == kDouble ? softmax_typed<double>(out, x, dim) : softmax_typed<float>(out, x, dim);
}

template <class T>
void log_softmax_columns(const Tensor& out, const Tensor& x, const Lines& lines, int64_t line, int64_t n) {
  alignas(64) T in[kColumns], result[kColumns], top[kColumns], total[kColumns];
  auto at = lines.at(line);
  auto row = [&](int64_t i) { return columns(in, at.data[0] + i * lines.stride(0), x.dtype(), lines.across(0), n); };
  column_sums(row, lines.length(0), n, top, total);
  for (int64_t j = 0; j < n; j++)
    total[j] = std::isfinite(top[j]) ? std::log(total[j]) : std::numeric_limits<T>::quiet_NaN();
  for (int64_t i = 0; i < lines.length(0); i++) {
    const T* xs = row(i);
    for (int64_t j = 0; j < n; j++) result[j] = xs[j] - top[j] - total[j];
    convert(at.data[1] + i * lines.stride(1), out.dtype(), lines.across(1), result, dtype_of<T>, kItem<T>, n);
  }
}

template <class T>
void log_softmax_typed(const Tensor& out, const Tensor& x, int64_t dim) {
  Lines lines({&x, &out}, dim);
  if (!side_by_side(lines)) return rows<T>(out, x, lines, softmax_inner<T>().log_row);
  groups(lines, [&](int64_t line, int64_t n) { log_softmax_columns<T>(out, x, lines, line, n); });
}
void log_softmax(const Tensor& out, const Tensor& x, int64_t dim) {
  if (out.numel() == 0) return;
  out.dtype() == kDouble ? log_softmax_typed<double>(out, x, dim) : log_softmax_typed<float>(out, x, dim);
}

template <class T>
void backward_columns(const Tensor& dx, const Tensor& g, const Tensor& y, const Lines& lines, int64_t line, int64_t n) {
  alignas(64) T g_in[kColumns], y_in[kColumns], dot[kColumns], result[kColumns];
  auto at = lines.at(line);
  auto y_row = [&](int64_t i) {
    return columns(y_in, at.data[0] + i * lines.stride(0), y.dtype(), lines.across(0), n);
  };
  auto g_row = [&](int64_t i) {
    return columns(g_in, at.data[1] + i * lines.stride(1), g.dtype(), lines.across(1), n);
  };
  std::fill_n(dot, n, T(0));
  for (int64_t i = 0; i < lines.length(0); i++) {
    const T *ys = y_row(i), *gs = g_row(i);
    for (int64_t j = 0; j < n; j++) dot[j] += gs[j] * ys[j];
  }
  for (int64_t i = 0; i < lines.length(0); i++) {
    const T *ys = y_row(i), *gs = g_row(i);
    for (int64_t j = 0; j < n; j++) result[j] = (gs[j] - dot[j]) * ys[j];
    convert(at.data[2] + i * lines.stride(2), dx.dtype(), lines.across(2), result, dtype_of<T>, kItem<T>, n);
  }
}

template <class T, class F>
void backward_rows(const Tensor& dx, const Tensor& g, const Tensor& y, const Lines& lines, const F& f) {
  int64_t n = lines.length(0);
  parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    Row<T> y_row(y, lines, 0), g_row(g, lines, 1), dx_row(dx, lines, 2);
    for (int64_t i = begin; i < end; i++) {
      auto at = lines.at(i);
      f(dx_row.to_write(at.data[2]), g_row.read(at.data[1]), y_row.read(at.data[0]), n);
      dx_row.written(at.data[2]);
    }
  });
}
template <class T>
void backward_typed(const Tensor& dx, const Tensor& g, const Tensor& y, int64_t dim) {
  Lines lines({&y, &g, &dx}, dim);
  if (!side_by_side(lines)) return backward_rows<T>(dx, g, y, lines, softmax_inner<T>().backward_row);
  groups(lines, [&](int64_t line, int64_t n) { backward_columns<T>(dx, g, y, lines, line, n); });
}
void softmax_backward(const Tensor& dx, const Tensor& g, const Tensor& y, int64_t dim) {
  if (dx.numel() == 0) return;
  dx.dtype() == kDouble ? backward_typed<double>(dx, g, y, dim) : backward_typed<float>(dx, g, y, dim);
}

template <class T>
void log_backward_columns(const Tensor& dx, const Tensor& g, const Tensor& y, const Lines& lines, int64_t line,
                          int64_t n) {
  const SoftmaxInner<T>& inner = softmax_inner<T>();
  alignas(64) T g_in[kColumns], y_in[kColumns], sum[kColumns], result[kColumns], zero[kColumns], unused[kColumns];
  auto at = lines.at(line);
  auto g_row = [&](int64_t i) {
    return columns(g_in, at.data[1] + i * lines.stride(1), g.dtype(), lines.across(1), n);
  };
  for (T* start : {sum, zero, unused}) std::fill_n(start, n, T(0));
  for (int64_t i = 0; i < lines.length(0); i++) {
    const T* gs = g_row(i);
    for (int64_t j = 0; j < n; j++) sum[j] += gs[j];
  }
  for (int64_t i = 0; i < lines.length(0); i++) {
    const T* gs = g_row(i);
    const T* ys = columns(y_in, at.data[0] + i * lines.stride(0), y.dtype(), lines.across(0), n);
    inner.exp_columns(result, ys, zero, unused, n);
    for (int64_t j = 0; j < n; j++) result[j] = gs[j] - result[j] * sum[j];
    convert(at.data[2] + i * lines.stride(2), dx.dtype(), lines.across(2), result, dtype_of<T>, kItem<T>, n);
  }
}

template <class T>
void log_backward_typed(const Tensor& dx, const Tensor& g, const Tensor& y, int64_t dim) {
  Lines lines({&y, &g, &dx}, dim);
  if (!side_by_side(lines)) return backward_rows<T>(dx, g, y, lines, softmax_inner<T>().log_backward_row);
  groups(lines, [&](int64_t line, int64_t n) { log_backward_columns<T>(dx, g, y, lines, line, n); });
}
void log_softmax_backward(const Tensor& dx, const Tensor& g, const Tensor& y, int64_t dim) {
  if (dx.numel() == 0) return;
  dx.dtype() == kDouble ? log_backward_typed<double>(dx, g, y, dim) : log_backward_typed<float>(dx, g, y, dim);
}

[[maybe_unused]] const bool registered =
    softmax_kernel.set(kCPU, softmax) && softmax_backward_kernel.set(kCPU, softmax_backward) &&
    log_softmax_kernel.set(kCPU, log_softmax) && log_softmax_backward_kernel.set(kCPU, log_softmax_backward);

}  // namespace
}  // namespace cresset::cpu
