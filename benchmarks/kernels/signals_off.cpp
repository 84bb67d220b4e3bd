// What a matrix product pays for keeping signals off while oneDNN's code runs: the product as it is against one under a
// guard of ours, inside which its own costs nothing. In microseconds a call.
#include <cresset/core/signal_guard.h>

#include "framework.h"

using framework::Tensor;

namespace {

// The least time of one call, over many short rounds that take turns with the other's.
struct Least {
  double seconds = std::numeric_limits<double>::infinity();
  template <class F>
  void round(const F& call) {
    constexpr int kCalls = 10;
    const double start = wall_seconds();
    for (int i = 0; i < kCalls; i++) call();
    seconds = std::min(seconds, (wall_seconds() - start) / kCalls);
  }
};

}  // namespace

int main() {
  framework::NoGradGuard no_grad;
  framework::set_num_threads(1);
  // By the library, and short: rounds without an interruption are many.
  const Tensor a = framework::randn({96, 96}), b = framework::randn({96, 96});
  Tensor c = framework::mm(a, b);
  Least guarded, bare;
  for (int round = 0; round < 4000; round++) {
    guarded.round([&] { framework::mm_out(c, a, b); });
    const cresset::SignalGuard outer;
    bare.round([&] { framework::mm_out(c, a, b); });
  }
  print_row("signals_off", std::max(0.0, 1e6 * (guarded.seconds - bare.seconds)));
}
