// Model-agnostic meta-learning (Finn and others, 2017): learns a start from which one gradient step on ten points fits
// a new sine wave. The outer gradient goes through the inner update, so that it takes second derivatives. All tasks of
// a batch are learned at once: each has its own copy of the weights along the first dimension.
#include <cresset/cresset.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "arguments.h"

using cresset::Tensor;
using Weights = std::vector<Tensor>;

namespace {

constexpr int64_t kTasks = 16, kPoints = 10, kHidden = 40;
constexpr double kInnerRate = 0.01;

Weights initial_weights() {
  Weights weights;
  const std::vector<int64_t> sizes{1, kHidden, kHidden, 1};
  for (size_t i = 0; i + 1 < sizes.size(); i++) {
    Tensor weight = cresset::empty({1, sizes[i], sizes[i + 1]});
    const double bound = 1 / std::sqrt(static_cast<double>(sizes[i]));
    weights.push_back(weight.uniform_(-bound, bound).requires_grad_());
    weights.push_back(cresset::empty({1, 1, sizes[i + 1]}).uniform_(-bound, bound).requires_grad_());
  }
  return weights;
}

// x: [tasks, points, 1]; weights: [tasks, in, out] and [tasks, 1, out].
Tensor forward(const Weights& weights, Tensor x) {
  for (size_t i = 0; i < weights.size(); i += 2) {
    x = cresset::baddbmm(weights[i + 1], x, weights[i]);
    if (i + 2 < weights.size()) x = cresset::relu(x);
  }
  return x;
}

// Waves of random amplitude and phase, and points on them.
struct Waves {
  Tensor amplitude = cresset::rand({kTasks, 1, 1}) * 4.9 + 0.1, phase = cresset::rand({kTasks, 1, 1}) * 3.14159;
  std::pair<Tensor, Tensor> points() const {
    Tensor x = cresset::rand({kTasks, kPoints, 1}) * 10 - 5;
    return {x, amplitude * cresset::sin(x - phase)};
  }
};

// Each task's squared error, summed over tasks: its gradient is each task's own.
Tensor error(const Weights& weights, const Tensor& x, const Tensor& y) {
  return (forward(weights, x) - y).pow(2).mean({1, 2}).sum();
}

Weights adapt(Weights weights, const Tensor& x, const Tensor& y, int steps, bool create_graph) {
  for (int step = 0; step < steps; step++) {
    auto gradients = cresset::autograd::grad({error(weights, x, y)}, weights, {}, create_graph, create_graph);
    for (size_t i = 0; i < weights.size(); i++) {
      weights[i] = weights[i] - kInnerRate * gradients[i];
      if (!create_graph) weights[i] = weights[i].detach().requires_grad_();
    }
  }
  return weights;
}

Weights for_each_task(const Weights& weights) {
  Weights copies;
  for (const Tensor& weight : weights) copies.push_back(weight.expand({kTasks, weight.size(1), weight.size(2)}));
  return copies;
}

// The mean error on new waves after 0, 1, 5 and 10 steps on ten points of each.
std::vector<double> few_shot(const Weights& weights) {
  std::vector<double> errors;
  for (int steps : {0, 1, 5, 10}) {
    double sum = 0;
    for (int round = 0; round < 10; round++) {
      Waves waves;
      auto [x, y] = waves.points();
      Weights adapted = adapt(for_each_task(weights), x, y, steps, false);
      auto [new_x, new_y] = waves.points();
      sum += error(adapted, new_x, new_y).item<double>() / kTasks / 10;
    }
    errors.push_back(sum);
  }
  return errors;
}

}  // namespace

int example(const Arguments& arguments) {
  const int epochs = arguments.number("--epochs", arguments.has("--quick") ? 3 : 12);  // of 500 batches of tasks
  cresset::manual_seed(0);
  Weights weights = initial_weights();
  const std::vector<double> before = few_shot(weights);
  cresset::optim::Adam optimizer(weights, cresset::optim::AdamOptions(2e-3));
  for (int epoch = 1; epoch <= epochs; epoch++) {
    double sum = 0;
    for (int step = 0; step < 500; step++) {
      Waves waves;
      auto [x, y] = waves.points();
      Weights adapted = adapt(for_each_task(weights), x, y, 1, /*create_graph=*/true);
      auto [new_x, new_y] = waves.points();
      Tensor loss = error(adapted, new_x, new_y) / kTasks;
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() / 500;
    }
    std::printf("%5d batches: error on new points after one step %.3f\n", epoch * 500, sum);
  }
  const std::vector<double> after = few_shot(weights);
  std::printf("\nsteps on a new wave       0      1      5     10\nrandom start         ");
  for (double e : before) std::printf("%6.2f ", e);
  std::printf("\nlearned start        ");
  for (double e : after) std::printf("%6.2f ", e);
  const bool learned = after[2] < 0.6 * before[2] && after[2] < 0.6 * after[0];
  std::printf("%s\n", learned ? "" : ": BAD");
  return learned ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
