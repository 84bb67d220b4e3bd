// Averages of models, statistics of batch norms for them, and early stopping.
#include "tests/core/expect_error.h"
#include "tests/optim/reference.h"

namespace cresset::testing {
namespace {

using namespace optim;

struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    weight = register_parameter("weight", zeros({2, 3}));
    norm = register_module("norm", nn::BatchNorm1d(2));
    seen = register_buffer("seen", zeros({}));
  }
  Tensor forward(Tensor x) { return norm(x.matmul(weight.t())); }
  Tensor weight, seen;
  nn::BatchNorm1d norm{nullptr};
};
CRESSET_MODULE(Net);

void set_weight(Net& net, double value) {
  NoGradGuard no_grad;
  net->weight.fill_(value);
  net->seen.fill_(10 * value);
}
double weight_of(const AveragedModel& model) { return model.module()->parameters()[0][0][0].item<double>(); }
double seen_by(const AveragedModel& model) { return model.module()->named_buffers()["seen"].item<double>(); }

TEST(AveragedModel, EqualWeights) {
  Net net;
  AveragedModel averaged(net);
  for (double value : {1.0, 2.0, 6.0}) {
    set_weight(net, value);
    averaged.update_parameters(net);
  }
  EXPECT_NEAR(weight_of(averaged), 3, 1e-6);
  EXPECT_EQ(averaged.n_averaged(), 3);
  EXPECT_EQ(seen_by(averaged), 60);  // buffers follow the model
  EXPECT_EQ(net->weight[0][0].item<double>(), 6);
  EXPECT_FALSE(averaged.module()->parameters()[0].is_alias_of(net->weight));
}

TEST(AveragedModel, ExponentialWeights) {
  for (bool multi : {false, true}) {
    Net net;
    AveragedModelOptions options;
    if (multi)
      options.multi_avg_fn(get_ema_multi_avg_fn(0.75));
    else
      options.avg_fn(get_ema_avg_fn(0.75));
    AveragedModel averaged(net, options.use_buffers(true));
    for (double value : {1.0, 2.0, 6.0}) {
      set_weight(net, value);
      averaged.update_parameters(net);
    }
    EXPECT_NEAR(weight_of(averaged), 0.75 * (0.75 * 1 + 0.25 * 2) + 0.25 * 6, 1e-6);
    EXPECT_NEAR(seen_by(averaged), 10 * weight_of(averaged), 1e-5);
  }
}

TEST(AveragedModel, OwnFunctionGetsTheCount) {
  Net net;
  std::vector<int64_t> counts;
  AveragedModel averaged(net.ptr(), AveragedModelOptions().avg_fn([&](const Tensor& a, const Tensor& b, int64_t n) {
    if (a.dim() == 2) counts.push_back(n);
    return maximum(a, b);
  }));
  for (double value : {5.0, 2.0, 3.0}) {
    set_weight(net, value);
    averaged.update_parameters(net);
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(weight_of(averaged), 5);
}

TEST(AveragedModel, IsSavedWithItsCount) {
  Net net;
  AveragedModel averaged(net), loaded(net);
  set_weight(net, 4);
  averaged.update_parameters(net);
  averaged.update_parameters(net);
  nn::StateDict state = averaged.state_dict();
  EXPECT_TRUE(state.contains("module.weight"));
  EXPECT_TRUE(state.contains("n_averaged"));
  loaded.load_state_dict(state);
  EXPECT_EQ(loaded.n_averaged(), 2);
  EXPECT_EQ(weight_of(loaded), 4);
}

TEST(AveragedModel, RunsAsTheModelDoes) {
  Net net;
  set_weight(net, 0.5);
  net->eval();
  AveragedModel averaged(net);
  averaged.update_parameters(net);
  averaged.eval();
  Tensor x = noise_tensor({4, 3}, 1, kFloat);
  EXPECT_TRUE(allclose(averaged.forward(x), net(x)));
}

TEST(AveragedModel, RefusesWhatDoesNotFit) {
  Net net;
  EXPECT_ERROR(ValueError,
               AveragedModel(net, AveragedModelOptions().avg_fn(get_swa_avg_fn()).multi_avg_fn(get_swa_multi_avg_fn())),
               "both avg_fn and multi_avg_fn");
  EXPECT_ERROR(ValueError, get_ema_avg_fn(1.5), "Invalid decay value 1.5");
  AveragedModel averaged(net);
  nn::BatchNorm1d other(2);
  EXPECT_ERROR(ValueError, averaged.update_parameters(other), "found a model of 2 tensors (expected 3");
}

TEST(UpdateBatchNorm, TakesTheMeanOfAllBatches) {
  Net net;
  set_weight(net, 1);
  net->eval();
  net->norm->running_mean.fill_(100);
  std::vector<std::pair<Tensor, Tensor>> loader;
  Tensor sum = zeros({2});
  for (int64_t i = 0; i < 3; i++) {
    Tensor x = noise_tensor({5, 3}, 10 + i, kFloat);
    loader.emplace_back(x, Tensor());
    sum = sum + x.matmul(net->weight.detach().t()).mean(0);
  }
  update_bn(loader, net);
  EXPECT_TRUE(allclose(net->norm->running_mean, sum / 3, 1e-5, 1e-6));
  EXPECT_EQ(net->norm->num_batches_tracked.item<int64_t>(), 3);
  EXPECT_EQ(net->norm->options.momentum(), 0.1);
  EXPECT_FALSE(net->is_training());

  AveragedModel averaged(net);
  std::vector<Tensor> batches = {noise_tensor({5, 3}, 20, kFloat)};
  update_bn(batches, averaged);
  EXPECT_EQ(averaged.module()->as<NetImpl>()->norm->num_batches_tracked.item<int64_t>(), 1);
}

TEST(EarlyStopping, StopsWhenPatienceIsOver) {
  EarlyStopping stopping(EarlyStoppingOptions(2).min_delta(0.1));
  EXPECT_EQ(stopping.best_epoch(), -1);
  for (double loss : {1.0, 0.5, 0.45, 0.6}) EXPECT_FALSE(stopping.step(loss)) << loss;
  EXPECT_EQ(stopping.best(), 0.5);  // 0.45 is less than 0.1 better
  EXPECT_EQ(stopping.best_epoch(), 1);
  EXPECT_FALSE(stopping.improved());
  EXPECT_TRUE(stopping.step(std::nan("")));
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_EQ(stopping.epochs_without_improvement(), 3);
  stopping.reset();
  EXPECT_FALSE(stopping.should_stop());
}

TEST(EarlyStopping, OfTheLargestKeepsTheBestWeights) {
  Net net;
  EarlyStopping stopping(EarlyStoppingOptions(0).mode(EarlyStoppingOptions::max));
  EXPECT_ERROR(ValueError, stopping.restore_best(net), "no state was kept");
  set_weight(net, 1);
  EXPECT_FALSE(stopping.step(0.7, net));
  set_weight(net, 2);
  EXPECT_FALSE(stopping.step(0.9, net));
  set_weight(net, 3);
  EXPECT_TRUE(stopping.step(0.8, net));
  EarlyStopping again(EarlyStoppingOptions(0).mode(EarlyStoppingOptions::max));
  again.load_state_dict(stopping.state_dict());
  EXPECT_TRUE(again.should_stop());
  EXPECT_EQ(again.best(), 0.9);
  again.restore_best(net);
  EXPECT_EQ(net->weight[0][0].item<double>(), 2);
  EXPECT_ERROR(ValueError, EarlyStopping(EarlyStoppingOptions(-1)), "patience is -1");
}

}  // namespace
}  // namespace cresset::testing
