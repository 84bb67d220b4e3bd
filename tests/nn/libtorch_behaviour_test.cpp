// Where modules and functionals have to do as libtorch's: copies, names, what is refused and in which words.
#include "cresset/torch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/expect_error.h"

namespace cresset::testing::libtorch_behaviour_test {
namespace {

namespace F = torch::nn::functional;
namespace nn = torch::nn;
namespace rnn = torch::nn::utils::rnn;

struct LeafImpl : nn::Cloneable<LeafImpl> {
  LeafImpl() { reset(); }
  void reset() override { weight = register_parameter("weight", torch::ones({2})); }
  torch::Tensor forward(torch::Tensor x) { return x * weight * value; }
  torch::Tensor weight;
  int value = 0;
};
struct BranchImpl : nn::Cloneable<BranchImpl> {
  BranchImpl() { reset(); }
  void reset() override {
    leaf = register_module("leaf", std::make_shared<LeafImpl>());
    dropout = register_module("dropout", nn::Dropout(0.5));
  }
  std::shared_ptr<LeafImpl> leaf;
  nn::Dropout dropout{nullptr};
  std::string label = "new";
};
struct TreeImpl : nn::Cloneable<TreeImpl> {
  TreeImpl() { reset(); }
  void reset() override { branch = register_module("branch", std::make_shared<BranchImpl>()); }
  std::shared_ptr<BranchImpl> branch;
};

TEST(LibtorchClone, CopiesPlainMembersOfSubmodules) {
  auto tree = std::make_shared<TreeImpl>();
  tree->branch->leaf->value = 123;
  tree->branch->label = "old";
  tree->branch->dropout->options.p(0.25);
  tree->branch->leaf->weight.data().fill_(7);
  int calls = 0;
  tree->branch->leaf->register_forward_hook([&](nn::Module&, const nn::AnyValues&, nn::AnyValue&) { calls++; });
  tree->branch->eval();
  auto copy = std::dynamic_pointer_cast<TreeImpl>(tree->clone());
  EXPECT_EQ(copy->branch->leaf->value, 123);
  EXPECT_EQ(copy->branch->label, "old");
  EXPECT_EQ(copy->branch->dropout->options.p(), 0.25);
  EXPECT_FALSE(copy->branch->leaf->is_training());
  // What is registered, what members hold and what a walk finds are one, and apart from the original.
  EXPECT_EQ(copy->named_modules()["branch.leaf"].get(), copy->branch->leaf.get());
  EXPECT_TRUE(copy->parameters()[0].is_same(copy->branch->leaf->weight));
  EXPECT_FALSE(copy->parameters()[0].is_same(tree->branch->leaf->weight));
  EXPECT_EQ(copy->branch->leaf->weight[0].item<float>(), 7);
  nn::AnyModule(copy->branch->leaf).forward(torch::ones({2}));
  EXPECT_EQ(calls, 1) << "hooks go with it";
}

// What the root's reset() ties together stays so, in the copy as well: then values alone are copied.
TEST(LibtorchClone, KeepsWhatIsHeldFromOutsideASubmodule) {
  struct TiedImpl : nn::Cloneable<TiedImpl> {
    TiedImpl() { reset(); }
    void reset() override {
      a = register_module("a", std::make_shared<LeafImpl>());
      b = register_module("b", std::make_shared<BranchImpl>());
      c = register_module("c", b->leaf);
      alias = a->weight;
    }
    std::shared_ptr<LeafImpl> a, c;
    std::shared_ptr<BranchImpl> b;
    torch::Tensor alias;
  };
  auto tied = std::make_shared<TiedImpl>();
  tied->a->weight.data().fill_(3);
  auto copy = std::dynamic_pointer_cast<TiedImpl>(tied->clone());
  EXPECT_TRUE(copy->alias.is_same(copy->a->weight));
  EXPECT_EQ(copy->alias[0].item<float>(), 3);
  EXPECT_EQ(copy->c.get(), copy->b->leaf.get());
  EXPECT_EQ(copy->named_children()["c"].get(), copy->b->leaf.get());
}

TEST(LibtorchClone, OfAnotherNumberSaysSoInLibtorchsWords) {
  struct LateImpl : nn::Cloneable<LateImpl> {
    LateImpl() { register_module("late", nn::Linear(1, 1)); }
    void reset() override {}
  };
  EXPECT_ERROR(c10::ValueError, std::make_shared<LateImpl>()->clone(),
               "The cloned module does not have the same number of child modules as the original module after calling "
               "reset(). Are you sure you called register_module() inside reset() and not the constructor?");
}

TEST(LibtorchModule, ChildrenAreListedUnderEachName) {
  struct TwiceImpl : nn::Module {
    TwiceImpl() {
      register_module("one", layer);
      register_module("two", layer);
    }
    nn::Linear layer{1, 1};
  };
  auto twice = std::make_shared<TwiceImpl>();
  EXPECT_EQ(twice->named_children().keys(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(twice->children().size(), 2U);
  EXPECT_EQ(twice->parameters().size(), 2U) << "but their tensors once";
}

TEST(LibtorchModule, AnUndefinedParameterThatWantsAGradientIsAWarning) {
  std::vector<std::string> texts;
  cresset::WarningHandlerGuard guard([&](const cresset::Warning& warning) { texts.push_back(warning.text); });
  nn::Linear(nn::LinearOptions(2, 2).bias(false));
  nn::GRUCell(nn::GRUCellOptions(2, 2).bias(false));
  nn::MultiheadAttention(nn::MultiheadAttentionOptions(2, 1).bias(false));
  nn::BatchNorm1d(nn::BatchNorm1dOptions(2).affine(false));
  EXPECT_TRUE(texts.empty()) << texts[0];
  nn::Module module;
  module.register_parameter("none", torch::Tensor(), /*requires_grad=*/false);
  EXPECT_TRUE(texts.empty());
  module.register_parameter("undefined", torch::Tensor());
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_NE(texts[0].find("An undefined tensor cannot require grad. Ignoring the `requires_grad=true` function "
                          "parameter."),
            std::string::npos);
}

TEST(LibtorchModule, OptionsAreCheckedByReset) {
  nn::Hardtanh hardtanh(nn::HardtanhOptions().min_val(-1).max_val(1));
  hardtanh->options.min_val(2);
  EXPECT_ERROR(c10::ValueError, hardtanh->reset(), "max_val must be greater than min_val");
  nn::Dropout dropout(0.5);
  dropout->options.p(1.5);
  EXPECT_ERROR(c10::ValueError, dropout->reset(), "dropout probability has to be between 0 and 1, but got 1.5");
}

TEST(LibtorchModule, ParameterDictUpdatesOnlyWhatItHas) {
  nn::ParameterDict dict(torch::OrderedDict<std::string, torch::Tensor>{{"a", torch::ones({1})}});
  EXPECT_EQ(dict->size(), 1U);
  dict->update(torch::OrderedDict<std::string, torch::Tensor>{{"a", torch::zeros({1})}});
  EXPECT_EQ(dict["a"].item<float>(), 0);
  const torch::OrderedDict<std::string, torch::Tensor> more{{"a", torch::ones({1})}, {"b", torch::ones({1})}};
  EXPECT_ERROR(c10::IndexError, dict->update(more), "'b' is not defined");
  EXPECT_EQ(dict["a"].item<float>(), 0) << "nothing was changed";
  EXPECT_FALSE(dict->contains("b"));
}

TEST(LibtorchModule, AnyModulesAndArraysSpeakAsLibtorchs) {
  nn::AnyModule empty;
  EXPECT_ERROR(c10::Error, empty.get<LeafImpl>(), "Cannot call get() on an empty AnyModule");
  EXPECT_ERROR(c10::Error, empty.get<nn::Linear>(), "Cannot call get() on an empty AnyModule");
  EXPECT_ERROR(c10::Error, empty.ptr<LeafImpl>(), "Cannot call ptr() on an empty AnyModule");
  EXPECT_ERROR(c10::Error, torch::ExpandingArray<3>({1, 2}), "Expected 3 values, but instead got 2");
  EXPECT_ERROR(c10::Error, torch::ExpandingArrayWithOptionalElem<2>({1, 2, 3}), "Expected 2 values, but instead got 3");
}

// Holds a buffer two modules down, each by a name that is given.
struct Below : nn::Module {
  explicit Below(const std::string& name) { register_buffer(name, torch::ones({2})); }
};
struct Above : nn::Module {
  Above(const std::string& child, const std::string& name) { register_module(child, std::make_shared<Below>(name)); }
};
TEST(LibtorchModule, WhatAnArchiveLacksIsNamedAsInLibtorch) {
  std::stringstream stream;
  torch::save(std::make_shared<Above>("a", "b"), stream);
  const std::string bytes = stream.str();
  const auto loaded_into = [&](const std::string& child, const std::string& name) {
    std::stringstream again(bytes);
    auto other = std::make_shared<Above>(child, name);
    torch::load(other, again);
  };
  EXPECT_ERROR(c10::Error, loaded_into("a", "x"), "No such serialized tensor 'a.x'");
  EXPECT_ERROR(c10::Error, loaded_into("x", "b"), "No such serialized submodule: 'x'");
  torch::serialize::InputArchive archive, nested;
  std::stringstream again(bytes);
  archive.load_from(again);
  torch::Tensor tensor;
  torch::IValue value;
  EXPECT_ERROR(c10::Error, archive.read("none", tensor), "No such serialized tensor 'none'");
  EXPECT_ERROR(c10::Error, archive.read("none", value), "No such serialized IValue 'none'");
  EXPECT_ERROR(c10::Error, archive.read("none", nested), "No such serialized submodule: 'none'");
}

TEST(LibtorchModule, AModuleOnTheStackHasNoSharedPointer) {
  nn::Module module("plain");
  EXPECT_ERROR(c10::Error, module.modules(),
               "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not stored in "
               "a shared_ptr.");
}

TEST(LibtorchModule, AdaptiveSoftmaxsLossIsANumber) {
  nn::AdaptiveLogSoftmaxWithLoss layer(nn::AdaptiveLogSoftmaxWithLossOptions(4, 6, {2}));
  const nn::ASMoutput out = layer(torch::randn({3, 4}), torch::tensor({0, 2, 5}));
  static_assert(std::is_same_v<decltype(out.loss), double>);
  EXPECT_NEAR(out.loss, -out.output.mean().item<double>(), 1e-6);
}

TEST(LibtorchModule, DataParallelOnOneDevice) {
  nn::Linear layer(2, 1);
  const torch::Tensor x = torch::ones({3, 2});
  const std::vector<torch::Device> cpu{torch::kCPU};
  EXPECT_TRUE(torch::equal(nn::parallel::data_parallel(layer, x, cpu), layer(x)));
  EXPECT_TRUE(torch::equal(nn::parallel::data_parallel(layer.ptr(), x, cpu, torch::Device(torch::kCPU), 0), layer(x)));
  EXPECT_ERROR(c10::Error, nn::parallel::data_parallel(layer, x, std::vector<torch::Device>{torch::kCPU, torch::kCPU}),
               "found 2 devices");
  if (!torch::cuda::is_available())
    EXPECT_ERROR(c10::Error, nn::parallel::data_parallel(layer, x),
                 "Expected at least one CUDA device to be available");
}

TEST(LibtorchFunctional, PaddingMayStandOnTheLeft) {
  const torch::Tensor a = torch::tensor({1, 2, 3}), b = torch::tensor({4});
  EXPECT_EQ(rnn::pad_sequence({a, b}, true, 0, "left").tolist<int64_t>(), (std::vector<int64_t>{1, 2, 3, 0, 0, 4}));
  EXPECT_EQ(rnn::pad_sequence({a, b}, true, 9, "right").tolist<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4, 9, 9}));
  const std::vector<torch::Tensor> rows{torch::ones({1, 2}), torch::ones({2, 2})};
  EXPECT_EQ(rnn::pad_sequence(rows, true, 0, "left")[0].tolist<float>(), (std::vector<float>{0, 0, 1, 1}));
  EXPECT_ERROR(c10::ValueError, rnn::pad_sequence({a, b}, true, 0, "top"),
               "Expected padding_side to be one of left or right, but got top.");
}

TEST(LibtorchFunctional, NothingCannotBePacked) {
  const torch::Tensor none = torch::zeros({0}, torch::kLong);
  EXPECT_ERROR(c10::ValueError, rnn::pack_padded_sequence(torch::zeros({0, 0, 3}), none), "Cannot pack empty tensors.");
  EXPECT_ERROR(c10::ValueError, rnn::pack_padded_sequence(torch::zeros({2, 1, 0}), torch::tensor({2})),
               "Cannot pack empty tensors.");
}

TEST(LibtorchFunctional, LocalResponseNormTakesIntegers) {
  const torch::Tensor x = torch::arange(100, 118).reshape({3, 3, 2});
  const torch::Tensor y = F::local_response_norm(x, F::LocalResponseNormFuncOptions(2));
  EXPECT_TRUE(torch::equal(y, F::local_response_norm(x.to(torch::kFloat), F::LocalResponseNormFuncOptions(2))));
}

TEST(LibtorchFunctional, NearestExactTakesAlignCornersFalse) {
  const torch::Tensor x = torch::arange(4).reshape({1, 1, 4}).to(torch::kFloat);
  auto options = F::InterpolateFuncOptions().size(std::vector<int64_t>{8}).mode(torch::kNearestExact);
  const torch::Tensor plain = F::interpolate(x, options);
  EXPECT_TRUE(torch::equal(F::interpolate(x, options.align_corners(false)), plain));
  EXPECT_ERROR(c10::Error, F::interpolate(x, options.mode(torch::kNearest)), "align_corners option can only be set");
}

TEST(LibtorchFunctional, AQueryThatSeesNoKeyIsNan) {
  torch::manual_seed(0);
  nn::MultiheadAttention attention(4, 2);
  const torch::Tensor x = torch::randn({3, 2, 4});  // 3 steps, 2 sequences
  const float infinity = std::numeric_limits<float>::infinity();
  torch::Tensor hidden = torch::zeros({2, 3}, torch::kBool);
  hidden[1] = true;  // every key of the second sequence
  torch::Tensor added = torch::zeros({3, 3});
  added[0] = -infinity;  // every key of the first step
  for (bool need_weights : {true, false}) {
    const torch::Tensor by_key = std::get<0>(attention(x, x, x, hidden, need_weights));
    EXPECT_FALSE(by_key.select(1, 0).isnan().any().item<bool>());
    EXPECT_TRUE(by_key.select(1, 1).isnan().all().item<bool>()) << need_weights;
    const torch::Tensor by_step = std::get<0>(attention(x, x, x, torch::Tensor(), need_weights, added));
    EXPECT_TRUE(by_step[0].isnan().all().item<bool>()) << need_weights;
    EXPECT_FALSE(by_step.slice(0, 1).isnan().any().item<bool>());
  }
}

}  // namespace
}  // namespace cresset::testing::libtorch_behaviour_test
