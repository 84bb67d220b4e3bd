// What the CPU's attention forward (attention.cpp) and backward (attention_backward.cpp) share: how tensors are read by
// matrices and rows, and what is done to a tile of kTile queries by kTile keys: its product, mask and dropout.
// Everything is kept with queries side by side (scores transposed), so that keys and values are read as they lie in
// memory. Each result is added up in the order of its tiles, whatever the threads do.
#pragma once

#include <algorithm>
#include <limits>

#include "cresset/backends/cpu/attention_simd.h"
#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/random_simd.h"
#include "cresset/backends/cpu/scratch.h"
#include "cresset/core/tensor.h"

namespace cresset::cpu::attention {

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

inline int64_t blocks_of(int64_t n) { return (n + kTile - 1) / kTile; }

// The matrices [.., rows, cols] of a tensor, by number.
struct Matrices {
  const TensorImpl* impl;
  int64_t rows, cols, row, col, item;

  explicit Matrices(const Tensor& x) : impl(x.impl()) {
    const int rank = impl->sizes.rank();
    item = static_cast<int64_t>(element_size(impl->dtype));
    rows = impl->sizes[rank - 2];
    cols = impl->sizes[rank - 1];
    row = impl->strides[rank - 2];
    col = impl->strides[rank - 1];
  }
  char* at(int64_t matrix, int64_t i) const {
    int64_t offset = i * row;
    for (int d = impl->sizes.rank() - 3; d >= 0; d--) {
      offset += matrix % impl->sizes[d] * impl->strides[d];
      matrix /= impl->sizes[d];
    }
    return static_cast<char*>(impl->data()) + offset * item;
  }
  char* next(char* at, int64_t rows) const { return at + rows * row * item; }
  template <class T>
  bool direct() const {
    return impl->dtype == dtype_of<T> && (col == 1 || cols == 1);
  }
  template <class T>
  void read_row(T* to, const char* from) const {
    convert(to, dtype_of<T>, sizeof(T), from, impl->dtype, col * item, cols);
  }
  template <class T>
  void write_row(char* to, const T* from) const {
    convert(to, impl->dtype, col * item, from, dtype_of<T>, sizeof(T), cols);
  }
};

// Some rows of a matrix in T: where they lie, or copied with `width` elements each.
template <class T>
struct Rows {
  const T* data;
  int64_t step;
};
template <class T>
Rows<T> rows_of(const Matrices& x, int64_t matrix, int64_t first, int64_t count, T* buffer, int64_t width) {
  char* from = x.at(matrix, first);
  if (x.direct<T>() && width <= x.cols) return {reinterpret_cast<const T*>(from), x.row};
  for (int64_t i = 0; i < count; i++) {
    x.read_row(buffer + i * width, x.next(from, i));
    std::fill(buffer + i * width + x.cols, buffer + (i + 1) * width, T(0));
  }
  return {buffer, width};
}

struct Shape {
  int64_t batch, queries, keys, width, value_width;
  bool causal;
  double scale, p;
  PhiloxCursor at;

  int64_t query_blocks() const { return blocks_of(queries); }
  int64_t key_blocks() const { return blocks_of(keys); }
  int64_t keys_in(int64_t block) const { return std::min(kTile, keys - block * kTile); }
  int64_t queries_in(int64_t block) const { return std::min(kTile, queries - block * kTile); }
  // Key blocks that some query of a block sees.
  int64_t seen_blocks(int64_t query_block) const {
    return causal ? std::min(key_blocks(), query_block + 1) : key_blocks();
  }
};

inline Shape shape_of(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, double scale, double p,
                      PhiloxCursor at) {
  const Matrices a(q), b(k), c(v);
  int64_t batch = 1;
  for (int i = 0; i < q.impl()->sizes.rank() - 2; i++) batch *= q.impl()->sizes[i];
  return {batch, a.rows, b.rows, a.cols, c.cols, causal, scale, p, at};
}

// Which of a tile's scores are kept: 32 random bits for each.
inline void tile_bits(const Shape& s, int64_t batch, int64_t query_block, int64_t key_block, uint32_t* bits) {
  const int64_t tile = (batch * s.query_blocks() + query_block) * s.key_blocks() + key_block;
  for (int64_t i = 0; i < kTile * kTile; i += kRandomChunk)
    random_functions().bits(s.at.seed, s.at.first + static_cast<uint64_t>((tile * kTile * kTile + i) / 4), bits + i);
}
inline uint32_t threshold_of(double p) { return static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1)); }
template <class T>
void drop(const Shape& s, int64_t batch, int64_t query_block, int64_t key_block, T* tile) {
  uint32_t bits[kTile * kTile];
  tile_bits(s, batch, query_block, key_block, bits);
  const uint32_t threshold = threshold_of(s.p);
  const T scale = s.p < 1 ? static_cast<T>(1 / (1 - s.p)) : T(0);
  const int64_t count = s.keys_in(key_block) * kTile;
  for (int64_t i = 0; i < count; i++) tile[i] = bits[i] < threshold ? T(0) : tile[i] * scale;
}

// Adds the mask, or puts -inf where it (or causality) hides a key.
template <class T>
void hide(const Shape& s, const Tensor& mask, int64_t batch, int64_t query_block, int64_t key_block, T* scores) {
  const int64_t keys = s.keys_in(key_block), queries = s.queries_in(query_block);
  if (s.causal && key_block >= query_block)
    for (int64_t i = 0; i < keys; i++) {
      const int64_t before = (key_block - query_block) * kTile + i;  // queries that come before this key
      std::fill_n(scores + i * kTile, std::min(before, kTile), -kInfinity<T>);
    }
  if (!mask.defined()) return;
  const Matrices m(mask);
  T line[kTile];
  bool seen[kTile];
  char* first = m.at(batch, query_block * kTile) + key_block * kTile * m.col * m.item;
  for (int64_t j = 0; j < queries; j++) {
    const char* from = m.next(first, j);
    if (mask.dtype() == kBool) {
      convert(seen, kBool, 1, from, kBool, m.col, keys);
      for (int64_t i = 0; i < keys; i++)
        if (!seen[i]) scores[i * kTile + j] = -kInfinity<T>;
    } else {
      convert(line, dtype_of<T>, sizeof(T), from, mask.dtype(), m.col * m.item, keys);
      for (int64_t i = 0; i < keys; i++) scores[i * kTile + j] += line[i];
    }
  }
}

// A block of queries, scaled, one column each; columns without a query are 0. `room` is for the block's rows.
template <class T>
void pack_columns(T* to, const Matrices& x, int64_t batch, int64_t block, int64_t count, T scale, T* room) {
  if (count < kTile) std::fill_n(to, x.cols * kTile, T(0));
  const Rows<T> from = rows_of(x, batch, block * kTile, count, room, x.cols);
  attention_inner<T>().turn(to, kTile, from.data, from.step, count, x.cols, scale);
}

// ---- products of a tile; where causality hides the keys after a query, the half of a diagonal tile in which nothing
// is seen (keys of its second half, queries of its first) is left out
constexpr int64_t kHalf = kTile / 2;
inline bool is_diagonal(const Shape& s, int64_t query_block, int64_t key_block) {
  return s.causal && query_block == key_block && s.keys_in(key_block) > kHalf;
}
// tile [keys, queries] = rows [keys, depth] @ columns [depth, queries]
template <class T>
void tile_product(T* tile, const T* rows, int64_t step, const T* columns, int64_t keys, int64_t depth, bool diagonal) {
  const AttentionInner<T>& inner = attention_inner<T>();
  inner.gemm(tile, kTile, rows, step, 1, columns, kTile, diagonal ? kHalf : keys, kTile, depth, false);
  if (!diagonal) return;
  for (int64_t i = kHalf; i < keys; i++) std::fill_n(tile + i * kTile, kHalf, T(0));
  inner.gemm(tile + kHalf * kTile + kHalf, kTile, rows + kHalf * step, step, 1, columns + kHalf, kTile, keys - kHalf,
             kHalf, depth, false);
}

}  // namespace cresset::cpu::attention
