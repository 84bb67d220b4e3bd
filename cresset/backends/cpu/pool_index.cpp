// CPU kernels of ops/pool that follow indices: picking from planes, and putting or adding into them. A plane belongs to
// one thread, so that additions keep their order.
#include <algorithm>

#include "cresset/backends/cpu/pool_grid.h"
#include "cresset/core/error.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/pool.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kThreadWork = 8192;
constexpr int64_t kChannels = 16;  // side by side, for one thread: a cache line of floats

// From an index in a plane to the element's offset.
class Offsets {
 public:
  explicit Offsets(const Grid& grid) : step_(grid.stride[4]), grid_(grid) {
    flat_ = (grid.size[3] == 1 || grid.stride[3] == grid.size[4] * grid.stride[4]) &&
            (grid.size[2] == 1 || grid.stride[2] == grid.size[3] * grid.size[4] * grid.stride[4]);
  }
  int64_t operator()(int64_t index) const {
    if (CRESSET_LIKELY(flat_)) return index * step_;
    const int64_t w = index % grid_.size[4], h = index / grid_.size[4] % grid_.size[3],
                  d = index / (grid_.size[4] * grid_.size[3]);
    return d * grid_.stride[2] + h * grid_.stride[3] + w * grid_.stride[4];
  }

 private:
  int64_t step_;
  const Grid& grid_;
  bool flat_;
};

// Calls f(n, first channel, last channel) for parts of the planes, each once, on several threads.
template <class F>
void for_planes(const Grid& grid, int64_t work, const F& f) {
  const bool many = grid.size[0] >= 2 * get_num_threads();  // images: each for one thread, and walked through once
  const int64_t block = !grid.channels_inside() ? 1 : many ? grid.size[1] : kChannels;
  const int64_t blocks = (grid.size[1] + block - 1) / block;
  parallel_for(0, grid.size[0] * blocks, std::max<int64_t>(1, kThreadWork / (work * block + 1)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; i++) {
                   const int64_t c = i % blocks * block;
                   f(i / blocks, c, std::min(c + block, grid.size[1]));
                 }
               });
}
// Calls f(channel, element offset in `a`, index) for the positions of `a` in these planes.
template <class F>
void for_indices(const Grid& a, const Grid& indices, int64_t n, int64_t first, int64_t last, const F& f) {
  const auto* places = reinterpret_cast<const int64_t*>(indices.data);
  const int64_t count = indices.size[4];
  for (int64_t d = 0; d < indices.size[2]; d++)
    for (int64_t h = 0; h < indices.size[3]; h++) {
      const int64_t at = n * a.stride[0] + d * a.stride[2] + h * a.stride[3];
      const int64_t* from = places + n * indices.stride[0] + d * indices.stride[2] + h * indices.stride[3];
      if (last - first == 1) {
        const int64_t start = at + first * a.stride[1], step = a.stride[4], index_step = indices.stride[4];
        const int64_t* index = from + first * indices.stride[1];
        for (int64_t w = 0; w < count; w++) f(first, start + w * step, index[w * index_step]);
      } else {
        const int64_t step = a.stride[1], index_step = indices.stride[1];
        for (int64_t w = 0; w < count; w++) {
          const int64_t start = at + w * a.stride[4];
          const int64_t* index = from + w * indices.stride[4];
          for (int64_t c = first; c < last; c++) f(c, start + c * step, index[c * index_step]);
        }
      }
    }
}

template <class T>
void zero_planes(const Grid& grid, int64_t n, int64_t first, int64_t last) {
  for (int64_t d = 0; d < grid.size[2]; d++)
    for (int64_t h = 0; h < grid.size[3]; h++) {
      if (grid.stride[4] == 1) {
        for (int64_t c = first; c < last; c++)
          std::fill_n(reinterpret_cast<T*>(grid.at(n, c, d, h, 0)), grid.size[4], T(0));
        continue;
      }
      for (int64_t w = 0; w < grid.size[4]; w++) {
        T* const to = reinterpret_cast<T*>(grid.at(n, first, d, h, w));
        for (int64_t c = 0; c < last - first; c++) to[c * grid.stride[1]] = T(0);
      }
    }
}

template <class F>
void with_type(DType dtype, const F& f) {
  dispatch(dtype, [&](auto* p) { f(std::remove_pointer_t<decltype(p)>()); });
}

void pool_pick(const Tensor& y, const Tensor& x, const Tensor& indices, int64_t rank) {
  if (y.numel() == 0) return;
  const Grid to(y, rank), from(x, rank), index(indices, rank);
  const Offsets offsets(from);
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_planes(to, to.positions(), [&](int64_t n, int64_t first, int64_t last) {
      for_indices(to, index, n, first, last, [&](int64_t c, int64_t at, int64_t i) {
        reinterpret_cast<T*>(to.data)[at] =
            reinterpret_cast<const T*>(from.data)[n * from.stride[0] + c * from.stride[1] + offsets(i)];
      });
    });
  });
}

template <class T>
void spread_directly(const Grid& to, const Grid& from, const Grid& index) {
  for_planes(to, to.positions() + from.positions(), [&](int64_t n, int64_t first, int64_t last) {
    zero_planes<T>(to, n, first, last);
    const Offsets offsets(to);
    T* const image = reinterpret_cast<T*>(to.data) + n * to.stride[0];
    const T* const g = reinterpret_cast<const T*>(from.data);
    const int64_t channel = to.stride[1];
    for_indices(from, index, n, first, last,
                [=](int64_t c, int64_t at, int64_t i) { image[c * channel + offsets(i)] += g[at]; });
  });
}
// Half types add up in float.
template <class T>
void spread_in_float(const Grid& to, const Grid& from, const Grid& index) {
  for_planes(to, to.positions() + from.positions(), [&](int64_t n, int64_t first, int64_t last) {
    std::vector<float> sums(static_cast<size_t>((last - first) * to.positions()));
    for_indices(from, index, n, first, last, [&](int64_t c, int64_t at, int64_t i) {
      sums[static_cast<size_t>((c - first) * to.positions() + i)] +=
          static_cast<float>(reinterpret_cast<const T*>(from.data)[at]);
    });
    const float* sum = sums.data();
    for (int64_t c = first; c < last; c++)
      for (int64_t d = 0; d < to.size[2]; d++)
        for (int64_t h = 0; h < to.size[3]; h++, sum += to.size[4])
          write_run(to.at(n, c, d, h, 0), to.dtype, to.bytes(4), to.size[4], sum);
  });
}
void pool_spread(const Tensor& dx, const Tensor& g, const Tensor& indices, int64_t rank) {
  if (dx.numel() == 0) return;
  const Grid to(dx, rank), from(g, rank), index(indices, rank);
  if (dx.dtype() == kDouble) return spread_directly<double>(to, from, index);
  if (dx.dtype() == kHalf) return spread_in_float<Half>(to, from, index);
  if (dx.dtype() == kBFloat16) return spread_in_float<BFloat16>(to, from, index);
  spread_directly<float>(to, from, index);
}

void max_unpool(const Tensor& y, const Tensor& x, const Tensor& indices, int64_t rank) {
  const Grid to(y, rank), from(x, rank), index(indices, rank);
  const Offsets offsets(to);
  const int64_t positions = to.positions();
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_planes(to, positions + from.positions(), [&](int64_t n, int64_t first, int64_t last) {
      zero_planes<T>(to, n, first, last);
      for_indices(from, index, n, first, last, [&](int64_t c, int64_t at, int64_t i) {
        CRESSET_CHECK_AS(IndexError, i >= 0 && i < positions, "max_unpool: Found an invalid max index: ", i,
                         " (output planes are of size ",
                         text_of(y.sizes().slice(y.sizes().size() - static_cast<size_t>(rank))), ")");
        reinterpret_cast<T*>(to.data)[n * to.stride[0] + c * to.stride[1] + offsets(i)] =
            reinterpret_cast<const T*>(from.data)[at];
      });
    });
  });
}

[[maybe_unused]] const bool registered = pool_pick_kernel.set(kCPU, pool_pick) &&
                                         pool_spread_kernel.set(kCPU, pool_spread) &&
                                         max_unpool_kernel.set(kCPU, max_unpool);

}  // namespace
}  // namespace cresset::cpu
