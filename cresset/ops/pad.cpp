// Padding. The modes that copy the tensor's own values share one kernel, which only differs in where an element outside
// comes from.
#include "cresset/ops/pad.h"

#include <algorithm>

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/checked.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"

namespace cresset {
namespace {

Dims padded_sizes(const char* op, const Tensor& self, IntArrayRef pad) {
  Dims sizes(self.sizes());
  CRESSET_CHECK_AS(ShapeError, pad.size() % 2 == 0, op, ": Length of pad must be even but instead it equals ",
                   pad.size());
  CRESSET_CHECK_AS(ShapeError, static_cast<int64_t>(pad.size()) <= 2 * self.dim(), op,
                   ": Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
                   pad.size(), " while the input has ", self.dim(), " dimensions (shape ", text_of(self.sizes()), ")");
  for (size_t i = 0; i < pad.size() / 2; i++) {
    int d = sizes.rank() - 1 - static_cast<int>(i);
    sizes[d] = checked_sum(op, {sizes[d], pad[2 * i], pad[2 * i + 1]});
    CRESSET_CHECK_AS(ShapeError, sizes[d] >= 0, op, ": The input size ", self.size(d), ", plus negative padding ",
                     pad[2 * i], " and ", pad[2 * i + 1],
                     " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input");
  }
  return sizes;
}

// Differentiable on its own: its gradient pads the gradient's gradient.
Tensor pad_with(const char* op, const char* node, const Into& into, const Tensor& self, IntArrayRef pad, PadMode mode);
Tensor pad_backward(const Tensor& g, IntArrayRef sizes, IntArrayRef pad, PadMode mode) {
  Tensor gx = empty_contiguous(sizes, g.dtype(), g.device());
  if (gx.numel() > 0) pad_backward_kernel(gx, g, pad, static_cast<int64_t>(mode));
  return differentiable("PadBackwardBackward0", gx, inputs(g), saved(),
                        [pad = KeptDims(pad), mode](const Tensor& gg, Wants) {
                          return grads(pad_with("pad", "PadBackward0", Into{}, gg, pad, mode));
                        });
}
Tensor pad_with(const char* op, const char* node, const Into& into, const Tensor& self, IntArrayRef pad, PadMode mode) {
  Dims sizes = padded_sizes(op, self, pad);
  Tensor y = result(op, into, sizes, self.dtype(), self.device(), {&self});
  if (y.numel() > 0) pad_kernel(y, self, pad, static_cast<int64_t>(mode));
  return differentiable(node, into, y, inputs(self), saved(),
                        [from = KeptDims(self.sizes()), pad = KeptDims(pad), mode](const Tensor& g, Wants) {
                          return grads(pad_backward(g, from, pad, mode));
                        });
}

// What PyTorch asks of n-dimensional padding: a batch and channels or channels alone in front.
Tensor checked_pad(const char* op, const char* node, const Into& into, const Tensor& self, IntArrayRef pad, int dims,
                   PadMode mode) {
  CRESSET_CHECK_AS(ShapeError, static_cast<int>(pad.size()) == 2 * dims, op, ": padding size is expected to be ",
                   2 * dims, ", but got ", pad.size());
  CRESSET_CHECK_AS(ShapeError, self.dim() == dims + 1 || self.dim() == dims + 2, op, ": Expected ", dims + 1, "D or ",
                   dims + 2,
                   "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input,"
                   " but got shape ",
                   text_of(self.sizes()));
  for (int64_t i = self.dim() == dims + 2 ? 1 : 0; i < self.dim(); i++)
    CRESSET_CHECK_AS(ShapeError, self.size(i) > 0, op, ": Expected ", dims + 1, "D or ", dims + 2,
                     "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
                     "got shape ",
                     text_of(self.sizes()));
  for (int64_t i = 0; i < dims; i++) {
    int64_t n = self.size(-1 - i), before = pad[static_cast<size_t>(2 * i)],
            after = pad[static_cast<size_t>(2 * i) + 1];
    CRESSET_CHECK_AS(ShapeError, mode != PadMode::reflect || (before < n && after < n), op,
                     ": Padding size should be less than the corresponding input dimension, but got: padding (", before,
                     ", ", after, ") at dimension ", self.dim() - 1 - i, " of input ", text_of(self.sizes()));
    const int64_t padded = checked_sum(op, {n, before, after});
    CRESSET_CHECK_AS(ShapeError, padded >= 1, op, ": input (size ", n, " at dimension ", self.dim() - 1 - i,
                     ") is too small for padding (", before, ", ", after, "). Calculated output size: ", padded);
  }
  return pad_with(op, node, into, self, pad, mode);
}

}  // namespace

CRESSET_OP(constant_pad_nd, , Tensor, (const Tensor& self, IntArrayRef pad, const Scalar& value), "self, pad, value=0",
           Gradient::formula,
           "self with value around it: pad has two numbers for each of the last dimensions, the last one's first; "
           "negative ones cut off.")
Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) try {
  CRESSET_INTERCEPT(constant_pad_nd, , Tensor, self, pad, value);
  Dims sizes = padded_sizes("constant_pad_nd", self, pad);
  MemoryFormat format = self.suggest_memory_format();
  bool grows = false;
  for (int64_t n : pad) grows = grows || n > 0;
  // What is only cut keeps its layout, as a clone does.
  Tensor y = !grows ? Tensor()
             : format == MemoryFormat::Contiguous
                 ? empty_contiguous(sizes, self.dtype(), self.device())
                 : empty_strided(sizes, channels_last_strides(sizes), self.dtype(), self.device());
  Dims inner(self.sizes());
  int64_t from = self.storage_offset(), to = 0;
  for (size_t i = 0; i < pad.size() / 2; i++) {
    int d = inner.rank() - 1 - static_cast<int>(i);
    int64_t before = pad[2 * i], after = pad[2 * i + 1];
    from += (before < -inner[d] ? inner[d] : std::max<int64_t>(-before, 0)) * self.stride(d);
    if (grows) to += std::max<int64_t>(before, 0) * y.stride(d);
    inner[d] = static_cast<int64_t>(
        std::max<Wide>(0, Wide{inner[d]} + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0)));
  }
  Tensor kept = alias(self, inner, self.strides(), from);
  if (grows) {
    fill_kernel(y, value);
    if (inner.product() > 0 && y.numel() > 0) copy_kernel(alias(y, inner, y.strides(), to), kept);
  } else {
    y = kept.clone();
  }
  Dims back;
  for (int64_t n : pad) back.push_back(checked_size("constant_pad_nd", -Wide{n}));
  return differentiable("ConstantPadNdBackward0", y, inputs(self), saved(),
                        [back = KeptDims(back)](const Tensor& g, Wants) { return grads(constant_pad_nd(g, back)); });
}
CRESSET_ERRORS_OF(constant_pad_nd, , self, pad, value)

#define CRESSET_PAD(name, node, dims, mode, doc)                                         \
  static Tensor name##_into(const Into& into, const Tensor& self, IntArrayRef padding) { \
    return checked_pad(#name, node, into, self, padding, dims, mode);                    \
  }                                                                                      \
  CRESSET_FORMS_OUT(name, , (const Tensor& self, IntArrayRef padding), (self, padding), "self, padding", doc)
CRESSET_PAD(reflection_pad1d, "ReflectionPad1DBackward0", 1, PadMode::reflect,
            "The last dimension extended by its own reflection.")
CRESSET_PAD(reflection_pad2d, "ReflectionPad2DBackward0", 2, PadMode::reflect,
            "The last two dimensions extended by their own reflection.")
CRESSET_PAD(reflection_pad3d, "ReflectionPad3DBackward0", 3, PadMode::reflect,
            "The last three dimensions extended by their own reflection.")
CRESSET_PAD(replication_pad1d, "ReplicationPad1DBackward0", 1, PadMode::replicate,
            "The last dimension extended by its edges.")
CRESSET_PAD(replication_pad2d, "ReplicationPad2DBackward0", 2, PadMode::replicate,
            "The last two dimensions extended by their edges.")
CRESSET_PAD(replication_pad3d, "ReplicationPad3DBackward0", 3, PadMode::replicate,
            "The last three dimensions extended by their edges.")
#undef CRESSET_PAD

static Tensor circular_pad(const Tensor& self, IntArrayRef pad) {
  int dims = static_cast<int>(pad.size()) / 2;
  bool crops = false, extends = false;
  Dims less, more;
  for (int64_t n : pad) {
    less.push_back(std::min<int64_t>(n, 0));
    more.push_back(std::max<int64_t>(n, 0));
    crops = crops || n < 0;
    extends = extends || n > 0;
  }
  // What is cut off on one side does not come back on the other.
  if (crops && extends) return circular_pad(circular_pad(self, less), more);
  CRESSET_CHECK_AS(ShapeError, self.dim() == dims + 2, "pad: circular padding of ", dims,
                   " dimensions takes an input of ", dims + 2, " dimensions (batch mode), found shape ",
                   text_of(self.sizes()));
  for (int64_t i = 0; i < dims; i++) {
    int64_t n = self.size(-1 - i), before = pad[static_cast<size_t>(2 * i)],
            after = pad[static_cast<size_t>(2 * i) + 1];
    CRESSET_CHECK_AS(ShapeError, before <= n && after <= n,
                     "pad: Padding value causes wrapping around more than once: (", before, ", ", after,
                     ") for dimension ", self.dim() - 1 - i, " of shape ", text_of(self.sizes()));
    CRESSET_CHECK_AS(ShapeError, checked_sum("pad", {n, before, after}) >= 0,
                     "pad: Negative padding value is resulting in an empty dimension: (", before, ", ", after,
                     ") for dimension ", self.dim() - 1 - i, " of shape ", text_of(self.sizes()));
  }
  return pad_with("pad", "PadCircularBackward0", Into{}, self, pad, PadMode::circular);
}

CRESSET_OP(pad, , Tensor, (const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value),
           "self, pad, mode=\"constant\", value=std::nullopt", Gradient::composed,
           "self extended along its last dimensions: by a constant, or by its own values (reflect, replicate, "
           "circular).")
Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value) try {
  CRESSET_INTERCEPT(pad, , Tensor, self, pad, mode, value);
  if (mode == "constant") {
    double number = value.value_or(0);
    return constant_pad_nd(self, pad, number);
  }
  CRESSET_CHECK_AS(ValueError, !value || *value == 0, "pad: Padding mode \"", mode,
                   "\" doesn't take in value argument, found ", value.value_or(0));
  const bool reflects = mode == "reflect";
  CRESSET_CHECK_AS(ValueError, reflects || mode == "replicate" || mode == "circular", "pad: Unrecognised padding mode ",
                   mode, " (expected constant, reflect, replicate or circular)");
  const size_t dims = pad.size() / 2;
  const bool fits = pad.size() % 2 == 0 && dims >= 1 && dims <= 3 &&
                    (self.dim() == static_cast<int64_t>(dims) + 1 || self.dim() == static_cast<int64_t>(dims) + 2);
  CRESSET_CHECK_AS(NotImplementedError, fits,
                   "pad: Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: the last one, "
                   "two or three dimensions with one or two in front; found pad ",
                   text_of(pad), " for shape ", text_of(self.sizes()));
  if (mode == "circular") return circular_pad(self, pad);
  constexpr Tensor (*functions[2][3])(const Tensor&, IntArrayRef) = {
      {replication_pad1d, replication_pad2d, replication_pad3d},
      {reflection_pad1d, reflection_pad2d, reflection_pad3d}};
  return functions[reflects][dims - 1](self, pad);
}
CRESSET_ERRORS_OF(pad, , self, pad, mode, value)

}  // namespace cresset
