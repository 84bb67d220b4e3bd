// topk: order, ties, nan, both ways of picking, gradient through the values.
#include "cresset/ops/sort.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cresset/autograd/autograd.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

Tensor floats(std::vector<float> values) {
  Tensor x = empty({static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), x.data_ptr<float>());
  return x;
}
std::vector<int64_t> indices_of(const std::tuple<Tensor, Tensor>& found) {
  const Tensor& indices = std::get<1>(found);
  return {indices.data_ptr<int64_t>(), indices.data_ptr<int64_t>() + indices.numel()};
}

TEST(Topk, PutsNanAboveAllAndTheFirstOfEqualsFirst) {
  Tensor x = floats({3, 7, std::nanf(""), 7, 1});
  EXPECT_EQ(indices_of(topk(x, 3)), (std::vector<int64_t>{2, 1, 3}));
  EXPECT_EQ(indices_of(topk(x, 2, 0, /*largest=*/false)), (std::vector<int64_t>{4, 0}));
}

TEST(Topk, OfManyFindsTheSameWithAFewAsWithAll) {
  Tensor x = empty({1000});
  for (int i = 0; i < 1000; i++) x.data_ptr<float>()[i] = static_cast<float>(i * 7919 % 331);
  std::vector<int64_t> all = indices_of(topk(x, 1000));
  all.resize(20);
  EXPECT_EQ(indices_of(topk(x, 20)), all);
}

TEST(Topk, GivesTheGradientToWhatItPicked) {
  Tensor x = floats({3, 9, 4}).requires_grad_();
  sum(std::get<0>(topk(x, 2))).backward();
  EXPECT_EQ(x.grad().data_ptr<float>()[0], 0);
  EXPECT_EQ(x.grad().data_ptr<float>()[1], 1);
  EXPECT_EQ(x.grad().data_ptr<float>()[2], 1);
}

TEST(Topk, RefusesMoreThanThereAre) {
  try {
    topk(floats({1, 2}), 3);
    FAIL();
  } catch (const IndexError& e) {
    EXPECT_NE(std::string(e.what()).find("selected index k out of range: found 3"), std::string::npos) << e.what();
  }
  EXPECT_EQ(std::get<0>(topk(floats({1, 2}), 0)).numel(), 0);
}

TEST(Topk, WritesIntoGivenTensors) {
  Tensor values = empty({0}), indices = empty({0}, kLong);
  topk_out(values, indices, floats({5, 6, 7}), 1);
  EXPECT_EQ(values.item<float>(), 7);
  EXPECT_EQ(indices.item<int64_t>(), 2);
}

TEST(Median, OfNoIntegersIsRefusedForThereIsNoNan) {
  EXPECT_ERROR(ValueError, median(empty({0, 3}, kInt8)), "median: found shape [0, 3] of int8 (expected at least one");
  EXPECT_TRUE(std::isnan(median(empty({0})).item<float>()));
}

}  // namespace
}  // namespace cresset
