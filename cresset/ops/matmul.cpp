// Matrix products: mm, bmm, addmm, mv, dot and linear are one kernel under different shapes; matmul is composed of
// them.
#include "cresset/ops/matmul.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/matrix_forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

void check_factors(const char* op, const Tensor& a, const Tensor& b, const char* name_a, const char* name_b) {
  if (CRESSET_LIKELY(a.dtype() == b.dtype() && a.device() == b.device() && a.dtype() != kBool)) return;
  CRESSET_CHECK_AS(DeviceError, a.device() == b.device(), op,
                   ": Expected all tensors to be on the same device, but found at least two devices, ",
                   a.device().str(), " (", name_a, ") and ", b.device().str(), " (", name_b, ")");
  CRESSET_CHECK_AS(TypeError, a.dtype() == b.dtype(), op, ": expected ", name_a, " and ", name_b,
                   " to have the same dtype, but got: ", name_of(a.dtype()), " != ", name_of(b.dtype()),
                   " (expected scalar type ", cresset::toString(a.dtype()), " but found ", cresset::toString(b.dtype()),
                   ")");
  throw TypeError(message_of(op, ": not implemented for 'Bool' (expected numbers, found dtype bool)"));
}

void check_matrix(const char* op, const char* argument, const Tensor& x) {
  CRESSET_CHECK_AS(ShapeError, x.dim() == 2, op, ": ", argument, " must be a matrix, found shape ", text_of(x.sizes()));
}

void check_product(const char* op, const Tensor& a, const Tensor& b, const char* name_a, const char* name_b) {
  check_factors(op, a, b, name_a, name_b);
  check_matrix(op, name_a, a);
  check_matrix(op, name_b, b);
  const Dims &x = a.impl()->sizes, &y = b.impl()->sizes;
  CRESSET_CHECK_AS(ShapeError, x[1] == y[0], op, ": mat1 and mat2 shapes cannot be multiplied (", x[0], "x", x[1],
                   " and ", y[0], "x", y[1], ")");
}

// What is added to a product must broadcast to its shape.
void check_expands(const char* op, const char* argument, const Tensor& x, IntArrayRef sizes) {
  const int lead = static_cast<int>(sizes.size()) - static_cast<int>(x.dim());
  bool fits = lead >= 0;
  for (int i = 0; fits && i < x.dim(); i++) {
    const int64_t own = x.impl()->sizes[i], wanted = sizes[static_cast<size_t>(lead) + static_cast<size_t>(i)];
    fits = own == wanted || own == 1;
    CRESSET_CHECK_AS(ShapeError, fits, op, ": ", argument, ": The expanded size of the tensor (", wanted,
                     ") must match the existing size (", own, ") at non-singleton dimension ", i + lead,
                     ".  Target sizes: ", text_of(sizes), ".  Tensor sizes: ", text_of(x.sizes()));
  }
  CRESSET_CHECK_AS(ShapeError, fits, op, ": ", argument, " has shape ", text_of(x.sizes()),
                   ", which does not expand to ", text_of(sizes));
}

Tensor adjoint(const Tensor& x) { return transpose(conj(x), -2, -1); }
Tensor as_row(const Tensor& x) {
  return alias(x, {1, x.size(0)}, {x.size(0) * x.stride(0), x.stride(0)}, x.storage_offset());
}

}  // namespace

// ---- mm, bmm
static Tensor mm_into(const Into& into, const Tensor& self, const Tensor& mat2) {
  check_product("mm", self, mat2, "self", "mat2");
  Tensor y =
      result("mm", into, {self.impl()->sizes[0], mat2.impl()->sizes[1]}, self.dtype(), self.device(), {&self, &mat2});
  gemm_kernel(y, {}, self, mat2, 0, 1);
  return differentiable("MmBackward0", into, y, inputs(self, mat2),
                        saved(kept_if(mat2.requires_grad(), self), kept_if(self.requires_grad(), mat2)),
                        [](const Tensor& g, Wants wants, const Tensor& self, const Tensor& mat2) {
                          return grads(wants(0) ? mm(g, adjoint(mat2)) : Tensor(),
                                       wants(1) ? mm(adjoint(self), g) : Tensor());
                        });
}
CRESSET_FUNCTION_FORM(mm, , (const Tensor& self, const Tensor& mat2), (self, mat2), "self, mat2",
                      "The product of two matrices.")
CRESSET_OUT_FORM(mm, , (const Tensor& self, const Tensor& mat2), (self, mat2), "self, mat2",
                 "The product of two matrices.")

static Tensor bmm_into(const Into& into, const Tensor& self, const Tensor& mat2) {
  check_factors("bmm", self, mat2, "batch1", "batch2");
  for (auto [name, x] : {std::pair{"batch1", &self}, std::pair{"batch2", &mat2}})
    CRESSET_CHECK_AS(ShapeError, x->dim() == 3, "bmm: ", name, " must be a 3D tensor, found shape ",
                     text_of(x->sizes()));
  const Dims &a = self.impl()->sizes, &b = mat2.impl()->sizes;
  CRESSET_CHECK_AS(ShapeError, a[0] == b[0] && a[2] == b[1],
                   "bmm: Expected size for first two dimensions of batch2 tensor to be: ", text_of({a[0], a[2]}),
                   " but got: ", text_of({b[0], b[1]}), ".");
  Tensor y = result("bmm", into, {a[0], a[1], b[2]}, self.dtype(), self.device(), {&self, &mat2});
  gemm_kernel(y, {}, self, mat2, 0, 1);
  return differentiable("BmmBackward0", into, y, inputs(self, mat2),
                        saved(kept_if(mat2.requires_grad(), self), kept_if(self.requires_grad(), mat2)),
                        [](const Tensor& g, Wants wants, const Tensor& self, const Tensor& mat2) {
                          return grads(wants(0) ? bmm(g, adjoint(mat2)) : Tensor(),
                                       wants(1) ? bmm(adjoint(self), g) : Tensor());
                        });
}
CRESSET_FUNCTION_FORM(bmm, , (const Tensor& self, const Tensor& mat2), (self, mat2), "self, mat2",
                      "The products of two batches of matrices.")
CRESSET_OUT_FORM(bmm, , (const Tensor& self, const Tensor& mat2), (self, mat2), "self, mat2",
                 "The products of two batches of matrices.")

// ---- addmm
static Tensor addmm_into(const Into& into, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                         const Scalar& beta, const Scalar& alpha) {
  check_product("addmm", mat1, mat2, "mat1", "mat2");
  check_defined("addmm", "self", self);
  check_dtype("addmm", "self", self, mat1.dtype());
  check_same_device("addmm", self, mat1);
  check_factor("addmm", "beta", beta, mat1.dtype());
  check_factor("addmm", "alpha", alpha, mat1.dtype());
  const Dims sizes{mat1.size(0), mat2.size(1)};
  check_expands("addmm", "self", self, sizes);
  const bool adds_to_self = !into.fresh() && into.tensor->is_same(self);
  // In place, the factors may lie in the memory that is written.
  const Tensor a = into.in_place() ? preserved(into, mat1, true) : mat1;
  const Tensor b = into.in_place() ? preserved(into, mat2, true) : mat2;
  Tensor y = result("addmm", into, sizes, mat1.dtype(), mat1.device(), {&a, &b, adds_to_self ? &a : &self});
  gemm_kernel(y, beta.equal(0) ? Tensor() : self, a, b, beta, alpha);
  return differentiable(
      "AddmmBackward0", into, y, inputs(self, a, b),
      saved(kept_if(b.requires_grad(), a), kept_if(a.requires_grad(), b)),
      [spread = Broadcast(self, y), beta, alpha](const Tensor& g, Wants wants, const Tensor& a, const Tensor& b) {
        const Tensor scaled_g = wants(1) || wants(2) ? scaled(g, alpha.conj()) : Tensor();
        return grads(wants(0) ? spread.reduce(scaled(g, beta.conj())) : Tensor(),
                     wants(1) ? mm(scaled_g, adjoint(b)) : Tensor(), wants(2) ? mm(adjoint(a), scaled_g) : Tensor());
      });
}
CRESSET_FORMS(addmm, ,
              (const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha),
              (self, mat1, mat2, beta, alpha), "self, mat1, mat2, beta=1, alpha=1",
              "beta * self + alpha * (mat1 @ mat2); self is broadcast to the product's shape.")

// ---- mv, dot
static Tensor mv_into(const Into& into, const Tensor& self, const Tensor& vec) {
  check_factors("mv", self, vec, "self", "vec");
  CRESSET_CHECK_AS(ShapeError, self.dim() == 2 && vec.dim() == 1,
                   "mv: vector + matrix @ vector expected, found self of shape ", text_of(self.sizes()),
                   " and vec of shape ", text_of(vec.sizes()));
  CRESSET_CHECK_AS(ShapeError, self.size(1) == vec.size(0), "mv: size mismatch, got input (", self.size(0), "x",
                   self.size(1), "), vec (", vec.size(0), ")");
  Tensor y = result("mv", into, {self.size(0)}, self.dtype(), self.device(), {&self, &vec});
  gemm_kernel(as_column(y), {}, self, as_column(vec), 0, 1);
  return differentiable("MvBackward0", into, y, inputs(self, vec),
                        saved(kept_if(vec.requires_grad(), self), kept_if(self.requires_grad(), vec)),
                        [](const Tensor& g, Wants wants, const Tensor& self, const Tensor& vec) {
                          return grads(wants(0) ? mm(unsqueeze(g, 1), unsqueeze(conj(vec), 0)) : Tensor(),
                                       wants(1) ? mv(adjoint(self), g) : Tensor());
                        });
}
CRESSET_FUNCTION_FORM(mv, , (const Tensor& self, const Tensor& vec), (self, vec), "self, vec",
                      "The product of a matrix and a vector.")
CRESSET_OUT_FORM(mv, , (const Tensor& self, const Tensor& vec), (self, vec), "self, vec",
                 "The product of a matrix and a vector.")

static Tensor dot_into(const Into& into, const Tensor& self, const Tensor& tensor) {
  check_defined("dot", "self", self);
  check_defined("dot", "tensor", tensor);
  CRESSET_CHECK_AS(ShapeError, self.dim() == 1 && tensor.dim() == 1, "dot: 1D tensors expected, but got ", self.dim(),
                   "D and ", tensor.dim(), "D tensors");
  CRESSET_CHECK_AS(TypeError, self.dtype() == tensor.dtype(),
                   "dot: expected both vectors to have same dtype, but found ", cresset::toString(self.dtype()),
                   " and ", cresset::toString(tensor.dtype()));
  check_factors("dot", self, tensor, "self", "tensor");
  CRESSET_CHECK_AS(ShapeError, self.numel() == tensor.numel(), "dot: inconsistent tensor size, expected tensor ",
                   text_of(self.sizes()), " and src ", text_of(tensor.sizes()),
                   " to have the same number of elements, but got ", self.numel(), " and ", tensor.numel(),
                   " elements respectively");
  Tensor y = result("dot", into, {}, self.dtype(), self.device(), {&self, &tensor});
  gemm_kernel(alias(y, {1, 1}, {1, 1}, y.storage_offset()), {}, as_row(self), as_column(tensor), 0, 1);
  return differentiable("DotBackward0", into, y, inputs(self, tensor),
                        saved(kept_if(tensor.requires_grad(), self), kept_if(self.requires_grad(), tensor)),
                        [](const Tensor& g, Wants wants, const Tensor& self, const Tensor& tensor) {
                          return grads(wants(0) ? mul(g, conj(tensor)) : Tensor(),
                                       wants(1) ? mul(g, conj(self)) : Tensor());
                        });
}
CRESSET_FUNCTION_FORM(dot, , (const Tensor& self, const Tensor& tensor), (self, tensor), "self, tensor",
                      "The sum of the products of two vectors' elements, without conjugation.")
CRESSET_OUT_FORM(dot, , (const Tensor& self, const Tensor& tensor), (self, tensor), "self, tensor",
                 "The sum of the products of two vectors' elements, without conjugation.")

// ---- matmul
namespace {

Dims leading(IntArrayRef sizes, size_t last) { return Dims(sizes.slice(0, sizes.size() - last)); }
Dims with(Dims sizes, std::initializer_list<int64_t> more) {
  for (int64_t n : more) sizes.push_back(n);
  return sizes;
}

Tensor batched_matmul(const Tensor& self, const Tensor& other) {
  const Tensor a = self.dim() == 1 ? unsqueeze(self, 0) : self, b = other.dim() == 1 ? unsqueeze(other, 1) : other;
  const int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  CRESSET_CHECK_AS(ShapeError, k == b.size(-2), "matmul: mat1 and mat2 shapes cannot be multiplied (", m, "x", k,
                   " and ", b.size(-2), "x", n, "), found ", text_of(self.sizes()), " and ", text_of(other.sizes()));
  const Dims batch = broadcast_shapes("matmul", leading(a.sizes(), 2), leading(b.sizes(), 2));
  const int64_t count = batch.product();
  const Tensor y = bmm(reshape(expand(a, with(batch, {m, k})), {count, m, k}),
                       reshape(expand(b, with(batch, {k, n})), {count, k, n}));
  Dims sizes = batch;
  if (self.dim() > 1) sizes.push_back(m);
  if (other.dim() > 1) sizes.push_back(n);
  return reshape(y, sizes);
}

// The leading dimensions of a count as rows of one matrix, where that needs no copy.
Tensor folded_matmul(const Tensor& a, const Tensor& b) {
  const Dims lead = leading(a.sizes(), 1);
  const Dims flat{lead.product(), a.size(-1)};
  if (!view_strides(a, flat)) return batched_matmul(a, b);
  const Tensor rows = reshape(a, flat);
  return b.dim() == 1 ? reshape(mv(rows, b), lead) : reshape(mm(rows, b), with(lead, {b.size(1)}));
}

}  // namespace

CRESSET_OP(matmul, , Tensor, (const Tensor& self, const Tensor& other), "self, other", Gradient::composed,
           "The matrix product; vectors are taken as a row or a column, leading dimensions are batches and broadcast.")
Tensor matmul(const Tensor& self, const Tensor& other) try {
  CRESSET_INTERCEPT(matmul, , Tensor, self, other);
  check_factors("matmul", self, other, "self", "other");
  const int64_t a = self.dim(), b = other.dim();
  CRESSET_CHECK_AS(ShapeError, a > 0 && b > 0, "matmul: both arguments to matmul need to be at least 1D, but they are ",
                   a, "D and ", b, "D");
  if (a == 2 && b == 2) return mm(self, other);
  if (a == 1 && b == 1) return dot(self, other);
  if (a == 2 && b == 1) return mv(self, other);
  if (a == 1 && b == 2) return mv(transpose(other, 0, 1), self);
  if (a > 2 && b <= 2) return folded_matmul(self, other);
  return batched_matmul(self, other);
}
CRESSET_ERRORS_OF(matmul, , self, other)

static Tensor matmul_into(const Into& into, const Tensor& self, const Tensor& other) {
  const Tensor product = matmul(self, other);
  Tensor y = result("matmul", into, product.sizes(), product.dtype(), product.device(), {&self, &other});
  copy_kernel(y, product);
  return not_differentiable(into, y);  // the out form has refused tensors that want a gradient
}
CRESSET_OUT_FORM(matmul, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
                 "The matrix product; see matmul.")

// ---- linear
static Tensor linear_into(const Into& into, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_factors("linear", input, weight, "input", "weight");
  CRESSET_CHECK_AS(ShapeError, input.dim() > 0 && weight.dim() == 2,
                   "linear: weight must be a matrix and input at least 1D, found weight of shape ",
                   text_of(weight.sizes()), " and input of shape ", text_of(input.sizes()));
  const Dims lead = leading(input.sizes(), 1);
  const int64_t rows = lead.product(), in = weight.size(1), out = weight.size(0);
  CRESSET_CHECK_AS(ShapeError, input.size(-1) == in, "linear: mat1 and mat2 shapes cannot be multiplied (", rows, "x",
                   input.size(-1), " and ", in, "x", out, "), found input ", text_of(input.sizes()), " and weight ",
                   text_of(weight.sizes()));
  const Dims sizes = with(lead, {out});
  if (bias.defined()) {
    check_factors("linear", input, bias, "input", "bias");
    check_expands("linear", "bias", bias, sizes);
  }
  Tensor y = result("linear", into, sizes, input.dtype(), input.device(), {&input, &weight, &bias});
  const Tensor turned = alias(weight, {in, out}, {weight.stride(1), weight.stride(0)}, weight.storage_offset());
  if (input.dim() == 2) {
    gemm_kernel(y, bias, input, turned, 1, 1);
  } else {
    const Dims flat{rows, in}, flat_out{rows, out};
    const std::optional<Dims> strides = view_strides(input, flat), out_strides = view_strides(y, flat_out);
    const Tensor source = strides ? input : input.detach().contiguous();
    const Tensor dense = out_strides ? y : y.detach().contiguous();  // an out that cannot be seen as a matrix
    const Tensor flat_y =
        alias(dense, flat_out, out_strides ? *out_strides : contiguous_strides(flat_out), dense.storage_offset());
    const bool one_for_all = !bias.defined() || bias.dim() < 2;
    if (!one_for_all) copy_kernel(dense, bias);
    gemm_kernel(flat_y, one_for_all ? bias : flat_y,
                alias(source, flat, strides ? *strides : contiguous_strides(flat), source.storage_offset()), turned, 1,
                1);
    if (!out_strides) copy_kernel(y, dense);
  }
  return differentiable(
      "LinearBackward0", into, y, inputs(input, weight, bias),
      saved(kept_if(weight.requires_grad(), input), kept_if(input.requires_grad(), weight)),
      [spread = Broadcast(bias.defined() ? bias : y, y), rows, in, out](const Tensor& g, Wants wants,
                                                                        const Tensor& input, const Tensor& weight) {
        return grads(
            wants(0) ? linear(g, adjoint(weight)) : Tensor(),
            wants(1) ? mm(transpose(reshape(g, {rows, out}), 0, 1), reshape(conj(input), {rows, in})) : Tensor(),
            wants(2) ? spread.reduce(g) : Tensor());
      });
}
static const Op& linear_op = define_op(
    "linear", static_cast<Tensor (*)(const Tensor&, const Tensor&, const Tensor&)>(&linear), "input, weight, bias={}",
    "input @ weight.t() + bias, for any number of leading dimensions.", {.where = Where::function});
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) try {
  CRESSET_INTERCEPT(linear, , Tensor, input, weight, bias);
  return linear_into(Into{}, input, weight, bias);
}
CRESSET_ERRORS_OF(linear, , input, weight, bias)
CRESSET_OUT_FORM(linear, , (const Tensor& input, const Tensor& weight, const Tensor& bias), (input, weight, bias),
                 "input, weight, bias={}", "input @ weight.t() + bias, written into out.")

}  // namespace cresset
