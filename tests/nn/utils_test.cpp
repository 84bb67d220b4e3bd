// init and utils: values known by definition, statistics, and what weight norms and pruning do to a module.
#include <gtest/gtest.h>

#include <cmath>

#include "cresset/cresset.h"
#include "cresset/nn/layers/linear.h"
#include "tests/support/message_when.h"

namespace cresset {
namespace {

using test::message_when;
using namespace nn;
namespace prune = nn::utils::prune;
namespace rnn_utils = nn::utils::rnn;

double mean_of(const Tensor& t) { return t.mean().item<double>(); }
double std_of(const Tensor& t) { return t.std().item<double>(); }

// ---- init
TEST(Init, GainsAreTheKnownOnes) {
  EXPECT_DOUBLE_EQ(init::calculate_gain(kLinear), 1);
  EXPECT_DOUBLE_EQ(init::calculate_gain(kConv2D), 1);
  EXPECT_DOUBLE_EQ(init::calculate_gain(kSigmoid), 1);
  EXPECT_DOUBLE_EQ(init::calculate_gain(kTanh), 5.0 / 3);
  EXPECT_DOUBLE_EQ(init::calculate_gain(kReLU), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(init::calculate_gain(kLeakyReLU, 0.2), std::sqrt(2 / 1.04));
  EXPECT_DOUBLE_EQ(init::calculate_gain(kLeakyReLU), std::sqrt(2 / 1.0001));
  EXPECT_DOUBLE_EQ(init::calculate_gain(kSELU), 0.75);
}

TEST(Init, DistributionsHaveTheirMoments) {
  manual_seed(5);
  Tensor t = empty({200, 300}).requires_grad_();
  init::uniform_(t, -2, 4);
  EXPECT_NEAR(mean_of(t), 1, 0.05);
  EXPECT_GE(t.min().item<double>(), -2);
  EXPECT_LT(t.max().item<double>(), 4);
  init::normal_(t, 3, 0.5);
  EXPECT_NEAR(mean_of(t), 3, 0.02);
  EXPECT_NEAR(std_of(t), 0.5, 0.01);
  init::trunc_normal_(t, 0, 1, -1, 0.5);
  EXPECT_GE(t.min().item<double>(), -1);
  EXPECT_LE(t.max().item<double>(), 0.5);
  EXPECT_NEAR(mean_of(t), -0.206, 0.02);  // of the truncated normal distribution
  init::xavier_uniform_(t, 2);
  EXPECT_NEAR(std_of(t), 2 * std::sqrt(2.0 / 500), 0.002);
  EXPECT_LE(t.abs().max().item<double>(), 2 * std::sqrt(6.0 / 500));
  init::xavier_normal_(t);
  EXPECT_NEAR(std_of(t), std::sqrt(2.0 / 500), 0.002);
  init::kaiming_uniform_(t, 0, kFanOut, kReLU);
  EXPECT_LE(t.abs().max().item<double>(), std::sqrt(6.0 / 200));
  EXPECT_GT(t.abs().max().item<double>(), 0.98 * std::sqrt(6.0 / 200));
  init::kaiming_normal_(t, std::sqrt(5.0));
  EXPECT_NEAR(std_of(t), std::sqrt(1.0 / 3 / 300), 0.001);
  EXPECT_TRUE(t.is_leaf() && t.requires_grad());
  Tensor kernel = empty({4, 5, 3, 2});
  EXPECT_EQ(init::_calculate_fan_in_and_fan_out(kernel), std::make_tuple(int64_t{30}, int64_t{24}));
  EXPECT_EQ(
      message_when([] { init::xavier_normal_(zeros({3})); }),
      "init.xavier_normal_: Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, found 1 "
      "(shape [3])");
}

TEST(Init, ConstantsIdentitiesAndSparsity) {
  Tensor t = empty({3, 4});
  EXPECT_EQ(init::constant_(t, 2.5).sum().item<double>(), 30);
  EXPECT_EQ(init::ones_(t).sum().item<double>(), 12);
  EXPECT_EQ(init::zeros_(t).sum().item<double>(), 0);
  EXPECT_TRUE(equal(init::eye_(t), eye(3, 4)));
  Tensor kernel = init::dirac_(empty({4, 2, 3, 3}), 2);
  Tensor x = randn({1, 4, 5, 5});
  EXPECT_TRUE(allclose(conv2d(x, kernel, Tensor(), 1, 1, 1, 2), x));
  init::sparse_(t = empty({10, 7}), 0.25);
  EXPECT_TRUE(equal(t.eq(0).sum(0), full({7}, 3, kLong)));
  EXPECT_EQ(message_when([] { init::eye_(zeros({3})); }),
            "init.eye_: Only tensors with 2 dimensions are supported, found 1");
  EXPECT_EQ(message_when([] {
              init::dirac_(zeros({3, 3}));
            }),
            "init.dirac_: Only tensors with 3, 4, or 5 dimensions are supported, found 2");
}

TEST(Init, OrthogonalRowsOrColumns) {
  for (auto sizes : {std::vector<int64_t>{6, 3}, {3, 6}, {4, 2, 3}}) {
    Tensor t = init::orthogonal_(empty(IntArrayRef(sizes), kDouble), 2).flatten(1);
    Tensor gram = t.size(0) <= t.size(1) ? t.mm(t.t()) : t.t().mm(t);
    EXPECT_TRUE(allclose(gram, eye(gram.size(0), kDouble) * 4, 1e-8, 1e-8));
  }
}

// ---- gradients and vectors
TEST(ClipGrad, NormIsTakenOverAllGradients) {
  Tensor a = zeros({2}).requires_grad_(), b = zeros({1}).requires_grad_(), unused = zeros({1}).requires_grad_();
  auto set = [&] {
    a.mutable_grad() = tensor({3.0f, 0.0f});
    b.mutable_grad() = tensor({4.0f});
  };
  set();
  EXPECT_NEAR(nn::utils::clip_grad_norm_({a, b, unused}, 1.0), 5, 1e-6);
  EXPECT_NEAR(a.grad()[0].item<double>(), 0.6, 1e-6);
  EXPECT_NEAR(b.grad()[0].item<double>(), 0.8, 1e-6);
  set();
  EXPECT_NEAR(nn::utils::clip_grad_norm_({a, b}, 10.0), 5, 1e-6);  // small enough: untouched
  EXPECT_EQ(b.grad()[0].item<float>(), 4);
  EXPECT_NEAR(nn::utils::clip_grad_norm_({a, b}, 100.0, 1.0), 7, 1e-6);
  EXPECT_NEAR(nn::utils::clip_grad_norm_({a, b}, 2.0, std::numeric_limits<double>::infinity()), 4, 1e-6);
  EXPECT_NEAR(b.grad()[0].item<double>(), 2, 1e-5);
  EXPECT_EQ(nn::utils::clip_grad_norm_(unused, 1.0), 0);
  Tensor turned = tensor({1.0, 2.0}).requires_grad_();  // a negative norm turns gradients round, as PyTorch's
  turned.mutable_grad() = tensor({3.0, 4.0});
  nn::utils::clip_grad_norm_(turned, -1.0);
  EXPECT_NEAR(turned.grad()[1].item<float>(), -0.8, 1e-6);
  a.mutable_grad() = tensor({std::numeric_limits<float>::infinity(), 0.0f});
  EXPECT_NE(message_when([&] {
              nn::utils::clip_grad_norm_({a, b}, 1.0, 2.0, /*error_if_nonfinite=*/true);
            }).find("The total norm of order 2 for gradients from `parameters` is non-finite"),
            std::string::npos);
  set();
  nn::utils::clip_grad_value_({a, b, unused}, 3.5);
  EXPECT_EQ(a.grad()[0].item<float>(), 3);
  EXPECT_EQ(b.grad()[0].item<float>(), 3.5f);
}

TEST(Parameters, AsOneVectorAndBack) {
  Linear linear(3, 2), other(3, 2);
  Tensor vec = nn::utils::parameters_to_vector(linear->parameters());
  EXPECT_EQ(vec.numel(), 8);
  EXPECT_TRUE(vec.requires_grad());
  nn::utils::vector_to_parameters(vec, other->parameters());
  EXPECT_TRUE(equal(linear->weight, other->weight));
  EXPECT_TRUE(other->weight.is_leaf());
  EXPECT_FALSE(other->weight.is_alias_of(vec));
  EXPECT_NE(
      message_when([&] { nn::utils::vector_to_parameters(zeros({7}), other->parameters()); }).find("(expected 8 in 1)"),
      std::string::npos);
}

// ---- sequences
TEST(PackedSequence, PacksLongestFirstAndPadsBackInOrder) {
  Tensor x = arange(24, kFloat).reshape({4, 3, 2}).requires_grad_();
  Tensor lengths = tensor({2, 4, 1}, TensorOptions(kLong));
  rnn_utils::PackedSequence packed = rnn_utils::pack_padded_sequence(x, lengths, false, /*enforce_sorted=*/false);
  EXPECT_EQ(packed.batch_sizes().tolist<int64_t>(), (std::vector<int64_t>{3, 2, 1, 1}));
  EXPECT_EQ(packed.sorted_indices().tolist<int64_t>(), (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(packed.data().size(0), 7);
  EXPECT_EQ(packed.data()[0][0].item<float>(), 2);
  auto [padded, again] = rnn_utils::pad_packed_sequence(packed, false, -1, 5);
  EXPECT_EQ(padded.sizes(), IntArrayRef({5, 3, 2}));
  EXPECT_TRUE(equal(again, lengths));
  EXPECT_EQ(padded[1][2][0].item<float>(), -1);
  EXPECT_TRUE(equal(padded[1][0], x[1][0]));
  padded.sum().backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 14);
  auto first = rnn_utils::pack_padded_sequence(x.transpose(0, 1), lengths, true, false);
  EXPECT_TRUE(equal(first.data(), packed.data()));
  EXPECT_TRUE(equal(std::get<0>(rnn_utils::pad_packed_sequence(first, true))[1], x.transpose(0, 1)[1]));
}

TEST(PackedSequence, RefusesBadLengths) {
  Tensor x = zeros({4, 2, 1});
  auto pack = [&](std::vector<int64_t> lengths) {
    return message_when([&] { rnn_utils::pack_padded_sequence(x, tensor(lengths, TensorOptions(kLong))); });
  };
  EXPECT_NE(pack({1, 2}).find("must be sorted in decreasing order"), std::string::npos);
  EXPECT_NE(pack({2, 0}).find("has to be greater than 0"), std::string::npos);
  EXPECT_NE(pack({2}).find("to be equal to batch_size, but got 1 (batch_size=2)"), std::string::npos);
  EXPECT_NE(pack({5, 1}).find("found a length of 5 (expected at most the input's 4 steps)"), std::string::npos);
  auto packed = rnn_utils::pack_padded_sequence(x, tensor({4, 2}, TensorOptions(kLong)));
  EXPECT_NE(message_when([&] { rnn_utils::pad_packed_sequence(packed, false, 0, 3); }).find("but got total_length=3"),
            std::string::npos);
}

TEST(PackedSequence, PadsListsOfSequences) {
  std::vector<Tensor> list{ones({2, 3}), ones({4, 3}), ones({1, 3})};
  Tensor padded = rnn_utils::pad_sequence(list, /*batch_first=*/true, 7);
  EXPECT_EQ(padded.sizes(), IntArrayRef({3, 4, 3}));
  EXPECT_EQ(padded[0].sum().item<float>(), 6 + 2 * 3 * 7);
  EXPECT_EQ(rnn_utils::pad_sequence(list).sizes(), IntArrayRef({4, 3, 3}));
  EXPECT_EQ(rnn_utils::pack_sequence(list, false).batch_sizes().tolist<int64_t>(), (std::vector<int64_t>{3, 2, 1, 1}));
}

// ---- weight norms
TEST(WeightNorm, TrainsLengthAndDirectionAndIsRemoved) {
  Linear linear(4, 3);
  Tensor before = linear->weight.detach().clone(), x = randn({2, 4});
  nn::utils::weight_norm(linear);
  EXPECT_EQ(linear->named_parameters().keys(), (std::vector<std::string>{"bias", "weight_g", "weight_v"}));
  EXPECT_EQ(linear->named_parameters()["weight_g"].sizes(), IntArrayRef({3, 1}));
  EXPECT_TRUE(allclose(linear(x), cresset::linear(x, before, linear->bias)));
  {
    NoGradGuard no_grad;
    linear->named_parameters()["weight_g"].mul_(2);
  }
  Tensor y = linear(x), z = linear(x);  // two calls, then one backward through both
  (y.sum() + z.sum()).backward();
  EXPECT_TRUE(linear->named_parameters()["weight_v"].grad().defined());
  EXPECT_TRUE(allclose(y, cresset::linear(x, before * 2, linear->bias)));
  Linear copy(std::dynamic_pointer_cast<LinearImpl>(linear->clone()));
  EXPECT_TRUE(allclose(copy(x), y));
  EXPECT_FALSE(copy->weight.is_same(linear->weight));
  nn::utils::remove_weight_norm(linear);
  EXPECT_EQ(linear->named_parameters().keys(), (std::vector<std::string>{"bias", "weight"}));
  EXPECT_FALSE(linear->has_hooks());
  EXPECT_TRUE(linear->weight.is_leaf() && linear->weight.requires_grad());
  EXPECT_TRUE(allclose(linear->forward(x), y));
  EXPECT_NE(
      message_when([&] { nn::utils::remove_weight_norm(linear); }).find("weight_norm of 'weight' not found in Linear"),
      std::string::npos);
  EXPECT_EQ(message_when([&] { nn::utils::weight_norm(linear, "wheight"); }),
            "weight_norm: Linear has no parameter 'wheight'");
}

TEST(WeightNorm, LengthOfAllDimensionsIsMinusOneAsInPyTorch) {
  Linear linear(4, 3);
  const Tensor before = linear->weight.detach().clone();
  nn::utils::weight_norm(linear, "weight", -1);
  EXPECT_EQ(linear->named_parameters()["weight_g"].dim(), 0);
  EXPECT_TRUE(allclose(linear->named_parameters()["weight_g"], before.norm()));
}

TEST(SpectralNorm, ConvergesToTheLargestSingularValue) {
  Linear linear(5, 4);
  linear->to(kDouble);
  Tensor before = linear->weight.detach().clone(), x = eye(5, kDouble);
  nn::utils::spectral_norm(linear);
  for (int i = 0; i < 200; i++) linear(x);
  Tensor weight = (linear(x) - linear->bias).t();
  Tensor largest = linalg_svdvals(before).max();
  EXPECT_TRUE(allclose(weight, before / largest, 1e-6, 1e-8));
  linear->eval();
  Tensor u = linear->named_buffers()["weight_u"].clone();
  linear(x);
  EXPECT_TRUE(equal(u, linear->named_buffers()["weight_u"]));
  nn::utils::remove_spectral_norm(linear);
  EXPECT_TRUE(allclose(linear->weight, before / largest, 1e-6, 1e-8));
  EXPECT_EQ(linear->buffers().size(), 0u);
}

// ---- pruning
TEST(Prune, KeepsZerosThroughTrainingUntilRemoved) {
  Linear linear(6, 5);
  prune::l1_unstructured(linear, "weight", 0.5);
  EXPECT_TRUE(prune::is_pruned(linear));
  EXPECT_TRUE(prune::is_pruned(Sequential(linear)));
  EXPECT_EQ(linear->named_buffers().keys(), std::vector<std::string>{"weight_mask"});
  EXPECT_EQ(linear->weight.eq(0).sum().item<int64_t>(), 15);
  linear(randn({3, 6})).sum().backward();
  Tensor original = linear->named_parameters()["weight_orig"];
  EXPECT_EQ(original.grad().eq(0).sum().item<int64_t>(), 15);
  {
    NoGradGuard no_grad;
    original.sub_(original.grad());
  }
  linear(randn({3, 6}));
  EXPECT_EQ(linear->weight.eq(0).sum().item<int64_t>(), 15);
  prune::remove(linear, "weight");
  EXPECT_FALSE(prune::is_pruned(linear));
  EXPECT_EQ(linear->named_parameters().keys(), (std::vector<std::string>{"bias", "weight"}));
  EXPECT_EQ(linear->weight.eq(0).sum().item<int64_t>(), 15);
}

TEST(Prune, RandomIdentityAndCustomMasks) {
  Linear linear(8, 5);
  prune::identity(linear, "bias");
  EXPECT_EQ(linear->named_buffers()["bias_mask"].sum().item<float>(), 5);
  prune::random_unstructured(linear, "weight", 10);
  EXPECT_EQ(linear->weight.eq(0).sum().item<int64_t>(), 10);
  prune::random_unstructured(linear, "weight", 10);
  EXPECT_EQ(linear->weight.eq(0).sum().item<int64_t>(), 20);
  Linear structured(8, 5);
  prune::random_structured(structured, "weight", 3, /*dim=*/1);
  EXPECT_EQ(structured->weight.eq(0).all(0).sum().item<int64_t>(), 3);
  prune::random_structured(structured, "weight", 2, /*dim=*/1);
  EXPECT_EQ(structured->weight.eq(0).all(0).sum().item<int64_t>(), 5);
  Linear custom(2, 2);
  prune::custom_from_mask(custom, "weight", tensor({1, 0, 0, 1}).reshape({2, 2}));
  EXPECT_EQ(custom->weight[0][1].item<float>(), 0);
  prune::l1_unstructured(custom, "bias", 1, tensor({5.0f, 1.0f}));  // scores decide, not the values
  EXPECT_EQ(custom->bias[1].item<float>(), 0);
}

TEST(Prune, RefusesBadAmounts) {
  Linear linear(2, 2);
  EXPECT_EQ(message_when([&] { prune::l1_unstructured(linear, "weight", 5); }),
            "prune: amount=5 should be smaller than the number of parameters to prune=4");
  EXPECT_EQ(message_when([&] { prune::l1_unstructured(linear, "weight", 1.5); }),
            "prune: amount=1.5 should be a non-negative integer or a float in the range [0, 1]");
  EXPECT_EQ(message_when([&] { prune::l1_unstructured(linear, "nothing", 1); }),
            "prune: Linear has no parameter 'nothing'");
  EXPECT_NE(message_when([&] { prune::ln_structured(linear, "bias", 1, 2, 0); }).find("multidimensional tensors"),
            std::string::npos);
  EXPECT_NE(message_when([&] { prune::remove(linear, "weight"); }).find("has to be pruned before"), std::string::npos);
  EXPECT_NE(
      message_when([&] { prune::custom_from_mask(linear, "weight", ones({2})); }).find("(expected that of 'weight'"),
      std::string::npos);
}

}  // namespace
}  // namespace cresset
