// Holds every registered op to its word: a case, a gradient test if it claims a formula, and a text of arguments that
// can be read. An op that cannot have a case stands below, with the reason.
#include <gtest/gtest.h>

#include <map>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

// name -> why it has no OpCase
const std::string own_generator = "the overload without a generator, which has a case, with one passed on";
const std::map<std::string, std::string> exempt = {{"rand.generator", own_generator},
                                                   {"randn.generator", own_generator},
                                                   {"randint.generator", own_generator},
                                                   {"randint.low_generator", own_generator},
                                                   {"randperm.generator", own_generator}};

std::string full_name(const Op& op) { return op.overload[0] ? message_of(op.name, ".", op.overload) : op.name; }

}  // namespace

TEST(Completeness, every_op_has_a_case) {
  for (const Op* op : all_ops()) {
    if (op->functional || exempt.count(full_name(*op))) continue;
    EXPECT_TRUE(find_case(op->name, op->overload)) << full_name(*op) << " has no OpCase (tests/ops/cases)";
  }
}

TEST(Completeness, every_case_and_exemption_is_of_an_op) {
  for (const OpCase& c : all_cases()) EXPECT_TRUE(find_op(c.name, c.overload)) << c.full_name();
  for (const auto& [name, reason] : exempt) {
    size_t dot = name.find('.');
    const Op* op = find_op(name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1));
    ASSERT_TRUE(op) << name << " is exempt but does not exist";
    EXPECT_FALSE(find_case(op->name, op->overload)) << name << " is exempt but has a case";
    EXPECT_FALSE(reason.empty()) << name;
  }
}

TEST(Completeness, what_claims_a_gradient_has_a_gradient_test) {
  for (const OpCase& c : all_cases()) {
    Gradient claim = c.op().gradient;
    EXPECT_EQ(c.gradient, claim != Gradient::none)
        << c.full_name()
        << (c.gradient ? " declares no gradient but its case tests one" : " claims a gradient but its case tests none");
    if (!c.gradient) continue;
    bool checked = std::any_of(c.dtypes.begin(), c.dtypes.end(), [](DType t) { return to_real(t) == kDouble; });
    EXPECT_TRUE(checked) << c.full_name()
                         << ": gradients are checked in float64 or complex128, which its case leaves out";
  }
}

TEST(Completeness, argument_texts_fit_the_functions) {
  for (const Op* op : all_ops()) {
    SCOPED_TRACE(full_name(*op));
    try {
      bool defaults = false;
      for (const OpArgument& argument : op->parsed_arguments()) {
        EXPECT_FALSE(argument.name.empty());
        EXPECT_FALSE(defaults && argument.default_value.empty()) << argument.name << " follows one with a default";
        defaults = !argument.default_value.empty();
        if (defaults) default_of(argument);
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    EXPECT_STRNE(op->doc, "") << "no doc";
  }
}

TEST(Completeness, no_two_ops_share_name_and_overload) {
  std::map<std::string, int> seen;
  for (const Op* op : all_ops()) EXPECT_EQ(++seen[full_name(*op)], 1) << full_name(*op);
}

// Every dtype of every case is either supported or refused, so that nothing is silently untested.
TEST(Completeness, every_case_says_something_about_every_dtype) {
  for (const OpCase& c : all_cases())
    for (DType dtype : all_dtypes) {
      auto has = [&](const std::vector<DType>& list) {
        return std::find(list.begin(), list.end(), dtype) != list.end();
      };
      int times = has(c.dtypes) + has(c.refused);
      for (const auto& [left_out, reason] : c.untested) times += left_out == dtype && !reason.empty();
      EXPECT_EQ(times, 1) << c.full_name() << " and " << name_of(dtype);
    }
}

}  // namespace cresset::test
