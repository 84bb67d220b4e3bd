// gather, scatter and take_along_dim: an index for every element. Shape rules and gradients; each is the other's
// gradient.
#include "cresset/ops/gather.h"

#include <cmath>

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/pad.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/scatter_call.h"
#include "cresset/ops/shape.h"

namespace cresset {

Tensor at_least_1d(const Tensor& x) {
  return x.dim() > 0 ? x.detach() : alias(x, IntArrayRef{1}, IntArrayRef{1}, x.storage_offset());
}

Tensor scattered(const Into& into, const ScatterCall& call, ScatterMode mode) {
  const Tensor& self = call.self;
  const bool onto_itself = into.out() && into.tensor->defined() && into.tensor->is_same(self);
  naming_shape(self,
               [&] { check_index_kernel(call.index, self.dim() ? self.size(call.dim) : 1, call.dim, call.wraps); });
  Tensor y;
  if (into.fresh()) {
    y = call.keeps_layout ? self.detach().clone() : empty_contiguous(self.sizes(), self.dtype(), self.device());
  } else {
    y = onto_itself ? result(call.op, into, self.sizes(), self.dtype(), self.device(), {&call.src})
                    : result(call.op, into, self.sizes(), self.dtype(), self.device(), {&self, &call.src});
    check_no_overlap(call.op, y, call.src);
    check_no_overlap(call.op, y, call.index);
  }
  if (!into.in_place() && !onto_itself && !(into.fresh() && call.keeps_layout)) copy_kernel(y, self);
  if (call.index.numel() > 0)
    scatter_kernel(at_least_1d(y), call.index, call.src, call.dim, static_cast<int64_t>(mode));
  return y;
}

namespace {

void check_index_dtype(const char* op, const Tensor& index) {
  CRESSET_CHECK_AS(IndexError, index.dtype() == kLong, op, ": Expected dtype int64 for index, found ",
                   name_of(index.dtype()));
}
// A number may not come from another device: the kernel reads where the index says.
void check_device(const char* op, const Tensor& self, const Tensor& other) {
  CRESSET_CHECK_AS(DeviceError, self.device() == other.device(), op,
                   ": Expected all tensors to be on the same device, but found at least two devices, ",
                   self.device().str(), " and ", other.device().str());
}
int64_t size_at(const Tensor& x, int64_t dim) { return x.dim() ? x.size(dim) : 1; }
int64_t rank_of(const Tensor& x) { return std::max<int64_t>(x.dim(), 1); }

void check_gather(const char* op, const Tensor& self, int64_t dim, const Tensor& index) {
  check_index_dtype(op, index);
  check_device(op, self, index);
  if (index.numel() == 0) return;
  CRESSET_CHECK_AS(ShapeError, rank_of(self) == rank_of(index), op,
                   ": Index tensor must have the same number of dimensions as input tensor, found index of shape ",
                   text_of(index.sizes()), " for shape ", text_of(self.sizes()));
  for (int64_t i = 0; i < rank_of(self); i++)
    CRESSET_CHECK_AS(ShapeError, i == dim || size_at(index, i) <= size_at(self, i), op,
                     ": Size does not match at dimension ", i, " expected index ", text_of(index.sizes()),
                     " to be smaller than self ", text_of(self.sizes()), " apart from dimension ", dim);
}

void check_scatter(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_gather(op, self, dim, index);
  check_device(op, self, src);
  CRESSET_CHECK_AS(TypeError, self.dtype() == src.dtype(), op, ": Expected self.dtype to be equal to src.dtype, found ",
                   name_of(self.dtype()), " and ", name_of(src.dtype()));
  if (index.numel() == 0) return;
  CRESSET_CHECK_AS(ShapeError, rank_of(src) == rank_of(index), op,
                   ": Index tensor must have the same number of dimensions as src tensor, found index of shape ",
                   text_of(index.sizes()), " for src of shape ", text_of(src.sizes()));
  for (int64_t i = 0; i < rank_of(index); i++)
    CRESSET_CHECK_AS(ShapeError, size_at(index, i) <= size_at(src, i), op, ": Expected index ", text_of(index.sizes()),
                     " to be smaller than src ", text_of(src.sizes()), " in all dimensions");
}

// A number as a source of index's shape.
Tensor number_like(const Scalar& value, const Tensor& index, const Tensor& self) {
  Tensor number = empty_contiguous({}, self.dtype(), self.device());
  fill_kernel(number, value);
  return alias(number, index.sizes(), Dims::filled(static_cast<int>(index.dim()), 0), 0);
}

// The gradient of a source of which only a corner, of the index's shape, was read.
Tensor enlarged(const Tensor& gradient, IntArrayRef sizes) {
  if (gradient.sizes() == sizes) return gradient;
  if (gradient.dim() != static_cast<int64_t>(sizes.size())) return reshape(gradient, sizes);  // 0-d and 1-d meet
  std::vector<int64_t> more;
  for (int64_t i = gradient.dim() - 1; i >= 0; i--) {
    more.push_back(0);
    more.push_back(sizes[static_cast<size_t>(i)] - gradient.size(i));
  }
  return constant_pad_nd(gradient, more, 0);
}
Tensor corner(Tensor x, IntArrayRef sizes) {
  if (x.dim() != static_cast<int64_t>(sizes.size())) return reshape(x, sizes);
  for (int64_t i = 0; i < x.dim(); i++)
    if (x.size(i) != sizes[static_cast<size_t>(i)]) x = narrow(x, i, 0, sizes[static_cast<size_t>(i)]);
  return x;
}

}  // namespace

// ---- gather
static Tensor gather_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
  int d = wrap_dim("gather", dim, self);
  check_gather("gather", self, d, index);
  CRESSET_CHECK_AS(NotImplementedError, !sparse_grad, "gather: sparse gradients (sparse_grad=true) are not supported");
  if (into.out()) naming_shape(self, [&] { check_index_kernel(index, size_at(self, d), d, false); });
  Tensor y = result("gather", into, index.sizes(), self.dtype(), self.device(), {&self, &index});
  if (y.numel() > 0)
    naming_shape(self, [&] { gather_kernel(at_least_1d(y), at_least_1d(self), at_least_1d(index), d, false); });
  return differentiable("GatherBackward0", into, y, inputs(self), saved(index),
                        [from = KeptDims(self.sizes()), d](const Tensor& g, Wants, const Tensor& index) {
                          return grads(scatter_add(g.new_zeros(from), d, index, g));
                        });
}
CRESSET_FORMS_OUT(gather, , (const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad),
                  (self, dim, index, sparse_grad), "self, dim, index, sparse_grad=false",
                  "For each place of index, the element of self at that place with index's value in place of dim's.")

CRESSET_OP(take_along_dim, , Tensor, (const Tensor& self, const Tensor& indices, std::optional<int64_t> dim),
           "self, indices, dim=std::nullopt", Gradient::composed,
           "gather with both tensors broadcast against each other, or flattened if dim is not given.")
Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) try {
  CRESSET_INTERCEPT(take_along_dim, , Tensor, self, indices, dim);
  check_index_dtype("take_along_dim", indices);
  check_device("take_along_dim", self, indices);
  if (!dim) return gather(reshape(self, {-1}), 0, reshape(indices, {-1}));
  CRESSET_CHECK_AS(ShapeError, self.dim() == indices.dim(),
                   "take_along_dim: input and indices should have the same number of dimensions, but got ", self.dim(),
                   " dimensions for input, and ", indices.dim(), " dimensions for indices");
  int d = wrap_dim("take_along_dim", *dim, self);
  if (self.dim() == 0) return gather(self, d, indices);
  Dims from(self.sizes()), at(indices.sizes());
  from[d] = at[d] = 1;
  Dims wide = broadcast_shapes("take_along_dim", from, at);
  wide[d] = self.size(d);
  Tensor wide_self = expand(self, wide);
  wide[d] = indices.size(d);
  return gather(wide_self, d, expand(indices, wide));
}
CRESSET_ERRORS_OF(take_along_dim, , self, indices, dim)
CRESSET_COPIED_OUT(take_along_dim, , (const Tensor& self, const Tensor& indices, std::optional<int64_t> dim),
                   (self, indices, dim), (&self, &indices), "self, indices, dim=std::nullopt",
                   "gather with both tensors broadcast against each other, or flattened if dim is not given.")

// ---- scatter
static Tensor scatter_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  int d = wrap_dim("scatter", dim, self);
  check_scatter("scatter", self, d, index, src);
  Tensor y = scattered(into, {"scatter", self, at_least_1d(index), at_least_1d(src), d}, ScatterMode::store);
  return differentiable("ScatterBackward0", into, y, inputs(self, src), saved(index),
                        [d, from = KeptDims(src.sizes())](const Tensor& g, Wants wants, const Tensor& index) {
                          return grads(wants(0) ? scatter(g, d, index, 0) : Tensor(),
                                       wants(1) ? enlarged(gather(g, d, index), from) : Tensor());
                        });
}
static Tensor scatter_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index,
                           const Scalar& value) {
  int d = wrap_dim("scatter", dim, self);
  check_gather("scatter", self, d, index);
  Tensor at = at_least_1d(index);
  Tensor y = scattered(into, {"scatter", self, at, number_like(value, at, self), d}, ScatterMode::store);
  return differentiable("ScatterBackward1", into, y, inputs(self), saved(index),
                        [d](const Tensor& g, Wants, const Tensor& index) { return grads(scatter(g, d, index, 0)); });
}
CRESSET_FORMS(scatter, , (const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src),
              (self, dim, index, src), "self, dim, index, src",
              "self with each element of src written at its place, with index's value in place of dim's.")
CRESSET_FORMS(scatter, value, (const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value),
              (self, dim, index, value), "self, dim, index, value",
              "self with value written at each place of index, with index's value in place of dim's.")

static Tensor scatter_add_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index,
                               const Tensor& src) {
  int d = wrap_dim("scatter_add", dim, self);
  check_scatter("scatter_add", self, d, index, src);
  Tensor y = scattered(into, {"scatter_add", self, at_least_1d(index), at_least_1d(src), d}, ScatterMode::add);
  return differentiable("ScatterAddBackward0", into, y, inputs(self, src), saved(index),
                        [d, from = KeptDims(src.sizes())](const Tensor& g, Wants wants, const Tensor& index) {
                          return grads(g, wants(1) ? enlarged(gather(g, d, index), from) : Tensor());
                        });
}
CRESSET_FORMS(scatter_add, , (const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src),
              (self, dim, index, src), "self, dim, index, src",
              "self with each element of src added at its place, with index's value in place of dim's.")

// ---- reductions by index
namespace {

enum class Reduce : uint8_t { sum, prod, mean, amax, amin };
constexpr const char* kReduceNames[] = {"sum", "prod", "mean", "amax", "amin"};

Reduce reduce_of(const char* op, std::string_view name) {
  for (int i = 0; i < 5; i++)
    if (name == kReduceNames[i]) return static_cast<Reduce>(i);
  throw ValueError(message_of(op, ": reduce argument must be either sum, prod, mean, amax or amin, got ", name));
}

ScatterMode mode_of(Reduce reduce) {
  constexpr ScatterMode modes[] = {ScatterMode::add, ScatterMode::multiply, ScatterMode::add, ScatterMode::amax,
                                   ScatterMode::amin};
  return modes[static_cast<int>(reduce)];
}

// What leaves every number as it is, of self's type.
Scalar identity_of(Reduce reduce, DType dtype) {
  if (reduce == Reduce::sum || reduce == Reduce::mean) return 0;
  if (reduce == Reduce::prod) return 1;
  bool lowest = reduce == Reduce::amax;
  if (is_floating_point(dtype)) return lowest ? -INFINITY : INFINITY;
  if (dtype == kBool) return !lowest;
  if (dtype == kByte) return lowest ? 0 : 255;
  int bits = static_cast<int>(element_size(dtype)) * 8;
  int64_t low = INT64_MIN >> (64 - bits), high = INT64_MAX >> (64 - bits);
  return lowest ? low : high;
}

// 1 where x is zero, else 0; constant as far as gradients are concerned.
Tensor is_zero(const Tensor& x) { return sub(ones_like(x), x.detach().to(kBool).to(x.dtype())); }
Tensor equals(const Tensor& a, const Tensor& b) {
  Tensor mask = empty_contiguous(a.sizes(), a.dtype(), a.device());
  tie_mask_kernel(mask, a.detach(), b.detach());
  return mask;
}

Grads prod_grads(const Tensor& g, const Tensor& self, const Tensor& index, const Tensor& src, const Tensor& y, int d,
                 bool include_self, Wants wants) {
  Tensor for_self, for_src;
  if (wants(0)) {  // the product of the others, where self itself is zero
    Tensor filled = add(self, is_zero(self));
    for_self = mul(g, conj(div(scatter_reduce(filled, d, index, src, "prod", include_self), filled)));
  }
  if (wants(1)) {
    Tensor zero = is_zero(src);
    Tensor zeros = gather(scatter_add(g.new_zeros(self.sizes()), d, index, zero), d, index);
    Tensor single = mul(zero, is_zero(sub(zeros, ones_like(zeros))));
    Tensor others = scatter_reduce(self, d, index, add(src, single), "prod", include_self);
    for_src = where(single.to(kBool), gather(mul(g, conj(others)), d, index),
                    div(gather(mul(g, conj(y)), d, index), conj(add(src, zero))));
  }
  return grads(std::move(for_self), std::move(for_src));
}

Grads extreme_grads(const Tensor& g, const Tensor& self, const Tensor& index, const Tensor& src, const Tensor& y,
                    int d) {
  Tensor self_is = equals(self, y), src_is = equals(src, gather(y.detach(), d, index));
  Tensor share = div(g, scatter_add(self_is, d, index, src_is));
  return grads(mul(self_is, share), mul(src_is, gather(share, d, index)));
}

Tensor counts_of(const Tensor& self, const Tensor& index, int64_t dim, bool include_self) {
  Tensor count = empty_contiguous(self.sizes(), self.dtype(), self.device());
  fill_kernel(count, include_self ? 1 : 0);
  scatter_kernel(at_least_1d(count), index, number_like(1, index, self), dim, static_cast<int64_t>(ScatterMode::add));
  return count;
}

}  // namespace

Tensor reduced_by_index(const char* node, const Into& into, const ScatterCall& call, std::string_view name,
                        bool include_self) {
  const Reduce reduce = reduce_of(call.op, name);
  const Tensor &self = call.self, &index = call.index, &src = call.src;
  const bool extreme = reduce == Reduce::amax || reduce == Reduce::amin;
  CRESSET_CHECK_AS(TypeError, !extreme || !self.is_complex(), call.op, ": \"", name, "\" not implemented for '",
                   toString(self.dtype()), "': complex numbers have no order");
  const bool sums = reduce == Reduce::sum || reduce == Reduce::mean;  // whose gradients need no values
  Tensor old = preserved(into, self, (self.requires_grad() || src.requires_grad()) && !sums);
  Tensor at = at_least_1d(index), from = at_least_1d(src);
  Tensor y;
  if (include_self) {
    y = scattered(into, {call.op, self, at, from, call.dim}, mode_of(reduce));
  } else {
    Tensor identity = number_like(identity_of(reduce, self.dtype()), at, self);
    y = scattered(into, {call.op, self, at, identity, call.dim}, ScatterMode::store);
    if (!into.fresh()) check_no_overlap(call.op, y, src);
    if (at.numel() > 0) scatter_kernel(at_least_1d(y), at, from, call.dim, static_cast<int64_t>(mode_of(reduce)));
  }
  if (reduce == Reduce::mean && at.numel() > 0) divide_by_count_kernel(y, counts_of(y, at, call.dim, include_self));
  const int d = static_cast<int>(call.dim);
  if (sums)
    return differentiable(
        node, into, y, inputs(self, src), saved(index),
        [reduce, include_self, d, from = KeptDims(src.sizes())](const Tensor& g, Wants wants, const Tensor& index) {
          if (index.numel() == 0) return grads(g, g.new_zeros(from));
          Tensor share = g;
          if (reduce == Reduce::mean) {
            Tensor count = counts_of(g, at_least_1d(index), d, include_self);
            share = div(g, add(count, is_zero(count)));
          }
          return grads(include_self || !wants(0) ? share : scatter(share, d, index, 0),
                       wants(1) ? enlarged(gather(share, d, index), from) : Tensor());
        });
  return differentiable(node, into, y, inputs(self, src), saved(index, old, src, output(y)),
                        [reduce, include_self, d](const Tensor& g, Wants wants, const Tensor& index, const Tensor& self,
                                                  const Tensor& src, const Tensor& y) {
                          if (index.numel() == 0) return grads(g, g.new_zeros(src.sizes()));
                          Tensor read = corner(src, index.sizes());
                          Grads result = reduce == Reduce::prod
                                             ? prod_grads(g, self, index, read, y, d, include_self, wants)
                                             : extreme_grads(g, self, index, read, y, d);
                          if (!include_self && result[0].defined()) result[0] = scatter(result[0], d, index, 0);
                          if (result[1].defined()) result[1] = enlarged(result[1], src.sizes());
                          return result;
                        });
}

static Tensor scatter_reduce_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index,
                                  const Tensor& src, std::string_view reduce, bool include_self) {
  int d = wrap_dim("scatter_reduce", dim, self);
  check_scatter("scatter_reduce", self, d, index, src);
  return reduced_by_index("ScatterReduceBackward0", into, {"scatter_reduce", self, index, src, d}, reduce,
                          include_self);
}
CRESSET_FORMS(scatter_reduce, ,
              (const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
               bool include_self),
              (self, dim, index, src, reduce, include_self), "self, dim, index, src, reduce, include_self=true",
              "The elements of src that index sends to one place, reduced there (sum, prod, mean, amax, amin), with "
              "self's own element among them or not.")

// The older spelling of two of them.
static std::string_view newer_name(std::string_view reduce) {
  CRESSET_CHECK_AS(ValueError, reduce == "add" || reduce == "multiply",
                   "scatter: reduce argument must be either add or multiply, got ", reduce);
  return reduce == "add" ? "sum" : "prod";
}
static Tensor scatter_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view reduce) {
  int d = wrap_dim("scatter", dim, self);
  check_scatter("scatter", self, d, index, src);
  return reduced_by_index("ScatterReduceBackward0", into, {"scatter", self, index, src, d}, newer_name(reduce), true);
}
static Tensor scatter_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                           std::string_view reduce) {
  int d = wrap_dim("scatter", dim, self);
  check_gather("scatter", self, d, index);
  return reduced_by_index("ScatterReduceBackward0", into, {"scatter", self, index, number_like(value, index, self), d},
                          newer_name(reduce), true);
}
CRESSET_FORMS(scatter, reduce,
              (const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce),
              (self, dim, index, src, reduce), "self, dim, index, src, reduce",
              "scatter that adds to (\"add\") or multiplies (\"multiply\") what is there.")
CRESSET_FORMS(scatter, value_reduce,
              (const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value, std::string_view reduce),
              (self, dim, index, value, reduce), "self, dim, index, value, reduce",
              "scatter of a number that adds to (\"add\") or multiplies (\"multiply\") what is there.")

}  // namespace cresset
