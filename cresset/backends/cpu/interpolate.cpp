// CPU kernels of ops/interpolate. Each dimension has a table: which positions of the input make up a position of the
// result, with what weights. Input rows are mixed first, then the positions along the row.
#include "cresset/ops/interpolate.h"

#include <array>
#include <cmath>
#include <vector>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

// Position o of the result is the sum of weight[i] * input[place[i]] for i from start[o] to start[o + 1].
template <class T>
struct Taps {
  std::vector<int64_t> start{0}, place;
  std::vector<T> weight;
  bool single = true;  // every position is one of the input's
  bool pairs = true;   // every position is made of two

  void add(int64_t at, T by) {
    place.push_back(at);
    weight.push_back(by);
  }
  void end() {
    const int64_t count = static_cast<int64_t>(place.size()) - start.back();
    single = single && count == 1 && weight.back() == T(1);
    pairs = pairs && count == 2;
    start.push_back(static_cast<int64_t>(place.size()));
  }
};

template <class T>
T step_of(int64_t from, int64_t to, bool align_corners, double factor) {
  if (align_corners) return to > 1 ? static_cast<T>(from - 1) / static_cast<T>(to - 1) : T(0);
  return factor > 0 ? static_cast<T>(1 / factor) : static_cast<T>(from) / static_cast<T>(to);
}

// Keys' cubic with a = -0.75, as PyTorch's; the smoothed one has a = -0.5, as image libraries do.
template <class T>
T cubic(T x, T a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

template <class T>
void add_smooth(Taps<T>& taps, int64_t o, int64_t from, T step, bool is_cubic) {
  const T wide = std::max(step, T(1)), reach = (is_cubic ? T(2) : T(1)) * wide,
          centre = step * (static_cast<T>(o) + T(0.5));
  const int64_t first = std::max<int64_t>(static_cast<int64_t>(centre - reach + T(0.5)), 0);
  const int64_t last = std::min<int64_t>(static_cast<int64_t>(centre + reach + T(0.5)), from);
  std::vector<T> weights;
  T total = 0;
  for (int64_t i = first; i < last; i++) {
    const T x = (static_cast<T>(i) - centre + T(0.5)) / wide;
    weights.push_back(is_cubic ? cubic(x, T(-0.5)) : std::max(T(1) - std::abs(x), T(0)));
    total += weights.back();
  }
  for (int64_t i = first; i < last; i++) taps.add(i, weights[static_cast<size_t>(i - first)] / total);
}

template <class T>
Taps<T> taps_of(Resampling how, int64_t from, int64_t to, bool align_corners, double factor) {
  Taps<T> taps;
  const T step = step_of<T>(from, to, align_corners, factor);
  const float coarse = step_of<float>(from, to, false, factor);  // nearest is always decided in float
  const int64_t most = from - 1;
  for (int64_t o = 0; o < to; o++, taps.end()) {
    if (how == Resampling::nearest || how == Resampling::nearest_exact) {
      const float at = (static_cast<float>(o) + (how == Resampling::nearest_exact ? 0.5F : 0.0F)) * coarse;
      taps.add(std::min(static_cast<int64_t>(std::floor(at)), most), T(1));
    } else if (how == Resampling::area) {
      const int64_t first = o * from / to, last = ((o + 1) * from + to - 1) / to;
      for (int64_t i = first; i < last; i++) taps.add(i, T(1) / static_cast<T>(last - first));
    } else if (how == Resampling::linear_smooth || how == Resampling::cubic_smooth) {
      add_smooth(taps, o, from, step, how == Resampling::cubic_smooth);
    } else {
      T at = align_corners ? step * static_cast<T>(o) : step * (static_cast<T>(o) + T(0.5)) - T(0.5);
      if (how == Resampling::linear && from == to) at = static_cast<T>(o);  // a copy, whatever the factor
      if (how == Resampling::linear) at = std::max(at, T(0));
      const T below = std::floor(at), rest = at - below;
      const int64_t first = static_cast<int64_t>(below);
      if (how == Resampling::linear) {
        taps.add(std::min(first, most), T(1) - rest);
        taps.add(std::min(first + 1, most), rest);
      } else {
        for (int64_t i = -1; i <= 2; i++)
          taps.add(std::clamp<int64_t>(first + i, 0, most), cubic(rest - static_cast<T>(i), T(-0.75)));
      }
    }
  }
  return taps;
}

// [batch, channels, ..] as planes of depth, height, width.
struct Volume {
  char* data;
  DType dtype;
  int64_t item, batch, channels, batch_stride, channel_stride;
  std::array<int64_t, 3> size{1, 1, 1}, stride{0, 0, 0};

  explicit Volume(const Tensor& x) : data(static_cast<char*>(x.impl()->data())), dtype(x.dtype()) {
    const Dims &sizes = x.impl()->sizes, &strides = x.impl()->strides;
    item = static_cast<int64_t>(element_size(dtype));
    batch = sizes[0];
    channels = sizes[1];
    batch_stride = strides[0] * item;
    channel_stride = strides[1] * item;
    const int rank = sizes.rank() - 2;
    for (int i = 0; i < rank; i++) {
      const auto axis = static_cast<size_t>(i) + 3 - static_cast<size_t>(rank);
      size[axis] = sizes[2 + i];
      stride[axis] = strides[2 + i] * item;
    }
  }
  char* row(int64_t plane, int64_t d, int64_t h) const {
    return data + plane / channels * batch_stride + plane % channels * channel_stride + d * stride[0] + h * stride[1];
  }
  template <class T>
  bool direct() const {
    return dtype == dtype_of<T> && (stride[2] == item || size[2] == 1);
  }
  template <class T>
  const T* read(const char* at, T* buffer) const {
    if (direct<T>()) return reinterpret_cast<const T*>(at);
    convert(buffer, dtype_of<T>, sizeof(T), at, dtype, stride[2], size[2]);
    return buffer;
  }
};

template <class T>
struct Tables {
  std::array<Taps<T>, 3> taps;
  Tables(Resampling how, bool align, const Volume& from, const Volume& to, const std::array<double, 3>& factors) {
    for (size_t i = 0; i < 3; i++)
      taps[i] = from.size[i] == 1 && to.size[i] == 1 ? taps_of<T>(Resampling::nearest, 1, 1, false, 0)
                                                     : taps_of<T>(how, from.size[i], to.size[i], align, factors[i]);
  }
};

template <class T>
void forward_typed(const Tensor& out, const Tensor& x, Resampling how, bool align,
                   const std::array<double, 3>& factors) {
  const Volume from(x), to(out);
  const Tables<T> tables(how, align, from, to, factors);
  const Taps<T>&depth = tables.taps[0], &height = tables.taps[1], &width = tables.taps[2];
  const int64_t rows = to.size[0] * to.size[1], wide = to.size[2], narrow = from.size[2];
  parallel_for(0, to.batch * to.channels * rows, std::max<int64_t>(1, 4096 / wide), [&](int64_t begin, int64_t end) {
    std::vector<T> in(static_cast<size_t>(narrow)), mixed(in), result(static_cast<size_t>(wide));
    for (int64_t i = begin; i < end; i++) {
      const int64_t plane = i / rows, d = i % rows / to.size[1], h = i % to.size[1];
      const size_t first_d = static_cast<size_t>(depth.start[static_cast<size_t>(d)]);
      const size_t first_h = static_cast<size_t>(height.start[static_cast<size_t>(h)]);
      const size_t last_d = static_cast<size_t>(depth.start[static_cast<size_t>(d + 1)]);
      const size_t last_h = static_cast<size_t>(height.start[static_cast<size_t>(h + 1)]);
      const T* line = nullptr;
      if (last_d - first_d == 1 && last_h - first_h == 2 && from.direct<T>()) {
        const T* one = from.read(from.row(plane, depth.place[first_d], height.place[first_h]), in.data());
        const T* two = from.read(from.row(plane, depth.place[first_d], height.place[first_h + 1]), in.data());
        const T by = height.weight[first_h] * depth.weight[first_d],
                rest = height.weight[first_h + 1] * depth.weight[first_d];
        T* sum = mixed.data();
        for (int64_t w = 0; w < narrow; w++) sum[w] = one[w] * by + two[w] * rest;
        line = sum;
      }
      for (size_t a = first_d; a < last_d && line != mixed.data(); a++)
        for (size_t b = first_h; b < last_h; b++) {
          const T* one = from.read(from.row(plane, depth.place[a], height.place[b]), in.data());
          const T by = depth.weight[a] * height.weight[b];
          T* sum = mixed.data();
          if (last_d - first_d == 1 && last_h - first_h == 1 && by == T(1)) {
            line = one;
          } else if (a == first_d && b == first_h) {
            for (int64_t w = 0; w < narrow; w++) sum[w] = one[w] * by;
          } else {
            for (int64_t w = 0; w < narrow; w++) sum[w] += one[w] * by;
          }
        }
      if (!line) line = mixed.data();
      char* at = to.row(plane, d, h);
      T* y = to.direct<T>() ? reinterpret_cast<T*>(at) : result.data();
      if (width.single) {
        for (int64_t w = 0; w < wide; w++) y[w] = line[width.place[static_cast<size_t>(w)]];
      } else if (width.pairs) {
        const int64_t* place = width.place.data();
        const T* weight = width.weight.data();
        for (int64_t w = 0; w < wide; w++)
          y[w] = line[place[2 * w]] * weight[2 * w] + line[place[2 * w + 1]] * weight[2 * w + 1];
      } else {
        for (int64_t w = 0; w < wide; w++) {
          T sum = 0;
          const size_t last = static_cast<size_t>(width.start[static_cast<size_t>(w + 1)]);
          for (size_t k = static_cast<size_t>(width.start[static_cast<size_t>(w)]); k < last; k++)
            sum += line[width.place[k]] * width.weight[k];
          y[w] = sum;
        }
      }
      if (!to.direct<T>()) convert(at, to.dtype, to.stride[2], y, dtype_of<T>, sizeof(T), wide);
    }
  });
}
void forward(const Tensor& y, const Tensor& x, int64_t how, bool align, double d, double h, double w) {
  if (y.numel() == 0) return;
  const auto kind = static_cast<Resampling>(how);
  if (x.dtype() == kDouble)
    forward_typed<double>(y, x, kind, align, {d, h, w});
  else
    forward_typed<float>(y, x, kind, align, {d, h, w});
}

// A plane is added up by one thread, in the order of the result's rows.
template <class T>
void backward_typed(const Tensor& dx, const Tensor& g, Resampling how, bool align,
                    const std::array<double, 3>& factors) {
  const Volume to(dx), from(g);
  const Tables<T> tables(how, align, to, from, factors);
  const Taps<T>&depth = tables.taps[0], &height = tables.taps[1], &width = tables.taps[2];
  const int64_t narrow = to.size[2], wide = from.size[2], plane_size = to.size[0] * to.size[1] * narrow;
  const int64_t work = plane_size + from.size[0] * from.size[1] * wide;
  parallel_for(0, to.batch * to.channels, std::max<int64_t>(1, 4096 / work), [&](int64_t begin, int64_t end) {
    std::vector<T> sums(static_cast<size_t>(plane_size)), in(static_cast<size_t>(wide)),
        spread(static_cast<size_t>(narrow));
    for (int64_t plane = begin; plane < end; plane++) {
      std::fill(sums.begin(), sums.end(), T(0));
      for (int64_t d = 0; d < from.size[0]; d++)
        for (int64_t h = 0; h < from.size[1]; h++) {
          const T* grad = from.read(from.row(plane, d, h), in.data());
          std::fill(spread.begin(), spread.end(), T(0));
          for (int64_t w = 0; w < wide; w++) {
            const size_t last = static_cast<size_t>(width.start[static_cast<size_t>(w + 1)]);
            for (size_t k = static_cast<size_t>(width.start[static_cast<size_t>(w)]); k < last; k++)
              spread[static_cast<size_t>(width.place[k])] += grad[w] * width.weight[k];
          }
          for (int64_t a = depth.start[static_cast<size_t>(d)]; a < depth.start[static_cast<size_t>(d + 1)]; a++)
            for (int64_t b = height.start[static_cast<size_t>(h)]; b < height.start[static_cast<size_t>(h + 1)]; b++) {
              const size_t i = static_cast<size_t>(a), j = static_cast<size_t>(b);
              T* sum = sums.data() + (depth.place[i] * to.size[1] + height.place[j]) * narrow;
              const T by = depth.weight[i] * height.weight[j];
              for (int64_t w = 0; w < narrow; w++) sum[w] += spread[static_cast<size_t>(w)] * by;
            }
        }
      for (int64_t d = 0; d < to.size[0]; d++)
        for (int64_t h = 0; h < to.size[1]; h++)
          convert(to.row(plane, d, h), to.dtype, to.stride[2], sums.data() + (d * to.size[1] + h) * narrow, dtype_of<T>,
                  sizeof(T), narrow);
    }
  });
}
void backward(const Tensor& dx, const Tensor& g, int64_t how, bool align, double d, double h, double w) {
  if (dx.numel() == 0) return;
  const auto kind = static_cast<Resampling>(how);
  if (dx.dtype() == kDouble)
    backward_typed<double>(dx, g, kind, align, {d, h, w});
  else
    backward_typed<float>(dx, g, kind, align, {d, h, w});
}

[[maybe_unused]] const bool registered =
    resample_kernel.set(kCPU, forward) && resample_backward_kernel.set(kCPU, backward);

}  // namespace
}  // namespace cresset::cpu
