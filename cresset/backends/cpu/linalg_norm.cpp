// CPU kernels of ops/linalg_norm: powers of absolute values, element by element.
#include "cresset/ops/linalg_norm.h"

#include <cmath>

#include "cresset/backends/cpu/walk.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

template <class Out, class In, class F>
void map(const Tensor& out, const Tensor& x, const F& f) {
  Walk walk(out.sizes(), 2);
  walk.set(0, out.strides(), 1);
  walk.set(1, x.strides(), 1);
  walk.join();
  const int64_t to_step = walk.step(0), from_step = walk.step(1);
  Out* to = static_cast<Out*>(out.impl()->data());
  const In* from = static_cast<const In*>(x.impl()->data());
  parallel_for(0, walk.numel(), 8192, [&](int64_t begin, int64_t end) {
    walk.runs(begin, end, [&](const int64_t* at, int64_t count) {
      Out* y = to + at[0];
      const In* z = from + at[1];
      for (int64_t i = 0; i < count; i++) y[i * to_step] = f(z[i * from_step]);
    });
  });
}

template <class R>
R power(R size, R exponent) {
  if (exponent == 1) return size;
  if (exponent == 2) return size * size;
  if (exponent == R(0.5)) return std::sqrt(size);
  if (exponent == 0) return size == 0 ? R(0) : R(1);
  return std::pow(size, exponent);
}

// f(a null pointer of x's type, one of the type it computes in)
template <class F>
void with_types(const Tensor& x, const F& f) {
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      f(p, static_cast<float*>(nullptr));
    else if constexpr (is_differentiable(dtype_of<T>))
      f(p, p);
  });
}

void abs_pow(const Tensor& out, const Tensor& x, double exponent) {
  with_types(x, [&]<class T, class C>(T*, C*) {
    using R = decltype(std::abs(C()));
    const R e = static_cast<R>(exponent);
    if (e == 2)
      map<R, T>(out, x, [](T value) {
        const C c = static_cast<C>(value);
        return std::real(c) * std::real(c) + std::imag(c) * std::imag(c);
      });
    else
      map<R, T>(out, x, [e](T value) { return power<R>(std::abs(static_cast<C>(value)), e); });
  });
}

void signed_pow(const Tensor& out, const Tensor& x, double exponent) {
  with_types(x, [&]<class T, class C>(T*, C*) {
    using R = decltype(std::abs(C()));
    const R e = static_cast<R>(exponent - 1);
    map<C, T>(out, x, [e](T value) {
      const C c = static_cast<C>(value);
      const R size = std::abs(c);
      if constexpr (std::is_floating_point_v<C>)
        if (std::isinf(size) && e <= -1) return e == -1 ? std::copysign(C(1), c) : C(0);
      return size == 0 ? C(0) : e == 0 ? c : C(c * std::pow(size, e));
    });
  });
}

[[maybe_unused]] const bool registered = abs_pow_kernel.set(kCPU, abs_pow) && signed_pow_kernel.set(kCPU, signed_pow);

}  // namespace
}  // namespace cresset::cpu
