// IValue by C++ types: to<T>() and what it is made of.
#include "cresset/core/ivalue.h"

#include <sstream>

#include "tests/core/expect_error.h"
#include "tests/support/small_stack.h"

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

// Lists, tuples and dicts in turn.
IValue nested(int depth) {
  IValue value(7);
  for (int i = 0; i < depth; i++) {
    std::vector<IValue> items;
    items.push_back(std::move(value));
    if (i % 3 == 0) {
      value = IValue(IValue::List(std::move(items)));
    } else if (i % 3 == 1) {
      value = IValue(IValue::Tuple(std::move(items)));
    } else {
      IValue::Dict dict;
      dict["k"] = std::move(items[0]);
      value = IValue(std::move(dict));
    }
  }
  return value;
}

TEST(IValue, AMillionContainersInEachOtherAreCopiedPrintedAndFreed) {
  test::on_stack_of(128, [] {
    IValue value = nested(1'000'000);
    IValue copy = value;
    std::ostringstream text;
    text << copy;
    EXPECT_EQ(text.str().size(), 3'333'333u);
    EXPECT_EQ(text.str().substr(0, 12), "[{k: ([{k: (");
    copy = IValue();            // freed by an assignment
    value = value.toList()[0];  // a part of itself
    EXPECT_TRUE(value.isDict());
  });
}

TEST(IValue, ManySmallListsInAList) {
  std::vector<IValue> items(1000, nested(40));
  const IValue value{IValue::List(std::move(items))};
  const IValue copy = value;
  std::ostringstream one, other;
  one << value;
  other << copy;
  EXPECT_EQ(one.str(), other.str());
  EXPECT_EQ(one.str().find("[[{k: ([{k: ([{k: ("), 0u);
}

TEST(IValue, PrintsAsLibtorchDoes) {
  IValue::Dict dict;
  dict["a"] = IValue(std::vector<int64_t>{1, 2});
  dict["b"] = IValue(IValue::Tuple(std::vector<IValue>{IValue(), IValue(true)}));
  std::ostringstream text;
  text << IValue(IValue::List(std::vector<IValue>{IValue(dict), IValue(IValue::Tuple({IValue(2.0)})),
                                                  IValue(IValue::Dict()), IValue(IValue::List()), IValue("s")}));
  EXPECT_EQ(text.str(), "[{a: [1, 2], b: (None, True)}, (2.,), {}, [], s]");
}

}  // namespace
}  // namespace cresset
