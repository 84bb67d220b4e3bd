// Module: registering, walking, moving, state dicts, copies and printing.
#include <gtest/gtest.h>

#include <sstream>

#include "cresset/cresset.h"
#include "cresset/nn/layers/linear.h"
#include "cresset/nn/layers/norm.h"
#include "tests/support/message_when.h"

namespace cresset {
namespace {

using test::message_when;
using namespace nn;
using Tensors = std::vector<Tensor>;

struct NetImpl : Cloneable<NetImpl> {
  NetImpl() { NetImpl::reset(); }
  void reset() override {
    first = register_module("first", Linear(3, 4));
    norm = register_module("norm", BatchNorm1d(4));
    second = register_module("second", Linear(LinearOptions(4, 2).bias(false)));
    scale = register_parameter("scale", ones({1}));
    table = register_buffer("table", arange(4));
    cache = register_buffer("cache", zeros({2}), /*persistent=*/false);
  }
  Tensor forward(const Tensor& x) { return second(norm(first(x))) * scale; }
  Linear first{nullptr}, second{nullptr};
  BatchNorm1d norm{nullptr};
  Tensor scale, table, cache;
};
CRESSET_MODULE(Net);

TEST(Module, WalksParametersBuffersAndModulesInOrder) {
  Net net;
  using Names = std::vector<std::string>;
  EXPECT_EQ(net->named_parameters().keys(),
            (Names{"scale", "first.weight", "first.bias", "norm.weight", "norm.bias", "second.weight"}));
  EXPECT_EQ(net->named_parameters(false).keys(), Names{"scale"});
  EXPECT_EQ(net->named_buffers().keys(),
            (Names{"table", "cache", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}));
  EXPECT_EQ(net->named_buffers(false).size(), 2u);
  EXPECT_EQ(net->named_modules().keys(), (Names{"", "first", "norm", "second"}));
  EXPECT_EQ(net->named_modules("net", false).keys(), (Names{"net.first", "net.norm", "net.second"}));
  EXPECT_EQ(net->named_children().keys(), (Names{"first", "norm", "second"}));
  EXPECT_EQ(net->modules().size(), 4u);
  EXPECT_EQ(net->children().size(), 3u);
  EXPECT_TRUE(net->parameters()[0].is_same(net->scale));
  EXPECT_EQ(net->name(), "cresset::(anonymous namespace)::NetImpl");
  EXPECT_EQ(short_name(*net), "Net");
  EXPECT_NE(net->children()[0]->as<Linear>(), nullptr);
  EXPECT_NE(net->children()[0]->as<LinearImpl>(), nullptr);
  EXPECT_EQ(net->children()[0]->as<BatchNorm1d>(), nullptr);
}

TEST(Module, AppliesParentsFirstInEveryForm) {
  Net net;
  std::vector<std::string> names;
  net->apply([&](Module& m) { names.push_back(short_name(m)); });
  EXPECT_EQ(names, (std::vector<std::string>{"Net", "Linear", "BatchNorm1d", "Linear"}));
  names.clear();
  net->apply([&](const std::string& name, Module&) { names.push_back(name); }, "net");
  EXPECT_EQ(names, (std::vector<std::string>{"net", "net.first", "net.norm", "net.second"}));
  size_t count = 0;
  std::as_const(*net).apply([&](const Module&) { count++; });
  net->apply([&](const std::shared_ptr<Module>& m) { count += m != nullptr; });
  std::as_const(*net).apply([&](const std::string&, const Module&) { count++; });
  net->apply([&](const std::string&, const std::shared_ptr<Module>&) { count++; });
  EXPECT_EQ(count, 16u);
}

TEST(Module, ListsWhatIsSharedOnceButSavesItUnderEachName) {
  struct Twice : Module {
    Twice() {
      a = register_module("a", Linear(2, 2));
      register_module("b", a);
      register_parameter("tied", a->weight);
    }
    Linear a{nullptr};
  };
  auto module = std::make_shared<Twice>();
  EXPECT_EQ(module->parameters().size(), 2u);
  EXPECT_EQ(module->modules().size(), 2u);
  EXPECT_EQ(module->children().size(), 2u) << "children under each name, as libtorch's";
  EXPECT_EQ(module->state_dict().keys(),
            (std::vector<std::string>{"tied", "a.weight", "a.bias", "b.weight", "b.bias"}));
}

constexpr const char* kEmptyHolder =
    "Accessing empty ModuleHolder: found no cresset::nn::LinearImpl in it (give it one before it is used)";

TEST(Module, RefusesBadNames) {
  Module module("m");
  EXPECT_EQ(message_when([&] { module.register_parameter("", zeros({1})); }),
            "Parameter name must not be empty (got '')");
  EXPECT_EQ(message_when([&] { module.register_buffer("a.b", zeros({1})); }),
            "Buffer name must not contain a dot (got 'a.b')");
  EXPECT_EQ(message_when([&] { module.register_module("", Linear(1, 1)); }),
            "Submodule name must not be empty (got '')");
  module.register_parameter("x", zeros({1}));
  EXPECT_EQ(message_when([&] { module.register_parameter("x", zeros({1})); }), "Parameter 'x' already defined");
  EXPECT_EQ(message_when([&] { module.register_buffer("x", zeros({1})); }),
            "Buffer 'x' is already defined as a parameter");
  EXPECT_EQ(message_when([&] { module.unregister_module("y"); }), "No Module with name `y` is registered");
  EXPECT_EQ(message_when([&] { module.register_module("y", std::shared_ptr<LinearImpl>()); }),
            "Submodule 'y' is null (expected a module)");
  EXPECT_EQ(message_when([&] { Linear(nullptr)->parameters(); }), kEmptyHolder);
  EXPECT_NE(message_when([&] { module.modules(); }).find("not stored in a shared_ptr"), std::string::npos);
}

TEST(Module, ReplacesAndUnregistersSubmodules) {
  Net net;
  net->second = net->replace_module("second", Linear(4, 5));
  EXPECT_EQ(net(randn({2, 3})).size(1), 5);
  EXPECT_NE(message_when([&] { net->replace_module("third", Linear(4, 5)); }).find("'third' is not defined"),
            std::string::npos);
  net->unregister_module("second");
  EXPECT_EQ(net->children().size(), 2u);
}

TEST(Module, UndefinedParametersAreLeftOut) {
  Linear linear(LinearOptions(3, 2).bias(false));
  EXPECT_FALSE(linear->bias.defined());
  EXPECT_EQ(linear->parameters().size(), 1u);
  EXPECT_EQ(linear->state_dict().keys(), std::vector<std::string>{"weight"});
  linear->to(kDouble);
  linear->zero_grad();
  EXPECT_EQ(linear(randn({1, 3}, kDouble)).dtype(), kDouble);
}

TEST(Module, AHolderThatWasMovedFromIsEmpty) {
  Linear a(1, 1), b = std::move(a);
  EXPECT_TRUE(a.is_empty());  // NOLINT
  EXPECT_EQ(message_when([&] { a->parameters(); }), kEmptyHolder);
  EXPECT_EQ(b.ptr().use_count(), 2);
  a = b;
  EXPECT_EQ(a.ptr(), b.ptr());
}

TEST(Module, TrainingFlagReachesAll) {
  Net net;
  EXPECT_TRUE(net->is_training());
  net->eval();
  EXPECT_FALSE(net->norm->is_training());
  net->train();
  EXPECT_TRUE(net->norm->is_training());
}

TEST(Module, MovesFloatsOnlyAndKeepsIdentityAndGradients) {
  Net net;
  Tensor handle = net->first->weight;
  net(randn({4, 3})).sum().backward();
  net->to(kDouble);
  EXPECT_EQ(handle.dtype(), kDouble);
  EXPECT_EQ(handle.grad().dtype(), kDouble);
  EXPECT_TRUE(handle.requires_grad() && handle.is_leaf());
  EXPECT_EQ(net->table.dtype(), kLong);
  EXPECT_EQ(net->norm->num_batches_tracked.dtype(), kLong);
  net(randn({4, 3}, kDouble)).sum().backward();
  net->to(Device(kCPU), kFloat);
  EXPECT_EQ(handle.dtype(), kFloat);
  net->to(Device(kMeta));
  EXPECT_TRUE(handle.is_meta());
  EXPECT_EQ(message_when([&] { net->to(kInt); }),
            "Module.to: found dtype int32 (expected a floating point or complex one)");
}

TEST(Module, ZeroGradDropsOrClears) {
  Net net;
  net(randn({4, 3})).sum().backward();
  net->zero_grad(/*set_to_none=*/false);
  EXPECT_EQ(net->scale.grad().abs().sum().item<double>(), 0);
  net->zero_grad();
  EXPECT_FALSE(net->scale.grad().defined());
  net->requires_grad_(false);
  EXPECT_FALSE(net(randn({4, 3})).requires_grad());
}

// ---- state dicts
TEST(StateDict, HasPyTorchsNamesAndLoadsIntoAnotherModel) {
  Net net, other;
  EXPECT_EQ(
      net->state_dict().keys(),
      (std::vector<std::string>{"scale", "table", "first.weight", "first.bias", "norm.weight", "norm.bias",
                                "norm.running_mean", "norm.running_var", "norm.num_batches_tracked", "second.weight"}));
  net(randn({8, 3}));
  IncompatibleKeys keys = other->load_state_dict(net->state_dict());
  EXPECT_TRUE(keys.missing_keys.empty() && keys.unexpected_keys.empty());
  net->eval();
  other->eval();
  Tensor x = randn({2, 3});
  EXPECT_TRUE(equal(net(x), other(x)));
  EXPECT_EQ(other->norm->num_batches_tracked.item<int64_t>(), 1);
  EXPECT_TRUE(other->scale.requires_grad());
}

TEST(StateDict, ErrorListsAllFaultsInPyTorchsWordsAndChangesNothing) {
  Net net;
  StateDict state = net->state_dict();
  state.erase("first.bias");
  state.erase("scale");
  state.insert("extra", zeros({1}));
  state["second.weight"] = zeros({2, 5});
  state["first.weight"] = full({4, 3}, 9);
  EXPECT_EQ(message_when([&] { net->load_state_dict(state); }),
            "Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: \"scale\", \"first.bias\". "
            "\n\tUnexpected key(s) in state_dict: \"extra\". "
            "\n\tsize mismatch for second.weight: copying a param with shape torch.Size([2, 5]) from checkpoint, the "
            "shape in current model is torch.Size([2, 4]).");
  EXPECT_NE(net->first->weight.max().item<double>(), 9);
  EXPECT_EQ(message_when([&] { net->load_state_dict(state, /*strict=*/false); }),
            "Error(s) in loading state_dict for Net:\n\tsize mismatch for second.weight: copying a param with shape "
            "torch.Size([2, 5]) from checkpoint, the shape in current model is torch.Size([2, 4]).");
  state.erase("second.weight");
  IncompatibleKeys keys = net->load_state_dict(state, /*strict=*/false);
  EXPECT_EQ(keys.missing_keys, (std::vector<std::string>{"scale", "first.bias", "second.weight"}));
  EXPECT_EQ(keys.unexpected_keys, std::vector<std::string>{"extra"});
  EXPECT_EQ(net->first->weight.max().item<double>(), 9);
}

TEST(StateDict, LoadsFromADictOfValues) {
  Linear linear(2, 1);
  IValue::Dict dict;
  dict["weight"] = ones({1, 2}, kDouble);
  dict["bias"] = zeros({1});
  linear->load_state_dict(IValue(dict));
  EXPECT_EQ(linear->weight.sum().item<float>(), 2);
  dict["bias"] = 3;
  EXPECT_EQ(message_when([&] { linear->load_state_dict(IValue(dict)); }),
            "load_state_dict: found a int under \"bias\" (expected a tensor)");
  EXPECT_EQ(message_when([&] { linear->load_state_dict(IValue(1)); }),
            "load_state_dict: found a int (expected a dict of tensors by name)");
}

// ---- copies
TEST(Clone, IsDeepAndKeepsModesFrozenParametersAndHooks) {
  Net net;
  net->eval();
  net->first->requires_grad_(false);
  int calls = 0;
  net->second->register_forward_hook([&](Module&, const AnyValues&, AnyValue&) { calls++; });
  Net copy(std::dynamic_pointer_cast<NetImpl>(net->clone()));
  Tensor x = randn({2, 3});
  EXPECT_TRUE(equal(net(x), copy(x)));
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(copy->norm->is_training());
  EXPECT_FALSE(copy->first->weight.requires_grad());
  EXPECT_TRUE(copy->second->weight.requires_grad());
  EXPECT_FALSE(copy->first->weight.is_alias_of(net->first->weight));
  EXPECT_TRUE(copy->named_parameters()["first.weight"].is_same(copy->first->weight));
  EXPECT_EQ(copy->state_dict().keys(), net->state_dict().keys());
  EXPECT_EQ(net->clone(Device(kMeta))->parameters()[0].device(), Device(kMeta));
}

TEST(Clone, SharedParametersStaySharedAndLostSharingIsAnError) {
  struct Tied : Cloneable<Tied> {
    explicit Tied(bool in_reset) : in_reset(in_reset) {
      Tied::reset();
      if (!in_reset) share();
    }
    void reset() override {
      a = register_module("a", Linear(2, 2));
      if (in_reset) share();
    }
    void share() { tied = register_parameter("tied", a->weight); }
    bool in_reset;
    Linear a{nullptr};
    Tensor tied;
  };
  auto good = std::make_shared<Tied>(true);
  auto copy = std::dynamic_pointer_cast<Tied>(good->clone());
  EXPECT_TRUE(copy->tied.is_same(copy->a->weight));
  EXPECT_FALSE(copy->tied.is_same(good->tied));
  EXPECT_NE(message_when([] { std::make_shared<Tied>(false)->clone(); }).find("inside reset() and not the constructor"),
            std::string::npos);

  struct Late : Cloneable<Late> {
    Late() { Late::reset(); }
    void reset() override {
      a = register_module("a", Linear(2, 2));
      b = register_module("b", Linear(2, 2));
    }
    Linear a{nullptr}, b{nullptr};
  };
  auto late = std::make_shared<Late>();
  late->b->unregister_parameter("weight");
  late->b->unregister_parameter("bias");
  late->b->weight = late->b->register_parameter("weight", late->a->weight);
  late->b->register_parameter("bias", late->b->bias);
  EXPECT_NE(message_when([&] { late->clone(); }).find("'a.weight' and 'b.weight' are one tensor, but two in the copy"),
            std::string::npos);
}

TEST(Clone, WantsCloneable) {
  struct Plain : Module {};
  EXPECT_NE(message_when([] { Plain().clone(); }).find("clone() has not been implemented for"), std::string::npos);
}

// ---- printing
TEST(Printing, IsPyTorchs) {
  Net net;
  std::ostringstream out;
  out << net;
  EXPECT_EQ(out.str(),
            "Net(\n"
            "  (first): Linear(in_features=3, out_features=4, bias=True)\n"
            "  (norm): BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)\n"
            "  (second): Linear(in_features=4, out_features=2, bias=False)\n"
            ")");
  EXPECT_EQ(message_of(*ParameterList(zeros({2, 3}), zeros({4}))),
            "ParameterList(\n    (0): Parameter containing: [torch.float32 of size 2x3]\n"
            "    (1): Parameter containing: [torch.float32 of size 4]\n)");
  Sequential inner{{"act", Functional([](Tensor x) { return x; })}};
  EXPECT_EQ(message_of(*Sequential(Linear(2, 3), inner)),
            "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n  (1): Sequential(\n"
            "    (act): Functional()\n  )\n)");
  EXPECT_EQ(message_of(*ModuleList()), "ModuleList()");
  Module holder("Holder");
  holder.register_module("p", ParameterList(zeros({2}), zeros({1, 2})));
  EXPECT_EQ(message_of(holder),
            "Holder(\n  (p): ParameterList(\n      (0): Parameter containing: [torch.float32 of size 2]\n"
            "      (1): Parameter containing: [torch.float32 of size 1x2]\n  )\n)");
}

TEST(Module, NoneHoldsItself) {
  auto inner = std::make_shared<Module>("Inner"), outer = std::make_shared<Module>("Outer");
  EXPECT_EQ(message_when([&] { inner->register_module("me", inner); }),
            "Submodule 'me' of Inner is or holds that Inner itself (expected a module that does not)");
  outer->register_module("inner", inner);
  EXPECT_NE(message_when([&] { inner->register_module("up", outer); }), "");
  inner->register_module("other", std::make_shared<Module>("Other"));
  EXPECT_NE(message_when([&] { inner->replace_module("other", outer); }), "");
  EXPECT_EQ(outer->modules().size(), 3u);
  outer->register_module("again", inner);  // shared is not circular
}

}  // namespace
}  // namespace cresset
