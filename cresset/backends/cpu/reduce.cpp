// CPU kernels of ops/reduce that give one value: sum, mean, amax, amin, and the shares of a
// maximum's gradient.
#include "cresset/ops/reduce.h"

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/backends/cpu/reduce_loop.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

enum class Family : uint8_t { integer, real, complex };
Family family(DType t) {
  return is_complex(t) ? Family::complex : is_floating_point(t) ? Family::real : Family::integer;
}

// Elements are read as they are where that gives the same sum, and converted to the result's type otherwise.
DType read_type(DType x, DType out) {
  if (out == kBool) return kBool;
  return family(x) == family(out) ? x : compute_dtype(out);
}

void sum(const Tensor& out, const Tensor& x, IntArrayRef dims) {
  const TensorImpl *from = x.impl(), *to = out.impl();
  // All of a small dense tensor, in memory order.
  if (CRESSET_LIKELY(to->numel == 1 && from->dtype == to->dtype && from->numel <= kPiece)) {
    if ((from->dtype == kFloat || from->dtype == kDouble) && x.is_non_overlapping_and_dense()) {
      double total = 0;
      sum_inner(from->dtype).rows(&total, from->data(), from->numel, 1, 0);
      if (from->dtype == kFloat)
        *static_cast<float*>(to->data()) = static_cast<float>(total);
      else
        *static_cast<double*>(to->data()) = total;
      return;
    }
  }
  DType read = read_type(from->dtype, to->dtype);
  run_reduction(out, x, dims, read, sum_inner(read));
}

void mean(const Tensor& out, const Tensor& x, IntArrayRef dims) {
  DType read = read_type(x.dtype(), out.dtype());
  double count = 1;
  if (dims.empty()) count = static_cast<double>(x.numel());
  for (int64_t dim : dims) count *= static_cast<double>(x.size(dim));
  run_reduction(out, x, dims, read, sum_inner(read), count);
}

void amax(const Tensor& out, const Tensor& x, IntArrayRef dims) {
  run_reduction(out, x, dims, x.dtype(), max_inner(x.dtype()));
}

void amin(const Tensor& out, const Tensor& x, IntArrayRef dims) {
  run_reduction(out, x, dims, x.dtype(), min_inner(x.dtype()));
}

template <class T>
void mark_ties(void* out, const void* const* in, int64_t n, const void*) {
  T* y = static_cast<T*>(out);
  const T *x = static_cast<const T*>(in[0]), *top = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < n; i++) y[i] = x[i] == top[i] || (x[i] != x[i] && top[i] != top[i]) ? T(1) : T(0);
}
void tie_mask(const Tensor& mask, const Tensor& x, const Tensor& top) {
  if (compute_dtype(mask.dtype()) == kDouble)
    run_pointwise(mask, {&x, &top}, kDouble, {&mark_ties<double>});
  else
    run_pointwise(mask, {&x, &top}, kFloat, {&mark_ties<float>});
}

template <class T>
void divide(void* out, const void* const* in, int64_t n, const void*) {
  T* y = static_cast<T*>(out);
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < n; i++) y[i] = a[i] / b[i];
}
void tie_share(const Tensor& share, const Tensor& mask, const Tensor& count) {
  if (compute_dtype(share.dtype()) == kDouble)
    run_pointwise(share, {&mask, &count}, kDouble, {&divide<double>});
  else
    run_pointwise(share, {&mask, &count}, kFloat, {&divide<float>});
}

[[maybe_unused]] const bool registered = sum_kernel.set(kCPU, sum) && mean_kernel.set(kCPU, mean) &&
                                         amax_kernel.set(kCPU, amax) && amin_kernel.set(kCPU, amin) &&
                                         tie_mask_kernel.set(kCPU, tie_mask) && tie_share_kernel.set(kCPU, tie_share);

}  // namespace
}  // namespace cresset::cpu
