// What parity with PyTorch does not show: initial values, randomness, errors, half types, layers within others.
#include <gtest/gtest.h>

#include <cmath>

#include "cresset/cresset.h"

namespace cresset::testing {
namespace {

using namespace cresset::nn;
namespace F = cresset::nn::functional;

template <class E, class Function>
void expect_refused(Function function, const std::string& words) {
  try {
    function();
    ADD_FAILURE() << "nothing was thrown (expected \"" << words << "\")";
  } catch (const E& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another type of error: " << error.what();
  }
}

// Evenly between ±bound: nothing beyond, and the variance of such numbers.
void expect_even(const Tensor& x, double bound) {
  EXPECT_LE(x.abs().max().item<double>(), bound);
  EXPECT_GT(x.abs().max().item<double>(), 0.9 * bound);
  const double variance = bound * bound / 3;
  EXPECT_NEAR(x.var().item<double>(), variance, 0.1 * variance);
  EXPECT_NEAR(x.mean().item<double>(), 0, 0.1 * bound);
}

TEST(LayersInit, LinearIsEvenByFanIn) {
  manual_seed(1);
  Linear layer(100, 400);
  expect_even(layer->weight, 0.1);
  EXPECT_LE(layer->bias.abs().max().item<double>(), 0.1);
  EXPECT_GT(layer->bias.var().item<double>(), 0.0025);
  EXPECT_TRUE(layer->weight.requires_grad() && layer->weight.is_leaf());
}
TEST(LayersInit, BilinearCountsTheFirstInputAlone) {
  manual_seed(1);
  expect_even(Bilinear(25, 30, 40)->weight, 0.2);
}
TEST(LayersInit, ConvolutionCountsItsWindowAndGroups) {
  manual_seed(1);
  Conv2d layer(Conv2dOptions(32, 64, 5).groups(2));
  expect_even(layer->weight, 1 / std::sqrt(16 * 25));
  EXPECT_LE(layer->bias.abs().max().item<double>(), 1 / std::sqrt(16 * 25));
}
TEST(LayersInit, TransposedConvolutionCountsItsSecondDimension) {  // PyTorch's fan_in of [in, out / groups, window]
  manual_seed(1);
  expect_even(ConvTranspose1d(32, 64, 5)->weight, 1 / std::sqrt(64 * 5));
}
TEST(LayersInit, EmbeddingIsNormalWithAZeroRow) {
  manual_seed(1);
  Embedding layer(EmbeddingOptions(1000, 20).padding_idx(3));
  EXPECT_NEAR(layer->weight.var().item<double>(), 1, 0.05);
  EXPECT_NEAR(layer->weight.mean().item<double>(), 0, 0.05);
  EXPECT_EQ(layer->weight[3].abs().max().item<double>(), 0);
}
TEST(LayersInit, NormsStartAsTheIdentity) {
  BatchNorm2d batch(3);
  EXPECT_TRUE(equal(batch->weight, ones({3})) && equal(batch->bias, zeros({3})));
  EXPECT_TRUE(equal(batch->running_mean, zeros({3})) && equal(batch->running_var, ones({3})));
  EXPECT_EQ(batch->num_batches_tracked.item<int64_t>(), 0);
  EXPECT_FALSE(InstanceNorm2d(3)->weight.defined());
  EXPECT_TRUE(equal(LayerNorm(std::vector<int64_t>{2, 3})->weight, ones({2, 3})));
  EXPECT_FALSE(LayerNorm(LayerNormOptions({2}).bias(false))->bias.defined());
  EXPECT_TRUE(equal(PReLU()->weight, full({1}, 0.25)));
}
TEST(LayersInit, OneSeedMakesTheSameLayer) {
  manual_seed(7);
  Linear first(5, 3);
  manual_seed(7);
  EXPECT_TRUE(equal(Linear(5, 3)->weight, first->weight));
}

TEST(LayersDropout, DropsAndScalesInTrainingOnly) {
  manual_seed(1);
  const Tensor x = ones({100, 100});
  Dropout layer(0.3);
  const Tensor y = layer(x);
  EXPECT_NEAR((y == 0).to(kDouble).mean().item<double>(), 0.3, 0.02);
  EXPECT_NEAR(y.max().item<double>(), 1 / 0.7, 1e-6);
  layer->eval();
  EXPECT_TRUE(equal(layer(x), x));
  Dropout all(DropoutOptions(1.0).inplace(true));
  Tensor z = x.clone();
  EXPECT_TRUE(all(z).is_same(z) || all(z).is_alias_of(z));
  EXPECT_EQ(z.abs().max().item<double>(), 0);
}
TEST(LayersDropout, DropsWholeChannels) {
  manual_seed(1);
  const Tensor y = Dropout2d(0.5)(ones({20, 30, 4, 5}));
  const Tensor each = y.flatten(2);
  EXPECT_TRUE(equal(each.amax(2), each.amin(2)));
  EXPECT_NEAR((each.amax(2) == 0).to(kDouble).mean().item<double>(), 0.5, 0.08);
  Tensor alone = ones({30, 4, 5});
  F::dropout2d(alone, F::Dropout2dFuncOptions().inplace(true));
  EXPECT_TRUE(equal(alone.flatten(1).amax(1), alone.flatten(1).amin(1)));
  EXPECT_GT((alone == 0).to(kDouble).sum().item<double>(), 0);
}
TEST(LayersDropout, AlphaKeepsMeanAndVariance) {
  manual_seed(1);
  const Tensor y = AlphaDropout(0.2)(randn({300, 300}));
  EXPECT_NEAR(y.mean().item<double>(), 0, 0.03);
  EXPECT_NEAR(y.var().item<double>(), 1, 0.03);
  expect_refused<ValueError>([] { Dropout(1.5); }, "dropout probability has to be between 0 and 1, but got 1.5");
}
TEST(LayersDropout, RReLUDrawsSlopesInTraining) {
  manual_seed(1);
  const Tensor y = RReLU()(full({1000}, -1.0));
  EXPECT_LE(y.max().item<double>(), -1.0 / 8);
  EXPECT_GE(y.min().item<double>(), -1.0 / 3);
  EXPECT_GT(y.var().item<double>(), 1e-3);
}

TEST(LayersNorm, CumulativeMomentumIsTheMeanOfBatches) {
  BatchNorm1d layer(BatchNorm1dOptions(1).momentum(std::nullopt));
  layer(tensor({1.0, 3.0}).view({2, 1}).to(kFloat));
  layer(tensor({5.0, 7.0}).view({2, 1}).to(kFloat));
  EXPECT_FLOAT_EQ(layer->running_mean.item<float>(), 4);
  EXPECT_EQ(layer->num_batches_tracked.item<int64_t>(), 2);
  layer->reset_running_stats();
  EXPECT_FLOAT_EQ(layer->running_mean.item<float>(), 0);
}
TEST(LayersNorm, SyncBatchNormAsksTheGroupWhenThereIsOne) {
  SyncBatchNorm layer(2);
  struct Restored {
    ~Restored() { sync_batch_norm_function = nullptr; }
  } restored;
  sync_batch_norm_function = [](const Tensor& input, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                double momentum, double, const auto&) { return input * momentum; };
  const Tensor x = ones({3, 2});
  EXPECT_TRUE(allclose(layer(x), x * 0.1));
  layer->eval();
  EXPECT_TRUE(allclose(layer(x), x / std::sqrt(1 + 1e-5)));
}
TEST(LayersNorm, RMSNormByHand) {
  RMSNorm layer(RMSNormOptions({2}).eps(0.0));
  EXPECT_TRUE(allclose(layer(tensor({{3.0, 4.0}}).to(kFloat)),
                       tensor({{3 / std::sqrt(12.5), 4 / std::sqrt(12.5)}}).to(kFloat)));
  EXPECT_EQ(message_of(RMSNorm(RMSNormOptions({2, 3}))), "RMSNorm((2, 3), eps=None, elementwise_affine=True)");
}

TEST(LayersNorm, CrossMapLRN2dHasItsDerivative) {
  CrossMapLRN2d layer(CrossMapLRN2dOptions(3).alpha(0.5));
  EXPECT_TRUE(
      autograd::gradcheck([&](const Tensor& x) { return layer(x); }, randn({1, 6, 2, 2}, kDouble).requires_grad_()));
}

TEST(LayersErrors, AreTypedAndSayWhatWasWanted) {
  expect_refused<ShapeError>([] { Linear(5, 3)(ones({2, 4})); }, "linear");
  expect_refused<ShapeError>([] { BatchNorm2d(3)(ones({2, 3})); }, "expected 4D input (got 2D input)");
  expect_refused<ShapeError>([] { BatchNorm1d(3)(ones({2, 3, 4, 5})); }, "expected 2D or 3D input (got 4D input)");
  expect_refused<ValueError>(
      [] {
        BatchNorm1d(3)(ones({1, 3}));
      },
      "Expected more than 1 value per channel when training");
  expect_refused<ValueError>([] { InstanceNorm1d(3)(ones({2, 3, 1})); }, "Expected more than 1 spatial element");
  expect_refused<ValueError>([] { Conv2d(Conv2dOptions(3, 4, 1).groups(2)); },
                             "in_channels must be divisible by groups");
  expect_refused<ValueError>([] { Conv2d(Conv2dOptions(4, 4, 3).stride(2).padding(kSame)); },
                             "padding='same' is not supported for strided convolutions");
  expect_refused<ValueError>([] { ConvTranspose1d(ConvTranspose1dOptions(2, 2, 3).padding_mode(kReflect)); },
                             "Only \"zeros\" padding mode is supported");
  expect_refused<ValueError>(
      [] {
        const int64_t size[] = {30};
        ConvTranspose1d(ConvTranspose1dOptions(2, 2, 3).stride(2))(ones({1, 2, 5}), IntArrayRef(size));
      },
      "can only be from 11 to 12");
  expect_refused<ValueError>([] { Conv2dOptions(1, 1, {1, 2, 3}); }, "Expected 2 values");
  expect_refused<ValueError>([] { GroupNorm(3, 4); }, "num_channels must be divisible by num_groups");
  expect_refused<IndexError>([] { Embedding(EmbeddingOptions(3, 2).padding_idx(5)); },
                             "Padding_idx must be within num_embeddings");
  expect_refused<ShapeError>([] { Embedding::from_pretrained(ones({3})); }, "expected to be 2-dimensional");
  expect_refused<ValueError>(
      [] {
        AdaptiveLogSoftmaxWithLoss(8, 20, std::vector<int64_t>{5, 5});
      },
      "cutoffs should be a sequence of unique, positive integers");
  expect_refused<ValueError>([] { FractionalMaxPool2d(2); }, "requires specifying either an output size");
  expect_refused<ValueError>([] { Hardtanh(HardtanhOptions().min_val(2)); }, "max_val must be greater than min_val");
  expect_refused<ShapeError>([] { Softmax2d()(ones({2, 2})); }, "requires a 3D or 4D tensor");
  expect_refused<ValueError>([] { EmbeddingBag(3, 2)(tensor({0, 1})); }, "found no offsets");
  expect_refused<ShapeError>([] { BCEWithLogitsLoss()(ones({2}), ones({3})); }, "must be the same as input size");
  expect_refused<ValueError>(
      [] {
        MaxUnpool1d(2)(ones({1, 1, 2}), zeros({1, 1, 2}, kLong), std::vector<int64_t>{9});
      },
      "must be between 2 and 6");
}

TEST(LayersEmbedding, PretrainedTableIsFrozenAndCopied) {
  const Tensor table = randn({4, 3});
  Embedding frozen = Embedding::from_pretrained(table);
  EXPECT_FALSE(frozen->weight.requires_grad());
  EXPECT_TRUE(frozen->weight.is_alias_of(table));
  Embedding trained = Embedding::from_pretrained(table, EmbeddingFromPretrainedOptions().freeze(false).padding_idx(0));
  EXPECT_TRUE(trained->weight.requires_grad());
  auto copy = std::dynamic_pointer_cast<EmbeddingImpl>(trained->clone());
  EXPECT_TRUE(equal(copy->weight, table) && !copy->weight.is_alias_of(table));
  EmbeddingBag bag = EmbeddingBag::from_pretrained(table, EmbeddingBagFromPretrainedOptions().mode(kSum));
  EXPECT_TRUE(allclose(bag(tensor({{0, 1}})), (table[0] + table[1]).unsqueeze(0)));
}

TEST(LayersHalf, FollowFloatInBothHalfTypes) {
  manual_seed(1);
  for (DType dtype : {kHalf, kBFloat16}) {
    Sequential net(Conv2d(Conv2dOptions(3, 4, 3).padding(1)), BatchNorm2d(4), ReLU(), MaxPool2d(2), Flatten(),
                   Linear(64, 5), LayerNorm(LayerNormOptions({5})), Softmax(1));
    net->eval();
    const Tensor x = randn({2, 3, 8, 8});
    const Tensor wanted = net->forward(x);
    net->to(dtype);
    const Tensor found = net->forward(x.to(dtype));
    EXPECT_EQ(found.dtype(), dtype);
    EXPECT_TRUE(allclose(found.to(kFloat), wanted, 0.05, 0.02)) << dtype;
  }
}

TEST(LayersInSequential, DefaultArgumentsAreFilledIn) {
  Sequential net(ConvTranspose2d(3, 4, 2), Identity());
  EXPECT_EQ(net->forward(ones({1, 3, 4, 4})).sizes(), IntArrayRef({1, 4, 5, 5}));
  Sequential bag(EmbeddingBag(5, 2));
  EXPECT_EQ(bag->forward(tensor({{0, 1}, {2, 3}, {4, 4}})).sizes(), IntArrayRef({3, 2}));
}

TEST(LayersMove, ClassWeightsGoWithTheModule) {
  CrossEntropyLoss loss(CrossEntropyLossOptions().weight(tensor({1.0, 2.0}).to(kFloat)));
  loss->to(kDouble);
  EXPECT_EQ(loss->weight.dtype(), kDouble);
  EXPECT_NEAR(loss(zeros({1, 2}, kDouble), tensor({1})).item<double>(), std::log(2.0), 1e-12);
}

TEST(LayersPool, IndicesGoBackThroughUnpool) {
  const Tensor x = rand({1, 2, 6, 6});
  auto [values, places] = MaxPool2d(2)->forward_with_indices(x);
  const Tensor back = MaxUnpool2d(2)(values, places);
  EXPECT_TRUE(equal(std::get<0>(MaxPool2d(2)->forward_with_indices(back)), values));
  auto [small, where] = FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_ratio(0.5))->forward_with_indices(x);
  EXPECT_EQ(small.sizes(), IntArrayRef({1, 2, 3, 3}));
  EXPECT_EQ(where.dtype(), kLong);
}

TEST(LayersPrint, WhatThisPyTorchLacks) {
  EXPECT_EQ(message_of(ChannelShuffle(2)), "ChannelShuffle(groups=2)");
  EXPECT_EQ(message_of(SyncBatchNorm(3)),
            "SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)");
  EXPECT_EQ(message_of(CircularPad2d(1)), "CircularPad2d((1, 1, 1, 1))");
  EXPECT_EQ(message_of(ZeroPad3d(1)), "ZeroPad3d((1, 1, 1, 1, 1, 1))");
  EXPECT_EQ(message_of(LPPool3d(2.0, 2)), "LPPool3d(norm_type=2.0, kernel_size=2, stride=2, ceil_mode=False)");
}

TEST(Layers, DimensionsByNameAreRefusedWithWhatToWriteInstead) {
  expect_refused<NotImplementedError>(
      [] {
        Unflatten(UnflattenOptions("features", {{"rows", 2}, {"columns", 3}}));
      },
      "Unflatten: found dimension 'features' with parts 'rows', 'columns' (expected the dimension's number, as in "
      "UnflattenOptions(1, {2, 3}): dimensions have no names here)");
  EXPECT_EQ(Unflatten(UnflattenOptions(1, {2, 3}))(ones({4, 6})).sizes(), (IntArrayRef{4, 2, 3}));
}

// As libtorch's layer in all versions: the softmax over nothing is nan, with weights and without. (The op
// scaled_dot_product_attention gives zeros, as PyTorch's since 2.5.)
TEST(Layers, AQueryThatSeesNoKey) {
  MultiheadAttention attention(MultiheadAttentionOptions(4, 2));
  const Tensor x = rand({3, 1, 4}), hidden = tensor({0, 1, 0}).to(kBool).unsqueeze(1).expand({3, 3});
  const Tensor fused = std::get<0>(attention(x, x, x, Tensor(), /*need_weights=*/false, hidden));
  EXPECT_TRUE(isnan(fused[1]).all().item<bool>());
  EXPECT_TRUE(isfinite(fused[0]).all().item<bool>() && isfinite(fused[2]).all().item<bool>());
  const auto [out, weights] = attention(x, x, x, Tensor(), /*need_weights=*/true, hidden);
  EXPECT_TRUE(isnan(weights[0][1]).all().item<bool>());
  EXPECT_TRUE(isnan(out[1]).all().item<bool>());
  EXPECT_TRUE(allclose(out[0], fused[0]));
}

TEST(Layers, SparseGradientsAreRefusedByName) {
  const Tensor indices = tensor({0, 2});
  for (bool bag : {false, true}) {
    const char* words = bag ? "embedding_bag: sparse gradients (sparse=true) are not supported"
                            : "embedding: sparse gradients (sparse=true) are not supported";
    expect_refused<NotImplementedError>(
        [&] {
          bag ? EmbeddingBag(EmbeddingBagOptions(3, 2).sparse(true))(indices, tensor({0}))
              : Embedding(EmbeddingOptions(3, 2).sparse(true))(indices);
        },
        words);
  }
  expect_refused<NotImplementedError>([&] { Embedding(EmbeddingOptions(3, 2).sparse(true))(indices); },
                                      "optim::SparseAdam takes dense gradients and steps the rows that are not zero");
}

}  // namespace
}  // namespace cresset::testing
