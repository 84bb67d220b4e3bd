// CPU kernels of ops/reduce that deal in places along a dimension: the maximum or minimum and where it stands, gather
// and scatter.
#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/reduce_lines.h"
#include "cresset/backends/cpu/reduce_loop.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/reduce.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 16384;
constexpr int64_t kSideBySide = 2048;  // columns whose maxima are found together

template <class T>
using Compared = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// nan wins; of equals the first stays.
template <bool Min, class T>
bool beats(T x, T best) {
  bool further = Min ? x < best : x > best;
  if constexpr (std::is_floating_point_v<T>)
    return further || (x != x && best == best);
  else
    return further;
}

template <class T>
struct Best {
  Compared<T> value;
  int64_t index;
};

template <bool Min, class T>
Best<T> best_of_line(const char* x, int64_t stride, int64_t n) {
  auto element = [&](int64_t i) { return static_cast<Compared<T>>(*reinterpret_cast<const T*>(x + i * stride)); };
  Best<T> best{element(0), 0};
  if (stride != static_cast<int64_t>(sizeof(T)) || n < 64) {
    for (int64_t i = 1; i < n; i++)
      if (beats<Min>(element(i), best.value)) best = {element(i), i};
    return best;
  }
  // Vectors find the best of a piece; only a piece that wins is searched for the place.
  constexpr int64_t kSearched = 1024;
  const ReduceInner& inner = Min ? min_inner(dtype_of<T>) : max_inner(dtype_of<T>);
  for (int64_t at = 0; at < n; at += kSearched) {
    int64_t end = std::min(n, at + kSearched);
    Compared<T> top;
    inner.start(&top, 1);
    inner.rows(&top, x + at * stride, end - at, 1, 0);
    if (at > 0 && !beats<Min>(top, best.value)) continue;
    int64_t i = at;
    while (i + 1 < end && !(element(i) == top || (top != top && element(i) != element(i)))) i++;
    best = {top, i};
  }
  return best;
}

template <bool Min, class T>
void best_of_lines(const Lines& lines, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    auto at = lines.at(i);
    Best<T> best = best_of_line<Min, T>(at.data[0], lines.stride(0), lines.length(0));
    *reinterpret_cast<T*>(at.data[1]) = static_cast<T>(best.value);
    *reinterpret_cast<int64_t*>(at.data[2]) = best.index;
  }
}

// Lines that lie side by side in memory: row after row.
template <bool Min, class T>
void best_side_by_side(const Lines& lines, int64_t begin, int64_t end) {
  BestIndexColumns take = Min ? min_index_columns(dtype_of<T>) : max_index_columns(dtype_of<T>);
  Compared<T> value[kSideBySide];
  int32_t index[kSideBySide];
  for (int64_t line = begin; line < end;) {
    int64_t n = std::min({kSideBySide, end - line, lines.width() - line % lines.width()});
    auto at = lines.at(line);
    const T* first = reinterpret_cast<const T*>(at.data[0]);
    for (int64_t j = 0; j < n; j++) value[j] = static_cast<Compared<T>>(first[j]), index[j] = 0;
    for (int64_t i = 1; i < lines.length(0); i++)
      take(value, index, at.data[0] + i * lines.stride(0), static_cast<int32_t>(i), n);
    for (int64_t j = 0; j < n; j++) {
      *reinterpret_cast<T*>(at.data[1] + j * lines.across(1)) = static_cast<T>(value[j]);
      *reinterpret_cast<int64_t*>(at.data[2] + j * lines.across(2)) = index[j];
    }
    line += n;
  }
}

// One long line: pieces by themselves, then the best of them, the first of equals.
template <bool Min, class T>
void best_of_long_line(const Lines& lines, int64_t line) {
  auto at = lines.at(line);
  int64_t n = lines.length(0), pieces = (n + kPiece - 1) / kPiece;
  std::vector<Best<T>> found(static_cast<size_t>(pieces));
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      int64_t first = i * kPiece;
      Best<T> best =
          best_of_line<Min, T>(at.data[0] + first * lines.stride(0), lines.stride(0), std::min(kPiece, n - first));
      found[static_cast<size_t>(i)] = {best.value, best.index + first};
    }
  });
  Best<T> best = found[0];
  for (const Best<T>& other : found)
    if (beats<Min>(other.value, best.value)) best = other;
  *reinterpret_cast<T*>(at.data[1]) = static_cast<T>(best.value);
  *reinterpret_cast<int64_t*>(at.data[2]) = best.index;
}

template <bool Min, class T>
void best_typed(const Lines& lines) {
  int64_t n = lines.length(0), grain = std::max<int64_t>(1, kGrain / n);
  if (lines.across(0) == static_cast<int64_t>(sizeof(T)) && lines.width() >= 4 && n <= INT32_MAX)
    return parallel_for(0, lines.count, grain,
                        [&](int64_t begin, int64_t end) { best_side_by_side<Min, T>(lines, begin, end); });
  if (lines.count <= 4 && n > 2 * kPiece) {
    for (int64_t i = 0; i < lines.count; i++) best_of_long_line<Min, T>(lines, i);
    return;
  }
  parallel_for(0, lines.count, grain, [&](int64_t begin, int64_t end) { best_of_lines<Min, T>(lines, begin, end); });
}

template <bool Min>
void best_dim(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim) {
  if (values.numel() == 0) return;
  Lines lines({&x, &values, &indices}, dim);
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (!is_complex(dtype_of<T>)) best_typed<Min, T>(lines);
  });
}

[[maybe_unused]] const bool registered =
    max_dim_kernel.set(kCPU, best_dim<false>) && min_dim_kernel.set(kCPU, best_dim<true>);

}  // namespace
}  // namespace cresset::cpu
