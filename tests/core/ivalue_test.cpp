// IValue by C++ types: to<T>() and what it is made of.
#include "cresset/core/ivalue.h"

#include "tests/core/expect_error.h"

namespace cresset {
namespace {

TEST(IValue, IsReadByTheTypeThatIsWanted) {
  EXPECT_EQ(IValue(3).to<int64_t>(), 3);
  EXPECT_EQ(IValue(3).to<int>(), 3);
  EXPECT_EQ(IValue(3).to<double>(), 3.0);
  EXPECT_EQ(IValue(2.5).to<float>(), 2.5f);
  EXPECT_TRUE(IValue(true).to<bool>());
  EXPECT_EQ(IValue("text").to<std::string>(), "text");
  EXPECT_EQ(IValue(std::vector<int64_t>{1, 2}).to<std::vector<int64_t>>(), (std::vector<int64_t>{1, 2}));
  EXPECT_ERROR(TypeError, IValue("text").to<double>(), "IValue: found string (expected double)");
  EXPECT_ERROR(TypeError, IValue(1).to<bool>(), "IValue: found int (expected bool)");
}

TEST(IValue, HoldsTuplesAndOptionals) {
  const std::tuple<double, bool, std::string> parts(0.9, true, "x");
  const IValue tuple(parts);
  ASSERT_TRUE(tuple.isTuple());
  EXPECT_EQ((tuple.to<std::tuple<double, bool, std::string>>()), parts);
  EXPECT_ERROR(TypeError, (tuple.to<std::tuple<double, bool>>()), "IValue: found a tuple of 3 elements (expected 2)");

  EXPECT_TRUE(IValue(std::optional<int64_t>()).isNone());
  EXPECT_EQ(IValue(std::optional<int64_t>(4)).toInt(), 4);
  EXPECT_EQ(IValue().toOptional<double>(), std::nullopt);
  EXPECT_EQ(IValue(0.5).toOptional<double>(), 0.5);
}

}  // namespace
}  // namespace cresset
