// Saving and loading: what goes in comes out, what PyTorch writes is read, and what does not fit is listed.
#include "tests/core/expect_error.h"
#include "tests/optim/reference.h"

namespace cresset::testing::state_dict_test {
namespace {

using namespace optim;
using Params = std::vector<Tensor>;
using Make = std::unique_ptr<Optimizer> (*)(const Params&);

template <class O, class Options>
std::unique_ptr<Optimizer> made(const Params& params, const Options& options) {
  return std::make_unique<O>(params, options);
}
struct Case {
  const char* name;
  Make make;
};
const Case kCases[] = {
    {"SGD", [](const Params& p) { return made<SGD>(p, SGDOptions(0.1)); }},
    {"Momentum", [](const Params& p) { return made<SGD>(p, SGDOptions(0.1).momentum(0.9).dampening(0.1)); }},
    {"Adam", [](const Params& p) { return made<Adam>(p, AdamOptions(0.01)); }},
    {"AMSGrad", [](const Params& p) { return made<Adam>(p, AdamOptions(0.01).amsgrad(true)); }},
    {"AdamW", [](const Params& p) { return made<AdamW>(p, AdamWOptions(0.01)); }},
    {"Adadelta", [](const Params& p) { return made<Adadelta>(p, AdadeltaOptions()); }},
    {"Adagrad", [](const Params& p) { return made<Adagrad>(p, AdagradOptions()); }},
    {"Adamax", [](const Params& p) { return made<Adamax>(p, AdamaxOptions()); }},
    {"NAdam", [](const Params& p) { return made<NAdam>(p, NAdamOptions()); }},
    {"RAdam", [](const Params& p) { return made<RAdam>(p, RAdamOptions()); }},
    {"RMSprop", [](const Params& p) { return made<RMSprop>(p, RMSpropOptions().centered(true).momentum(0.5)); }},
    {"Rprop", [](const Params& p) { return made<Rprop>(p, RpropOptions()); }},
    {"ASGD", [](const Params& p) { return made<ASGD>(p, ASGDOptions(0.1).t0(3)); }},
    {"SparseAdam", [](const Params& p) { return made<SparseAdam>(p, SparseAdamOptions()); }},
    {"Adafactor", [](const Params& p) { return made<Adafactor>(p, AdafactorOptions()); }},
    {"Muon", [](const Params& p) { return made<Muon>(Params{p[0]}, MuonOptions().bfloat16(false)); }},
    {"LBFGS", [](const Params& p) { return made<LBFGS>(p, LBFGSOptions(0.1).max_iter(3)); }},
};

void step(Optimizer& optimizer, const Params& params, int at) {
  set_reference_gradients(params, at);
  optimizer.step([&] {
    set_reference_gradients(params, at);
    return params[0].square().sum();
  });
}

class StateDict : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, StateDict, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(StateDict, GoesOnAsIfNeverStopped) {
  for (DType dtype : {kDouble, kFloat}) {
    Params params = reference_parameters(dtype);
    auto optimizer = GetParam().make(params);
    for (int i = 0; i < 5; i++) step(*optimizer, params, i);

    Params copies;
    for (const Tensor& p : params) copies.push_back(p.detach().clone().requires_grad_());
    auto again = GetParam().make(copies);
    again->set_lr(123);  // comes from the dict
    again->load_state_dict(optimizer->state_dict());
    EXPECT_EQ(again->get_lr(), optimizer->get_lr());
    for (int i = 5; i < 10; i++) {
      step(*optimizer, params, i);
      step(*again, copies, i);
    }
    EXPECT_EQ(flat_values(copies), flat_values(params));
  }
}

TEST_P(StateDict, IsCopiedWhenLoaded) {
  Params params = reference_parameters(kFloat), others = reference_parameters(kFloat);
  auto optimizer = GetParam().make(params), other = GetParam().make(others);
  step(*optimizer, params, 0);
  other->load_state_dict(optimizer->state_dict());
  for (int i = 1; i < 4; i++) step(*optimizer, params, i);
  const std::vector<double> before = flat_values(others);
  Params fresh = reference_parameters(kFloat);
  auto third = GetParam().make(fresh);
  third->load_state_dict(other->state_dict());
  step(*third, fresh, 1);
  step(*other, others, 1);
  EXPECT_EQ(flat_values(fresh), flat_values(others));
}

// As torch.load gives it: numbers as integers, betas as a list, step as a number or a tensor, keys of other versions.
TEST(StateDictOfPyTorch, IsRead) {
  Tensor w = zeros({2, 2}).requires_grad_();
  Adam optimizer(Params{w}, AdamOptions(0.5));
  IValue::Dict state, group, whole;
  state["step"] = full({}, 7.0, kFloat);
  state["exp_avg"] = full({2, 2}, 0.25, kDouble);
  state["exp_avg_sq"] = full({2, 2}, 0.5, kFloat);
  group["lr"] = int64_t{1};
  group["betas"] = std::vector<double>{0.8, 0.9};
  group["eps"] = 1e-5;
  group["weight_decay"] = int64_t{0};
  group["foreach"] = IValue();
  group["decoupled_weight_decay"] = false;
  group["initial_lr"] = 0.75;
  group["params"] = std::vector<int64_t>{4};
  IValue::Dict states;
  states.items.emplace_back(int64_t{4}, state);
  whole["state"] = states;
  whole["param_groups"] = IValue::List{{IValue(group)}};
  optimizer.load_state_dict(whole);
  const auto& options = static_cast<AdamOptions&>(optimizer.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 1);
  EXPECT_EQ(options.betas(), std::make_tuple(0.8, 0.9));
  const auto& loaded = static_cast<AdamParamState&>(*optimizer.state().at(w));
  EXPECT_EQ(loaded.step(), 7);
  EXPECT_EQ(loaded.exp_avg().dtype(), kFloat);
  EXPECT_EQ(loaded.exp_avg()[0][1].item<double>(), 0.25);
  // What Cresset does not know is kept, and written again.
  IValue saved = optimizer.state_dict();
  EXPECT_EQ(saved.toDict().at("param_groups").elements()[0].toDict().at("initial_lr").toDouble(), 0.75);
}

TEST(StateDictThatDoesNotFit, IsListedAndChangesNothing) {
  Tensor a = zeros({2, 3}).requires_grad_(), b = zeros({4}).requires_grad_();
  Adam adam(Params{a, b}, AdamOptions(0.5));
  auto step_of = [](Optimizer& optimizer) {
    for (OptimizerParamGroup& group : optimizer.param_groups())
      for (const Tensor& p : group.params()) p.mutable_grad() = ones_like(p);
    optimizer.step();
  };
  step_of(adam);
  const std::vector<double> before = flat_values({a, b});

  Tensor c = zeros({3, 2}).requires_grad_(), d = zeros({4}).requires_grad_();
  Adam shapes(Params{c, d}, AdamOptions(0.25));
  step_of(shapes);
  EXPECT_ERROR(ValueError, adam.load_state_dict(shapes.state_dict()),
               "Adam: load_state_dict: the dict does not fit:\n  state[0]['exp_avg']: found shape [3, 2] (expected the "
               "parameter's, [2, 3])\n  state[0]['exp_avg_sq']: found shape [3, 2]");
  EXPECT_EQ(adam.get_lr(), 0.5);

  SGD sgd(Params{c, d}, SGDOptions(0.1).momentum(0.9));
  step_of(sgd);
  EXPECT_ERROR(ValueError, adam.load_state_dict(sgd.state_dict()),
               "param_groups[0] has no 'betas'\n  param_groups[0] has no 'eps'");
  EXPECT_ERROR(ValueError, sgd.load_state_dict(shapes.state_dict()), "param_groups[0] has no 'momentum'");

  RAdam radam(Params{c, d});
  step_of(radam);
  Adamax adamax(Params{c, d});
  EXPECT_ERROR(ValueError, adamax.load_state_dict(radam.state_dict()),
               "state[0] has no 'exp_inf'\n  state[0] has 'exp_avg_sq', which this optimizer does not know");

  Adam one(Params{c}, 0.1),
      groups(std::vector<OptimizerParamGroup>{OptimizerParamGroup({c}), OptimizerParamGroup({d})});
  EXPECT_ERROR(ValueError, adam.load_state_dict(one.state_dict()), "param_groups[0] has 1 parameters (expected 2)");
  EXPECT_ERROR(ValueError, adam.load_state_dict(groups.state_dict()),
               "different number of parameter groups: found 2 (expected 1)");
  EXPECT_ERROR(IndexError, adam.load_state_dict(IValue::Dict()), "there is no 'state'");
  EXPECT_ERROR(TypeError, adam.load_state_dict(IValue(3.0)), "expected dict");
  IValue wrong = shapes.state_dict();
  IValue::Dict group = wrong.toDict().at("param_groups").elements()[0].toDict();
  group["lr"] = -1.0;
  group["eps"] = "small";
  wrong.toDict()["param_groups"] = IValue::List{{IValue(group)}};
  EXPECT_ERROR(ValueError, adam.load_state_dict(wrong), "param_groups[0]['eps']: IValue: found string");
  EXPECT_ERROR(ValueError, adam.load_state_dict(wrong), "Invalid learning rate: -1");

  EXPECT_EQ(static_cast<AdamParamState&>(*adam.state().at(a)).step(), 1);
  EXPECT_EQ(flat_values({a, b}), before);
}

TEST(StateDictLayout, IsPyTorchs) {
  Tensor a = zeros({2}).requires_grad_(), b = zeros({3}).requires_grad_(), c = zeros({1}).requires_grad_();
  SGD optimizer(
      std::vector<OptimizerParamGroup>{OptimizerParamGroup({a, b}), OptimizerParamGroup({c}, SGDOptions(0.5))},
      SGDOptions(0.1).momentum(0.9));
  StepLR schedule(optimizer, 10);
  b.mutable_grad() = ones({3});
  c.mutable_grad() = ones({1});
  optimizer.step();
  const IValue saved = optimizer.state_dict();
  EXPECT_EQ(saved.toDict().items[0].first.toStringRef(), "state");
  EXPECT_EQ(saved.toDict().items[1].first.toStringRef(), "param_groups");
  const IValue::Dict& state = saved.toDict().at("state").toDict();
  ASSERT_EQ(state.size(), 1u);  // only b has momentum and a gradient
  EXPECT_EQ(state.items[0].first.toInt(), 1);
  EXPECT_TRUE(state.items[0].second.toDict().at("momentum_buffer").isTensor());
  const std::vector<IValue> groups = saved.toDict().at("param_groups").elements();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].toDict().at("params").toIntVector(), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(groups[1].toDict().at("params").toIntVector(), (std::vector<int64_t>{2}));
  EXPECT_EQ(groups[1].toDict().at("initial_lr").toDouble(), 0.5);
  EXPECT_EQ(groups[1].toDict().items.back().first.toStringRef(), "params");
}

// As libtorch's C++ torch::save(optimizer) lays it out.
TEST(StateDict, OfLibtorchsFilesIsRead) {
  Tensor w = zeros({2}, requires_grad()), v = zeros({3}, requires_grad());
  SGD sgd({w, v}, 1.0);
  IValue::Dict state, buffer, groups, group, options, whole;
  buffer["momentum_buffer"] = full({3}, 2.0);
  state["0x55d0"] = buffer;
  for (auto [name, value] : {std::pair("lr", 0.25), {"momentum", 0.5}, {"dampening", 0.0}, {"weight_decay", 0.0}})
    options[name] = value;
  options["nesterov"] = false;
  group["params/size"] = tensor(int64_t{2});
  group["params/0"] = "0x11f0";
  group["params/1"] = "0x55d0";
  group["options"] = options;
  groups["param_groups/size"] = tensor(int64_t{1});
  groups["param_groups/0"] = group;
  whole["pytorch_version"] = "1.5.0";
  whole["state"] = state;
  whole["param_groups"] = groups;
  sgd.load_state_dict(whole);
  EXPECT_EQ(sgd.get_lr(), 0.25);
  v.mutable_grad() = ones({3});
  sgd.step();
  EXPECT_TRUE(allclose(v, full({3}, -0.25 * (0.5 * 2 + 1))));
}

}  // namespace
}  // namespace cresset::testing::state_dict_test
