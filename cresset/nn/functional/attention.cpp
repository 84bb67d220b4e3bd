#include "cresset/nn/functional/attention.h"

#include <cmath>
#include <limits>

#include "cresset/ops/all.h"

namespace cresset::nn::functional {

namespace {

using Options = MultiheadAttentionForwardFuncOptions;
constexpr const char* kName = "multi_head_attention_forward";

struct Projected {
  Tensor q, k, v;
};

Tensor part(const Tensor& stacked, int64_t index, int64_t count, int64_t size) {
  return stacked.defined() ? stacked.slice(0, index * size, (index + count) * size) : Tensor();
}

// One product for self-attention, two where key and value are one tensor, else three.
Projected project(const Tensor& query, const Tensor& key, const Tensor& value, const Options& o) {
  int64_t size = o.embed_dim_to_check();
  const Tensor& bias = o.in_proj_bias();
  if (o.use_separate_proj_weight())
    return {linear(query, o.q_proj_weight(), part(bias, 0, 1, size)),
            linear(key, o.k_proj_weight(), part(bias, 1, 1, size)),
            linear(value, o.v_proj_weight(), part(bias, 2, 1, size))};
  const Tensor& weight = o.in_proj_weight();
  if (!key.is_same(value))
    return {linear(query, part(weight, 0, 1, size), part(bias, 0, 1, size)),
            linear(key, part(weight, 1, 1, size), part(bias, 1, 1, size)),
            linear(value, part(weight, 2, 1, size), part(bias, 2, 1, size))};
  if (query.is_same(key)) {
    std::vector<Tensor> all = linear(query, weight, bias).chunk(3, -1);
    return {all[0], all[1], all[2]};
  }
  std::vector<Tensor> both = linear(key, part(weight, 1, 2, size), part(bias, 1, 2, size)).chunk(2, -1);
  return {linear(query, part(weight, 0, 1, size), part(bias, 0, 1, size)), both[0], both[1]};
}

// [time, batch, heads * width] or batch first, to [batch, heads, time, width].
Tensor split_heads(const Tensor& x, int64_t heads, bool batch_first) {
  Tensor apart = x.unflatten(-1, {heads, x.size(-1) / heads});
  return batch_first ? apart.transpose(1, 2) : apart.permute({1, 2, 0, 3});
}

Tensor with_extra_keys(const Tensor& heads, const Tensor& bias, bool zero) {
  Tensor result = heads;
  int64_t batch = heads.size(0), count = heads.size(1), width = heads.size(3);
  if (bias.defined()) result = cat({result, bias.reshape({1, count, 1, width}).expand({batch, -1, -1, -1})}, 2);
  if (zero) result = cat({result, zeros({batch, count, 1, width}, heads.options())}, 2);
  return result;
}

void check_mask_type(const char* which, const Tensor& mask) {
  CRESSET_CHECK_AS(TypeError, mask.dtype() == kBool || mask.is_floating_point(), kName,
                   ": only bool and floating types of ", which, " are supported, found ", name_of(mask.dtype()));
}

// Both masks as one that broadcasts to [batch, heads, L, S]; `extra` keys at the end are always seen.
Tensor merged_mask(const Options& o, int64_t batch, int64_t length, int64_t keys, int64_t extra, DType dtype) {
  std::vector<Tensor> masks;
  if (Tensor mask = o.attn_mask(); mask.defined()) {
    check_mask_type("attn_mask", mask);
    int64_t heads = o.num_heads();
    if (mask.dim() == 2) {
      CRESSET_CHECK_AS(ShapeError, mask.size(0) == length && mask.size(1) == keys, kName,
                       ": The shape of the 2D attn_mask is ", text_of(mask.sizes()), ", but should be (", length, ", ",
                       keys, ").");
      masks.push_back(mask.unsqueeze(0).unsqueeze(0));
    } else {
      CRESSET_CHECK_AS(
          ShapeError,
          mask.dim() == 3 && mask.size(0) == batch * heads && mask.size(1) == length && mask.size(2) == keys, kName,
          ": The shape of the 3D attn_mask is ", text_of(mask.sizes()), ", but should be (", batch * heads, ", ",
          length, ", ", keys, ").");
      masks.push_back(mask.unflatten(0, {batch, heads}));
    }
  }
  if (Tensor mask = o.key_padding_mask(); mask.defined()) {
    check_mask_type("key_padding_mask", mask);
    if (mask.dim() == 1) mask = mask.unsqueeze(0);
    CRESSET_CHECK_AS(ShapeError, mask.dim() == 2 && mask.size(0) == batch && mask.size(1) == keys, kName,
                     ": expecting key_padding_mask shape of (", batch, ", ", keys, "), but got ",
                     text_of(mask.sizes()));
    masks.push_back(mask.unsqueeze(1).unsqueeze(1));
  }
  if (masks.empty()) return {};
  bool all_bool = true;
  for (const Tensor& mask : masks) all_bool = all_bool && mask.dtype() == kBool;
  Tensor merged;
  for (Tensor mask : masks) {
    if (!all_bool && mask.dtype() == kBool)
      mask = zeros(mask.sizes(), TensorOptions(dtype).device(mask.device()))
                 .masked_fill(mask, -std::numeric_limits<double>::infinity());
    if (!all_bool) mask = mask.to(dtype);
    merged = !merged.defined() ? mask : all_bool ? logical_or(merged, mask) : merged + mask;
  }
  return extra == 0 ? merged : constant_pad_nd(merged, {0, extra}, 0);
}

// Where a mask hides every key, softmax has nothing to share out: libtorch's result is nan there, with weights and
// without. scaled_dot_product_attention, as PyTorch's since 2.5, gives zeros.
Tensor queries_without_keys(const Tensor& mask) {
  if (!mask.defined()) return {};
  const Tensor sees = mask.dtype() == kBool ? mask : mask.ne(-std::numeric_limits<double>::infinity());
  return logical_not(sees.any(-1, /*keepdim=*/true));
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const Options& o) {
  int64_t size = o.embed_dim_to_check(), heads = o.num_heads(), rank = query.dim();
  CRESSET_CHECK_AS(ShapeError, rank == 2 || rank == 3, kName,
                   ": query should be unbatched 2D or batched 3D tensor but received ", rank, "-D query tensor");
  CRESSET_CHECK_AS(ShapeError, key.dim() == rank && value.dim() == rank, kName, ": For ", rank,
                   "-D query, expected key and value to be ", rank, "-D but found ", key.dim(), "-D and ", value.dim(),
                   "-D tensors respectively");
  CRESSET_CHECK_AS(ShapeError, query.size(-1) == size, kName, ": was expecting embedding dimension of ", size,
                   ", but got ", query.size(-1));
  CRESSET_CHECK_AS(ValueError, heads > 0 && size % heads == 0, kName, ": embed_dim ", size,
                   " not divisible by num_heads ", heads);
  bool batched = rank == 3, batch_first = o.batch_first() || !batched;
  Projected in = project(query, key, value, o);
  // A single sequence is a batch of one, in the form [1, time, width].
  auto as_heads = [&](const Tensor& x) { return split_heads(batched ? x : x.unsqueeze(0), heads, batch_first); };
  Tensor q = as_heads(in.q), k = as_heads(in.k), v = as_heads(in.v);
  if (o.static_k().defined()) k = o.static_k().unflatten(0, {q.size(0), heads});
  if (o.static_v().defined()) v = o.static_v().unflatten(0, {q.size(0), heads});
  int64_t batch = q.size(0), length = q.size(2), keys = k.size(2);
  CRESSET_CHECK_AS(ShapeError, k.size(0) == batch && v.size(0) == batch && v.size(2) == keys, kName,
                   ": found key and value of shapes ", text_of(key.sizes()), " and ", text_of(value.sizes()),
                   " (expected the same length, and query's batch of ", batch, ")");
  int64_t extra = (o.bias_k().defined() ? 1 : 0) + (o.add_zero_attn() ? 1 : 0);
  if (extra > 0) {
    k = with_extra_keys(k, o.bias_k(), o.add_zero_attn());
    v = with_extra_keys(v, o.bias_v(), o.add_zero_attn());
  }
  Tensor mask = merged_mask(o, batch, length, keys, extra, q.dtype());
  double p = o.training() ? o.dropout_p() : 0.0;

  Tensor mixed, weights;
  if (!o.need_weights()) {
    if (mask.defined() && mask.dtype() == kBool) mask = logical_not(mask);  // there true says which keys count
    const Tensor blind = queries_without_keys(mask);
    if (mask.defined()) mask = mask.expand({batch, heads, length, keys + extra});
    mixed = scaled_dot_product_attention(q, k, v, mask, p);
    if (blind.defined()) mixed = mixed.masked_fill(blind, std::numeric_limits<double>::quiet_NaN());
  } else {
    Tensor scores = matmul(q / std::sqrt(static_cast<double>(q.size(3))), k.transpose(-2, -1));
    if (mask.defined())
      scores =
          mask.dtype() == kBool ? scores.masked_fill(mask, -std::numeric_limits<double>::infinity()) : scores + mask;
    weights = softmax(scores, -1);
    if (p > 0) weights = dropout(weights, p, /*train=*/true);
    mixed = matmul(weights, v);
  }
  mixed = (batch_first ? mixed.transpose(1, 2) : mixed.permute({2, 0, 1, 3})).flatten(-2);
  Tensor out = linear(mixed, o.out_proj_weight(), o.out_proj_bias());
  if (weights.defined() && o.average_attn_weights()) weights = weights.mean(1);
  if (batched) return {out, weights};
  return {out.squeeze(0), weights.defined() ? weights.squeeze(0) : weights};
}

}  // namespace cresset::nn::functional
