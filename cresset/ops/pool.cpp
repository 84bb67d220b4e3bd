// Pools with windows at a stride. A maximum's gradient goes where its index says, the mean's is spread; both maps are
// linear and have their adjoints beside them, so that derivatives exist to any order.
#include "cresset/ops/pool.h"

#include "cresset/core/checked.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/pool_shape.h"

namespace cresset {
namespace pool {

void expand(const char* op, const char* name, IntArrayRef list, int rank, int64_t* to) {
  constexpr const char* words[] = {"", "a single int", "a tuple of two ints", "a tuple of three ints"};
  CRESSET_CHECK_AS(ShapeError, list.size() == 1 || list.size() == static_cast<size_t>(rank), op, ": ", name,
                   " must either be a single int, or ", words[rank], ", found ", text_of(list));
  for (int d = 0; d < rank; d++) to[d] = list[list.size() == 1 ? 0 : static_cast<size_t>(d)];
}

Window window_of(const char* op, int rank, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                 IntArrayRef dilation) {
  Window window{rank, {}, {}, {}, {}};
  expand(op, "kernel_size", kernel_size, rank, window.kernel_);
  expand(op, "stride", stride.empty() ? kernel_size : stride, rank, window.stride_);
  expand(op, "padding", padding, rank, window.padding_);
  expand(op, "dilation", dilation, rank, window.dilation_);
  for (int d = 0; d < rank; d++) {
    CRESSET_CHECK_AS(ValueError, window.kernel_[d] > 0, op, ": kernel size should be greater than zero, but got ",
                     text_of(kernel_size));
    CRESSET_CHECK_AS(ValueError, window.stride_[d] > 0, op, ": stride should be greater than zero, but got ",
                     text_of(stride));
    CRESSET_CHECK_AS(ValueError, window.dilation_[d] > 0, op, ": dilation should be greater than zero, but got ",
                     text_of(dilation));
    CRESSET_CHECK_AS(ValueError, window.padding_[d] >= 0, op,
                     ": pad must be non-negative, but got pad: ", window.padding_[d]);
    CRESSET_CHECK_AS(ValueError, window.padding_[d] <= window.kernel_[d] / 2, op,
                     ": pad should be at most half of kernel size, but got pad=", window.padding_[d],
                     " and kernel_size=", window.kernel_[d]);
  }
  return window;
}

void check_rank(const char* op, const Tensor& self, int rank, int first_not_empty) {
  bool fits = self.dim() == rank + 1 || self.dim() == rank + 2;
  for (int64_t d = self.dim() - rank - 1 + first_not_empty; fits && d < self.dim(); d++) fits = self.size(d) > 0;
  CRESSET_CHECK_AS(ShapeError, fits, op, ": Expected ", rank + 1, "D or ", rank + 2,
                   "D (batch mode) tensor with optional 0 dim batch size for input, but got: ", text_of(self.sizes()));
}

Dims sizes_with(const Tensor& self, int rank, IntArrayRef positions) {
  Dims sizes(self.sizes());
  const int64_t first = sizes.rank() - rank;
  for (int64_t d = first; d < sizes.rank(); d++) sizes[d] = positions[static_cast<size_t>(d - first)];
  return sizes;
}

Dims window_sizes(const char* op, const Tensor& self, const Window& window, bool ceil_mode) {
  check_rank(op, self, window.rank, 0);
  Dims out;
  bool fits = true;
  for (int d = 0; d < window.rank; d++) {
    const Wide in = self.size(d - window.rank), pad = window.padding_[d], stride = window.stride_[d];
    const Wide room = in + 2 * pad - static_cast<Wide>(window.dilation_[d]) * (window.kernel_[d] - 1) - 1;
    Wide steps = room + (ceil_mode ? stride - 1 : 0);
    steps = steps >= 0 ? steps / stride : -1;
    // A window that would begin in the padding behind is left out.
    if (ceil_mode && steps * stride >= in + pad) steps--;
    out.push_back(checked_size(op, steps + 1));
    fits = fits && steps >= 0;
  }
  CRESSET_CHECK_AS(ShapeError, fits, op, ": Given input size: ", text_of(self.sizes()),
                   ". Calculated output size: ", text_of(out), ". Output size is too small");
  return sizes_with(self, window.rank, out);
}

void check_poolable(const char* op, const Tensor& self) {
  CRESSET_CHECK_AS(TypeError, !self.is_complex() && self.dtype() != kBool, op, ": not implemented for '",
                   toString(self.dtype()), "'");
}

// Bodies are always contiguous, as PyTorch 1.13's.
Tensor empty_in(MemoryFormat format, IntArrayRef sizes, DType dtype, Device device) {
  if (format != MemoryFormat::ChannelsLast) return empty_contiguous(sizes, dtype, device);
  return empty_strided(sizes, channels_last_strides(sizes), dtype, device);
}

Tensor result_like(const char* op, const Into& into, const Tensor& like, IntArrayRef sizes, DType dtype) {
  if (!into.fresh()) return result(op, into, sizes, dtype, like.device(), {&like});
  return empty_in(like.suggest_memory_format(), sizes, dtype, like.device());
}

std::tuple<Tensor, Tensor> picked(const char* node, const Into& into, const Tensor& self, const Tensor& values,
                                  const Tensor& indices, int rank) {
  differentiable_outputs(node, into, {&values, &indices}, inputs(self), saved(indices),
                         [sizes = KeptDims(self.sizes()), format = self.suggest_memory_format(), rank](
                             OutputGrads g, Wants, const Tensor& indices) {
                           if (!g[0].defined()) return grads(Tensor());
                           return grads(pool_spread(sizes, format, g[0], indices, rank));
                         });
  return {values, indices};
}

}  // namespace pool

using namespace pool;

Tensor pool_pick(const Tensor& x, const Tensor& indices, int64_t rank) {
  Tensor y = empty_in(indices.suggest_memory_format(), indices.sizes(), x.dtype(), x.device());
  pool_pick_kernel(y, x, indices, rank);
  return differentiable("PoolPickBackward0", y, inputs(x), saved(indices),
                        [sizes = KeptDims(x.sizes()), format = x.suggest_memory_format(), rank](const Tensor& g, Wants,
                                                                                                const Tensor& indices) {
                          return grads(pool_spread(sizes, format, g, indices, rank));
                        });
}

Tensor pool_spread(IntArrayRef sizes, MemoryFormat format, const Tensor& g, const Tensor& indices, int64_t rank) {
  Tensor dx = empty_in(format, sizes, g.dtype(), g.device());
  pool_spread_kernel(dx, g, indices, rank);
  return differentiable(
      "PoolSpreadBackward0", dx, inputs(g), saved(indices),
      [rank](const Tensor& h, Wants, const Tensor& indices) { return grads(pool_pick(h, indices, rank)); });
}

// ---- max_pool
static std::tuple<Tensor, Tensor> max_pool(const char* op, int rank, const Into& values_into, const Into& indices_into,
                                           bool indices_wanted, const Tensor& self, IntArrayRef kernel_size,
                                           IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                           bool ceil_mode) {
  constexpr const char* nodes[] = {"", "MaxPool1DWithIndicesBackward0", "MaxPool2DWithIndicesBackward0",
                                   "MaxPool3DWithIndicesBackward0"};
  check_poolable(op, self);
  Window window = window_of(op, rank, kernel_size, stride, padding, dilation);
  Dims sizes = window_sizes(op, self, window, ceil_mode);
  Tensor values = result_like(op, values_into, self, sizes, self.dtype()), indices;
  if (indices_wanted || any_requires_grad(inputs(self))) indices = result_like(op, indices_into, self, sizes, kLong);
  max_pool_kernel(values, indices, self, window.kernel(), window.stride(), window.padding(), window.dilation());
  if (!indices.defined()) return {values, indices};
  return picked(nodes[rank], values_into, self, values, indices, rank);
}

#define CRESSET_MAX_POOL(name, rank)                                                                                 \
  static Tensor name##_into(const Into& into, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,       \
                            IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {                             \
    return std::get<0>(                                                                                              \
        max_pool(#name, rank, into, into, false, self, kernel_size, stride, padding, dilation, ceil_mode));          \
  }                                                                                                                  \
  CRESSET_POOL_PLAIN(name,                                                                                           \
                     (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,          \
                      IntArrayRef dilation, bool ceil_mode),                                                         \
                     (self, kernel_size, stride, padding, dilation, ceil_mode),                                      \
                     "self, kernel_size, stride={}, padding=0, dilation=1, ceil_mode=false",                         \
                     "The maximum of each window.")                                                                  \
  static std::tuple<Tensor, Tensor> name##_with_indices_into(                                                        \
      const Into& into, const Into& indices_into, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,   \
      IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {                                                   \
    return max_pool(#name, rank, into, indices_into, true, self, kernel_size, stride, padding, dilation, ceil_mode); \
  }                                                                                                                  \
  CRESSET_POOL_FUNCTION(name##_with_indices,                                                                         \
                        (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,       \
                         IntArrayRef dilation, bool ceil_mode),                                                      \
                        (self, kernel_size, stride, padding, dilation, ceil_mode),                                   \
                        "self, kernel_size, stride={}, padding=0, dilation=1, ceil_mode=false",                      \
                        "The maximum of each window and its index in the plane.")
#define CRESSET_MAX_POOL_OUT(name)                                                                        \
  CRESSET_POOL_OUT(name, out,                                                                             \
                   (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, \
                    IntArrayRef dilation, bool ceil_mode),                                                \
                   (self, kernel_size, stride, padding, dilation, ceil_mode),                             \
                   "self, kernel_size, stride={}, padding=0, dilation=1, ceil_mode=false",                \
                   "The maximum of each window and its index in the plane.")
CRESSET_MAX_POOL(max_pool1d, 1)
CRESSET_MAX_POOL(max_pool2d, 2)
CRESSET_MAX_POOL(max_pool3d, 3)
CRESSET_MAX_POOL_OUT(max_pool2d_with_indices)
CRESSET_MAX_POOL_OUT(max_pool3d_with_indices)

// ---- avg_pool
namespace {

struct Mean {
  Window window;
  bool count_include_pad;
  int64_t divisor;
};
constexpr const char* avg_nodes[] = {"", "AvgPool1DBackward0", "AvgPool2DBackward0", "AvgPool3DBackward0"};

Tensor avg_backward(IntArrayRef sizes, MemoryFormat format, const Tensor& g, const Mean& mean);

Tensor avg_forward(Tensor y, const Into& into, const Tensor& x, const Mean& mean) {
  const Window& window = mean.window;
  avg_pool_kernel(y, x, window.kernel(), window.stride(), window.padding(), mean.count_include_pad, mean.divisor);
  return differentiable(avg_nodes[window.rank], into, y, inputs(x), saved(),
                        [mean, sizes = KeptDims(x.sizes()), format = x.suggest_memory_format()](
                            const Tensor& g, Wants) { return grads(avg_backward(sizes, format, g, mean)); });
}

Tensor avg_backward(IntArrayRef sizes, MemoryFormat format, const Tensor& g, const Mean& mean) {
  Tensor dx = empty_in(format, sizes, g.dtype(), g.device());
  const Window& window = mean.window;
  avg_pool_backward_kernel(dx, g, window.kernel(), window.stride(), window.padding(), mean.count_include_pad,
                           mean.divisor);
  return differentiable("AvgPoolBackwardBackward0", dx, inputs(g), saved(),
                        [mean, to = KeptDims(g.sizes())](const Tensor& h, Wants) {
                          Tensor y = empty_in(h.suggest_memory_format(), to, h.dtype(), h.device());
                          return grads(avg_forward(y, Into{}, h, mean));
                        });
}

Tensor avg_pool(const char* op, int rank, const Into& into, const Tensor& self, IntArrayRef kernel_size,
                IntArrayRef stride, IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                std::optional<int64_t> divisor_override) {
  CRESSET_CHECK_AS(TypeError, is_floating_point(self.dtype()) || self.dtype() == kLong, op, ": not implemented for '",
                   toString(self.dtype()), "'");
  CRESSET_CHECK_AS(ValueError, !divisor_override || *divisor_override != 0, op, ": divisor must be not zero");
  Mean mean{window_of(op, rank, kernel_size, stride, padding, 1), count_include_pad, divisor_override.value_or(0)};
  Tensor y = result_like(op, into, self, window_sizes(op, self, mean.window, ceil_mode), self.dtype());
  return avg_forward(y, into, self, mean);
}

}  // namespace

static Tensor avg_pool1d_into(const Into& into, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                              IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
  return avg_pool("avg_pool1d", 1, into, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                  std::nullopt);
}
CRESSET_POOL_PLAIN(avg_pool1d,
                   (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                    bool ceil_mode, bool count_include_pad),
                   (self, kernel_size, stride, padding, ceil_mode, count_include_pad),
                   "self, kernel_size, stride={}, padding=0, ceil_mode=false, count_include_pad=true",
                   "The mean of each window.")

#define CRESSET_AVG_POOL(name, rank)                                                                           \
  static Tensor name##_into(const Into& into, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, \
                            IntArrayRef padding, bool ceil_mode, bool count_include_pad,                       \
                            std::optional<int64_t> divisor_override) {                                         \
    return avg_pool(#name, rank, into, self, kernel_size, stride, padding, ceil_mode, count_include_pad,       \
                    divisor_override);                                                                         \
  }                                                                                                            \
  CRESSET_POOL_PLAIN(name,                                                                                     \
                     (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,    \
                      bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override),        \
                     (self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),     \
                     "self, kernel_size, stride={}, padding=0, ceil_mode=false, count_include_pad=true, "      \
                     "divisor_override=std::nullopt",                                                          \
                     "The mean of each window, or its sum by a divisor of one's own.")                         \
  CRESSET_OUT_FORM(name, ,                                                                                     \
                   (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,      \
                    bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override),          \
                   (self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),       \
                   "self, kernel_size, stride={}, padding=0, ceil_mode=false, count_include_pad=true, "        \
                   "divisor_override=std::nullopt",                                                            \
                   "The mean of each window, or its sum by a divisor of one's own.")
CRESSET_AVG_POOL(avg_pool2d, 2)
CRESSET_AVG_POOL(avg_pool3d, 3)

}  // namespace cresset
