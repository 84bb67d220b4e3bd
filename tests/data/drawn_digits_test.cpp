// DrawnDigits: repeatable, balanced, and digits: a linear look at them tells most of them apart.
#include <gtest/gtest.h>

#include "cresset/data/data.h"
#include "cresset/ops/all.h"

namespace cresset::data::datasets {
namespace {

TEST(DrawnDigits, AnItemDependsOnSeedAndIndexAlone) {
  DrawnDigits many(300, 7), few(20, 7), other(20, 8);
  EXPECT_TRUE(equal(many.bytes().narrow(0, 0, 20), few.bytes()));
  EXPECT_TRUE(equal(many.targets().narrow(0, 0, 20), few.targets()));
  EXPECT_FALSE(equal(few.bytes(), other.bytes()));
  EXPECT_EQ(few.size(), 20U);
  EXPECT_EQ(few.get(3).data.sizes(), (IntArrayRef{1, 28, 28}));
  EXPECT_TRUE(equal(few.get(3).data, few.bytes()[3].to(kFloat).div(255)));
  EXPECT_TRUE(equal(few.get_batch({5, 3})[1].data, few.get(3).data));
  EXPECT_EQ(few.get(3).target.item<int64_t>(), DrawnDigits::digit(7, 3));
  EXPECT_EQ(DrawnDigits(0).size(), 0U);
}

TEST(DrawnDigits, EveryDigitComesAboutAsOften) {
  const Tensor counts = DrawnDigits(3000, 1).targets().bincount();
  ASSERT_EQ(counts.numel(), 10);
  EXPECT_GT(counts.min().item<int64_t>(), 220);
  EXPECT_LT(counts.max().item<int64_t>(), 380);
}

TEST(DrawnDigits, NoTwoAreAlikeAndNoneIsEmpty) {
  DrawnDigits digits(400, 2);
  const Tensor flat = digits.bytes().reshape({400, 784}).to(kFloat).div(255);
  const Tensor ink = flat.sum(1);
  EXPECT_GT(ink.min().item<float>(), 15);
  EXPECT_LT(ink.max().item<float>(), 330);
  const Tensor distance =
      flat.square().sum(1, true).add(flat.square().sum(1)).sub(flat.matmul(flat.t()).mul(2)).add(eye(400).mul(1e6));
  EXPECT_GT(distance.min().item<float>(), 1);
}

// Nearest neighbours in 2,000 drawings: right for most, which says that classes hold together, and not for all, which
// says that there is something to learn.
TEST(DrawnDigits, NeighboursAreMostlyTheSameDigit) {
  DrawnDigits train(2000, 0), test(300, 1);
  const Tensor x = train.bytes().reshape({2000, 784}).to(kFloat).div(255),
               y = test.bytes().reshape({300, 784}).to(kFloat).div(255);
  const Tensor distance = x.square().sum(1).sub(y.matmul(x.t()).mul(2));
  const Tensor found = train.targets().index_select(0, distance.argmin(1));
  const double right = found.eq(test.targets()).to(kFloat).mean().item<double>();
  EXPECT_GT(right, 0.75);
  EXPECT_LT(right, 0.995);
}

}  // namespace
}  // namespace cresset::data::datasets
