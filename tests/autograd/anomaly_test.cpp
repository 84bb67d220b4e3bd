// Anomaly mode: a backward that fails or makes a nan names the forward op and where it was called.
#include "expect.h"

// With its own name in the symbol table, so that the call site can be told apart.
[[gnu::noinline, gnu::visibility("default")]] cresset::Tensor the_line_at_fault(const cresset::Tensor& x) {
  return x.exp();
}

namespace cresset {
namespace {

using namespace autograd;

struct MakesNan : Function<MakesNan> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * std::nan("")}; }
};

TEST(Anomaly, NamesTheNodeThatMadeANan) {
  DetectAnomalyGuard anomaly;
  Tensor x = leaf_of({1});
  std::string message = test::message_when<AutogradError>([&] { MakesNan::apply(x).sum().backward(); });
  EXPECT_NE(message.find("MakesNan"), std::string::npos) << message;
  EXPECT_NE(message.find("returned nan values in its 0th output"), std::string::npos) << message;
  EXPECT_NE(message.find("test_autograd"), std::string::npos) << message;
}

TEST(Anomaly, NamesTheCallSiteOfTheForwardOp) {
  DetectAnomalyGuard anomaly;
  Tensor h = leaf_of({1}) * 1;
  Tensor y = the_line_at_fault(h);
  y.mul_(2);
  std::string message = test::message_when<AutogradError>([&] { y.sum().backward(); });
  EXPECT_NE(message.find("ExpBackward0 failed in backward"), std::string::npos) << message;
  EXPECT_NE(message.find("modified by an inplace operation"), std::string::npos) << message;
  EXPECT_NE(message.find("the_line_at_fault"), std::string::npos) << message;
#ifdef CRESSET_TEST_LINES
  EXPECT_NE(message.find("anomaly_test.cpp:6"), std::string::npos) << message;
#endif
}

#ifdef CRESSET_TEST_LINES
TEST(Anomaly, SkipsCressetsOwnFramesInTheProgram) {  // Function<T>::apply is compiled into it
  DetectAnomalyGuard anomaly;
  Tensor x = leaf_of({1});
  Tensor y = MakesNan::apply(x).sum();
  std::string line = "anomaly_test.cpp:" + std::to_string(__LINE__ - 1);
  std::string message = test::message_when<AutogradError>([&] { y.backward(); });
  size_t found = message.find(line), first = message.find("\n    ");
  ASSERT_NE(found, std::string::npos) << message;
  EXPECT_LT(found, message.find('\n', first + 1)) << message;
}
#endif

TEST(Anomaly, SaysWhenTheForwardWasOutside) {
  Tensor x = leaf_of({1});
  Tensor y = MakesNan::apply(x).sum();
  DetectAnomalyGuard anomaly;
  EXPECT_ERROR(AutogradError, y.backward(), "called outside anomaly mode");
}

TEST(Anomaly, CanLeaveNansAlone) {
  DetectAnomalyGuard anomaly(/*check_nan=*/false);
  Tensor x = leaf_of({1});
  MakesNan::apply(x).sum().backward();
  EXPECT_TRUE(std::isnan(x.grad().item<float>()));
}

TEST(Anomaly, KeepsTheUsersExceptions) {
  DetectAnomalyGuard anomaly;
  Tensor h = leaf_of({1}) * 1;
  h.grad_fn()->add_pre_hook([](const variable_list&) -> variable_list { throw std::out_of_range("mine"); });
  EXPECT_THROW(h.sum().backward(), std::out_of_range);
}

TEST(Anomaly, IsOnWhileTheGuardLives) {
  EXPECT_FALSE(is_anomaly_enabled());
  {
    DetectAnomalyGuard outer;
    {
      DetectAnomalyGuard inner(false);
      EXPECT_TRUE(is_anomaly_enabled());
    }
    EXPECT_TRUE(is_anomaly_enabled());
    EXPECT_ERROR(AutogradError, MakesNan::apply(leaf_of({1})).sum().backward(), "nan");  // the outer one checks again
  }
  EXPECT_FALSE(is_anomaly_enabled());
  set_anomaly_enabled(true);
  EXPECT_TRUE(is_anomaly_enabled());
  set_anomaly_enabled(false);
}

}  // namespace
}  // namespace cresset
