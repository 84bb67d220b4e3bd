// Convolutions and attention, forward and backward, in milliseconds.
//   layer_ops conv N         convolutions, N threads
//   layer_ops attention N    attention, and the memory it takes beyond its inputs
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "framework.h"

using framework::Tensor;

namespace {

Tensor leaf(framework::IntArrayRef sizes) { return framework::randn(sizes).set_requires_grad(true); }

void convolution(const char* key, framework::IntArrayRef input, framework::IntArrayRef filters, int64_t groups) {
  Tensor x = leaf(input), w = leaf(filters), b = leaf({filters[0]});
  Tensor g;
  auto step = [&] {
    Tensor y = framework::conv2d(x, w, b, 1, 1, 1, groups);
    if (!g.defined()) g = framework::randn_like(y);
    auto gradients = framework::autograd::grad({y}, {x, w, b}, {g});
  };
  print_row(key, 1e3 * best_seconds(wall_seconds, 1, 9, step));
}

// Causal, 8 x 4 heads x 512 x 64. libtorch 1.13 has no fused one for the CPU: it is composed as its users do.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v) {
#ifdef CRESSET
  return framework::scaled_dot_product_attention(q, k, v, {}, 0.0, true);
#else
  static Tensor mask = framework::ones({q.size(2), k.size(2)}, framework::kBool).tril().logical_not();
  Tensor scores = framework::matmul(q, k.transpose(-2, -1)) * (1 / std::sqrt(static_cast<double>(q.size(3))));
  return framework::matmul(framework::softmax(scores.masked_fill(mask, -INFINITY), -1), v);
#endif
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void attentions() {
  Tensor q = leaf({8, 4, 512, 64}), k = leaf({8, 4, 512, 64}), v = leaf({8, 4, 512, 64});
  Tensor g = framework::randn({8, 4, 512, 64});
  // Libraries are loaded and threads started before memory is counted.
  Tensor s = framework::matmul(q.slice(2, 0, 8), k.slice(2, 0, 8).transpose(-2, -1)).softmax(-1);
  s.sum().backward();
  double before = peak_mib();
  auto step = [&] { auto gradients = framework::autograd::grad({attention(q, k, v)}, {q, k, v}, {g}); };
  step();
  print_row("attention_memory", std::max(peak_mib() - before, 1.0));
  print_row("attention", 1e3 * best_seconds(wall_seconds, 1, 9, step));
}

}  // namespace

int main(int argc, char** argv) {
  framework::set_num_threads(argc > 2 ? std::atoi(argv[2]) : 2);
  if (argc > 1 && std::strcmp(argv[1], "attention") == 0) {
    attentions();
    return 0;
  }
  convolution("conv_large", {32, 64, 56, 56}, {64, 64, 3, 3}, 1);
  convolution("conv_first", {64, 3, 32, 32}, {32, 3, 3, 3}, 1);
  convolution("conv_depthwise", {32, 64, 56, 56}, {64, 1, 3, 3}, 64);
}
