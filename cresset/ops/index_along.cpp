// index_select, index_add, index_copy, index_fill and index_reduce: one index for every slice along a dimension; take
// and put, which see the tensor as flat. All are gather and scatter of ops/gather.h with an index of stride 0.
#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/masked.h"
#include "cresset/ops/matrix_forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/scatter_call.h"
#include "cresset/ops/shape.h"

namespace cresset {

Tensor index_of_slices(const Tensor& index, const Tensor& like, int64_t dim) {
  Dims sizes(like.sizes()), strides = Dims::filled(static_cast<int>(like.dim()), 0);
  if (like.dim() == 0) return at_least_1d(index);
  strides[static_cast<int>(dim)] = index.dim() ? index.stride(0) : 0;
  sizes[static_cast<int>(dim)] = index.numel();
  return alias(index, sizes, strides, index.storage_offset());
}

namespace {

void check_slices(const char* op, const Tensor& self, const Tensor& index, bool allow_int) {
  CRESSET_CHECK_AS(ShapeError, index.dim() <= 1, op, ": Index is supposed to be a vector, found shape ",
                   text_of(index.sizes()));
  CRESSET_CHECK_AS(IndexError, index.dtype() == kLong || (allow_int && index.dtype() == kInt), op,
                   ": Expected dtype int64", allow_int ? " or int32" : "", " for index, found ",
                   name_of(index.dtype()));
  CRESSET_CHECK_AS(DeviceError, self.device() == index.device(), op,
                   ": Expected all tensors to be on the same device, but found at least two devices, ",
                   self.device().str(), " and ", index.device().str());
}

void check_source(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  CRESSET_CHECK_AS(TypeError, self.dtype() == source.dtype(), op, ": self and source expected to have the same dtype, ",
                   "but got (self) ", toString(self.dtype()), " and (source) ", toString(source.dtype()));
  CRESSET_CHECK_AS(DeviceError, self.device() == source.device(), op,
                   ": Expected all tensors to be on the same device, but found at least two devices, ",
                   self.device().str(), " and ", source.device().str());
  int64_t length = source.dim() ? source.size(std::min<int64_t>(dim, source.dim() - 1)) : 1;
  CRESSET_CHECK_AS(ShapeError, index.numel() == length, op, ": Number of indices (", index.numel(),
                   ") should be equal to source.size(dim) (", length, "): index of shape ", text_of(index.sizes()),
                   ", source of shape ", text_of(source.sizes()), ", dim ", dim);
  Dims a(self.sizes()), b(source.sizes());
  if (self.dim() > 0 && source.dim() > 0) {
    CRESSET_CHECK_AS(ShapeError, self.dim() == source.dim(), op, ": source of shape ", text_of(source.sizes()),
                     " does not have the number of dimensions of self, of shape ", text_of(self.sizes()));
    a.erase(static_cast<int>(dim));
    b.erase(static_cast<int>(dim));
  } else {  // a single slice of a single element
    a.resize(0);
    b.resize(0);
    CRESSET_CHECK_AS(ShapeError, self.dim() <= 1 && source.dim() <= 1, op, ": source of shape ",
                     text_of(source.sizes()), " does not fit self of shape ", text_of(self.sizes()));
  }
  CRESSET_CHECK_AS(ShapeError, a == b, op,
                   ": Source/destination tensor must have same slice shapes. Destination slice shape: ", text_of(a),
                   " at dimension ", dim, " and source slice shape: ", text_of(b), " at dimension 0");
}

// What index_select picks, for gradients: of the shape that source had.
Tensor picked(const Tensor& g, int64_t dim, const Tensor& index, IntArrayRef source) {
  Tensor slices = index_select(g, dim, index);
  return slices.sizes() == source ? slices : reshape(slices, source);
}

Tensor number_for(const Scalar& value, const Tensor& self, IntArrayRef sizes) {
  CRESSET_CHECK_AS(TypeError, !value.isComplex() || self.is_complex(), "index_fill: value cannot be converted to type ",
                   name_of(self.dtype()),
                   " without overflow: Converting complex Scalar to non-complex type is not supported");
  Tensor number = empty_contiguous({}, self.dtype(), self.device());
  fill_kernel(number, value);
  return alias(number, sizes, Dims::filled(static_cast<int>(sizes.size()), 0), 0);
}

}  // namespace

static Tensor index_select_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index) {
  int d = wrap_dim("index_select", dim, self);
  check_slices("index_select", self, index, true);
  Dims sizes(self.sizes());
  if (self.dim() > 0)
    sizes[d] = index.numel();
  else
    CRESSET_CHECK_AS(ShapeError, index.numel() == 1, "index_select: Index to scalar can have only 1 value, got ",
                     index.numel(), " value(s)");
  if (into.out()) naming_shape(self, [&] { check_index_kernel(index, self.dim() ? self.size(d) : 1, d, false); });
  Tensor y = result("index_select", into, sizes, self.dtype(), self.device(), {&self, &index});
  if (y.numel() > 0)
    naming_shape(self,
                 [&] { gather_kernel(at_least_1d(y), at_least_1d(self), index_of_slices(index, y, d), d, false); });
  return differentiable("IndexSelectBackward0", into, y, inputs(self), saved(index),
                        [from = KeptDims(self.sizes()), d](const Tensor& g, Wants, const Tensor& index) {
                          return grads(index_add(g.new_zeros(from), d, index, g));
                        });
}
CRESSET_FORMS_OUT(index_select, , (const Tensor& self, int64_t dim, const Tensor& index), (self, dim, index),
                  "self, dim, index", "The slices of dim that index names, in its order.")

static Tensor index_add_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index,
                             const Tensor& source, const Scalar& alpha) {
  int d = wrap_dim("index_add", dim, self);
  check_slices("index_add", self, index, true);
  check_source("index_add", self, d, index, source);
  check_factor("index_add", "alpha", alpha, self.dtype());
  // Fractions are cut off for integers, as PyTorch's.
  const Scalar factor = is_integral(self.dtype(), false) ? Scalar(alpha.toLong()) : alpha;
  bool scaled = !factor.equal(1);
  Tensor values = scaled ? mul(source.detach(), factor).to(self.dtype()) : source.detach();
  Tensor like = at_least_1d(values);
  Tensor y = scattered(into, {"index_add", self, index_of_slices(index, like, d), like, d}, ScatterMode::add);
  return differentiable(
      "IndexAddBackward0", into, y, inputs(self, source), saved(index),
      [d, alpha, scaled, from = KeptDims(source.sizes())](const Tensor& g, Wants wants, const Tensor& index) {
        Tensor for_source = wants(1) ? picked(g, d, index, from) : Tensor();
        if (wants(1) && scaled) for_source = mul(for_source, alpha.conj());
        return grads(g, std::move(for_source));
      });
}
CRESSET_FORMS(index_add, ,
              (const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha),
              (self, dim, index, source, alpha), "self, dim, index, source, alpha=1",
              "self with alpha times the slices of source added to those slices of dim that index names.")

static Tensor index_copy_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& source) {
  int d = wrap_dim("index_copy", dim, self);
  check_slices("index_copy", self, index, false);
  check_source("index_copy", self, d, index, source);
  Tensor like = at_least_1d(source);
  Tensor y = scattered(into, {"index_copy", self, index_of_slices(index, like, d), like, d}, ScatterMode::store);
  return differentiable("IndexCopyBackward0", into, y, inputs(self, source), saved(index),
                        [d, from = KeptDims(source.sizes())](const Tensor& g, Wants wants, const Tensor& index) {
                          return grads(wants(0) ? index_fill(g, d, index, 0) : Tensor(),
                                       wants(1) ? picked(g, d, index, from) : Tensor());
                        });
}
CRESSET_FORMS(index_copy, , (const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source),
              (self, dim, index, source), "self, dim, index, source",
              "self with the slices of source written over those slices of dim that index names.")

static Tensor index_filled(const Into& into, const Tensor& self, int d, const Tensor& index, const Scalar& value) {
  check_slices("index_fill", self, index, false);
  Dims sizes(at_least_1d(self).sizes());
  sizes[d] = index.numel();
  Tensor source = number_for(value, self, sizes);
  ScatterCall call{"index_fill", self, index_of_slices(index, source, d), source, d, true, true};
  return scattered(into, call, ScatterMode::store);
}
// What repeats its memory, by a mask of the slices.
template <class Value>
static Tensor filled_by_mask(const Tensor& self, int64_t dim, const Tensor& index, const Value& value) {
  masked_fill_(self, index_fill(self.new_zeros(self.sizes(), kBool), dim, index, 1), value);
  return self;
}
static Tensor index_fill_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index,
                              const Scalar& value) {
  if (into.in_place() && repeats_memory(self)) return filled_by_mask(self, dim, index, value);
  int d = wrap_dim("index_fill", dim, self);
  Tensor y = index_filled(into, self, d, index, value);
  return differentiable("IndexFillBackward0", into, y, inputs(self), saved(index),
                        [d](const Tensor& g, Wants, const Tensor& index) { return grads(index_fill(g, d, index, 0)); });
}
static Tensor index_fill_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& value) {
  if (into.in_place() && repeats_memory(self)) return filled_by_mask(self, dim, index, value);
  CRESSET_CHECK_AS(ShapeError, value.dim() == 0,
                   "index_fill: only supports a 0-dimensional value tensor, but got tensor with ", value.dim(),
                   " dimension(s).");
  CRESSET_CHECK_AS(DeviceError, value.is_cpu() || value.device() == self.device(),
                   "index_fill: Expected all tensors to be on the same device, but found at least two devices, ",
                   self.device().str(), " and ", value.device().str());
  int d = wrap_dim("index_fill", dim, self);
  check_slices("index_fill", self, index, false);
  Dims sizes(at_least_1d(self).sizes());
  sizes[d] = index.numel();
  CRESSET_CHECK_AS(TypeError, !value.is_complex() || self.is_complex(),
                   "index_fill: Converting complex Scalar to non-complex type is not supported (value is ",
                   name_of(value.dtype()), ", self ", name_of(self.dtype()), ")");
  Tensor number = value.detach().to(self.device(), self.dtype());
  Tensor source = alias(number, sizes, Dims::filled(sizes.rank(), 0), number.storage_offset());
  ScatterCall call{"index_fill", self, index_of_slices(index, source, d), source, d, true, true};
  if (into.in_place()) autograd::check_inplace("index_fill", self, value.requires_grad());
  Tensor y = scattered(into, call, ScatterMode::store);
  return differentiable(
      "IndexFillBackward1", into, y, inputs(self, value), saved(index),
      [d, type = value.dtype(), on = value.device()](const Tensor& g, Wants wants, const Tensor& index) {
        Tensor for_value;
        if (wants(1)) {  // a slice named twice was filled once
          Tensor filled = index_fill(g.new_zeros(g.sizes(), kBool), d, index, 1);
          for_value = sum(where(filled, g, g.new_zeros({}))).to(on, type);
        }
        return grads(wants(0) ? index_fill(g, d, index, 0) : Tensor(), std::move(for_value));
      });
}
CRESSET_FUNCTION_FORM(index_fill, , (const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value),
                      (self, dim, index, value), "self, dim, index, value",
                      "self with the slices of dim that index names filled with value.")
CRESSET_INPLACE_FORM(index_fill, , (const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value),
                     (self, dim, index, value), "self, dim, index, value",
                     "Fills the slices of dim that index names with value.")
CRESSET_FUNCTION_FORM(index_fill, Tensor, (const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value),
                      (self, dim, index, value), "self, dim, index, value",
                      "self with the slices of dim that index names filled with value, a 0-d tensor.")
CRESSET_INPLACE_FORM(index_fill, Tensor, (const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value),
                     (self, dim, index, value), "self, dim, index, value",
                     "Fills the slices of dim that index names with value, a 0-d tensor.")

static Tensor index_reduce_into(const Into& into, const Tensor& self, int64_t dim, const Tensor& index,
                                const Tensor& source, std::string_view reduce, bool include_self) {
  int d = wrap_dim("index_reduce", dim, self);
  CRESSET_CHECK_AS(ValueError, reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
                   "index_reduce: Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
  check_slices("index_reduce", self, index, true);
  check_source("index_reduce", self, d, index, source);
  Tensor wide = index.dtype() == kLong ? index : index.to(kLong);
  return reduced_by_index("IndexReduceBackward0", into,
                          {"index_reduce", self, index_of_slices(wide, at_least_1d(source), d), source, d}, reduce,
                          include_self);
}
CRESSET_FORMS(index_reduce, ,
              (const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
               bool include_self),
              (self, dim, index, source, reduce, include_self), "self, dim, index, source, reduce, include_self=true",
              "The slices of source that index sends to one slice of dim, reduced there (prod, mean, amax, amin).")

// ---- take, put
namespace {

void check_flat(const char* op, const Tensor& self, const Tensor& index) {
  CRESSET_CHECK_AS(IndexError, index.dtype() == kLong, op, ": Expected a long tensor for index, but got ",
                   toString(index.dtype()));
  CRESSET_CHECK_AS(DeviceError, self.device() == index.device(), op,
                   ": Expected all tensors to be on the same device, but found at least two devices, ",
                   self.device().str(), " and ", index.device().str());
}
// x as one dimension; a copy only where its strides do not allow a view.
Tensor flat(const Tensor& x) {
  Tensor plain = x.detach();
  if (std::optional<Dims> strides = view_strides(plain, {plain.numel()}))
    return alias(plain, {plain.numel()}, *strides, plain.storage_offset());
  Tensor dense = empty_contiguous(x.sizes(), x.dtype(), x.device());
  copy_kernel(dense, plain);
  return alias(dense, {x.numel()}, {1}, 0);
}

}  // namespace

static Tensor take_into(const Into& into, const Tensor& self, const Tensor& index) {
  check_flat("take", self, index);
  CRESSET_CHECK_AS(IndexError, self.numel() > 0 || index.numel() == 0,
                   "take: tried to take from an empty tensor, found shape ", text_of(self.sizes()));
  if (into.out()) check_index_kernel(index, self.numel(), 0, true);
  Tensor y = result("take", into, index.sizes(), self.dtype(), self.device(), {&self, &index});
  if (y.numel() > 0) {
    // The flat tensor stands along a dimension in front; index and result have it with size 1.
    auto fronted = [](const Tensor& x) {
      Dims sizes(x.sizes()), strides(x.strides());
      sizes.insert(0, 1);
      strides.insert(0, 1);
      return alias(x, sizes, strides, x.storage_offset());
    };
    Tensor source = flat(self);
    Dims sizes(index.sizes()), strides = Dims::filled(static_cast<int>(index.dim()), 0);
    sizes.insert(0, source.numel());
    strides.insert(0, source.stride(0));
    gather_kernel(fronted(y), alias(source, sizes, strides, source.storage_offset()), fronted(index), 0, true);
  }
  return differentiable("TakeBackward0", into, y, inputs(self), saved(index),
                        [from = KeptDims(self.sizes())](const Tensor& g, Wants, const Tensor& index) {
                          return grads(put(g.new_zeros(from), index, g, /*accumulate=*/true));
                        });
}
CRESSET_FORMS_OUT(take, , (const Tensor& self, const Tensor& index), (self, index), "self, index",
                  "The elements at the given places of self, seen as if it were flat.")

static Tensor put_into(const Into& into, const Tensor& self, const Tensor& index, const Tensor& source,
                       bool accumulate) {
  check_flat("put", self, index);
  CRESSET_CHECK_AS(DeviceError, self.device() == source.device(),
                   "put: Expected all tensors to be on the same device, but found at least two devices, ",
                   self.device().str(), " and ", source.device().str());
  CRESSET_CHECK_AS(TypeError, self.dtype() == source.dtype(),
                   "put: self and source expected to have the same dtype, but got self.dtype = ",
                   toString(self.dtype()), " and source.dtype = ", toString(source.dtype()));
  CRESSET_CHECK_AS(ShapeError, index.numel() == source.numel(),
                   "put: Expected source and index to have the same number of elements, but got source.numel() = ",
                   source.numel(), ", index.numel() = ", index.numel());
  check_index_kernel(index, self.numel(), 0, true);
  Tensor y = into.fresh() ? self.detach().clone()
                          : result("put", into, self.sizes(), self.dtype(), self.device(), {&self, &source});
  if (!into.fresh()) {
    check_no_overlap("put", y, source);
    check_no_overlap("put", y, index);
  }
  if (index.numel() > 0) {
    Tensor target = flat(y);
    ScatterMode mode = accumulate ? ScatterMode::add : ScatterMode::store;
    scatter_kernel(target, flat(index), flat(source), 0, static_cast<int64_t>(mode));
    if (!target.is_alias_of(y)) copy_kernel(y, alias(target, y.sizes(), contiguous_strides(y.sizes()), 0));
  }
  return differentiable(
      "PutBackward0", into, y, inputs(self, source), saved(index),
      [accumulate, from = KeptDims(source.sizes())](const Tensor& g, Wants wants, const Tensor& index) {
        Tensor for_self;
        if (wants(0)) for_self = accumulate ? g : put(g, index, g.new_zeros(index.sizes()));
        return grads(std::move(for_self), wants(1) ? reshape(take(g, index), from) : Tensor());
      });
}
CRESSET_FUNCTION_FORM(put, , (const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate),
                      (self, index, source, accumulate), "self, index, source, accumulate=false",
                      "self with source written (or added) at the given places, as if self were flat.")
CRESSET_INPLACE_FORM(put, , (const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate),
                     (self, index, source, accumulate), "self, index, source, accumulate=false",
                     "Writes (or adds) source at the given places, as if self were flat.")

}  // namespace cresset
