// CPU kernels of ops/search.
#include "cresset/ops/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cresset/backends/cpu/reduce_lines.h"
#include "cresset/backends/cpu/walk.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 2048;

template <class T>
using Compared = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
template <class T>
Compared<T> element(const char* at) {
  return static_cast<Compared<T>>(*reinterpret_cast<const T*>(at));
}
template <class F>
void dispatch_ordered(DType dtype, const F& f) {
  dispatch(dtype, [&](auto* p) {
    if constexpr (!is_complex(dtype_of<std::remove_pointer_t<decltype(p)>>)) f(p);
  });
}

// ---- searchsorted
template <class T>
int64_t first_place(const char* sequence, int64_t stride, int64_t n, const char* sorter, int64_t sorter_stride,
                    Compared<T> value, bool right) {
  int64_t low = 0, high = n;
  while (low < high) {
    int64_t middle = low + (high - low) / 2, at = middle;
    if (sorter) {
      at = *reinterpret_cast<const int64_t*>(sorter + middle * sorter_stride);
      CRESSET_CHECK_AS(IndexError, at >= 0 && at < n, "searchsorted(): sorter index ", at,
                       " out of range (expected 0 to ", n - 1, ")");
    }
    Compared<T> there = element<T>(sequence + at * stride);
    if (right ? there > value : there >= value)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
void searchsorted(const Tensor& out, const Tensor& values, const Tensor& sequence, const Tensor& sorter, bool right) {
  const Tensor& order = sorter.defined() ? sorter : sequence;
  Lines lines({&values, &out, &sequence, &order}, values.dim() - 1);
  int64_t per_line = lines.length(0), n = lines.length(2);
  bool narrow = out.dtype() == kInt;
  dispatch_ordered(values.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    parallel_for(0, lines.count * per_line, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        auto at = lines.at(i / per_line);
        int64_t j = i % per_line, last = std::min(per_line, j + end - i);
        i += last - j;
        for (; j < last; j++) {
          int64_t place = first_place<T>(at.data[2], lines.stride(2), n, sorter.defined() ? at.data[3] : nullptr,
                                         lines.stride(3), element<T>(at.data[0] + j * lines.stride(0)), right);
          char* to = at.data[1] + j * lines.stride(1);
          if (narrow)
            *reinterpret_cast<int32_t*>(to) = static_cast<int32_t>(place);
          else
            *reinterpret_cast<int64_t*>(to) = place;
        }
      }
    });
  });
}

// ---- isin
void isin(const Tensor& out, const Tensor& elements, const Tensor& tests, bool invert) {
  if (out.numel() == 0) return;
  Walk walk(out.sizes(), 2);
  walk.set(0, out.strides(), 1);
  walk.set(1, elements.strides(), elements.element_size());
  walk.join();
  char *to = static_cast<char*>(out.impl()->data()), *from = static_cast<char*>(elements.impl()->data());
  const char* known = static_cast<const char*>(tests.impl()->data());
  int64_t n = tests.numel(), item = tests.element_size();
  dispatch_ordered(elements.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    parallel_for(0, walk.numel(), kGrain, [&](int64_t begin, int64_t end) {
      walk.runs(begin, end, [&](const int64_t* offsets, int64_t count) {
        for (int64_t i = 0; i < count; i++) {
          Compared<T> value = element<T>(from + offsets[1] + i * walk.step(1));
          int64_t at = first_place<T>(known, item, n, nullptr, 0, value, false);
          bool found = at < n && element<T>(known + at * item) == value;
          *reinterpret_cast<bool*>(to + offsets[0] + i * walk.step(0)) = found != invert;
        }
      });
    });
  });
}

// ---- histc
template <class T>
void histc_typed(const Tensor& out, const Tensor& x, double min, double max) {
  int64_t bins = out.numel(), stride = static_cast<int64_t>(out.element_size()) * (out.dim() ? out.stride(0) : 1);
  Walk walk(x.sizes(), 1);
  walk.set(0, x.strides(), static_cast<int64_t>(x.element_size()));
  walk.join();
  char* from = static_cast<char*>(x.impl()->data());
  DType type = x.dtype();
  auto each = [&](int64_t begin, int64_t end, const auto& f) {
    walk.runs(begin, end, [&](const int64_t* offsets, int64_t count) {
      for (int64_t i = 0; i < count; i++) {
        T value;
        convert(&value, dtype_of<T>, kItem<T>, from + offsets[0] + i * walk.step(0), type, 0, 1);
        f(value);
      }
    });
  };
  T low = static_cast<T>(min), high = static_cast<T>(max);
  if (low == high && x.numel() > 0) {
    low = std::numeric_limits<T>::infinity(), high = -low;
    bool finite = true;
    each(0, walk.numel(), [&](T value) {
      low = std::min(low, value), high = std::max(high, value);
      finite = finite && std::isfinite(value);
    });
    CRESSET_CHECK(finite, "histc: range of [", low, ", ", high, "] is not finite");
  }
  CRESSET_CHECK(std::isfinite(low) && std::isfinite(high), "histc: range of [", low, ", ", high, "] is not finite");
  if (low == high) low -= 1, high += 1;
  std::vector<int64_t> counts(static_cast<size_t>(bins), 0);
  each(0, walk.numel(), [&](T value) {
    if (!(value >= low && value <= high)) return;
    auto bin = static_cast<int64_t>((value - low) * static_cast<T>(bins) / (high - low));
    counts[static_cast<size_t>(std::min(bin, bins - 1))]++;
  });
  convert(out.impl()->data(), out.dtype(), stride, counts.data(), kLong, 8, bins);
}
void histc(const Tensor& out, const Tensor& x, double min, double max) {
  x.dtype() == kDouble ? histc_typed<double>(out, x, min, max) : histc_typed<float>(out, x, min, max);
}

// ---- histogram
template <class T>
void histogram_typed(T* out, const Tensor& x, const T* given_edges, int64_t bins, const Tensor& weight) {
  std::vector<double> counts(static_cast<size_t>(bins), 0), edges;
  for (int64_t i = 0; i <= bins; i++) edges.push_back(static_cast<double>(given_edges[i]));
  Walk walk(x.sizes(), 2);
  walk.set(0, x.strides(), kItem<T>);
  walk.set(1, (weight.defined() ? weight : x).strides(), kItem<T>);
  walk.join();
  const char* from = static_cast<const char*>(x.impl()->data());
  const char* weights = weight.defined() ? static_cast<const char*>(weight.impl()->data()) : nullptr;
  walk.runs(0, walk.numel(), [&](const int64_t* offsets, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
      const auto value = static_cast<double>(*reinterpret_cast<const T*>(from + offsets[0] + i * walk.step(0)));
      if (bins == 0 || !(value >= edges.front() && value <= edges.back())) continue;
      const int64_t above = std::upper_bound(edges.begin(), edges.end(), value) - edges.begin();
      counts[static_cast<size_t>(std::min(above, bins) - 1)] +=
          weights ? static_cast<double>(*reinterpret_cast<const T*>(weights + offsets[1] + i * walk.step(1))) : 1.0;
    }
  });
  for (int64_t i = 0; i < bins; i++) out[i] = static_cast<T>(counts[static_cast<size_t>(i)]);
}
void histogram(const Tensor& out, const Tensor& x, const Tensor& edges, const Tensor& weight) {
  dispatch_ordered(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!std::is_integral_v<T>)
      histogram_typed(static_cast<T*>(out.impl()->data()), x, static_cast<const T*>(edges.impl()->data()), out.numel(),
                      weight);
  });
}

// ---- bincount
template <class A>
void count_into(A* to, const Tensor& x, const Tensor& weights) {
  const char* numbers = static_cast<const char*>(x.impl()->data());
  int64_t step = x.stride(0) * static_cast<int64_t>(x.element_size());
  for (int64_t i = 0; i < x.numel(); i++) {
    int64_t bin;
    convert(&bin, kLong, 8, numbers + i * step, x.dtype(), 0, 1);
    A weight = 1;
    if (weights.defined())
      convert(&weight, dtype_of<A>, kItem<A>,
              static_cast<const char*>(weights.impl()->data()) +
                  i * weights.stride(0) * static_cast<int64_t>(weights.element_size()),
              weights.dtype(), 0, 1);
    to[bin] += weight;
  }
}
void bincount(const Tensor& out, const Tensor& x, const Tensor& weights) {
  void* to = out.impl()->data();
  if (out.dtype() == kLong)
    count_into(static_cast<int64_t*>(to), x, weights);
  else if (out.dtype() == kFloat)
    count_into(static_cast<float*>(to), x, weights);
  else
    count_into(static_cast<double*>(to), x, weights);
}

// ---- groups of equal rows
template <class T>
class Rows {
 public:
  explicit Rows(const Tensor& x)
      : data_(static_cast<const char*>(x.impl()->data())),
        columns_(x.size(1)),
        down_(x.stride(0) * kItem<T>),
        across_(x.stride(1) * kItem<T>) {}
  // -1, 0 or 1; nan is above all, and differs from itself only when asked whether rows are equal.
  int compare(int64_t a, int64_t b) const {
    for (int64_t j = 0; j < columns_; j++) {
      Compared<T> x = element<T>(data_ + a * down_ + j * across_), y = element<T>(data_ + b * down_ + j * across_);
      if (x < y || (y != y && x == x)) return -1;
      if (y < x || (x != x && y == y)) return 1;
    }
    return 0;
  }
  bool equal(int64_t a, int64_t b) const {
    for (int64_t j = 0; j < columns_; j++)
      if (element<T>(data_ + a * down_ + j * across_) != element<T>(data_ + b * down_ + j * across_)) return false;
    return true;
  }

 private:
  const char* data_;
  int64_t columns_, down_, across_;
};

void row_order(const Tensor& order, const Tensor& x) {
  int64_t n = x.size(0), *to = static_cast<int64_t*>(order.impl()->data());
  std::iota(to, to + n, int64_t{0});
  dispatch_ordered(x.dtype(), [&](auto* p) {
    Rows<std::remove_pointer_t<decltype(p)>> rows(x);
    std::stable_sort(to, to + n, [&](int64_t a, int64_t b) { return rows.compare(a, b) < 0; });
  });
}
// Rows stand as `order` says, or, where they are sorted already, as they are.
void row_groups(const Tensor& groups, const Tensor& x, const Tensor& order) {
  int64_t n = x.size(0), group = 0, *to = static_cast<int64_t*>(groups.impl()->data());
  const int64_t* places = order.defined() ? static_cast<const int64_t*>(order.impl()->data()) : nullptr;
  dispatch_ordered(x.dtype(), [&](auto* p) {
    Rows<std::remove_pointer_t<decltype(p)>> rows(x);
    for (int64_t i = 0; i < n; i++) {
      if (i > 0 && !rows.equal(places ? places[i] : i, places ? places[i - 1] : i - 1)) group++;
      to[i] = group;
    }
  });
}
void group_members(const Tensor& first, const Tensor& counts, const Tensor& inverse, const Tensor& groups,
                   const Tensor& order) {
  int64_t n = groups.numel();
  auto* firsts = static_cast<int64_t*>(first.impl()->data());
  auto* totals = static_cast<int64_t*>(counts.impl()->data());
  auto* which = static_cast<int64_t*>(inverse.impl()->data());
  const auto* group = static_cast<const int64_t*>(groups.impl()->data());
  const int64_t* places = order.defined() ? static_cast<const int64_t*>(order.impl()->data()) : nullptr;
  for (int64_t i = 0; i < n; i++) {
    int64_t place = places ? places[i] : i;
    if (i == 0 || group[i] != group[i - 1]) firsts[group[i]] = place, totals[group[i]] = 0;
    totals[group[i]]++;
    which[place] = group[i];
  }
}

[[maybe_unused]] const bool registered = searchsorted_kernel.set(kCPU, searchsorted) && isin_kernel.set(kCPU, isin) &&
                                         histc_kernel.set(kCPU, histc) && histogram_kernel.set(kCPU, histogram) &&
                                         bincount_kernel.set(kCPU, bincount) && row_order_kernel.set(kCPU, row_order) &&
                                         row_groups_kernel.set(kCPU, row_groups) &&
                                         group_members_kernel.set(kCPU, group_members);

}  // namespace
}  // namespace cresset::cpu
