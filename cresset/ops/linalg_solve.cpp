// Inverses and solutions of linear systems. Gradients of a solution are solutions with the adjoint matrix.
#include "cresset/autograd/kept_dims.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/diagonal.h"
#include "cresset/ops/linalg_rules.h"
#include "cresset/ops/pointwise.h"

namespace cresset {

// ---- inv: dY = -Y dA Y
namespace {

struct Inverse {
  Tensor y, info;
};
Inverse inverted(const char* op, const Tensor& A) {
  check_lapack_dtype(op, A);
  check_square(op, A);
  Inverse made{column_copy(A), new_info(A)};
  inverse_kernel(made.y, made.info);
  made.y = differentiable("LinalgInvExBackward0", made.y, inputs(A), saved(output(made.y)),
                          [](const Tensor& g, Wants, const Tensor& y) {
                            const Tensor turned = adjoint_of(y);
                            return grads(neg(matmul(turned, matmul(g, turned))));
                          });
  return made;
}
Tensor checked_inverse(const char* op, const Tensor& A) {
  Inverse made = inverted(op, A);
  check_info(made.info, LinAlgFailure::inverse);
  return made.y;
}

}  // namespace

CRESSET_LINALG_OP(linalg_inv, , Tensor, (const Tensor& A), "A", Gradient::formula, "The inverses of square matrices.")
Tensor linalg_inv(const Tensor& A) try {
  CRESSET_INTERCEPT(linalg_inv, , Tensor, A);
  return checked_inverse("linalg_inv", A);
}
CRESSET_ERRORS_OF(linalg_inv, , A)
CRESSET_COPIED_OUT(linalg_inv, , (const Tensor& A), (A), (&A), "A", "The inverses of square matrices.")

CRESSET_OP(inverse, , Tensor, (const Tensor& self), "self", Gradient::formula, "The inverses of square matrices.")
Tensor inverse(const Tensor& self) try {
  CRESSET_INTERCEPT(inverse, , Tensor, self);
  return checked_inverse("inverse", self);
}
CRESSET_ERRORS_OF(inverse, , self)
CRESSET_COPIED_OUT(inverse, , (const Tensor& self), (self), (&self), "self", "The inverses of square matrices.")

CRESSET_LINALG_OP(linalg_inv_ex, , detail::TwoTensors, (const Tensor& A, bool check_errors), "A, check_errors=false",
                  Gradient::formula,
                  "The inverses of square matrices, and for each the number of its first zero pivot, or 0.")
std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors) try {
  CRESSET_INTERCEPT(linalg_inv_ex, , detail::TwoTensors, A, check_errors);
  Inverse made = inverted("linalg_inv_ex", A);
  if (check_errors) check_info(made.info, LinAlgFailure::inverse);
  return {made.y, made.info};
}
CRESSET_ERRORS_OF(linalg_inv_ex, , A, check_errors)
CRESSET_COPIED_OUTS(linalg_inv_ex, inverse, info, (const Tensor& A, bool check_errors), (A, check_errors), (&A),
                    "A, check_errors=false", "The inverses of square matrices, and what went wrong.")

// ---- solve: A X = B, so gB = A^-H g and gA = -gB X^H
namespace {

struct Solution {
  Tensor x, info;
};
// Leading dimensions broadcast; each A is factored once.
Solution solved(const Tensor& A, const Tensor& B) {
  const Dims batch = broadcast_shapes("linalg_solve", batch_sizes(A), batch_sizes(B));
  Tensor lu = column_copy(A), pivots = empty_contiguous(batch_sizes(A, 1), kInt, A.device()), info = new_info(A);
  lu_factor_kernel(lu, pivots, info);
  if (!(batch == batch_sizes(A))) {
    lu = column_copy(lu, with_sizes(batch, {A.size(-2), A.size(-1)}));
    pivots = expand(pivots, with_sizes(batch, {A.size(-1)})).contiguous();
  }
  Tensor x = column_copy(B, with_sizes(batch, {B.size(-2), B.size(-1)}));
  lu_solve_kernel(x, lu, pivots, 0);
  x = differentiable("LinalgSolveExBackward0", x, inputs(A, B), saved(A, lu, pivots, output(x)),
                     [to = KeptDims(B.sizes())](const Tensor& g, Wants wants, const Tensor& A, const Tensor& lu,
                                                const Tensor& pivots, const Tensor& x) {
                       Tensor gb;
                       if (thread_state.grad_enabled) {  // the factors know nothing of A's place in the graph
                         gb = solved(adjoint_of(A), g).x;
                       } else {
                         gb = column_copy(g);
                         lu_solve_kernel(gb, lu, pivots, 2);
                       }
                       return grads(wants(0) ? summed_to(neg(matmul(gb, adjoint_of(x))), A.sizes()) : Tensor(),
                                    wants(1) ? summed_to(gb, to) : Tensor());
                     });
  return {x, info};
}

// B is one vector per matrix: [..., n] beside [..., n, n].
bool is_vector(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (B.dim() == A.dim() - 1 && B.sizes() == A.sizes().slice(0, static_cast<size_t>(B.dim())));
}

Solution solved(const char* op, const Tensor& A, const Tensor& B, bool left) {
  check_lapack_dtype(op, A);
  check_square(op, A);
  check_same_kind(op, A, B, "A", "B");
  const bool vector = is_vector(A, B);
  CRESSET_CHECK_AS(ValueError, left || !vector, op,
                   ": Vector broadcasting of the left hand side is not supported for left=False. In this case "
                   "linalg.solve is equivalent to B / A.squeeze(-1)");
  Tensor b = vector ? unsqueeze(B, -1) : B;
  check_matrices(op, b, "B");
  CRESSET_CHECK_AS(ShapeError, A.size(-1) == b.size(left ? -2 : -1), op,
                   ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", A.size(-2),
                   "x", A.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
  Tensor a = left ? A : transpose(A, -2, -1);
  if (!left) b = transpose(b, -2, -1);
  broadcast_shapes(op, batch_sizes(a), batch_sizes(b));
  Solution made = solved(a, b);
  if (!left) made.x = transpose(made.x, -2, -1);
  if (vector) made.x = squeeze(made.x, -1);
  return made;
}

}  // namespace

CRESSET_LINALG_OP(linalg_solve, , Tensor, (const Tensor& A, const Tensor& B, bool left), "A, B, left=true",
                  Gradient::formula, "The solutions of A X = B (or X A = B); leading dimensions broadcast.")
Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) try {
  CRESSET_INTERCEPT(linalg_solve, , Tensor, A, B, left);
  Solution made = solved("linalg_solve", A, B, left);
  check_info(made.info, LinAlgFailure::solve);
  return made.x;
}
CRESSET_ERRORS_OF(linalg_solve, , A, B, left)
CRESSET_COPIED_OUT(linalg_solve, , (const Tensor& A, const Tensor& B, bool left), (A, B, left), (&A, &B),
                   "A, B, left=true", "The solutions of A X = B (or X A = B).")

CRESSET_LINALG_OP(linalg_solve_ex, , detail::TwoTensors,
                  (const Tensor& A, const Tensor& B, bool left, bool check_errors),
                  "A, B, left=true, check_errors=false", Gradient::formula,
                  "The solutions of A X = B, and for each matrix the number of its zero pivot, or 0.")
std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) try {
  CRESSET_INTERCEPT(linalg_solve_ex, , detail::TwoTensors, A, B, left, check_errors);
  Solution made = solved("linalg_solve_ex", A, B, left);
  if (check_errors) check_info(made.info, LinAlgFailure::solve);
  return {made.x, made.info};
}
CRESSET_ERRORS_OF(linalg_solve_ex, , A, B, left, check_errors)
CRESSET_COPIED_OUTS(linalg_solve_ex, result, info, (const Tensor& A, const Tensor& B, bool left, bool check_errors),
                    (A, B, left, check_errors), (&A, &B), "A, B, left=true, check_errors=false",
                    "The solutions of A X = B, and for each matrix the number of its zero pivot, or 0.")

// ---- triangular systems
namespace {

// A as LAPACK can read it: itself, its transpose (which is free), or a copy.
struct TriangleOperand {
  Tensor a;
  bool turned;
};
TriangleOperand triangle_operand(const Tensor& A) {
  if (A.is_contiguous()) return {A, true};
  if (transpose(A.detach(), -2, -1).is_contiguous()) return {A, false};
  return {column_copy(A), false};
}

Tensor solved_triangular(const Tensor& A, const Tensor& B, bool upper, bool left, bool unit) {
  Tensor x = column_copy(B);
  const TriangleOperand operand = triangle_operand(A);
  triangular_solve_kernel(x, operand.a, operand.turned ? !upper : upper, left, unit, operand.turned ? 1 : 0);
  return differentiable("LinalgSolveTriangularBackward0", x, inputs(A, B), saved(A, output(x)),
                        [upper, left, unit](const Tensor& g, Wants wants, const Tensor& A, const Tensor& x) {
                          const Tensor gb = solved_triangular(adjoint_of(A), g, !upper, left, unit);
                          if (!wants(0)) return grads(Tensor(), gb);
                          const Tensor ga = neg(left ? matmul(gb, adjoint_of(x)) : matmul(adjoint_of(x), gb));
                          return grads(upper ? triu(ga, unit ? 1 : 0) : tril(ga, unit ? -1 : 0), gb);
                        });
}

}  // namespace

CRESSET_LINALG_OP(linalg_solve_triangular, , Tensor,
                  (const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular),
                  "self, B, upper, left=true, unitriangular=false", Gradient::formula,
                  "The solutions of A X = B (or X A = B) with triangular A; its other triangle is not read.")
Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular) try {
  CRESSET_INTERCEPT(linalg_solve_triangular, , Tensor, self, B, upper, left, unitriangular);
  const char* op = "linalg_solve_triangular";
  check_square(op, self);
  check_matrices(op, B, "B");
  check_same_kind(op, self, B, "A", "B");
  check_lapack_dtype(op, self);
  CRESSET_CHECK_AS(ShapeError, self.size(-1) == B.size(left ? -2 : -1), op,
                   ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (",
                   self.size(-2), "x", self.size(-1), " and ", B.size(-2), "x", B.size(-1), ")");
  const Dims batch = broadcast_shapes(op, batch_sizes(self), batch_sizes(B));
  return solved_triangular(expand(self, with_sizes(batch, {self.size(-2), self.size(-1)})),
                           expand(B, with_sizes(batch, {B.size(-2), B.size(-1)})), upper, left, unitriangular);
}
CRESSET_ERRORS_OF(linalg_solve_triangular, , self, B, upper, left, unitriangular)
CRESSET_COPIED_OUT(linalg_solve_triangular, ,
                   (const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular),
                   (self, B, upper, left, unitriangular), (&self, &B), "self, B, upper, left=true, unitriangular=false",
                   "The solutions of triangular systems.")

CRESSET_OP(triangular_solve, , detail::TwoTensors,
           (const Tensor& self, const Tensor& A, bool upper, bool transpose, bool unitriangular),
           "self, A, upper=true, transpose=false, unitriangular=false", Gradient::composed,
           "The solutions of A X = self with triangular A, and a copy of A.")
std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper, bool transpose,
                                            bool unitriangular) try {
  CRESSET_INTERCEPT(triangular_solve, , detail::TwoTensors, self, A, upper, transpose, unitriangular);
  check_matrices("triangular_solve", self, "b");
  check_square("triangular_solve", A);
  const Dims batch = broadcast_shapes("triangular_solve", batch_sizes(self), batch_sizes(A));
  const Tensor a = expand(A, with_sizes(batch, {A.size(-2), A.size(-1)}));
  const Tensor turned = cresset::transpose(a, -2, -1);
  return {linalg_solve_triangular(transpose ? turned : a, self, upper != transpose, true, unitriangular),
          cresset::transpose(clone(turned, MemoryFormat::Contiguous), -2, -1)};
}
CRESSET_ERRORS_OF(triangular_solve, , self, A, upper, transpose, unitriangular)
CRESSET_COPIED_OUTS(triangular_solve, X, M,
                    (const Tensor& self, const Tensor& A, bool upper, bool transpose, bool unitriangular),
                    (self, A, upper, transpose, unitriangular), (&self, &A),
                    "self, A, upper=true, transpose=false, unitriangular=false",
                    "The solutions of A X = self with triangular A, and a copy of A.")

// ---- with a Cholesky factor
CRESSET_OP(cholesky_solve, , Tensor, (const Tensor& self, const Tensor& input2, bool upper),
           "self, input2, upper=false", Gradient::formula,
           "The solutions of A X = self, where input2 is A's Cholesky factor.")
static Tensor solved_by_cholesky(const Tensor& B, const Tensor& L, bool upper) {
  Tensor x = column_copy(B);
  cholesky_solve_kernel(x, column_copy(L), upper);
  return differentiable("CholeskySolveBackward0", x, inputs(B, L), saved(L, output(x)),
                        [upper](const Tensor& g, Wants wants, const Tensor& L, const Tensor& x) {
                          const Tensor gb = solved_by_cholesky(g, L, upper);
                          if (!wants(1)) return grads(gb, Tensor());
                          const Tensor half = matmul(gb, adjoint_of(x)), both = add(half, adjoint_of(half));
                          return grads(gb, neg(upper ? matmul(L, both) : matmul(both, L)));
                        });
}
Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) try {
  CRESSET_INTERCEPT(cholesky_solve, , Tensor, self, input2, upper);
  check_matrices("cholesky_solve", self, "b");
  check_square("cholesky_solve", input2, "u");
  check_same_kind("cholesky_solve", self, input2, "b", "A");
  check_lapack_dtype("cholesky_solve", self);
  CRESSET_CHECK_AS(ShapeError, self.size(-2) == input2.size(-1), "cholesky_solve: Incompatible matrix sizes for ",
                   "cholesky_solve: each A matrix is ", input2.size(-1), " by ", input2.size(-1),
                   " but each b matrix is ", self.size(-2), " by ", self.size(-1));
  const Dims batch = broadcast_shapes("cholesky_solve", batch_sizes(self), batch_sizes(input2));
  return solved_by_cholesky(expand(self, with_sizes(batch, {self.size(-2), self.size(-1)})),
                            expand(input2, with_sizes(batch, {input2.size(-2), input2.size(-1)})), upper);
}
CRESSET_ERRORS_OF(cholesky_solve, , self, input2, upper)
CRESSET_CAST_OUT(cholesky_solve, , (const Tensor& self, const Tensor& input2, bool upper), (self, input2, upper),
                 (&self, &input2), "self, input2, upper=false", "The solutions of A X = self by A's Cholesky factor.")

CRESSET_OP(cholesky_inverse, , Tensor, (const Tensor& self, bool upper), "self, upper=false", Gradient::formula,
           "The inverse of a matrix, given its Cholesky factor.")
Tensor cholesky_inverse(const Tensor& self, bool upper) try {
  CRESSET_INTERCEPT(cholesky_inverse, , Tensor, self, upper);
  check_square("cholesky_inverse", self);
  check_lapack_dtype("cholesky_inverse", self);
  const Tensor y = column_copy(self), info = new_info(self);
  cholesky_inverse_kernel(y, info, upper);
  check_info(info, LinAlgFailure::inverse);
  return differentiable("CholeskyInverseBackward0", y, inputs(self), saved(self, output(y)),
                        [upper](const Tensor& g, Wants, const Tensor& L, const Tensor& y) {
                          const Tensor both = matmul(matmul(y, add(g, adjoint_of(g))), y);
                          return grads(neg(upper ? matmul(L, both) : matmul(both, L)));
                        });
}
CRESSET_ERRORS_OF(cholesky_inverse, , self, upper)
CRESSET_CAST_OUT(cholesky_inverse, , (const Tensor& self, bool upper), (self, upper), (&self), "self, upper=false",
                 "The inverse of a matrix, given its Cholesky factor.")

// ---- of tensors seen as matrices
CRESSET_LINALG_OP(linalg_tensorinv, , Tensor, (const Tensor& self, int64_t ind), "self, ind=2", Gradient::composed,
                  "The inverse of self as a map from its last dimensions to its first ind.")
Tensor linalg_tensorinv(const Tensor& self, int64_t ind) try {
  CRESSET_INTERCEPT(linalg_tensorinv, , Tensor, self, ind);
  CRESSET_CHECK_AS(ValueError, ind > 0, "linalg_tensorinv: Expected a strictly positive integer for 'ind', found ",
                   ind);
  const int64_t first = std::min(ind, self.dim());
  Dims head(self.sizes().slice(0, static_cast<size_t>(first))), tail(self.sizes().slice(static_cast<size_t>(first)));
  CRESSET_CHECK_AS(ShapeError, head.product() == tail.product(),
                   "linalg_tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                   "prod(self.shape[:ind]), but got ",
                   tail.product(), " != ", head.product());
  Dims sizes = tail;
  for (int64_t n : head) sizes.push_back(n);
  return reshape(linalg_inv(reshape(self, {head.product(), tail.product()})), sizes);
}
CRESSET_ERRORS_OF(linalg_tensorinv, , self, ind)
CRESSET_CAST_OUT(linalg_tensorinv, , (const Tensor& self, int64_t ind), (self, ind), (&self), "self, ind=2",
                 "The inverse of self as a map from its last dimensions to its first ind.")

CRESSET_LINALG_OP(linalg_tensorsolve, , Tensor, (const Tensor& self, const Tensor& other, OptionalIntArrayRef dims),
                  "self, other, dims=std::nullopt", Gradient::composed,
                  "X with tensordot(self, X) = other; dims of self are first moved to its end.")
Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims) try {
  CRESSET_INTERCEPT(linalg_tensorsolve, , Tensor, self, other, dims);
  check_same_kind("linalg_tensorsolve", self, other, "self", "other");
  Tensor a = self;
  if (dims) {
    std::vector<bool> moved(static_cast<size_t>(self.dim()));
    for (int64_t dim : *dims) moved[static_cast<size_t>(wrap_dim("linalg_tensorsolve", dim, self))] = true;
    Dims order;
    for (int64_t i = 0; i < self.dim(); i++)
      if (!moved[static_cast<size_t>(i)]) order.push_back(i);
    for (int64_t dim : *dims) order.push_back(wrap_dim("linalg_tensorsolve", dim, self));
    a = permute(self, order);
  }
  CRESSET_CHECK_AS(ShapeError, a.dim() >= other.dim(), "linalg_tensorsolve: self has fewer dimensions than other");
  const Dims sizes(a.sizes().slice(static_cast<size_t>(other.dim())));
  CRESSET_CHECK_AS(ShapeError, sizes.product() == other.numel() && a.numel() == other.numel() * other.numel(),
                   "linalg_tensorsolve: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                   "prod(self.shape[:other.ndim]), but got ",
                   sizes.product(), " != ", other.numel());
  const int64_t n = other.numel();
  return reshape(linalg_solve(reshape(a, {n, n}), reshape(other, {n})), sizes);
}
CRESSET_ERRORS_OF(linalg_tensorsolve, , self, other, dims)
CRESSET_CAST_OUT(linalg_tensorsolve, , (const Tensor& self, const Tensor& other, OptionalIntArrayRef dims),
                 (self, other, dims), (&self, &other), "self, other, dims=std::nullopt",
                 "X with tensordot(self, X) = other.")

}  // namespace cresset
