// LU with partial pivoting: A = P L U.
#include "cresset/core/kernel.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/diagonal.h"
#include "cresset/ops/linalg_rules.h"
#include "cresset/ops/pointwise.h"

namespace cresset {
namespace {

Tensor permutation_of(const Tensor& pivots, int64_t rows, DType dtype) {
  // The kernel has LAPACK's dtypes; ones and zeros are the same in all.
  const DType made = is_complex(dtype) || dtype == kFloat || dtype == kDouble ? dtype : kFloat;
  const Tensor p = empty_contiguous(with_sizes(batch_sizes(pivots, 1), {rows, rows}), made, pivots.device());
  lu_permutation_kernel(p, pivots);
  return p.to(dtype);
}
Tensor lower_of(const Tensor& lu) {
  const int64_t m = lu.size(-2), k = std::min(m, lu.size(-1));
  const Tensor below = tril(narrow(lu, -1, 0, k), -1);
  return add(below, eye(m, k, TensorOptions(lu.dtype()).device(lu.device())));
}
Tensor upper_of(const Tensor& lu) { return triu(narrow(lu, -2, 0, std::min(lu.size(-2), lu.size(-1)))); }

// The gradient of A from those of L and U; either may be undefined.
Tensor lu_gradient(const Tensor& gl, const Tensor& gu, const Tensor& p, const Tensor& l, const Tensor& u) {
  const int64_t m = l.size(-2), n = u.size(-1), k = std::min(m, n);
  const Tensor l1 = narrow(l, -2, 0, k), u1 = narrow(u, -1, 0, k);
  Tensor lower, upper;  // what L^H gL and gU U^H give, and what the rest of a wide or tall matrix adds
  auto put = [](Tensor& sum, const Tensor& more) { sum = sum.defined() ? add(sum, more) : more; };
  if (gl.defined()) put(lower, matmul(adjoint_of(l1), narrow(gl, -2, 0, k)));
  if (gu.defined()) put(upper, matmul(narrow(gu, -1, 0, k), adjoint_of(u1)));
  if (gu.defined() && n > m) put(lower, neg(matmul(narrow(gu, -1, k, n - k), adjoint_of(narrow(u, -1, k, n - k)))));
  if (gl.defined() && m > n) put(upper, neg(matmul(adjoint_of(narrow(l, -2, k, m - k)), narrow(gl, -2, k, m - k))));
  Tensor phi;
  if (lower.defined()) put(phi, tril(lower, -1));
  if (upper.defined()) put(phi, triu(upper));
  phi = linalg_solve_triangular(adjoint_of(u1), phi, /*upper=*/false, /*left=*/false);
  Tensor ga = linalg_solve_triangular(adjoint_of(l1), phi, /*upper=*/true, /*left=*/true, /*unitriangular=*/true);
  if (n > m) {
    const Tensor rest = gu.defined() ? linalg_solve_triangular(adjoint_of(l1), narrow(gu, -1, k, n - k), /*upper=*/true,
                                                               /*left=*/true, /*unitriangular=*/true)
                                     : zeros_like(narrow(u, -1, k, n - k));
    ga = cat({{ga, rest}}, -1);
  }
  if (m > n) {
    const Tensor rest = gl.defined() ? linalg_solve_triangular(adjoint_of(u1), narrow(gl, -2, k, m - k),
                                                               /*upper=*/false, /*left=*/false)
                                     : zeros_like(narrow(l, -2, k, m - k));
    ga = cat({{ga, rest}}, -2);
  }
  return matmul(p, ga);
}

struct Factored {
  Tensor lu, pivots, info;
};
Factored factored_lu(const char* op, const Tensor& A, bool pivot) {
  check_lapack_dtype(op, A);
  check_matrices(op, A);
  CRESSET_CHECK_AS(NotImplementedError, pivot, op, ": LU without pivoting is not implemented on the CPU");
  const Dims sizes = with_sizes(batch_sizes(A), {std::min(A.size(-2), A.size(-1))});
  Factored made{column_copy(A), empty_contiguous(sizes, kInt, A.device()), new_info(A)};
  lu_factor_kernel(made.lu, made.pivots, made.info);
  return made;
}
Factored differentiable_lu(const char* op, const Tensor& A, bool pivot) {
  Factored made = factored_lu(op, A, pivot);
  made.lu =
      differentiable("LinalgLuFactorExBackward0", made.lu, inputs(A), saved(made.pivots, output(made.lu)),
                     [](const Tensor& g, Wants, const Tensor& pivots, const Tensor& lu) {
                       const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
                       return grads(lu_gradient(tril(narrow(g, -1, 0, k), -1), triu(narrow(g, -2, 0, k)),
                                                permutation_of(pivots, m, lu.dtype()), lower_of(lu), upper_of(lu)));
                     });
  return made;
}

}  // namespace

CRESSET_LINALG_OP(linalg_lu_factor, , detail::TwoTensors, (const Tensor& A, bool pivot), "A, pivot=true",
                  Gradient::formula, "L and U with P @ L @ U = A, packed into one matrix, and the pivots of P.")
std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) try {
  CRESSET_INTERCEPT(linalg_lu_factor, , detail::TwoTensors, A, pivot);
  Factored made = differentiable_lu("linalg_lu_factor", A, pivot);
  check_info(made.info, LinAlgFailure::lu);
  return {made.lu, made.pivots};
}
CRESSET_ERRORS_OF(linalg_lu_factor, , A, pivot)
CRESSET_COPIED_OUTS(linalg_lu_factor, LU, pivots, (const Tensor& A, bool pivot), (A, pivot), (&A), "A, pivot=true",
                    "L and U packed into one matrix, and the pivots.")

CRESSET_LINALG_OP(linalg_lu_factor_ex, , detail::ThreeTensors, (const Tensor& A, bool pivot, bool check_errors),
                  "A, pivot=true, check_errors=false", Gradient::formula,
                  "As linalg_lu_factor, and for each matrix the number of its first zero pivot, or 0.")
std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors) try {
  CRESSET_INTERCEPT(linalg_lu_factor_ex, , detail::ThreeTensors, A, pivot, check_errors);
  Factored made = differentiable_lu("linalg_lu_factor_ex", A, pivot);
  if (check_errors) check_info(made.info, LinAlgFailure::lu);
  return {made.lu, made.pivots, made.info};
}
CRESSET_ERRORS_OF(linalg_lu_factor_ex, , A, pivot, check_errors)
CRESSET_COPIED_THREE(linalg_lu_factor_ex, LU, pivots, info, (const Tensor& A, bool pivot, bool check_errors),
                     (A, pivot, check_errors), (&A), "A, pivot=true, check_errors=false",
                     "L and U packed into one matrix, the pivots, and what went wrong.")

CRESSET_LINALG_OP(linalg_lu, , detail::ThreeTensors, (const Tensor& A, bool pivot), "A, pivot=true", Gradient::formula,
                  "P, L and U with P @ L @ U = A.")
std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot) try {
  CRESSET_INTERCEPT(linalg_lu, , detail::ThreeTensors, A, pivot);
  const Factored made = factored_lu("linalg_lu", A, pivot);
  const Tensor p = permutation_of(made.pivots, A.size(-2), A.dtype()), l = lower_of(made.lu), u = upper_of(made.lu);
  differentiable_outputs("LinalgLuBackward0", Into{}, {&l, &u}, inputs(A), saved(p, output(l), output(u)),
                         [](OutputGrads g, Wants, const Tensor& p, const Tensor& l, const Tensor& u) {
                           if (!g[0].defined() && !g[1].defined()) return grads(Tensor());
                           return grads(lu_gradient(g[0], g[1], p, l, u));
                         });
  return {p, l, u};
}
CRESSET_ERRORS_OF(linalg_lu, , A, pivot)
CRESSET_COPIED_THREE(linalg_lu, P, L, U, (const Tensor& A, bool pivot), (A, pivot), (&A), "A, pivot=true",
                     "P, L and U with P @ L @ U = A.")

CRESSET_LINALG_OP(lu_unpack, , detail::ThreeTensors,
                  (const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots),
                  "LU_data, LU_pivots, unpack_data=true, unpack_pivots=true", Gradient::composed,
                  "P, L and U from what linalg_lu_factor returns.")
std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data,
                                             bool unpack_pivots) try {
  CRESSET_INTERCEPT(lu_unpack, , detail::ThreeTensors, LU_data, LU_pivots, unpack_data, unpack_pivots);
  check_matrices("lu_unpack", LU_data, "LU_data");
  check_same_device("lu_unpack", LU_data, LU_pivots);
  CRESSET_CHECK_AS(TypeError, !unpack_pivots || LU_pivots.dtype() == kInt,
                   "lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, found ",
                   name_of(LU_pivots.dtype()));
  CRESSET_CHECK_AS(
      ShapeError,
      !unpack_pivots || LU_pivots.sizes() == IntArrayRef(with_sizes(batch_sizes(LU_data),
                                                                    {std::min(LU_data.size(-2), LU_data.size(-1))})),
      "lu_unpack: found LU_pivots of shape ", text_of(LU_pivots.sizes()), " and LU_data of shape ",
      text_of(LU_data.sizes()), " (expected one pivot for each row or column, whichever are fewer)");
  Tensor p = empty_contiguous({0}, LU_data.dtype(), LU_data.device()), l = p, u = p;
  if (unpack_pivots) p = permutation_of(LU_pivots.detach().contiguous(), LU_data.size(-2), LU_data.dtype());
  if (unpack_data) {
    l = lower_of(LU_data);
    u = clone(upper_of(LU_data), MemoryFormat::Contiguous);
  }
  return {p, l, u};
}
CRESSET_ERRORS_OF(lu_unpack, , LU_data, LU_pivots, unpack_data, unpack_pivots)
CRESSET_COPIED_THREE(lu_unpack, P, L, U,
                     (const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots),
                     (LU_data, LU_pivots, unpack_data, unpack_pivots), (&LU_data, &LU_pivots),
                     "LU_data, LU_pivots, unpack_data=true, unpack_pivots=true",
                     "P, L and U from what linalg_lu_factor returns.")

// ---- lu_solve: X = A^-1 B or A^-H B with A = P L U. gA = -gB X^H (or -X gB^H); then gL = P^T gA U^H below the
// diagonal and gU = L^H P^T gA above.
namespace {

Tensor solved_lu(const Tensor& lu, const Tensor& pivots, const Tensor& B, bool adjoint) {
  Tensor x = column_copy(B);
  lu_solve_kernel(x, column_copy(lu), pivots, adjoint ? 2 : 0);
  return differentiable(
      "LinalgLuSolveBackward0", x, inputs(lu, B), saved(lu, pivots, output(x)),
      [adjoint](const Tensor& g, Wants wants, const Tensor& lu, const Tensor& pivots, const Tensor& x) {
        const Tensor gb = solved_lu(lu, pivots, g, !adjoint);
        if (!wants(0)) return grads(Tensor(), gb);
        const Tensor ga = neg(adjoint ? matmul(x, adjoint_of(gb)) : matmul(gb, adjoint_of(x)));
        const Tensor p = permutation_of(pivots, lu.size(-2), lu.dtype());
        const Tensor turned = matmul(transpose(p, -2, -1), ga);
        return grads(
            add(tril(matmul(turned, adjoint_of(upper_of(lu))), -1), triu(matmul(adjoint_of(lower_of(lu)), turned))),
            gb);
      });
}

}  // namespace

CRESSET_LINALG_OP(linalg_lu_solve, , Tensor,
                  (const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint),
                  "LU, pivots, B, left=true, adjoint=false", Gradient::formula,
                  "The solutions of A X = B (or X A = B; or with A's adjoint) from what linalg_lu_factor returns.")
Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) try {
  CRESSET_INTERCEPT(linalg_lu_solve, , Tensor, LU, pivots, B, left, adjoint);
  const char* op = "linalg_lu_solve";
  check_lapack_dtype(op, LU);
  check_square(op, LU, "LU");
  check_matrices(op, B, "B");
  check_same_kind(op, LU, B, "LU", "B");
  check_dtype(op, "pivots", pivots, kInt);
  check_same_device(op, LU, pivots);
  CRESSET_CHECK_AS(ShapeError, LU.size(-1) == B.size(left ? -2 : -1), op,
                   ": Incompatible shapes of LU and B for the equation ", left ? "AX = B" : "XA = B", " (", LU.size(-2),
                   "x", LU.size(-1), " and ", B.size(-2), "x", B.size(-1), ")");
  CRESSET_CHECK_AS(ShapeError, pivots.sizes() == LU.sizes().slice(0, static_cast<size_t>(LU.dim() - 1)), op,
                   ": Number of pivots per batch should be same as the dimension of the matrix, found shapes ",
                   text_of(pivots.sizes()), " and ", text_of(LU.sizes()));
  if (!left) return adjoint_of(linalg_lu_solve(LU, pivots, adjoint_of(B), true, !adjoint));
  const Dims batch = broadcast_shapes(op, batch_sizes(LU), batch_sizes(B));
  return solved_lu(expand(LU, with_sizes(batch, {LU.size(-2), LU.size(-1)})),
                   expand(pivots, with_sizes(batch, {LU.size(-1)})).detach().contiguous(),
                   expand(B, with_sizes(batch, {B.size(-2), B.size(-1)})), adjoint);
}
CRESSET_ERRORS_OF(linalg_lu_solve, , LU, pivots, B, left, adjoint)
CRESSET_COPIED_OUT(linalg_lu_solve, ,
                   (const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint),
                   (LU, pivots, B, left, adjoint), (&LU, &pivots, &B), "LU, pivots, B, left=true, adjoint=false",
                   "The solutions of A X = B from what linalg_lu_factor returns.")

CRESSET_OP(lu_solve, , Tensor, (const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots),
           "self, LU_data, LU_pivots", Gradient::composed,
           "The solutions of A X = self from what linalg_lu_factor returns.")
Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) try {
  CRESSET_INTERCEPT(lu_solve, , Tensor, self, LU_data, LU_pivots);
  return linalg_lu_solve(LU_data, LU_pivots, self);
}
CRESSET_ERRORS_OF(lu_solve, , self, LU_data, LU_pivots)
CRESSET_COPIED_OUT(lu_solve, , (const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots),
                   (self, LU_data, LU_pivots), (&self, &LU_data, &LU_pivots), "self, LU_data, LU_pivots",
                   "The solutions of A X = self from what linalg_lu_factor returns.")

}  // namespace cresset
