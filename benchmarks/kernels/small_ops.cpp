// What one op costs when there is next to nothing to compute, with and without a graph.
//   small_ops ops     single ops, and chains of 1,000
//   small_ops long    the add chain at 1,000 and at 1,000,000 nodes
#include <cstring>

#include "framework.h"

using framework::Tensor;

namespace {

template <class F>
void time_op(const char* key, const F& op) {
  constexpr int kCalls = 10000, kRounds = 25;
  print_row(key, 1e9 * best_seconds(processor_seconds, kCalls, kRounds, op));
}

void forward_only() {
  framework::NoGradGuard no_grad;
  Tensor a = framework::ones({64}), b = framework::ones({64});
  Tensor square = framework::ones({8, 8}), transposed = square.t();
  time_op("add64", [&] { Tensor c = a + b; });
  time_op("add64_inplace", [&] { a.add_(b); });
  time_op("empty64", [&] { Tensor c = framework::empty({64}); });
  time_op("view", [&] { Tensor c = square.view({64}); });
  time_op("sum64", [&] { Tensor c = a.sum(); });
  time_op("mm8", [&] { Tensor c = framework::mm(square, square); });

  // The same work as add64 for an implementation without a special case for 64 contiguous floats.
  Tensor a65 = framework::ones({65}), b65 = framework::ones({65});
  Tensor double_a = framework::ones({64}, framework::kFloat64), double_b = framework::ones({64}, framework::kFloat64);
  Tensor one = framework::ones({1});
  time_op("add65", [&] { Tensor c = a65 + b65; });
  time_op("add_transposed", [&] { Tensor c = transposed + square; });
  time_op("add_float64", [&] { Tensor c = double_a + double_b; });
  time_op("add_broadcast", [&] { Tensor c = a + one; });
}

Tensor leaf() { return framework::ones({64}, framework::requires_grad()); }

// Nanoseconds per op, forward and backward together.
template <class F>
double chain(int length, int calls, int rounds, const F& next) {
  Tensor x = leaf();
  return 1e9 / length * best_seconds(processor_seconds, calls, rounds, [&] {
           Tensor y = x;
           for (int i = 0; i < length; i++) y = next(y, x);
           y.sum().backward();
         });
}

void with_graph() {
  Tensor x = leaf(), b = framework::ones({64});
  time_op("add64_graph", [&] { Tensor c = x + b; });
  print_row("add_chain", chain(1000, 4, 25, [&](const Tensor& y, const Tensor&) { return y + b; }));
  print_row("mul_chain", chain(1000, 4, 25, [](const Tensor& y, const Tensor& x) { return y * x; }));
}

void long_chain() {
  Tensor b = framework::ones({64});
  auto add = [&](const Tensor& y, const Tensor&) { return y + b; };
  print_row("chain_short", chain(1000, 10, 20, add));
  print_row("chain_long", chain(1000000, 1, 3, add));
}

}  // namespace

int main(int argc, char** argv) {
  framework::set_num_threads(1);
  if (argc > 1 && std::strcmp(argv[1], "long") == 0) {
    long_chain();
    return 0;
  }
  forward_only();
  with_graph();
}
