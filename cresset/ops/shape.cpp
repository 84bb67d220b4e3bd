// Views: each computes sizes, strides and offset over the same storage; its gradient is another view or a write into
// zeros.
#include "cresset/ops/shape.h"

#include <algorithm>

#include "cresset/autograd/kept_dims.h"
#include "cresset/autograd/part_node.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"

namespace cresset {
namespace {

// -1 stands for what is left.
Dims infer_size(const char* op, IntArrayRef shape, const Tensor& x) {
  Dims sizes(shape);
  int64_t known = 1;
  int open = -1;
  for (int i = 0; i < sizes.rank(); i++) {
    if (sizes[i] == -1) {
      CRESSET_CHECK_AS(ShapeError, open < 0, op, ": only one dimension can be inferred, found ", text_of(shape));
      open = i;
    } else {
      CRESSET_CHECK_AS(ShapeError, sizes[i] >= 0, op, ": invalid shape dimension ", sizes[i], " in ", text_of(shape));
      known *= sizes[i];
    }
  }
  int64_t numel = x.numel();
  if (open >= 0) {
    CRESSET_CHECK_AS(ShapeError, known != 0, op, ": cannot reshape tensor of ", numel, " elements into shape ",
                     text_of(shape), " because the unspecified dimension size -1 can be any value and is ambiguous");
    CRESSET_CHECK_AS(ShapeError, numel % known == 0, op, ": shape '", text_of(shape), "' is invalid for input of size ",
                     numel, " (shape ", text_of(x.sizes()), ")");
    sizes[open] = numel / known;
  } else {
    CRESSET_CHECK_AS(ShapeError, known == numel, op, ": shape '", text_of(shape), "' is invalid for input of size ",
                     numel, " (shape ", text_of(x.sizes()), ")");
  }
  return sizes;
}

// Elements start, start + step, … of dim, or the one at start. The gradient of the whole lies in memory as the whole
// does, so that the views it goes through on its way back need no copy.
struct Range {
  int dim;
  int64_t start, end, step;  // step 0: one element, and the dimension disappears
};
class RangeNode final : public autograd::Pooled<RangeNode, autograd::PartNode> {
 public:
  RangeNode(const char* name, const Tensor& self, const Range& range)
      : Pooled(name, &edge_, 1, 1),
        sizes_(self.sizes()),
        strides_(self.is_non_overlapping_and_dense() ? Dims(self.strides()) : contiguous_strides(self.sizes())),
        range_(range) {
    edge_ = autograd::gradient_edge(self);
  }
  Tensor part(const Tensor& whole) const override {
    if (range_.step == 0) return select(whole, range_.dim, range_.start);
    return slice(whole, range_.dim, range_.start, range_.end, range_.step);
  }
  Grads apply(Tensor* gradients, size_t) override {
    const Tensor& g = gradients[0];
    if (!g.defined()) return Grads(1);
    Tensor whole = empty_strided(sizes_, strides_, g.dtype(), g.device());
    whole.zero_();
    part(whole).copy_(g);
    return grads(whole);
  }

 private:
  autograd::Edge edge_;
  Dims sizes_, strides_;
  Range range_;
};
Tensor part_view(const char* name, Tensor y, const Tensor& self, const Range& range) {
  autograd::set_view(y, self);
  if (!thread_state.grad_enabled || !self.requires_grad() || self.impl()->inference) return y;
  y.impl()->node = autograd::make_node<RangeNode>(name, self, range);
  y.impl()->requires_grad = true;
  return y;
}

// The parts of one call share a node: their gradients are joined once, however many there are. An empty list of sizes
// stands for the slices of unbind.
class PartsNode final : public autograd::Pooled<PartsNode> {
 public:
  PartsNode(const char* name, const Tensor& self, int dim, IntArrayRef parts)
      : Pooled(name, &edge_, 1, static_cast<uint32_t>(parts.empty() ? self.size(dim) : parts.size())),
        sizes_(self.sizes()),
        parts_(parts.begin(), parts.end()),
        dim_(dim) {
    edge_ = autograd::gradient_edge(self);
  }

  Grads apply(Tensor* gradients, size_t count) override {
    const Tensor* known = std::find_if(gradients, gradients + count, [](const Tensor& g) { return g.defined(); });
    if (known == gradients + count) return Grads(1);
    std::vector<Tensor> all(gradients, gradients + count);
    for (size_t i = 0; i < count; i++)
      if (!all[i].defined()) all[i] = known->new_zeros(part_sizes(i));
    return grads(parts_.empty() ? stack(all, dim_) : cat(all, dim_));
  }

 private:
  Dims part_sizes(size_t i) const {
    Dims sizes = sizes_;
    if (parts_.empty())
      sizes.erase(dim_);
    else
      sizes[dim_] = parts_[i];
    return sizes;
  }
  autograd::Edge edge_;
  Dims sizes_;
  std::vector<int64_t> parts_;
  int dim_;
};

// Several views from one call may not be changed in place: PyTorch's rule.
void link_parts(const char* name, const Tensor& self, int dim, IntArrayRef sizes, const std::vector<Tensor>& parts) {
  for (const Tensor& part : parts) autograd::set_view(part, self, ViewOrigin::multi_view);
  if (!thread_state.grad_enabled || !self.requires_grad() || self.impl()->inference || parts.empty()) return;
  auto node = autograd::make_node<PartsNode>(name, self, dim, sizes);
  for (size_t i = 0; i < parts.size(); i++) {
    parts[i].impl()->node = node;
    parts[i].impl()->output_nr = static_cast<uint32_t>(i);
    parts[i].impl()->requires_grad = true;
  }
}
std::vector<Tensor> split_parts(const char* name, const Tensor& self, int dim, IntArrayRef split_sizes) {
  std::vector<Tensor> parts;
  Dims sizes(self.sizes());
  int64_t start = 0;
  for (int64_t n : split_sizes) {
    sizes[dim] = n;
    parts.push_back(alias(self, sizes, self.strides(), self.storage_offset() + start * self.stride(dim)));
    start += n;
  }
  link_parts(name, self, dim, split_sizes, parts);
  return parts;
}

}  // namespace

std::optional<Dims> view_strides(const Tensor& x, IntArrayRef sizes) {
  const Dims &old_sizes = x.impl()->sizes, &old_strides = x.impl()->strides;
  if (x.numel() == 0) return old_sizes == Dims(sizes) ? old_strides : contiguous_strides(sizes);
  if (x.is_contiguous()) return contiguous_strides(sizes);
  Dims strides = Dims::filled(static_cast<int>(sizes.size()), 1);
  int to = strides.rank() - 1;
  // Chunks of old dimensions that are contiguous with each other; each must be split exactly by new ones.
  int64_t chunk_stride = old_strides.empty() ? 1 : old_strides.back(), chunk = 1, filled = 1;
  for (int from = old_sizes.rank() - 1; from >= 0; from--) {
    chunk *= old_sizes[from];
    bool ends = from == 0 || (old_sizes[from - 1] != 1 && old_strides[from - 1] != chunk * chunk_stride);
    if (!ends) continue;
    while (to >= 0 && (filled < chunk || sizes[static_cast<size_t>(to)] == 1)) {
      strides[to] = filled * chunk_stride;
      filled *= sizes[static_cast<size_t>(to)];
      to--;
    }
    if (filled != chunk) return std::nullopt;
    if (from > 0) {
      chunk_stride = old_strides[from - 1];
      chunk = filled = 1;
    }
  }
  if (to >= 0) return std::nullopt;
  return strides;
}

static Tensor view_as(const char* name, const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  return differentiable_view(
      name, alias(self, sizes, strides, self.storage_offset()), self,
      [from = KeptDims(self.sizes())](const Tensor& g, Wants) { return grads(reshape(g, from)); });
}

CRESSET_OP(view, , Tensor, (const Tensor& self, IntArrayRef size), "self, size", Gradient::formula,
           "The same elements under another shape, without a copy; -1 stands for what is left.")
Tensor view(const Tensor& self, IntArrayRef size) try {
  CRESSET_INTERCEPT(view, , Tensor, self, size);
  Dims sizes = infer_size("view", size, self);
  if (CRESSET_LIKELY(self.is_contiguous())) return view_as("ViewBackward0", self, sizes, contiguous_strides(sizes));
  std::optional<Dims> strides = view_strides(self, sizes);
  CRESSET_CHECK_AS(ShapeError, strides,
                   "view: view size is not compatible with input tensor's size and stride (at least one dimension "
                   "spans across two contiguous subspaces): shape ",
                   text_of(self.sizes()), ", strides ", text_of(self.strides()), ", wanted ", text_of(sizes),
                   ". Use .reshape(...) instead");
  return view_as("ViewBackward0", self, sizes, *strides);
}
CRESSET_ERRORS_OF(view, , self, size)

CRESSET_OP(reshape, , Tensor, (const Tensor& self, IntArrayRef shape), "self, shape", Gradient::composed,
           "A view where that is possible, otherwise a copy.")
Tensor reshape(const Tensor& self, IntArrayRef shape) try {
  CRESSET_INTERCEPT(reshape, , Tensor, self, shape);
  Dims sizes = infer_size("reshape", shape, self);
  if (std::optional<Dims> strides = view_strides(self, sizes))
    return view_as("ReshapeAliasBackward0", self, sizes, *strides);
  return view_as("UnsafeViewBackward0", clone(self, MemoryFormat::Contiguous), sizes, contiguous_strides(sizes));
}
CRESSET_ERRORS_OF(reshape, , self, shape)

CRESSET_OP(flatten, , Tensor, (const Tensor& self, int64_t start_dim, int64_t end_dim), "self, start_dim=0, end_dim=-1",
           Gradient::composed, "Dimensions start_dim to end_dim become one.")
Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) try {
  CRESSET_INTERCEPT(flatten, , Tensor, self, start_dim, end_dim);
  int from = wrap_dim("flatten", start_dim, self), to = wrap_dim("flatten", end_dim, self);
  CRESSET_CHECK_AS(ShapeError, from <= to, "flatten: start_dim ", start_dim, " cannot come after end_dim ", end_dim);
  if (self.dim() == 0) return reshape(self, {1});
  if (from == to) return self;
  Dims sizes;
  for (int i = 0; i < from; i++) sizes.push_back(self.size(i));
  int64_t middle = 1;
  for (int i = from; i <= to; i++) middle *= self.size(i);
  sizes.push_back(middle);
  for (int i = to + 1; i < self.dim(); i++) sizes.push_back(self.size(i));
  return reshape(self, sizes);
}
CRESSET_ERRORS_OF(flatten, , self, start_dim, end_dim)

CRESSET_OP(transpose, , Tensor, (const Tensor& self, int64_t dim0, int64_t dim1), "self, dim0, dim1", Gradient::formula,
           "A view with two dimensions exchanged.")
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) try {
  CRESSET_INTERCEPT(transpose, , Tensor, self, dim0, dim1);
  int a = wrap_dim("transpose", dim0, self), b = wrap_dim("transpose", dim1, self);
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.dim() > 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return differentiable_view("TransposeBackward0", alias(self, sizes, strides, self.storage_offset()), self,
                             [a, b](const Tensor& g, Wants) { return grads(transpose(g, a, b)); });
}
CRESSET_ERRORS_OF(transpose, , self, dim0, dim1)

CRESSET_OP(t, , Tensor, (const Tensor& self), "self", Gradient::composed,
           "The transpose of a matrix; tensors of fewer dimensions as they are.")
Tensor t(const Tensor& self) try {
  CRESSET_INTERCEPT(t, , Tensor, self);
  CRESSET_CHECK_AS(ShapeError, self.dim() <= 2, "t: expects a tensor with <= 2 dimensions, but self is ", self.dim(),
                   "D (shape ", text_of(self.sizes()), ")");
  return self.dim() < 2 ? transpose(self, 0, 0) : transpose(self, 0, 1);
}
CRESSET_ERRORS_OF(t, , self)

CRESSET_OP(permute, , Tensor, (const Tensor& self, IntArrayRef dims), "self, dims", Gradient::formula,
           "A view with the dimensions in the given order.")
Tensor permute(const Tensor& self, IntArrayRef dims) try {
  CRESSET_INTERCEPT(permute, , Tensor, self, dims);
  CRESSET_CHECK_AS(ShapeError, static_cast<int64_t>(dims.size()) == self.dim(), "permute: found ", dims.size(),
                   " dims ", text_of(dims), " for shape ", text_of(self.sizes()), " (expected ", self.dim(), ")");
  Dims sizes, strides, back = Dims::filled(static_cast<int>(dims.size()), -1);
  for (size_t i = 0; i < dims.size(); i++) {
    int from = wrap_dim("permute", dims[i], self);
    CRESSET_CHECK_AS(ShapeError, back[from] < 0, "permute: repeated dim ", dims[i], " in ", text_of(dims));
    back[from] = static_cast<int64_t>(i);
    sizes.push_back(self.size(from));
    strides.push_back(self.stride(from));
  }
  return differentiable_view("PermuteBackward0", alias(self, sizes, strides, self.storage_offset()), self,
                             [back = KeptDims(back)](const Tensor& g, Wants) { return grads(permute(g, back)); });
}
CRESSET_ERRORS_OF(permute, , self, dims)

CRESSET_OP(expand, , Tensor, (const Tensor& self, IntArrayRef size, bool implicit), "self, size, implicit=false",
           Gradient::formula, "A view in which dimensions of size 1 are repeated without a copy; -1 keeps a size.")
Tensor expand(const Tensor& self, IntArrayRef size, bool implicit) try {
  CRESSET_INTERCEPT(expand, , Tensor, self, size, implicit);
  int rank = static_cast<int>(size.size()), lead = rank - static_cast<int>(self.dim());
  CRESSET_CHECK_AS(ShapeError, lead >= 0, "expand: the number of sizes provided (", rank,
                   ") must be greater or equal to the number of dimensions in the tensor (", self.dim(), ")");
  Dims sizes(size), strides = Dims::filled(rank, 0);
  for (int i = rank - 1; i >= 0; i--) {
    int64_t own = i < lead ? 1 : self.size(i - lead);
    if (sizes[i] == -1) {
      CRESSET_CHECK_AS(
          ShapeError, i >= lead,
          "expand: the expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension ", i);
      sizes[i] = own;
    }
    CRESSET_CHECK_AS(ShapeError, own == 1 || own == sizes[i], "expand: The expanded size of the tensor (", sizes[i],
                     ") must match the existing size (", own, ") at non-singleton dimension ", i,
                     ".  Target sizes: ", text_of(size), ".  Tensor sizes: ", text_of(self.sizes()));
    CRESSET_CHECK_AS(ShapeError, sizes[i] >= 0, "expand: found a negative size in ", text_of(size));
    if (i >= lead && own == sizes[i]) strides[i] = self.stride(i - lead);
  }
  Tensor y = alias(self, sizes, strides, self.storage_offset());
  return differentiable_view("ExpandBackward0", y, self,
                             [a = Broadcast(self, y)](const Tensor& g, Wants) { return grads(a.reduce(g)); });
}
CRESSET_ERRORS_OF(expand, , self, size, implicit)

Tensor Tensor::alias() const {
  check_defined("alias", "self", *this);
  return differentiable_view("AliasBackward0", cresset::alias(*this), *this,
                             [](const Tensor& g, Wants) { return grads(g); });
}

CRESSET_OP(select, , Tensor, (const Tensor& self, int64_t dim, int64_t index), "self, dim, index", Gradient::formula,
           "A view of one slice of dim, which disappears.")
Tensor select(const Tensor& self, int64_t dim, int64_t index) try {
  CRESSET_INTERCEPT(select, , Tensor, self, dim, index);
  CRESSET_CHECK_AS(IndexError, self.dim() > 0, "select: cannot be applied to a 0-dim tensor");
  int d = wrap_dim("select", dim, self);
  int64_t n = self.size(d);
  CRESSET_CHECK_AS(IndexError, index >= -n && index < n, "select: index ", index, " is out of bounds for dimension ", d,
                   " with size ", n, " (shape ", text_of(self.sizes()), ")");
  if (index < 0) index += n;
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset() + index * strides[d];
  sizes.erase(d);
  strides.erase(d);
  return part_view(autograd::PartNode::kSelect, alias(self, sizes, strides, offset), self, {d, index, index + 1, 0});
}
CRESSET_ERRORS_OF(select, , self, dim, index)

CRESSET_OP(slice, , Tensor,
           (const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step),
           "self, dim=0, start=std::nullopt, end=std::nullopt, step=1", Gradient::formula,
           "A view of elements start, start + step, … before end along dim; bounds are clamped.")
Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
             int64_t step) try {
  CRESSET_INTERCEPT(slice, , Tensor, self, dim, start, end, step);
  CRESSET_CHECK_AS(IndexError, self.dim() > 0, "slice: cannot be applied to a 0-dim tensor");
  CRESSET_CHECK_AS(IndexError, step > 0, "slice: step must be positive, found ", step);
  int d = wrap_dim("slice", dim, self);
  int64_t n = self.size(d);
  auto clamped = [n](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n); };
  int64_t from = clamped(start.value_or(0)), to = std::max(from, end ? clamped(*end) : n);
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset() + from * strides[d];
  sizes[d] = to > from ? (to - from - 1) / step + 1 : 0;
  if (step < n) strides[d] *= step;  // a longer one takes at most one element
  return part_view(autograd::PartNode::kSlice, alias(self, sizes, strides, offset), self, {d, from, to, step});
}
CRESSET_ERRORS_OF(slice, , self, dim, start, end, step)

CRESSET_OP(narrow, , Tensor, (const Tensor& self, int64_t dim, int64_t start, int64_t length),
           "self, dim, start, length", Gradient::composed, "A view of length elements along dim.")
Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) try {
  CRESSET_INTERCEPT(narrow, , Tensor, self, dim, start, length);
  CRESSET_CHECK_AS(IndexError, self.dim() > 0, "narrow: cannot be applied to a 0-dim tensor");
  int d = wrap_dim("narrow", dim, self);
  int64_t n = self.size(d), from = start < 0 ? start + n : start;
  CRESSET_CHECK_AS(IndexError, length >= 0, "narrow: length ", length, " is negative (expected 0 or more) for shape ",
                   text_of(self.sizes()));
  CRESSET_CHECK_AS(IndexError, from >= 0 && from <= n && length <= n - from, "narrow: start (", start, ") + length (",
                   length, ") exceeds dimension size (", n, ") of dimension ", d, " of shape ", text_of(self.sizes()));
  return slice(self, d, from, from + length, 1);
}
CRESSET_ERRORS_OF(narrow, , self, dim, start, length)

CRESSET_OP(unsqueeze, , Tensor, (const Tensor& self, int64_t dim), "self, dim", Gradient::formula,
           "A view with a dimension of size 1 inserted.")
Tensor unsqueeze(const Tensor& self, int64_t dim) try {
  CRESSET_INTERCEPT(unsqueeze, , Tensor, self, dim);
  const int64_t range = self.dim() + 1;
  CRESSET_CHECK_AS(IndexError, dim >= -range && dim < range,
                   "unsqueeze: Dimension out of range (expected to be in range of [", -range, ", ", range - 1,
                   "], but got ", dim, ") for shape ", text_of(self.sizes()));
  int d = static_cast<int>(dim < 0 ? dim + range : dim);
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t stride = d < self.dim() ? sizes[d] * strides[d] : 1;
  sizes.insert(d, 1);
  strides.insert(d, stride);
  return differentiable_view("UnsqueezeBackward0", alias(self, sizes, strides, self.storage_offset()), self,
                             [d](const Tensor& g, Wants) { return grads(squeeze(g, d)); });
}
CRESSET_ERRORS_OF(unsqueeze, , self, dim)

static Tensor squeezed(const Tensor& self, uint64_t dims) {
  Dims sizes, strides;
  for (int i = 0; i < self.dim(); i++) {
    if ((i >= 64 || dims >> i & 1) && self.size(i) == 1) continue;
    sizes.push_back(self.size(i));
    strides.push_back(self.stride(i));
  }
  return differentiable_view(
      "SqueezeBackward0", alias(self, sizes, strides, self.storage_offset()), self,
      [from = KeptDims(self.sizes())](const Tensor& g, Wants) { return grads(reshape(g, from)); });
}
CRESSET_OP(squeeze, , Tensor, (const Tensor& self), "self", Gradient::formula,
           "A view without the dimensions of size 1.")
Tensor squeeze(const Tensor& self) try {
  CRESSET_INTERCEPT(squeeze, , Tensor, self);
  return squeezed(self, ~uint64_t{0});
}
CRESSET_ERRORS_OF(squeeze, , self)
CRESSET_OP(squeeze, dim, Tensor, (const Tensor& self, int64_t dim), "self, dim", Gradient::formula,
           "A view without dim, if its size is 1.")
Tensor squeeze(const Tensor& self, int64_t dim) try {
  CRESSET_INTERCEPT(squeeze, dim, Tensor, self, dim);
  return squeezed(self, uint64_t{1} << wrap_dim("squeeze", dim, self));
}
CRESSET_ERRORS_OF(squeeze, dim, self, dim)

CRESSET_OP(split, , std::vector<Tensor>, (const Tensor& self, int64_t split_size, int64_t dim),
           "self, split_size, dim=0", Gradient::formula, "Views of split_size along dim, the last one maybe smaller.")
std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) try {
  CRESSET_INTERCEPT(split, , std::vector<Tensor>, self, split_size, dim);
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0, "split: expects at least a 1-dimensional tensor");
  int d = wrap_dim("split", dim, self);
  int64_t n = self.size(d);
  CRESSET_CHECK_AS(ShapeError, split_size > 0 || (split_size == 0 && n == 0),
                   "split: split_size must be positive, found ", split_size, " for dimension size ", n);
  Dims sizes;
  if (n == 0) sizes.push_back(0);
  for (int64_t at = 0; at < n; at += sizes.back()) sizes.push_back(std::min(split_size, n - at));
  return split_parts("SplitBackward0", self, d, sizes);
}
CRESSET_ERRORS_OF(split, , self, split_size, dim)
CRESSET_OP(split, sizes, std::vector<Tensor>, (const Tensor& self, IntArrayRef split_sizes, int64_t dim),
           "self, split_sizes, dim=0", Gradient::formula, "Views of the given sizes along dim.")
std::vector<Tensor> split(const Tensor& self, IntArrayRef split_sizes, int64_t dim) try {
  CRESSET_INTERCEPT(split, sizes, std::vector<Tensor>, self, split_sizes, dim);
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0, "split: expects at least a 1-dimensional tensor");
  int d = wrap_dim("split", dim, self);
  int64_t total = 0;
  for (int64_t n : split_sizes) {
    CRESSET_CHECK_AS(ShapeError, n >= 0, "split: split_sizes must be 0 or more, found ", text_of(split_sizes));
    total += n;
  }
  CRESSET_CHECK_AS(ShapeError, total == self.size(d), "split: split_sizes ", text_of(split_sizes), " sum to ", total,
                   " (expected ", self.size(d), ", the size of dimension ", d, ")");
  return split_parts("SplitWithSizesBackward0", self, d, split_sizes);
}
CRESSET_ERRORS_OF(split, sizes, self, split_sizes, dim)

CRESSET_OP(unbind, , std::vector<Tensor>, (const Tensor& self, int64_t dim), "self, dim=0", Gradient::formula,
           "Views of every slice of dim, which disappears.")
std::vector<Tensor> unbind(const Tensor& self, int64_t dim) try {
  CRESSET_INTERCEPT(unbind, , std::vector<Tensor>, self, dim);
  int d = wrap_dim("unbind", dim, self);
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0, "unbind: cannot be applied to a 0-dim tensor");
  std::vector<Tensor> parts;
  Dims sizes(self.sizes()), strides(self.strides());
  sizes.erase(d);
  strides.erase(d);
  for (int64_t i = 0; i < self.size(d); i++)
    parts.push_back(alias(self, sizes, strides, self.storage_offset() + i * self.stride(d)));
  link_parts("UnbindBackward0", self, d, {}, parts);
  return parts;
}
CRESSET_ERRORS_OF(unbind, , self, dim)

// ---- as_strided
// Writes g, of the view's geometry, into zeros of the base's; elements that the view holds more than once add up.
static Tensor as_strided_backward(Tensor g, IntArrayRef base_sizes, IntArrayRef base_strides, int64_t base_offset,
                                  IntArrayRef view_sizes, IntArrayRef view_strides, int64_t view_offset) {
  Dims sizes(view_sizes), strides(view_strides);
  for (int i = sizes.rank() - 1; i >= 0; i--) {
    if (sizes[i] > 1 && strides[i] != 0) continue;
    g = g.sum(Dims{i}, /*keepdim=*/false);  // stride 0: every element is the same one
    sizes.erase(i);
    strides.erase(i);
  }
  int64_t extent = 1;
  for (size_t i = 0; i < base_sizes.size(); i++) extent += (base_sizes[i] - 1) * base_strides[i];
  int64_t reach = view_offset - base_offset + 1;
  for (int i = 0; i < sizes.rank(); i++) reach += (sizes[i] - 1) * strides[i];
  int64_t low = std::min<int64_t>(0, view_offset - base_offset);
  Tensor memory = g.new_zeros({std::max(extent, reach) - low});
  Dims order;  // overlapping when a dimension steps into the reach of the smaller ones
  for (int i = 0; i < sizes.rank(); i++) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return strides[static_cast<int>(a)] < strides[static_cast<int>(b)]; });
  bool overlaps = false;
  int64_t covered = 1;
  for (int64_t i : order) {
    overlaps = overlaps || strides[static_cast<int>(i)] < covered;
    covered += (sizes[static_cast<int>(i)] - 1) * strides[static_cast<int>(i)];
  }
  Tensor target = as_strided(memory, sizes, strides, view_offset - base_offset - low);
  if (!overlaps) {
    target.copy_(g);
  } else {  // one plane of the first dimension at a time: planes may overlap each other, and each recursion has one
            // less
    for (int64_t i = 0; i < sizes[0]; i++) {
      Dims rest_sizes(IntArrayRef(sizes).slice(1)), rest_strides(IntArrayRef(strides).slice(1));
      Tensor plane = as_strided_backward(select(g, 0, i), {memory.numel()}, {1}, 0, rest_sizes, rest_strides,
                                         view_offset - base_offset - low + i * strides[0]);
      memory = add(memory, plane);
    }
  }
  Dims clean_strides(base_strides);
  Tensor whole = as_strided(memory, base_sizes, clean_strides, -low);
  for (size_t i = 0; i < base_sizes.size(); i++)
    CRESSET_CHECK_AS(AutogradError, base_sizes[i] <= 1 || base_strides[i] != 0,
                     "as_strided: the gradient of a view of an expanded tensor is not defined; use a clone");
  return clone(whole);
}

CRESSET_OP(as_strided, , Tensor,
           (const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset),
           "self, size, stride, storage_offset=std::nullopt", Gradient::formula,
           "A view of self's memory with the given sizes, strides and offset.")
Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) try {
  CRESSET_INTERCEPT(as_strided, , Tensor, self, size, stride, storage_offset);
  CRESSET_CHECK_AS(ShapeError, size.size() == stride.size(),
                   "as_strided: mismatch in length of strides and shape: found ", stride.size(), " strides for ",
                   size.size(), " sizes");
  int64_t offset = storage_offset.value_or(self.storage_offset());
  for (size_t i = 0; i < size.size(); i++)
    CRESSET_CHECK_AS(ShapeError, size[i] >= 0 && stride[i] >= 0,
                     "as_strided: negative sizes and strides are not supported, found sizes ", text_of(size),
                     ", strides ", text_of(stride));
  CRESSET_CHECK_AS(ShapeError, offset >= 0, "as_strided: storage offset ", offset, " is negative");
  size_t reach = storage_bytes("as_strided", size, stride, self.dtype(), offset), room = self.impl()->storage->bytes;
  CRESSET_CHECK_AS(ShapeError, reach <= room || self.is_meta(), "as_strided: sizes ", text_of(size), ", strides ",
                   text_of(stride), ", storage offset ", offset, " reach ", reach,
                   " bytes, which is out of bounds for storage of ", room, " bytes");
  return differentiable_view("AsStridedBackward0", alias(self, size, stride, offset), self,
                             [bs = KeptDims(self.sizes()), bt = KeptDims(self.strides()), bo = self.storage_offset(),
                              vs = KeptDims(size), vt = KeptDims(stride), offset](const Tensor& g, Wants) {
                               return grads(as_strided_backward(g, bs, bt, bo, vs, vt, offset));
                             });
}
CRESSET_ERRORS_OF(as_strided, , self, size, stride, storage_offset)

}  // namespace cresset
