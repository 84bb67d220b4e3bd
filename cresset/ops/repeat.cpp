// flip, roll and repetition (declared in ops/rearrange.h).
#include <numeric>

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/checked.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/gather.h"
#include "cresset/ops/rearrange.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {

CRESSET_OP(flip, , Tensor, (const Tensor& self, IntArrayRef dims), "self, dims", Gradient::formula,
           "A copy with the order of elements along each of dims reversed.")
Tensor flip(const Tensor& self, IntArrayRef dims) try {
  CRESSET_INTERCEPT(flip, , Tensor, self, dims);
  uint64_t seen = 0;
  Dims reversed;
  for (int64_t dim : dims) {
    int d = wrap_dim("flip", dim, self);
    CRESSET_CHECK_AS(ShapeError, !(seen >> d & 1), "flip: dim ", d, " appears multiple times in the list of dims ",
                     text_of(dims));
    seen |= uint64_t{1} << d;
    if (self.dim() > 0) reversed.push_back(d);
  }
  Tensor y = empty_like(self.detach());
  if (y.numel() > 0) flip_kernel(y, self, reversed);
  return differentiable("FlipBackward0", y, inputs(self), saved(),
                        [dims = KeptDims(reversed)](const Tensor& g, Wants) { return grads(flip(g, dims)); });
}
CRESSET_ERRORS_OF(flip, , self, dims)
CRESSET_OP(fliplr, , Tensor, (const Tensor& self), "self", Gradient::composed, "flip along dimension 1.")
Tensor fliplr(const Tensor& self) try {
  CRESSET_INTERCEPT(fliplr, , Tensor, self);
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 2, "fliplr: Input must be >= 2-d, found shape ", text_of(self.sizes()));
  return flip(self, 1);
}
CRESSET_ERRORS_OF(fliplr, , self)
CRESSET_OP(flipud, , Tensor, (const Tensor& self), "self", Gradient::composed, "flip along dimension 0.")
Tensor flipud(const Tensor& self) try {
  CRESSET_INTERCEPT(flipud, , Tensor, self);
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 1, "flipud: Input must be >= 1-d, found shape ", text_of(self.sizes()));
  return flip(self, int64_t{0});
}
CRESSET_ERRORS_OF(flipud, , self)

// One dimension: its end, then its beginning.
static Tensor rolled(const Tensor& x, int64_t shift, int64_t dim) {
  int64_t n = x.dim() ? x.size(dim) : 1, start = n ? (n - shift % n) % n : 0;
  if (x.dim() == 0 || x.numel() == 0) return clone(x);
  std::vector<Tensor> parts{narrow(x, dim, start, n - start), narrow(x, dim, 0, start)};
  return cat(parts, dim);
}
CRESSET_OP(roll, , Tensor, (const Tensor& self, IntArrayRef shifts, IntArrayRef dims), "self, shifts, dims={}",
           Gradient::formula,
           "A copy with the elements along each of dims moved on by shifts, around the end; without dims, of the "
           "flattened tensor.")
Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) try {
  CRESSET_INTERCEPT(roll, , Tensor, self, shifts, dims);
  CRESSET_CHECK_AS(ShapeError, !shifts.empty(), "roll: `shifts` required");
  CRESSET_CHECK_AS(ShapeError, shifts.size() == dims.size() || (dims.empty() && shifts.size() == 1),
                   "roll: shifts and dimensions must align. shifts: ", text_of(shifts), ", dims: ", text_of(dims));
  Tensor y = self.detach();
  if (dims.empty()) y = reshape(rolled(reshape(y, {-1}), shifts[0], 0), self.sizes());
  for (size_t i = 0; i < dims.size(); i++) y = rolled(y, shifts[i], wrap_dim("roll", dims[i], self));
  if (dims.empty()) y = alias(y);
  Dims back;
  for (int64_t shift : shifts) back.push_back(-shift);
  return differentiable(
      "RollBackward0", y, inputs(self), saved(),
      [back = KeptDims(back), dims = KeptDims(dims)](const Tensor& g, Wants) { return grads(roll(g, back, dims)); });
}
CRESSET_ERRORS_OF(roll, , self, shifts, dims)

CRESSET_OP(rot90, , Tensor, (const Tensor& self, int64_t k, IntArrayRef dims), "self, k=1, dims={0, 1}",
           Gradient::composed, "A copy turned k times by 90 degrees in the plane of two dimensions.")
Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) try {
  CRESSET_INTERCEPT(rot90, , Tensor, self, k, dims);
  CRESSET_CHECK_AS(ShapeError, dims.size() == 2,
                   "rot90: expected total rotation dims == 2, but got dims = ", dims.size());
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 2, "rot90: expected total dims >= 2, but got total dims = ", self.dim());
  int a = wrap_dim("rot90", dims[0], self), b = wrap_dim("rot90", dims[1], self);
  CRESSET_CHECK_AS(ShapeError, a != b, "rot90: expected rotation dims to be different, but got dim0 = ", dims[0],
                   " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1:
      return transpose(flip(self, b), a, b);
    case 2:
      return flip(self, {a, b});
    case 3:
      return transpose(flip(self, a), a, b);
    default:
      return clone(self, MemoryFormat::Contiguous);
  }
}
CRESSET_ERRORS_OF(rot90, , self, k, dims)

// ---- repetition
CRESSET_OP(repeat, , Tensor, (const Tensor& self, IntArrayRef repeats), "self, repeats", Gradient::formula,
           "A copy in which self stands repeats times along each dimension.")
Tensor repeat(const Tensor& self, IntArrayRef repeats) try {
  CRESSET_INTERCEPT(repeat, , Tensor, self, repeats);
  int rank = static_cast<int>(repeats.size()), lead = rank - static_cast<int>(self.dim());
  CRESSET_CHECK_AS(ShapeError, lead >= 0,
                   "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of "
                   "tensor, found ",
                   text_of(repeats), " for shape ", text_of(self.sizes()));
  Dims sizes;       // of the result
  Dims apart;       // with the repetitions as dimensions of their own
  Dims from, once;  // strides of self and of the result over those
  for (int i = 0; i < rank; i++) {
    int64_t times = repeats[static_cast<size_t>(i)], own = i < lead ? 1 : self.size(i - lead);
    CRESSET_CHECK_AS(ShapeError, times >= 0, "repeat: found a negative number of repetitions in ", text_of(repeats));
    sizes.push_back(checked_product("repeat", {times, own}));
    apart.push_back(times);
    apart.push_back(own);
    from.push_back(0);
    from.push_back(i < lead ? 0 : self.stride(i - lead));
  }
  Tensor y = empty_contiguous(sizes, self.dtype(), self.device());
  for (int i = 0; i < rank; i++) {
    once.push_back(checked_product("repeat", {y.stride(i), apart[2 * i + 1]}));
    once.push_back(y.stride(i));
  }
  if (y.numel() > 0) copy_kernel(alias(y, apart, once, 0), alias(self, apart, from, self.storage_offset()));
  return differentiable("RepeatBackward0", y, inputs(self), saved(),
                        [apart = KeptDims(apart), from = KeptDims(self.sizes())](const Tensor& g, Wants) {
                          Dims times;
                          bool nothing = false;
                          for (int i = 0; i < apart.rank(); i += 2) {
                            times.push_back(i);
                            nothing = nothing || apart[i] == 0;
                          }
                          if (nothing) return grads(g.new_zeros(from));
                          Tensor summed = times.empty() ? g : sum(reshape(g, apart), times);
                          return grads(reshape(summed, from));
                        });
}
CRESSET_ERRORS_OF(repeat, , self, repeats)

CRESSET_OP(tile, , Tensor, (const Tensor& self, IntArrayRef dims), "self, dims", Gradient::composed,
           "repeat, with ones in front of dims where self has more dimensions.")
Tensor tile(const Tensor& self, IntArrayRef dims) try {
  CRESSET_INTERCEPT(tile, , Tensor, self, dims);
  Dims repeats =
      Dims::filled(static_cast<int>(std::max<int64_t>(0, self.dim() - static_cast<int64_t>(dims.size()))), 1);
  for (int64_t n : dims) repeats.push_back(n);
  return repeat(self, repeats);
}
CRESSET_ERRORS_OF(tile, , self, dims)

CRESSET_OP(repeat_interleave, , Tensor, (const Tensor& repeats, std::optional<int64_t> output_size),
           "repeats, output_size=std::nullopt", Gradient::none, "Each number i, repeats[i] times.")
Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) try {
  CRESSET_INTERCEPT(repeat_interleave, , Tensor, repeats, output_size);
  CRESSET_CHECK_AS(ShapeError, repeats.dim() == 1, "repeat_interleave: only accept 1D vector as repeats, found shape ",
                   text_of(repeats.sizes()));
  CRESSET_CHECK_AS(TypeError, repeats.dtype() == kLong || repeats.dtype() == kInt,
                   "repeat_interleave: repeats has to be Long or Int tensor, found ", name_of(repeats.dtype()));
  if (repeats.numel() == 0) return empty_like(repeats);
  CRESSET_CHECK_AS(NotImplementedError, !repeats.is_meta(),
                   "repeat_interleave: the result's shape depends on values, which a meta tensor of shape ",
                   text_of(repeats.sizes()), " does not have");
  Tensor total = empty_contiguous({}, kLong, repeats.device());
  count_repeats_kernel(total, repeats);
  int64_t count = total.item<int64_t>();
  CRESSET_CHECK_AS(ShapeError, !output_size || *output_size == count,
                   "repeat_interleave: allocated size does not match required size: output_size is ",
                   output_size.value_or(0), " (expected ", count, ")");
  Tensor y = empty_contiguous({count}, repeats.dtype(), repeats.device());
  if (count > 0) repeat_interleave_kernel(y, repeats);
  return not_differentiable(Into{}, y);
}
CRESSET_ERRORS_OF(repeat_interleave, , repeats, output_size)

CRESSET_OP(repeat_interleave, self_Tensor, Tensor,
           (const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size),
           "self, repeats, dim=std::nullopt, output_size=std::nullopt", Gradient::composed,
           "Each slice of dim (none: each element) as often as repeats says, one after the other.")
Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) try {
  CRESSET_INTERCEPT(repeat_interleave, self_Tensor, Tensor, self, repeats, dim, output_size);
  Tensor x = dim ? self : reshape(self, {-1});
  int64_t d = wrap_dim("repeat_interleave", dim.value_or(0), x), n = x.dim() ? x.size(d) : 1;
  CRESSET_CHECK_AS(ShapeError,
                   repeats.dim() == 0 || (repeats.dim() == 1 && (repeats.size(0) == 1 || repeats.size(0) == n)),
                   "repeat_interleave: repeats must be 0-dim or 1-dim tensor of size 1 or have the same size as input "
                   "along dim; found shape ",
                   text_of(repeats.sizes()), " for size ", n);
  CRESSET_CHECK_AS(DeviceError, repeats.device() == self.device(),
                   "repeat_interleave: Expected all tensors to be on the same device, but found at least two devices, ",
                   self.device().str(), " and ", repeats.device().str());
  Tensor times =
      repeats.dim() == 0 || repeats.size(0) != n ? reshape(expand(reshape(repeats, {-1}), {n}), {n}) : repeats;
  return index_select(x, d, repeat_interleave(times, output_size));
}
CRESSET_ERRORS_OF(repeat_interleave, self_Tensor, self, repeats, dim, output_size)

CRESSET_OP(repeat_interleave, self_int, Tensor,
           (const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size),
           "self, repeats, dim=std::nullopt, output_size=std::nullopt", Gradient::composed,
           "Each slice of dim (none: each element) repeats times, one after the other.")
Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) try {
  CRESSET_INTERCEPT(repeat_interleave, self_int, Tensor, self, repeats, dim, output_size);
  CRESSET_CHECK_AS(ValueError, repeats >= 0, "repeat_interleave: repeats can not be negative, found ", repeats);
  Tensor x = dim ? self : reshape(self, {-1});
  int d = wrap_dim("repeat_interleave", dim.value_or(0), x);
  if (x.dim() == 0) x = reshape(x, {1});
  Dims sizes(x.sizes());
  CRESSET_CHECK_AS(ShapeError, !output_size || *output_size == sizes[d] * repeats,
                   "repeat_interleave: allocated size does not match required size: output_size is ",
                   output_size.value_or(0), " (expected ", sizes[d] * repeats, ")");
  Dims wide = sizes;
  wide.insert(d + 1, repeats);
  sizes[d] *= repeats;
  return view(clone(expand(unsqueeze(x, d + 1), wide), MemoryFormat::Contiguous), sizes);
}
CRESSET_ERRORS_OF(repeat_interleave, self_int, self, repeats, dim, output_size)

}  // namespace cresset
