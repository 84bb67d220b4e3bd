// CPU kernels of ops/masked: elements only move, so their size is all that matters.
#include "cresset/ops/masked.h"

#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

struct Bytes16 {
  uint64_t half[2];
};
template <class T>
void masked_fill_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T *x = static_cast<const T*>(in[0]), value = *static_cast<const T*>(constant);
  const bool* mask = static_cast<const bool*>(in[1]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) y[i] = mask[i] ? value : x[i];
}
InnerFunction fill_function(DType dtype) {
  switch (element_size(dtype)) {
    case 1:
      return &masked_fill_elements<uint8_t>;
    case 2:
      return &masked_fill_elements<uint16_t>;
    case 4:
      return &masked_fill_elements<uint32_t>;
    case 8:
      return &masked_fill_elements<uint64_t>;
    default:
      return &masked_fill_elements<Bytes16>;
  }
}
void masked_fill(const Tensor& out, const Tensor& x, const Tensor& mask, const Scalar& value) {
  DType dtype = out.dtype();
  Constants constant(dtype, {value});
  DType types[] = {dtype, kBool};
  run_pointwise_typed(out, {&x, &mask}, types, dtype, {.inner = fill_function(dtype), .constant = constant.bytes});
}

[[maybe_unused]] const bool registered = masked_fill_kernel.set(kCPU, masked_fill);

}  // namespace
}  // namespace cresset::cpu
