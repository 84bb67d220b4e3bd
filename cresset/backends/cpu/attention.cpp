// CPU kernels of ops/attention: the forward, tile by tile with the softmax's maximum and sum carried along, and its
// dropout as a tensor.
#include "cresset/ops/attention.h"

#include <cmath>
#include <vector>

#include "cresset/backends/cpu/attention_tiles.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu::attention {
namespace {

template <class T>
void forward_block(const Shape& s, const Tensor& out, T* normalizers, const Matrices& q, const Matrices& k,
                   const Matrices& v, const Tensor& mask, int64_t batch, int64_t block, T* room) {
  const AttentionInner<T>& inner = attention_inner<T>();
  T *columns = room, *scores = columns + s.width * kTile, *sum = scores + kTile * kTile;
  T *top = sum + s.value_width * kTile, *total = top + kTile, *factor = total + kTile;
  T *k_room = factor + kTile, *v_room = k_room + kTile * s.width;
  pack_columns(columns, q, batch, block, s.queries_in(block), static_cast<T>(s.scale), k_room);
  std::fill_n(sum, s.value_width * kTile, T(0));
  std::fill_n(top, kTile, -kInfinity<T>);
  std::fill_n(total, kTile, T(0));
  for (int64_t j = 0; j < s.seen_blocks(block); j++) {
    const int64_t keys = s.keys_in(j);
    const Rows<T> from = rows_of(k, batch, j * kTile, keys, k_room, s.width);
    const bool diagonal = is_diagonal(s, block, j);
    tile_product(scores, from.data, from.step, columns, keys, s.width, diagonal);
    hide(s, mask, batch, block, j, scores);
    if (inner.soften(scores, keys, top, total, factor)) inner.scale(sum, s.value_width, factor);
    if (s.p > 0) drop(s, batch, block, j, scores);
    const Rows<T> values = rows_of(v, batch, j * kTile, keys, v_room, s.value_width);
    const int64_t first = diagonal ? kHalf : 0;  // queries that see the first half of the keys alone
    if (first) inner.gemm(sum, kTile, values.data, 1, values.step, scores, kTile, s.value_width, first, kHalf, true);
    inner.gemm(sum + first, kTile, values.data, 1, values.step, scores + first, kTile, s.value_width, kTile - first,
               keys, true);
  }
  const int64_t count = s.queries_in(block);
  for (int64_t j = 0; j < kTile; j++) {
    const bool any = total[j] != 0;
    factor[j] = any ? 1 / total[j] : T(0);
    if (j < count)
      normalizers[batch * s.queries + block * kTile + j] = any ? top[j] + std::log(total[j]) : kInfinity<T>;
  }
  inner.scale(sum, s.value_width, factor);
  const Matrices y(out);
  char* to = y.at(batch, block * kTile);
  if (y.direct<T>()) return inner.turn(reinterpret_cast<T*>(to), y.row, sum, kTile, s.value_width, count, T(1));
  inner.turn(v_room, s.value_width, sum, kTile, s.value_width, count, T(1));
  for (int64_t j = 0; j < count; j++) y.write_row(y.next(to, j), v_room + j * s.value_width);
}

template <class T>
void forward_typed(const Tensor& out, const Tensor& normalizers, const Tensor& q, const Tensor& k, const Tensor& v,
                   const Tensor& mask, const Shape& s) {
  const Matrices qs(q), ks(k), vs(v);
  const int64_t blocks = s.query_blocks();
  const int64_t work = kTile * s.keys * (s.width + s.value_width);
  const int64_t room = (kTile + kTile) * (s.width + s.value_width) + kTile * (kTile + 3);
  parallel_for(0, s.batch * blocks, std::max<int64_t>(1, 200000 / std::max<int64_t>(work, 1)),
               [&](int64_t begin, int64_t end) {
                 const Scratch<T> memory(room);
                 for (int64_t i = begin; i < end; i++)
                   forward_block(s, out, static_cast<T*>(normalizers.impl()->data()), qs, ks, vs, mask, i / blocks,
                                 i % blocks, memory.get());
               });
}
void forward(const Tensor& out, const Tensor& normalizers, const Tensor& q, const Tensor& k, const Tensor& v,
             const Tensor& mask, bool causal, double scale, double p, PhiloxCursor at) {
  if (out.numel() == 0) return;
  const Shape s = shape_of(q, k, v, causal, scale, p, at);
  if (q.dtype() == kDouble)
    forward_typed<double>(out, normalizers, q, k, v, mask, s);
  else
    forward_typed<float>(out, normalizers, q, k, v, mask, s);
}

// ---- dropout as a tensor
void dropout(const Tensor& kept, double p, PhiloxCursor at) {
  if (kept.numel() == 0) return;
  const Matrices to(kept);
  const Shape s{kept.numel() / (to.rows * to.cols), to.rows, to.cols, 0, 0, false, 1, p, at};
  const int64_t blocks = s.query_blocks();
  parallel_for(0, s.batch * blocks, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> tile(kTile * kTile), line(kTile);
    for (int64_t i = begin; i < end; i++)
      for (int64_t k = 0; k < s.key_blocks(); k++) {
        std::fill(tile.begin(), tile.end(), 1.0);
        drop(s, i / blocks, i % blocks, k, tile.data());
        for (int64_t j = 0; j < s.queries_in(i % blocks); j++) {
          for (int64_t e = 0; e < s.keys_in(k); e++)
            line[static_cast<size_t>(e)] = tile[static_cast<size_t>(e * kTile + j)];
          convert(to.at(i / blocks, i % blocks * kTile + j) + k * kTile * to.item, kept.dtype(), to.item, line.data(),
                  kDouble, sizeof(double), s.keys_in(k));
        }
      }
  });
}

// Both are contiguous.
void seen(const Tensor& out, const Tensor& normalizers) {
  bool* y = static_cast<bool*>(out.impl()->data());
  auto fill = [&]<class T>(const T* x) {
    for (int64_t i = 0; i < out.numel(); i++) y[i] = x[i] != kInfinity<T>;
  };
  if (normalizers.dtype() == kDouble)
    fill(static_cast<const double*>(normalizers.impl()->data()));
  else
    fill(static_cast<const float*>(normalizers.impl()->data()));
}

[[maybe_unused]] const bool registered = attention_kernel.set(kCPU, forward) &&
                                         attention_dropout_kernel.set(kCPU, dropout) &&
                                         attention_seen_kernel.set(kCPU, seen);

}  // namespace
}  // namespace cresset::cpu::attention
