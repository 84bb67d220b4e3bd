// Attention. Forward and backward are kernels that go tile by tile; when a graph of the gradient is asked for, or the
// gradient of a mask, the same formulas run as differentiable ops, with all scores in memory.
#include "cresset/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/softmax.h"

namespace cresset {
namespace {

struct Settings {
  bool causal;
  double scale, p;
  PhiloxCursor at;
};

void check_inputs(const Tensor& q, const Tensor& k, const Tensor& v) {
  constexpr const char* op = "scaled_dot_product_attention";
  for (auto [name, x] : {std::pair{"query", &q}, std::pair{"key", &k}, std::pair{"value", &v}}) {
    CRESSET_CHECK_AS(ShapeError, x->dim() >= 2, op, ": Expected query, key, and value to be at least 2-dimensional, ",
                     "found ", name, " of shape ", text_of(x->sizes()));
    CRESSET_CHECK_AS(TypeError, x->is_floating_point(), op, ": not implemented for '", toString(x->dtype()),
                     "' (expected a floating point ", name, ")");
    CRESSET_CHECK_AS(TypeError, x->dtype() == q.dtype(), op,
                     ": Expected query, key, and value to have the same dtype, but got query.dtype: ",
                     name_of(q.dtype()), " ", name, ".dtype: ", name_of(x->dtype()));
    check_same_device(op, q, *x);
  }
  CRESSET_CHECK_AS(ShapeError, q.size(-1) == k.size(-1), op,
                   ": query and key must have the same size in their last dimension, found shapes ", text_of(q.sizes()),
                   " and ", text_of(k.sizes()));
  CRESSET_CHECK_AS(ShapeError, k.size(-2) == v.size(-2), op,
                   ": key and value must have the same number of rows, found shapes ", text_of(k.sizes()), " and ",
                   text_of(v.sizes()));
}
void check_mask(const Tensor& q, const Tensor& mask) {
  constexpr const char* op = "scaled_dot_product_attention";
  check_same_device(op, q, mask);
  CRESSET_CHECK_AS(TypeError, mask.dtype() == kBool || mask.dtype() == q.dtype(), op,
                   ": Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype: ",
                   name_of(mask.dtype()), " and query.dtype: ", name_of(q.dtype()));
}

IntArrayRef leading(const Tensor& x) {
  return x.sizes().slice(0, static_cast<size_t>(std::max<int64_t>(x.dim() - 2, 0)));
}
Dims with_matrix(const Dims& batch, int64_t rows, int64_t cols) {
  Dims sizes = batch;
  sizes.push_back(rows);
  sizes.push_back(cols);
  return sizes;
}

// Which keys a query sees, [L, S]: all up to its own number.
Tensor causal_mask(const Tensor& q, int64_t keys) {
  Tensor row = arange(keys, TensorOptions(kLong).device(q.device()));
  Tensor column = unsqueeze(arange(q.size(-2), TensorOptions(kLong).device(q.device())), 1);
  return relu(add(sub(column, row), 1)).to(kBool);
}

// The gradients from all scores at once; every step is differentiable. Rows in which nothing is seen are taken out
// before softmax, which would make them nan.
Grads composed_gradients(const Tensor& g, Wants wants, const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& mask, const Tensor& normalizers, const Settings& s) {
  const DType type = q.dtype(), wide = compute_dtype(type);
  const Tensor q_wide = mul(q.to(wide), s.scale), k_wide = k.to(wide), v_wide = v.to(wide), g_wide = g.to(wide);
  Tensor seen = empty_contiguous(normalizers.sizes(), kBool, q.device());
  attention_seen_kernel(seen, normalizers);
  seen = unsqueeze(seen, -1);
  const Tensor zero = new_zeros(q_wide, {}), least = new_full(q_wide, {}, -std::numeric_limits<double>::infinity());
  Tensor scores = matmul(q_wide, transpose(k_wide, -2, -1));
  if (s.causal) scores = where(causal_mask(q, k.size(-2)), scores, least);
  if (mask.defined()) scores = mask.dtype() == kBool ? where(mask, scores, least) : add(scores, mask.to(wide));
  const Tensor weights = where(seen, softmax(where(seen, scores, zero), -1), zero);
  Tensor kept;
  if (s.p > 0) {
    kept = empty_contiguous(weights.sizes(), wide, q.device());
    attention_dropout_kernel(kept, s.p, s.at);
  }
  auto dropped = [&](const Tensor& x) { return kept.defined() ? mul(x, kept) : x; };
  const Tensor slopes = softmax_backward(dropped(matmul(g_wide, transpose(v_wide, -2, -1))), weights, -1);
  return grads(wants(0) ? mul(matmul(slopes, k_wide), s.scale).to(type) : Tensor(),
               wants(1) ? matmul(transpose(slopes, -2, -1), q_wide).to(type) : Tensor(),
               wants(2) ? matmul(transpose(dropped(weights), -2, -1), g_wide).to(type) : Tensor(),
               wants(3) ? slopes.to(type) : Tensor());
}

// Of other sizes, with the dimensions in the order that they have in x's memory. Heads that were cut out of rows give
// results that are rows again, without a copy.
Tensor empty_in_order_of(const Tensor& x, const Dims& sizes) {
  Dims order, strides = sizes;
  for (int i = 0; i + 1 < sizes.rank(); i++) {
    if (x.stride(i) == 0) return empty_contiguous(sizes, x.dtype(), x.device());  // expanded
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return x.stride(a) > x.stride(b); });
  order.push_back(sizes.rank() - 1);
  int64_t step = 1;
  for (int i = sizes.rank() - 1; i >= 0; i--) {
    const int dim = static_cast<int>(order[i]);
    strides[dim] = step;
    step *= std::max<int64_t>(sizes[dim], 1);
  }
  return empty_strided(sizes, strides, x.dtype(), x.device());
}

// All with the same leading dimensions.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Settings& s) {
  const Dims batch(leading(q));
  Dims rows = batch;
  rows.push_back(q.size(-2));
  Tensor out = empty_in_order_of(q, with_matrix(batch, q.size(-2), v.size(-1)));
  Tensor normalizers = empty_contiguous(rows, compute_dtype(q.dtype()), q.device());
  attention_kernel(out, normalizers, q, k, v, mask, s.causal, s.scale, s.p, s.at);
  return differentiable(
      "ScaledDotProductAttentionBackward0", out, inputs(q, k, v, mask), saved(q, k, v, mask, normalizers, output(out)),
      [s](const Tensor& g, Wants wants, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
          const Tensor& normalizers, const Tensor& out) {
        if (wants(3) || any_requires_grad(inputs(g, q, k, v)))
          return composed_gradients(g, wants, q, k, v, mask, normalizers, s);
        auto like = [](const Tensor& x) { return empty_in_order_of(x, Dims(x.sizes())); };
        Tensor dq = like(q), dk = like(k), dv = like(v);
        attention_backward_kernel(dq, dk, dv, g, out, normalizers, q, k, v, mask, s.causal, s.scale, s.p, s.at);
        return grads(dq, dk, dv, Tensor());
      });
}

// Counters for all tiles, of 64 by 64 scores each.
PhiloxCursor reserved(const Dims& batch, const Tensor& q, const Tensor& k) {
  if (q.is_meta()) return {};
  const int64_t tiles = batch.product() * ((q.size(-2) + 63) / 64) * ((k.size(-2) + 63) / 64);
  return default_generator().reserve(static_cast<uint64_t>(tiles) * (64 * 64 / 4));
}

}  // namespace

CRESSET_OP(
    scaled_dot_product_attention, , Tensor,
    (const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, double dropout_p,
     bool is_causal, std::optional<double> scale),
    "query, key, value, attn_mask={}, dropout_p=0.0, is_causal=false, scale=std::nullopt", Gradient::formula,
    "softmax(query @ key.T * scale + mask) @ value, without ever holding all scores; 0 for a query that sees no key.")
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale) try {
  CRESSET_INTERCEPT(scaled_dot_product_attention, , Tensor, query, key, value, attn_mask, dropout_p, is_causal, scale);
  constexpr const char* op = "scaled_dot_product_attention";
  check_inputs(query, key, value);
  CRESSET_CHECK_AS(ValueError, dropout_p >= 0 && dropout_p <= 1, op,
                   ": dropout probability has to be between 0 and 1, but got ", dropout_p);
  CRESSET_CHECK_AS(ValueError, !is_causal || !attn_mask.defined(), op,
                   ": Explicit attn_mask should not be set when is_causal=True");
  Dims batch = broadcast_shapes(op, leading(query), leading(key));
  batch = broadcast_shapes(op, batch, leading(value));
  if (attn_mask.defined()) {
    check_mask(query, attn_mask);
    batch = broadcast_shapes(op, batch, leading(attn_mask));
  }
  auto spread = [&](const Tensor& x) {
    const Dims sizes = with_matrix(batch, x.size(-2), x.size(-1));
    return x.sizes() == IntArrayRef(sizes) ? x : expand(x, sizes);
  };
  const double width = static_cast<double>(query.size(-1));
  const Settings settings{is_causal, scale.value_or(1 / std::sqrt(width)), dropout_p,
                          dropout_p > 0 ? reserved(batch, query, key) : PhiloxCursor()};
  Tensor mask = attn_mask;
  if (mask.defined()) mask = expand(mask, with_matrix(batch, query.size(-2), key.size(-2)));
  return attention(spread(query), spread(key), spread(value), mask, settings);
}
CRESSET_ERRORS_OF(scaled_dot_product_attention, , query, key, value, attn_mask, dropout_p, is_causal, scale)

}  // namespace cresset
