// Kernels over arrays: element by element, along rows and columns, sorting, indexing.
//   array_ops large N    16M floats and other large inputs, N threads; seconds
//   array_ops small      4,096 floats, one thread; nanoseconds
#include <cstdlib>
#include <cstring>

#include "framework.h"

using framework::Tensor;

namespace {

// Results are dropped at once, as in a training step: what the allocator does belongs to the op.
template <class F>
void time_large(const char* key, const F& op) {
  print_row(key, 1e3 * best_seconds(wall_seconds, 1, 7, op));
}
template <class F>
void time_small(const char* key, const F& op) {
  print_row(key, 1e9 * best_seconds(processor_seconds, 1000, 25, op));
}

void elementwise() {
  Tensor x = framework::randn({4096, 4096}), y = framework::randn({4096, 4096});
  Tensor weight = framework::randn({4096}), bias = framework::randn({4096});
  time_large("add", [&] { Tensor z = x + y; });
  time_large("exp", [&] { Tensor z = framework::exp(x); });
  time_large("tanh", [&] { Tensor z = framework::tanh(x); });
  time_large("gelu", [&] { Tensor z = framework::gelu(x); });
  time_large("softmax", [&] { Tensor z = framework::softmax(x, 1); });
  time_large("layer_norm", [&] { Tensor z = framework::layer_norm(x, {4096}, weight, bias); });
  time_large("sum_rows", [&] { Tensor z = framework::sum(x, {1}); });
  time_large("sum_columns", [&] { Tensor z = framework::sum(x, {0}); });
  time_large("mean_rows", [&] { Tensor z = framework::mean(x, {1}); });
  time_large("mean_columns", [&] { Tensor z = framework::mean(x, {0}); });
}

void order() {
  Tensor x = framework::randn({1 << 20});
  time_large("sort", [&] { auto z = framework::sort(x); });
  time_large("topk", [&] { auto z = framework::topk(x, 100); });
  time_large("cumsum", [&] { Tensor z = framework::cumsum(x, 0); });
}

void indexed() {
  constexpr int64_t kRows = 50000, kWidth = 256, kCount = 65536;
  Tensor table = framework::randn({kRows, kWidth}), source = framework::randn({kCount, kWidth});
  Tensor at = framework::randint(kRows, {kCount}, framework::kLong);
  Tensor wide = at.unsqueeze(1).expand({kCount, kWidth}).contiguous();
  time_large("index_select", [&] { Tensor z = framework::index_select(table, 0, at); });
  time_large("gather", [&] { Tensor z = framework::gather(table, 0, wide); });
  time_large("scatter_add", [&] { Tensor z = framework::scatter_add(table, 0, wide, source); });
  Tensor weight = table.detach().clone().set_requires_grad(true);
  Tensor rows = framework::embedding(weight, at);
  time_large("embedding_backward", [&] { auto g = framework::autograd::grad({rows}, {weight}, {source}, true); });
}

void small() {
  Tensor x = framework::randn({16, 256}), y = framework::randn({16, 256});
  Tensor weight = framework::randn({256}), bias = framework::randn({256});
  time_small("add_small", [&] { Tensor z = x + y; });
  time_small("exp_small", [&] { Tensor z = framework::exp(x); });
  time_small("tanh_small", [&] { Tensor z = framework::tanh(x); });
  time_small("gelu_small", [&] { Tensor z = framework::gelu(x); });
  time_small("softmax_small", [&] { Tensor z = framework::softmax(x, 1); });
  time_small("layer_norm_small", [&] { Tensor z = framework::layer_norm(x, {256}, weight, bias); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "small") == 0) {
    framework::set_num_threads(1);
    framework::NoGradGuard no_grad;
    small();
    return 0;
  }
  framework::set_num_threads(argc > 2 ? std::atoi(argv[2]) : 2);
  {
    framework::NoGradGuard no_grad;
    elementwise();
    order();
  }
  indexed();
}
