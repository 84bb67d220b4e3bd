// Products around ops/matmul: baddbmm and addmv are its kernel with something added, the others are composed.
#include "cresset/ops/matrix.h"

#include <algorithm>

#include "cresset/core/kernel.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/linalg.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/matrix_forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

void check_factors(const char* op, const Tensor& self, const Tensor& a, const Tensor& b) {
  for (const Tensor* x : {&a, &b}) {
    CRESSET_CHECK_AS(TypeError, x->dtype() == self.dtype(), op, ": expected scalar type ", toString(self.dtype()),
                     " but found ", toString(x->dtype()), " (all tensors must have the same dtype)");
    check_same_device(op, self, *x);
  }
  CRESSET_CHECK_AS(TypeError, self.dtype() != kBool, op, ": not implemented for 'Bool'");
}

void check_expands(const char* op, const Tensor& self, IntArrayRef sizes) {
  const int64_t lead = static_cast<int64_t>(sizes.size()) - self.dim();
  bool fits = lead >= 0;
  for (int64_t i = 0; fits && i < self.dim(); i++)
    fits = self.size(i) == 1 || self.size(i) == sizes[static_cast<size_t>(i + lead)];
  CRESSET_CHECK_AS(ShapeError, fits, op,
                   ": The expanded size of the tensor must match the existing size: self has shape ",
                   text_of(self.sizes()), ", which does not expand to ", text_of(sizes));
}

void check_batches(const char* op, const Tensor& a, const Tensor& b) {
  for (auto [name, x] : {std::pair{"batch1", &a}, std::pair{"batch2", &b}})
    CRESSET_CHECK_AS(ShapeError, x->dim() == 3, op, ": ", name, " must be a 3D tensor, found shape ",
                     text_of(x->sizes()));
  CRESSET_CHECK_AS(ShapeError, a.size(0) == b.size(0) && a.size(2) == b.size(1), op,
                   ": Expected size for first two dimensions of batch2 tensor to be: ", text_of({a.size(0), a.size(2)}),
                   " but got: ", text_of({b.size(0), b.size(1)}), ".");
}

}  // namespace

Tensor adjoint_of(const Tensor& x) { return transpose(conj(x), -2, -1); }

// ---- baddbmm
static Tensor baddbmm_into(const Into& into, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                           const Scalar& beta, const Scalar& alpha) {
  if (!into.in_place() && self.dtype() != batch1.dtype())  // the factors' dtype decides
    return baddbmm_into(into, self.to(batch1.dtype()), batch1, batch2, beta, alpha);
  check_factors("baddbmm", self, batch1, batch2);
  check_batches("baddbmm", batch1, batch2);
  check_factor("baddbmm", "beta", beta, self.dtype());
  check_factor("baddbmm", "alpha", alpha, self.dtype());
  const Dims sizes{batch1.size(0), batch1.size(1), batch2.size(2)};
  check_expands("baddbmm", self, sizes);
  const bool adds_to_self = !into.fresh() && into.tensor->is_same(self);
  const Tensor a = into.in_place() ? preserved(into, batch1, true) : batch1;
  const Tensor b = into.in_place() ? preserved(into, batch2, true) : batch2;
  Tensor y = result("baddbmm", into, sizes, self.dtype(), self.device(), {&a, &b, adds_to_self ? &a : &self});
  gemm_kernel(y, beta.equal(0) ? Tensor() : self, a, b, beta, alpha);
  return differentiable(
      "BaddbmmBackward0", into, y, inputs(self, a, b),
      saved(kept_if(b.requires_grad(), a), kept_if(a.requires_grad(), b)),
      [spread = Broadcast(self, y), beta, alpha](const Tensor& g, Wants wants, const Tensor& a, const Tensor& b) {
        const Tensor scaled_g = wants(1) || wants(2) ? scaled(g, alpha.conj()) : Tensor();
        return grads(wants(0) ? spread.reduce(scaled(g, beta.conj())) : Tensor(),
                     wants(1) ? bmm(scaled_g, adjoint_of(b)) : Tensor(),
                     wants(2) ? bmm(adjoint_of(a), scaled_g) : Tensor());
      });
}
CRESSET_FORMS(baddbmm, ,
              (const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha),
              (self, batch1, batch2, beta, alpha), "self, batch1, batch2, beta=1, alpha=1",
              "beta * self + alpha * (batch1 @ batch2) for batches of matrices; self is broadcast.")

// ---- addbmm: the batch is one more dimension to add over, so that one product does it.
static Tensor addbmm_into(const Into& into, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                          const Scalar& beta, const Scalar& alpha) {
  check_factors("addbmm", self, batch1, batch2);
  check_batches("addbmm", batch1, batch2);
  const int64_t terms = batch1.size(0) * batch1.size(2);
  const Tensor a = reshape(permute(batch1, {1, 0, 2}), {batch1.size(1), terms});
  const Tensor b = reshape(batch2, {terms, batch2.size(2)});
  if (into.in_place()) return addmm_(self, a, b, beta, alpha);
  if (into.out()) return addmm_out(const_cast<Tensor&>(*into.tensor), self, a, b, beta, alpha);
  return addmm(self, a, b, beta, alpha);
}
CRESSET_FORMS(addbmm, ,
              (const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha),
              (self, batch1, batch2, beta, alpha), "self, batch1, batch2, beta=1, alpha=1",
              "beta * self + alpha * the sum of the products batch1[i] @ batch2[i].")

// ---- addmv
static Tensor addmv_into(const Into& into, const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
                         const Scalar& alpha) {
  if (!into.in_place() && self.dtype() != mat.dtype())  // the factors' dtype decides
    return addmv_into(into, self.to(mat.dtype()), mat, vec, beta, alpha);
  check_factors("addmv", self, mat, vec);
  CRESSET_CHECK_AS(ShapeError, mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1,
                   "addmv: vector + matrix @ vector expected, got ", self.dim(), ", ", mat.dim(), ", ", vec.dim(),
                   " dimensions");
  CRESSET_CHECK_AS(ShapeError, mat.size(1) == vec.size(0) && (self.numel() == 1 || mat.size(0) == self.numel()),
                   "addmv: size mismatch, got input (", self.numel(), "), mat (", mat.size(0), "x", mat.size(1),
                   "), vec (", vec.size(0), ")");
  check_factor("addmv", "beta", beta, self.dtype());
  check_factor("addmv", "alpha", alpha, self.dtype());
  const bool adds_to_self = !into.fresh() && into.tensor->is_same(self);
  const Tensor a = into.in_place() ? preserved(into, mat, true) : mat;
  const Tensor x = into.in_place() ? preserved(into, vec, true) : vec;
  Tensor y = result("addmv", into, {mat.size(0)}, self.dtype(), self.device(), {&a, &x, adds_to_self ? &a : &self});
  const bool repeats = self.dim() == 0 || self.size(0) != mat.size(0);
  const Tensor added = alias(self, {mat.size(0), 1}, {repeats ? 0 : self.stride(0), 1}, self.storage_offset());
  gemm_kernel(as_column(y), beta.equal(0) ? Tensor() : added, a, as_column(x), beta, alpha);
  return differentiable(
      "AddmvBackward0", into, y, inputs(self, a, x),
      saved(kept_if(x.requires_grad(), a), kept_if(a.requires_grad(), x)),
      [spread = Broadcast(self, y), beta, alpha](const Tensor& g, Wants wants, const Tensor& a, const Tensor& x) {
        const Tensor scaled_g = wants(1) || wants(2) ? scaled(g, alpha.conj()) : Tensor();
        return grads(wants(0) ? spread.reduce(scaled(g, beta.conj())) : Tensor(),
                     wants(1) ? mul(unsqueeze(scaled_g, 1), unsqueeze(conj(x), 0)) : Tensor(),
                     wants(2) ? mv(adjoint_of(a), scaled_g) : Tensor());
      });
}
CRESSET_FORMS(addmv, ,
              (const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha),
              (self, mat, vec, beta, alpha), "self, mat, vec, beta=1, alpha=1",
              "beta * self + alpha * (mat @ vec); self is broadcast.")

// ---- addr
namespace {

void check_vector(const char* op, const char* argument, const Tensor& x) {
  CRESSET_CHECK_AS(ShapeError, x.dim() == 1, op, ": Expected 1-D argument ", argument, ", but got ", x.dim(), "-D");
}

// A factor that does not promote a bool tensor.
Tensor times(const Tensor& x, const Scalar& factor) {
  return x.dtype() == kBool ? mul(x, Scalar(factor.to<bool>())) : scaled(x, factor);
}

}  // namespace

CRESSET_OP(addr, , Tensor,
           (const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha),
           "self, vec1, vec2, beta=1, alpha=1", Gradient::composed,
           "beta * self + alpha * the outer product of two vectors; self is broadcast.")
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) try {
  CRESSET_INTERCEPT(addr, , Tensor, self, vec1, vec2, beta, alpha);
  check_vector("addr", "vec1", vec1);
  check_vector("addr", "vec2", vec2);
  check_same_device("addr", self, vec1);
  const DType dtype = result_type({&self, &vec1, &vec2});
  for (auto [name, value] : {std::pair{"beta", &beta}, std::pair{"alpha", &alpha}}) {
    CRESSET_CHECK_AS(TypeError, !is_integral(dtype, true) || value->isIntegral(true),
                     "addr: For integral input tensors, argument ", name,
                     " must not be a floating point number, found ", *value);
    CRESSET_CHECK_AS(TypeError, !value->isBoolean() || dtype == kBool, "addr: Boolean ", name,
                     " only supported for Boolean results, found a result of ", name_of(dtype));
    check_factor("addr", name, *value, dtype);
  }
  const Dims sizes{vec1.size(0), vec2.size(0)};
  check_expands("addr", self, sizes);
  // In the result's dtype: bytes would overflow, and alpha is no bool if the result is not.
  const Tensor product = times(mul(unsqueeze(vec1.to(dtype), 1), vec2.to(dtype)), alpha);
  // Not even a nan of self counts then, but its strides and dtype do.
  if (beta.equal(0))
    return where(full({}, false, TensorOptions(kBool).device(self.device())), expand(self, sizes), product);
  return add(times(expand(self.to(dtype), sizes), beta), product);
}
CRESSET_ERRORS_OF(addr, , self, vec1, vec2, beta, alpha)
static const Op& addr_inplace_op = define_op(
    "addr_",
    static_cast<Tensor& (*)(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&)>(&addr_),
    "self, vec1, vec2, beta=1, alpha=1", "beta * self + alpha * the outer product of two vectors, in place.",
    {.functional = &addr_op});
Tensor& addr_(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) try {
  if (CRESSET_LIKELY(thread_state.modes_above == 0) ||
      !intercepted<void>(addr_inplace_op, self, vec1, vec2, beta, alpha)) {
    const Tensor sum = addr(self, vec1, vec2, beta, alpha);
    CRESSET_CHECK_AS(ShapeError, sum.sizes() == self.sizes(), "addr_: output with shape ", text_of(self.sizes()),
                     " doesn't match the result's shape ", text_of(sum.sizes()));
    CRESSET_CHECK_AS(TypeError, can_cast(sum.dtype(), self.dtype()), "addr_: result type ", toString(sum.dtype()),
                     " can't be cast to the desired output type ", toString(self.dtype()));
    copy_(self, sum);
  }
  return const_cast<Tensor&>(self);
}
CRESSET_ERRORS_OF(addr_inplace, , self, vec1, vec2, beta, alpha)
CRESSET_CAST_OUT(addr, ,
                 (const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha),
                 (self, vec1, vec2, beta, alpha), (&self, &vec1, &vec2), "self, vec1, vec2, beta=1, alpha=1",
                 "beta * self + alpha * the outer product of two vectors.")

// ---- outer, inner, vdot, vecdot
CRESSET_OP(outer, , Tensor, (const Tensor& self, const Tensor& vec2), "self, vec2", Gradient::composed,
           "The matrix of the products of two vectors' elements.")
Tensor outer(const Tensor& self, const Tensor& vec2) try {
  CRESSET_INTERCEPT(outer, , Tensor, self, vec2);
  check_vector("outer", "self", self);
  check_vector("outer", "vec2", vec2);
  check_same_device("outer", self, vec2);
  return mul(unsqueeze(self, 1), vec2);
}
CRESSET_ERRORS_OF(outer, , self, vec2)
CRESSET_CAST_OUT(outer, , (const Tensor& self, const Tensor& vec2), (self, vec2), (&self, &vec2), "self, vec2",
                 "The matrix of the products of two vectors' elements.")

CRESSET_OP(inner, , Tensor, (const Tensor& self, const Tensor& other), "self, other", Gradient::composed,
           "The sums of products over the last dimension of both; a number multiplies.")
Tensor inner(const Tensor& self, const Tensor& other) try {
  CRESSET_INTERCEPT(inner, , Tensor, self, other);
  check_same_device("inner", self, other);
  if (self.dim() == 0 || other.dim() == 0) return mul(self, other);
  CRESSET_CHECK_AS(ShapeError, self.size(-1) == other.size(-1),
                   "inner() the last dimension must match on both input tensors but got shapes ", text_of(self.sizes()),
                   " and ", text_of(other.sizes()));
  return tensordot(self, other, {-1}, {-1});
}
CRESSET_ERRORS_OF(inner, , self, other)
CRESSET_COPIED_OUT(inner, , (const Tensor& self, const Tensor& other), (self, other), (&self, &other), "self, other",
                   "The sums of products over the last dimension of both.")

CRESSET_OP(vdot, , Tensor, (const Tensor& self, const Tensor& other), "self, other", Gradient::composed,
           "The dot product of two vectors, the first conjugated.")
Tensor vdot(const Tensor& self, const Tensor& other) try {
  CRESSET_INTERCEPT(vdot, , Tensor, self, other);
  return dot(conj(self), other);
}
CRESSET_ERRORS_OF(vdot, , self, other)
CRESSET_COPIED_OUT(vdot, , (const Tensor& self, const Tensor& other), (self, other), (&self, &other), "self, other",
                   "The dot product of two vectors, the first conjugated.")

static const Op& linalg_vecdot_op =
    define_op("linalg_vecdot", static_cast<Tensor (*)(const Tensor&, const Tensor&, int64_t)>(&linalg_vecdot),
              "x, y, dim=-1", "The dot products along a dimension, x conjugated; other dimensions broadcast.",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) try {
  CRESSET_INTERCEPT(linalg_vecdot, , Tensor, x, y, dim);
  CRESSET_CHECK_AS(TypeError, is_differentiable(x.dtype()),
                   "linalg_vecdot: Expected a floating point or complex tensor as input. Got ", toString(x.dtype()));
  CRESSET_CHECK_AS(TypeError, x.dtype() == y.dtype(), "linalg_vecdot: Expected x and y to have the same dtype, found ",
                   toString(x.dtype()), " and ", toString(y.dtype()));
  check_same_device("linalg_vecdot", x, y);
  CRESSET_CHECK_AS(ShapeError, x.dim() > 0 && y.dim() > 0 && x.size(dim) == y.size(dim),
                   "linalg_vecdot: the tensors must have the same size along dim ", dim, ", found shapes ",
                   text_of(x.sizes()), " and ", text_of(y.sizes()));
  return sum(mul(conj(x), y), dim);
}
CRESSET_ERRORS_OF(linalg_vecdot, , x, y, dim)
CRESSET_COPIED_OUT(linalg_vecdot, , (const Tensor& x, const Tensor& y, int64_t dim), (x, y, dim), (&x, &y),
                   "x, y, dim=-1", "The dot products along a dimension, x conjugated.")

// ---- tensordot
static const Op& tensordot_op =
    define_op("tensordot", static_cast<Tensor (*)(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef)>(&tensordot),
              "self, other, dims_self, dims_other", "The sums of products over pairs of dimensions.",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) try {
  CRESSET_INTERCEPT(tensordot, , Tensor, self, other, dims_self, dims_other);
  CRESSET_CHECK_AS(ShapeError, dims_self.size() == dims_other.size(),
                   "tensordot: both dimension lists should have same length, got ", dims_self.size(), " and ",
                   dims_other.size());
  CRESSET_CHECK_AS(TypeError, self.dtype() == other.dtype(), "tensordot: both inputs should have same dtype, got ",
                   toString(self.dtype()), " and ", toString(other.dtype()));
  check_same_device("tensordot", self, other);
  Tensor a = self, b = other;
  std::vector<bool> summed_a(static_cast<size_t>(a.dim())), summed_b(static_cast<size_t>(b.dim()));
  Dims order_a, order_b, sizes;
  int64_t terms = 1;
  for (size_t i = 0; i < dims_self.size(); i++) {
    const int x = wrap_dim("tensordot", dims_self[i], a), y = wrap_dim("tensordot", dims_other[i], b);
    const int64_t m = a.size(x), n = b.size(y);
    CRESSET_CHECK_AS(ShapeError, m == n || m == 1 || n == 1,
                     "tensordot: contracted dimensions need to match, but first has size ", m, " in dim ", dims_self[i],
                     " and second has size ", n, " in dim ", dims_other[i]);
    CRESSET_CHECK_AS(ShapeError, !summed_a[static_cast<size_t>(x)] && !summed_b[static_cast<size_t>(y)],
                     "tensordot: dim ", dims_self[i], " appears multiple times in the list of dims ",
                     text_of(summed_a[static_cast<size_t>(x)] ? dims_self : dims_other));
    summed_a[static_cast<size_t>(x)] = summed_b[static_cast<size_t>(y)] = true;
    if (m == 1 && n != 1) b = sum(b, y, true, b.dtype());
    if (n == 1 && m != 1) a = sum(a, x, true, a.dtype());
    terms *= std::min(m, n);
  }
  int64_t rows = 1, cols = 1;
  for (int i = 0; i < a.dim(); i++)
    if (!summed_a[static_cast<size_t>(i)]) {
      order_a.push_back(i);
      sizes.push_back(a.size(i));
      rows *= a.size(i);
    }
  for (size_t i = 0; i < dims_self.size(); i++) {
    order_a.push_back(wrap_dim("tensordot", dims_self[i], a));
    order_b.push_back(wrap_dim("tensordot", dims_other[i], b));
  }
  for (int i = 0; i < b.dim(); i++)
    if (!summed_b[static_cast<size_t>(i)]) {
      order_b.push_back(i);
      sizes.push_back(b.size(i));
      cols *= b.size(i);
    }
  return reshape(mm(reshape(permute(a, order_a), {rows, terms}), reshape(permute(b, order_b), {terms, cols})), sizes);
}
CRESSET_ERRORS_OF(tensordot, , self, other, dims_self, dims_other)
CRESSET_COPIED_OUT(tensordot, ,
                   (const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other),
                   (self, other, dims_self, dims_other), (&self, &other), "self, other, dims_self, dims_other",
                   "The sums of products over pairs of dimensions.")

// ---- kron
CRESSET_OP(kron, , Tensor, (const Tensor& self, const Tensor& other), "self, other", Gradient::composed,
           "Kronecker's product: every element of self times the whole of other.")
Tensor kron(const Tensor& self, const Tensor& other) try {
  CRESSET_INTERCEPT(kron, , Tensor, self, other);
  check_same_device("kron", self, other);
  const int64_t rank = std::max(self.dim(), other.dim());
  Dims of_self, of_other, sizes;
  for (int64_t i = 0; i < rank; i++) {
    const int64_t a = i - (rank - self.dim()), b = i - (rank - other.dim());
    const int64_t m = a < 0 ? 1 : self.size(a), n = b < 0 ? 1 : other.size(b);
    for (int64_t size : {m, int64_t{1}}) of_self.push_back(size);
    for (int64_t size : {int64_t{1}, n}) of_other.push_back(size);
    sizes.push_back(m * n);
  }
  return reshape(mul(reshape(self, of_self), reshape(other, of_other)), sizes);
}
CRESSET_ERRORS_OF(kron, , self, other)
CRESSET_CAST_OUT(kron, , (const Tensor& self, const Tensor& other), (self, other), (&self, &other), "self, other",
                 "Kronecker's product.")

// ---- cross
static Tensor cross_along(const char* op, const Tensor& self, const Tensor& other, int64_t dim) {
  CRESSET_CHECK_AS(ShapeError, self.dim() == other.dim(), op,
                   ": inputs must have the same number of dimensions, found shapes ", text_of(self.sizes()), " and ",
                   text_of(other.sizes()));
  CRESSET_CHECK_AS(TypeError, self.dtype() == other.dtype(), op, ": expected scalar type ", toString(self.dtype()),
                   " but found ", toString(other.dtype()));
  CRESSET_CHECK_AS(TypeError, self.dtype() != kBool, op, ": not implemented for 'Bool'");
  check_same_device(op, self, other);
  const int along = wrap_dim(op, dim, self);
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0 && self.size(along) == 3 && other.size(along) == 3, op,
                   ": inputs dimension ", dim, " must have length 3. Got ", self.dim() ? self.size(along) : 1, " and ",
                   other.dim() ? other.size(along) : 1);
  const Dims sizes = broadcast_shapes(op, self.sizes(), other.sizes());
  Tensor a[3], b[3];
  for (int i = 0; i < 3; i++) {
    a[i] = select(expand(self, sizes), along, i);
    b[i] = select(expand(other, sizes), along, i);
  }
  auto minor = [&](int i, int j) { return sub(mul(a[i], b[j]), mul(a[j], b[i])); };
  return stack({{minor(1, 2), minor(2, 0), minor(0, 1)}}, along);
}
static const Op& linalg_cross_op =
    define_op("linalg_cross", static_cast<Tensor (*)(const Tensor&, const Tensor&, int64_t)>(&linalg_cross),
              "self, other, dim=-1", "The cross product of vectors of three elements along a dimension.",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) try {
  CRESSET_INTERCEPT(linalg_cross, , Tensor, self, other, dim);
  return cross_along("linalg_cross", self, other, dim);
}
CRESSET_ERRORS_OF(linalg_cross, , self, other, dim)
CRESSET_COPIED_OUT(linalg_cross, , (const Tensor& self, const Tensor& other, int64_t dim), (self, other, dim),
                   (&self, &other), "self, other, dim=-1", "The cross product along a dimension.")
CRESSET_OP(cross, , Tensor, (const Tensor& self, const Tensor& other, std::optional<int64_t> dim),
           "self, other, dim=std::nullopt", Gradient::composed,
           "The cross product along a dimension; by default the first of size 3.")
Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) try {
  CRESSET_INTERCEPT(cross, , Tensor, self, other, dim);
  for (int64_t i = 0; !dim && i < self.dim(); i++)
    if (self.size(i) == 3) dim = i;
  CRESSET_CHECK_AS(ShapeError, dim, "cross: no dimension of size 3 in input of shape ", text_of(self.sizes()));
  return cross_along("cross", self, other, *dim);
}
CRESSET_ERRORS_OF(cross, , self, other, dim)
CRESSET_COPIED_OUT(cross, , (const Tensor& self, const Tensor& other, std::optional<int64_t> dim), (self, other, dim),
                   (&self, &other), "self, other, dim=std::nullopt", "The cross product along a dimension.")

}  // namespace cresset
