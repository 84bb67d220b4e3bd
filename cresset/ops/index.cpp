// Indexing. Integers, slices, None and Ellipsis make a view; tensors then go to index or index_put, whose shape rule
// turns masks into indices, broadcasts them and brings both sides into the one form that kernels know.
#include "cresset/ops/index.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"
#include "cresset/core/warning.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/scatter_call.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

bool is_mask(const Tensor& index) { return index.dtype() == kBool || index.dtype() == kByte; }

void warn_about_byte_masks() {
  CRESSET_WARN_ONCE_UNLESS_HANDLED(
      "index: indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
}

// What the indices come to: `list` has one entry per dimension (undefined: the whole of it), `broadcast` the defined
// ones, expanded to `sizes`; they stand for the dimensions `dims`, and in the result at place `at`.
struct Indices {
  std::vector<Tensor> list, broadcast;
  Dims dims, sizes;
  int at = 0;
};

void append_mask(const char* op, std::vector<Tensor>& list, const Tensor& mask, const Tensor& self) {
  if (mask.dtype() == kByte) warn_about_byte_masks();
  int64_t from = static_cast<int64_t>(list.size());
  CRESSET_CHECK_AS(IndexError, mask.dim() > 0, op, ": a 0-d mask needs a dimension of its own; use x.index({mask})");
  for (int64_t i = 0; i < mask.dim(); i++)
    CRESSET_CHECK_AS(IndexError, from + i < self.dim() && mask.size(i) == self.size(from + i), op,
                     ": The shape of the mask ", text_of(mask.sizes()), " at index ", i,
                     " does not match the shape of the indexed tensor ", text_of(self.sizes()), " at index ", from + i);
  Tensor found = nonzero(mask);
  for (int64_t i = 0; i < mask.dim(); i++) list.push_back(select(found, 1, i));
}

std::vector<Tensor> without_masks(const char* op, const Tensor& self, TensorList indices) {
  std::vector<Tensor> list;
  for (const Tensor& given : indices) {
    if (!given.defined()) {
      list.emplace_back();
      continue;
    }
    CRESSET_CHECK_AS(IndexError, given.dtype() == kLong || given.dtype() == kInt || is_mask(given), op,
                     ": tensors used as indices must be long, int, byte or bool tensors, found ",
                     name_of(given.dtype()));
    Tensor index = given.device() == self.device() ? given.detach() : given.detach().to(self.device());
    if (is_mask(index))
      append_mask(op, list, index, self);
    else
      list.push_back(index);
  }
  CRESSET_CHECK_AS(IndexError, static_cast<int64_t>(list.size()) <= self.dim(), op,
                   ": too many indices for tensor of dimension ", self.dim(), " (got ", list.size(), ") and shape ",
                   text_of(self.sizes()));
  return list;
}

Dims broadcast_sizes(const char* op, const std::vector<Tensor>& list) {
  Dims sizes;
  try {
    for (const Tensor& index : list)
      if (index.defined()) sizes = broadcast_shapes(op, sizes, index.sizes());
  } catch (const ShapeError&) {
    std::string shapes;
    for (const Tensor& index : list)
      if (index.defined()) shapes += (shapes.empty() ? "" : ", ") + text_of(index.sizes());
    throw IndexError(
        message_of(op, ": shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes));
  }
  return sizes;
}

// x seen with shape `sizes`, which it broadcasts to; no place in the graph.
Tensor broadcast_alias(const Tensor& x, IntArrayRef sizes) {
  int rank = static_cast<int>(sizes.size()), lead = rank - static_cast<int>(x.dim());
  Dims strides = Dims::filled(rank, 0);
  for (int i = lead; i < rank; i++)
    if (x.impl()->sizes[i - lead] != 1) strides[i] = x.impl()->strides[i - lead];
  return alias(x, sizes, strides, x.storage_offset());
}

Indices prepared(const char* op, const Tensor& self, TensorList indices) {
  Indices result;
  result.list = without_masks(op, self, indices);
  result.sizes = broadcast_sizes(op, result.list);
  bool adjacent = true;
  for (size_t i = 0; i < result.list.size(); i++) {
    if (!result.list[i].defined()) continue;
    int64_t dim = static_cast<int64_t>(i);
    CRESSET_CHECK_AS(IndexError, self.size(dim) > 0 || result.sizes.product() == 0, op,
                     ": index is out of bounds for dimension with size 0 (dimension ", dim, " of shape ",
                     text_of(self.sizes()), ")");
    adjacent = adjacent && (result.dims.empty() || result.dims.back() == dim - 1);
    result.dims.push_back(dim);
    result.broadcast.push_back(broadcast_alias(result.list[i], result.sizes));
  }
  // Indices side by side land where they stood; otherwise nobody can say where, and they come first.
  result.at = adjacent && !result.dims.empty() ? static_cast<int>(result.dims[0]) : 0;
  return result;
}

Dims result_sizes(const Tensor& self, const Indices& indices) {
  Dims sizes;
  for (int i = 0, next = 0; i < self.dim(); i++) {
    if (next < indices.dims.rank() && indices.dims[next] == i)
      next++;
    else
      sizes.push_back(self.size(i));
  }
  for (int i = 0; i < indices.sizes.rank(); i++) sizes.insert(indices.at + i, indices.sizes[i]);
  return sizes;
}

// x with the dimensions that `first` says in front.
template <class First>
Tensor fronted(const Tensor& x, const First& first) {
  Dims sizes, strides;
  for (bool wanted : {true, false})
    for (int i = 0; i < x.dim(); i++)
      if (first(i) == wanted) {
        sizes.push_back(x.impl()->sizes[i]);
        strides.push_back(x.impl()->strides[i]);
      }
  return alias(x, sizes, strides, x.storage_offset());
}
Tensor indexed_side(const Tensor& self, const Indices& indices) {
  return fronted(self, [&](int i) {
    for (int64_t dim : indices.dims)
      if (dim == i) return true;
    return false;
  });
}
Tensor plain_side(const Tensor& x, const Indices& indices) {
  return fronted(x, [&](int i) { return i >= indices.at && i < indices.at + indices.sizes.rank(); });
}

// One list of indices is a scatter of slices, which is faster than the general kernel.
void write_values(const Tensor& y, const Tensor& values, const Indices& at, bool accumulate) {
  Tensor target = indexed_side(y, at), source = plain_side(values, at);
  if (at.dims.rank() != 1 || at.sizes.rank() != 1)
    return index_put_kernel(target, source, at.broadcast, at.dims, accumulate);
  check_index_kernel(at.broadcast[0], target.size(0), at.dims[0], /*wraps=*/true);
  scatter_kernel(target, index_of_slices(at.broadcast[0], source, 0), source, 0,
                 static_cast<int64_t>(accumulate ? ScatterMode::add : ScatterMode::store));
}

// A copy with self's strides, out of the graph.
Tensor copied(const Tensor& self) { return self.detach().clone(); }

}  // namespace

static Tensor index_into(const Into& into, const Tensor& self, TensorList indices) {
  check_defined("index", "self", self);
  Indices at = prepared("index", self, indices);
  Tensor y = result("index", into, result_sizes(self, at), self.dtype(), self.device(), {&self});
  if (into.out())
    for (const Tensor& index : at.broadcast) check_no_overlap("index", y, index);
  if (y.numel() > 0)
    naming_shape(self, [&] { index_kernel(plain_side(y, at), indexed_side(self, at), at.broadcast, at.dims); });
  return differentiable("IndexBackward0", into, y, inputs(self), saved_list(at.list),
                        [from = KeptDims(self.sizes())](const Tensor& g, Wants, TensorList indices) {
                          Tensor whole = g.new_zeros(from);
                          return grads(index_put_(whole, indices, g, /*accumulate=*/true));
                        });
}
CRESSET_FUNCTION_FORM(index, , (const Tensor& self, TensorList indices), (self, indices), "self, indices",
                      "The elements at the places that the index tensors name; an undefined one stands for a whole "
                      "dimension, a bool one for the places where it is true.")
CRESSET_OUT_FORM(index, , (const Tensor& self, TensorList indices), (self, indices), "self, indices",
                 "The elements at the places that the index tensors name.")

static Tensor index_put_into(const Into& into, const Tensor& self, TensorList indices, const Tensor& values,
                             bool accumulate) {
  check_defined("index_put_", "self", self);
  check_defined("index_put_", "values", values);
  CRESSET_CHECK_AS(TypeError, self.dtype() == values.dtype(),
                   "index_put_: Index put requires the source and destination dtypes match, got ",
                   toString(self.dtype()), " for the destination and ", toString(values.dtype()), " for the source");
  check_same_device("index_put_", self, values);
  Indices at = prepared("index_put_", self, indices);
  Dims sizes = result_sizes(self, at);
  bool fits = values.dim() <= sizes.rank();
  for (int i = 1; fits && i <= values.dim(); i++)
    fits = values.size(-i) == 1 || values.size(-i) == sizes[sizes.rank() - i];
  CRESSET_CHECK_AS(ShapeError, fits, "index_put_: shape mismatch: value tensor of shape ", text_of(values.sizes()),
                   " cannot be broadcast to indexing result of shape ", text_of(sizes));
  const bool repeats = into.in_place() && repeats_memory(self);  // places that share memory are written in turn
  if (repeats) autograd::check_inplace("index_put_", self, values.requires_grad());
  Tensor y = into.fresh() ? copied(self)
             : repeats    ? self
                          : result("index_put_", into, self.sizes(), self.dtype(), self.device(), {&self, &values});
  if (!into.fresh()) {
    check_no_overlap("index_put_", y, values);
    for (const Tensor& index : at.broadcast) check_no_overlap("index_put_", y, index);
  }
  Tensor here = values.device() == self.device() ? values.detach() : values.detach().to(self.device());
  Tensor wide = broadcast_alias(here, sizes);
  std::optional<SerialScope> in_turn;
  if (repeats) in_turn.emplace();
  if (wide.numel() > 0) naming_shape(self, [&] { write_values(y, wide, at, accumulate); });
  return differentiable("IndexPutBackward0", into, y, inputs(self, values), saved_list(at.list),
                        [accumulate, b = Broadcast(values, wide), on = values.device()](const Tensor& g, Wants wants,
                                                                                        TensorList indices) {
                          Tensor for_self;
                          if (wants(0)) for_self = accumulate ? g : index_put(g, indices, g.new_zeros({}));
                          return grads(std::move(for_self), wants(1) ? b.reduce(index(g, indices)).to(on) : Tensor());
                        });
}
CRESSET_FUNCTION_FORM(index_put, , (const Tensor& self, TensorList indices, const Tensor& values, bool accumulate),
                      (self, indices, values, accumulate), "self, indices, values, accumulate=false",
                      "self with values, broadcast, written (or added) at the places that the index tensors name.")
CRESSET_INPLACE_FORM(index_put, , (const Tensor& self, TensorList indices, const Tensor& values, bool accumulate),
                     (self, indices, values, accumulate), "self, indices, values, accumulate=false",
                     "Writes (or adds) values, broadcast, at the places that the index tensors name.")

CRESSET_OP(nonzero, , Tensor, (const Tensor& self), "self", Gradient::none,
           "The places of the elements that are not zero, one per row, in row-major order.")
Tensor nonzero(const Tensor& self) try {
  CRESSET_INTERCEPT(nonzero, , Tensor, self);
  CRESSET_CHECK_AS(NotImplementedError, !self.is_meta(),
                   "nonzero: the result's shape depends on values, which a meta tensor of shape ",
                   text_of(self.sizes()), " does not have");
  Tensor count = empty_contiguous({}, kLong, self.device());
  count_nonzero_kernel(count, self);
  int64_t found = count.item<int64_t>();
  // Column by column, since columns are what indexing reads: PyTorch's layout.
  Tensor y =
      empty_strided({found, self.dim()}, {1, std::max<int64_t>(found, 1)}, TensorOptions(kLong).device(self.device()));
  if (y.numel() > 0) nonzero_kernel(y, self);
  return not_differentiable(Into{}, y);
}
CRESSET_ERRORS_OF(nonzero, , self)
static Tensor nonzero_into(const Into& into, const Tensor& self) {
  return copied_into("nonzero", into, nonzero(self.detach()), {});  // places have no gradient to lose
}
CRESSET_OUT_FORM(nonzero, , (const Tensor& self), (self), "self",
                 "The places of the elements that are not zero, one per row, in row-major order.")

// ---- index expressions
namespace {

using indexing::Slice;

// The view that the basic part of an expression makes, and the tensors to index it with.
struct Sliced {
  Tensor view;
  std::vector<Tensor> tensors;
};

int64_t consumed_dims(ArrayRef<TensorIndex> indices) {
  int64_t dims = 0;
  for (const TensorIndex& index : indices) {
    if (index.is_integer() || index.is_slice()) dims++;
    if (index.is_tensor()) {
      check_defined("index", "an index", index.tensor());
      dims += is_mask(index.tensor()) ? index.tensor().dim() : 1;
    }
  }
  return dims;
}

class Expression {
 public:
  Expression(const char* op, const Tensor& self, ArrayRef<TensorIndex> indices) : self_(self), view_(self) {
    CRESSET_CHECK_AS(IndexError, !indices.empty(), op, ": Passing an empty index list to Tensor::", op,
                     "() is not valid syntax (expected an index for at least one dimension)");
    int64_t consumed = consumed_dims(indices);
    CRESSET_CHECK_AS(IndexError, consumed <= self.dim(), "index: too many indices for tensor of dimension ", self.dim(),
                     " (got ", consumed, ")");
    for (const TensorIndex& index : indices) apply(index, self.dim() - consumed);
  }
  Sliced result() && { return {std::move(view_), std::move(tensors_)}; }

 private:
  void apply(const TensorIndex& index, int64_t open_dims) {
    switch (index.kind()) {
      case TensorIndex::Kind::none:
        view_ = unsqueeze(view_, dim_++);
        break;
      case TensorIndex::Kind::ellipsis:
        dim_ += open_dims;
        self_dim_ += open_dims;
        break;
      case TensorIndex::Kind::integer:
        select_one(index.integer());
        break;
      case TensorIndex::Kind::boolean:
        truth(index.boolean());
        break;
      case TensorIndex::Kind::slice:
        CRESSET_CHECK_AS(ValueError, index.slice().step() > 0, "index: step must be greater than zero, found ",
                         index.slice().step());
        if (!index.slice().is_full())
          view_ = cresset::slice(view_, dim_, index.slice().start(), index.slice().stop(), index.slice().step());
        dim_++;
        self_dim_++;
        break;
      case TensorIndex::Kind::tensor:
        tensor(index.tensor());
        break;
    }
  }
  void select_one(int64_t at) {
    int64_t n = view_.size(dim_);
    CRESSET_CHECK_AS(IndexError, at >= -n && at < n, "index: index ", at, " is out of bounds for dimension ", self_dim_,
                     " with size ", n, " (shape ", text_of(self_.sizes()), ")");
    view_ = select(view_, dim_, at);
    self_dim_++;
  }
  // A single truth value: a new dimension, of which one place is taken or none.
  void truth(bool value) {
    view_ = unsqueeze(view_, dim_);
    Tensor index = empty_contiguous({value ? 1 : 0}, kLong, view_.device());
    if (value) fill_kernel(index, 0);
    record(index, 1);
  }
  void tensor(const Tensor& index) {
    if (index.dim() == 0 && index.dtype() == kBool) return truth(index.item<bool>());
    if (index.dim() == 0 && index.dtype() == kByte) return truth(index.item<uint8_t>() != 0);
    if (index.dim() == 0 && is_integral(index.dtype(), false)) return select_one(index.item<int64_t>());
    int64_t dims = is_mask(index) ? index.dim() : 1;
    record(index, dims);
    self_dim_ += dims;
  }
  void record(const Tensor& index, int64_t dims) {
    for (; recorded_ < dim_; recorded_++) tensors_.emplace_back();
    tensors_.push_back(index);
    recorded_ += dims;
    dim_ += dims;
  }

  const Tensor& self_;
  Tensor view_;
  std::vector<Tensor> tensors_;
  int64_t dim_ = 0;       // of view_, where the next index applies
  int64_t self_dim_ = 0;  // the same dimension of self, for messages
  int64_t recorded_ = 0;  // dimensions that tensors_ covers
};

// Values may have more dimensions than the place they go to, if those are of size 1.
Tensor without_leading_ones(const Tensor& values) {
  size_t ones = 0;
  while (ones < values.sizes().size() && values.sizes()[ones] == 1) ones++;
  return ones == 0 ? values : view(values, values.sizes().slice(ones));
}

void write_at(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& values) {
  check_defined("index_put_", "values", values);
  auto [target, tensors] = Expression("index_put_", self, indices).result();
  Tensor source = target.sizes() == values.sizes() ? values : without_leading_ones(values);
  if (tensors.empty())
    copy_(target, source);
  else
    cresset::index_put_(target, tensors, source);
}

void write_at(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value) {
  auto [target, tensors] = Expression("index_put_", self, indices).result();
  if (tensors.empty()) {
    fill_(target, value);
    return;
  }
  Tensor number = empty_contiguous({}, self.dtype(), self.device());
  cresset::index_put_(target, tensors, fill_(number, value));
}

}  // namespace

Tensor Tensor::operator[](int64_t at) const {
  CRESSET_CHECK_AS(IndexError, dim() > 0,
                   "index: invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
                   "to convert a 0-dim tensor to a number");
  CRESSET_CHECK_AS(IndexError, at >= -size(0) && at < size(0), "index: index ", at,
                   " is out of bounds for dimension 0 with size ", size(0), " (shape ", text_of(sizes()), ")");
  return cresset::select(*this, 0, at);
}
Tensor Tensor::operator[](const Tensor& index) const { return this->index({TensorIndex(index)}); }

Tensor Tensor::index(ArrayRef<TensorIndex> indices) const {
  check_defined("index", "self", *this);
  auto [view, tensors] = Expression("index", *this, indices).result();
  if (!tensors.empty()) return cresset::index(view, tensors);
  return view.is_same(*this) ? cresset::expand(*this, sizes()) : view;  // always another tensor: a view
}
Tensor Tensor::index(std::initializer_list<TensorIndex> indices) const {
  return index(ArrayRef<TensorIndex>(indices.begin(), indices.size()));
}
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Tensor& values) try {
  check_defined("index_put_", "self", *this);
  write_at(*this, indices, values);
  return *this;
}
CRESSET_ERRORS_OF(index_put, _inplace, *this, values)
Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Scalar& value) try {
  check_defined("index_put_", "self", *this);
  write_at(*this, indices, value);
  return *this;
}
CRESSET_ERRORS_OF(index_put, _inplace, *this, value)
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Tensor& values) {
  return index_put_(ArrayRef<TensorIndex>(indices.begin(), indices.size()), values);
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value) {
  return index_put_(ArrayRef<TensorIndex>(indices.begin(), indices.size()), value);
}

}  // namespace cresset
