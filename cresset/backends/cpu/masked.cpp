// CPU kernels of ops/masked: elements only move, so their size is all that matters.
#include "cresset/ops/masked.h"

#include "cresset/backends/cpu/element_moves.h"
#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

template <class T>
void masked_fill_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T *x = static_cast<const T*>(in[0]), value = *static_cast<const T*>(constant);
  const bool* mask = static_cast<const bool*>(in[1]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) y[i] = mask[i] ? value : x[i];
}
InnerFunction fill_function(DType dtype) {
  return with_size_of(dtype, []<class T>(T) -> InnerFunction { return &masked_fill_elements<T>; });
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
