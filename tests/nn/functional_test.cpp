// The functional forms: options reach the ops, and modes choose the right ones.
#include <gtest/gtest.h>

#include <cmath>

#include "cresset/cresset.h"

namespace cresset::testing {
namespace {

namespace F = cresset::nn::functional;

template <class E, class Function>
void expect_error(Function function, const std::string& words) {
  try {
    function();
    ADD_FAILURE() << "nothing was thrown (expected \"" << words << "\")";
  } catch (const E& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Functional, ReductionsAreLibtorchsTags) {
  const Tensor x = randn({4, 3}), y = tensor({0, 2, 1, 2});
  const Tensor each = F::cross_entropy(x, y, F::CrossEntropyFuncOptions().reduction(kNone));
  EXPECT_EQ(each.sizes(), IntArrayRef({4}));
  EXPECT_TRUE(allclose(F::cross_entropy(x, y), each.mean()));
  EXPECT_TRUE(allclose(F::cross_entropy(x, y, F::CrossEntropyFuncOptions().reduction(kSum)), each.sum()));
  EXPECT_TRUE(allclose(F::nll_loss(F::log_softmax(x, 1), y), each.mean()));
  EXPECT_TRUE(allclose(F::mse_loss(x, zeros_like(x), kSum), (x * x).sum()));  // a bare tag
  const Tensor p = rand({4, 3}) + 0.1;
  EXPECT_TRUE(allclose(F::kl_div(x, p, kBatchMean) * 4, F::kl_div(x, p, kSum)));
  EXPECT_TRUE(allclose(F::kl_div(x, p, kMean) * 12, F::kl_div(x, p, kSum)));
}

TEST(Functional, IgnoredClassesAndWeightsArrive) {
  const Tensor x = randn({3, 2}), w = tensor({1.0, 3.0}).to(kFloat);
  const Tensor loss = F::cross_entropy(x, tensor({0, 1, 7}), F::CrossEntropyFuncOptions().weight(w).ignore_index(7));
  EXPECT_TRUE(
      allclose(loss, F::cross_entropy(x.slice(0, 0, 2), tensor({0, 1}), F::CrossEntropyFuncOptions().weight(w))));
}

TEST(Functional, EmptyBatchesPassThrough) {
  const Tensor x = randn({0, 3, 5}), scores = randn({0, 4}), none = zeros({0}, kLong);
  EXPECT_EQ(F::instance_norm(x).sizes(), IntArrayRef({0, 3, 5}));
  F::MultiMarginLossFuncOptions options;
  EXPECT_EQ(F::multi_margin_loss(scores, none, options.reduction(kNone)).sizes(), IntArrayRef({0}));
  EXPECT_EQ(F::multi_margin_loss(scores, none, options.reduction(kSum)).item<float>(), 0);
}

TEST(Functional, NegativeAlphaOfCeluIsFollowed) {
  const Tensor x = tensor({-20.0, -1.0, 3.0}), y = F::celu(x, F::CELUFuncOptions().alpha(-0.5));
  EXPECT_TRUE(allclose(y, tensor({-0.5 * std::expm1(40), -0.5 * std::expm1(2), 3.0})));
}

TEST(Functional, PadModesDifferBeyondTheEdge) {
  const Tensor x = arange(1, 5).to(kFloat).view({1, 1, 4});
  auto padded = [&](F::PadFuncOptions::mode_t mode) {
    return F::pad(x, F::PadFuncOptions({2, 1}).mode(mode)).flatten().tolist<float>();
  };
  EXPECT_EQ(padded(kConstant), (std::vector<float>{0, 0, 1, 2, 3, 4, 0}));
  EXPECT_EQ(padded(kReflect), (std::vector<float>{3, 2, 1, 2, 3, 4, 3}));
  EXPECT_EQ(padded(kReplicate), (std::vector<float>{1, 1, 1, 2, 3, 4, 4}));
  EXPECT_EQ(padded(kCircular), (std::vector<float>{3, 4, 1, 2, 3, 4, 1}));
  const Tensor cut = F::pad(x, F::PadFuncOptions({-1, 2}).mode(kCircular));  // what was cut off does not come back
  EXPECT_EQ(cut.flatten().tolist<float>(), (std::vector<float>{2, 3, 4, 2, 3}));
  expect_error<ValueError>(
      [&] {
        F::pad(x, F::PadFuncOptions({1, 1}).mode(kReflect).value(2));
      },
      "only mode kConstant takes one");
}

TEST(Functional, InterpolateTakesSizesOrFactors) {
  const Tensor x = randn({1, 2, 4, 6});
  using Sizes = std::vector<int64_t>;
  using Factors = std::vector<double>;
  for (F::InterpolateFuncOptions::mode_t mode :
       {F::InterpolateFuncOptions::mode_t(kNearest), F::InterpolateFuncOptions::mode_t(kBilinear),
        F::InterpolateFuncOptions::mode_t(kBicubic), F::InterpolateFuncOptions::mode_t(kArea),
        F::InterpolateFuncOptions::mode_t(kNearestExact)}) {
    const Tensor by_size = F::interpolate(x, F::InterpolateFuncOptions().size(Sizes{8, 12}).mode(mode));
    const Tensor by_factor = F::interpolate(x, F::InterpolateFuncOptions().scale_factor(Factors{2, 2}).mode(mode));
    EXPECT_TRUE(allclose(by_size, by_factor));
  }
  const Tensor smooth =
      F::interpolate(x, F::InterpolateFuncOptions().size(Sizes{2, 3}).mode(kBilinear).antialias(true));
  EXPECT_EQ(smooth.sizes(), IntArrayRef({1, 2, 2, 3}));
  expect_error<ValueError>([&] { F::interpolate(x, F::InterpolateFuncOptions().size(Sizes{2})); }, "expected 2 sizes");
}

TEST(Functional, AnIdentityGridSamplesTheImageItself) {
  const Tensor x = randn({1, 2, 4, 5});
  const Tensor theta = tensor({{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}}).to(kFloat);
  const Tensor grid = F::affine_grid(theta, {1, 2, 4, 5}, /*align_corners=*/true);
  EXPECT_TRUE(allclose(F::grid_sample(x, grid, F::GridSampleFuncOptions().align_corners(true)), x, 1e-4, 1e-5));
  const auto options = F::GridSampleFuncOptions().mode(kNearest).padding_mode(kBorder).align_corners(true);
  EXPECT_TRUE(allclose(F::grid_sample(x, grid * 3, options).flatten()[0], x.flatten()[0]));
}

TEST(Functional, NormalizeWritesWhereItIsTold) {
  const Tensor x = randn({3, 4});
  Tensor there = empty({3, 4}), small = empty({1});
  F::normalize(x, F::NormalizeFuncOptions().out(there));
  EXPECT_TRUE(allclose(there, F::normalize(x)));
  EXPECT_TRUE(allclose(there.pow(2).sum(1), ones({3})));
  F::normalize(x, F::NormalizeFuncOptions().p(1).out(small));
  EXPECT_TRUE(allclose(small.abs().sum(1), ones({3})));
}

TEST(Functional, EmbeddingCountsPaddingFromTheEnd) {
  const Tensor table = randn({4, 2}).requires_grad_();
  F::embedding(tensor({3, 1}), table, F::EmbeddingFuncOptions().padding_idx(-1)).sum().backward();
  EXPECT_EQ(table.grad()[3].abs().sum().item<float>(), 0);
  EXPECT_EQ(table.grad()[1].sum().item<float>(), 2);
  expect_error<IndexError>([&] { F::embedding(tensor({0}), table, F::EmbeddingFuncOptions().padding_idx(4)); },
                           "Padding_idx must be within num_embeddings");
  EXPECT_EQ(F::one_hot(tensor({0, 2}), 3).flatten().tolist<int64_t>(), (std::vector<int64_t>{1, 0, 0, 0, 0, 1}));
}

TEST(Functional, RowsAreBagsWithoutOffsets) {
  const Tensor table = randn({5, 2});
  const Tensor rows = F::embedding_bag(tensor({{0, 1}, {2, 2}}), table, F::EmbeddingBagFuncOptions().mode(kSum));
  EXPECT_TRUE(allclose(rows[1], table[2] * 2));
  expect_error<ValueError>(
      [&] {
        F::embedding_bag(tensor({{0, 1}}), table, F::EmbeddingBagFuncOptions().per_sample_weights(ones({1, 2})));
      },
      "only sums are weighted");
  expect_error<ValueError>(
      [&] {
        F::embedding_bag(tensor({{0, 1}}), table, F::EmbeddingBagFuncOptions().mode(kMax).scale_grad_by_freq(true));
      },
      "max mode does not support scaling the gradient by the frequency");
  expect_error<ValueError>(
      [&] {
        F::embedding_bag(tensor({{0, 1}}), table, F::EmbeddingBagFuncOptions().mode(kMax).sparse(true));
      },
      "max mode does not support sparse weights");
  EXPECT_EQ(F::embedding_bag(zeros({2, 0}, kLong), table).abs().sum().item<float>(), 0);  // empty bags
}

TEST(Functional, ConvolutionPaddingIsNumbersOrAWord) {
  const Tensor x = randn({1, 2, 5, 5}), w = randn({3, 2, 3, 3});
  const Tensor same = F::conv2d(x, w, F::Conv2dFuncOptions().padding(kSame));
  EXPECT_TRUE(allclose(same, F::conv2d(x, w, F::Conv2dFuncOptions().padding(1)), 1e-4, 1e-5));
  EXPECT_TRUE(allclose(F::conv2d(x, w, F::Conv2dFuncOptions().padding({0, 0})),
                       F::conv2d(x, w, F::Conv2dFuncOptions().padding(kValid)), 1e-4, 1e-5));
  EXPECT_EQ(F::conv_transpose2d(same, w, F::ConvTranspose2dFuncOptions().stride(2).output_padding(1)).sizes(),
            IntArrayRef({1, 2, 12, 12}));
}

TEST(Functional, InPlaceFormsReturnTheirInput) {
  Tensor x = tensor({-1.0, 2.0}).to(kFloat);
  const Tensor y = F::relu(x, F::ReLUFuncOptions(true));
  EXPECT_TRUE(y.is_alias_of(x));
  EXPECT_EQ(x.tolist<float>(), (std::vector<float>{0, 2}));
  EXPECT_FALSE(F::leaky_relu(x).is_alias_of(x));
  EXPECT_TRUE(allclose(F::threshold(x, F::ThresholdFuncOptions(1, 9)), tensor({9.0, 2.0}).to(kFloat)));
}

TEST(Functional, HardGumbelSoftmaxChoosesOne) {
  manual_seed(1);
  const Tensor y = F::gumbel_softmax(randn({50, 4}), F::GumbelSoftmaxFuncOptions().hard(true).tau(0.5));
  EXPECT_TRUE(allclose(y.sum(1), ones({50})) && allclose(y.amax(1), ones({50})));
}

TEST(Functional, PoolsGiveTheirPlaces) {
  const Tensor x = randn({1, 1, 6});
  auto [values, places] = F::max_pool1d_with_indices(x, F::MaxPool1dFuncOptions(2));
  EXPECT_TRUE(equal(gather(x, 2, places), values));
  EXPECT_TRUE(equal(F::adaptive_max_pool1d(x, F::AdaptiveMaxPool1dFuncOptions(3)), values));
  EXPECT_TRUE(equal(std::get<0>(F::adaptive_max_pool1d_with_indices(x, F::AdaptiveMaxPool1dFuncOptions(3))), values));
  expect_error<ValueError>(
      [&] {
        F::fractional_max_pool2d(randn({1, 4, 4}), F::FractionalMaxPool2dFuncOptions(2));
      },
      "requires specifying either an output_size or an output_ratio");
  expect_error<ValueError>([&] { F::lp_pool3d(randn({1, 1, 2, 2, 2}), F::LPPool3dFuncOptions(0, 2)); }, "norm_type 0");
}

TEST(Functional, NormsRefuseWhatHasNoVariance) {
  expect_error<ValueError>(
      [] {
        F::batch_norm(ones({1, 3}), {}, {}, F::BatchNormFuncOptions().training(true));
      },
      "Expected more than 1 value per channel when training");
  const Tensor x = randn({4, 3});
  EXPECT_TRUE(allclose(F::batch_norm(x, zeros({3}), ones({3})), x / std::sqrt(1 + 1e-5)));
  EXPECT_TRUE(allclose(F::layer_norm(x, F::LayerNormFuncOptions({3})),
                       (x - x.mean(1, true)) / (x.var(1, false, true) + 1e-5).sqrt(), 1e-4, 1e-5));
}

TEST(Functional, SmoothL1LossTakesLibtorchsBeta) {
  const Tensor x = tensor({0., 1., 3.}), y = zeros({3});
  EXPECT_TRUE(equal(F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions(kSum), 2),
                    F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions(kSum).beta(2))));
  EXPECT_TRUE(equal(F::smooth_l1_loss(x, y, {}, 0.5), F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions().beta(0.5))));
}

TEST(Losses, ATargetThatIsBroadcastIsWarnedOfOnce) {
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 2; i++) F::mse_loss(zeros({4, 1}), zeros({4}));
  EXPECT_EQ(
      ::testing::internal::GetCapturedStderr(),
      "Warning: mse_loss: Using a target size ([4]) that is different to the input size ([4, 1]). This will likely "
      "lead to incorrect results due to broadcasting. Please ensure they have the same size.\n");
}

}  // namespace
}  // namespace cresset::testing
