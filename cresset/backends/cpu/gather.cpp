// CPU kernels of ops/gather. Gathering is shared out by elements. Scattering is shared out by lines along dim, which
// never meet, or, where there are few, by the places written to; so each place has one owner, who writes in the order
// along dim.
#include "cresset/ops/gather.h"

#include <cmath>
#include <cstring>

#include "cresset/backends/cpu/element_moves.h"
#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/backends/cpu/walk.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a thread

// ---- the index
struct IndexReader {
  bool narrow;  // int32
  int64_t size;
  int64_t raw(const char* p) const {
    return narrow ? *reinterpret_cast<const int32_t*>(p) : *reinterpret_cast<const int64_t*>(p);
  }
  int64_t read(const char* p) const {
    int64_t at = raw(p);
    return at + (at < 0 ? size : 0);
  }
  // Whether all of a run are one number, as in an index of slices that was written out.
  bool same(const char* p, int64_t step, int64_t count) const {
    if (narrow || step != sizeof(int64_t) || raw(p) != raw(p + (count - 1) * step)) return false;
    const auto* at = reinterpret_cast<const int64_t*>(p);
    int64_t different = 0;
    for (int64_t i = 0; i < count; i++) different |= at[i] ^ at[0];
    return different == 0;
  }
};

template <class I>
bool all_inside(const char* p, int64_t step, int64_t count, int64_t low, int64_t size) {
  // The sign of either difference tells; sums of signs go in vectors on any CPU.
  uint64_t signs = 0;
  const auto note = [&](int64_t at) {
    signs |= (static_cast<uint64_t>(at) - static_cast<uint64_t>(low)) |
             (static_cast<uint64_t>(size - 1) - static_cast<uint64_t>(at));
  };
  if (step == sizeof(I)) {
    const I* at = reinterpret_cast<const I*>(p);
    for (int64_t i = 0; i < count; i++) note(at[i]);
  } else {
    for (int64_t i = 0; i < count; i++, p += step) note(*reinterpret_cast<const I*>(p));
  }
  return signs >> 63 == 0;
}

void check_run(const IndexReader& index, const char* p, int64_t step, int64_t count, int64_t dim, bool wraps) {
  const int64_t low = wraps ? -index.size : 0;
  if (index.narrow ? all_inside<int32_t>(p, step, count, low, index.size)
                   : all_inside<int64_t>(p, step, count, low, index.size))
    return;
  for (;; p += step)
    CRESSET_CHECK_AS(IndexError, index.raw(p) >= low && index.raw(p) < index.size, "index: index ", index.raw(p),
                     " is out of bounds for dimension ", dim, " with size ", index.size);
}

void check_index(const Tensor& index, int64_t size, int64_t dim, bool wraps) {
  Dims sizes(index.sizes());
  for (int i = 0; i < sizes.rank(); i++) {
    if (sizes[i] == 0) return;
    if (index.impl()->strides[i] == 0) sizes[i] = 1;
  }
  Walk walk(sizes, 1);
  walk.set(0, index.strides(), index.element_size());
  walk.join();
  const char* data = static_cast<const char*>(index.impl()->data());
  const IndexReader reader{index.dtype() == kInt, size};
  parallel_for(0, walk.numel(), 4 * kGrain, [&](int64_t begin, int64_t end) {
    walk.runs(begin, end, [&](const int64_t* offsets, int64_t count) {
      check_run(reader, data + offsets[0], walk.step(0), count, dim, wraps);
    });
  });
}

// Dimensions in the order of a tensor's memory, slowest first.
Dims memory_order(const Tensor& x) {
  Dims order;
  for (int i = 0; i < x.impl()->sizes.rank(); i++) order.push_back(i);
  if (x.is_contiguous()) return order;
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return x.impl()->strides[static_cast<int>(a)] > x.impl()->strides[static_cast<int>(b)];
  });
  return order;
}
Dims picked(IntArrayRef list, const Dims& order) {
  Dims out;
  for (int64_t i : order) out.push_back(list[static_cast<size_t>(i)]);
  return out;
}

// ---- gather
// n elements, from where their indices say. `from` is the start of the first one's line.
template <class T>
void gather_run(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t along, const IndexReader& index,
                const char* at, int64_t at_step, int64_t n) {
  constexpr int64_t item = sizeof(T);
  if (at_step == 0) {  // one index for all: a piece of a slice
    from += index.read(at) * along;
    if (to_step == item && from_step == item) {
      std::memcpy(to, from, static_cast<size_t>(n * item));
      return;
    }
    for (int64_t i = 0; i < n; i++, to += to_step, from += from_step)
      *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
    return;
  }
  for (int64_t i = 0; i < n; i++, to += to_step, from += from_step, at += at_step)
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from + index.read(at) * along);
}

void gather(const Tensor& out, const Tensor& x, const Tensor& index, int64_t dim, bool wraps) {
  if (out.numel() == 0) return;
  const Dims order = memory_order(out);
  Walk walk(picked(out.sizes(), order), 3);
  Dims x_strides(x.strides());
  const int64_t item = out.element_size(), along = x_strides[static_cast<int>(dim)] * item;
  x_strides[static_cast<int>(dim)] = 0;
  walk.set(0, picked(out.strides(), order), item);
  walk.set(1, picked(x_strides, order), item);
  walk.set(2, picked(index.strides(), order), index.element_size());
  walk.join();
  const IndexReader reader{index.dtype() == kInt, x.impl()->sizes[static_cast<int>(dim)]};
  char* to = static_cast<char*>(out.impl()->data());
  const char *from = static_cast<const char*>(x.impl()->data()), *at = static_cast<const char*>(index.impl()->data());
  with_size_of(out.dtype(), [&]<class T>(T) {
    parallel_for(0, walk.numel(), kGrain, [&](int64_t begin, int64_t end) {
      walk.runs(begin, end, [&](const int64_t* offsets, int64_t count) {
        const char* indices = at + offsets[2];
        check_run(reader, indices, walk.step(2), walk.step(2) == 0 ? 1 : count, dim, wraps);
        gather_run<T>(to + offsets[0], walk.step(0), from + offsets[1], walk.step(1), along, reader, indices,
                      walk.step(2), count);
      });
    });
  });
}

// ---- scatter
template <class T>
bool is_nan(const T& x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return std::isnan(static_cast<float>(x));
  return false;
}
template <class T>
using Compared = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, std::remove_cv_t<T>>;

template <class T>
struct Multiply {
  using Type = T;
  static void apply(T& to, const T& from) {
    if constexpr (std::is_same_v<T, bool>)
      to = to && from;
    else if constexpr (std::is_integral_v<T>)
      to = static_cast<T>(static_cast<uint64_t>(to) * static_cast<uint64_t>(from));
    else
      to = static_cast<T>(to * from);
  }
};
template <class T, bool largest>
struct Extreme {
  using Type = T;
  static void apply(T& to, const T& from) {
    const auto a = static_cast<Compared<T>>(to), b = static_cast<Compared<T>>(from);
    if (!is_nan(to) && (is_nan(from) || (largest ? b > a : b < a))) to = from;
  }
};

// Source and target of a scatter, line by line along dim.
struct Scattering {
  Walk lines;  // operand 0: src, 1: self, 2: index; without dim
  IndexReader index;
  char* to;
  const char *from, *at;
  int64_t length, from_along, to_along, at_along;
};

// Elements side by side in `count` lines that one place along dim has.
template <class Action>
void scatter_across(const Scattering& s, const int64_t* offsets, int64_t place, int64_t count, int64_t low,
                    uint64_t places) {
  using T = typename Action::Type;
  constexpr int64_t item = sizeof(T);
  const int64_t from_step = s.lines.step(0), to_step = s.lines.step(1), at_step = s.lines.step(2);
  const char *from = s.from + offsets[0] + place * s.from_along, *at = s.at + offsets[2] + place * s.at_along;
  char* to = s.to + offsets[1];
  if (at_step != 0 && !s.index.same(at, at_step, count)) {
    for (int64_t i = 0; i < count; i++, from += from_step, to += to_step, at += at_step) {
      const int64_t target = s.index.read(at);
      if (static_cast<uint64_t>(target - low) < places)
        Action::apply(*reinterpret_cast<T*>(to + target * s.to_along), *reinterpret_cast<const T*>(from));
    }
    return;
  }
  const int64_t target = s.index.read(at);
  if (static_cast<uint64_t>(target - low) >= places) return;
  to += target * s.to_along;
  if (from_step == item && to_step == item) {
    if constexpr (std::is_same_v<Action, Store<T>>) {
      std::memcpy(to, from, static_cast<size_t>(count * item));
      return;
    }
    if constexpr (std::is_floating_point_v<T> && std::is_same_v<Action, Accumulate<T>>) {
      const void* in[] = {to, from};
      inner_function(PointwiseOp::add, dtype_of<T>)(to, in, count, nullptr);
      return;
    }
  }
  for (int64_t i = 0; i < count; i++, from += from_step, to += to_step)
    Action::apply(*reinterpret_cast<T*>(to), *reinterpret_cast<const T*>(from));
}

// Where a place to come writes, nobody but its index can foresee. Only a hint: its lines may all go elsewhere.
void fetch_ahead(const Scattering& s, const int64_t* offsets, int64_t place, int64_t bytes) {
  constexpr int64_t kAhead = 4, kLine = 64, kMost = 2048;
  if (place + kAhead >= s.length) return;
  const char* to = s.to + offsets[1] + s.index.read(s.at + offsets[2] + (place + kAhead) * s.at_along) * s.to_along;
  for (int64_t i = 0; i < std::min(bytes, kMost); i += kLine) __builtin_prefetch(to + i, 1);
}

// Lines [begin, end), and of them what falls on places [low, high).
template <class Action>
void scatter_lines(const Scattering& s, int64_t begin, int64_t end, int64_t low, int64_t high) {
  using T = typename Action::Type;
  const uint64_t places = static_cast<uint64_t>(high - low);
  s.lines.runs(begin, end, [&](const int64_t* offsets, int64_t count) {
    if (count > 1 && std::abs(s.lines.step(0)) <= std::abs(s.from_along)) {
      for (int64_t i = 0; i < s.length; i++) {
        fetch_ahead(s, offsets, i, count * static_cast<int64_t>(sizeof(T)));
        scatter_across<Action>(s, offsets, i, count, low, places);
      }
      return;
    }
    for (int64_t line = 0; line < count; line++) {
      const char* from = s.from + offsets[0] + line * s.lines.step(0);
      const char* at = s.at + offsets[2] + line * s.lines.step(2);
      char* to = s.to + offsets[1] + line * s.lines.step(1);
      for (int64_t i = 0; i < s.length; i++, from += s.from_along, at += s.at_along) {
        const int64_t target = s.index.read(at);
        if (static_cast<uint64_t>(target - low) < places)
          Action::apply(*reinterpret_cast<T*>(to + target * s.to_along), *reinterpret_cast<const T*>(from));
      }
    }
  });
}

template <class Action>
void scatter_all(const Scattering& s) {
  const int64_t lines = s.lines.numel(), work = lines * s.length;
  if (lines >= 4 * get_num_threads())
    return parallel_for(0, lines, std::max<int64_t>(1, kGrain / s.length),
                        [&](int64_t begin, int64_t end) { scatter_lines<Action>(s, begin, end, 0, s.index.size); });
  const int64_t size = s.index.size, grain = std::max<int64_t>(1, size / std::max<int64_t>(1, work / kGrain));
  parallel_for(0, size, work <= kGrain ? size : grain,
               [&](int64_t low, int64_t high) { scatter_lines<Action>(s, 0, lines, low, high); });
}

Scattering scattering_of(const Tensor& self, const Tensor& index, const Tensor& src, int64_t dim) {
  Dims order;  // of memory, so that lines side by side are neighbours; dim itself apart
  for (int64_t i : memory_order(src))
    if (i != dim) order.push_back(i);
  const auto d = static_cast<size_t>(dim);
  const int64_t item = self.element_size(), index_item = index.element_size();
  Walk lines(picked(index.sizes(), order), 3);
  lines.set(0, picked(src.strides(), order), item);
  lines.set(1, picked(self.strides(), order), item);
  lines.set(2, picked(index.strides(), order), index_item);
  lines.join();
  return {std::move(lines),
          {index.dtype() == kInt, self.sizes()[d]},
          static_cast<char*>(self.impl()->data()),
          static_cast<const char*>(src.impl()->data()),
          static_cast<const char*>(index.impl()->data()),
          index.sizes()[d],
          src.strides()[d] * item,
          self.strides()[d] * item,
          index.strides()[d] * index_item};
}

void scatter(const Tensor& self, const Tensor& index, const Tensor& src, int64_t dim, int64_t mode) {
  if (index.numel() == 0) return;
  const Scattering s = scattering_of(self, index, src, dim);
  const auto action = static_cast<ScatterMode>(mode);
  if (action == ScatterMode::store) return with_size_of(self.dtype(), [&]<class T>(T) { scatter_all<Store<T>>(s); });
  dispatch(self.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if (action == ScatterMode::add) return scatter_all<Accumulate<T>>(s);
    if (action == ScatterMode::multiply) return scatter_all<Multiply<T>>(s);
    if constexpr (!is_complex(dtype_of<T>)) {
      if (action == ScatterMode::amax) return scatter_all<Extreme<T, true>>(s);
      return scatter_all<Extreme<T, false>>(s);
    }
  });
}

// ---- mean
template <class T>
T divided(T x, T by) {
  if (by == T(0)) return x;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    T quotient = static_cast<T>(x / by);
    return static_cast<T>(quotient - ((x % by != 0) && ((x < 0) != (by < 0)) ? 1 : 0));
  } else if constexpr (std::is_same_v<T, bool>) {
    return x;
  } else {
    return static_cast<T>(x / by);
  }
}
void divide_by_count(const Tensor& x, const Tensor& count) {
  Walk walk(x.sizes(), 2);
  walk.set(0, x.strides(), x.element_size());
  walk.set(1, count.strides(), count.element_size());
  walk.join();
  char* data = static_cast<char*>(x.impl()->data());
  const char* counts = static_cast<const char*>(count.impl()->data());
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    parallel_for(0, walk.numel(), kGrain, [&](int64_t begin, int64_t end) {
      walk.runs(begin, end, [&](const int64_t* offsets, int64_t n) {
        char* to = data + offsets[0];
        const char* by = counts + offsets[1];
        for (int64_t i = 0; i < n; i++, to += walk.step(0), by += walk.step(1))
          *reinterpret_cast<T*>(to) = divided(*reinterpret_cast<T*>(to), *reinterpret_cast<const T*>(by));
      });
    });
  });
}

[[maybe_unused]] const bool registered = check_index_kernel.set(kCPU, check_index) && gather_kernel.set(kCPU, gather) &&
                                         scatter_kernel.set(kCPU, scatter) &&
                                         divide_by_count_kernel.set(kCPU, divide_by_count);

}  // namespace
}  // namespace cresset::cpu
