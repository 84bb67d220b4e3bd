// CPU kernels of ops/rearrange: flip reads backwards; a window's gradient goes element by element over what the windows
// were cut from, so that every sum has one owner and one order.
#include "cresset/ops/rearrange.h"

#include <cstring>

#include "cresset/backends/cpu/element_moves.h"
#include "cresset/backends/cpu/walk.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 16384;

template <class T>
void copy_run(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
  if (to_step == sizeof(T) && from_step == sizeof(T)) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else if (to_step == sizeof(T) && from_step == -static_cast<int64_t>(sizeof(T))) {
    T* y = reinterpret_cast<T*>(to);
    const T* x = reinterpret_cast<const T*>(from) - (n - 1);
    for (int64_t i = 0; i < n; i++) y[i] = x[n - 1 - i];
  } else {
    for (int64_t i = 0; i < n; i++, to += to_step, from += from_step)
      *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
  }
}

template <class T>
void flip_typed(const Walk& walk, char* to, const char* from) {
  parallel_for(0, walk.numel(), kGrain, [&](int64_t begin, int64_t end) {
    walk.runs(begin, end, [&](const int64_t* offsets, int64_t count) {
      copy_run<T>(to + offsets[0], walk.step(0), from + offsets[1], walk.step(1), count);
    });
  });
}

void flip(const Tensor& out, const Tensor& x, IntArrayRef dims) {
  const int64_t item = x.element_size();
  Dims order, sizes, to_strides, from_strides(x.strides());
  const char* from = static_cast<const char*>(x.impl()->data());
  for (int64_t dim : dims) {
    int64_t& stride = from_strides[static_cast<int>(dim)];
    from += (x.size(dim) - 1) * stride * item;
    stride = -stride;
  }
  for (int i = 0; i < x.impl()->sizes.rank(); i++) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return out.impl()->strides[static_cast<int>(a)] > out.impl()->strides[static_cast<int>(b)];
  });
  Dims read;
  for (int64_t i : order) {
    sizes.push_back(x.size(i));
    to_strides.push_back(out.stride(i));
    read.push_back(from_strides[static_cast<int>(i)]);
  }
  Walk walk(sizes, 2);
  walk.set(0, to_strides, item);
  walk.set(1, read, item);
  walk.join();
  char* to = static_cast<char*>(out.impl()->data());
  with_size_of(out.dtype(), [&]<class T>(T) { flip_typed<T>(walk, to, from); });
}

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// gx is contiguous: [before, n, after]; g is [before…, windows, after…, size].
void unfold_backward(const Tensor& gx, const Tensor& g, int64_t dim, int64_t size, int64_t step) {
  const int d = static_cast<int>(dim);
  const int64_t item = gx.element_size(), n = gx.size(dim), windows = g.size(dim);
  Walk walk(gx.sizes(), 2);  // operand 1 stands still along dim
  Dims strides(g.strides().slice(0, static_cast<size_t>(gx.dim())));
  const int64_t by_window = strides[d] * item, within = g.strides().back() * item;
  strides[d] = 0;
  walk.set(0, gx.strides(), item);
  walk.set(1, strides, item);
  int64_t after = 1;
  for (int64_t i = dim + 1; i < gx.dim(); i++) after *= gx.size(i);
  char* to = static_cast<char*>(gx.impl()->data());
  const char* from = static_cast<const char*>(g.impl()->data());
  dispatch(gx.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_differentiable(dtype_of<T>))
      parallel_for(0, gx.numel(), kGrain / 4, [&](int64_t begin, int64_t end) {
        int64_t element = begin;
        walk.runs(begin, end, [&](const int64_t* offsets, int64_t count) {
          for (int64_t k = 0; k < count; k++, element++) {
            const int64_t at = element / after % n;
            const int64_t first = at < size ? 0 : (at - size) / step + 1, last = std::min(windows - 1, at / step);
            const char* base = from + offsets[1] + k * walk.step(1);
            Sum<T> sum(0);
            if (size > 0)
              for (int64_t w = first; w <= last; w++)
                sum +=
                    static_cast<Sum<T>>(*reinterpret_cast<const T*>(base + w * by_window + (at - w * step) * within));
            *reinterpret_cast<T*>(to + offsets[0] + k * walk.step(0)) = static_cast<T>(sum);
          }
        });
      });
  });
}

// ---- repeat_interleave
int64_t repeats_at(const Tensor& repeats, int64_t i) {
  const int64_t place = i * repeats.stride(0);
  return repeats.dtype() == kInt ? static_cast<const int32_t*>(repeats.impl()->data())[place]
                                 : static_cast<const int64_t*>(repeats.impl()->data())[place];
}
void count_repeats(const Tensor& total, const Tensor& repeats) {
  int64_t sum = 0;
  for (int64_t i = 0; i < repeats.numel(); i++) {
    const int64_t times = repeats_at(repeats, i);
    CRESSET_CHECK_AS(ValueError, times >= 0, "repeat_interleave: repeats can not be negative, found ", times,
                     " at place ", i);
    CRESSET_CHECK_AS(ValueError, !__builtin_add_overflow(sum, times, &sum),
                     "repeat_interleave: repeats add up to more than an int64 can count");
  }
  *static_cast<int64_t*>(total.impl()->data()) = sum;
}
template <class T>
void write_repeats(T* to, const Tensor& repeats) {
  for (int64_t i = 0; i < repeats.numel(); i++) {
    const int64_t times = repeats_at(repeats, i);
    std::fill(to, to + times, static_cast<T>(i));
    to += times;
  }
}
void repeat_interleave(const Tensor& out, const Tensor& repeats) {
  if (out.dtype() == kInt)
    write_repeats(static_cast<int32_t*>(out.impl()->data()), repeats);
  else
    write_repeats(static_cast<int64_t*>(out.impl()->data()), repeats);
}

[[maybe_unused]] const bool registered =
    flip_kernel.set(kCPU, flip) && unfold_backward_kernel.set(kCPU, unfold_backward) &&
    count_repeats_kernel.set(kCPU, count_repeats) && repeat_interleave_kernel.set(kCPU, repeat_interleave);

}  // namespace
}  // namespace cresset::cpu
