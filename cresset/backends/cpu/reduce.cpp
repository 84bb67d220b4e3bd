// CPU kernels of ops/reduce.
#include "cresset/ops/reduce.h"

namespace cresset::cpu {
namespace {

void sum(const Tensor& out, const Tensor& x, IntArrayRef) {
  CRESSET_CHECK(x.is_contiguous() && out.numel() == 1 && x.dtype() == kFloat,
                "sum: only the whole of contiguous floats");
  double total = 0;
  const float* p = static_cast<const float*>(x.impl()->data());
  for (int64_t i = 0; i < x.numel(); i++) total += p[i];
  *static_cast<float*>(out.impl()->data()) = static_cast<float>(total);
}

[[maybe_unused]] const bool registered = sum_kernel.set(kCPU, sum);

}  // namespace
}  // namespace cresset::cpu
