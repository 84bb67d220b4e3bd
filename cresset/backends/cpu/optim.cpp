// CPU kernels of ops/optim_step: the tensors of a group are cut into blocks and the blocks shared out among the
// threads, so that one large tensor among small ones does not leave a thread idle. Half types compute in float and
// round once.
#include <cmath>

#include "cresset/backends/cpu/optim_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/optim_step.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kBlock = 1024;   // elements
constexpr int64_t kGrainSgd = 64;  // blocks; below it a second thread costs more than it brings
constexpr int64_t kGrainAdam = 24;

int64_t blocks_of(const Tensor& x) { return (x.impl()->numel + kBlock - 1) / kBlock; }

// Calls f(tensor, first element, count): each thread gets whole blocks, as long a run of each tensor as it can.
template <class F>
void each_run(TensorList params, int64_t grain, const F& f) {
  int64_t total = 0;
  for (const Tensor& p : params) total += blocks_of(p);
  parallel_for(0, total, grain, [&](int64_t begin, int64_t end) {
    int64_t before = 0;
    for (size_t i = 0; i < params.size() && before < end; i++) {
      const int64_t blocks = blocks_of(params[i]), from = std::max(begin - before, int64_t{0}),
                    to = std::min(end - before, blocks);
      before += blocks;
      if (from >= to) continue;
      const int64_t first = from * kBlock;
      f(i, first, std::min(to * kBlock, params[i].impl()->numel) - first);
    }
  });
}

template <class T>
T* at(TensorList list, size_t i, int64_t first) {
  return list.empty() ? nullptr : static_cast<T*>(list[i].impl()->data()) + first;
}

template <class T>
void sgd_half(T* p, T* buffer, const T* g, int64_t n, const SgdNumbers<float>& numbers) {
  for (int64_t i = 0; i < n; i++) {
    const float param = p[i];
    float grad = static_cast<float>(g[i]) * numbers.sign;
    if (numbers.weight_decay != 0) grad += numbers.weight_decay * param;
    if (buffer) {
      const float kept = numbers.momentum * static_cast<float>(buffer[i]) + numbers.take * grad;
      buffer[i] = kept;
      grad = numbers.nesterov ? grad + numbers.momentum * kept : kept;
    }
    p[i] = param - numbers.lr * grad;
  }
}

// For half types, and for numbers that the vectors do not provide for.
template <class T, class C>
void adam_each(T* p, T* avg, T* square, T* largest, const T* g, int64_t n, const AdamNumbers<C>& numbers) {
  for (int64_t i = 0; i < n; i++) {
    const C param = static_cast<C>(p[i]) * numbers.keep;
    C grad = static_cast<C>(g[i]) * numbers.sign;
    if (numbers.weight_decay != 0) grad += numbers.weight_decay * param;
    const C m = numbers.beta1 * static_cast<C>(avg[i]) + numbers.take1 * grad;
    C v = numbers.beta2 * static_cast<C>(square[i]) + numbers.take2 * grad * grad;
    avg[i] = m;
    square[i] = v;
    if (largest) {
      const C before = largest[i];
      if (before > v || std::isnan(before)) v = before;
      largest[i] = v;
    }
    p[i] = param - numbers.step_size * (m / (std::sqrt(v) * numbers.root_inverse + numbers.eps));
  }
}

// f gets a value of the dtype's type.
template <class F>
void with_type(const char* kernel, DType dtype, const F& f) {
  switch (dtype) {
    case kFloat:
      return f(float());
    case kDouble:
      return f(double());
    case kHalf:
      return f(Half());
    case kBFloat16:
      return f(BFloat16());
    default:
      throw NotImplementedError(message_of(kernel, ": not for ", name_of(dtype), " (expected a floating dtype)"));
  }
}
template <class T>
constexpr bool is_vectorised = std::is_same_v<T, float> || std::is_same_v<T, double>;
// Looked up once a step; half types have none.
template <class T>
auto inner_of() {
  if constexpr (is_vectorised<T>)
    return &optim_inner<T>();
  else
    return static_cast<const OptimInner<float>*>(nullptr);
}
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

void sgd_step(const Tensor& first, TensorList params, TensorList buffers, TensorList grads, double lr, double momentum,
              double dampening, double weight_decay, bool nesterov, bool maximize) {
  with_type("sgd_step", first.dtype(), [&]<class T>(T) {
    using C = Compute<T>;
    const SgdNumbers<C> numbers{
        static_cast<C>(lr),           static_cast<C>(momentum),          static_cast<C>(1 - dampening),
        static_cast<C>(weight_decay), static_cast<C>(maximize ? -1 : 1), nesterov};
    const auto* inner = inner_of<T>();
    each_run(params, kGrainSgd, [&](size_t i, int64_t from, int64_t n) {
      T *p = at<T>(params, i, from), *buffer = at<T>(buffers, i, from);
      const T* g = at<T>(grads, i, from);
      if constexpr (is_vectorised<T>)
        inner->sgd(p, buffer, g, n, numbers);
      else
        sgd_half(p, buffer, g, n, numbers);
    });
  });
}

void adam_step(const Tensor& first, TensorList params, TensorList avgs, TensorList squares, TensorList largest,
               TensorList grads, double step_size, double root_correction, double beta1, double beta2, double eps,
               double weight_decay, double keep, bool maximize) {
  with_type("adam_step", first.dtype(), [&]<class T>(T) {
    using C = Compute<T>;
    const AdamNumbers<C> numbers{static_cast<C>(step_size), static_cast<C>(1 / root_correction),
                                 static_cast<C>(beta1),     static_cast<C>(1 - beta1),
                                 static_cast<C>(beta2),     static_cast<C>(1 - beta2),
                                 static_cast<C>(eps),       static_cast<C>(weight_decay),
                                 static_cast<C>(keep),      static_cast<C>(maximize ? -1 : 1)};
    const auto* inner = inner_of<T>();
    each_run(params, kGrainAdam, [&](size_t i, int64_t from, int64_t n) {
      T *p = at<T>(params, i, from), *avg = at<T>(avgs, i, from), *square = at<T>(squares, i, from),
        *top = at<T>(largest, i, from);
      const T* g = at<T>(grads, i, from);
      if constexpr (is_vectorised<T>)
        if (numbers.has_plain_denominator()) return inner->adam(p, avg, square, top, g, n, numbers);
      adam_each(p, avg, square, top, g, n, numbers);
    });
  });
}

[[maybe_unused]] const bool registered = sgd_step_kernel.set(kCPU, sgd_step) && adam_step_kernel.set(kCPU, adam_step);

}  // namespace
}  // namespace cresset::cpu
