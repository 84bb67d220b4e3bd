// Shape rules: what every op checks before its kernel runs, and how its result comes to be. One place for all devices.
#pragma once

#include "cresset/autograd/differentiable.h"
#include "cresset/core/into.h"

namespace cresset {

// dim counted from the front; negative ones count from the end. A 0-d tensor takes 0 and -1.
CRESSET_API int wrap_dim(const char* op, int64_t dim, const Tensor& x);
CRESSET_API int wrap_dim(const char* op, int64_t dim, int64_t rank);

// PyTorch's result type: tensors with dimensions count before 0-d ones, those before plain numbers.
CRESSET_API DType result_type(const Tensor& a, const Tensor& b);
CRESSET_API DType result_type(ArrayRef<const Tensor*> tensors);

CRESSET_API Dims broadcast_shapes(const char* op, IntArrayRef a, IntArrayRef b);

CRESSET_API void check_defined(const char* op, const char* argument, const Tensor& x);
CRESSET_API void check_same_device(const char* op, const Tensor& a, const Tensor& b);
CRESSET_API void check_dtype(const char* op, const char* argument, const Tensor& x, DType wanted);

// Whether elements of x share memory, as an expanded tensor's do.
CRESSET_API bool repeats_memory(const Tensor& x);
CRESSET_API void check_no_repeats(const char* op, const Tensor& written);
// Refuses to write where `read` is still to be read.
CRESSET_API void check_no_overlap(const char* op, const Tensor& written, const Tensor& read);

// The tensor an op writes into: fresh and contiguous, or the one that was given, checked for shape, dtype, device,
// overlap and graph. `reads` are the inputs, which the written memory must not overlap.
CRESSET_API Tensor result(const char* op, const Into& into, IntArrayRef sizes, DType dtype, Device device,
                          std::initializer_list<const Tensor*> reads = {});
// The same for ops that go element by element over broadcast inputs: strides follow the inputs' (PyTorch's rule), and
// reading the written tensor itself is allowed. `compute` is the promoted type, `dtype` the result's.
CRESSET_API Tensor pointwise_result(const char* op, const Into& into, std::initializer_list<const Tensor*> inputs,
                                    DType compute, DType dtype);

// x itself, or a copy of it if the op is about to overwrite it in place and its old value is needed for a gradient.
CRESSET_API Tensor preserved(const Into& into, const Tensor& x, bool needed);

// A gradient summed over the dimensions that were broadcast, so that it has shape `sizes`. Differentiable.
CRESSET_API Tensor summed_to(const Tensor& gradient, IntArrayRef sizes);

// How input x was broadcast to the result y: what a formula needs to bring a gradient back to x's shape and dtype.
class CRESSET_API Broadcast {
 public:
  [[gnu::always_inline]] Broadcast(const Tensor& x, const Tensor& y) : dtype_(x.dtype()) {
    if (CRESSET_UNLIKELY(!(x.impl()->sizes == y.impl()->sizes))) compare(x.impl()->sizes, y.impl()->sizes);
  }
  Tensor reduce(Tensor gradient) const;

 private:
  void compare(const Dims& from, const Dims& to);
  // Eight bytes, since every pointwise node holds two of these.
  static constexpr int kMost = 48;
  uint64_t ones_ : kMost = 0;  // bit i: dimension i of the result was 1 (or missing) in x
  uint64_t lead_ : 8 = 0;      // how many leading dimensions x lacks
  DType dtype_ : 8;
};

// Puts a plain number where a tensor is wanted, on the other tensor's device.
inline Tensor as_operand(const Scalar& value) { return wrapped_number(value); }

}  // namespace cresset
