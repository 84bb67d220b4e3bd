// Small globals: the version, the switch for determinism, questions about types.
#include <gtest/gtest.h>

#include <regex>

#include "cresset/torch.h"

namespace cresset {
namespace {

TEST(Globals, VersionIsThreeNumbers) { EXPECT_TRUE(std::regex_match(version(), std::regex("\\d+\\.\\d+\\.\\d+"))); }

TEST(Globals, DeterminismIsRefusedWarnedAboutOrIgnored) {
  EXPECT_FALSE(are_deterministic_algorithms_enabled());
  alert_not_deterministic("some_op");
  at::globalContext().setDeterministicAlgorithms(true, false);
  EXPECT_TRUE(are_deterministic_algorithms_enabled());
  try {
    alert_not_deterministic("some_op");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("some_op: does not have a deterministic implementation"),
              std::string::npos);
  }
  use_deterministic_algorithms(true, /*warn_only=*/true);
  EXPECT_TRUE(is_deterministic_algorithms_warn_only_enabled());
  ::testing::internal::CaptureStderr();
  alert_not_deterministic("some_op");
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("some_op"), std::string::npos);
  use_deterministic_algorithms(false);
  EXPECT_FALSE(are_deterministic_algorithms_enabled());
}

TEST(Globals, TypesOfResults) {
  Tensor whole = torch::ones({2}, kLong), real = torch::ones({2}), zero_d = torch::ones({}, kDouble);
  EXPECT_EQ(torch::result_type(whole, real), kFloat);
  EXPECT_EQ(torch::result_type(real, zero_d), kFloat);
  EXPECT_EQ(torch::result_type(whole, zero_d), kDouble);
  EXPECT_EQ(torch::result_type(whole, 1.5), kFloat);
  EXPECT_EQ(torch::result_type(1, whole), kLong);
  EXPECT_EQ(torch::result_type(Scalar(1), Scalar(2.5)), kFloat);
  EXPECT_EQ(torch::promote_types(kInt, kHalf), kHalf);
  EXPECT_TRUE(torch::can_cast(kInt, kFloat));
  EXPECT_FALSE(torch::can_cast(kFloat, kInt));
  EXPECT_TRUE(torch::is_floating_point(real));
  EXPECT_FALSE(torch::is_complex(real));
  EXPECT_EQ(torch::numel(real), 2);
}

}  // namespace
}  // namespace cresset
