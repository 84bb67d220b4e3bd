// CPU kernel of ops/dropout.
#include "cresset/ops/dropout.h"

#include <cmath>

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/random_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

// u = (32 random bits + 1/2) / 2^32 is never 0 or 1.
void gumbel(const Tensor& out, PhiloxCursor at) {
  const int64_t n = out.numel(), chunks = (n + kRandomChunk - 1) / kRandomChunk;
  char* data = static_cast<char*>(out.impl()->data());
  const int64_t item = static_cast<int64_t>(out.itemsize());
  parallel_for(0, chunks, 4, [&](int64_t begin, int64_t end) {
    uint32_t bits[kRandomChunk];
    double numbers[kRandomChunk];
    for (int64_t chunk = begin; chunk < end; chunk++) {
      const int64_t first = chunk * kRandomChunk, count = std::min(kRandomChunk, n - first);
      random_functions().bits(at.seed, at.first + static_cast<uint64_t>(first / 4), bits);
      for (int64_t i = 0; i < count; i++)
        numbers[i] = -std::log(-std::log((static_cast<double>(bits[i]) + 0.5) * 0x1p-32));
      convert(data + first * item, out.dtype(), item, numbers, kDouble, sizeof(double), count);
    }
  });
}

[[maybe_unused]] const bool registered = gumbel_kernel.set(kCPU, gumbel);

}  // namespace
}  // namespace cresset::cpu
