// CPU kernels of ops/norm that go row by row: layer_norm and rms_norm. Backward makes all gradients in one pass over
// memory: rows are dealt out in pieces that depend on the shape alone, each with its own sums for the weights.
#include "cresset/ops/norm.h"

#include <cmath>
#include <vector>

#include "cresset/backends/cpu/norm_simd.h"
#include "cresset/backends/cpu/slab.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 4096;

int64_t grain_of(int64_t n) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(n, 1)); }

// A weight as contiguous T, or null.
template <class T>
class Weight {
 public:
  explicit Weight(const Tensor& w) {
    if (!w.defined()) return;
    slab_.emplace(w, 0);
    data_ = slab_->read(0);
  }
  const T* get() const { return data_; }

 private:
  std::optional<Slab<T>> slab_;
  const T* data_ = nullptr;
};

template <class T>
T* numbers(const Tensor& x) {
  return static_cast<T*>(x.impl()->data());
}

// How many pieces the rows make: enough for many threads, as long as their sums stay small.
int64_t piece_count(int64_t rows, int64_t n) {
  const int64_t fit = std::clamp<int64_t>((1 << 20) / std::max<int64_t>(n, 1), 4, 64);
  return std::clamp<int64_t>(rows * n / 16384, 1, std::min(rows, fit));
}

// Calls f(piece's first row, its end, its dw, its db) and adds the pieces up, in order, into dw and db.
template <class T, class F>
void pieces(int64_t rows, int64_t n, const Tensor& dw, const Tensor& db, const F& f) {
  const int64_t count = piece_count(rows, n);
  const size_t each = static_cast<size_t>(n);
  std::vector<T> sums_w(dw.defined() ? each * static_cast<size_t>(count) : 0);
  std::vector<T> sums_b(db.defined() ? each * static_cast<size_t>(count) : 0);
  auto part = [&](std::vector<T>& sums, int64_t i) { return sums.empty() ? nullptr : sums.data() + i * n; };
  parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) f(rows * i / count, rows * (i + 1) / count, part(sums_w, i), part(sums_b, i));
  });
  auto finish = [&](const Tensor& to, std::vector<T>& sums) {
    if (!to.defined()) return;
    Slab<T> slab(to, 0);
    T* y = slab.to_write(0);
    parallel_for(0, n, std::max<int64_t>(1, kGrain / count), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; j++) {
        double total = 0;
        for (int64_t i = 0; i < count; i++) total += static_cast<double>(sums[static_cast<size_t>(i * n + j)]);
        y[j] = static_cast<T>(total);
      }
    });
    slab.written(0);
  };
  finish(dw, sums_w);
  finish(db, sums_b);
}

// ---- layer_norm
template <class T>
void layer_norm_typed(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, int64_t leading, double eps) {
  const NormInner<T>& inner = norm_inner<T>();
  const Weight<T> w(weight), b(bias);
  const int64_t rows = mean.numel(), n = x.numel() / rows;
  T *means = numbers<T>(mean), *scales = numbers<T>(rstd);
  parallel_for(0, rows, grain_of(n), [&](int64_t begin, int64_t end) {
    Slab<T> from(x, leading), to(y, leading);
    const bool stream = to.direct() && y.nbytes() >= kBeyondCache;
    for (int64_t i = begin; i < end; i++) {
      const T* row = from.read(i);
      double middle, squares;
      inner.moments(row, n, &middle, &squares);
      means[i] = static_cast<T>(middle);
      scales[i] = static_cast<T>(1 / std::sqrt(squares / static_cast<double>(n) + eps));
      inner.row(to.to_write(i), row, n, means[i], scales[i], w.get(), b.get(), stream);
      to.written(i);
    }
  });
}
void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& weight,
                const Tensor& bias, int64_t leading, double eps) {
  if (x.numel() == 0) return;
  auto typed = x.dtype() == kDouble ? &layer_norm_typed<double> : &layer_norm_typed<float>;
  typed(y, mean, rstd, x, weight, bias, leading, eps);
}

template <class T>
void layer_norm_backward_typed(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
                               const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t leading) {
  const NormInner<T>& inner = norm_inner<T>();
  const Weight<T> w(weight);
  const int64_t rows = mean.numel(), n = x.numel() / rows;
  const T *means = numbers<T>(mean), *scales = numbers<T>(rstd);
  pieces<T>(rows, n, dw, db, [&](int64_t begin, int64_t end, T* sum_w, T* sum_b) {
    Slab<T> from_g(g, leading), from_x(x, leading), to(dx, leading);
    for (int64_t i = begin; i < end; i++) {
      inner.row_backward(to.to_write(i), sum_w, sum_b, from_g.read(i), from_x.read(i), w.get(), n, means[i], scales[i]);
      to.written(i);
    }
  });
}
void zero_out(const Tensor& x) {
  if (x.defined() && x.numel()) std::memset(x.impl()->data(), 0, x.nbytes());
}
void layer_norm_backward(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
                         const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t leading) {
  if (x.numel() == 0) {
    zero_out(dw);
    zero_out(db);
    return;
  }
  auto typed = x.dtype() == kDouble ? &layer_norm_backward_typed<double> : &layer_norm_backward_typed<float>;
  typed(dx, dw, db, g, x, mean, rstd, weight, leading);
}

// ---- rms_norm
template <class T>
void rms_norm_typed(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& weight, int64_t leading,
                    double eps) {
  const NormInner<T>& inner = norm_inner<T>();
  const Weight<T> w(weight);
  const int64_t rows = rstd.numel(), n = x.numel() / rows;
  T* scales = numbers<T>(rstd);
  parallel_for(0, rows, grain_of(n), [&](int64_t begin, int64_t end) {
    Slab<T> from(x, leading), to(y, leading);
    const bool stream = to.direct() && y.nbytes() >= kBeyondCache;
    for (int64_t i = begin; i < end; i++) {
      const T* row = from.read(i);
      scales[i] = static_cast<T>(1 / std::sqrt(inner.squares(row, n) / static_cast<double>(n) + eps));
      inner.scale_row(to.to_write(i), row, n, scales[i], w.get(), stream);
      to.written(i);
    }
  });
}
void rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& weight, int64_t leading, double eps) {
  if (x.numel() == 0) return;
  auto typed = x.dtype() == kDouble ? &rms_norm_typed<double> : &rms_norm_typed<float>;
  typed(y, rstd, x, weight, leading, eps);
}

// dx = rstd * (gw - x * rstd^2 * mean(gw * x))
template <class T>
void rms_norm_backward_typed(const Tensor& dx, const Tensor& dw, const Tensor& g, const Tensor& x, const Tensor& rstd,
                             const Tensor& weight, int64_t leading) {
  const NormInner<T>& inner = norm_inner<T>();
  const Weight<T> w(weight);
  const int64_t rows = rstd.numel(), n = x.numel() / rows;
  const T* scales = numbers<T>(rstd);
  pieces<T>(rows, n, dw, Tensor(), [&](int64_t begin, int64_t end, T* sum_w, T*) {
    Slab<T> from_g(g, leading), from_x(x, leading), to(dx, leading);
    for (int64_t i = begin; i < end; i++) {
      const T *grad = from_g.read(i), *row = from_x.read(i);
      const double scale = static_cast<double>(scales[i]);
      const double dot = inner.weighted_dot(grad, row, w.get(), n);
      inner.scale_backward(to.to_write(i), sum_w, grad, row, w.get(), n, scales[i],
                           static_cast<T>(dot * scale * scale / static_cast<double>(n)));
      to.written(i);
    }
  });
}
void rms_norm_backward(const Tensor& dx, const Tensor& dw, const Tensor& g, const Tensor& x, const Tensor& rstd,
                       const Tensor& weight, int64_t leading) {
  if (x.numel() == 0) return zero_out(dw);
  auto typed = x.dtype() == kDouble ? &rms_norm_backward_typed<double> : &rms_norm_backward_typed<float>;
  typed(dx, dw, g, x, rstd, weight, leading);
}

[[maybe_unused]] const bool registered =
    layer_norm_kernel.set(kCPU, layer_norm) && layer_norm_backward_kernel.set(kCPU, layer_norm_backward) &&
    rms_norm_kernel.set(kCPU, rms_norm) && rms_norm_backward_kernel.set(kCPU, rms_norm_backward);

}  // namespace
}  // namespace cresset::cpu
