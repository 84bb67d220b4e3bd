// Fits a noisy curve with bare autograd: no modules, no optimizer, a loss and its gradient. The model is a sum of bumps
// whose heights, places and widths are learned:  f(x) = sum_k height_k * exp(-(sharpness_k * (x - centre_k))^2)
#include <cresset/cresset.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "arguments.h"
#include "plot.h"

using cresset::Tensor;

namespace {

constexpr int64_t kPoints = 240, kBumps = 8;
constexpr float kEnd = 10, kNoise = 0.25F;

float true_curve(float x) { return std::sin(x) + 0.5F * std::sin(2.3F * x); }

// Evenly spaced places from 0 to the end of the curve.
Tensor places(int64_t count) {
  Tensor x = cresset::empty({count});
  auto value = x.accessor<float, 1>();
  for (int64_t i = 0; i < count; i++) value[i] = kEnd * static_cast<float>(i) / static_cast<float>(count - 1);
  return x;
}

Tensor noisy_curve(const Tensor& x, cresset::Generator generator) {
  Tensor y = cresset::empty(x.sizes());
  auto at = x.accessor<float, 1>(), value = y.accessor<float, 1>();
  auto numbers = generator.reserve(static_cast<uint64_t>(x.numel()));
  for (int64_t i = 0; i < x.numel(); i++) {
    auto bits = numbers.block(static_cast<uint64_t>(i));
    float noise = cresset::normal_pair(cresset::uniform_float(bits[0]), cresset::uniform_float(bits[1]))[0];
    value[i] = true_curve(at[i]) + kNoise * noise;
  }
  return y;
}

struct Bumps {
  Tensor height = cresset::zeros({kBumps}, cresset::requires_grad());
  Tensor centre = places(kBumps).requires_grad_();
  Tensor sharpness = cresset::ones({kBumps}, cresset::requires_grad());

  // x is [n, 1]; against [kBumps] it broadcasts to [n, kBumps].
  Tensor operator()(const Tensor& x) const {
    Tensor distance = (x - centre) * sharpness;
    return (height * exp(neg(distance * distance))).sum(1);
  }
};

// Gradient descent with momentum.
class Descent {
 public:
  explicit Descent(std::vector<Tensor> parameters) : parameters_(std::move(parameters)) {
    for (const Tensor& parameter : parameters_) velocities_.push_back(cresset::zeros_like(parameter));
  }
  void step(const Tensor& loss) {
    auto gradients = cresset::autograd::grad({loss}, parameters_);
    cresset::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters_.size(); i++) {
      velocities_[i].mul_(0.9).add_(gradients[i]);
      parameters_[i].add_(velocities_[i], -0.02);
    }
  }

 private:
  std::vector<Tensor> parameters_, velocities_;
};

Points as_points(const Tensor& x, const Tensor& y) {
  const float *px = x.data_ptr<float>(), *py = y.data_ptr<float>();
  return {{px, px + x.numel()}, {py, py + y.numel()}};
}

float error_against_truth(const Points& fit) {
  float squares = 0;
  for (size_t i = 0; i < fit.x.size(); i++) squares += std::pow(fit.y[i] - true_curve(fit.x[i]), 2.0F);
  return std::sqrt(squares / static_cast<float>(fit.x.size()));
}

}  // namespace

int example(const Arguments& arguments) {
  const int steps = arguments.number("--steps", arguments.has("--quick") ? 900 : 1500);
  Tensor x = places(kPoints), y = noisy_curve(x, cresset::Generator(7));
  Tensor column = x.unsqueeze(1);
  Bumps model;
  Descent descent({model.height, model.centre, model.sharpness});
  std::printf("Fitting %d noisy points with %d bumps, their heights, places and widths learned\n",
              static_cast<int>(kPoints), static_cast<int>(kBumps));
  for (int step = 0; step <= steps; step++) {
    Tensor error = model(column) - y;
    Tensor loss = (error * error).sum() * (1.0 / kPoints);
    if (step % std::max(1, steps / 3) == 0) std::printf("  step %4d   loss %.4f\n", step, loss.item<float>());
    descent.step(loss);
  }

  Points fit = as_points(x, model(column).detach().contiguous());
  Plot plot(70, 15);
  plot.points(as_points(x, y), '.');
  plot.curve(fit, '#');
  plot.print(std::cout, isatty(STDOUT_FILENO));
  float error = error_against_truth(fit);
  bool good = error < 0.1F;
  std::printf("        . data   # fit   the fit is %.3f from the curve without noise (noise: %.2f)%s\n", error, kNoise,
              good ? "" : ": BAD");
  return good ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--steps N --quick", example); }
