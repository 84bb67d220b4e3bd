// CPU kernels of grid sampling. A position of the grid is a few places along each axis, with weights, differentiated as
// often as asked, and their slopes; a sample is the sum over their products.
#include "cresset/ops/grid_sampler.h"

#include <cmath>
#include <vector>

#include "cresset/backends/cpu/slab.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

enum Interpolation : int64_t { kLinear, kNearest, kCubic };
enum Padding : int64_t { kZeros, kBorder, kReflection };

// A place and its slope by what it was made from.
template <class T>
struct Place {
  T at, slope;
};

template <class T>
Place<T> clipped(Place<T> x, int64_t size) {
  const T most = static_cast<T>(size - 1);
  if (x.at <= 0) return {T(0), T(0)};
  if (x.at >= most) return {most, T(0)};
  return x;
}
// Folds the line at low / 2 and high / 2.
template <class T>
Place<T> reflected(Place<T> x, int64_t low, int64_t high) {
  if (low == high) return {T(0), T(0)};
  const T from = static_cast<T>(low) / 2, span = static_cast<T>(high - low) / 2;
  const bool mirrored = x.at < from;
  const T distance = std::abs(x.at - from), rest = std::fmod(distance, span);
  const bool odd = static_cast<int64_t>(std::floor(distance / span)) % 2 != 0;
  return {odd ? span - rest + from : rest + from, mirrored != odd ? -x.slope : x.slope};
}
template <class T>
Place<T> padded(Place<T> x, int64_t size, const GridSampling& s) {
  if (s.padding() == kBorder) return clipped(x, size);
  if (s.padding() == kReflection)
    return clipped(s.align_corners() ? reflected(x, 0, 2 * (size - 1)) : reflected(x, -1, 2 * size - 1), size);
  return x;
}

template <class T>
struct AxisTaps {
  int count = 0;
  int64_t at[4];  // -1: outside
  T weight[4], slope[4];

  void add(T place, T w, T by, int64_t size) {
    const bool inside = place > -1 && place < static_cast<T>(size);
    at[count] = inside ? static_cast<int64_t>(place) : -1;
    weight[count] = w;
    slope[count++] = by;
  }
};

// The cubic kernel at distance d, differentiated; from the third on it is constant, and then nothing.
template <class T>
T cubic(T d, int64_t order) {
  const T a = T(-0.75);
  const bool near = d < 1;
  switch (order) {
    case 0:
      return near ? ((a + 2) * d - (a + 3)) * d * d + 1 : (((d - 5) * d + 8) * d - 4) * a;
    case 1:
      return near ? (3 * (a + 2) * d - 2 * (a + 3)) * d : ((3 * d - 10) * d + 8) * a;
    case 2:
      return near ? 6 * (a + 2) * d - 2 * (a + 3) : (6 * d - 10) * a;
    case 3:
      return near ? 6 * (a + 2) : 6 * a;
    default:
      return 0;
  }
}

template <class T>
AxisTaps<T> axis_taps(T coordinate, int64_t size, int rank, const GridSampling& s, int64_t order) {
  const T scale = static_cast<T>(s.align_corners() ? size - 1 : size) / 2;
  Place<T> x{s.align_corners() ? (coordinate + 1) * scale : (coordinate + 1) * scale - T(0.5), scale};
  AxisTaps<T> taps;
  if (s.interpolation() == kCubic) {
    const T below = std::floor(x.at), t = x.at - below;
    for (int i = -1; i <= 2; i++) {
      const T d = std::abs(t - static_cast<T>(i)), by = t < static_cast<T>(i) ? -x.slope : x.slope;
      T chain = 1;
      for (int64_t k = 0; k < order; k++) chain *= by;
      const T place = padded(Place<T>{below + static_cast<T>(i), T(0)}, size, s).at;
      taps.add(std::nearbyint(place), cubic(d, order) * chain, cubic(d, order + 1) * chain * by, size);
    }
    return taps;
  }
  x = padded(x, size, s);
  if (s.interpolation() == kNearest) {
    const T place = rank == 3 ? std::round(x.at) : std::nearbyint(x.at);  // halves as PyTorch's
    taps.add(place, order == 0 ? T(1) : T(0), T(0), size);
    return taps;
  }
  const T below = std::floor(x.at), rest = x.at - below;
  const auto add = [&](T place, T weight, T slope) {
    taps.add(place, order == 0 ? weight : order == 1 ? slope : T(0), order == 0 ? slope : T(0), size);
  };
  add(below, T(1) - rest, -x.slope);
  add(below + 1, rest, x.slope);
  return taps;
}

// Sizes and strides of the space, x (the last) first.
struct Space {
  int rank;
  int64_t size[3], stride[3], batch, channels;
  explicit Space(const Tensor& x) : rank(static_cast<int>(x.dim()) - 2), batch(x.size(0)), channels(x.size(1)) {
    int64_t step = 1;
    for (int i = 0; i < rank; i++) {
      size[i] = x.size(x.dim() - 1 - i);
      stride[i] = step;
      step *= size[i];
    }
  }
};

// One position's taps; f(offset in a plane, weight, slopes by each axis) for those inside.
template <class T>
struct Taps {
  AxisTaps<T> axis[3];
  Taps(const T* coordinates, const Space& space, const GridSampling& s) {
    for (int i = 0; i < space.rank; i++) axis[i] = axis_taps(coordinates[i], space.size[i], space.rank, s, s.order(i));
    if (space.rank == 2) {
      axis[2].count = 1;
      axis[2].at[0] = 0;
      axis[2].weight[0] = 1;
      axis[2].slope[0] = 0;
    }
  }
  template <class F>
  void each(const Space& space, const F& f) const {
    const int64_t step = space.rank == 3 ? space.stride[2] : 0;
    for (int k = 0; k < axis[2].count; k++) {
      if (axis[2].at[k] < 0) continue;
      for (int j = 0; j < axis[1].count; j++) {
        if (axis[1].at[j] < 0) continue;
        for (int i = 0; i < axis[0].count; i++) {
          if (axis[0].at[i] < 0) continue;
          f(axis[0].at[i] + axis[1].at[j] * space.stride[1] + axis[2].at[k] * step, i, j, k);
        }
      }
    }
  }
  T weight(int i, int j, int k) const { return axis[0].weight[i] * axis[1].weight[j] * axis[2].weight[k]; }
  T slope(int by, int i, int j, int k) const {
    const T x = by == 0 ? axis[0].slope[i] : axis[0].weight[i], y = by == 1 ? axis[1].slope[j] : axis[1].weight[j];
    return x * y * (by == 2 ? axis[2].slope[k] : axis[2].weight[k]);
  }
};

// Calls f(sample, first position, last) for pieces of each sample.
template <class F>
void positions(int64_t batch, int64_t count, int64_t piece, const F& f) {
  const int64_t pieces = (count + piece - 1) / piece;
  parallel_for(0, batch * pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const int64_t first = i % pieces * piece;
      f(i / pieces, first, std::min(count, first + piece));
    }
  });
}

template <class T>
void forward_typed(const Tensor& y, const Tensor& x, const Tensor& grid, const GridSampling& s) {
  const Space space(x);
  const int64_t count = y.numel() / (space.batch * space.channels);
  // A plane that has to be converted is converted once.
  const bool direct = Slab<T>(x, 2).direct() && Slab<T>(y, 2).direct();
  positions(space.batch, count, direct ? 256 : count, [&](int64_t n, int64_t first, int64_t last) {
    Slab<T> from(x, 2), from_grid(grid, 1), to(y, 2);
    const T* coordinates = from_grid.read(n);
    std::vector<Taps<T>> taps;
    for (int64_t p = first; p < last; p++) taps.emplace_back(coordinates + p * space.rank, space, s);
    for (int64_t c = 0; c < space.channels; c++) {
      const int64_t plane = n * space.channels + c;
      const T* in = from.read(plane);
      T* out = to.to_write(plane);
      for (int64_t p = first; p < last; p++) {
        const Taps<T>& tap = taps[static_cast<size_t>(p - first)];
        T sum = 0;
        tap.each(space, [&](int64_t at, int i, int j, int k) { sum += in[at] * tap.weight(i, j, k); });
        out[p] = sum;
      }
      to.written(plane);
    }
  });
}
void forward(const Tensor& y, const Tensor& x, const Tensor& grid, IntArrayRef how) {
  if (y.numel() == 0) return;
  (y.dtype() == kDouble ? &forward_typed<double> : &forward_typed<float>)(y, x, grid, GridSampling(how));
}

// A plane belongs to one thread, which adds the positions in order.
template <class T>
void input_typed(const Tensor& dx, const Tensor& g, const Tensor& grid, const GridSampling& s) {
  const Space space(dx);
  const int64_t count = g.numel() / (space.batch * space.channels);
  parallel_for(0, space.batch * space.channels, 1, [&](int64_t begin, int64_t end) {
    Slab<T> from(g, 2), from_grid(grid, 1), to(dx, 2);
    for (int64_t plane = begin; plane < end; plane++) {
      const T *coordinates = from_grid.read(plane / space.channels), *grad = count ? from.read(plane) : nullptr;
      T* sum = to.to_write(plane);
      std::fill_n(sum, to.n(), T(0));
      for (int64_t p = 0; p < count; p++) {
        const Taps<T> tap(coordinates + p * space.rank, space, s);
        tap.each(space, [&](int64_t at, int i, int j, int k) { sum[at] += grad[p] * tap.weight(i, j, k); });
      }
      to.written(plane);
    }
  });
}
void input_gradient(const Tensor& dx, const Tensor& g, const Tensor& grid, IntArrayRef how) {
  if (dx.numel() == 0) return;
  (dx.dtype() == kDouble ? &input_typed<double> : &input_typed<float>)(dx, g, grid, GridSampling(how));
}

template <class T>
void grid_typed(const Tensor& dgrid, const Tensor& g, const Tensor& x, const Tensor& grid, const GridSampling& s) {
  const Space space(x);
  const int64_t count = dgrid.numel() / (space.batch * space.rank);
  const bool direct = Slab<T>(x, 2).direct() && Slab<T>(g, 2).direct() && Slab<T>(dgrid, 1).direct();
  positions(space.batch, count, direct ? 256 : count, [&](int64_t n, int64_t first, int64_t last) {
    Slab<T> from(x, 2), from_g(g, 2), from_grid(grid, 1), to(dgrid, 1);
    const T* coordinates = from_grid.read(n);
    T* out = to.to_write(n);
    std::fill(out + first * space.rank, out + last * space.rank, T(0));
    std::vector<Taps<T>> taps;
    for (int64_t p = first; p < last; p++) taps.emplace_back(coordinates + p * space.rank, space, s);
    for (int64_t c = 0; c < space.channels; c++) {
      const T *in = from.read(n * space.channels + c), *grad = from_g.read(n * space.channels + c);
      for (int64_t p = first; p < last; p++) {
        const Taps<T>& tap = taps[static_cast<size_t>(p - first)];
        tap.each(space, [&](int64_t at, int i, int j, int k) {
          for (int by = 0; by < space.rank; by++) out[p * space.rank + by] += grad[p] * in[at] * tap.slope(by, i, j, k);
        });
      }
    }
    to.written(n);
  });
}
void grid_gradient(const Tensor& dgrid, const Tensor& g, const Tensor& x, const Tensor& grid, IntArrayRef how) {
  if (dgrid.numel() == 0) return;
  (dgrid.dtype() == kDouble ? &grid_typed<double> : &grid_typed<float>)(dgrid, g, x, grid, GridSampling(how));
}

[[maybe_unused]] const bool registered = grid_sampler_kernel.set(kCPU, forward) &&
                                         grid_sampler_input_kernel.set(kCPU, input_gradient) &&
                                         grid_sampler_grid_kernel.set(kCPU, grid_gradient);

}  // namespace
}  // namespace cresset::cpu
