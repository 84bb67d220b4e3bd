// Copies. A copy across devices goes through a contiguous tensor of one dtype; conversion and layout happen on either
// side.
#include "cresset/ops/copy.h"

#include "cresset/ops/forms.h"

namespace cresset {
namespace {

// The strides of a copy: those of a dense tensor are kept, others follow their order.
Tensor clone_shaped(const Tensor& self, MemoryFormat format, DType dtype, Device device) {
  TensorOptions options = TensorOptions(dtype).device(device);
  if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d)
    return empty_strided(self.sizes(), channels_last_strides(self.sizes()), options);
  if (format == MemoryFormat::Contiguous || self.is_contiguous()) return empty_contiguous(self.sizes(), dtype, device);
  if (self.is_non_overlapping_and_dense()) return empty_strided(self.sizes(), self.strides(), options);
  Tensor shaped = pointwise_result("clone", Into{}, {&self}, dtype, dtype);
  return shaped.device() == device ? shaped : empty_strided(shaped.sizes(), shaped.strides(), options);
}

// Shapes are the same or broadcast; overlap has been refused.
void copy_values(const Tensor& to, const Tensor& from) {
  if (CRESSET_LIKELY(to.device() == from.device())) {
    copy_kernel(to, from);
    return;
  }
  if (to.is_meta()) return;
  CRESSET_CHECK_AS(DeviceError, !from.is_meta(), "copy_: cannot copy out of meta tensor; no data!");
  if (to.is_cpu()) {  // download densely, then lay out
    Tensor dense = from;
    if (!from.is_contiguous()) {
      dense = empty_contiguous(from.sizes(), from.dtype(), from.device());
      copy_kernel(dense, from);
    }
    if (to.is_contiguous() && to.dtype() == from.dtype() && to.sizes() == from.sizes()) {
      download_kernel(dense, to);
      return;
    }
    Tensor here = empty_contiguous(from.sizes(), from.dtype(), kCPU);
    download_kernel(dense, here);
    copy_kernel(to, here);
    return;
  }
  if (!from.is_cpu()) {  // between two devices, by way of the CPU
    Tensor here = empty_contiguous(from.sizes(), from.dtype(), kCPU);
    copy_values(here, from);
    copy_values(to, here);
    return;
  }
  Tensor dense = from;
  if (!from.is_contiguous() || from.dtype() != to.dtype()) {
    dense = empty_contiguous(from.sizes(), to.dtype(), kCPU);
    copy_kernel(dense, from);
  }
  if (to.is_contiguous() && to.sizes() == from.sizes()) {
    upload_kernel(to, dense);
    return;
  }
  Tensor there = empty_contiguous(from.sizes(), to.dtype(), to.device());
  upload_kernel(there, dense);
  copy_kernel(to, there);
}

}  // namespace

CRESSET_OP(clone, , Tensor, (const Tensor& self, std::optional<MemoryFormat> memory_format),
           "self, memory_format=std::nullopt", Gradient::formula,
           "A copy with memory of its own; gradients flow back to self.")
Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) try {
  CRESSET_INTERCEPT(clone, , Tensor, self, memory_format);
  Tensor y = clone_shaped(self, memory_format.value_or(MemoryFormat::Preserve), self.dtype(), self.device());
  copy_kernel(y, self);
  return differentiable("CloneBackward0", y, inputs(self), saved(), [](const Tensor& g, Wants) { return grads(g); });
}
CRESSET_ERRORS_OF(clone, , self, memory_format)

// self's old values do not matter: its gradient is zero, source's is what was broadcast, summed.
static Tensor copy__into(const Into& into, const Tensor& self, const Tensor& source) {
  check_defined("copy_", "source", source);
  bool overlapping_source = self.is_same(source);
  if (self.dtype() == source.dtype()) {
    pointwise_result("copy_", into, {&self, &source}, self.dtype(), self.dtype());
  } else {  // copy_ converts between any two dtypes
    Tensor shape_only = empty_contiguous(source.sizes(), self.dtype(), kMeta);
    Dims sizes = broadcast_shapes("copy_", self.sizes(), source.sizes());
    CRESSET_CHECK_AS(ShapeError, self.sizes() == IntArrayRef(sizes), "copy_: output with shape ", text_of(self.sizes()),
                     " doesn't match the broadcast shape ", text_of(sizes));
    result("copy_", into, self.sizes(), self.dtype(), self.device(), {&source});
  }
  if (overlapping_source) return self;
  copy_values(self, source);
  return differentiable("CopyBackwards", into, self, inputs(self, source), saved(),
                        [a = Broadcast(source, self), from = source.device()](const Tensor& g, Wants wants) {
                          return grads(wants(0) ? g.new_zeros(g.sizes()) : Tensor(),
                                       wants(1) ? a.reduce(g).to(from) : Tensor());
                        });
}

CRESSET_OP(copy_, , Tensor&, (const Tensor& self, const Tensor& source, bool non_blocking),
           "self, source, non_blocking=false", Gradient::formula, "Writes source, broadcast and converted, into self.")
Tensor& copy_(const Tensor& self, const Tensor& source, bool non_blocking) try {
  if (CRESSET_LIKELY(thread_state.modes_above == 0) || !intercepted<void>(copy__op, self, source, non_blocking))
    copy__into(in_place(self), self, source);
  return const_cast<Tensor&>(self);
}
CRESSET_ERRORS_OF(copy_, , self, source, non_blocking)

CRESSET_OP(fill_, , Tensor&, (const Tensor& self, const Scalar& value), "self, value", Gradient::formula,
           "Sets every element to value.")
Tensor& fill_(const Tensor& self, const Scalar& value) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(fill__op, self, value))
    return const_cast<Tensor&>(self);
  Into into = in_place(self);
  check_defined("fill_", "self", self);
  autograd::check_inplace("fill_", self, false);  // nothing more: expanded memory may be filled
  Tensor y = self;
  fill_kernel(y, value);
  differentiable("FillBackward0", into, y, inputs(self), saved(),
                 [](const Tensor& g, Wants) { return grads(g.new_zeros(g.sizes())); });
  return const_cast<Tensor&>(self);
}
CRESSET_ERRORS_OF(fill_, , self, value)

CRESSET_OP(zero_, , Tensor&, (const Tensor& self), "self", Gradient::composed, "Sets every element to zero.")
Tensor& zero_(const Tensor& self) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(zero__op, self))
    return const_cast<Tensor&>(self);
  return fill_(self, 0);
}
CRESSET_ERRORS_OF(zero_, , self)

CRESSET_OP(to, , Tensor, (const Tensor& self, const TensorOptions& options, bool non_blocking, bool copy),
           "self, options, non_blocking=false, copy=false", Gradient::formula,
           "self with another dtype, device or memory format; self itself if nothing changes and copy is false.")
Tensor to(const Tensor& self, const TensorOptions& options, bool non_blocking, bool copy) try {
  CRESSET_INTERCEPT(to, , Tensor, self, options, non_blocking, copy);
  CRESSET_CHECK_AS(ValueError, !options.requires_grad(),
                   "to: Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set as "
                   "true. This isn't implemented yet. (expected options without it, and requires_grad_() afterwards)");
  CRESSET_CHECK_AS(NotImplementedError, options.layout() == kStrided,
                   "to: to(options) doesn't support converting to a different layout, but got self.layout being "
                   "Strided and options.layout set as Sparse");
  DType dtype = options.dtype_opt().value_or(self.dtype());
  Device device = options.device_opt().value_or(self.device());
  MemoryFormat format = options.memory_format_opt().value_or(MemoryFormat::Preserve);
  bool same_layout = format == MemoryFormat::Preserve || self.is_contiguous(format);
  if (!copy && dtype == self.dtype() && device == self.device() && same_layout) return self;
  Tensor y = clone_shaped(self, format, dtype, device);
  copy_values(y, self);
  return differentiable("ToCopyBackward0", y, inputs(self), saved(),
                        [from = self.dtype(), on = self.device()](const Tensor& g, Wants) {
                          return grads(to(g, TensorOptions(from).device(on)));
                        });
}
CRESSET_ERRORS_OF(to, , self, options, non_blocking, copy)

CRESSET_OP(contiguous, , Tensor, (const Tensor& self, MemoryFormat memory_format),
           "self, memory_format=MemoryFormat::Contiguous", Gradient::composed,
           "self if its memory is laid out so, otherwise a copy that is.")
Tensor contiguous(const Tensor& self, MemoryFormat memory_format) try {
  CRESSET_INTERCEPT(contiguous, , Tensor, self, memory_format);
  if (self.is_contiguous(memory_format)) return self;
  return clone(self, memory_format);
}
CRESSET_ERRORS_OF(contiguous, , self, memory_format)

// ---- the forms that Tensor declares itself
Tensor& Tensor::operator=(const Tensor& values) && { return cresset::copy_(*this, values); }
Tensor& Tensor::operator=(Tensor&& values) && { return cresset::copy_(*this, values); }
Tensor& Tensor::fill_(const Tensor& value) const {
  check_defined("fill_", "value", value);
  CRESSET_CHECK_AS(ShapeError, value.dim() == 0, "fill_: only supports 0-dimension value tensor but got tensor with ",
                   value.dim(), " dimensions (shape ", text_of(value.sizes()), ")");
  if (!(GradMode::is_enabled() && value.requires_grad())) return fill_(value.item());
  return copy_(value);
}
Tensor& Tensor::operator=(const Scalar& value) && { return cresset::fill_(*this, value); }
Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy) const {
  return cresset::to(*this, options, non_blocking, copy);
}
Tensor Tensor::to(DType dtype, bool non_blocking, bool copy) const {
  return cresset::to(*this, TensorOptions(dtype), non_blocking, copy);
}
Tensor Tensor::to(Device device, bool non_blocking, bool copy) const {
  return cresset::to(*this, TensorOptions(device), non_blocking, copy);
}
Tensor Tensor::to(Device device, DType dtype, bool non_blocking, bool copy) const {
  return cresset::to(*this, TensorOptions(dtype).device(device), non_blocking, copy);
}
Tensor Tensor::contiguous(MemoryFormat format) const { return cresset::contiguous(*this, format); }

}  // namespace cresset
