// What the cases cannot say about norms, attention, dropouts and recurrent networks.
#include <gtest/gtest.h>

#include <cmath>

#include "cresset/autograd/autograd.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/all.h"
#include "tests/support/array.h"

namespace cresset::test {
namespace {

Array difference_of(const Tensor& a, const Tensor& b) { return read(sub(a, b)); }
double largest(const Array& x) {
  double most = 0;
  for (Complex value : x.values) most = std::isnan(value.real()) ? INFINITY : std::max(most, std::abs(value.real()));
  return most;
}

}  // namespace

TEST(BatchNorm, running_statistics_move_towards_the_batch) {
  manual_seed(1);
  Tensor x = randn({64, 3, 5}), mean = zeros({3}), var = ones({3});
  batch_norm(x, {}, {}, mean, var, true, 0.1, 1e-5);
  Tensor middle = cresset::mean(x, {0, 2}), apart = sub(x, reshape(middle, {1, 3, 1}));
  Tensor variance = div(sum(mul(apart, apart), {0, 2}), 64 * 5 - 1);
  EXPECT_LT(largest(difference_of(mean, mul(middle, 0.1))), 1e-6);
  EXPECT_LT(largest(difference_of(var, add(mul(variance, 0.1), 0.9))), 1e-6);
  EXPECT_EQ(mean._version(), 1U);
}

TEST(BatchNorm, channels_last_and_contiguous_agree) {
  manual_seed(2);
  Tensor x = randn({4, 16, 9, 7}), last = x.contiguous(MemoryFormat::ChannelsLast);
  Tensor y = batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5), z = batch_norm(last, {}, {}, {}, {}, true, 0.1, 1e-5);
  EXPECT_TRUE(z.is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_LT(largest(difference_of(y, z)), 1e-5);
}

TEST(LayerNorm, a_large_mean_costs_no_accuracy) {
  manual_seed(3);
  Tensor x = randn({8, 1000}, TensorOptions(kDouble)), y = layer_norm(add(x, 1000), {1000});
  Tensor z = layer_norm(add(x, 1000).to(kFloat), {1000});
  EXPECT_LT(largest(difference_of(y, z.to(kDouble))), 2e-4);
}

TEST(LayerNorm, gradients_are_the_same_on_any_number_of_threads) {
  manual_seed(4);
  Tensor x = randn({512, 333}).requires_grad_(), w = randn({333}).requires_grad_(), b = randn({333}).requires_grad_();
  Tensor g = randn({512, 333});
  auto gradients = [&] { return autograd::grad({layer_norm(x, {333}, w, b)}, {x, w, b}, {g}); };
  int before = get_num_threads();
  set_num_threads(1);
  auto wanted = gradients();
  set_num_threads(2);
  auto found = gradients();
  set_num_threads(before);
  for (size_t i = 0; i < wanted.size(); i++) EXPECT_TRUE(same_bits(found[i], wanted[i])) << i;
}

TEST(Attention, gradients_are_those_of_softmax_and_matmul) {
  manual_seed(5);
  Tensor q = randn({3, 150, 20}).requires_grad_(), k = randn({3, 131, 20}).requires_grad_(),
         v = randn({3, 131, 24}).requires_grad_(), g = randn({3, 150, 24});
  Tensor scores = mul(matmul(q, transpose(k, 1, 2)), 1 / std::sqrt(20.0));
  auto wanted = autograd::grad({matmul(softmax(scores, -1), v)}, {q, k, v}, {g});
  int before = get_num_threads();
  std::vector<Tensor> first;
  for (int threads : {1, 2}) {  // three heads: each by one thread, or all shared
    set_num_threads(threads);
    auto found = autograd::grad({scaled_dot_product_attention(q, k, v)}, {q, k, v}, {g});
    for (size_t i = 0; i < 3; i++) {
      EXPECT_LT(largest(difference_of(found[i], wanted[i])), 2e-5) << i;
      if (threads == 1)
        first.push_back(found[i]);
      else
        EXPECT_TRUE(same_bits(found[i], first[i])) << i;
    }
  }
  set_num_threads(before);
}

TEST(Attention, dropout_drops_the_same_scores_in_both_gradients) {
  Tensor q = randn({2, 70, 8}, TensorOptions(kDouble)).requires_grad_(), k = randn({2, 70, 8}, TensorOptions(kDouble)),
         v = randn({2, 70, 8}, TensorOptions(kDouble)), g = randn({2, 70, 8}, TensorOptions(kDouble));
  k.requires_grad_();
  v.requires_grad_();
  auto gradients = [&](bool create_graph) {
    manual_seed(6);
    Tensor y = scaled_dot_product_attention(q, k, v, {}, 0.3);
    return autograd::grad({y}, {q, k, v}, {g}, std::nullopt, create_graph);
  };
  auto fused = gradients(false), composed = gradients(true);
  for (size_t i = 0; i < 3; i++) EXPECT_LT(largest(difference_of(fused[i], composed[i].detach())), 1e-12) << i;
}

TEST(Attention, dropout_keeps_the_mean) {
  manual_seed(7);
  Tensor q = zeros({4, 64, 8}), v = ones({4, 256, 8}), k = zeros({4, 256, 8});
  Tensor y = scaled_dot_product_attention(q, k, v, {}, 0.25);
  EXPECT_NEAR(cresset::mean(y).item<double>(), 1, 0.02);
}

TEST(Dropout, whole_channels_go) {
  manual_seed(8);
  Array y = read(feature_dropout(ones({50, 20, 7}), 0.25, true));
  int64_t dropped = 0;
  for (int64_t channel = 0; channel < 1000; channel++) {
    Complex first = y.values[static_cast<size_t>(channel * 7)];
    for (int64_t i = 0; i < 7; i++) EXPECT_EQ(y.values[static_cast<size_t>(channel * 7 + i)], first);
    EXPECT_TRUE(first == 0.0 || std::abs(first - 1 / 0.75) < 1e-6);
    dropped += first == 0.0;
  }
  EXPECT_NEAR(static_cast<double>(dropped), 250, 60);
}

TEST(Dropout, alpha_keeps_mean_and_variance) {
  manual_seed(9);
  Tensor y = alpha_dropout(randn({200, 500}), 0.3, true);
  double mean = cresset::mean(y).item<double>(), square = cresset::mean(mul(y, y)).item<double>();
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(square, 1, 0.03);
}

TEST(GumbelSoftmax, hard_choices_follow_the_probabilities) {
  manual_seed(10);
  Tensor logits = expand(tensor({0.0, std::log(3.0)}), {4000, 2}).contiguous().requires_grad_();
  Tensor y = gumbel_softmax(logits, 0.5, true);
  EXPECT_NEAR(cresset::mean(y, 0)[1].item<double>(), 0.75, 0.03);
  EXPECT_EQ(sum(y).item<double>(), 4000);
  EXPECT_GT(largest(read(autograd::grad({sum(select(y, 1, 0))}, {logits})[0])), 0);
}

TEST(Lstm, a_long_sequence_has_a_gradient_in_linear_time) {
  manual_seed(11);
  Tensor x = randn({2000, 1, 4}).requires_grad_(), h = zeros({1, 1, 3}), c = zeros({1, 1, 3});
  std::vector<Tensor> params{randn({12, 4}), randn({12, 3}), randn({12}), randn({12})};
  for (const Tensor& p : params) p.requires_grad_();
  auto [y, last_h, last_c] = lstm(x, std::vector<Tensor>{h, c}, params, true, 1, 0.0, true, false, false);
  auto g = autograd::grad({sum(y)}, {x, params[1]});
  EXPECT_TRUE(std::isfinite(largest(read(g[0]))));
  EXPECT_TRUE(same_bits(last_h[0][0], y[1999][0]));
}

// Around tiles of 64 and their halves, heads cut out of rows: what all scores at once give, and rows again.
TEST(Attention, causal_tiles_equal_all_scores_at_once_in_forward_and_gradient) {
  manual_seed(2);
  for (int64_t queries : {31, 33, 64, 100})
    for (int64_t keys : {32, 40, 64, 130}) {
      Tensor q = randn({2, queries, 3, 20}).set_requires_grad(true),
             k = randn({2, keys, 3, 20}).set_requires_grad(true), v = randn({2, keys, 3, 20}).set_requires_grad(true);
      auto heads = [](const Tensor& x) { return transpose(x, 1, 2); };
      Tensor y = scaled_dot_product_attention(heads(q), heads(k), heads(v), {}, 0.0, true, 0.3);
      EXPECT_TRUE(heads(y).is_contiguous());
      Tensor scores = mul(matmul(heads(q), transpose(heads(k), -2, -1)), 0.3);
      Tensor hidden = masked_fill(scores, triu(ones({queries, keys}, kBool), 1), -INFINITY);
      Tensor wanted = matmul(softmax(hidden, -1), heads(v)), g = randn(y.sizes());
      EXPECT_LT(largest(difference_of(y, wanted)), 1e-5) << queries << " " << keys;
      auto found = autograd::grad({y}, {q, k, v}, {g}), expected = autograd::grad({wanted}, {q, k, v}, {g});
      for (size_t i = 0; i < 3; i++)
        EXPECT_LT(largest(difference_of(found[i], expected[i])), 2e-5) << queries << " " << keys << ", gradient " << i;
    }
}

}  // namespace cresset::test
