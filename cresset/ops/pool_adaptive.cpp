// Pools whose windows follow from the output size, or from random numbers, and the way back from a maximum's indices.
#include "cresset/core/kernel.h"
#include "cresset/ops/pool.h"
#include "cresset/ops/pool_shape.h"
#include "cresset/ops/shape.h"

namespace cresset {

using namespace pool;

// ---- adaptive_avg_pool
namespace {

Tensor adaptive_avg_backward(IntArrayRef sizes, MemoryFormat format, const Tensor& g, int rank);

Tensor adaptive_avg_forward(Tensor y, const Into& into, const Tensor& x, int rank) {
  constexpr const char* nodes[] = {"", "AdaptiveAvgPool1DBackward0", "AdaptiveAvgPool2DBackward0",
                                   "AdaptiveAvgPool3DBackward0"};
  adaptive_avg_pool_kernel(y, x, rank);
  return differentiable(nodes[rank], into, y, inputs(x), saved(),
                        [rank, sizes = KeptDims(x.sizes()), format = x.suggest_memory_format()](
                            const Tensor& g, Wants) { return grads(adaptive_avg_backward(sizes, format, g, rank)); });
}

Tensor adaptive_avg_backward(IntArrayRef sizes, MemoryFormat format, const Tensor& g, int rank) {
  Tensor dx = empty_in(format, sizes, g.dtype(), g.device());
  adaptive_avg_pool_backward_kernel(dx, g, rank);
  return differentiable("AdaptiveAvgPoolBackwardBackward0", dx, inputs(g), saved(),
                        [rank, to = KeptDims(g.sizes())](const Tensor& h, Wants) {
                          Tensor y = empty_in(h.suggest_memory_format(), to, h.dtype(), h.device());
                          return grads(adaptive_avg_forward(y, Into{}, h, rank));
                        });
}

Dims adaptive_sizes(const char* op, const Tensor& self, int rank, IntArrayRef output_size) {
  CRESSET_CHECK_AS(ShapeError, output_size.size() == static_cast<size_t>(rank) || output_size.size() == 1, op,
                   ": output_size must be ", rank, " numbers, found ", text_of(output_size));
  int64_t out[kMost];
  expand(op, "output_size", output_size, rank, out);
  for (int d = 0; d < rank; d++)
    CRESSET_CHECK_AS(ValueError, out[d] >= 0, op,
                     ": elements of output_size must be greater than or equal to 0, found ", text_of(output_size));
  return sizes_with(self, rank, out);
}

Tensor adaptive_avg_pool(const char* op, int rank, const Into& into, const Tensor& self, IntArrayRef output_size) {
  CRESSET_CHECK_AS(TypeError, is_floating_point(self.dtype()), op, ": not implemented for '", toString(self.dtype()),
                   "'");
  check_rank(op, self, rank, 1);
  Tensor y = result_like(op, into, self, adaptive_sizes(op, self, rank, output_size), self.dtype());
  return adaptive_avg_forward(y, into, self, rank);
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const char* op, int rank, const Into& values_into,
                                             const Into& indices_into, const Tensor& self, IntArrayRef output_size) {
  constexpr const char* nodes[] = {"", "AdaptiveMaxPool1DBackward0", "AdaptiveMaxPool2DBackward0",
                                   "AdaptiveMaxPool3DBackward0"};
  check_poolable(op, self);
  check_rank(op, self, rank, 0);
  Dims sizes = adaptive_sizes(op, self, rank, output_size);
  Tensor values = result_like(op, values_into, self, sizes, self.dtype());
  Tensor indices = result_like(op, indices_into, self, sizes, kLong);
  adaptive_max_pool_kernel(values, indices, self, rank);
  return picked(nodes[rank], values_into, self, values, indices, rank);
}

}  // namespace

#define CRESSET_ADAPTIVE_POOL(rank)                                                                                  \
  static Tensor adaptive_avg_pool##rank##d_into(const Into& into, const Tensor& self, IntArrayRef output_size) {     \
    return adaptive_avg_pool("adaptive_avg_pool" #rank "d", rank, into, self, output_size);                          \
  }                                                                                                                  \
  CRESSET_POOL_PLAIN(adaptive_avg_pool##rank##d, (const Tensor& self, IntArrayRef output_size), (self, output_size), \
                     "self, output_size", "The mean of windows that divide the input into output_size parts.")       \
  static std::tuple<Tensor, Tensor> adaptive_max_pool##rank##d_into(const Into& into, const Into& indices_into,      \
                                                                    const Tensor& self, IntArrayRef output_size) {   \
    return adaptive_max_pool("adaptive_max_pool" #rank "d", rank, into, indices_into, self, output_size);            \
  }                                                                                                                  \
  CRESSET_POOL_FUNCTION(adaptive_max_pool##rank##d, (const Tensor& self, IntArrayRef output_size),                   \
                        (self, output_size), "self, output_size",                                                    \
                        "The maximum of windows that divide the input into output_size parts, and its index.")
#define CRESSET_ADAPTIVE_POOL_OUT(rank)                                                                              \
  CRESSET_OUT_FORM(adaptive_avg_pool##rank##d, , (const Tensor& self, IntArrayRef output_size), (self, output_size), \
                   "self, output_size", "The mean of windows that divide the input into output_size parts.")         \
  CRESSET_POOL_OUT(adaptive_max_pool##rank##d, out, (const Tensor& self, IntArrayRef output_size),                   \
                   (self, output_size), "self, output_size",                                                         \
                   "The maximum of windows that divide the input into output_size parts, and its index.")
CRESSET_ADAPTIVE_POOL(1)
CRESSET_ADAPTIVE_POOL(2)
CRESSET_ADAPTIVE_POOL(3)
CRESSET_ADAPTIVE_POOL_OUT(2)
CRESSET_ADAPTIVE_POOL_OUT(3)

// ---- fractional_max_pool
static std::tuple<Tensor, Tensor> fractional_max_pool(const char* op, int rank, const Into& values_into,
                                                      const Into& indices_into, const Tensor& self,
                                                      IntArrayRef kernel_size, IntArrayRef output_size,
                                                      const Tensor& samples) {
  CRESSET_CHECK_AS(TypeError, is_floating_point(self.dtype()), op, ": not implemented for '", toString(self.dtype()),
                   "'");
  CRESSET_CHECK_AS(ShapeError, kernel_size.size() == static_cast<size_t>(rank), op,
                   ": kernel_size must either be a single Int or tuple of Ints, found ", text_of(kernel_size),
                   " (expected ", rank, " of them)");
  CRESSET_CHECK_AS(ShapeError, output_size.size() == static_cast<size_t>(rank), op,
                   ": output_size must either be a single Int or tuple of Ints, found ", text_of(output_size),
                   " (expected ", rank, " of them)");
  check_same_device(op, self, samples);
  check_rank(op, self, rank, 0);
  int64_t kernel[kMost], out[kMost];
  expand(op, "kernel_size", kernel_size, rank, kernel);
  expand(op, "output_size", output_size, rank, out);
  for (int d = 0; d < rank; d++)
    CRESSET_CHECK_AS(ValueError, kernel[d] > 0 && out[d] > 0 && kernel[d] - 1 <= self.size(d - rank) - out[d], op,
                     ": pool size ", kernel[d], " or output size ", out[d], " too large relative to input size ",
                     self.size(d - rank));
  const int64_t batch = self.dim() == rank + 2 ? self.size(0) : 1, channels = self.size(-rank - 1);
  CRESSET_CHECK_AS(TypeError, samples.dtype() == self.dtype(), op,
                   ": Expect _random_samples to have the same dtype as "
                   "input, found ",
                   name_of(samples.dtype()), " and ", name_of(self.dtype()));
  CRESSET_CHECK_AS(
      ShapeError,
      samples.dim() == 3 && samples.size(0) >= batch && samples.size(1) == channels && samples.size(2) == rank, op,
      ": Expect _random_samples of shape [", batch, ", ", channels, ", ", rank, "], found ", text_of(samples.sizes()));
  Dims sizes = sizes_with(self, rank, out);
  auto fresh = [&](const Into& into, DType dtype) { return result(op, into, sizes, dtype, self.device(), {&self}); };
  Tensor values = fresh(values_into, self.dtype()), indices = fresh(indices_into, kLong);
  fractional_max_pool_kernel(values, indices, self, samples, {kernel, static_cast<size_t>(rank)});
  return picked(rank == 2 ? "FractionalMaxPool2DBackward0" : "FractionalMaxPool3DBackward0", values_into, self, values,
                indices, rank);
}

#define CRESSET_FRACTIONAL_POOL(name, rank)                                                                       \
  static std::tuple<Tensor, Tensor> name##_into(const Into& into, const Into& indices_into, const Tensor& self,   \
                                                IntArrayRef kernel_size, IntArrayRef output_size,                 \
                                                const Tensor& random_samples) {                                   \
    return fractional_max_pool(#name, rank, into, indices_into, self, kernel_size, output_size, random_samples);  \
  }                                                                                                               \
  CRESSET_POOL_FUNCTION(                                                                                          \
      name, (const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& random_samples), \
      (self, kernel_size, output_size, random_samples), "self, kernel_size, output_size, random_samples",         \
      "The maximum of windows at random places, and its index.")                                                  \
  CRESSET_POOL_OUT(                                                                                               \
      name, output,                                                                                               \
      (const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size, const Tensor& random_samples),       \
      (self, kernel_size, output_size, random_samples), "self, kernel_size, output_size, random_samples",         \
      "The maximum of windows at random places, and its index.")
CRESSET_FRACTIONAL_POOL(fractional_max_pool2d, 2)
CRESSET_FRACTIONAL_POOL(fractional_max_pool3d, 3)

// ---- max_unpool
static Tensor max_unpool(const char* op, int rank, const Into& into, const Tensor& self, const Tensor& indices,
                         IntArrayRef output_size) {
  constexpr const char* nodes[] = {"", "MaxUnpool1DBackward0", "MaxUnpool2DBackward0", "MaxUnpool3DBackward0"};
  CRESSET_CHECK_AS(TypeError, !self.is_complex() && self.dtype() != kBool, op, ": not implemented for '",
                   toString(self.dtype()), "'");
  CRESSET_CHECK_AS(TypeError, indices.dtype() == kLong, op,
                   ": elements in indices should be type int64 but got: ", toString(indices.dtype()));
  CRESSET_CHECK_AS(ShapeError, output_size.size() == static_cast<size_t>(rank), op, ": There should be exactly ", rank,
                   " elements in output_size, but got ", output_size.size(), " elements");
  check_rank(op, self, rank, 0);
  check_same_device(op, self, indices);
  CRESSET_CHECK_AS(ShapeError, self.sizes() == indices.sizes(), op,
                   ": Expected shape of indices to be same as that of ", "the input tensor (", text_of(self.sizes()),
                   ") but got indices tensor with shape: ", text_of(indices.sizes()));
  for (int64_t n : output_size)
    CRESSET_CHECK_AS(ValueError, n >= 0, op, ": output_size must not be negative, found ", text_of(output_size));
  Tensor y = result_like(op, into, self, sizes_with(self, rank, output_size), self.dtype());
  max_unpool_kernel(y, self, indices, rank);
  return differentiable(
      nodes[rank], into, y, inputs(self), saved(indices),
      [rank](const Tensor& g, Wants, const Tensor& indices) { return grads(pool_pick(g, indices, rank)); });
}
static Tensor max_unpool1d_into(const Into& into, const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  return max_unpool("max_unpool1d", 1, into, self, indices, output_size);
}
CRESSET_POOL_PLAIN(max_unpool1d, (const Tensor& self, const Tensor& indices, IntArrayRef output_size),
                   (self, indices, output_size), "self, indices, output_size",
                   "Puts values where indices say, zeros elsewhere.")
static Tensor max_unpool2d_into(const Into& into, const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  return max_unpool("max_unpool2d", 2, into, self, indices, output_size);
}
CRESSET_POOL_PLAIN(max_unpool2d, (const Tensor& self, const Tensor& indices, IntArrayRef output_size),
                   (self, indices, output_size), "self, indices, output_size",
                   "Puts values where indices say, zeros elsewhere.")
CRESSET_OUT_FORM(max_unpool2d, , (const Tensor& self, const Tensor& indices, IntArrayRef output_size),
                 (self, indices, output_size), "self, indices, output_size",
                 "Puts values where indices say, zeros elsewhere.")
static Tensor max_unpool3d_into(const Into& into, const Tensor& self, const Tensor& indices, IntArrayRef output_size,
                                IntArrayRef stride, IntArrayRef padding) {
  CRESSET_CHECK_AS(ShapeError, stride.size() == 3 && padding.size() == 3,
                   "max_unpool3d: There should be exactly 3 elements (depth, height, width) in stride and padding, "
                   "found ",
                   text_of(stride), " and ", text_of(padding));
  for (int64_t n : stride)
    CRESSET_CHECK_AS(ValueError, n > 0,
                     "max_unpool3d: strides should be greater than zero, but got stride: ", text_of(stride));
  return max_unpool("max_unpool3d", 3, into, self, indices, output_size);
}
CRESSET_POOL_PLAIN(max_unpool3d,
                   (const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                    IntArrayRef padding),
                   (self, indices, output_size, stride, padding), "self, indices, output_size, stride, padding",
                   "Puts values where indices say, zeros elsewhere.")
CRESSET_OUT_FORM(max_unpool3d, ,
                 (const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                  IntArrayRef padding),
                 (self, indices, output_size, stride, padding), "self, indices, output_size, stride, padding",
                 "Puts values where indices say, zeros elsewhere.")

}  // namespace cresset
