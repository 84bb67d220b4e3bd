// CPU kernels of ops/scan. Lines that lie side by side are scanned together. A contiguous line of numbers is cut into
// pieces whose sums are known first: then pieces run on several threads, and eight parts of each at once, since a
// single chain of additions waits for each of them. How it is cut depends on the length alone.
#include "cresset/ops/scan.h"

#include <cmath>
#include <memory>

#include "cresset/backends/cpu/reduce_lines.h"
#include "cresset/backends/cpu/scan_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 8192;
constexpr int64_t kWide = 64;  // lines scanned together

template <class T>
using Compared = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
// What sums and products are kept in.
template <class T>
using State = std::conditional_t<is_complex(dtype_of<T>), std::complex<double>,
                                 std::conditional_t<is_floating_point(dtype_of<T>), double,
                                                    std::conditional_t<std::is_same_v<T, bool>, bool, uint64_t>>>;

template <class T>
State<T> widened(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(x);
  else
    return static_cast<State<T>>(x);
}
template <class T>
T narrowed(State<T> x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<T>(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

// One line, and several that lie side by side.
template <int Tensors, class S, class Step>
void scan_line(const Lines& lines, const Lines::At& at, bool reverse, S state, const Step& step) {
  const int64_t n = lines.length(0);
  char* place[Tensors];
  int64_t stride[Tensors];
  for (int t = 0; t < Tensors; t++) {
    stride[t] = reverse ? -lines.stride(t) : lines.stride(t);
    place[t] = at.data[t] + (reverse ? (n - 1) * lines.stride(t) : 0);
  }
  for (int64_t i = 0; i < n; i++) {
    step(state, place, i, reverse ? n - 1 - i : i);
    for (int t = 0; t < Tensors; t++) place[t] += stride[t];
  }
}
template <int Tensors, class S, class Step>
void scan_together(const Lines& lines, const Lines::At& at, int64_t count, bool reverse, S* state, const S& first,
                   const Step& step) {
  const int64_t n = lines.length(0);
  std::fill_n(state, count, first);
  for (int64_t i = 0; i < n; i++) {
    int64_t k = reverse ? n - 1 - i : i;
    char* place[Tensors];
    for (int t = 0; t < Tensors; t++) place[t] = at.data[t] + k * lines.stride(t);
    for (int64_t j = 0; j < count; j++) {
      step(state[j], place, i, k);
      for (int t = 0; t < Tensors; t++) place[t] += lines.across(t);
    }
  }
}

// Calls step(state, places, k) for each element of each line, in order; places are those of element k in every tensor.
template <int Tensors, class S, class Step>
void scan_lines(const Lines& lines, bool reverse, const S& first, const Step& step) {
  int64_t n = lines.length(0);
  bool wide = lines.width() > 1 && std::abs(lines.across(0)) < std::abs(lines.stride(0));
  parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    S state[kWide];
    for (int64_t line = begin; line < end;) {
      int64_t count = wide ? std::min({kWide, end - line, lines.width() - line % lines.width()}) : 1;
      auto at = lines.at(line);
      if (count == 1)
        scan_line<Tensors>(lines, at, reverse, first, step);
      else
        scan_together<Tensors>(lines, at, count, reverse, state, first, step);
      line += count;
    }
  });
}

template <class T>
T& element(char* place) {
  return *reinterpret_cast<T*>(place);
}

// ---- cumsum
// Eight parts that are not a multiple of a page apart: they would fight for the same places in the cache.
constexpr int64_t kScanPiece = 8 * 2064;
constexpr int64_t kShortest = 512;  // below, one chain is as good

template <class T>
void scan_row(T* y, const T* x, int64_t n, bool on_threads) {
  const ScanInner<T>& inner = scan_inner<T>();
  int64_t pieces = (n + kScanPiece - 1) / kScanPiece;
  std::unique_ptr<double[]> before(new double[static_cast<size_t>(pieces)]);
  auto each = [&](const auto& f) {
    if (on_threads) return parallel_for(0, pieces, 2, f);
    f(0, pieces);
  };
  each([&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      before[static_cast<size_t>(i)] = inner.sum(x + i * kScanPiece, std::min(kScanPiece, n - i * kScanPiece));
  });
  double total = 0;
  for (int64_t i = 0; i < pieces; i++) {
    double mine = before[static_cast<size_t>(i)];
    before[static_cast<size_t>(i)] = total;
    total += mine;
  }
  each([&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      inner.scan(y + i * kScanPiece, x + i * kScanPiece, std::min(kScanPiece, n - i * kScanPiece),
                 before[static_cast<size_t>(i)]);
  });
}

// Rows of many columns, all contiguous.
template <class T>
void scan_columns(const Lines& lines, bool reverse) {
  int64_t n = lines.length(0);
  parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    alignas(64) double state[256];
    for (int64_t line = begin; line < end;) {
      int64_t count = std::min<int64_t>({256, end - line, lines.width() - line % lines.width()});
      std::fill_n(state, count, 0.0);
      auto at = lines.at(line);
      for (int64_t i = 0; i < n; i++) {
        int64_t k = reverse ? n - 1 - i : i;
        const T* x = reinterpret_cast<const T*>(at.data[0] + k * lines.stride(0));
        T* y = reinterpret_cast<T*>(at.data[1] + k * lines.stride(1));
        for (int64_t j = 0; j < count; j++) {
          state[j] += x[j];
          y[j] = static_cast<T>(state[j]);
        }
      }
      line += count;
    }
  });
}

template <class T>
bool cumsum_fast(const Lines& lines, bool reverse) {
  int64_t n = lines.length(0);
  if (!reverse && lines.stride(0) == kItem<T> && lines.stride(1) == kItem<T> && n >= kShortest) {
    auto rows = [&](int64_t begin, int64_t end, bool on_threads) {
      for (int64_t line = begin; line < end; line++) {
        auto at = lines.at(line);
        scan_row(reinterpret_cast<T*>(at.data[1]), reinterpret_cast<const T*>(at.data[0]), n, on_threads);
      }
    };
    if (lines.count < 4 && n > 2 * kScanPiece)
      rows(0, lines.count, true);
    else
      parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n),
                   [&](int64_t begin, int64_t end) { rows(begin, end, false); });
    return true;
  }
  if (lines.width() < 8 || lines.across(0) != kItem<T> || lines.across(1) != kItem<T>) return false;
  scan_columns<T>(lines, reverse);
  return true;
}

void cumsum(const Tensor& out, const Tensor& x, int64_t dim, bool reverse) {
  if (out.numel() == 0) return;
  Lines lines({&x, &out}, dim);
  dispatch(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_floating_point_v<T>)
      if (cumsum_fast<T>(lines, reverse)) return;
    scan_lines<2>(lines, reverse, State<T>(0), [](State<T>& state, char* const* at, int64_t, int64_t) {
      if constexpr (std::is_same_v<T, bool>)
        state = state || element<T>(at[0]);
      else
        state += widened(element<T>(at[0]));
      element<T>(at[1]) = narrowed<T>(state);
    });
  });
}

void cumprod(const Tensor& out, const Tensor& x, int64_t dim, bool reverse) {
  if (out.numel() == 0) return;
  Lines lines({&x, &out}, dim);
  dispatch(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    scan_lines<2>(lines, reverse, State<T>(1), [](State<T>& state, char* const* at, int64_t, int64_t) {
      if constexpr (std::is_same_v<T, bool>)
        state = state && element<T>(at[0]);
      else
        state *= widened(element<T>(at[0]));
      element<T>(at[1]) = narrowed<T>(state);
    });
  });
}

// ---- in floating types
template <class F>
void dispatch_floats(DType dtype, const F& f) {
  dispatch(dtype, [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_differentiable(dtype_of<T>)) f(p);
  });
}

void logcumsumexp(const Tensor& out, const Tensor& x, int64_t dim, bool reverse) {
  if (out.numel() == 0) return;
  Lines lines({&x, &out}, dim);
  dispatch_floats(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!is_complex(dtype_of<T>))
      scan_lines<2>(lines, reverse, -std::numeric_limits<double>::infinity(),
                    [](double& state, char* const* at, int64_t, int64_t) {
                      double v = widened(element<T>(at[0])), low = std::min(v, state), high = std::max(v, state);
                      if (std::isnan(v) || std::isnan(state))
                        state = std::numeric_limits<double>::quiet_NaN();
                      else if (low != high || std::isfinite(low))
                        state = high + std::log1p(std::exp(low - high));
                      else
                        state = high;
                      element<T>(at[1]) = narrowed<T>(state);
                    });
  });
}

void linear_scan(const Tensor& out, const Tensor& a, const Tensor& b, int64_t dim, bool reverse) {
  if (out.numel() == 0) return;
  Lines lines({&b, &a, &out}, dim);
  dispatch_floats(out.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    scan_lines<3>(lines, reverse, State<T>(0), [](State<T>& state, char* const* at, int64_t i, int64_t) {
      State<T> rest = i == 0 ? State<T>(0) : widened(element<T>(at[1])) * state;
      state = widened(element<T>(at[0])) + rest;
      element<T>(at[2]) = narrowed<T>(state);
    });
  });
}

// ---- maxima and minima so far
template <class T>
struct Best {
  Compared<T> value;
  int64_t place;
};
void cummax(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim, bool smallest) {
  if (values.numel() == 0) return;
  Lines lines({&x, &values, &indices}, dim);
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!is_complex(dtype_of<T>))
      scan_lines<3>(lines, false, Best<T>{}, [smallest](Best<T>& best, char* const* at, int64_t i, int64_t k) {
        Compared<T> v = static_cast<Compared<T>>(element<T>(at[0]));
        bool wins = smallest ? v <= best.value : v >= best.value;
        if (i == 0 || wins || v != v) best = {v, k};
        element<T>(at[1]) = static_cast<T>(best.value);
        element<int64_t>(at[2]) = best.place;
      });
  });
}

[[maybe_unused]] const bool registered = cumsum_kernel.set(kCPU, cumsum) && cumprod_kernel.set(kCPU, cumprod) &&
                                         logcumsumexp_kernel.set(kCPU, logcumsumexp) &&
                                         linear_scan_kernel.set(kCPU, linear_scan) && cummax_kernel.set(kCPU, cummax);

}  // namespace
}  // namespace cresset::cpu
