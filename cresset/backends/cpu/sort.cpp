// CPU kernels of ops/sort. For topk a few of many are kept in a small sorted heap while the line is read once;
// otherwise the line is partitioned. Sorting goes through keys with their places: see sort_keys.h.
#include "cresset/ops/sort.h"

#include "cresset/backends/cpu/radix_sort.h"
#include "cresset/backends/cpu/reduce_lines.h"
#include "cresset/backends/cpu/sort_keys.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 4096;

template <class T>
struct Entry {
  Compared<T> value;
  int64_t index;
};

// nan is above all.
template <class T>
bool above(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a > b || (a != a && b == b);
  else
    return a > b;
}
// Whether a comes before b; of equals the one that stood first.
template <class T, bool largest>
struct Before {
  bool operator()(const Entry<T>& a, const Entry<T>& b) const {
    if (largest ? above(a.value, b.value) : above(b.value, a.value)) return true;
    if (largest ? above(b.value, a.value) : above(a.value, b.value)) return false;
    return a.index < b.index;
  }
};

template <class T, bool largest>
void topk_line(const char* x, int64_t stride, int64_t n, int64_t k, bool sorted, std::vector<Entry<T>>& entries) {
  Before<T, largest> before;
  auto entry = [&](int64_t i) {
    return Entry<T>{static_cast<Compared<T>>(*reinterpret_cast<const T*>(x + i * stride)), i};
  };
  entries.clear();
  if (k * 16 <= n) {  // the last of the best on top of a heap; most elements fail against it
    for (int64_t i = 0; i < k; i++) entries.push_back(entry(i));
    std::make_heap(entries.begin(), entries.end(), before);
    for (int64_t i = k; i < n; i++) {
      Entry<T> e = entry(i);
      if (!before(e, entries.front())) continue;
      std::pop_heap(entries.begin(), entries.end(), before);
      entries.back() = e;
      std::push_heap(entries.begin(), entries.end(), before);
    }
  } else {
    for (int64_t i = 0; i < n; i++) entries.push_back(entry(i));
    if (k < n) std::nth_element(entries.begin(), entries.begin() + (k - 1), entries.end(), before);
    entries.resize(static_cast<size_t>(k));
  }
  if (sorted) std::sort(entries.begin(), entries.end(), before);
}

template <class T, bool largest>
void topk_typed(const Lines& lines, int64_t k, bool sorted) {
  int64_t n = lines.length(0);
  parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    std::vector<Entry<T>> entries;
    for (int64_t line = begin; line < end; line++) {
      auto at = lines.at(line);
      topk_line<T, largest>(at.data[0], lines.stride(0), n, k, sorted, entries);
      for (int64_t i = 0; i < k; i++) {
        const Entry<T>& e = entries[static_cast<size_t>(i)];
        *reinterpret_cast<T*>(at.data[1] + i * lines.stride(1)) = static_cast<T>(e.value);
        *reinterpret_cast<int64_t*>(at.data[2] + i * lines.stride(2)) = e.index;
      }
    }
  });
}

void topk(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t k, int64_t dim, bool largest,
          bool sorted) {
  if (values.numel() == 0) return;
  Lines lines({&x, &values, &indices}, dim);
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!is_complex(dtype_of<T>))
      largest ? topk_typed<T, true>(lines, k, sorted) : topk_typed<T, false>(lines, k, sorted);
  });
}

// ---- sort
constexpr int64_t kPartLength = 1 << 15;  // what a thread is worth, of one line

template <class T, class E>
class LineSort {
 public:
  LineSort(const Lines& lines, bool descending)
      : lines_(lines), n_(lines.length(0)), flip_(descending ? ~Key<T>(0) : Key<T>(0)) {
    data_.reset(new E[static_cast<size_t>(n_)]);
    if (n_ >= RadixSort<E>::kShortest) room_.reset(new E[static_cast<size_t>(n_)]);
  }
  void operator()(int64_t line, int parts) {
    auto at = lines_.at(line);
    int64_t grain = parts > 1 ? kPartLength : n_;
    parallel_for(0, n_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++)
        data_[static_cast<size_t>(i)] =
            E::make(key_of(*reinterpret_cast<const T*>(at.data[0] + i * lines_.stride(0))) ^ flip_, i);
    });
    const E* sorted = sort_(data_.get(), room_.get(), n_, parts);
    parallel_for(0, n_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        Key<T> key = sorted[i].key() ^ flip_;
        int64_t place = sorted[i].place();
        T value = is_ambiguous<T>(key) ? *reinterpret_cast<const T*>(at.data[0] + place * lines_.stride(0))
                                       : number_of<T>(key);
        *reinterpret_cast<T*>(at.data[1] + i * lines_.stride(1)) = value;
        *reinterpret_cast<int64_t*>(at.data[2] + i * lines_.stride(2)) = place;
      }
    });
  }

 private:
  const Lines& lines_;
  int64_t n_;
  Key<T> flip_;
  std::unique_ptr<E[]> data_, room_;
  RadixSort<E> sort_;
};

template <class T, class E>
void sort_typed(const Lines& lines, bool descending) {
  int64_t n = lines.length(0), parts = std::min<int64_t>(get_num_threads(), n / kPartLength);
  if (parts > 1 && lines.count < get_num_threads() && !in_parallel_region()) {
    LineSort<T, E> sort(lines, descending);
    for (int64_t line = 0; line < lines.count; line++) sort(line, static_cast<int>(parts));
    return;
  }
  parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    LineSort<T, E> sort(lines, descending);
    for (int64_t line = begin; line < end; line++) sort(line, 1);
  });
}

void sort(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim, bool descending) {
  if (values.numel() == 0) return;
  Lines lines({&x, &values, &indices}, dim);
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!is_complex(dtype_of<T>))
      with_entry<T>(lines.length(0), [&](auto e) { sort_typed<T, decltype(e)>(lines, descending); });
  });
}

[[maybe_unused]] const bool registered = topk_kernel.set(kCPU, topk) && sort_kernel.set(kCPU, sort);

}  // namespace
}  // namespace cresset::cpu
