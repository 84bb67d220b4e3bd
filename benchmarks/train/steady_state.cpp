// A training step whose batch alternates between two sizes. Once warm it must ask the system for no memory; the driver
// counts the calls between the two markers with strace.
//   steady_state THREADS
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "../kernels/framework.h"

using framework::Tensor;

namespace {

void mark(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) std::abort();
}

Tensor parameter(std::vector<int64_t> sizes) {
  Tensor values = framework::full(sizes, 0.01);
  return values.requires_grad_();
}

struct Model {
  Tensor scale = parameter({784}), shift = parameter({784});

  Tensor loss(const Tensor& x) const {
    Tensor error = framework::relu(x * scale + shift) - x;
    return (error * error).sum();
  }
  void update(Tensor& weight) const {
    framework::NoGradGuard no_grad;
    weight.add_(weight.grad(), -1e-9);
    weight.mutable_grad().reset();
  }
  void step(const Tensor& x) {
    loss(x).backward();
    update(scale);
    update(shift);
  }
};

}  // namespace

int main(int argc, char** argv) {
  framework::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
  Model model;
  Tensor large = framework::ones({512, 784}), small = framework::ones({200, 784});
  auto steps = [&](int pairs) {
    for (int i = 0; i < pairs; i++) {
      model.step(large);
      model.step(small);
    }
  };
  steps(10);
  mark("steady begin\n");
  steps(50);
  mark("steady end\n");
}
