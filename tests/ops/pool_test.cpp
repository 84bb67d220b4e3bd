// What the cases of the pools cannot say: nodes, indices that go unused, and layouts of gradients.
#include "cresset/ops/pool.h"

#include <limits>

#include "tests/ops/matrix_reference.h"

namespace cresset {
namespace {

using namespace cresset::testing;

TEST(MaxPool, IndicesOfAPlaneGoBackThroughUnpool) {
  const Tensor x = numbers({2, 3, 8, 6}, kFloat, 1);
  const auto [values, indices] = max_pool2d_with_indices(x, 2);
  const Tensor back = max_unpool2d(values, indices, {8, 6});
  expect_close(sum(back), sum(values), 1e-4);
}

TEST(MaxPool, OverlappingWindowsAddTheirGradients) {
  const Tensor x = tensor({1.0f, 5.0f, 2.0f, 3.0f}).view({1, 1, 4}).requires_grad_();
  max_pool1d(x, 3, 1).sum().backward();
  expect_close(x.grad(), Numbers{0, 2, 0, 0}, 0);
}

TEST(MaxPool, LastNanOfAWindowWinsAndFirstOfEquals) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = tensor({1.0f, nan, nan, 2.0f, 4.0f, 4.0f}).view({1, 1, 6});
  const auto [values, indices] = max_pool1d_with_indices(x, 3);
  EXPECT_TRUE(std::isnan(values.view({2}).select(0, 0).item<float>()));
  expect_close(indices, Numbers{2, 4}, 0);
}

TEST(AvgPool, ChannelsLastGradientsStayChannelsLast) {
  const Tensor x = numbers({2, 5, 6, 6}, kFloat, 1).contiguous(MemoryFormat::ChannelsLast).requires_grad_();
  const Tensor y = avg_pool2d(x, 3, 2, 1);
  EXPECT_TRUE(y.is_contiguous(MemoryFormat::ChannelsLast));
  y.backward(ones_like(y));
  EXPECT_TRUE(x.grad().is_contiguous(MemoryFormat::ChannelsLast));
}

TEST(AdaptivePool, OutputOfTheInputsSizeIsTheInput) {
  const Tensor x = numbers({2, 3, 5, 7}, kDouble, 1);
  expect_close(adaptive_avg_pool2d(x, {5, 7}), x, 0);
  expect_close(std::get<0>(adaptive_max_pool2d(x, {5, 7})), x, 0);
}

}  // namespace
}  // namespace cresset
