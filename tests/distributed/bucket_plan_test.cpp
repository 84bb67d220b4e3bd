#include "cresset/distributed/bucket_plan.h"

#include <cresset/cresset.h>
#include <gtest/gtest.h>

using namespace cresset;
using distributed::BucketPlan;
using distributed::plan_buckets;
using distributed::reverse_order;

TEST(BucketPlan, FillsASmallFirstBucketThenLargerOnes) {
  std::vector<Tensor> parameters;
  for (int i = 0; i < 6; i++) parameters.push_back(zeros({100}));  // 400 bytes each
  const BucketPlan plan = plan_buckets(parameters, reverse_order(6), {400, 800});
  EXPECT_EQ(plan.buckets, (std::vector<std::vector<size_t>>{{5}, {4, 3}, {2, 1}, {0}}));
  EXPECT_EQ(plan.order(), reverse_order(6));
}

TEST(BucketPlan, KeepsDtypesApartAndSendsABucketWhenItsLastGradientCanCome) {
  std::vector<Tensor> parameters{zeros({10}), zeros({10}, kDouble), zeros({10}), zeros({10}, kDouble)};
  const BucketPlan plan = plan_buckets(parameters, {3, 2, 1, 0}, {1 << 20, 1 << 20});
  EXPECT_EQ(plan.buckets, (std::vector<std::vector<size_t>>{{3, 1}, {2, 0}}));
}

TEST(BucketPlan, GoesThroughItsStateAndRefusesWhatDoesNotFit) {
  BucketPlan plan;
  plan.buckets = {{2, 0}, {1}};
  plan.rebuilt = true;
  const std::vector<std::string> names{"a", "b", "c"};
  const BucketPlan again = BucketPlan::from_state(plan.state(names), names);
  EXPECT_EQ(again.buckets, plan.buckets);
  EXPECT_TRUE(again.rebuilt);
  EXPECT_EQ(again.digest(), plan.digest());
  EXPECT_NE(again.digest(), plan_buckets({zeros(1), zeros(1), zeros(1)}, reverse_order(3), {}).digest());
  EXPECT_THROW(BucketPlan::from_state(plan.state(names), {"a", "b"}), ValueError);
  EXPECT_THROW(BucketPlan::from_state(plan.state(names), {"a", "b", "c", "d"}), ValueError);
}
