// Containers, AnyModule and AnyValue.
#include <gtest/gtest.h>

#include "cresset/cresset.h"
#include "cresset/nn/layers/activation.h"
#include "cresset/nn/layers/linear.h"
#include "tests/support/message_when.h"

namespace cresset {
namespace {

using test::message_when;
using namespace nn;

struct AddImpl : Cloneable<AddImpl> {
  void reset() override {}
  Tensor forward(Tensor a, const Tensor& b, double factor) { return a + b * factor; }
};
CRESSET_MODULE(Add);

struct DefaultsImpl : Cloneable<DefaultsImpl> {
  void reset() override {}
  std::tuple<Tensor, int> forward(const Tensor& x, int times = 2, double plus = 1) const {
    return {x * times + plus, times};
  }

 protected:
  CRESSET_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2)}, {2, AnyValue(1.0)})
};
CRESSET_MODULE(Defaults);

TEST(AnyValue, HoldsOneTypeAndNamesBothOnAWrongQuestion) {
  AnyValue value(3.5);
  EXPECT_EQ(value.get<double>(), 3.5);
  EXPECT_EQ(value.try_get<int>(), nullptr);
  EXPECT_EQ(message_when([&] { value.get<Tensor>(); }),
            "Attempted to cast AnyValue to Tensor, but its actual type is double");
  EXPECT_EQ(message_when([&] { AnyValue().get<int>(); }),
            "Attempted to cast AnyValue to int, but its actual type is nothing (it is empty)");
}

TEST(AnyModule, ForwardsAnyArgumentsAndChecksThem) {
  AnyModule add{Add()};
  Tensor one = ones({2});
  EXPECT_TRUE(equal(add.forward(one, one, 3.0), full({2}, 4.0f)));
  EXPECT_EQ(message_when([&] { add.forward(one, one); }),
            "Add's forward() method expects 3 argument(s), but received 2. If Add's forward() method has default "
            "arguments, please make sure the forward() method is declared with a corresponding "
            "`FORWARD_HAS_DEFAULT_ARGS` macro.");
  EXPECT_EQ(message_when([&] { add.forward(one, one, 3); }),
            "Add's forward(): Expected argument #2 to be of type double, but received value of type int");
  EXPECT_EQ(message_when([&] { add.forward<int>(one, one, 3.0); }),
            "Add's forward(): The type of the return value is Tensor, but you asked for type int");
  EXPECT_EQ(message_when([&] { AnyModule().forward(one); }), "Cannot call forward() on an empty AnyModule");
  EXPECT_EQ(message_when([&] { add.get<LinearImpl>(); }),
            "Attempted to cast module of type cresset::(anonymous namespace)::AddImpl to type cresset::nn::LinearImpl");
  EXPECT_EQ(&add.get<AddImpl>(), add.ptr().get());
  EXPECT_EQ(add.get<Add>().ptr(), add.ptr());
  EXPECT_EQ(add.ptr<AddImpl>(), add.ptr());
  EXPECT_EQ(add.type_info(), typeid(AddImpl));
  EXPECT_FALSE(add.is_empty());
  add = Linear(2, 1);
  EXPECT_EQ(add.forward(one).size(0), 1);
}

TEST(AnyModule, FillsInDefaultArguments) {
  AnyModule defaults{Defaults()};
  using Result = std::tuple<Tensor, int>;
  EXPECT_EQ(std::get<0>(defaults.forward<Result>(ones({1}))).item<float>(), 3);
  EXPECT_EQ(std::get<0>(defaults.forward<Result>(ones({1}), 5)).item<float>(), 6);
  EXPECT_EQ(std::get<1>(defaults.forward<Result>(ones({1}), 5, 0.5)), 5);
  EXPECT_EQ(message_when([&] { defaults.any_forward(); }),
            "Defaults's forward() method expects at least 1 argument(s) and at most 3 argument(s), but received 0.");
}

TEST(AnyModule, RefusesWhatHasNoSingleForward) {
  struct Overloaded : Module {
    Tensor forward(Tensor x) { return x; }
    Tensor forward(Tensor x, Tensor y) { return x + y; }
  };
  EXPECT_NE(message_when([] { AnyModule(std::make_shared<Overloaded>()); }).find("an overloaded one or a template"),
            std::string::npos);
}

TEST(AnyModule, CloneIsDeep) {
  AnyModule linear{Linear(2, 1)}, copy = linear.clone(), same = linear;
  EXPECT_EQ(same.ptr(), linear.ptr());
  EXPECT_NE(copy.ptr(), linear.ptr());
  EXPECT_TRUE(equal(copy.forward(ones({2})), linear.forward(ones({2}))));
}

TEST(Sequential, RunsNestsAndTakesAnyArguments) {
  Sequential inner(Linear(4, 4), ReLU());
  Sequential net(Add(), inner, Functional([](Tensor x) { return x * 2; }), Linear(4, 1));
  Tensor x = randn({3, 4});
  Tensor wanted = net->at<LinearImpl>(3).forward(relu(inner->at<LinearImpl>(0).forward(x + x * 0.5)) * 2);
  EXPECT_TRUE(equal(net->forward(x, x, 0.5), wanted));
  EXPECT_TRUE(equal(net(x, x, 0.5), wanted));
  EXPECT_EQ(net->size(), 4u);
  EXPECT_EQ(net->named_parameters().keys(), (std::vector<std::string>{"1.0.weight", "1.0.bias", "3.weight", "3.bias"}));
  EXPECT_EQ(net[1], inner.ptr());
  EXPECT_EQ(net->ptr<LinearImpl>(3)->options.out_features(), 1);
  EXPECT_EQ(message_when([&] { net->forward(x); }).substr(0, 20), "Add's forward() meth");
  EXPECT_EQ(message_when([&] { Sequential()->forward(x); }), "Cannot call forward() on an empty Sequential");
  EXPECT_EQ(message_when([&] { net->ptr(4); }), "Sequential: Index out of range: found 4 (expected less than 4)");
}

TEST(Sequential, NamesExtendsAndIterates) {
  Sequential named{{"first", Linear(2, 3)}, {"act", ReLU()}};
  named->push_back("last", Linear(3, 1));
  named->push_back(ReLU());
  EXPECT_EQ(named->named_children().keys(), (std::vector<std::string>{"first", "act", "last", "3"}));
  Sequential other;
  other->extend(*named);
  other->extend(std::vector<std::shared_ptr<LinearImpl>>{std::make_shared<LinearImpl>(1, 2)});
  EXPECT_EQ(other->size(), 5u);
  other->extend(ModuleList(Linear(2, 2), Linear(2, 2))->children());  // plain modules that have been held
  EXPECT_EQ(other->size(), 7u);
  Tensor x = randn({2, 2});
  Tensor y = x;
  for (AnyModule& module : *other) y = module.forward(y);
  EXPECT_TRUE(equal(y, other->forward(x)));
  OrderedDict<std::string, AnyModule> dict;
  dict.insert("a", AnyModule(Linear(2, 2)));
  EXPECT_EQ(Sequential(std::move(dict))->named_children().keys(), std::vector<std::string>{"a"});
}

TEST(Sequential, CloneKeepsNamesSharingAndHooks) {
  Linear shared(2, 2);
  Sequential net{{"a", shared}, {"b", ReLU()}, {"c", shared}};
  int calls = 0;
  shared->register_forward_hook([&](Module&, const AnyValues&, AnyValue&) { calls++; });
  net->eval();
  Sequential copy(std::dynamic_pointer_cast<SequentialImpl>(net->clone()));
  EXPECT_EQ(copy->ptr(0), copy->ptr(2));
  EXPECT_NE(copy->ptr(0), net->ptr(0));
  EXPECT_EQ(copy->state_dict().keys(), net->state_dict().keys());
  EXPECT_FALSE(copy->is_training());
  Tensor x = randn({1, 2});
  EXPECT_TRUE(equal(copy->forward(x), net->forward(x)));
  EXPECT_EQ(calls, 4);
}

TEST(Sequential, HooksOfTheSequentialItselfRun) {
  Sequential net(Linear(2, 2), ReLU());
  net->register_forward_hook([](Module&, const AnyValues&, AnyValue& out) { out = AnyValue(out.get<Tensor>() + 5); });
  Tensor x = randn({1, 2});
  EXPECT_TRUE(equal(net(x), net->forward(x) + 5));
}

TEST(Sequential, ClonedInsideAModuleThatGrewIt) {
  struct Grown : Cloneable<Grown> {
    Grown() { Grown::reset(); }
    void reset() override {
      body = register_module("body", Sequential());
      list = register_module("list", ModuleList());
      weights = register_module("weights", ParameterList());
    }
    Sequential body{nullptr};
    ModuleList list{nullptr};
    ParameterList weights{nullptr};
  };
  auto module = std::make_shared<Grown>();
  module->body->push_back(Linear(2, 2));
  module->list->push_back(Linear(2, 3));
  module->weights->append(randn({2}).requires_grad_());
  auto copy = std::dynamic_pointer_cast<Grown>(module->clone());
  EXPECT_EQ(copy->state_dict().keys(), module->state_dict().keys());
  Tensor x = randn({1, 2});
  EXPECT_TRUE(equal(copy->body->forward(x), module->body->forward(x)));
  EXPECT_TRUE(equal(copy->weights[0], module->weights[0]));
  EXPECT_TRUE(copy->weights->at(0).requires_grad());
  EXPECT_NE(copy->list->ptr(0), module->list->ptr(0));
}

TEST(ModuleList, PushesInsertsAndChecks) {
  ModuleList list(Linear(1, 2), Linear(2, 3));
  list->push_back(ReLU());
  list->insert(1, Linear(5, 6));
  EXPECT_EQ(list->size(), 4u);
  EXPECT_EQ(list->at<LinearImpl>(1).options.in_features(), 5);
  EXPECT_EQ(list->named_children().keys(), (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_EQ(list->named_parameters()["1.weight"].size(0), 6);
  EXPECT_EQ(list->named_parameters()["2.weight"].size(0), 3);
  EXPECT_NE(list[3]->as<ReLU>(), nullptr);
  size_t count = 0;
  for (const auto& module : *list) count += module != nullptr;
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(message_when([&] { list->ptr(4); }), "ModuleList: Index out of range: found 4 (expected less than 4)");
  EXPECT_EQ(message_when([&] { list->at<ReLUImpl>(0); }),
            "ModuleList: module 0 is of type cresset::nn::LinearImpl (asked for cresset::nn::ReLUImpl)");
  EXPECT_EQ(list->clone()->state_dict().keys(), list->state_dict().keys());
}

TEST(ModuleDict, KeepsOrderAndUnregistersWhatIsPopped) {
  ModuleDict dict;
  dict->insert("b", Linear(1, 2));
  dict->insert("a", ReLU());
  dict->insert("b", Linear(3, 4));
  EXPECT_EQ(dict->keys(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(dict->at<LinearImpl>("b").options.in_features(), 3);
  EXPECT_EQ(dict["b"]->parameters().size(), 2u);
  EXPECT_EQ(dict->clone()->state_dict().keys(), dict->state_dict().keys());
  dict->pop("b");
  EXPECT_TRUE(dict->parameters().empty());
  EXPECT_FALSE(dict->contains("b"));
  EXPECT_EQ(message_when([&] { dict->at<LinearImpl>("a"); }).substr(0, 30), "ModuleDict: module 'a' is of t");
  EXPECT_EQ(message_when([&] { dict["zz"]; }), "Submodule 'zz' is not defined");
  dict->clear();
  EXPECT_TRUE(dict->empty());
}

TEST(Parameters, ListAndDict) {
  Tensor trained = randn({2}).requires_grad_(), fixed = randn({3});
  ParameterList list(trained, fixed);
  EXPECT_EQ(list->size(), 2u);
  EXPECT_TRUE(list[0].is_same(trained));
  EXPECT_FALSE(list[1].requires_grad());
  *list += std::vector<Tensor>{randn({1})};
  EXPECT_EQ(list->named_parameters().keys(), (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(message_when([&] { list->at(3); }), "ParameterList: Index out of range: found 3 (expected less than 3)");
  ParameterDict dict(list->named_parameters());
  dict->insert("w", trained);
  EXPECT_EQ(dict->keys(), (std::vector<std::string>{"0", "1", "2", "w"}));
  EXPECT_EQ(dict->parameters().size(), 3u);
  EXPECT_TRUE(dict["w"].is_same(trained));
  auto copy = std::dynamic_pointer_cast<ParameterDictImpl>(dict->clone());
  EXPECT_TRUE(copy->get("w").is_same(copy->get("0")));
  EXPECT_FALSE(copy->get("w").is_same(trained));
  EXPECT_TRUE(dict->pop("w").is_same(trained));
  EXPECT_FALSE(dict->contains("w"));
}

TEST(Functional, BindsFurtherArguments) {
  Functional scaled([](const Tensor& x, double by, int plus) { return x * by + plus; }, 3.0, 1);
  EXPECT_EQ(scaled(ones({1})).item<float>(), 4);
  EXPECT_FALSE(scaled->is_serializable());
  EXPECT_EQ(Sequential(scaled, scaled->clone()->as<Functional>() ? scaled : scaled)->forward(ones({1})).item<float>(),
            13);
}

}  // namespace
}  // namespace cresset
