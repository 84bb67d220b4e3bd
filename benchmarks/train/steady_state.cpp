// Training steps of a two-layer network whose batch alternates between two sizes. Once warm they must ask the system
// for no memory; the driver counts the calls between the two markers with strace.
//   steady_state THREADS
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "../kernels/framework.h"

using framework::Tensor;

namespace {

void mark(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) std::abort();
}

Tensor loss_of(const Tensor& logits, const Tensor& target) {
#ifdef CRESSET
  return cresset::cross_entropy(logits, target);
#else
  return torch::cross_entropy_loss(logits, target);
#endif
}

Tensor parameter(int64_t outputs, int64_t inputs) {
  return (framework::randn({outputs, inputs}) * 0.05).requires_grad_();
}

struct Network {
  Tensor weight1 = parameter(256, 784), bias1 = framework::zeros({256}, framework::requires_grad());
  Tensor weight2 = parameter(10, 256), bias2 = framework::zeros({10}, framework::requires_grad());

  void train(const Tensor& x, const Tensor& target) {
    Tensor hidden = framework::relu(framework::linear(x, weight1, bias1));
    loss_of(framework::linear(hidden, weight2, bias2), target).backward();
    framework::NoGradGuard no_grad;
    for (Tensor* parameter : {&weight1, &bias1, &weight2, &bias2}) {
      parameter->add_(parameter->grad(), -0.01);
      parameter->mutable_grad().reset();
    }
  }
};

struct Batch {
  Tensor x, target;
  explicit Batch(int64_t size)
      : x(framework::randn({size, 784})), target(framework::zeros({size}, framework::kInt64)) {}
};

}  // namespace

int main(int argc, char** argv) {
  framework::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
  framework::manual_seed(0);
  Network network;
  Batch large(64), small(40);
  auto steps = [&](int pairs) {
    for (int i = 0; i < pairs; i++) {
      network.train(large.x, large.target);
      network.train(small.x, small.target);
    }
  };
  steps(10);
  mark("steady begin\n");
  steps(50);
  mark("steady end\n");
}
