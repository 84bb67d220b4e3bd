// CPU kernels of ops/embedding. The gradient sorts the indices by row (counting sort), so that every row is written
// once, by one thread, and adds up in the order of indices, whatever the number of threads.
#include "cresset/ops/embedding.h"

#include <cmath>
#include <cstring>

#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 16384;

struct Indices {
  explicit Indices(const Tensor& x)
      : data(static_cast<const char*>(x.impl()->data())),
        step(x.stride(0) * x.element_size()),
        count(x.numel()),
        narrow(x.dtype() == kInt) {}
  int64_t operator[](int64_t i) const {
    const char* p = data + i * step;
    return narrow ? *reinterpret_cast<const int32_t*>(p) : *reinterpret_cast<const int64_t*>(p);
  }
  const char* data;
  int64_t step, count;
  bool narrow;
};

int64_t checked(int64_t index, int64_t size) {
  CRESSET_CHECK_AS(IndexError, index >= 0 && index < size, "embedding: index ", index,
                   " is out of bounds for dimension 0 with size ", size);
  return index;
}

// The places of `indices`, ordered by value: those of value r are order[first[r]] up to order[first[r + 1]].
struct Sorted {
  std::vector<int64_t> first, order;
  Sorted(const Indices& indices, int64_t size)
      : first(static_cast<size_t>(size) + 1), order(static_cast<size_t>(indices.count)) {
    for (int64_t i = 0; i < indices.count; i++) first[static_cast<size_t>(checked(indices[i], size)) + 1]++;
    for (size_t r = 1; r < first.size(); r++) first[r] += first[r - 1];
    std::vector<int64_t> next(first.begin(), first.end() - 1);
    for (int64_t i = 0; i < indices.count; i++) {
      const auto row = static_cast<size_t>(indices[i]);
      order[static_cast<size_t>(next[row]++)] = i;
    }
  }
};

// Half types add up in float, flags in numbers.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
                               std::conditional_t<std::is_same_v<T, bool>, int64_t, T>>;

template <class T>
struct Rows {
  const char* data;
  int64_t step, across, width;
  void add_to(Sum<T>* sum, int64_t row) const {
    const char* p = data + row * step;
    if constexpr (std::is_floating_point_v<T>)
      if (across == sizeof(T)) {
        const void* in[] = {sum, p};
        inner_function(PointwiseOp::add, dtype_of<T>)(sum, in, width, nullptr);
        return;
      }
    for (int64_t i = 0; i < width; i++, p += across)
      sum[i] = static_cast<Sum<T>>(sum[i] + static_cast<Sum<T>>(*reinterpret_cast<const T*>(p)));
  }
  void copy_to(Sum<T>* sum, int64_t row) const {
    const char* p = data + row * step;
    if (std::is_same_v<T, Sum<T>> && across == sizeof(T)) {
      std::memcpy(sum, p, static_cast<size_t>(width) * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < width; i++, p += across) sum[i] = static_cast<Sum<T>>(*reinterpret_cast<const T*>(p));
  }
};

template <class T>
void add_rows(T* out, const Rows<T>& g, const Sorted& sorted, int64_t row, bool by_frequency, Sum<T>* buffer) {
  const int64_t begin = sorted.first[static_cast<size_t>(row)], end = sorted.first[static_cast<size_t>(row) + 1];
  T* to = out + row * g.width;
  if (begin == end) {
    std::memset(static_cast<void*>(to), 0, static_cast<size_t>(g.width) * sizeof(T));
    return;
  }
  Sum<T>* sum = buffer;
  if constexpr (std::is_same_v<T, Sum<T>>) sum = to;
  g.copy_to(sum, sorted.order[static_cast<size_t>(begin)]);
  for (int64_t i = begin + 1; i < end; i++) g.add_to(sum, sorted.order[static_cast<size_t>(i)]);
  if (by_frequency && end - begin > 1) {
    const auto scale = static_cast<Sum<T>>(1.0 / static_cast<double>(end - begin));
    for (int64_t i = 0; i < g.width; i++) sum[i] = static_cast<Sum<T>>(sum[i] * scale);
  }
  if constexpr (!std::is_same_v<T, Sum<T>>)
    for (int64_t i = 0; i < g.width; i++) to[i] = static_cast<T>(sum[i]);
}

void embedding_backward(const Tensor& gw, const Tensor& g, const Tensor& indices, int64_t padding_idx,
                        bool by_frequency) {
  const int64_t rows = gw.size(0), width = gw.size(1);
  const Sorted sorted(Indices(indices), rows);
  dispatch(gw.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    const Rows<T> from{static_cast<const char*>(g.impl()->data()), g.stride(0) * g.element_size(),
                       g.stride(1) * g.element_size(), width};
    T* out = static_cast<T*>(gw.impl()->data());
    // A row costs its own writing and the reading of its indices' rows: parts of equal cost.
    const int64_t cost = rows + indices.numel();
    auto row_at = [&](int64_t at) {
      int64_t low = 0, high = rows;
      while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (middle + sorted.first[static_cast<size_t>(middle)] < at)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    parallel_for(0, cost, std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
      std::vector<Sum<T>> buffer(std::is_same_v<T, Sum<T>> ? 0 : static_cast<size_t>(width));
      const int64_t last = end == cost ? rows : row_at(end);
      for (int64_t row = row_at(begin); row < last; row++) {
        if (row == padding_idx)
          std::memset(static_cast<void*>(out + row * width), 0, static_cast<size_t>(width) * sizeof(T));
        else
          add_rows<T>(out, from, sorted, row, by_frequency, buffer.data());
      }
    });
  });
}

void frequency(const Tensor& counts, const Tensor& indices, int64_t size) {
  const Indices at(indices);
  std::vector<int64_t> found(static_cast<size_t>(size));
  for (int64_t i = 0; i < at.count; i++) found[static_cast<size_t>(checked(at[i], size))]++;
  dispatch(counts.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    T* out = static_cast<T*>(counts.impl()->data());
    if constexpr (is_differentiable(dtype_of<T>))
      for (int64_t i = 0; i < at.count; i++)
        out[i] = static_cast<T>(static_cast<float>(found[static_cast<size_t>(at[i])]));
  });
}

template <class T>
double norm_of(const char* p, int64_t step, int64_t n, double type) {
  double sum = type == -INFINITY ? INFINITY : 0;
  for (int64_t i = 0; i < n; i++, p += step) {
    const auto x = static_cast<double>(std::abs(static_cast<Sum<T>>(*reinterpret_cast<const T*>(p))));
    if (std::isinf(type))
      sum = type > 0 ? std::max(sum, x) : std::min(sum, x);
    else
      sum += type == 2 ? x * x : type == 1 ? x : type == 0 ? (x != 0) : std::pow(x, type);
  }
  return type == 2 ? std::sqrt(sum) : type == 1 || type == 0 || std::isinf(type) ? sum : std::pow(sum, 1 / type);
}
void embedding_renorm(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  const Indices at(indices);
  const int64_t item = weight.element_size(), width = weight.size(1), step = weight.stride(1) * item;
  std::vector<bool> done(static_cast<size_t>(weight.size(0)));
  dispatch(weight.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_differentiable(dtype_of<T>))
      for (int64_t i = 0; i < at.count; i++) {
        const auto row = static_cast<size_t>(checked(at[i], weight.size(0)));
        if (done[row]) continue;
        done[row] = true;
        char* data = static_cast<char*>(weight.impl()->data()) + at[i] * weight.stride(0) * item;
        const double norm = norm_of<T>(data, step, width, norm_type);
        if (!(norm > max_norm)) continue;
        const auto scale = static_cast<Sum<T>>(max_norm / (norm + 1e-7));
        for (int64_t k = 0; k < width; k++, data += step) {
          T& x = *reinterpret_cast<T*>(data);
          x = static_cast<T>(static_cast<Sum<T>>(x) * scale);
        }
      }
  });
}

// ---- embedding_bag
struct Bags {
  Indices indices, offsets;
  int64_t bags, width, padding, mode;
  int64_t start(int64_t bag) const { return offsets[bag]; }
  int64_t end(int64_t bag) const { return bag + 1 < offsets.count ? offsets[bag + 1] : indices.count; }
};

void check_offsets(const Bags& b) {
  if (b.offsets.count == 0) return;
  CRESSET_CHECK_AS(
      ValueError, b.offsets[0] == 0,
      "embedding_bag: offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
      "position 0. However, got ",
      b.offsets[0]);
  for (int64_t i = 1; i < b.offsets.count; i++)
    CRESSET_CHECK_AS(ValueError, b.offsets[i] >= b.offsets[i - 1] && b.offsets[i] <= b.indices.count,
                     "embedding_bag: offsets[", i, "] is ", b.offsets[i],
                     " (expected numbers that do not fall, up to input's length ", b.indices.count, ")");
  CRESSET_CHECK_AS(ValueError, b.offsets.count == b.bags || b.offsets[b.bags] == b.indices.count,
                   "embedding_bag: the last offset is ", b.offsets[b.offsets.count - 1], " (expected ", b.indices.count,
                   ", the number of indices, with include_last_offset)");
}

template <class T>
void reduce_bag(const Bags& b, const Rows<T>& table, const char* scales, int64_t scale_step, int64_t bag, T* out,
                int64_t* bag_of, int64_t* size, int64_t* from, Sum<T>* sum) {
  std::fill(sum, sum + b.width, Sum<T>(0));
  int64_t count = 0;
  for (int64_t i = b.start(bag); i < b.end(bag); i++) {
    const int64_t row = b.indices[i];
    bag_of[i] = bag;
    if (row == b.padding) continue;
    const char* p = table.data + row * table.step;
    if (b.mode == 2) {
      for (int64_t k = 0; k < b.width; k++, p += table.across) {
        const auto x = static_cast<Sum<T>>(*reinterpret_cast<const T*>(p));
        if (count > 0 && !(x > sum[k])) continue;
        sum[k] = x;
        from[k] = row;
      }
    } else if (scales) {
      const auto scale = static_cast<Sum<T>>(*reinterpret_cast<const T*>(scales + i * scale_step));
      for (int64_t k = 0; k < b.width; k++, p += table.across)
        sum[k] += scale * static_cast<Sum<T>>(*reinterpret_cast<const T*>(p));
    } else {
      table.add_to(sum, row);
    }
    count++;
  }
  *size = count;
  if (b.mode == 1 && count > 1)
    for (int64_t k = 0; k < b.width; k++) sum[k] /= static_cast<Sum<T>>(count);
  for (int64_t k = 0; k < b.width; k++) out[k] = static_cast<T>(sum[k]);
}

void embedding_bag(const Tensor& out, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& max_indices,
                   const Tensor& weight, const Tensor& indices, const Tensor& offsets, const Tensor& per_sample_weights,
                   int64_t mode, int64_t padding_idx) {
  const Bags b{Indices(indices), Indices(offsets), out.size(0), out.size(1), padding_idx, mode};
  check_offsets(b);
  auto* bag_of = static_cast<int64_t*>(offset2bag.impl()->data());
  auto* sizes = static_cast<int64_t*>(bag_size.impl()->data());
  auto* from = static_cast<int64_t*>(max_indices.impl()->data());
  if (mode == 2) std::fill(from, from + max_indices.numel(), 0);
  dispatch(weight.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_floating_point(dtype_of<T>)) {
      const int64_t item = weight.element_size();
      const Rows<T> table{static_cast<const char*>(weight.impl()->data()), weight.stride(0) * item,
                          weight.stride(1) * item, b.width};
      const char* scales =
          per_sample_weights.defined() ? static_cast<const char*>(per_sample_weights.impl()->data()) : nullptr;
      const int64_t scale_step = scales ? per_sample_weights.stride(0) * item : 0;
      const int64_t work = std::max<int64_t>(1, (indices.numel() + b.bags) * b.width / b.bags);
      T* to = static_cast<T*>(out.impl()->data());
      parallel_for(0, b.bags, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
        std::vector<Sum<T>> sum(static_cast<size_t>(b.width));
        for (int64_t bag = begin; bag < end; bag++)
          reduce_bag<T>(b, table, scales, scale_step, bag, to + bag * b.width, bag_of, sizes + bag,
                        mode == 2 ? from + bag * b.width : nullptr, sum.data());
      });
    }
  });
}

[[maybe_unused]] const bool registered =
    embedding_backward_kernel.set(kCPU, embedding_backward) && frequency_kernel.set(kCPU, frequency) &&
    embedding_renorm_kernel.set(kCPU, embedding_renorm) && embedding_bag_kernel.set(kCPU, embedding_bag);

}  // namespace
}  // namespace cresset::cpu
