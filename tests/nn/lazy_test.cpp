// Layers that find the number of their inputs in the first forward.
#include <gtest/gtest.h>

#include "cresset/cresset.h"

namespace cresset::testing {
namespace {

using namespace cresset::nn;

// Before: no elements, and it says so. After: the plain layer, and the same handles.
template <class Lazy>
void expect_learns(Lazy layer, const Tensor& input, const std::string& before, const std::string& after,
                   IntArrayRef weight) {
  SCOPED_TRACE(before);
  EXPECT_TRUE(layer->has_uninitialized_params());
  EXPECT_EQ(message_of(layer), before);
  const std::vector<Tensor> held = layer->parameters();
  EXPECT_EQ(held.at(0).numel(), 0);
  try {
    layer->reset_parameters();
    ADD_FAILURE() << "reset_parameters went through";
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("before the first forward"), std::string::npos) << error.what();
  }
  auto blank = std::dynamic_pointer_cast<typename Lazy::ContainedType>(layer->clone());
  ASSERT_TRUE(blank && blank->has_uninitialized_params());

  const Tensor y = layer(input);
  EXPECT_FALSE(layer->has_uninitialized_params());
  EXPECT_EQ(message_of(layer), after);
  EXPECT_EQ(layer->weight.sizes(), weight);
  EXPECT_TRUE(held.at(0).is_same(layer->parameters().at(0)));
  y.sum().backward();
  EXPECT_EQ(held.at(0).grad().sizes(), weight);
  EXPECT_TRUE(allclose(layer(input), layer(input)));

  auto copy = std::dynamic_pointer_cast<typename Lazy::ContainedType>(layer->clone());
  ASSERT_TRUE(copy);
  EXPECT_TRUE(equal(copy->weight, layer->weight));
  EXPECT_EQ(message_of(*copy), after);

  blank->load_state_dict(layer->state_dict());
  EXPECT_FALSE(blank->has_uninitialized_params());
  EXPECT_TRUE(equal(blank->weight, layer->weight));
  EXPECT_EQ(message_of(*blank), after);
}

TEST(Lazy, LinearTakesTheLastDimension) {
  expect_learns(LazyLinear(3), randn({2, 4, 5}), "LazyLinear(in_features=0, out_features=3, bias=True)",
                "Linear(in_features=5, out_features=3, bias=True)", {3, 5});
}
TEST(Lazy, ConvolutionsTakeTheChannels) {
  expect_learns(LazyConv1d(6, 3), randn({2, 4, 9}), "LazyConv1d(0, 6, kernel_size=(3,), stride=(1,))",
                "Conv1d(4, 6, kernel_size=(3,), stride=(1,))", {6, 4, 3});
  expect_learns(LazyConv2d(LazyConv2dOptions(6, 3).groups(2).padding_mode(kCircular).padding(1)), randn({1, 4, 5, 6}),
                "LazyConv2d(0, 6, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2, padding_mode=circular)",
                "Conv2d(4, 6, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2, padding_mode=circular)",
                {6, 2, 3, 3});
  expect_learns(LazyConv3d(2, 2), randn({1, 4, 3, 3, 3}), "LazyConv3d(0, 2, kernel_size=(2, 2, 2), stride=(1, 1, 1))",
                "Conv3d(4, 2, kernel_size=(2, 2, 2), stride=(1, 1, 1))", {2, 4, 2, 2, 2});
  expect_learns(LazyConvTranspose1d(6, 3), randn({2, 4, 9}), "LazyConvTranspose1d(0, 6, kernel_size=(3,), stride=(1,))",
                "ConvTranspose1d(4, 6, kernel_size=(3,), stride=(1,))", {4, 6, 3});
  expect_learns(LazyConvTranspose2d(LazyConvTranspose2dOptions(6, 3).groups(2)), randn({2, 4, 5, 5}),
                "LazyConvTranspose2d(0, 6, kernel_size=(3, 3), stride=(1, 1), groups=2)",
                "ConvTranspose2d(4, 6, kernel_size=(3, 3), stride=(1, 1), groups=2)", {4, 3, 3, 3});
  expect_learns(LazyConvTranspose3d(2, 2), randn({1, 4, 3, 3, 3}),
                "LazyConvTranspose3d(0, 2, kernel_size=(2, 2, 2), stride=(1, 1, 1))",
                "ConvTranspose3d(4, 2, kernel_size=(2, 2, 2), stride=(1, 1, 1))", {4, 2, 2, 2, 2});
}
TEST(Lazy, NormsTakeTheChannels) {
  const std::string rest = ", eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)";
  expect_learns(LazyBatchNorm1d(), randn({4, 3}), "LazyBatchNorm1d(0" + rest, "BatchNorm1d(3" + rest, {3});
  expect_learns(LazyBatchNorm2d(), randn({4, 3, 2, 2}), "LazyBatchNorm2d(0" + rest, "BatchNorm2d(3" + rest, {3});
  expect_learns(LazyBatchNorm3d(), randn({4, 3, 2, 2, 2}), "LazyBatchNorm3d(0" + rest, "BatchNorm3d(3" + rest, {3});
  const auto options = InstanceNormOptions(0).affine(true).track_running_stats(true);
  expect_learns(LazyInstanceNorm1d(options), randn({3, 5}), "LazyInstanceNorm1d(0" + rest, "InstanceNorm1d(3" + rest,
                {3});
  expect_learns(LazyInstanceNorm2d(options), randn({4, 3, 2, 2}), "LazyInstanceNorm2d(0" + rest,
                "InstanceNorm2d(3" + rest, {3});
  expect_learns(LazyInstanceNorm3d(options), randn({4, 3, 2, 2, 2}), "LazyInstanceNorm3d(0" + rest,
                "InstanceNorm3d(3" + rest, {3});
}

TEST(Lazy, StartsLikeThePlainLayer) {
  manual_seed(3);
  LazyLinear layer(200);
  layer(ones({1, 100}));
  EXPECT_LE(layer->weight.abs().max().item<double>(), 0.1);
  EXPECT_NEAR(layer->weight.var().item<double>(), 0.01 / 3, 0.0005);
  EXPECT_GT(layer->bias.abs().max().item<double>(), 0.05);
}

TEST(Lazy, KeepsTheTypeItWasMovedTo) {
  LazyLinear layer(3);
  layer->to(kDouble);
  layer(ones({2, 4}, kDouble));
  EXPECT_EQ(layer->weight.dtype(), kDouble);
}

TEST(Lazy, WorksInsideOtherModulesAndTheirCopies) {
  Sequential net(LazyConv2d(4, 3), LazyBatchNorm2d(), ReLU(), Flatten(), LazyLinear(2));
  const Tensor x = randn({3, 2, 6, 6});
  auto fresh = std::dynamic_pointer_cast<SequentialImpl>(net->clone());
  const Tensor y = net->forward(x);
  EXPECT_EQ(fresh->forward(x).sizes(), y.sizes());
  net->eval();
  auto copy = std::dynamic_pointer_cast<SequentialImpl>(net->clone());
  EXPECT_TRUE(allclose(copy->forward(x), net->forward(x)));
  EXPECT_EQ(message_of(*copy), message_of(*net));
}

}  // namespace
}  // namespace cresset::testing
