// Every optimizer beside PyTorch's, 50 steps from the same start and gradients: to 1e-12 in double, 1e-6 in float.
#include <cmath>

#include "tests/optim/reference.h"

namespace cresset::testing::parity_test {
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
    {"sgd", [](const Params& p) { return made<SGD>(p, SGDOptions(0.1)); }},
    {"sgd_decay", [](const Params& p) { return made<SGD>(p, SGDOptions(0.05).weight_decay(0.1)); }},
    {"sgd_momentum", [](const Params& p) { return made<SGD>(p, SGDOptions(0.05).momentum(0.9)); }},
    {"sgd_dampening",
     [](const Params& p) { return made<SGD>(p, SGDOptions(0.05).momentum(0.8).dampening(0.3).weight_decay(0.01)); }},
    {"sgd_nesterov",
     [](const Params& p) { return made<SGD>(p, SGDOptions(0.05).momentum(0.9).nesterov(true).weight_decay(0.01)); }},
    {"sgd_maximize", [](const Params& p) { return made<SGD>(p, SGDOptions(0.01).momentum(0.5).maximize(true)); }},
    {"sgd_groups",
     [](const Params& p) {
       std::vector<OptimizerParamGroup> groups;
       groups.emplace_back(Params{p[0]}, std::make_unique<SGDOptions>(SGDOptions(0.2).momentum(0.9)));
       groups.emplace_back(Params{p[1], p[2]});
       return std::unique_ptr<Optimizer>(std::make_unique<SGD>(groups, 0.05));
     }},
    {"adam", [](const Params& p) { return made<Adam>(p, AdamOptions(0.01)); }},
    {"adam_decay",
     [](const Params& p) {
       return made<Adam>(p, AdamOptions(0.01).betas(std::make_tuple(0.8, 0.95)).eps(1e-6).weight_decay(0.1));
     }},
    {"adam_amsgrad", [](const Params& p) { return made<Adam>(p, AdamOptions(0.01).amsgrad(true)); }},
    {"adam_maximize",
     [](const Params& p) { return made<Adam>(p, AdamOptions(0.01).maximize(true).weight_decay(0.1)); }},
    {"adamw", [](const Params& p) { return made<AdamW>(p, AdamWOptions(0.01)); }},
    {"adamw_amsgrad",
     [](const Params& p) {
       return made<AdamW>(p, AdamWOptions(0.02).betas({0.85, 0.99}).weight_decay(0.2).amsgrad(true));
     }},
    {"adamw_maximize", [](const Params& p) { return made<AdamW>(p, AdamWOptions(0.01).maximize(true)); }},
    {"adamw_groups",
     [](const Params& p) {
       std::vector<OptimizerParamGroup> groups;
       groups.emplace_back(Params{p[0], p[1]}, AdamWOptions(0.01).weight_decay(0));
       groups.emplace_back(Params{p[2]}, AdamWOptions(0.05));
       return std::unique_ptr<Optimizer>(std::make_unique<AdamW>(groups, 0.01));
     }},
    {"adadelta", [](const Params& p) { return made<Adadelta>(p, AdadeltaOptions()); }},
    {"adadelta_decay",
     [](const Params& p) { return made<Adadelta>(p, AdadeltaOptions(0.5).rho(0.8).weight_decay(0.1).maximize(true)); }},
    {"adagrad", [](const Params& p) { return made<Adagrad>(p, AdagradOptions()); }},
    {"adagrad_decay",
     [](const Params& p) {
       return made<Adagrad>(p, AdagradOptions(0.1).lr_decay(0.05).weight_decay(0.1).initial_accumulator_value(0.3));
     }},
    {"adamax", [](const Params& p) { return made<Adamax>(p, AdamaxOptions()); }},
    {"adamax_decay",
     [](const Params& p) {
       return made<Adamax>(p, AdamaxOptions(0.01).betas({0.8, 0.9}).weight_decay(0.1).maximize(true));
     }},
    {"nadam", [](const Params& p) { return made<NAdam>(p, NAdamOptions()); }},
    {"nadam_decay",
     [](const Params& p) { return made<NAdam>(p, NAdamOptions(0.01).weight_decay(0.1).momentum_decay(0.01)); }},
    {"radam", [](const Params& p) { return made<RAdam>(p, RAdamOptions(0.01)); }},
    {"radam_decay",
     [](const Params& p) {
       return made<RAdam>(p, RAdamOptions(0.02).betas({0.8, 0.9}).weight_decay(0.1));
     }},
    {"rmsprop", [](const Params& p) { return made<RMSprop>(p, RMSpropOptions(0.01)); }},
    {"rmsprop_momentum",
     [](const Params& p) { return made<RMSprop>(p, RMSpropOptions(0.01).alpha(0.9).momentum(0.9).weight_decay(0.1)); }},
    {"rmsprop_centered",
     [](const Params& p) { return made<RMSprop>(p, RMSpropOptions(0.01).centered(true).maximize(true)); }},
    {"rmsprop_both",
     [](const Params& p) { return made<RMSprop>(p, RMSpropOptions(0.01).alpha(0.95).centered(true).momentum(0.5)); }},
    {"rprop", [](const Params& p) { return made<Rprop>(p, RpropOptions()); }},
    {"rprop_etas",
     [](const Params& p) {
       return made<Rprop>(p, RpropOptions(0.02).etas({0.4, 1.3}).step_sizes({1e-3, 0.1}).maximize(true));
     }},
    {"asgd", [](const Params& p) { return made<ASGD>(p, ASGDOptions()); }},
    {"asgd_average",
     [](const Params& p) { return made<ASGD>(p, ASGDOptions(0.05).lambd(0.01).alpha(0.6).t0(10).weight_decay(0.1)); }},
};

void expect_close(const std::vector<double>& found, const std::vector<double>& wanted, double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); i++)
    EXPECT_NEAR(found[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i]))) << "element " << i;
}

class OptimizerParity : public ::testing::TestWithParam<Case> {};

void run_beside_pytorch(const Case& test, DType dtype, const char* dtype_name, double tolerance) {
  if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
  Params params = reference_parameters(dtype);
  std::unique_ptr<Optimizer> optimizer = test.make(params);
  for (int step = 0; step < kReferenceSteps; step++) {
    set_reference_gradients(params, step);
    optimizer->step();
  }
  Params results = params;
  if (dynamic_cast<ASGD*>(optimizer.get()))
    for (const Tensor& p : params) results.push_back(static_cast<ASGDParamState&>(*optimizer->state().at(p)).ax());
  expect_close(flat_values(results), reference().runs.at(std::string(test.name) + " " + dtype_name), tolerance);
}

TEST_P(OptimizerParity, InDouble) { run_beside_pytorch(GetParam(), kDouble, "float64", 1e-12); }
TEST_P(OptimizerParity, InFloat) { run_beside_pytorch(GetParam(), kFloat, "float32", 1e-6); }

// PyTorch's parameters and state after 50 steps, loaded here: five more steps lead to the same place.
TEST_P(OptimizerParity, GoesOnFromPyTorchsState) {
  if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
  const std::string name = GetParam().name;
  auto saved = reference().saved.find(name);
  if (saved == reference().saved.end()) return;  // SGD without momentum keeps nothing, and NAdam is not 1.13's
  Params params = reference_parameters(kDouble);
  const std::vector<double>& reached = reference().runs.at(name + " float64");
  size_t at = 0;
  for (const Tensor& p : params)
    for (int64_t i = 0; i < p.numel(); i++) p.data_ptr<double>()[i] = reached[at++];
  std::unique_ptr<Optimizer> optimizer = GetParam().make(params);
  IValue dict = optimizer->state_dict();
  dict.toDict()["state"] = saved->second;
  optimizer->load_state_dict(dict);
  for (int step = kReferenceSteps; step < kReferenceSteps + 5; step++) {
    set_reference_gradients(params, step);
    optimizer->step();
  }
  expect_close(flat_values(params), reference().runs.at(name + "_more float64"), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerParity, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// The names and kinds of what is saved, in PyTorch's order. What later versions added stands behind.
TEST(OptimizerParity, StateDictHasPyTorchsKeys) {
  if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
  for (const Case& test : kCases) {
    if (std::string(test.name).find('_') != std::string::npos) continue;
    SCOPED_TRACE(test.name);
    Params params = reference_parameters(kDouble);
    std::unique_ptr<Optimizer> optimizer = test.make(params);
    set_reference_gradients(params, 0);
    optimizer->step();
    IValue saved = optimizer->state_dict();

    std::vector<std::string> group_keys, state_keys;
    const std::vector<IValue> groups = saved.toDict().at("param_groups").elements();
    for (const auto& [key, value] : groups[0].toDict())
      if (key.toStringRef() != "decoupled_weight_decay") group_keys.push_back(key.toStringRef());
    std::vector<std::string> wanted = reference().keys.at(std::string("group ") + test.name);
    if (std::string(test.name) == "nadam" || std::string(test.name) == "radam")
      wanted.insert(wanted.end() - 1, "maximize");
    EXPECT_EQ(group_keys, wanted);

    const IValue::Dict& states = saved.toDict().at("state").toDict();
    if (std::string(test.name) == "sgd") {
      EXPECT_EQ(states.size(), 0u);  // PyTorch 1.13 writes an empty momentum buffer, 2 nothing
      continue;
    }
    ASSERT_EQ(states.size(), 3u);
    EXPECT_EQ(states.items[2].first.toInt(), 2);
    for (const auto& [key, value] : states.items[0].second.toDict())
      state_keys.push_back(key.toStringRef() + (value.isTensor() ? ":tensor" : value.isInt() ? ":int" : ":?"));
    EXPECT_EQ(state_keys, reference().keys.at(std::string("state ") + test.name));
  }
}

Tensor rosenbrock(const Params& p) {
  return (1 - p[0]).pow(2).sum() + 10 * (p[1] - p[0].pow(2)).pow(2).sum() + (p[2] - 0.5).pow(4).sum();
}

void run_lbfgs(const char* name, const LBFGSOptions& options, int steps, int float_steps) {
  if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
  for (DType dtype : {kDouble, kFloat}) {
    SCOPED_TRACE(dtype == kDouble ? "double" : "float");
    Params p;
    for (int64_t i = 0; i < 3; i++) p.push_back(noise_tensor({4}, 3 + i, dtype).requires_grad_());
    LBFGS optimizer(p, options);
    const double first = rosenbrock(p).item<double>();
    for (int i = 0; i < (dtype == kDouble ? steps : float_steps); i++)
      optimizer.step([&] {
        optimizer.zero_grad();
        Tensor loss = rosenbrock(p);
        loss.backward();
        return loss;
      });
    EXPECT_LT(rosenbrock(p).item<double>(), first);
    // Curvature multiplies what rounding leaves: sums in another order show.
    expect_close(flat_values(p), reference().runs.at(std::string(name) + (dtype == kDouble ? " float64" : " float32")),
                 dtype == kDouble ? 1e-9 : 1e-4);
    if (std::string(name) == "lbfgs" && dtype == kDouble) {
      std::vector<std::string> keys, wanted;
      const IValue saved = optimizer.state_dict();
      for (const auto& [key, value] : saved.toDict().at("state").toDict().items[0].second.toDict())
        keys.push_back(key.toStringRef());
      for (const std::string& key : reference().keys.at("state lbfgs"))
        if (key.substr(0, key.find(':')) != "al") wanted.push_back(key.substr(0, key.find(':')));
      EXPECT_EQ(keys, wanted);
    }
  }
}

TEST(OptimizerParity, LBFGS) { run_lbfgs("lbfgs", LBFGSOptions(0.1).max_iter(4), 8, 2); }
TEST(OptimizerParity, LBFGSWithShortHistory) {
  run_lbfgs("lbfgs_history", LBFGSOptions(0.05).max_iter(5).history_size(3), 8, 2);
}
TEST(OptimizerParity, LBFGSWithLineSearch) {
  run_lbfgs("lbfgs_wolfe", LBFGSOptions(1).max_iter(4).line_search_fn("strong_wolfe"), 8, 2);
}
TEST(OptimizerParity, LBFGSWithLineSearchAndShortHistory) {
  run_lbfgs("lbfgs_wolfe_long", LBFGSOptions(0.8).max_iter(10).history_size(5).line_search_fn("strong_wolfe"), 3, 1);
}

void run_sparse_adam(const char* name, const SparseAdamOptions& options) {
  if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
  for (DType dtype : {kDouble, kFloat}) {
    Tensor table = noise_tensor({6, 3}, 5, dtype).requires_grad_();
    SparseAdam optimizer(Params{table}, options);
    for (int64_t step = 0; step < kReferenceSteps; step++) {
      std::vector<int64_t> rows = {step % 6, (step * step) % 6};
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      const int64_t count = static_cast<int64_t>(rows.size());
      Tensor values = noise_tensor({count, 3}, 50 + step, dtype), grad = zeros({6, 3}, dtype);
      for (int64_t i = 0; i < count; i++) grad.select(0, rows[static_cast<size_t>(i)]).copy_(values[i]);
      table.mutable_grad() = grad;
      optimizer.step();
    }
    expect_close(flat_values({table}),
                 reference().runs.at(std::string(name) + (dtype == kDouble ? " float64" : " float32")),
                 dtype == kDouble ? 1e-12 : 1e-6);
  }
}
TEST(OptimizerParity, SparseAdam) { run_sparse_adam("sparse_adam", SparseAdamOptions()); }
TEST(OptimizerParity, SparseAdamWithOptions) {
  run_sparse_adam("sparse_adam_betas", SparseAdamOptions(0.05).betas({0.7, 0.9}).maximize(true));
}

}  // namespace
}  // namespace cresset::testing::parity_test
