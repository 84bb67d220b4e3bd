// CPU kernels of ops/loss.
#include "cresset/ops/loss.h"

#include <cmath>

#include "cresset/backends/cpu/reduce_lines.h"
#include "cresset/backends/cpu/softmax_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kGrain = 4096;

int64_t checked_class(int64_t target, int64_t classes) {
  CRESSET_CHECK_AS(IndexError, target >= 0 && target < classes, "cross_entropy: Target ", target,
                   " is out of bounds (there are ", classes, " classes; expected one of them, or ignore_index)");
  return target;
}

// A 1-d (or expanded 0-d) tensor's element.
template <class T>
T& element(const Tensor& x, int64_t i) {
  const TensorImpl* impl = x.impl();
  return static_cast<T*>(impl->data())[impl->sizes.rank() ? i * impl->strides[0] : 0];
}

void put(const Tensor& x, int64_t i, double value) {
  dispatch(x.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_floating_point(dtype_of<T>)) element<T>(x, i) = static_cast<T>(value);
  });
}
double get(const Tensor& x, int64_t i) {
  return dispatch(x.dtype(), [&](auto* p) -> double {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_floating_point(dtype_of<T>))
      return static_cast<double>(element<T>(x, i));
    else
      return 0;
  });
}

// Where the rows of a matrix begin.
struct RowStarts {
  char* data;
  int64_t step;
  explicit RowStarts(const Tensor& x)
      : data(static_cast<char*>(x.impl()->data())), step(x.stride(0) * static_cast<int64_t>(x.itemsize())) {}
  char* operator()(int64_t i) const { return data + i * step; }
};

template <class T>
void forward_typed(const Tensor& loss, const Tensor& normalizers, const Tensor& total, const Tensor& x,
                   const Tensor& target, int64_t reduction, int64_t ignore_index) {
  Lines lines({&x}, 1);
  const SoftmaxInner<T>& inner = softmax_inner<T>();
  int64_t rows = x.size(0), classes = x.size(1);
  std::vector<double> losses(static_cast<size_t>(rows));
  auto normalizer = [&](int64_t i) { return static_cast<T*>(normalizers.impl()->data()) + 2 * i; };
  const RowStarts row_start(x);
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(classes, 1)), [&](int64_t begin, int64_t end) {
    Row<T> row(x, lines, 0);
    for (int64_t i = begin; i < end; i++) {
      int64_t c = element<int64_t>(target, i);
      T* top = normalizer(i);
      if (c == ignore_index) {
        top[0] = 0, top[1] = 1;  // whose logarithm is no loss either
        losses[static_cast<size_t>(i)] = 0;
        continue;
      }
      checked_class(c, classes);
      const T* logits = row.read(row_start(i));
      top[1] = inner.exp_total(logits, classes, top);
      losses[static_cast<size_t>(i)] = static_cast<double>(*top) - static_cast<double>(logits[c]);
    }
    // Apart: a logarithm waits for the whole of its row, and would keep the next rows waiting with it.
    for (int64_t i = begin; i < end; i++)
      losses[static_cast<size_t>(i)] += std::log(static_cast<double>(normalizer(i)[1]));
  });
  double sum = 0, counted = 0;  // in the rows' order, whatever the threads did
  for (int64_t i = 0; i < rows; i++) {
    sum += losses[static_cast<size_t>(i)];
    counted += element<int64_t>(target, i) != ignore_index;
    if (reduction == Reduction::None) put(loss, i, losses[static_cast<size_t>(i)]);
  }
  element<T>(total, 0) = static_cast<T>(counted);
  if (reduction != Reduction::None) put(loss, 0, reduction == Reduction::Mean ? sum / counted : sum);
}
void forward(const Tensor& loss, const Tensor& normalizers, const Tensor& total, const Tensor& x, const Tensor& target,
             int64_t reduction, int64_t ignore_index) {
  auto typed = x.dtype() == kDouble ? &forward_typed<double> : &forward_typed<float>;
  typed(loss, normalizers, total, x, target, reduction, ignore_index);
}

template <class T>
void backward_typed(const Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target, const Tensor& normalizers,
                    const Tensor& total, int64_t reduction, int64_t ignore_index) {
  Lines lines({&x, &dx}, 1);
  const SoftmaxInner<T>& inner = softmax_inner<T>();
  int64_t rows = x.size(0), classes = x.size(1);
  double divisor = reduction == Reduction::Mean ? static_cast<double>(element<T>(total, 0)) : 1;
  const RowStarts x_row(x), dx_row(dx);
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(classes, 1)), [&](int64_t begin, int64_t end) {
    Row<T> from(x, lines, 0), to(dx, lines, 1);
    for (int64_t i = begin; i < end; i++) {
      int64_t c = element<int64_t>(target, i);
      char* at = dx_row(i);
      T* out = to.to_write(at);
      if (c == ignore_index) {
        std::fill_n(out, classes, T(0));
      } else {
        const T* normalizer = static_cast<const T*>(normalizers.impl()->data()) + 2 * i;
        T scale = static_cast<T>(get(g, i) / divisor);
        inner.exp_row(out, from.read(x_row(i)), classes, normalizer[0], scale / normalizer[1]);
        out[checked_class(c, classes)] -= scale;
      }
      to.written(at);
    }
  });
}
void backward(const Tensor& dx, const Tensor& g, const Tensor& x, const Tensor& target, const Tensor& normalizers,
              const Tensor& total, int64_t reduction, int64_t ignore_index) {
  if (dx.numel() == 0) return;
  auto typed = x.dtype() == kDouble ? &backward_typed<double> : &backward_typed<float>;
  typed(dx, g, x, target, normalizers, total, reduction, ignore_index);
}

// The outputs are contiguous; target may be strided.
void target_classes(const Tensor& classes, const Tensor& counts, const Tensor& weights, const Tensor& shares,
                    const Tensor& empty, const Tensor& target, const Tensor& class_weights, int64_t class_count,
                    int64_t reduction, int64_t ignore_index) {
  int64_t n = target.numel();
  int64_t* found = static_cast<int64_t*>(classes.impl()->data());
  bool* count = static_cast<bool*>(counts.impl()->data());
  run_pointwise(classes, {&target}, kLong, {[](void* out, const void* const* in, int64_t m, const void*) {
                  std::copy_n(static_cast<const int64_t*>(in[0]), m, static_cast<int64_t*>(out));
                }});
  double total = 0;
  for (int64_t i = 0; i < n; i++) {
    count[i] = found[i] != ignore_index;
    found[i] = count[i] ? checked_class(found[i], class_count) : 0;
    if (count[i]) total += class_weights.defined() ? get(class_weights, found[i]) : 1;
  }
  double divisor = reduction == Reduction::Mean ? total : 1;
  dispatch(weights.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (is_floating_point(dtype_of<T>)) {
      T *weight = static_cast<T*>(weights.impl()->data()), *share = static_cast<T*>(shares.impl()->data());
      for (int64_t i = 0; i < n; i++) {
        double mine = class_weights.defined() ? get(class_weights, found[i]) : 1;
        weight[i] = count[i] ? static_cast<T>(mine / divisor) : T(0);
        share[i] = count[i] ? static_cast<T>(1 / divisor) : T(0);
      }
    }
  });
  put(empty, 0, divisor == 0 ? std::numeric_limits<double>::quiet_NaN() : 0);
}

[[maybe_unused]] const bool registered = cross_entropy_kernel.set(kCPU, forward) &&
                                         cross_entropy_backward_kernel.set(kCPU, backward) &&
                                         target_classes_kernel.set(kCPU, target_classes);

}  // namespace
}  // namespace cresset::cpu
