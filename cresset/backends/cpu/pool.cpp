// CPU kernels of ops/pool, the maxima. They run along the rows of a plane, or along the channels where these lie side
// by side, and keep PyTorch's order: the first of equals wins, the last of nans. Half types go through float and
// integers through int64; both hold their values exactly.
#include "cresset/ops/pool.h"

#include <algorithm>
#include <limits>

#include "cresset/backends/cpu/pool_grid.h"
#include "cresset/core/error.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {

Grid::Grid(const Tensor& t, int64_t rank) : data(static_cast<char*>(t.impl()->data())), dtype(t.dtype()) {
  const int dims = t.impl()->sizes.rank(), lead = dims - static_cast<int>(rank);
  for (int d = 0; d < dims; d++) {
    const int to = d < lead ? 2 - lead + d : 5 - dims + d;
    size[to] = t.impl()->sizes[d];
    stride[to] = t.impl()->strides[d];
  }
}

Spans regular_spans(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                    bool count_include_pad) {
  Spans spans{{}, dilation, true, -padding, stride, kernel};
  for (int64_t o = 0; o < out; o++) {
    int64_t begin = o * stride - padding, end = begin + (kernel - 1) * dilation + 1;
    const int64_t whole = std::min(end, in + padding) - begin;
    if (begin < 0) begin += (-begin + dilation - 1) / dilation * dilation;
    end = std::min(end, in);
    if (begin >= in) begin = end = in - 1;  // nothing inside; what is left must still be a position
    spans.of.push_back({begin, end, count_include_pad ? whole : end - begin});
  }
  return spans;
}
Spans adaptive_spans(int64_t in, int64_t out) {
  Spans spans;
  for (int64_t o = 0; o < out; o++) {
    const int64_t begin = o * in / out, end = ((o + 1) * in + out - 1) / out;
    spans.of.push_back({begin, end, end - begin});
  }
  return spans;
}
Spans fractional_spans(int64_t in, int64_t out, int64_t kernel, double sample) {
  Spans spans;
  const double alpha = out > 1 ? static_cast<double>(in - kernel) / static_cast<double>(out - 1) : 0;
  for (int64_t o = 0; o < out; o++) {
    int64_t begin =
        static_cast<int64_t>((static_cast<double>(o) + sample) * alpha) - static_cast<int64_t>(sample * alpha);
    if (o == out - 1) begin = in - kernel;
    spans.of.push_back({begin, begin + kernel, kernel});
  }
  return spans;
}
std::vector<Span> holders(const Spans& spans, int64_t in) {
  std::vector<Span> held(static_cast<size_t>(in), Span{0, 0, 0});
  for (int64_t o = 0; o < static_cast<int64_t>(spans.of.size()); o++)
    for (int64_t i = spans.of[static_cast<size_t>(o)].begin; i < spans.of[static_cast<size_t>(o)].end; i++) {
      Span& span = held[static_cast<size_t>(i)];
      if (span.begin == span.end) span.begin = o;
      span.end = o + 1;
    }
  return held;
}

namespace {

constexpr int64_t kThreadWork = 16384;  // inputs seen that pay for a thread

template <class F>
void with_compute_type(DType dtype, const F& f) {
  if (dtype == kDouble) return f(double());
  if (is_integral(dtype, false)) return f(int64_t());
  f(float());
}

template <class T>
T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}

// Indices of the width of T, so that comparing and choosing go in the same vectors.
template <class T>
using IndexOf = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <class T, int Step>
void take_largest_by(T* best, IndexOf<T>* index, const T* x, int64_t step, int64_t n, IndexOf<T> first,
                     IndexOf<T> index_step) {
  if (Step != 0) step = Step;
  for (int64_t j = 0; j < n; j++) {
    const T v = x[j * step];
    const bool better = (v > best[j]) | (v != v);
    best[j] = better ? v : best[j];
    index[j] = better ? static_cast<IndexOf<T>>(first + static_cast<IndexOf<T>>(j) * index_step) : index[j];
  }
}
template <class T>
void take_largest(T* best, IndexOf<T>* index, const T* x, int64_t step, int64_t n, IndexOf<T> first,
                  IndexOf<T> index_step) {
  if (step == 1) return take_largest_by<T, 1>(best, index, x, 1, n, first, index_step);
  if (step == 2) return take_largest_by<T, 2>(best, index, x, 2, n, first, index_step);
  take_largest_by<T, 0>(best, index, x, step, n, first, index_step);
}

// The windows of one plane, or of all.
struct Windows {
  Spans depth, height, width;
};

template <class T>
class MaxPool {
 public:
  MaxPool(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t rank)
      : values_(values, rank),
        x_(x, rank),
        indices_(indices.defined() ? indices : values, rank),
        with_indices_(indices.defined()) {
    CRESSET_CHECK_AS(ShapeError, sizeof(T) == 8 || x_.positions() <= std::numeric_limits<int32_t>::max(),
                     "max_pool: found planes of ", x_.positions(), " positions (expected at most 2147483647)");
  }

  void run(const Windows& w) {
    if (x_.channels_inside() && values_.stride[1] == 1) return along_channels(w);
    const int64_t work = 1 + inputs_seen(w) * values_.size[4];
    parallel_for(0, values_.rows(), std::max<int64_t>(1, kThreadWork / work), [&](int64_t first, int64_t last) {
      Buffers buffers(std::max(x_.size[4], values_.size[4]));
      for (int64_t i = first; i < last; i++) row(w, i, buffers);
    });
  }
  // One plane with windows of its own.
  void run_plane(const Windows& w, int64_t plane) {
    const int64_t rows = values_.size[2] * values_.size[3];
    Buffers buffers(std::max(x_.size[4], values_.size[4]));
    for (int64_t i = plane * rows; i < (plane + 1) * rows; i++) row(w, i, buffers);
  }

 private:
  struct Buffers {
    explicit Buffers(int64_t n)
        : in(static_cast<size_t>(n)), best(static_cast<size_t>(n)), index(static_cast<size_t>(n)) {}
    std::vector<T> in, best;
    std::vector<IndexOf<T>> index;
  };
  static int64_t inputs_seen(const Windows& w) {
    int64_t seen = 1;
    for (const Spans* spans : {&w.depth, &w.height, &w.width})
      if (!spans->of.empty()) seen *= (spans->of[0].end - spans->of[0].begin) / spans->step + 1;
    return seen;
  }
  IndexOf<T> flat(int64_t d, int64_t h, int64_t w) const {
    return static_cast<IndexOf<T>>((d * x_.size[3] + h) * x_.size[4] + w);
  }

  void row(const Windows& w, int64_t i, Buffers& buffers) const {
    const int64_t width = values_.size[4], oh = i % values_.size[3], od = i / values_.size[3] % values_.size[2],
                  plane = i / (values_.size[3] * values_.size[2]), n = plane / x_.size[1], c = plane % x_.size[1];
    const Span &depth = w.depth.of[static_cast<size_t>(od)], &height = w.height.of[static_cast<size_t>(oh)];
    T* best = buffers.best.data();
    IndexOf<T>* index = buffers.index.data();
    for (int64_t j = 0; j < width; j++) {
      best[j] = lowest<T>();
      index[j] = flat(depth.begin, height.begin, w.width.of[static_cast<size_t>(j)].begin);
    }
    for (int64_t d = depth.begin; d < depth.end; d += w.depth.step)
      for (int64_t h = height.begin; h < height.end; h += w.height.step) {
        const T* in = read_run(x_.at(n, c, d, h, 0), x_.dtype, x_.bytes(4), x_.size[4], buffers.in.data());
        w.width.regular ? regular_row(w.width, in, flat(d, h, 0), best, index)
                        : irregular_row(w.width, in, flat(d, h, 0), best, index);
      }
    write_run(values_.at(n, c, od, oh, 0), values_.dtype, values_.bytes(4), width, best);
    if (with_indices_) write_run(indices_.at(n, c, od, oh, 0), kLong, indices_.bytes(4), width, index);
  }
  void regular_row(const Spans& spans, const T* in, IndexOf<T> start, T* best, IndexOf<T>* index) const {
    const int64_t width = values_.size[4];
    for (int64_t k = 0; k < spans.taps; k++) {
      const int64_t from = spans.first + k * spans.step, step = spans.stride;
      const int64_t begin = from < 0 ? (-from + step - 1) / step : 0;
      const int64_t end = from >= x_.size[4] ? 0 : std::min(width, (x_.size[4] - from + step - 1) / step);
      if (begin >= end) continue;
      const int64_t at = from + begin * step;
      take_largest(best + begin, index + begin, in + at, step, end - begin, static_cast<IndexOf<T>>(start + at),
                   static_cast<IndexOf<T>>(step));
    }
  }
  void irregular_row(const Spans& spans, const T* in, IndexOf<T> start, T* best, IndexOf<T>* index) const {
    for (int64_t j = 0; j < values_.size[4]; j++) {
      const Span& span = spans.of[static_cast<size_t>(j)];
      for (int64_t i = span.begin; i < span.end; i++)
        if (in[i] > best[j] || in[i] != in[i]) {
          best[j] = in[i];
          index[j] = static_cast<IndexOf<T>>(start + i);
        }
    }
  }

  void along_channels(const Windows& w) const {
    const int64_t channels = x_.size[1], width = values_.size[4];
    const int64_t all = values_.size[0] * values_.positions(), work = 1 + inputs_seen(w) * channels;
    parallel_for(0, all, std::max<int64_t>(1, kThreadWork / work), [&](int64_t first, int64_t last) {
      Buffers buffers(channels);
      T* best = buffers.best.data();
      IndexOf<T>* index = buffers.index.data();
      for (int64_t i = first; i < last; i++) {
        const int64_t ow = i % width, oh = i / width % values_.size[3], rest = i / (width * values_.size[3]),
                      od = rest % values_.size[2], n = rest / values_.size[2];
        const Span &depth = w.depth.of[static_cast<size_t>(od)], &height = w.height.of[static_cast<size_t>(oh)],
                   &across = w.width.of[static_cast<size_t>(ow)];
        std::fill_n(best, channels, lowest<T>());
        std::fill_n(index, channels, flat(depth.begin, height.begin, across.begin));
        for (int64_t d = depth.begin; d < depth.end; d += w.depth.step)
          for (int64_t h = height.begin; h < height.end; h += w.height.step)
            for (int64_t j = across.begin; j < across.end; j += w.width.step)
              take_largest(best, index,
                           read_run(x_.at(n, 0, d, h, j), x_.dtype, x_.bytes(1), channels, buffers.in.data()), 1,
                           channels, flat(d, h, j), 0);
        write_run(values_.at(n, 0, od, oh, ow), values_.dtype, values_.bytes(1), channels, best);
        if (with_indices_) write_run(indices_.at(n, 0, od, oh, ow), kLong, indices_.bytes(1), channels, index);
      }
    });
  }

  Grid values_, x_, indices_;
  bool with_indices_;
};

void max_pool(const Tensor& values, const Tensor& indices, const Tensor& x, IntArrayRef kernel_size, IntArrayRef stride,
              IntArrayRef padding, IntArrayRef dilation) {
  if (values.numel() == 0) return;
  const auto rank = static_cast<int64_t>(kernel_size.size());
  auto spans = [&](int64_t from_end) {
    if (from_end > rank) return regular_spans(1, 1, 1, 1, 0, 1, false);
    const auto d = static_cast<size_t>(rank - from_end);
    return regular_spans(x.size(-from_end), values.size(-from_end), kernel_size[d], stride[d], padding[d], dilation[d],
                         false);
  };
  const Windows windows{spans(3), spans(2), spans(1)};
  with_compute_type(x.dtype(), [&](auto zero) { MaxPool<decltype(zero)>(values, indices, x, rank).run(windows); });
}

void adaptive_max_pool(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t rank) {
  if (values.numel() == 0) return;
  auto spans = [&](int64_t from_end) {
    return from_end > rank ? adaptive_spans(1, 1) : adaptive_spans(x.size(-from_end), values.size(-from_end));
  };
  const Windows windows{spans(3), spans(2), spans(1)};
  with_compute_type(x.dtype(), [&](auto zero) { MaxPool<decltype(zero)>(values, indices, x, rank).run(windows); });
}

// The samples of a plane stand for width and height, but for depth, height and width where there are three.
void fractional_max_pool(const Tensor& values, const Tensor& indices, const Tensor& x, const Tensor& samples,
                         IntArrayRef kernel_size) {
  if (values.numel() == 0) return;
  const auto rank = static_cast<int64_t>(kernel_size.size());
  const int64_t channels = x.size(-rank - 1), planes = channels * (x.dim() == rank + 2 ? x.size(0) : 1);
  const auto* data = static_cast<const char*>(samples.impl()->data());
  const auto item = static_cast<int64_t>(element_size(samples.dtype()));
  auto sample = [&](int64_t plane, int64_t which) {
    double value = 0;
    const int64_t at =
        plane / channels * samples.stride(0) + plane % channels * samples.stride(1) + which * samples.stride(2);
    convert(&value, kDouble, 8, data + at * item, samples.dtype(), item, 1);
    return value;
  };
  auto spans = [&](int64_t plane, int64_t from_end) {
    if (from_end > rank) return adaptive_spans(1, 1);
    return fractional_spans(x.size(-from_end), values.size(-from_end),
                            kernel_size[static_cast<size_t>(rank - from_end)],
                            sample(plane, rank == 2 ? from_end - 1 : 3 - from_end));
  };
  with_compute_type(x.dtype(), [&](auto zero) {
    MaxPool<decltype(zero)> pool(values, indices, x, rank);
    parallel_for(0, planes, 1, [&](int64_t first, int64_t last) {
      for (int64_t plane = first; plane < last; plane++)
        pool.run_plane({spans(plane, 3), spans(plane, 2), spans(plane, 1)}, plane);
    });
  });
}

[[maybe_unused]] const bool registered = max_pool_kernel.set(kCPU, max_pool) &&
                                         adaptive_max_pool_kernel.set(kCPU, adaptive_max_pool) &&
                                         fractional_max_pool_kernel.set(kCPU, fractional_max_pool);

}  // namespace
}  // namespace cresset::cpu
