// Views named after other tensors or dimensions, windows, and the forms that change a tensor's own shape in place.
#include "cresset/ops/rearrange.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/autograd/views.h"
#include "cresset/core/checked.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"

namespace cresset {

CRESSET_OP(unflatten, , Tensor, (const Tensor& self, int64_t dim, IntArrayRef sizes), "self, dim, sizes",
           Gradient::composed, "A view with dim cut into dimensions of the given sizes; -1 stands for what is left.")
Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) try {
  CRESSET_INTERCEPT(unflatten, , Tensor, self, dim, sizes);
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0, "unflatten: cannot be applied to a 0-dim tensor");
  int d = wrap_dim("unflatten", dim, self);
  CRESSET_CHECK_AS(ShapeError, !sizes.empty(), "unflatten: sizes must be non-empty");
  int64_t known = 1, open = 0;
  for (int64_t n : sizes) {
    if (n == -1)
      open++;
    else
      known = checked_product("unflatten", {known, n});
  }
  CRESSET_CHECK_AS(ShapeError, open <= 1, "unflatten: only one dimension can be inferred, found ", text_of(sizes));
  CRESSET_CHECK_AS(ShapeError, open ? known > 0 && self.size(d) % known == 0 : known == self.size(d),
                   "unflatten: Provided sizes ", text_of(sizes), " don't multiply up to the size of dim ", d, " (",
                   self.size(d), ") in the input tensor of shape ", text_of(self.sizes()));
  Dims shape(self.sizes().slice(0, static_cast<size_t>(d)));
  for (int64_t n : sizes) shape.push_back(n == -1 ? self.size(d) / known : n);
  for (int64_t i = d + 1; i < self.dim(); i++) shape.push_back(self.size(i));
  return view(self, shape);
}
CRESSET_ERRORS_OF(unflatten, , self, dim, sizes)

CRESSET_OP(movedim, , Tensor, (const Tensor& self, IntArrayRef source, IntArrayRef destination),
           "self, source, destination", Gradient::composed,
           "A view with the dimensions of source at the places of destination; the others keep their order.")
Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) try {
  CRESSET_INTERCEPT(movedim, , Tensor, self, source, destination);
  CRESSET_CHECK_AS(ShapeError, source.size() == destination.size(),
                   "movedim: Invalid source or destination dims: source (", text_of(source),
                   " dims) should contain the same number of dims as destination (", text_of(destination), " dims)");
  int rank = static_cast<int>(self.dim());
  if (rank == 0) {
    for (size_t i = 0; i < source.size(); i++) {
      wrap_dim("movedim", source[i], self);
      wrap_dim("movedim", destination[i], self);
    }
    return transpose(self, 0, 0);
  }
  Dims order = Dims::filled(rank, -1);
  uint64_t moved = 0;
  for (size_t i = 0; i < source.size(); i++) {
    int from = wrap_dim("movedim", source[i], self), to = wrap_dim("movedim", destination[i], self);
    CRESSET_CHECK_AS(ShapeError, !(moved >> from & 1), "movedim: repeated dim in `source` (", text_of(source), ")");
    CRESSET_CHECK_AS(ShapeError, order[to] < 0, "movedim: repeated dim in `destination` (", text_of(destination), ")");
    order[to] = from;
    moved |= uint64_t{1} << from;
  }
  for (int to = 0, from = 0; to < rank; to++) {
    if (order[to] >= 0) continue;
    while (moved >> from & 1) from++;
    order[to] = from++;
  }
  return permute(self, order);
}
CRESSET_ERRORS_OF(movedim, , self, source, destination)
CRESSET_OP(movedim, int, Tensor, (const Tensor& self, int64_t source, int64_t destination), "self, source, destination",
           Gradient::composed, "A view with dimension source at the place of destination.")
Tensor movedim(const Tensor& self, int64_t source, int64_t destination) try {
  CRESSET_INTERCEPT(movedim, int, Tensor, self, source, destination);
  return movedim(self, IntArrayRef(source), IntArrayRef(destination));
}
CRESSET_ERRORS_OF(movedim, int, self, source, destination)

// ---- after other tensors
CRESSET_OP(expand_as, , Tensor, (const Tensor& self, const Tensor& other), "self, other", Gradient::composed,
           "expand to the shape of other.")
Tensor expand_as(const Tensor& self, const Tensor& other) try {
  CRESSET_INTERCEPT(expand_as, , Tensor, self, other);
  return expand(self, other.sizes());
}
CRESSET_ERRORS_OF(expand_as, , self, other)
CRESSET_OP(view_as, , Tensor, (const Tensor& self, const Tensor& other), "self, other", Gradient::composed,
           "view with the shape of other.")
Tensor view_as(const Tensor& self, const Tensor& other) try {
  CRESSET_INTERCEPT(view_as, , Tensor, self, other);
  return view(self, other.sizes());
}
CRESSET_ERRORS_OF(view_as, , self, other)
CRESSET_OP(reshape_as, , Tensor, (const Tensor& self, const Tensor& other), "self, other", Gradient::composed,
           "reshape to the shape of other.")
Tensor reshape_as(const Tensor& self, const Tensor& other) try {
  CRESSET_INTERCEPT(reshape_as, , Tensor, self, other);
  return reshape(self, other.sizes());
}
CRESSET_ERRORS_OF(reshape_as, , self, other)
CRESSET_OP(type_as, , Tensor, (const Tensor& self, const Tensor& other), "self, other", Gradient::composed,
           "self with the dtype and device of other.")
Tensor type_as(const Tensor& self, const Tensor& other) try {
  CRESSET_INTERCEPT(type_as, , Tensor, self, other);
  return to(self, TensorOptions(other.dtype()).device(other.device()));
}
CRESSET_ERRORS_OF(type_as, , self, other)

CRESSET_OP(broadcast_to, , Tensor, (const Tensor& self, IntArrayRef size), "self, size", Gradient::composed,
           "expand under numpy's name.")
Tensor broadcast_to(const Tensor& self, IntArrayRef size) try {
  CRESSET_INTERCEPT(broadcast_to, , Tensor, self, size);
  return expand(self, size);
}
CRESSET_ERRORS_OF(broadcast_to, , self, size)
CRESSET_OP(broadcast_tensors, , std::vector<Tensor>, (TensorList tensors), "tensors", Gradient::composed,
           "Views of all tensors with the shape that they broadcast to together.")
std::vector<Tensor> broadcast_tensors(TensorList tensors) try {
  CRESSET_INTERCEPT(broadcast_tensors, , std::vector<Tensor>, tensors);
  Dims sizes;
  for (const Tensor& tensor : tensors) sizes = broadcast_shapes("broadcast_tensors", sizes, tensor.sizes());
  std::vector<Tensor> wide;
  for (const Tensor& tensor : tensors) wide.push_back(expand(tensor, sizes));
  return wide;
}
CRESSET_ERRORS_OF(broadcast_tensors, , tensors)

CRESSET_OP(adjoint, , Tensor, (const Tensor& self), "self", Gradient::composed,
           "The conjugate transpose of the last two dimensions.")
Tensor adjoint(const Tensor& self) try {
  CRESSET_INTERCEPT(adjoint, , Tensor, self);
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 2 || self.dim() == 0,
                   "adjoint: tensor.adjoint() is only supported on matrices or batches of matrices. Got ", self.dim(),
                   "-D tensor (shape ", text_of(self.sizes()), ")");
  if (self.dim() == 0) return conj(transpose(self, 0, 0));
  return conj(transpose(self, -2, -1));
}
CRESSET_ERRORS_OF(adjoint, , self)

#define CRESSET_TRANSPOSE(name, holds, wanted, dim0, dim1, finish, doc)                                         \
  CRESSET_OP(name, , Tensor, (const Tensor& self), "self", Gradient::composed, doc)                             \
  Tensor name(const Tensor& self) try {                                                                         \
    CRESSET_INTERCEPT(name, , Tensor, self);                                                                    \
    CRESSET_CHECK_AS(ShapeError, self.dim() == 0 || (holds), #name ": found ", self.dim(), "-D tensor (shape ", \
                     text_of(self.sizes()), "); expected " wanted);                                             \
    return finish(self.dim() == 0 ? transpose(self, 0, 0) : transpose(self, dim0, dim1));                       \
  }                                                                                                             \
  CRESSET_ERRORS_OF(name, , self)
CRESSET_TRANSPOSE(mT, self.dim() >= 2, "a matrix or a batch of matrices", -2, -1, ,
                  "Matrices transposed: a view with the last two dimensions exchanged.")
CRESSET_TRANSPOSE(mH, self.dim() >= 2, "a matrix or a batch of matrices", -2, -1, conj,
                  "Matrices transposed and conjugated.")
CRESSET_TRANSPOSE(matrix_H, self.dim() == 2, "a matrix", 0, 1, conj, "A matrix transposed and conjugated.")
#undef CRESSET_TRANSPOSE

// ---- the same bits as another dtype
CRESSET_OP(view, dtype, Tensor, (const Tensor& self, DType dtype), "self, dtype", Gradient::none,
           "The same memory read as elements of another dtype; the last dimension grows or shrinks with their size.")
Tensor view(const Tensor& self, DType dtype) try {
  CRESSET_INTERCEPT(view, dtype, Tensor, self, dtype);
  const auto from = static_cast<int64_t>(self.itemsize()), to = static_cast<int64_t>(element_size(dtype));
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset();
  const int last = sizes.rank() - 1;
  if (from != to) {
    CRESSET_CHECK_AS(ShapeError, last >= 0, "view: self.dim() cannot be 0 to view ", toString(self.dtype()), " as ",
                     toString(dtype), " (different element sizes)");
    CRESSET_CHECK_AS(ShapeError, strides[last] == 1, "view: self.stride(-1) must be 1 to view ", toString(self.dtype()),
                     " as ", toString(dtype), " (different element sizes), but got ", strides[last]);
  }
  if (from > to) {
    const int64_t ratio = from / to;
    sizes[last] *= ratio;
    for (int i = 0; i < last; i++) strides[i] *= ratio;
    offset *= ratio;
  } else if (from < to) {
    const int64_t ratio = to / from;
    CRESSET_CHECK_AS(ShapeError, sizes[last] % ratio == 0, "view: self.size(-1) must be divisible by ", ratio,
                     " to view ", toString(self.dtype()), " as ", toString(dtype),
                     " (different element sizes), but got ", sizes[last]);
    CRESSET_CHECK_AS(ShapeError, offset % ratio == 0, "view: self.storage_offset() must be divisible by ", ratio,
                     " to view ", toString(self.dtype()), " as ", toString(dtype),
                     " (different element sizes), but got ", offset);
    for (int i = 0; i < last; i++) {
      CRESSET_CHECK_AS(ShapeError, strides[i] % ratio == 0, "view: self.stride(", i, ") must be divisible by ", ratio,
                       " to view ", toString(self.dtype()), " as ", toString(dtype),
                       " (different element sizes), but got ", strides[i]);
      strides[i] /= ratio;
    }
    sizes[last] /= ratio;
    offset /= ratio;
  }
  Tensor y = alias(self, sizes, strides, offset);
  y.impl()->dtype = dtype;
  return y;
}
CRESSET_ERRORS_OF(view, dtype, self, dtype)

// ---- windows
static Tensor unfold_backward(const Tensor& g, IntArrayRef sizes, int64_t dim, int64_t size, int64_t step) {
  Tensor gx = empty_contiguous(sizes, g.dtype(), g.device());
  if (gx.numel() > 0) unfold_backward_kernel(gx, g.detach(), dim, size, step);
  return differentiable("UnfoldBackwardBackward0", gx, inputs(g), saved(),
                        [dim, size, step](const Tensor& gg, Wants) { return grads(unfold(gg, dim, size, step)); });
}
CRESSET_OP(unfold, , Tensor, (const Tensor& self, int64_t dimension, int64_t size, int64_t step),
           "self, dimension, size, step", Gradient::formula,
           "A view of all windows of the given size along a dimension, step apart, as a new last dimension.")
Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) try {
  CRESSET_INTERCEPT(unfold, , Tensor, self, dimension, size, step);
  int d = wrap_dim("unfold", dimension, self);
  int64_t n = self.dim() ? self.size(d) : 1;
  CRESSET_CHECK_AS(ShapeError, size >= 0 && size <= n, "unfold: maximum size for tensor at dimension ", d, " is ", n,
                   " but size is ", size);
  CRESSET_CHECK_AS(ShapeError, step > 0, "unfold: step is ", step, " but must be > 0");
  Dims sizes(self.sizes()), strides(self.strides());
  sizes.push_back(size);
  strides.push_back(self.dim() ? strides[d] : 1);
  if (self.dim() > 0) {
    sizes[d] = (n - size) / step + 1;
    strides[d] *= step;
  }
  return differentiable_view("UnfoldBackward0", alias(self, sizes, strides, self.storage_offset()), self,
                             [from = KeptDims(self.sizes()), d, size, step](const Tensor& g, Wants) {
                               if (from.rank() == 0) return grads(size == 0 ? g.new_zeros({}) : reshape(g, from));
                               return grads(unfold_backward(g, from, d, size, step));
                             });
}
CRESSET_ERRORS_OF(unfold, , self, dimension, size, step)

CRESSET_OP(narrow_copy, , Tensor, (const Tensor& self, int64_t dim, int64_t start, int64_t length),
           "self, dim, start, length", Gradient::composed, "A copy of length elements along dim.")
Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) try {
  CRESSET_INTERCEPT(narrow_copy, , Tensor, self, dim, start, length);
  return clone(narrow(self, dim, start, length), MemoryFormat::Contiguous);
}
CRESSET_ERRORS_OF(narrow_copy, , self, dim, start, length)
CRESSET_COPIED_OUT(narrow_copy, , (const Tensor& self, int64_t dim, int64_t start, int64_t length),
                   (self, dim, start, length), (&self), "self, dim, start, length",
                   "A copy of length elements along dim.")

// ---- in place
// Gives self the geometry of `view`, a view of its values from before. A tensor of its own goes on from the node that
// made the view; a view of something else reads anew from its base.
template <class MakeView>
static Tensor& change_shape(const char* op, const Tensor& self, const MakeView& make) {
  check_defined(op, "self", self);
  TensorImpl* impl = self.impl();
  autograd::check_inplace(op, self, false);
  const bool of_base = impl->differentiable_view;
  Tensor changed = make(of_base ? alias(self) : self);
  if (!of_base && changed.impl()->node) {
    Ref<NodeBase> node = changed.impl()->node;
    impl->node = std::move(node);
    impl->output_nr = changed.impl()->output_nr;
  }
  impl->set_geometry(Dims(changed.sizes()), Dims(changed.strides()));
  impl->offset = changed.storage_offset();
  autograd::bump_version(self);
  if (of_base && self.requires_grad()) autograd::refresh_view(self);
  return const_cast<Tensor&>(self);
}
CRESSET_OP(transpose_, , Tensor&, (const Tensor& self, int64_t dim0, int64_t dim1), "self, dim0, dim1",
           Gradient::composed, "Exchanges two dimensions of self itself.")
Tensor& transpose_(const Tensor& self, int64_t dim0, int64_t dim1) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(transpose__op, self, dim0, dim1))
    return const_cast<Tensor&>(self);
  return change_shape("transpose_", self, [&](const Tensor& x) { return transpose(x, dim0, dim1); });
}
CRESSET_ERRORS_OF(transpose_, , self, dim0, dim1)
CRESSET_OP(t_, , Tensor&, (const Tensor& self), "self", Gradient::composed, "Transposes self itself, a matrix.")
Tensor& t_(const Tensor& self) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(t__op, self))
    return const_cast<Tensor&>(self);
  return change_shape("t_", self, [&](const Tensor& x) { return t(x); });
}
CRESSET_ERRORS_OF(t_, , self)
CRESSET_OP(squeeze_, , Tensor&, (const Tensor& self), "self", Gradient::composed,
           "Takes the dimensions of size 1 from self itself.")
Tensor& squeeze_(const Tensor& self) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(squeeze__op, self))
    return const_cast<Tensor&>(self);
  return change_shape("squeeze_", self, [&](const Tensor& x) { return squeeze(x); });
}
CRESSET_ERRORS_OF(squeeze_, , self)
CRESSET_OP(squeeze_, dim, Tensor&, (const Tensor& self, int64_t dim), "self, dim", Gradient::composed,
           "Takes dim from self itself, if its size is 1.")
Tensor& squeeze_(const Tensor& self, int64_t dim) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(squeeze_dim_op, self, dim))
    return const_cast<Tensor&>(self);
  return change_shape("squeeze_", self, [&](const Tensor& x) { return squeeze(x, dim); });
}
CRESSET_ERRORS_OF(squeeze_, dim, self, dim)
CRESSET_OP(unsqueeze_, , Tensor&, (const Tensor& self, int64_t dim), "self, dim", Gradient::composed,
           "Inserts a dimension of size 1 into self itself.")
Tensor& unsqueeze_(const Tensor& self, int64_t dim) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(unsqueeze__op, self, dim))
    return const_cast<Tensor&>(self);
  return change_shape("unsqueeze_", self, [&](const Tensor& x) { return unsqueeze(x, dim); });
}
CRESSET_ERRORS_OF(unsqueeze_, , self, dim)
CRESSET_OP(as_strided_, , Tensor&,
           (const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset),
           "self, size, stride, storage_offset=std::nullopt", Gradient::composed,
           "Gives self itself other sizes, strides and offset over its memory.")
Tensor& as_strided_(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                    std::optional<int64_t> storage_offset) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) &&
      intercepted<void>(as_strided__op, self, size, stride, storage_offset))
    return const_cast<Tensor&>(self);
  return change_shape("as_strided_", self,
                      [&](const Tensor& x) { return as_strided(x, size, stride, storage_offset); });
}
CRESSET_ERRORS_OF(as_strided_, , self, size, stride, storage_offset)

// ---- another shape over the same memory
static void resize(const char* op, const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> format) {
  CRESSET_CHECK_AS(AutogradError, !self.requires_grad(), op, ": cannot resize variables that require grad");
  CRESSET_CHECK_AS(ValueError, format != MemoryFormat::Preserve, op,
                   ": found memory_format preserve (expected contiguous or channels last)");
  TensorImpl* impl = self.impl();
  Dims strides = self.sizes() == size ? impl->strides : contiguous_strides(size);
  if (format) strides = *format == MemoryFormat::Contiguous ? contiguous_strides(size) : channels_last_strides(size);
  const auto item = static_cast<int64_t>(self.itemsize());
  const auto needed = static_cast<int64_t>(storage_bytes(op, size, strides, self.dtype(), impl->offset));
  if (const auto had = static_cast<int64_t>(impl->storage->bytes); needed > had) {
    CRESSET_CHECK_AS(ShapeError, impl->storage->resizable, op, ": found memory of ", had, " bytes for shape ",
                     text_of(size), ", which needs ", needed, ": Trying to resize storage that is not resizable");
    Tensor room = empty_contiguous({needed / item}, self.dtype(), self.device());
    copy_kernel(narrow(room, 0, 0, had / item), alias(self, {had / item}, {1}, 0));
    room.impl()->storage->version = impl->storage->version.load();
    impl->storage = room.impl()->storage;
  }
  impl->set_geometry(Dims(size), strides);
  autograd::bump_version(self);
}
CRESSET_OP(resize_, , Tensor&, (const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format),
           "self, size, memory_format=std::nullopt", Gradient::none,
           "Gives self another shape over its memory, which grows where it must; what is new is not set.")
Tensor& resize_(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) try {
  if (CRESSET_LIKELY(thread_state.modes_above == 0) || !intercepted<void>(resize__op, self, size, memory_format))
    resize("resize_", self, size, memory_format);
  return const_cast<Tensor&>(self);
}
CRESSET_ERRORS_OF(resize_, , self, size, memory_format)
CRESSET_OP(resize_as_, , Tensor&,
           (const Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format),
           "self, the_template, memory_format=std::nullopt", Gradient::none,
           "resize_ to the shape of another tensor, whose layout Preserve takes over too.")
Tensor& resize_as_(const Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format) try {
  if (CRESSET_LIKELY(thread_state.modes_above == 0) ||
      !intercepted<void>(resize_as__op, self, the_template, memory_format)) {
    if (memory_format == MemoryFormat::Preserve) memory_format = the_template.suggest_memory_format();
    resize("resize_as_", self, Dims(the_template.sizes()), memory_format);
  }
  return const_cast<Tensor&>(self);
}
CRESSET_ERRORS_OF(resize_as_, , self, the_template, memory_format)

}  // namespace cresset
