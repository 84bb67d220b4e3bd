// Whole trainings beside PyTorch's: the same start and the same batches must give the same loss at each of 50 steps,
// and the same parameters and running statistics at the end. training_reference.py is PyTorch's side.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>

#include "cresset/cresset.h"
#include "tests/support/paths.h"

namespace cresset {
namespace {

namespace F = nn::functional;

constexpr double kTolerance = 1e-4;
// Adam divides by the size of gradients: where they are near 0, rounding decides where a parameter goes.
constexpr double kStateTolerance = 5e-3;

// What the script wrote, or nothing without PyTorch. The trainings are run once for all tests.
const std::optional<IValue>& reference() {
  static const std::optional<IValue> read = []() -> std::optional<IValue> {
    const std::string file = "/tmp/cresset_training_" + std::to_string(getpid()) + ".pt";
    const std::string command = "/usr/bin/python3 " + test::source_path("tests/nn/training_reference.py ") + file;
    const int status = std::system(command.c_str());
    if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127) return std::nullopt;
    EXPECT_EQ(status, 0) << command;
    IValue all = io::load_pt(file);
    std::remove(file.c_str());
    return all;
  }();
  return read;
}

void expect_states_agree(const StateDict& found, const IValue::Dict& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (const auto& [name, value] : wanted) {
    const Tensor difference = found[name.toStringRef()].to(kDouble) - value.toTensor().to(kDouble);
    EXPECT_LT(difference.abs().max().item<double>(), kStateTolerance) << name.toStringRef();
  }
}

// Trains from the reference's start on its batches. schedule runs after each step.
void follow(
    const std::string& name, nn::Module& model, const std::function<Tensor(const Tensor&)>& forward,
    optim::Optimizer& optimizer, const std::function<void()>& schedule = [] {}) {
  const IValue::Dict& record = reference()->toDict().at(name).toDict();
  model.load_state_dict(record.at("state"));
  model.train();
  const Tensor x = record.at("x").toTensor(), y = record.at("y").toTensor(), losses = record.at("losses").toTensor();
  const int64_t steps = losses.size(0);
  ASSERT_EQ(steps, 50);
  double worst = 0, last = 0;
  for (int64_t step = 0; step < steps; step++) {
    optimizer.zero_grad();
    Tensor loss = F::cross_entropy(forward(x[step]).flatten(0, -2), y[step].flatten());
    loss.backward();
    nn::utils::clip_grad_norm_(model.parameters(), 2.0);
    optimizer.step();
    schedule();
    last = loss.item<double>();
    ASSERT_NEAR(last, losses[step].item<double>(), kTolerance) << name << ", step " << step;
    worst = std::max(worst, std::abs(last - losses[step].item<double>()));
  }
  EXPECT_LT(last, 0.8 * losses[0].item<double>()) << "nothing was learned: the comparison would say little";
  expect_states_agree(model.state_dict(), record.at("final").toDict());
  std::printf("  %s: the losses differ by %.1e at most\n", name.c_str(), worst);
}

struct LanguageImpl : nn::Module {
  nn::Embedding embedding = register_module("embedding", nn::Embedding(20, 12));
  nn::LSTM lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(12, 24).num_layers(2).batch_first(true)));
  nn::Linear out = register_module("out", nn::Linear(24, 20));
  Tensor forward(const Tensor& x) { return out->forward(std::get<0>(lstm->forward(embedding->forward(x)))); }
};
CRESSET_MODULE(Language);

nn::TransformerEncoder encoder() {
  auto layer = nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(32).dropout(0.0).activation(kGELU);
  return nn::TransformerEncoder(
      nn::TransformerEncoderOptions(layer, 2).norm(nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({16})))));
}

struct AttentiveImpl : nn::Module {
  nn::Embedding embedding = register_module("embedding", nn::Embedding(20, 16));
  Tensor positions = register_parameter("positions", zeros({10, 1, 16}));
  nn::TransformerEncoder encoder = register_module("encoder", cresset::encoder());
  nn::Linear out = register_module("out", nn::Linear(16, 4));
  Tensor forward(const Tensor& x) {
    return out->forward(encoder->forward(embedding->forward(x.t()) + positions).mean(0));
  }
};
CRESSET_MODULE(Attentive);

TEST(Training, MlpWithMomentumFollowsPyTorch) {
  if (!reference()) GTEST_SKIP() << "skipped: no PyTorch";
  nn::Sequential model(nn::Linear(20, 64), nn::BatchNorm1d(64), nn::ReLU(), nn::Linear(64, 32), nn::Tanh(),
                       nn::Linear(32, 5));
  optim::SGD optimizer(model->parameters(), optim::SGDOptions(0.05).momentum(0.9).weight_decay(1e-3).nesterov(true));
  optim::StepLR schedule(optimizer, 20, 0.5);
  follow(
      "mlp", *model, [&](const Tensor& x) { return model->forward(x); }, optimizer, [&] { schedule.step(); });
}

TEST(Training, CnnWithAdamFollowsPyTorch) {
  if (!reference()) GTEST_SKIP() << "skipped: no PyTorch";
  nn::Sequential model(nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1).bias(false)), nn::BatchNorm2d(8), nn::ReLU(),
                       nn::MaxPool2d(2), nn::Conv2d(nn::Conv2dOptions(8, 16, 3).stride(2)), nn::GELU(),
                       nn::AdaptiveAvgPool2d(2), nn::Flatten(), nn::Linear(64, 3));
  optim::Adam optimizer(model->parameters(), optim::AdamOptions(3e-3).betas({0.9, 0.99}));
  follow(
      "cnn", *model, [&](const Tensor& x) { return model->forward(x); }, optimizer);
}

TEST(Training, LstmWithAdamWFollowsPyTorch) {
  if (!reference()) GTEST_SKIP() << "skipped: no PyTorch";
  Language model;
  optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(5e-3).weight_decay(0.1));
  follow(
      "lstm", *model, [&](const Tensor& x) { return model->forward(x); }, optimizer);
}

TEST(Training, TransformerWithAdamWAndOneCycleFollowsPyTorch) {
  if (!reference()) GTEST_SKIP() << "skipped: no PyTorch";
  Attentive model;
  optim::AdamW optimizer(model->parameters(), optim::AdamWOptions(3e-3).amsgrad(true));
  optim::OneCycleLR schedule(optimizer, 5e-3, 50);
  follow(
      "transformer", *model, [&](const Tensor& x) { return model->forward(x); }, optimizer, [&] { schedule.step(); });
}

}  // namespace
}  // namespace cresset
