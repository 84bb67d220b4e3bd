// Warnings reach the handler that a program sets, once or each time, from ops, losses and switches alike.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "cresset/cresset.h"

namespace cresset {
namespace {

struct Heard {
  std::vector<Warning> warnings;
  WarningHandlerGuard guard{[this](const Warning& warning) { warnings.push_back(warning); }};
};

void warn_here() { CRESSET_WARN_ONCE("found ", 3, " (expected 4)"); }

TEST(Warning, reaches_the_handler_with_its_kind) {
  Heard heard;
  warn("plain");
  warn("old", WarningKind::deprecation);
  ASSERT_EQ(heard.warnings.size(), 2U);
  EXPECT_EQ(heard.warnings[0].text, "plain");
  EXPECT_EQ(heard.warnings[0].kind, WarningKind::user);
  EXPECT_EQ(heard.warnings[1].kind, WarningKind::deprecation);
}

TEST(Warning, once_is_once_unless_always_is_set) {
  Heard heard;
  warn_here();
  warn_here();
  EXPECT_EQ(heard.warnings.size(), 1U);
  const bool before = set_warn_always(true);
  warn_here();
  set_warn_always(before);
  warn_here();
  ASSERT_EQ(heard.warnings.size(), 2U);
  EXPECT_EQ(heard.warnings[1].text, "found 3 (expected 4)");
}

TEST(Warning, goes_to_stderr_without_a_handler) {
  ::testing::internal::CaptureStderr();
  warn("to stderr");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "Warning: to stderr\n");
}

TEST(Warning, a_handler_that_throws_stops_the_op) {
  const WarningHandlerGuard guard([](const Warning& warning) { throw std::runtime_error(warning.text); });
  const bool before = set_warn_always(true);
  EXPECT_THROW(index(arange(3), {ones({3}, kByte)}), std::runtime_error);
  set_warn_always(before);
}

TEST(Warning, ops_and_losses_warn_through_it) {
  Heard heard;
  const bool before = set_warn_always(true);
  index(arange(3), {ones({3}, kByte)});
  nn::functional::mse_loss(ones({3, 1}), ones({3}));
  set_warn_always(before);
  ASSERT_EQ(heard.warnings.size(), 2U);
  EXPECT_NE(heard.warnings[0].text.find("dtype torch.uint8"), std::string::npos);
  EXPECT_NE(heard.warnings[1].text.find("mse_loss: Using a target size ([3])"), std::string::npos);
}

}  // namespace
}  // namespace cresset
