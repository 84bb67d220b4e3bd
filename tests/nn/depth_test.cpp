// Modules nested far deeper than a stack reaches: walked and freed, or refused with a word.
#include <gtest/gtest.h>

#include <sstream>

#include "cresset/cresset.h"
#include "tests/support/message_when.h"
#include "tests/support/small_stack.h"

namespace cresset {
namespace {

using namespace nn;
using test::expect_contains;
using test::message_when;

struct ShellImpl : Cloneable<ShellImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) { return x; }
};
CRESSET_MODULE(Shell);

constexpr int kDeep = 100'000;

// Wrapped from the inside out, with a parameter and a buffer in the innermost.
std::shared_ptr<Module> wrapped(int depth) {
  std::shared_ptr<Module> module = std::make_shared<ShellImpl>();
  module->register_parameter("weight", ones({2}));
  module->register_buffer("count", zeros({1}));
  for (int i = 0; i < depth; i++) {
    auto outer = std::make_shared<ShellImpl>();
    outer->register_module("m", module);
    module = outer;
  }
  return module;
}

TEST(Depth, AHundredThousandModulesAreWalkedAndFreed) {
  test::on_stack_of(256, [] {
    const std::shared_ptr<Module> model = wrapped(kDeep);
    EXPECT_EQ(model->parameters().size(), 1u);
    EXPECT_EQ(model->buffers().size(), 1u);
    EXPECT_EQ(model->modules().size(), kDeep + 1u);
    int visits = 0;
    model->apply([&](Module&) { visits++; });
    EXPECT_EQ(visits, kDeep + 1);
    const std::string name = model->named_parameters().keys()[0];
    EXPECT_EQ(name.size(), 2u * kDeep + 6);
    EXPECT_EQ(name.substr(0, 6), "m.m.m.");
    const StateDict state = model->state_dict();
    EXPECT_EQ(state.size(), 2u);
    EXPECT_TRUE(model->load_state_dict(state).missing_keys.empty());
    model->parameters()[0].sum().backward();
    model->zero_grad();
    EXPECT_FALSE(model->parameters()[0].grad().defined());
  });
}

// From the outside in: each new module is registered in one that is registered itself.
TEST(Depth, BuiltFromTheOutside) {
  test::on_stack_of(256, [] {
    const auto model = std::make_shared<ShellImpl>();
    std::shared_ptr<Module> last = model;
    for (int i = 0; i < kDeep; i++) last = last->register_module("m", std::make_shared<ShellImpl>());
    EXPECT_EQ(model->modules().size(), kDeep + 1u);
  });
}

TEST(Depth, WhatCallsEachModulesOwnMethodsIsRefusedBeforeTheStackEnds) {
  test::on_stack_of(256, [] {
    const std::shared_ptr<Module> model = wrapped(kDeep);
    const std::string stack = "KiB of this thread's stack of";
    for (const std::string& message : {
             message_when<ValueError>([&] { model->train(false); }),
             message_when<ValueError>([&] { model->to(kDouble); }),
             message_when<ValueError>([&] { model->to(Device(kCPU)); }),
             message_when<ValueError>([&] {
               std::ostringstream stream;
               save(model, stream);
             }),
         }) {
      expect_contains(message, "modules are nested too deep for the stack, down to Shell: ");
      expect_contains(message, stack);
    }
    EXPECT_TRUE(model->is_training());  // nothing was done by halves
    EXPECT_EQ(model->parameters()[0].dtype(), kFloat);
  });
}

TEST(Depth, NestedSequentialsAreCalledAndCopiedAsFarAsTheStackReaches) {
  test::on_stack_of(512, [] {
    const auto nest = [](int depth) {
      Sequential model(Shell{});
      for (int i = 0; i < depth; i++) {
        Sequential outer;
        outer->push_back(model);
        model = outer;
      }
      return model;
    };
    EXPECT_EQ(nest(50)->forward(ones({2})).sum().item<float>(), 2);
    EXPECT_EQ(std::dynamic_pointer_cast<SequentialImpl>(nest(50)->clone())->modules().size(), 52u);
    Sequential deep = nest(20'000);
    expect_contains(message_when<ValueError>([&] { deep->forward(ones({2})); }),
                    "forward: modules are nested too deep");
    expect_contains(message_when<ValueError>([&] { deep->clone(); }), "Module.clone: modules are nested too deep");
  });
}

TEST(Depth, PrintsDownToALimit) {
  std::ostringstream text;
  text << *wrapped(200);
  expect_contains(text.str(), "(m): Shell(... nested deeper than 100)");
  std::ostringstream shallow;
  shallow << *wrapped(2);
  EXPECT_EQ(shallow.str(), "Shell(\n  (m): Shell(\n    (m): Shell()\n  )\n)");
}

TEST(Depth, AModuleStillCannotHoldItself) {
  const auto outer = std::make_shared<ShellImpl>(), inner = std::make_shared<ShellImpl>();
  expect_contains(message_when<ValueError>([&] { outer->register_module("m", outer); }), "is or holds that");
  outer->register_module("m", inner);
  expect_contains(message_when<ValueError>([&] { inner->register_module("m", outer); }), "is or holds that");
  const auto last = std::make_shared<ShellImpl>();
  inner->register_module("m", last);
  expect_contains(message_when<ValueError>([&] { last->register_module("m", outer); }), "is or holds that");
}

}  // namespace
}  // namespace cresset
