// Cholesky and QR.
#include "cresset/core/kernel.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/diagonal.h"
#include "cresset/ops/linalg_rules.h"
#include "cresset/ops/pointwise.h"

namespace cresset {

// ---- Cholesky: gA = L^-H sym(L^H gL) L^-1, where sym halves the lower triangle into both
namespace {

struct Factor {
  Tensor l, info;
};
Factor cholesky_factor(const char* op, const Tensor& A, bool upper) {
  check_lapack_dtype(op, A);
  check_square(op, A);
  Factor made{column_copy(A), new_info(A)};
  cholesky_kernel(made.l, made.info, upper);
  made.l = differentiable("LinalgCholeskyExBackward0", made.l, inputs(A), saved(output(made.l)),
                          [upper](const Tensor& g, Wants, const Tensor& l) {
                            const Tensor lower = upper ? adjoint_of(l) : l;
                            Tensor phi = tril(matmul(adjoint_of(lower), upper ? adjoint_of(g) : g));
                            phi = mul(add(phi, adjoint_of(tril(phi, -1))), Scalar(0.5));
                            phi = linalg_solve_triangular(adjoint_of(lower), phi, /*upper=*/true);
                            return grads(linalg_solve_triangular(lower, phi, /*upper=*/false, /*left=*/false));
                          });
  return made;
}

}  // namespace

CRESSET_LINALG_OP(linalg_cholesky, , Tensor, (const Tensor& self, bool upper), "self, upper=false", Gradient::formula,
                  "L with L @ L^H = self, for positive-definite matrices; or U with U^H @ U = self.")
Tensor linalg_cholesky(const Tensor& self, bool upper) try {
  CRESSET_INTERCEPT(linalg_cholesky, , Tensor, self, upper);
  Factor made = cholesky_factor("linalg_cholesky", self, upper);
  check_info(made.info, LinAlgFailure::cholesky);
  return made.l;
}
CRESSET_ERRORS_OF(linalg_cholesky, , self, upper)
CRESSET_COPIED_OUT(linalg_cholesky, , (const Tensor& self, bool upper), (self, upper), (&self), "self, upper=false",
                   "The Cholesky factors of positive-definite matrices.")

CRESSET_OP(cholesky, , Tensor, (const Tensor& self, bool upper), "self, upper=false", Gradient::formula,
           "The Cholesky factors of positive-definite matrices.")
Tensor cholesky(const Tensor& self, bool upper) try {
  CRESSET_INTERCEPT(cholesky, , Tensor, self, upper);
  Factor made = cholesky_factor("cholesky", self, upper);
  check_info(made.info, LinAlgFailure::cholesky);
  return made.l;
}
CRESSET_ERRORS_OF(cholesky, , self, upper)
CRESSET_CAST_OUT(cholesky, , (const Tensor& self, bool upper), (self, upper), (&self), "self, upper=false",
                 "The Cholesky factors of positive-definite matrices.")

CRESSET_LINALG_OP(linalg_cholesky_ex, , detail::TwoTensors, (const Tensor& self, bool upper, bool check_errors),
                  "self, upper=false, check_errors=false", Gradient::formula,
                  "Cholesky factors, and for each matrix the order of its first bad minor, or 0.")
std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) try {
  CRESSET_INTERCEPT(linalg_cholesky_ex, , detail::TwoTensors, self, upper, check_errors);
  Factor made = cholesky_factor("linalg_cholesky_ex", self, upper);
  if (check_errors) check_info(made.info, LinAlgFailure::cholesky);
  return {made.l, made.info};
}
CRESSET_ERRORS_OF(linalg_cholesky_ex, , self, upper, check_errors)
CRESSET_COPIED_OUTS(linalg_cholesky_ex, L, info, (const Tensor& self, bool upper, bool check_errors),
                    (self, upper, check_errors), (&self), "self, upper=false, check_errors=false",
                    "Cholesky factors, and what went wrong.")

// ---- QR
namespace {

enum class QrMode : uint8_t { reduced, complete, r };
QrMode qr_mode(std::string_view mode) {
  if (mode == "reduced") return QrMode::reduced;
  if (mode == "complete") return QrMode::complete;
  CRESSET_CHECK_AS(ValueError, mode == "r", "linalg_qr: received unrecognized mode '", std::string(mode),
                   "' but expected one of 'reduced' (default), 'r', or 'complete'");
  return QrMode::r;
}

// For square or tall Q R = A: gA = (gQ + Q sym(triu(gR R^H - Q^H gQ))) R^-H.
Tensor tall_qr_gradient(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r) {
  Tensor m = gr.defined() ? matmul(gr, adjoint_of(r)) : Tensor();
  if (gq.defined()) {
    const Tensor mine = matmul(adjoint_of(q), gq);
    m = m.defined() ? sub(m, mine) : neg(mine);
  }
  m = triu(m);
  const Tensor diag = diagonal(m, 0, -2, -1);
  const Tensor real_part = mul(add(diag, conj(diag)), Scalar(0.5));
  m = sub(add(m, adjoint_of(m)), diag_embed(real_part));
  Tensor ga = matmul(q, m);
  if (gq.defined()) ga = add(ga, gq);
  return linalg_solve_triangular(adjoint_of(r), ga, /*upper=*/false, /*left=*/false);
}

// Wide: A = [X | Y], R = [U | V] with Q U = X and V = Q^H Y.
Tensor qr_gradient(const Tensor& gq, const Tensor& gr, const Tensor& A, const Tensor& q, const Tensor& r) {
  const int64_t m = q.size(-2), n = r.size(-1);
  if (m >= n) return tall_qr_gradient(gq, gr, q, r);
  Tensor full_gq = gq, gu, gy;
  if (gr.defined()) {
    const Tensor gv = narrow(gr, -1, m, n - m);
    gu = narrow(gr, -1, 0, m);
    gy = matmul(q, gv);
    const Tensor more = matmul(narrow(A, -1, m, n - m), adjoint_of(gv));
    full_gq = gq.defined() ? add(gq, more) : more;
  }
  const Tensor gx = tall_qr_gradient(full_gq, gu, q, narrow(r, -1, 0, m));
  if (!gy.defined()) gy = zeros_like(narrow(A, -1, m, n - m));
  return cat({{gx, gy}}, -1);
}

std::tuple<Tensor, Tensor> factored_qr(const char* op, const Tensor& A, QrMode mode) {
  check_lapack_dtype(op, A);
  check_matrices(op, A);
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const Dims batch = batch_sizes(A);
  const Tensor qr = column_copy(A), tau = empty_contiguous(with_sizes(batch, {k}), A.dtype(), A.device());
  geqrf_kernel(qr, tau);
  const int64_t q_cols = mode == QrMode::complete ? m : k;
  const Tensor r = column_major(with_sizes(batch, {q_cols, n}), A.dtype(), A.device());
  triangle_kernel(narrow(r, -2, 0, k), narrow(qr, -2, 0, k), 0, true);
  if (q_cols > k) fill_kernel(narrow(r, -2, k, q_cols - k), 0);
  Tensor q = empty_contiguous({0}, A.dtype(), A.device());
  if (mode != QrMode::r) {
    q = column_major(with_sizes(batch, {m, q_cols}), A.dtype(), A.device());
    if (q_cols > k) fill_kernel(narrow(q, -1, k, q_cols - k), 0);
    copy_kernel(narrow(q, -1, 0, k), narrow(qr, -1, 0, k));
    orgqr_kernel(q, tau);
  }
  differentiable_outputs(
      "LinalgQrBackward0", Into{}, {&q, &r}, inputs(A), saved(kept_if(m < n, A), output(q), output(r)),
      [mode, m, n](OutputGrads g, Wants, const Tensor& A, const Tensor& q, const Tensor& r) {
        CRESSET_CHECK_AS(AutogradError, mode != QrMode::r,
                         "linalg_qr: The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
                         "Please use linalg.qr(A, mode='reduced') if you are going to require gradients.");
        CRESSET_CHECK_AS(AutogradError, mode != QrMode::complete || m <= n,
                         "linalg_qr: The QR decomposition is not differentiable when mode='complete' and nrows > "
                         "ncols (found ",
                         m, " and ", n, ")");
        if (!g[0].defined() && !g[1].defined()) return grads(Tensor());
        return grads(qr_gradient(g[0], g[1], A, q, r));
      });
  return {q, r};
}

}  // namespace

CRESSET_LINALG_OP(linalg_qr, , detail::TwoTensors, (const Tensor& A, std::string_view mode), "A, mode=\"reduced\"",
                  Gradient::formula, "Q with orthonormal columns and triangular R with Q @ R = A.")
std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode) try {
  CRESSET_INTERCEPT(linalg_qr, , detail::TwoTensors, A, mode);
  return factored_qr("linalg_qr", A, qr_mode(mode));
}
CRESSET_ERRORS_OF(linalg_qr, , A, mode)
CRESSET_COPIED_OUTS(linalg_qr, Q, R, (const Tensor& A, std::string_view mode), (A, mode), (&A), "A, mode=\"reduced\"",
                    "Q with orthonormal columns and triangular R with Q @ R = A.")

CRESSET_OP(qr, , detail::TwoTensors, (const Tensor& self, bool some), "self, some=true", Gradient::formula,
           "Q with orthonormal columns and triangular R with Q @ R = self.")
std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) try {
  CRESSET_INTERCEPT(qr, , detail::TwoTensors, self, some);
  return factored_qr("qr", self, some ? QrMode::reduced : QrMode::complete);
}
CRESSET_ERRORS_OF(qr, , self, some)
CRESSET_COPIED_OUTS(qr, Q, R, (const Tensor& self, bool some), (self, some), (&self), "self, some=true",
                    "Q with orthonormal columns and triangular R with Q @ R = self.")

CRESSET_OP(geqrf, , detail::TwoTensors, (const Tensor& self), "self", Gradient::none,
           "R and, below it, the Householder vectors of Q; and their factors tau.")
std::tuple<Tensor, Tensor> geqrf(const Tensor& self) try {
  CRESSET_INTERCEPT(geqrf, , detail::TwoTensors, self);
  check_lapack_dtype("geqrf", self);
  check_matrices("geqrf", self);
  CRESSET_CHECK_AS(NotImplementedError, !thread_state.grad_enabled || !self.requires_grad(),
                   "geqrf: the derivative for 'geqrf' is not implemented (found an input that requires grad)");
  const Tensor qr = column_copy(self);
  const Tensor tau = empty_contiguous(with_sizes(batch_sizes(self), {std::min(self.size(-1), self.size(-2))}),
                                      self.dtype(), self.device());
  geqrf_kernel(qr, tau);
  return {qr, tau};
}
CRESSET_ERRORS_OF(geqrf, , self)
CRESSET_CAST_OUTS(geqrf, a, tau, (const Tensor& self), (self), (&self), "self",
                  "R and the Householder vectors of Q, and their factors tau.")

}  // namespace cresset
