// Cases of ops/attention.
#include <cmath>
#include <limits>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

Ints with_matrix(Ints batch, int64_t rows, int64_t cols) {
  batch.push_back(rows);
  batch.push_back(cols);
  return batch;
}
Ints batch_of(const Array& x) { return Ints(x.sizes.begin(), x.sizes.end() - 2); }

std::vector<Array> attention_of(const Arguments& in) {
  Array q = in.array(0), k = in.array(1), v = in.array(2);
  int64_t rows = q.sizes.end()[-2], keys = k.sizes.end()[-2], width = q.sizes.back(), value_width = v.sizes.back();
  Ints batch = broadcast(broadcast(batch_of(q), batch_of(k)), batch_of(v));
  Array mask;
  if (has(in, 3)) {
    mask = in.array(3);
    batch = broadcast(batch, batch_of(mask));
    mask = broadcast_to(mask, with_matrix(batch, rows, keys));
  }
  bool is_bool = has(in, 3) && std::get<Tensor>(in[3]).dtype() == kBool, causal = in.flag(5);
  double scale = in.given(6) ? in.number(6).real() : 1 / std::sqrt(static_cast<double>(width));
  q = broadcast_to(q, with_matrix(batch, rows, width));
  k = broadcast_to(k, with_matrix(batch, keys, width));
  v = broadcast_to(v, with_matrix(batch, keys, value_width));
  Array y = Array::filled(with_matrix(batch, rows, value_width));
  for_each_index(with_matrix(batch, rows, 1), [&](Index at) {
    int64_t row = at.end()[-2];
    auto place = [&](int64_t i, int64_t j) {
      at.end()[-2] = i;
      at.back() = j;
      return at;
    };
    double top = -std::numeric_limits<double>::infinity(), total = 0;
    std::vector<double> scores;
    for (int64_t key = 0; key < keys; key++) {
      double dot = 0;
      for (int64_t e = 0; e < width; e++) dot += q[place(row, e)].real() * k[place(key, e)].real();
      dot *= scale;
      double hidden = -std::numeric_limits<double>::infinity();
      if (causal && key > row) dot = hidden;
      if (has(in, 3)) {
        double m = mask[place(row, key)].real();
        if (!is_bool)
          dot += m;
        else if (m == 0)
          dot = hidden;
      }
      scores.push_back(dot);
      top = std::max(top, dot);
    }
    if (!std::isfinite(top)) return;
    for (double& score : scores) score = std::exp(score - top), total += score;
    for (int64_t e = 0; e < value_width; e++) {
      double sum = 0;
      for (int64_t key = 0; key < keys; key++) sum += scores[static_cast<size_t>(key)] * v[place(key, e)].real();
      y[place(row, e)] = sum / total;
    }
  });
  return {y};
}

Tensor seen(Make& m, const Ints& sizes) {
  Array mask = Array::filled(sizes);
  int64_t keys = sizes.back();
  for (size_t i = 0; i < mask.values.size(); i++)
    mask.values[i] = static_cast<int64_t>(i) % keys == 0 || m.between(0, 1) ? 1 : 0;
  return tensor_of(mask, kBool);
}

std::vector<Sample> attention_samples(Make& m) {
  const Value none = Value();
  Array some_hidden = read(seen(m, {3, 4}));
  for (size_t j = 0; j < 4; j++) some_hidden.values[4 + j] = 0;
  return {{"plain", {m.tensor({2, 3, 4}), m.tensor({2, 5, 4}), m.tensor({2, 5, 3})}},
          {"heads", {m.tensor({2, 2, 3, 4}), m.tensor({2, 2, 3, 4}), m.tensor({2, 2, 3, 4})}},
          {"causal", {m.tensor({2, 4, 3}), m.tensor({2, 4, 3}), m.tensor({2, 4, 3}), none, 0.0, true}},
          {"causal, fewer keys", {m.tensor({5, 3}), m.tensor({3, 3}), m.tensor({3, 2}), none, 0.0, true}},
          {"mask", {m.tensor({2, 3, 4}), m.tensor({2, 5, 4}), m.tensor({2, 5, 4}), seen(m, {3, 5})}},
          {"mask of numbers", {m.tensor({2, 3, 4}), m.tensor({2, 5, 4}), m.tensor({2, 5, 4}), m.tensor({2, 1, 5})}},
          {"scale", {m.tensor({3, 4}), m.tensor({5, 4}), m.tensor({5, 4}), none, 0.0, false, 0.25}},
          {"broadcast", {m.tensor({2, 1, 3, 4}), m.tensor({2, 5, 4}), m.tensor({1, 5, 4})}},
          {"a row without keys", {m.tensor({3, 4}), m.tensor({4, 4}), m.tensor({4, 2}), tensor_of(some_hidden, kBool)}},
          {"empty", {m.tensor({0, 3, 4}), m.tensor({0, 5, 4}), m.tensor({0, 5, 4})}},
          {"large", {m.tensor({3, 150, 20}), m.tensor({3, 131, 20}), m.tensor({3, 131, 24})}, false},
          {"large, causal",
           {m.tensor({2, 2, 150, 32}), m.tensor({2, 2, 150, 32}), m.tensor({2, 2, 150, 32}), none, 0.0, true},
           false},
          {"large, mask",
           {m.tensor({3, 70, 20}), m.tensor({3, 131, 20}), m.tensor({3, 131, 24}), m.tensor({70, 131})},
           false}};
}

}  // namespace

std::vector<OpCase> attention_cases() {
  return {{.name = "scaled_dot_product_attention",
           .not_in_torch = "newer than 1.13; attention_test.cpp compares with softmax and matmul",
           .samples = attention_samples,
           .reference = attention_of,
           .dtypes = real_floats,
           .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
           .tolerance = 30,
           .errors = {{"width",
                       [](Make& m) -> Values {
                         return {m.tensor({3, 4}), m.tensor({5, 3}), m.tensor({5, 3})};
                       },
                       "scaled_dot_product_attention: query and key must have the same size in their last dimension"},
                      {"rows",
                       [](Make& m) -> Values {
                         return {m.tensor({3, 4}), m.tensor({5, 4}), m.tensor({6, 4})};
                       },
                       "scaled_dot_product_attention: key and value must have the same number of rows"},
                      {"both_masks",
                       [](Make& m) -> Values {
                         return {m.tensor({3, 4}), m.tensor({3, 4}), m.tensor({3, 4}), m.tensor({3, 3}), 0.0, true};
                       },
                       "Explicit attn_mask should not be set when is_causal=True"},
                      {"mask_dtype",
                       [](Make& m) -> Values {
                         return {m.tensor({3, 4}), m.tensor({3, 4}), m.tensor({3, 4}), m.tensor({3, 3}, kInt32)};
                       },
                       "Expected attn_mask dtype to be bool or to match query dtype"}}}};
}

}  // namespace cresset::test
