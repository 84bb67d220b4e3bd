// CPU kernel of ops/attention's gradient: each tile's weights are computed again from the saved normalizers, then give
// their share to the gradients of its keys, values and queries.
#include <cstring>
#include <vector>

#include "cresset/backends/cpu/attention_tiles.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/attention.h"

namespace cresset::cpu::attention {
namespace {

int64_t padded(int64_t n) { return (n + kPadded - 1) / kPadded * kPadded; }

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
  Scratch<T> q_rows_, q_columns_, g_rows_, g_columns_, k_room_, v_room_, delta_, normal_, dq_;
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
    const Scratch<T> tiles(2 * kTile * kTile), to_keys(kTile * head.width()), to_values(kTile * head.value_width());
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
      const Scratch<T> tiles(2 * kTile * kTile);
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

[[maybe_unused]] const bool registered = attention_backward_kernel.set(kCPU, backward);

}  // namespace
}  // namespace cresset::cpu::attention
