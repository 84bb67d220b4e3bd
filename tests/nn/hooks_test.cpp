// Hooks of modules, and calling them without knowing their type.
#include <gtest/gtest.h>

#include "cresset/cresset.h"
#include "cresset/nn/layers/linear.h"
#include "tests/support/message_when.h"

namespace cresset {
namespace {

using test::message_when;
using namespace nn;
using Tensors = std::vector<Tensor>;

TEST(Hooks, ForwardHooksSeeAndChangeArgumentsAndResults) {
  Linear linear(2, 2);
  Tensor seen;
  RemovableHandle before = linear->register_forward_pre_hook(
      [](Module&, AnyValues& arguments) { arguments[0] = AnyValue(arguments[0].get<Tensor>() * 2); });
  RemovableHandle after = linear->register_forward_hook([&](Module& m, const AnyValues& arguments, AnyValue& result) {
    EXPECT_EQ(short_name(m), "Linear");
    seen = arguments[0].get<Tensor>();
    result = AnyValue(result.get<Tensor>() + 1);
  });
  Tensor x = randn({3, 2});
  EXPECT_TRUE(allclose(linear(x), linear->forward(x * 2) + 1));
  EXPECT_TRUE(equal(seen, x * 2));
  EXPECT_TRUE(allclose(linear->call(any_values(x)).get<Tensor>(), linear->forward(x * 2) + 1));
  after.remove();
  before.remove();
  EXPECT_FALSE(linear->has_hooks());
  EXPECT_TRUE(equal(linear(x), linear->forward(x)));
  after.remove();  // once more is harmless
}

TEST(Hooks, AHookMayRemoveItself) {
  Linear linear(2, 2);
  int calls = 0;
  RemovableHandle handle;
  handle = linear->register_forward_pre_hook([&](Module&, AnyValues&) {
    calls++;
    handle.remove();
  });
  linear(randn({1, 2}));
  linear(randn({1, 2}));
  EXPECT_EQ(calls, 1);
}

TEST(Hooks, BackwardHooksGetAndReplaceGradients) {
  Linear linear(2, 3);
  Tensor x = randn({4, 2}).requires_grad_();
  Tensors inputs, outputs;
  auto pre = linear->register_full_backward_pre_hook(
      [](Module&, const Tensors& grad_output) { return Tensors{grad_output[0] * 10}; });
  auto full = linear->register_full_backward_hook([&](Module&, const Tensors& grad_input, const Tensors& grad_output) {
    inputs = grad_input;
    outputs = grad_output;
    return Tensors{grad_input[0] + 1};
  });
  linear(x).sum().backward();
  Tensor wanted = linear->weight.detach().sum(0).expand({4, 2}) * 10;
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_TRUE(allclose(outputs[0], full_like(outputs[0], 10)));
  EXPECT_TRUE(allclose(inputs[0], wanted));
  EXPECT_TRUE(allclose(x.grad(), wanted + 1));
  EXPECT_TRUE(allclose(linear->bias.grad(), full_like(linear->bias, 40)));
  full.remove();
  pre.remove();
  EXPECT_FALSE(linear->has_hooks());
}

TEST(Hooks, BackwardHookRunsAlsoWhereNoArgumentWantsAGradient) {
  Linear linear(2, 3);
  size_t calls = 0;
  Tensors inputs;
  linear->register_full_backward_hook([&](Module&, const Tensors& grad_input, const Tensors&) {
    calls++;
    inputs = grad_input;
  });
  linear(randn({4, 2})).sum().backward();
  EXPECT_EQ(calls, 1u);
  ASSERT_EQ(inputs.size(), 1u);  // PyTorch's (None,): one entry for each argument
  EXPECT_FALSE(inputs[0].defined());
  NoGradGuard no_grad;
  linear(randn({4, 2}));
  EXPECT_EQ(calls, 1u);
}

TEST(Hooks, AWrongReplacementIsAnError) {
  Linear linear(2, 3);
  Tensor x = randn({4, 2}).requires_grad_();
  linear->register_full_backward_hook([](Module&, const Tensors& g, const Tensors&) { return Tensors{g[0], g[0]}; });
  EXPECT_EQ(message_when([&] { linear(x).sum().backward(); }),
            "Linear: a backward hook returned 2 gradients (expected 1)");
}

// ---- the type-erased call
TEST(Call, NeedsToKnowTheType) {
  struct Plain : Module {
    Tensor forward(Tensor x) { return x + 1; }
  };
  auto plain = std::make_shared<Plain>();
  EXPECT_NE(message_when([&] { plain->call(any_values(zeros({1}))); }).find("call does not know its forward"),
            std::string::npos);
  Module parent("parent");
  parent.register_module("plain", plain);
  EXPECT_EQ(plain->call(any_values(zeros({1}))).get<Tensor>().item<float>(), 1);
}

TEST(Call, BindingIsToldWhenTheModuleGoes) {
  int gone = 0;
  {
    Linear linear(1, 1);
    linear->binding().object = &gone;
    linear->binding().module_gone = [](void* object) { ++*static_cast<int*>(object); };
    linear->clone();
  }
  EXPECT_EQ(gone, 1);
}

}  // namespace
}  // namespace cresset
