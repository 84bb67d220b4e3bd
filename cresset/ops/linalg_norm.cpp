// Norms. Vector norms are sums of powers; two small differentiable powers of absolute values carry the gradients, also
// the second ones and those at zero.
#include "cresset/ops/linalg_norm.h"

#include <cmath>
#include <limits>

#include "cresset/core/kernel.h"
#include "cresset/ops/linalg_rules.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/power.h"
#include "cresset/ops/reduce.h"

namespace cresset {
namespace {

Tensor signed_pow(const Tensor& x, double exponent);

Tensor abs_pow(const Tensor& x, double exponent) {
  const Tensor y =
      empty_strided(x.sizes(), contiguous_strides(x.sizes()), to_real(compute_dtype(x.dtype())), x.device());
  abs_pow_kernel(y, x, exponent);
  return differentiable("PowBackward0", y, inputs(x), saved(x), [exponent](const Tensor& g, Wants, const Tensor& x) {
    if (exponent == 0) return grads(Tensor());
    Tensor slope = mul(signed_pow(x, exponent - 1), Scalar(exponent));
    if (exponent < 1) slope = where(x.to(kBool), slope, slope.new_zeros({}));  // PyTorch's choice at a pole
    return grads(mul(g, slope).to(x.dtype()));
  });
}

// y = x |x|^(e - 1): gx = |x|^(e - 1) g + (e - 1) |x|^(e - 3) x Re(conj(x) g); real x give e |x|^(e - 1) g.
Tensor signed_pow(const Tensor& x, double exponent) {
  const DType type = x.is_complex() ? x.dtype() : compute_dtype(x.dtype());
  if (exponent == 1) return x.to(type);
  const Tensor y = empty_strided(x.sizes(), contiguous_strides(x.sizes()), type, x.device());
  signed_pow_kernel(y, x, exponent);
  return differentiable("PowBackward0", y, inputs(x), saved(x), [exponent](const Tensor& g, Wants, const Tensor& x) {
    if (exponent == 0 && !x.is_complex()) return grads(Tensor());  // of the sign
    Tensor size = abs_pow(x, exponent - 1);
    if (exponent < 1) size = where(x.to(kBool), size, size.new_zeros({}));
    if (!x.is_complex()) return grads(mul(mul(g, size), Scalar(exponent)).to(x.dtype()));
    const Tensor straight = mul(g, size), z = mul(conj(x), g);
    const Tensor along = mul(add(z, conj(z)), Scalar(0.5 * (exponent - 1)));
    return grads(add(straight, mul(signed_pow(x, exponent - 2), along)));
  });
}

Dims all_dims(const Tensor& x) {
  Dims dims;
  for (int64_t i = 0; i < x.dim(); i++) dims.push_back(i);
  return dims;
}

void check_norm_dtype(const char* op, const Tensor& x, std::optional<DType> dtype) {
  CRESSET_CHECK_AS(TypeError, is_differentiable(x.dtype()), op,
                   ": Expected a floating point or complex tensor as input. Got ", toString(x.dtype()));
  if (!dtype) return;
  CRESSET_CHECK_AS(TypeError, is_differentiable(*dtype), op, ": dtype should be floating point or complex. Got ",
                   toString(*dtype));
  CRESSET_CHECK_AS(TypeError, is_complex(*dtype) == x.is_complex(), op, ": dtype should be ",
                   x.is_complex() ? "complex" : "real", " for ", x.is_complex() ? "complex" : "real", " inputs. Got ",
                   toString(*dtype));
  CRESSET_CHECK_AS(TypeError, promote_types(x.dtype(), *dtype) == *dtype, op, ": the dtype of the input (",
                   toString(x.dtype()), ") should be convertible without narrowing to the specified dtype (",
                   toString(*dtype), ")");
}

Tensor amin_of(const Tensor& x, IntArrayRef dim, bool keepdim) { return neg(amax(neg(x), dim, keepdim)); }

Tensor vector_norm(const char* op, const Tensor& self, double ord, IntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) {
  check_norm_dtype(op, self, dtype);
  const Tensor x = dtype ? self.to(*dtype) : self;
  if (ord < 0 || std::isinf(ord)) {
    bool nothing = false;
    if (dim.empty()) nothing = x.numel() == 0;
    for (int64_t d : dim) nothing = nothing || (x.dim() > 0 && x.size(wrap_dim(op, d, x)) == 0);
    CRESSET_CHECK_AS(ShapeError, !nothing, op, ": cannot compute the ", ord,
                     " norm on an empty tensor because the operation does not have an identity (found shape ",
                     text_of(x.sizes()), ")");
  }
  Tensor y;
  if (std::isinf(ord)) {
    const Tensor size = abs_pow(x, 1);
    y = ord > 0 ? amax(size, dim, keepdim) : amin_of(size, dim, keepdim);
  } else {
    y = sum(abs_pow(x, ord), dim, keepdim);
    if (ord != 0 && ord != 1) y = abs_pow(y, 1 / ord);
  }
  return y.to(to_real(x.dtype()));
}

// The two dims last, in their order.
struct MatrixDims {
  int row, col;
};
MatrixDims matrix_dims(const char* op, const Tensor& x, IntArrayRef dim) {
  check_matrices(op, x);
  CRESSET_CHECK_AS(ShapeError, dim.size() == 2, op, ": dim must be a 2-tuple. Got ", text_of(dim));
  const MatrixDims dims{wrap_dim(op, dim[0], x), wrap_dim(op, dim[1], x)};
  CRESSET_CHECK_AS(ShapeError, dims.row != dims.col, op, ": dims must be different. Got ", text_of(dim));
  return dims;
}
Tensor dims_last(const Tensor& x, MatrixDims dims) {
  Dims order;
  for (int i = 0; i < x.dim(); i++)
    if (i != dims.row && i != dims.col) order.push_back(i);
  order.push_back(dims.row);
  order.push_back(dims.col);
  return permute(x, order);
}
Tensor dims_back(Tensor y, MatrixDims dims, bool keepdim) {
  if (!keepdim) return y;
  y = unsqueeze(y, std::min(dims.row, dims.col));
  return unsqueeze(y, std::max(dims.row, dims.col));
}

Tensor matrix_norm(const char* op, const Tensor& self, double ord, IntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) {
  check_norm_dtype(op, self, dtype);
  const MatrixDims dims = matrix_dims(op, self, dim);
  const double size = std::abs(ord);
  CRESSET_CHECK_AS(ValueError, size == 1 || size == 2 || std::isinf(size), op, ": Order ", ord, " not supported.");
  const Tensor x = dims_last(dtype ? self.to(*dtype) : self, dims);
  Tensor y;
  if (size == 2) {
    const Tensor s = linalg_svdvals(x);
    y = ord > 0 ? amax(s, {-1}) : amin_of(s, {-1}, false);
  } else {
    const Tensor sums = sum(abs_pow(x, 1), size == 1 ? -2 : -1);
    y = (ord > 0 ? amax(sums, {-1}) : amin_of(sums, {-1}, false)).to(to_real(x.dtype()));
  }
  return dims_back(y, dims, keepdim);
}
Tensor matrix_norm(const char* op, const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) {
  check_norm_dtype(op, self, dtype);
  CRESSET_CHECK_AS(ValueError, ord == "fro" || ord == "nuc", op, ": Order ", std::string(ord), " not supported.");
  const MatrixDims dims = matrix_dims(op, self, dim);
  if (ord == "fro") return vector_norm(op, self, 2, {dims.row, dims.col}, keepdim, dtype);
  const Tensor x = dims_last(dtype ? self.to(*dtype) : self, dims);
  return dims_back(sum(linalg_svdvals(x), -1), dims, keepdim);
}

Dims dims_or_all(const Tensor& self, OptionalIntArrayRef dim) {
  if (!dim || dim->empty()) return all_dims(self);
  return Dims(*dim);
}

}  // namespace

CRESSET_LINALG_OP(linalg_vector_norm, , Tensor,
                  (const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype),
                  "self, ord=2, dim=std::nullopt, keepdim=false, dtype=std::nullopt", Gradient::composed,
                  "The norm of order ord of all elements, or over dims: (sum |x|^ord)^(1/ord); inf is the maximum.")
Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                          std::optional<DType> dtype) try {
  CRESSET_INTERCEPT(linalg_vector_norm, , Tensor, self, ord, dim, keepdim, dtype);
  return vector_norm("linalg_vector_norm", self, ord.to<double>(), dims_or_all(self, dim), keepdim, dtype);
}
CRESSET_ERRORS_OF(linalg_vector_norm, , self, ord, dim, keepdim, dtype)
CRESSET_COPIED_OUT(linalg_vector_norm, ,
                   (const Tensor& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                    std::optional<DType> dtype),
                   (self, ord, dim, keepdim, dtype), (&self),
                   "self, ord=2, dim=std::nullopt, keepdim=false, dtype=std::nullopt", "Norms of vectors.")

CRESSET_LINALG_OP(linalg_matrix_norm, , Tensor,
                  (const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                  "self, ord, dim={-2, -1}, keepdim=false, dtype=std::nullopt", Gradient::composed,
                  "Norms of matrices: 1 and -1 by columns, inf and -inf by rows, 2 and -2 by singular values.")
Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                          std::optional<DType> dtype) try {
  CRESSET_INTERCEPT(linalg_matrix_norm, , Tensor, self, ord, dim, keepdim, dtype);
  return matrix_norm("linalg_matrix_norm", self, ord.to<double>(), dim, keepdim, dtype);
}
CRESSET_ERRORS_OF(linalg_matrix_norm, , self, ord, dim, keepdim, dtype)
CRESSET_COPIED_OUT(linalg_matrix_norm, ,
                   (const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                   (self, ord, dim, keepdim, dtype), (&self),
                   "self, ord, dim={-2, -1}, keepdim=false, dtype=std::nullopt", "Norms of matrices.")

CRESSET_LINALG_OP(linalg_matrix_norm, str_ord, Tensor,
                  (const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                  "self, ord=\"fro\", dim={-2, -1}, keepdim=false, dtype=std::nullopt", Gradient::composed,
                  "Frobenius' norm of matrices, or the nuclear one: the sum of the singular values.")
Tensor linalg_matrix_norm(const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                          std::optional<DType> dtype) try {
  CRESSET_INTERCEPT(linalg_matrix_norm, str_ord, Tensor, self, ord, dim, keepdim, dtype);
  return matrix_norm("linalg_matrix_norm", self, ord, dim, keepdim, dtype);
}
CRESSET_ERRORS_OF(linalg_matrix_norm, str_ord, self, ord, dim, keepdim, dtype)
CRESSET_COPIED_OUT(linalg_matrix_norm, str_ord,
                   (const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                    std::optional<DType> dtype),
                   (self, ord, dim, keepdim, dtype), (&self),
                   "self, ord=\"fro\", dim={-2, -1}, keepdim=false, dtype=std::nullopt", "Norms of matrices.")

// Without an order, all elements; with one, a vector's or a matrix's norm by the number of dims.
CRESSET_LINALG_OP(linalg_norm, , Tensor,
                  (const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype),
                  "self, ord=std::nullopt, dim=std::nullopt, keepdim=false, dtype=std::nullopt", Gradient::composed,
                  "The norm of a vector or a matrix; without an order, the 2-norm of all elements.")
Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) try {
  CRESSET_INTERCEPT(linalg_norm, , Tensor, self, ord, dim, keepdim, dtype);
  CRESSET_CHECK_AS(ShapeError, !dim || dim->size() == 1 || dim->size() == 2,
                   "linalg_norm: If dim is specified, it must be of length 1 or 2. Got ", text_of(*dim));
  CRESSET_CHECK_AS(ShapeError, !ord || dim || self.dim() == 1 || self.dim() == 2,
                   "linalg_norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", self.dim(),
                   "D.");
  if (ord && ((dim && dim->size() == 2) || (!dim && self.dim() == 2)))
    return matrix_norm("linalg_norm", self, ord->to<double>(), dim ? Dims(*dim) : Dims{0, 1}, keepdim, dtype);
  return vector_norm("linalg_norm", self, ord ? ord->to<double>() : 2, dims_or_all(self, dim), keepdim, dtype);
}
CRESSET_ERRORS_OF(linalg_norm, , self, ord, dim, keepdim, dtype)
CRESSET_COPIED_OUT(linalg_norm, ,
                   (const Tensor& self, const std::optional<Scalar>& ord, OptionalIntArrayRef dim, bool keepdim,
                    std::optional<DType> dtype),
                   (self, ord, dim, keepdim, dtype), (&self),
                   "self, ord=std::nullopt, dim=std::nullopt, keepdim=false, dtype=std::nullopt",
                   "The norm of a vector or a matrix.")

CRESSET_LINALG_OP(linalg_norm, ord_str, Tensor,
                  (const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype),
                  "self, ord, dim=std::nullopt, keepdim=false, dtype=std::nullopt", Gradient::composed,
                  "Frobenius' or the nuclear norm of a matrix.")
Tensor linalg_norm(const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                   std::optional<DType> dtype) try {
  CRESSET_INTERCEPT(linalg_norm, ord_str, Tensor, self, ord, dim, keepdim, dtype);
  CRESSET_CHECK_AS(ShapeError, dim ? dim->size() == 2 : self.dim() == 2,
                   "linalg_norm: The input tensor must be a matrix, or dim of length 2, for order ", std::string(ord),
                   "; found shape ", text_of(self.sizes()));
  return matrix_norm("linalg_norm", self, ord, dim ? Dims(*dim) : Dims{0, 1}, keepdim, dtype);
}
CRESSET_ERRORS_OF(linalg_norm, ord_str, self, ord, dim, keepdim, dtype)
CRESSET_COPIED_OUT(linalg_norm, ord_str,
                   (const Tensor& self, std::string_view ord, OptionalIntArrayRef dim, bool keepdim,
                    std::optional<DType> dtype),
                   (self, ord, dim, keepdim, dtype), (&self),
                   "self, ord, dim=std::nullopt, keepdim=false, dtype=std::nullopt",
                   "Frobenius' or the nuclear norm of a matrix.")

// ---- cond
namespace {

void check_cond(const Tensor& self) {
  check_lapack_dtype("linalg_cond", self);
  check_matrices("linalg_cond", self);
}
// |A| |A^-1|; inf for singular matrices, since inv_ex fills what it cannot invert with it, and for 0 * inf.
template <class Order>
Tensor product_of_norms(const Tensor& self, Order order) {
  check_square("linalg_cond", self);
  if (self.numel() == 0) return self.new_zeros(batch_sizes(self)).to(to_real(self.dtype()));
  const Tensor inverse = std::get<0>(linalg_inv_ex(self));
  constexpr double inf = std::numeric_limits<double>::infinity();
  return nan_to_num(mul(linalg_matrix_norm(self, order), linalg_matrix_norm(inverse, order)), inf, inf, -inf);
}

}  // namespace

CRESSET_LINALG_OP(linalg_cond, , Tensor, (const Tensor& self, const std::optional<Scalar>& p), "self, p=std::nullopt",
                  Gradient::composed, "The condition numbers of matrices in a norm; the 2-norm by default.")
Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) try {
  CRESSET_INTERCEPT(linalg_cond, , Tensor, self, p);
  check_cond(self);
  const double order = p ? p->to<double>() : 2;
  if (std::abs(order) != 2) return product_of_norms(self, Scalar(order));
  if (self.numel() == 0) return self.new_zeros(batch_sizes(self)).to(to_real(self.dtype()));
  const Tensor s = linalg_svdvals(self), largest = select(s, -1, 0), smallest = select(s, -1, -1);
  return order > 0 ? div(largest, smallest) : div(smallest, largest);
}
CRESSET_ERRORS_OF(linalg_cond, , self, p)
CRESSET_CAST_OUT(linalg_cond, , (const Tensor& self, const std::optional<Scalar>& p), (self, p), (&self),
                 "self, p=std::nullopt", "The condition numbers of matrices.")

CRESSET_LINALG_OP(linalg_cond, p_str, Tensor, (const Tensor& self, std::string_view p), "self, p", Gradient::composed,
                  "The condition numbers of matrices in Frobenius' or the nuclear norm.")
Tensor linalg_cond(const Tensor& self, std::string_view p) try {
  CRESSET_INTERCEPT(linalg_cond, p_str, Tensor, self, p);
  check_cond(self);
  return product_of_norms(self, p);
}
CRESSET_ERRORS_OF(linalg_cond, p_str, self, p)
CRESSET_CAST_OUT(linalg_cond, p_str, (const Tensor& self, std::string_view p), (self, p), (&self), "self, p",
                 "The condition numbers of matrices.")

}  // namespace cresset
