// A training step of a small network: what its threads cost or gain where other programs hold the cores. The driver
// runs it on one thread and on two, alone and beside programs that only burn time.
//   small_step THREADS
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "../kernels/framework.h"

using framework::Tensor;

namespace {

constexpr int64_t kBatch = 64, kWidth = 256, kLayers = 3;

struct Network {
  std::vector<Tensor> weights, biases;

  Network() {
    for (int64_t i = 0; i < kLayers; i++) {
      weights.push_back((framework::randn({kWidth, kWidth}) * 0.05).requires_grad_());
      biases.push_back(framework::zeros({kWidth}, framework::requires_grad()));
    }
  }

  void train(const Tensor& x, const Tensor& target) {
    Tensor y = x;
    for (int64_t i = 0; i < kLayers; i++) {
      const auto at = static_cast<size_t>(i);
      y = framework::linear(y, weights[at], biases[at]);
      if (i + 1 < kLayers) y = framework::relu(y);
    }
    (y - target).pow(2).mean().backward();
    framework::NoGradGuard no_grad;
    for (auto* list : {&weights, &biases})
      for (Tensor& parameter : *list) {
        parameter.add_(parameter.grad(), -0.01);
        parameter.mutable_grad().reset();
      }
  }
};

}  // namespace

int main(int argc, char** argv) {
  framework::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
  framework::manual_seed(0);
  Network network;
  const Tensor x = framework::randn({kBatch, kWidth}), target = framework::randn({kBatch, kWidth});
  const auto round = [&] {
    constexpr int kSteps = 20;
    const double begin = wall_seconds();
    for (int i = 0; i < kSteps; i++) network.train(x, target);
    return 1e6 * (wall_seconds() - begin) / kSteps;
  };
  round();
  // The mean is what a user waits for; the best round is the machine's own speed, whatever else runs.
  double best = round(), sum = 0;
  int rounds = 0;
  for (const double end = wall_seconds() + 1; wall_seconds() < end; rounds++) {
    const double mean = round();
    best = std::min(best, mean);
    sum += mean;
  }
  print_row("mean_step", sum / rounds);
  print_row("best_step", best);
}
