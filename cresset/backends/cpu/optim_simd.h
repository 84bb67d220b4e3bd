// Inner functions of the fused optimizer steps, on contiguous runs of one tensor. T is float or double. Each element is
// read and written once, and every element goes through the same instructions wherever a run begins or ends: the result
// does not depend on the number of threads.
#pragma once

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
};

template <class T>
struct OptimInner {
  void (*sgd)(T* p, T* buffer, const T* g, int64_t n, const SgdNumbers<T>& numbers);  // buffer may be null
  void (*adam)(T* p, T* avg, T* square, T* largest, const T* g, int64_t n,
               const AdamNumbers<T>& numbers);  // largest may be null
};

template <class T>
const OptimInner<T>& optim_inner();

}  // namespace cresset::cpu
