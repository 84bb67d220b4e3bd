// Inner functions of the fused optimizer steps, on contiguous runs of one tensor. T is float or double. Each element is
// read and written once, and every element goes through the same instructions wherever a run begins or ends: the result
// does not depend on the number of threads.
#pragma once

#include <cmath>
#include <cstdint>

namespace cresset::cpu {

template <class T>
struct SgdNumbers {
  T lr, momentum, take, weight_decay, sign;  // take: 1 - dampening
  bool nesterov;
};
template <class T>
struct AdamNumbers {
  T step_size, root_inverse, beta1, take1, beta2, take2, eps, weight_decay, keep, sign;  // take: 1 - beta
  // step_size m / (root_inverse sqrt(v) + eps) with one multiplication less.
  T root_by_step = root_inverse / step_size, eps_by_step = eps / step_size;
  // Without eps, or with a step of 0, the denominator may be 0 or infinite, which the vectors do not provide for.
  bool has_plain_denominator() const { return std::isnormal(root_by_step) && std::isnormal(eps_by_step); }
};

template <class T>
struct OptimInner {
  void (*sgd)(T* p, T* buffer, const T* g, int64_t n, const SgdNumbers<T>& numbers);  // buffer may be null
  void (*adam)(T* p, T* avg, T* square, T* largest, const T* g, int64_t n,
               const AdamNumbers<T>& numbers);  // largest may be null; for numbers.has_plain_denominator()
};

template <class T>
const OptimInner<T>& optim_inner();

}  // namespace cresset::cpu
