// CPU kernel of ops/diagonal: triangles, row by row. Elements are moved as bytes, so that one loop per width serves all
// dtypes.
#include "cresset/ops/diagonal.h"

#include <algorithm>

#include "cresset/backends/cpu/element_moves.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

template <class T>
void triangle_rows(const TensorImpl* out, const TensorImpl* x, int64_t diagonal, bool upper) {
  const int rank = out->sizes.rank();
  const int64_t rows = out->sizes[rank - 2], cols = out->sizes[rank - 1];
  int64_t all = rows;
  for (int i = 0; i < rank - 2; i++) all *= out->sizes[i];
  const int64_t to_step = out->strides[rank - 1], from_step = x->strides[rank - 1];
  const bool in_place = out->data() == x->data();
  parallel_for(0, all, std::max<int64_t>(1, 16384 / std::max<int64_t>(cols, 1)), [&](int64_t first, int64_t last) {
    for (int64_t line = first; line < last; line++) {
      const int64_t row = line % rows;
      int64_t rest = line / rows, to_at = row * out->strides[rank - 2], from_at = row * x->strides[rank - 2];
      for (int i = rank - 3; i >= 0; i--) {
        const int64_t index = rest % out->sizes[i];
        rest /= out->sizes[i];
        to_at += index * out->strides[i];
        from_at += index * x->strides[i];
      }
      T* to = static_cast<T*>(out->data()) + to_at;
      const T* from = static_cast<const T*>(x->data()) + from_at;
      // Columns [begin, end) are kept.
      const int64_t edge = std::clamp<int64_t>(upper ? row + diagonal : row + diagonal + 1, 0, cols);
      const int64_t begin = upper ? edge : 0, end = upper ? cols : edge;
      for (int64_t j = 0; j < begin; j++) to[j * to_step] = T{};
      if (!in_place)
        for (int64_t j = begin; j < end; j++) to[j * to_step] = from[j * from_step];
      for (int64_t j = end; j < cols; j++) to[j * to_step] = T{};
    }
  });
}

void triangle(const Tensor& out, const Tensor& x, int64_t diagonal, bool upper) {
  const TensorImpl *to = out.impl(), *from = x.impl();
  if (out.numel() == 0) return;
  diagonal = std::clamp<int64_t>(diagonal, -(int64_t{1} << 60), int64_t{1} << 60);
  with_size_of(to->dtype, [&]<class T>(T) { triangle_rows<T>(to, from, diagonal, upper); });
}

[[maybe_unused]] const bool registered = triangle_kernel.set(kCPU, triangle);

}  // namespace
}  // namespace cresset::cpu
