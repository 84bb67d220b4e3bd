// Products of matrices, in GFLOP/s.
//   matrix_ops N    N threads
#include <cstdlib>
#include <string>

#include "framework.h"
#ifdef CRESSET
#include "plain_loop.h"
#endif

using framework::Tensor;

namespace {

void product(int64_t n) {
  Tensor a = framework::randn({n, n}), b = framework::randn({n, n});
  int calls = n <= 64 ? 200 : n <= 256 ? 20 : 1;
  double seconds = best_seconds(wall_seconds, calls, 9, [&] { Tensor c = framework::mm(a, b); });
  print_row(("mm" + std::to_string(n)).c_str(), 2e-9 * static_cast<double>(n * n * n) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  framework::NoGradGuard no_grad;
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  framework::set_num_threads(threads);
  for (int64_t n : {64, 256, 1024, 2048}) product(n);
  Tensor a = framework::randn({64, 128, 128}), b = framework::randn({64, 128, 128});
  double seconds = best_seconds(wall_seconds, 3, 9, [&] { Tensor c = framework::bmm(a, b); });
  print_row("bmm", 2e-9 * 64 * 128 * 128 * 128 / seconds);
#ifdef CRESSET
  print_row("fma_peak", threads * fma_gflops());
  Tensor p = framework::randn({1024, 1024}).to(framework::kBFloat16);
  seconds = best_seconds(wall_seconds, 1, 7, [&] { Tensor c = framework::mm(p, p); });
  print_row("mm1024_bf16", 2e-9 * 1024 * 1024 * 1024 / seconds);
#endif
}
