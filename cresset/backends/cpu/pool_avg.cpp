// CPU kernels of ops/pool, the means. A divisor is a product of the window's lengths, so that windows are added up one
// direction at a time: rows first, which is plain additions side by side. The adjoint is the same with the windows that
// hold an input in place of the inputs that a window holds; nothing is scattered.
#include <algorithm>

#include "cresset/backends/cpu/pool_grid.h"
#include "cresset/backends/cpu/pool_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/pool.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kThreadWork = 16384;

// What is added up for each result along one direction, and by what each addend, or the sum, is divided.
struct Direction {
  std::vector<Span> sums;        // for each result: its addends
  std::vector<Span> windows;     // for each window: what it holds
  std::vector<int64_t> divisor;  // of each result (forward) or each addend (backward)
};
struct Directions {
  Direction depth, height, width;
};

Direction forward_direction(const Spans& spans) {
  Direction direction{spans.of, spans.of, {}};
  for (const Span& span : spans.of) direction.divisor.push_back(span.divisor);
  return direction;
}
Direction backward_direction(const Spans& spans, int64_t in) {
  Direction direction{holders(spans, in), spans.of, {}};
  for (const Span& span : spans.of) direction.divisor.push_back(span.divisor);
  return direction;
}

enum class Divide : uint8_t { sums, addends };

template <class T>
class MeanPool {
 public:
  // divisor: 0, or in place of the windows' own.
  MeanPool(const Tensor& y, const Tensor& x, int64_t rank, const Directions& directions, int64_t divisor)
      : y_(y, rank), x_(x, rank), at_(directions), divisor_(divisor), simd_(pool_inner()) {
    for (const Span& window : directions.width.windows) held_ += window.end - window.begin;
  }

  template <Divide divide>
  void run() const {
    if (x_.channels_inside() && y_.stride[1] == 1) return along_channels<divide>();
    const int64_t work = 1 + addends() * y_.size[4];
    parallel_for(0, y_.rows(), std::max<int64_t>(1, kThreadWork / work), [&](int64_t first, int64_t last) {
      std::vector<T> in(static_cast<size_t>(x_.size[4])), sums(in.size()), out(static_cast<size_t>(y_.size[4]));
      for (int64_t i = first; i < last; i++) row<divide>(i, in.data(), sums.data(), out.data());
    });
  }

 private:
  int64_t addends() const {
    int64_t count = 1;
    for (const Direction* d : {&at_.depth, &at_.height, &at_.width})
      if (!d->sums.empty()) count *= 1 + d->sums[0].end - d->sums[0].begin;
    return count;
  }
  T by(int64_t d, int64_t h, int64_t w) const {
    if (divisor_ != 0) return static_cast<T>(divisor_);
    return static_cast<T>(at_.depth.divisor[static_cast<size_t>(d)] * at_.height.divisor[static_cast<size_t>(h)] *
                          at_.width.divisor[static_cast<size_t>(w)]);
  }

  template <Divide divide>
  void row(int64_t i, T* in, T* sums, T* out) const {
    const int64_t h = i % y_.size[3], d = i / y_.size[3] % y_.size[2], plane = i / (y_.size[3] * y_.size[2]),
                  n = plane / y_.size[1], c = plane % y_.size[1];
    const Span &depth = at_.depth.sums[static_cast<size_t>(d)], &height = at_.height.sums[static_cast<size_t>(h)];
    std::fill_n(sums, x_.size[4], T(0));
    for (int64_t k = depth.begin; k < depth.end; k++)
      for (int64_t l = height.begin; l < height.end; l++) {
        const T* from = read_run(x_.at(n, c, k, l, 0), x_.dtype, x_.bytes(4), x_.size[4], in);
        if constexpr (divide == Divide::sums)
          add(sums, from, x_.size[4]);
        else
          for (int64_t j = 0; j < x_.size[4]; j++) sums[j] += from[j] / by(k, l, j);
      }
    const bool plain = y_.dtype == dtype_of<T> && y_.stride[4] == 1;
    if (plain) out = reinterpret_cast<T*>(y_.at(n, c, d, h, 0));
    if constexpr (divide == Divide::addends)
      held_ > y_.size[4] + x_.size[4] ? gather_row(sums, out) : spread_row(sums, out);
    else
      mean_row(d, h, depth.begin < depth.end && height.begin < height.end, sums, out);
    if (!plain) write_run(y_.at(n, c, d, h, 0), y_.dtype, y_.bytes(4), y_.size[4], out);
  }

  void mean_row(int64_t d, int64_t h, bool any, const T* sums, T* out) const {
    for (int64_t j = 0; j < y_.size[4]; j++) {
      const Span across = at_.width.sums[static_cast<size_t>(j)];
      T sum = 0;
      for (int64_t k = across.begin; k < across.end; k++) sum += sums[k];
      out[j] = any && across.begin < across.end ? sum / by(d, h, j) : sum;
    }
  }
  // Window by window, where few overlap; otherwise each addition would wait for the last.
  void spread_row(const T* sums, T* out) const {
    std::fill_n(out, y_.size[4], T(0));
    for (int64_t k = 0; k < x_.size[4]; k++) {
      const Span window = at_.width.windows[static_cast<size_t>(k)];
      for (int64_t j = window.begin; j < window.end; j++) out[j] += sums[k];
    }
  }
  void gather_row(const T* sums, T* out) const {
    for (int64_t j = 0; j < y_.size[4]; j++) {
      const Span across = at_.width.sums[static_cast<size_t>(j)];
      T sum = 0;
      for (int64_t k = across.begin; k < across.end; k++) sum += sums[k];
      out[j] = sum;
    }
  }

  template <Divide divide>
  void along_channels() const {
    const int64_t channels = y_.size[1], width = y_.size[4];
    parallel_for(0, y_.size[0] * y_.positions(), std::max<int64_t>(1, kThreadWork / (1 + addends() * channels)),
                 [&](int64_t first, int64_t last) {
                   std::vector<T> in(static_cast<size_t>(channels)), sums(in.size());
                   for (int64_t i = first; i < last; i++) {
                     const int64_t rest = i / (width * y_.size[3]);
                     position<divide>(rest / y_.size[2], rest % y_.size[2], i / width % y_.size[3], i % width,
                                      in.data(), sums.data());
                   }
                 });
  }
  template <Divide divide>
  void position(int64_t n, int64_t d, int64_t h, int64_t w, T* in, T* sums) const {
    const int64_t channels = y_.size[1];
    const Span &depth = at_.depth.sums[static_cast<size_t>(d)], &height = at_.height.sums[static_cast<size_t>(h)],
               &across = at_.width.sums[static_cast<size_t>(w)];
    std::fill_n(sums, channels, T(0));
    bool any = false;
    for (int64_t k = depth.begin; k < depth.end; k++)
      for (int64_t l = height.begin; l < height.end; l++)
        for (int64_t m = across.begin; m < across.end; m++) {
          any = true;
          const T* from = read_run(x_.at(n, 0, k, l, m), x_.dtype, x_.bytes(1), channels, in);
          if constexpr (divide == Divide::sums)
            add(sums, from, channels);
          else
            add_divided(sums, from, by(k, l, m), channels);
        }
    if (divide == Divide::sums && any) {
      const T divisor = by(d, h, w);
      for (int64_t c = 0; c < channels; c++) sums[c] /= divisor;
    }
    write_run(y_.at(n, 0, d, h, w), y_.dtype, y_.bytes(1), channels, sums);
  }

  void add(T* sums, const T* x, int64_t n) const {
    if constexpr (std::is_same_v<T, float>)
      simd_.add(sums, x, n);
    else
      for (int64_t i = 0; i < n; i++) sums[i] += x[i];
  }
  void add_divided(T* sums, const T* x, T divisor, int64_t n) const {
    if constexpr (std::is_same_v<T, float>)
      simd_.add_divided(sums, x, divisor, n);
    else
      for (int64_t i = 0; i < n; i++) sums[i] += x[i] / divisor;
  }

  Grid y_, x_;
  const Directions& at_;
  int64_t divisor_;
  const PoolInner& simd_;
  int64_t held_ = 0;  // by the windows of a row together
};

template <Divide divide>
void run(const Tensor& y, const Tensor& x, int64_t rank, const Directions& directions, int64_t divisor) {
  if (x.dtype() == kDouble) return MeanPool<double>(y, x, rank, directions, divisor).template run<divide>();
  if (x.dtype() == kLong) return MeanPool<int64_t>(y, x, rank, directions, divisor).template run<divide>();
  MeanPool<float>(y, x, rank, directions, divisor).template run<divide>();
}

// spans(i, in, out): the windows along the direction that is i-th from the end.
template <class F>
void forward(const Tensor& y, const Tensor& x, int64_t rank, int64_t divisor, const F& spans) {
  if (y.numel() == 0) return;
  auto direction = [&](int64_t i) {
    return forward_direction(i > rank ? adaptive_spans(1, 1) : spans(i, x.size(-i), y.size(-i)));
  };
  run<Divide::sums>(y, x, rank, {direction(3), direction(2), direction(1)}, divisor);
}
template <class F>
void backward(const Tensor& dx, const Tensor& g, int64_t rank, int64_t divisor, const F& spans) {
  if (dx.numel() == 0) return;
  auto direction = [&](int64_t i) {
    if (i > rank) return backward_direction(adaptive_spans(1, 1), 1);
    return backward_direction(spans(i, dx.size(-i), g.size(-i)), dx.size(-i));
  };
  run<Divide::addends>(dx, g, rank, {direction(3), direction(2), direction(1)}, divisor);
}

auto windows(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool count_include_pad) {
  return [=](int64_t i, int64_t in, int64_t out) {
    const size_t d = kernel_size.size() - static_cast<size_t>(i);
    return regular_spans(in, out, kernel_size[d], stride[d], padding[d], 1, count_include_pad);
  };
}
Spans adaptive(int64_t, int64_t in, int64_t out) { return adaptive_spans(in, out); }

void avg_pool(const Tensor& y, const Tensor& x, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
              bool count_include_pad, int64_t divisor) {
  forward(y, x, static_cast<int64_t>(kernel_size.size()), divisor,
          windows(kernel_size, stride, padding, count_include_pad));
}
void avg_pool_backward(const Tensor& dx, const Tensor& g, IntArrayRef kernel_size, IntArrayRef stride,
                       IntArrayRef padding, bool count_include_pad, int64_t divisor) {
  backward(dx, g, static_cast<int64_t>(kernel_size.size()), divisor,
           windows(kernel_size, stride, padding, count_include_pad));
}
void adaptive_avg_pool(const Tensor& y, const Tensor& x, int64_t rank) { forward(y, x, rank, 0, adaptive); }
void adaptive_avg_pool_backward(const Tensor& dx, const Tensor& g, int64_t rank) { backward(dx, g, rank, 0, adaptive); }

[[maybe_unused]] const bool registered = avg_pool_kernel.set(kCPU, avg_pool) &&
                                         avg_pool_backward_kernel.set(kCPU, avg_pool_backward) &&
                                         adaptive_avg_pool_kernel.set(kCPU, adaptive_avg_pool) &&
                                         adaptive_avg_pool_backward_kernel.set(kCPU, adaptive_avg_pool_backward);

}  // namespace
}  // namespace cresset::cpu
