// CPU kernels of ops/sort, on keys with their places (see sort_keys.h): these have but one order, so that any way to
// find it gives the same result. A few of many are kept in a small heap while the line is read once.
#include "cresset/ops/sort.h"

#include "cresset/backends/cpu/radix_sort.h"
#include "cresset/backends/cpu/reduce_lines.h"
#include "cresset/backends/cpu/sort_keys.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 4096;

// ---- topk: what comes first has the smaller key, flipped where the largest are wanted
template <class T>
Key<T> key_at(const char* x, int64_t stride, int64_t i, Key<T> flip) {
  return key_of(*reinterpret_cast<const T*>(x + i * stride)) ^ flip;
}

// The first k among elements begin to end, in a heap with the last of them on top: most elements fail against it, and
// are passed over in blocks.
template <class T, class E>
void keep_first(std::vector<E>& heap, const char* x, int64_t stride, int64_t begin, int64_t end, int64_t k,
                Key<T> flip) {
  int64_t i = begin;
  for (; i < std::min(end, begin + k); i++) heap.push_back(E::make(key_at<T>(x, stride, i, flip), i));
  std::make_heap(heap.begin(), heap.end());
  auto offer = [&](int64_t at) {
    E entry = E::make(key_at<T>(x, stride, at, flip), at);
    if (!(entry < heap.front())) return;
    std::pop_heap(heap.begin(), heap.end());
    heap.back() = entry;
    std::push_heap(heap.begin(), heap.end());
  };
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int64_t kBlock = 32;
    const T* p = reinterpret_cast<const T*>(x);
    for (; stride == kItem<T> && i + kBlock <= end; i += kBlock) {
      const T last = p[heap.front().place()];
      int candidates = 0;  // nan counts as one
      if (flip)
        for (int64_t j = 0; j < kBlock; j++) candidates |= !(p[i + j] <= last);
      else
        for (int64_t j = 0; j < kBlock; j++) candidates |= !(p[i + j] >= last);
      if (candidates)
        for (int64_t j = 0; j < kBlock; j++) offer(i + j);
    }
  }
  for (; i < end; i++) offer(i);
}

constexpr int64_t kTopkPiece = 1 << 16;  // of one line, for a thread

template <class T, class E>
class LineTopk {
 public:
  LineTopk(const Lines& lines, int64_t k, bool largest, bool sorted)
      : lines_(lines), n_(lines.length(0)), k_(k), flip_(largest ? ~Key<T>(0) : Key<T>(0)), sorted_(sorted) {}
  void operator()(int64_t line, bool on_threads) {
    auto at = lines_.at(line);
    first_.clear();
    if (k_ * 16 > n_)
      first_entries(first_, n_, k_,
                    [&](int64_t i) { return E::make(key_at<T>(at.data[0], lines_.stride(0), i, flip_), i); });
    else if (on_threads)
      by_pieces(at.data[0]);
    else
      keep_first<T>(first_, at.data[0], lines_.stride(0), 0, n_, k_, flip_);
    const E* in_order = first_.data();
    if (sorted_) {
      if (k_ >= RadixSort<E>::kShortest) room_.resize(static_cast<size_t>(k_));
      in_order = sort_(first_.data(), room_.data(), k_, 1);
    }
    for (int64_t i = 0; i < k_; i++) {
      int64_t place = in_order[i].place();
      *reinterpret_cast<T*>(at.data[1] + i * lines_.stride(1)) =
          *reinterpret_cast<const T*>(at.data[0] + place * lines_.stride(0));
      *reinterpret_cast<int64_t*>(at.data[2] + i * lines_.stride(2)) = place;
    }
  }

 private:
  void by_pieces(const char* x) {
    int64_t pieces = (n_ + kTopkPiece - 1) / kTopkPiece;
    std::vector<std::vector<E>> found(static_cast<size_t>(pieces));
    parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++)
        keep_first<T>(found[static_cast<size_t>(i)], x, lines_.stride(0), i * kTopkPiece,
                      std::min(n_, (i + 1) * kTopkPiece), k_, flip_);
    });
    for (const auto& some : found) first_.insert(first_.end(), some.begin(), some.end());
    std::nth_element(first_.begin(), first_.begin() + (k_ - 1), first_.end());
    first_.resize(static_cast<size_t>(k_));
  }

  const Lines& lines_;
  int64_t n_, k_;
  Key<T> flip_;
  bool sorted_;
  std::vector<E> first_, room_;
  RadixSort<E> sort_;
};

template <class T, class E>
void topk_typed(const Lines& lines, int64_t k, bool largest, bool sorted) {
  int64_t n = lines.length(0);
  if (lines.count < get_num_threads() && n >= 2 * kTopkPiece && k * 8 <= kTopkPiece && !in_parallel_region()) {
    LineTopk<T, E> topk(lines, k, largest, sorted);
    for (int64_t line = 0; line < lines.count; line++) topk(line, true);
    return;
  }
  parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    LineTopk<T, E> topk(lines, k, largest, sorted);
    for (int64_t line = begin; line < end; line++) topk(line, false);
  });
}

void topk(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t k, int64_t dim, bool largest,
          bool sorted) {
  if (values.numel() == 0) return;
  Lines lines({&x, &values, &indices}, dim);
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!is_complex(dtype_of<T>))
      with_entry<T>(lines.length(0), [&](auto e) { topk_typed<T, decltype(e)>(lines, k, largest, sorted); });
  });
}

// ---- sort
constexpr int64_t kPartLength = 1 << 14;  // what a thread is worth, of one line

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
