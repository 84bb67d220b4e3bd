// The add of 16M floats, in GB/s of 12 bytes an element, and on Cresset's side a plain loop over reused buffers beside
// it.
//   large_add THREADS
#include <cstdlib>

#include "framework.h"
#ifdef CRESSET
#include "plain_loop.h"
#endif

using framework::Tensor;

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  framework::set_num_threads(threads);
  framework::NoGradGuard no_grad;
  constexpr int64_t kCount = int64_t{1} << 24;
  constexpr int kCalls = 3, kRounds = 10;
  auto rate = [&](const char* key, const auto& call) {
    print_row(key, 12e-9 * kCount / best_seconds(wall_seconds, kCalls, kRounds, call));
  };
  Tensor a = framework::ones({kCount}), b = framework::ones({kCount});
  rate("add16M", [&] { Tensor c = a + b; });
#ifdef CRESSET
  Tensor out = framework::ones({kCount});
  rate("plain_loop",
       [&] { plain_add(out.data_ptr<float>(), a.data_ptr<float>(), b.data_ptr<float>(), kCount, threads); });
#endif
}
