// Solves a differential equation with a network that never sees its solution: u'' + 2 d u' + w^2 u = 0, a damped
// oscillation from rest at u(0) = 1. The loss is the equation's own error, its derivatives taken by autograd with
// create_graph, so that the gradient of the loss goes through them.
#include <cresset/cresset.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "arguments.h"

namespace nn = cresset::nn;
using cresset::Tensor;

namespace {

constexpr double kDamping = 0.3, kFrequency = 2, kEnd = 5;

// u(t) = 1 + t^2 network(t) starts at 1 and at rest whatever the network says.
Tensor solution(nn::Sequential& network, const Tensor& t) { return 1 + t * t * network->forward(t / kEnd); }

Tensor derivative(const Tensor& y, const Tensor& t) {
  return cresset::autograd::grad({y.sum()}, {t}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
}

Tensor equation_error(nn::Sequential& network, const Tensor& t) {
  Tensor u = solution(network, t), first = derivative(u, t), second = derivative(first, t);
  return (second + 2 * kDamping * first + kFrequency * kFrequency * u).pow(2).mean();
}

Tensor exact(const Tensor& t) {
  const double pace = std::sqrt(kFrequency * kFrequency - kDamping * kDamping);
  return cresset::exp(-kDamping * t) * (cresset::cos(pace * t) + kDamping / pace * cresset::sin(pace * t));
}

void draw(const Tensor& learned, const Tensor& truth) {
  for (int64_t i = 0; i < learned.size(0); i += 8) {
    std::string line(61, ' ');
    line[30] = '|';
    line[static_cast<size_t>(std::lround(30 + 28 * truth[i].item<double>()))] = 'o';
    line[static_cast<size_t>(std::lround(30 + 28 * std::clamp(learned[i].item<double>(), -1.0, 1.0)))] = '#';
    std::printf("  %s\n", line.c_str());
  }
}

}  // namespace

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 900 : 3000);
  const int polish = quick ? 25 : 40;
  cresset::manual_seed(0);
  nn::Sequential network(nn::Linear(1, 32), nn::Tanh(), nn::Linear(32, 32), nn::Tanh(), nn::Linear(32, 1));
  network->to(cresset::kDouble);
  Tensor t = cresset::linspace(0, kEnd, 160, cresset::kDouble).unsqueeze(1).requires_grad_();

  cresset::optim::Adam adam(network->parameters(), cresset::optim::AdamOptions(3e-3));
  for (int epoch = 1; epoch <= epochs; epoch++) {
    adam.zero_grad();
    Tensor loss = equation_error(network, t);
    loss.backward();
    adam.step();
    if (epoch % std::max(1, epochs / 3) == 0)
      std::printf("Adam, step %4d: error of the equation %.2e\n", epoch, loss.item<double>());
  }
  // A second-order method for the last digits; it calls the closure as often as its line search needs.
  cresset::optim::LBFGS lbfgs(network->parameters(), cresset::optim::LBFGSOptions(1).line_search_fn("strong_wolfe"));
  Tensor loss;
  for (int step = 0; step < polish; step++)
    loss = lbfgs.step([&] {
      lbfgs.zero_grad();
      Tensor error = equation_error(network, t);
      error.backward();
      return error;
    });
  std::printf("LBFGS, %d steps: error of the equation %.2e\n", polish, loss.item<double>());

  cresset::NoGradGuard no_grad;
  Tensor learned = solution(network, t), truth = exact(t);
  draw(learned, truth);
  const double worst = (learned - truth).abs().max().item<double>();
  std::printf("# learned, o exact (where # does not cover it); largest difference %.5f%s\n", worst,
              worst < 0.05 ? "" : ": BAD");
  return worst < 0.05 ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--epochs N --quick", example); }
