// CPU kernels of ops/attention: tiles of kTile queries by kTile keys, with the softmax's maximum and sum carried along.
// Everything is kept with queries side by side (scores transposed), so that keys and values are read as they lie in
// memory. Each result is added up in the order of its tiles, whatever the threads do.
#include "cresset/ops/attention.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "cresset/backends/cpu/attention_simd.h"
#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/random_simd.h"
#include "cresset/core/allocator.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T>
class Room {
 public:
  explicit Room(int64_t count) : bytes_(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T)) {
    data_ = static_cast<T*>(allocate(bytes_));
  }
  ~Room() { deallocate(data_, bytes_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  T* get() const { return data_; }
  void zero() const { std::memset(data_, 0, bytes_); }

 private:
  size_t bytes_;
  T* data_;
};

int64_t blocks_of(int64_t n) { return (n + kTile - 1) / kTile; }
int64_t padded(int64_t n) { return (n + kPadded - 1) / kPadded * kPadded; }

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

// Which of a tile's scores are kept: 32 random bits for each.
void tile_bits(const Shape& s, int64_t batch, int64_t query_block, int64_t key_block, uint32_t* bits) {
  const int64_t tile = (batch * s.query_blocks() + query_block) * s.key_blocks() + key_block;
  for (int64_t i = 0; i < kTile * kTile; i += kRandomChunk)
    random_functions().bits(s.at.seed, s.at.first + static_cast<uint64_t>((tile * kTile * kTile + i) / 4), bits + i);
}
uint32_t threshold_of(double p) { return static_cast<uint32_t>(std::min(p * 0x1p32, 0x1p32 - 1)); }
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
bool is_diagonal(const Shape& s, int64_t query_block, int64_t key_block) {
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
// to [keys, width] += tile @ a block of rows [queries, width]
template <class T>
void add_tile(T* to, int64_t width, const T* tile, const Rows<T>& all, int64_t block, int64_t keys, bool diagonal) {
  const AttentionInner<T>& inner = attention_inner<T>();
  const T* rows = all.data + block * kTile * all.step;
  inner.gemm(to, width, tile, kTile, 1, rows, all.step, diagonal ? kHalf : keys, width, kTile, true);
  if (!diagonal) return;
  inner.gemm(to + kHalf * width, width, tile + kHalf * kTile + kHalf, kTile, 1, rows + kHalf * all.step, all.step,
             keys - kHalf, width, kTile - kHalf, true);
}

// ---- forward
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

Shape shape_of(const Tensor& q, const Tensor& k, const Tensor& v, bool causal, double scale, double p,
               PhiloxCursor at) {
  const Matrices a(q), b(k), c(v);
  int64_t batch = 1;
  for (int i = 0; i < q.impl()->sizes.rank() - 2; i++) batch *= q.impl()->sizes[i];
  return {batch, a.rows, b.rows, a.cols, c.cols, causal, scale, p, at};
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
                 const Room<T> memory(room);
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

// ---- backward
// One matrix of the batch: everything that its tiles share.
template <class T>
class Head {
 public:
  Head(const Shape& s, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& g, const Tensor& out,
       const T* normalizers, const Tensor& mask)
      : s_(s),
        q_(q),
        k_(k),
        v_(v),
        g_(g),
        out_(out),
        normalizers_(normalizers),
        mask_(mask),
        wide_(padded(s.width)),
        wide_v_(padded(s.value_width)),
        room_queries_(s.query_blocks() * kTile),
        q_rows_(room_queries_ * wide_),
        q_columns_(room_queries_ * s.width),
        g_rows_(room_queries_ * wide_v_),
        g_columns_(room_queries_ * s.value_width),
        k_room_(s.keys * wide_),
        v_room_(s.keys * s.value_width),
        delta_(room_queries_),
        normal_(room_queries_),
        dq_(room_queries_ * wide_) {}

  int64_t width() const { return wide_; }
  int64_t value_width() const { return wide_v_; }
  T* dq() const { return dq_.get(); }

  void prepare(int64_t batch) {
    batch_ = batch;
    dq_.zero();
    const auto longest = static_cast<size_t>(std::max(s_.width, s_.value_width));
    std::vector<T> room(longest * kTile), other(longest);
    for (int64_t block = 0; block < s_.query_blocks(); block++) {
      const int64_t count = s_.queries_in(block);
      pack_columns(q_columns_.get() + block * kTile * s_.width, q_, batch, block, count, static_cast<T>(s_.scale),
                   room.data());
      pack_columns(g_columns_.get() + block * kTile * s_.value_width, g_, batch, block, count, T(1), room.data());
    }
    std::fill_n(normal_.get(), room_queries_, kInfinity<T>);
    std::fill_n(delta_.get(), room_queries_, T(0));
    queries_ = padded_rows(q_, q_rows_.get(), wide_);
    out_slopes_ = padded_rows(g_, g_rows_.get(), wide_v_);
    char* out_at = out_.at(batch, 0);
    for (int64_t i = 0; i < s_.queries; i++) {
      const T *grad = out_slopes_.data + i * out_slopes_.step,
              *result = reinterpret_cast<const T*>(out_.next(out_at, i));
      if (!out_.direct<T>()) {
        out_.read_row(other.data(), out_.next(out_at, i));
        result = other.data();
      }
      double dots[4] = {};  // one alone would wait for itself
      int64_t e = 0;
      const auto add = [&](int lane, int64_t at) {
        dots[lane] += static_cast<double>(grad[at]) * static_cast<double>(result[at]);
      };
      for (; e + 4 <= s_.value_width; e += 4)
        for (int lane = 0; lane < 4; lane++) add(lane, e + lane);
      for (; e < s_.value_width; e++) add(0, e);
      delta_.get()[i] = static_cast<T>((dots[0] + dots[1]) + (dots[2] + dots[3]));
      normal_.get()[i] = normalizers_[batch * s_.queries + i];
    }
    keys_ = rows_of(k_, batch, 0, s_.keys, k_room_.get(), wide_);
    values_ = rows_of(v_, batch, 0, s_.keys, v_room_.get(), s_.value_width);
  }

  // The weights of a tile (after dropout) and the gradient of its scores; room is two tiles.
  void tile(int64_t query_block, int64_t key_block, T* weights, T* slopes) const {
    const AttentionInner<T>& inner = attention_inner<T>();
    const int64_t keys = s_.keys_in(key_block);
    const T* k = keys_.data + key_block * kTile * keys_.step;
    const T* v = values_.data + key_block * kTile * values_.step;
    const bool diagonal = is_diagonal(s_, query_block, key_block);
    tile_product(weights, k, keys_.step, q_columns_.get() + query_block * kTile * s_.width, keys, s_.width, diagonal);
    hide(s_, mask_, batch_, query_block, key_block, weights);
    inner.exponents(weights, keys, normal_.get() + query_block * kTile);
    tile_product(slopes, v, values_.step, g_columns_.get() + query_block * kTile * s_.value_width, keys, s_.value_width,
                 diagonal);
    if (s_.p > 0) drop(s_, batch_, query_block, key_block, slopes);
    inner.gradient(slopes, weights, keys, delta_.get() + query_block * kTile);
    if (s_.p > 0) drop(s_, batch_, query_block, key_block, weights);
  }
  void add_to_keys(int64_t query_block, int64_t key_block, const T* weights, const T* slopes, T* dk, T* dv) const {
    const int64_t keys = s_.keys_in(key_block);
    const bool diagonal = is_diagonal(s_, query_block, key_block);
    add_tile(dv, wide_v_, weights, out_slopes_, query_block, keys, diagonal);
    add_tile(dk, wide_, slopes, queries_, query_block, keys, diagonal);
  }
  void add_to_queries(int64_t query_block, int64_t key_block, const T* slopes) const {
    const AttentionInner<T>& inner = attention_inner<T>();
    const int64_t first = is_diagonal(s_, query_block, key_block) ? kHalf : 0;
    T* to = dq_.get() + query_block * kTile * wide_;
    const T* keys = keys_.data + key_block * kTile * keys_.step;
    if (first) inner.gemm(to, wide_, slopes, 1, kTile, keys, keys_.step, first, wide_, kHalf, true);
    inner.gemm(to + first * wide_, wide_, slopes + first, 1, kTile, keys, keys_.step, kTile - first, wide_,
               s_.keys_in(key_block), true);
  }

 private:
  // All rows that belong to queries, zeros behind the last of a block: where they lie, if they fill their blocks.
  Rows<T> padded_rows(const Matrices& x, T* room, int64_t width) const {
    const Rows<T> rows = rows_of(x, batch_, 0, s_.queries, room, width);
    if (s_.queries == room_queries_) return rows;
    if (rows.data != room)
      for (int64_t i = 0; i < s_.queries; i++) std::copy_n(rows.data + i * rows.step, width, room + i * width);
    std::fill(room + s_.queries * width, room + room_queries_ * width, T(0));
    return {room, width};
  }

  const Shape& s_;
  const Matrices q_, k_, v_, g_, out_;
  const T* normalizers_;
  const Tensor& mask_;
  int64_t wide_, wide_v_, room_queries_, batch_ = 0;
  Room<T> q_rows_, q_columns_, g_rows_, g_columns_, k_room_, v_room_, delta_, normal_, dq_;
  Rows<T> keys_{}, values_{}, queries_{}, out_slopes_{};
};

template <class T>
void store_rows(const Matrices& to, int64_t batch, int64_t first, int64_t count, T* from, int64_t step, T scale) {
  char* at = to.at(batch, first);
  for (int64_t i = 0; i < count; i++) {
    if (scale != 1)
      for (int64_t e = 0; e < to.cols; e++) from[i * step + e] *= scale;
    to.write_row(to.next(at, i), from + i * step);
  }
}

template <class T>
void backward_typed(const Tensor& dq, const Tensor& dk, const Tensor& dv, const Tensor& g, const Tensor& out,
                    const Tensor& normalizers, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                    const Shape& s) {
  const Matrices to_q(dq), to_k(dk), to_v(dv);
  const T* normal = static_cast<const T*>(normalizers.impl()->data());
  auto make_head = [&] { return Head<T>(s, q, k, v, g, out, normal, mask); };
  // The gradients of one block of keys; that of the queries too, if nobody else is at work on this head.
  auto key_block = [&](const Head<T>& head, int64_t batch, int64_t j, bool queries_too) {
    const Room<T> tiles(2 * kTile * kTile), to_keys(kTile * head.width()), to_values(kTile * head.value_width());
    T *weights = tiles.get(), *slopes = weights + kTile * kTile;
    to_keys.zero();
    to_values.zero();
    for (int64_t i = 0; i < s.query_blocks(); i++) {
      if (j >= s.seen_blocks(i)) continue;
      head.tile(i, j, weights, slopes);
      head.add_to_keys(i, j, weights, slopes, to_keys.get(), to_values.get());
      if (queries_too) head.add_to_queries(i, j, slopes);
    }
    store_rows(to_k, batch, j * kTile, s.keys_in(j), to_keys.get(), head.width(), static_cast<T>(s.scale));
    store_rows(to_v, batch, j * kTile, s.keys_in(j), to_values.get(), head.value_width(), T(1));
  };
  auto store_queries = [&](const Head<T>& head, int64_t batch) {
    store_rows(to_q, batch, 0, s.queries, head.dq(), head.width(), static_cast<T>(s.scale));
  };
  const int64_t threads = get_num_threads();
  if (threads == 1 || s.batch % threads == 0 || s.batch >= 4 * threads) {
    parallel_for(0, s.batch, 1, [&](int64_t begin, int64_t end) {
      Head<T> head = make_head();
      for (int64_t batch = begin; batch < end; batch++) {
        head.prepare(batch);
        for (int64_t j = 0; j < s.key_blocks(); j++) key_block(head, batch, j, true);
        store_queries(head, batch);
      }
    });
    return;
  }
  // Few heads: threads share each one, once by keys and once by queries.
  Head<T> head = make_head();
  for (int64_t batch = 0; batch < s.batch; batch++) {
    head.prepare(batch);
    parallel_for(0, s.key_blocks(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; j++) key_block(head, batch, j, false);
    });
    parallel_for(0, s.query_blocks(), 1, [&](int64_t begin, int64_t end) {
      const Room<T> tiles(2 * kTile * kTile);
      for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < s.seen_blocks(i); j++) {
          head.tile(i, j, tiles.get(), tiles.get() + kTile * kTile);
          head.add_to_queries(i, j, tiles.get() + kTile * kTile);
        }
    });
    store_queries(head, batch);
  }
}
void zero_out(const Tensor& x) {
  if (x.numel()) std::memset(x.impl()->data(), 0, x.nbytes());
}
void backward(const Tensor& dq, const Tensor& dk, const Tensor& dv, const Tensor& g, const Tensor& out,
              const Tensor& normalizers, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
              bool causal, double scale, double p, PhiloxCursor at) {
  if (out.numel() == 0 || k.numel() == 0) {
    for (const Tensor* x : {&dq, &dk, &dv}) zero_out(*x);
    return;
  }
  const Shape s = shape_of(q, k, v, causal, scale, p, at);
  if (q.dtype() == kDouble)
    backward_typed<double>(dq, dk, dv, g, out, normalizers, q, k, v, mask, s);
  else
    backward_typed<float>(dq, dk, dv, g, out, normalizers, q, k, v, mask, s);
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

[[maybe_unused]] const bool registered =
    attention_kernel.set(kCPU, forward) && attention_backward_kernel.set(kCPU, backward) &&
    attention_dropout_kernel.set(kCPU, dropout) && attention_seen_kernel.set(kCPU, seen);

}  // namespace
}  // namespace cresset::cpu
