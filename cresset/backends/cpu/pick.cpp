// CPU kernels of ops/sort that pick single elements of lines: by rank, by frequency, and the places of quantiles.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cresset/backends/cpu/reduce_lines.h"
#include "cresset/backends/cpu/sort_keys.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/sort.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 4096;

// How many of a line are not nan, and the first that is.
template <class T>
struct Numbers {
  int64_t count = 0, first_nan = -1;
  Numbers(const char* x, int64_t stride, int64_t n) : count(n) {
    if constexpr (is_floating_point(dtype_of<T>))
      for (int64_t i = 0; i < n; i++) {
        auto v = static_cast<Compared<T>>(*reinterpret_cast<const T*>(x + i * stride));
        if (v == v) continue;
        if (first_nan < 0) first_nan = i;
        count--;
      }
  }
};

// Runs of equal keys in order: the longest, the first of those.
template <class E>
int64_t most_frequent(std::vector<E>& entries) {
  std::sort(entries.begin(), entries.end());
  size_t longest = 0, run = 0;
  int64_t place = 0;
  for (size_t i = 0; i < entries.size(); i++) {
    run++;
    if (i + 1 < entries.size() && entries[i + 1].key() == entries[i].key()) continue;
    if (run > longest) longest = run, place = entries[i].place();
    run = 0;
  }
  return place;
}

template <class T, class E>
int64_t picked_place(const char* x, int64_t stride, int64_t n, Pick pick, int64_t k, std::vector<E>& entries) {
  int64_t rank = k - 1;
  if (pick == Pick::median || pick == Pick::nanmedian) {
    Numbers<T> numbers(x, stride, n);
    if (pick == Pick::median && numbers.first_nan >= 0) return numbers.first_nan;
    if (numbers.count == 0) return numbers.first_nan;
    rank = (numbers.count - 1) / 2;
  }
  entries.clear();
  auto entry = [&](int64_t i) { return E::make(key_of(*reinterpret_cast<const T*>(x + i * stride)), i); };
  if (pick == Pick::mode) {
    for (int64_t i = 0; i < n; i++) entries.push_back(entry(i));
    return most_frequent(entries);
  }
  return ranked_entry<E>(n, rank + 1, entry).place();
}

void pick(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim, int64_t how, int64_t k) {
  if (values.numel() == 0) return;
  Lines lines({&x, &values, &indices}, dim);
  int64_t n = lines.length(0);
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!is_complex(dtype_of<T>))
      with_entry<T>(n, [&](auto e) {
        parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
          std::vector<decltype(e)> entries;
          entries.reserve(static_cast<size_t>(n));
          for (int64_t line = begin; line < end; line++) {
            auto at = lines.at(line);
            int64_t place = picked_place<T>(at.data[0], lines.stride(0), n, static_cast<Pick>(how), k, entries);
            *reinterpret_cast<T*>(at.data[1]) = *reinterpret_cast<const T*>(at.data[0] + place * lines.stride(0));
            *reinterpret_cast<int64_t*>(at.data[2]) = place;
          }
        });
      });
  });
}

enum Rounding : int64_t { kLinear, kLower, kHigher, kMidpoint, kNearest };

template <class T>
void quantile_typed(const Lines& lines, const Tensor& q, int64_t rounding, bool skip_nan) {
  int64_t n = lines.length(0), count = q.numel();
  const T* fractions = static_cast<const T*>(q.impl()->data());
  int64_t step = q.dim() ? q.stride(0) : 1;
  for (int64_t i = 0; i < count; i++) {
    T fraction = fractions[i * step];
    CRESSET_CHECK_AS(IndexError, fraction >= 0 && fraction <= 1,
                     "quantile() q values must be in the range [0, 1], found ", fraction);
  }
  parallel_for(0, lines.count, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; line++) {
      auto at = lines.at(line);
      Numbers<T> numbers(at.data[0], lines.stride(0), n);
      for (int64_t i = 0; i < count; i++) {
        // A nan is last in order: where there is one, it is every quantile.
        T last = static_cast<T>(std::max<int64_t>(0, (skip_nan ? numbers.count : n) - 1));
        T rank = !skip_nan && numbers.first_nan >= 0 ? last : fractions[i * step] * last;
        if (rounding == kLower) rank = std::floor(rank);
        if (rounding == kHigher) rank = std::ceil(rank);
        if (rounding == kNearest) rank = std::nearbyint(rank);
        T below = std::floor(rank);
        *reinterpret_cast<int64_t*>(at.data[1] + i * lines.stride(1)) = static_cast<int64_t>(below);
        *reinterpret_cast<int64_t*>(at.data[2] + i * lines.stride(2)) = static_cast<int64_t>(std::ceil(rank));
        *reinterpret_cast<T*>(at.data[3] + i * lines.stride(3)) = rounding == kMidpoint ? T(0.5) : rank - below;
      }
    }
  });
}
void quantile_places(const Tensor& below, const Tensor& above, const Tensor& weight, const Tensor& q,
                     const Tensor& sorted, int64_t rounding, bool skip_nan) {
  Lines lines({&sorted, &below, &above, &weight}, sorted.dim() - 1);
  sorted.dtype() == kDouble ? quantile_typed<double>(lines, q, rounding, skip_nan)
                            : quantile_typed<float>(lines, q, rounding, skip_nan);
}

[[maybe_unused]] const bool registered =
    pick_kernel.set(kCPU, pick) && quantile_places_kernel.set(kCPU, quantile_places);

}  // namespace
}  // namespace cresset::cpu
