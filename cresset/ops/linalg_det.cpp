// Determinants by LU, and the exponential of a matrix.
#include "cresset/core/kernel.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/diagonal.h"
#include "cresset/ops/linalg_rules.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/scan.h"
#include "cresset/ops/statistics.h"

namespace cresset {
namespace {

struct Factors {
  Tensor lu, pivots;
};
Factors factored(const Tensor& A) {
  Factors made{column_copy(A), empty_contiguous(batch_sizes(A, 1), kInt, A.device())};
  lu_factor_kernel(made.lu, made.pivots, new_info(A));  // singular matrices have a determinant as well
  return made;
}

Tensor wide(const Tensor& x) { return unsqueeze(unsqueeze(x, -1), -1); }

// The gradient of cofactors below, without an inverse. With A = U S V^H, G = U^H g V and P[i, j] the product of all
// singular values but the i-th and the j-th, 0 on the diagonal:
// gA = conj(det(U) det(V^H)) U (diag(P diag(G^H)) - P * G^H) V^H.
Tensor cofactor_gradient(const Tensor& g, const Tensor& A) {
  const auto [u, s, vh] = linalg_svd(A);
  const Tensor same = eye(s.size(-1), TensorOptions(kBool).device(s.device()));
  const Tensor others = where(same, s.new_ones({}), unsqueeze(s, -2));
  const int64_t last = others.dim() - 1;
  Tensor p = mul(exclusive_prod(others, last, false), exclusive_prod(others, last, true));
  p = where(same, s.new_zeros({}), p).to(A.dtype());
  const Tensor turned = adjoint_of(matmul(matmul(adjoint_of(u), g), adjoint_of(vh)));
  const Tensor along = squeeze(matmul(p, unsqueeze(diagonal(turned, 0, -2, -1), -1)), -1);
  const Tensor inner = sub(diag_embed(along), mul(p, turned));
  return mul(wide(conj(mul(linalg_det(u), linalg_det(vh)))), matmul(matmul(u, inner), vh));
}

// C = conj(det A) inv(A)^H, the gradient of det A, which singular matrices have too. With B = inv(A)^H:
// gA = tr(g^H B) C - C g^H B.
Tensor cofactors(const Tensor& A) {
  const Tensor c = column_copy(A);
  cofactor_kernel(c);
  return differentiable("LinalgDetBackwardBackward0", c, inputs(A), saved(A, output(c)),
                        [](const Tensor& g, Wants, const Tensor& A, const Tensor& c) {
                          if (!thread_state.grad_enabled) return grads(cofactor_gradient(g, A));
                          // Third derivatives by the inverse: singular vectors have none where values are the same.
                          const auto [inverse, info] = linalg_inv_ex(A);
                          if (!info.is_meta() && any(info).item<bool>()) return grads(cofactor_gradient(g, A));
                          const Tensor b = adjoint_of(inverse);
                          const Tensor trace = sum(mul(conj(g), b), {-2, -1}, true);
                          return grads(sub(mul(trace, c), matmul(c, matmul(adjoint_of(g), b))));
                        });
}

Tensor determinant(const char* op, const Tensor& A) {
  check_lapack_dtype(op, A);
  check_square(op, A);
  const Factors f = factored(A);
  const Tensor det = empty_contiguous(batch_sizes(A), A.dtype(), A.device());
  lu_det_kernel(det, f.lu, f.pivots);
  return differentiable("LinalgDetBackward0", det, inputs(A), saved(A),
                        [](const Tensor& g, Wants, const Tensor& A) { return grads(mul(wide(g), cofactors(A))); });
}

// log det A has the gradient inv(A)^H; its real part is logabsdet, its imaginary part turns the sign.
std::tuple<Tensor, Tensor> sign_and_log(const char* op, const Tensor& A) {
  check_lapack_dtype(op, A);
  check_square(op, A);
  const Factors f = factored(A);
  const Tensor sign = empty_contiguous(batch_sizes(A), A.dtype(), A.device());
  const Tensor logabsdet = empty_contiguous(batch_sizes(A), to_real(A.dtype()), A.device());
  lu_slogdet_kernel(sign, logabsdet, f.lu, f.pivots);
  differentiable_outputs("LinalgSlogdetBackward0", Into{}, {&sign, &logabsdet}, inputs(A), saved(A, output(sign)),
                         [](OutputGrads g, Wants, const Tensor& A, const Tensor& sign) {
                           Tensor factor = g[1].defined() ? g[1].to(A.dtype()) : Tensor();
                           if (g[0].defined() && A.is_complex()) {
                             const Tensor z = mul(conj(g[0]), sign);
                             const Tensor turn = mul(sub(conj(z), z), Scalar(0.5));  // -i Im z
                             factor = factor.defined() ? add(factor, turn) : turn;
                           }
                           if (!factor.defined()) return grads(Tensor());
                           return grads(mul(wide(factor), adjoint_of(std::get<0>(linalg_inv_ex(A)))));
                         });
  return {sign, logabsdet};
}

}  // namespace

CRESSET_LINALG_OP(linalg_det, , Tensor, (const Tensor& A), "A", Gradient::formula, "The determinants of matrices.")
Tensor linalg_det(const Tensor& A) try {
  CRESSET_INTERCEPT(linalg_det, , Tensor, A);
  return determinant("linalg_det", A);
}
CRESSET_ERRORS_OF(linalg_det, , A)
CRESSET_COPIED_OUT(linalg_det, , (const Tensor& A), (A), (&A), "A", "The determinants of matrices.")

CRESSET_OP(det, , Tensor, (const Tensor& self), "self", Gradient::formula, "The determinants of matrices.")
Tensor det(const Tensor& self) try {
  CRESSET_INTERCEPT(det, , Tensor, self);
  return determinant("det", self);
}
CRESSET_ERRORS_OF(det, , self)

CRESSET_LINALG_OP(linalg_slogdet, , detail::TwoTensors, (const Tensor& A), "A", Gradient::formula,
                  "The sign of each determinant, and the logarithm of its absolute value.")
std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) try {
  CRESSET_INTERCEPT(linalg_slogdet, , detail::TwoTensors, A);
  return sign_and_log("linalg_slogdet", A);
}
CRESSET_ERRORS_OF(linalg_slogdet, , A)
CRESSET_COPIED_OUTS(linalg_slogdet, sign, logabsdet, (const Tensor& A), (A), (&A), "A",
                    "The sign of each determinant, and the logarithm of its absolute value.")

CRESSET_OP(slogdet, , detail::TwoTensors, (const Tensor& self), "self", Gradient::formula,
           "The sign of each determinant, and the logarithm of its absolute value.")
std::tuple<Tensor, Tensor> slogdet(const Tensor& self) try {
  CRESSET_INTERCEPT(slogdet, , detail::TwoTensors, self);
  return sign_and_log("slogdet", self);
}
CRESSET_ERRORS_OF(slogdet, , self)
CRESSET_COPIED_OUTS(slogdet, sign, logabsdet, (const Tensor& self), (self), (&self), "self",
                    "The sign of each determinant, and the logarithm of its absolute value.")

CRESSET_OP(logdet, , Tensor, (const Tensor& self), "self", Gradient::formula,
           "The logarithm of each determinant; nan for negative ones.")
Tensor logdet(const Tensor& self) try {
  CRESSET_INTERCEPT(logdet, , Tensor, self);
  check_lapack_dtype("logdet", self);
  check_square("logdet", self);
  const auto [sign, logabsdet] = sign_and_log("logdet", self.detach());
  const Tensor y = empty_contiguous(batch_sizes(self), self.dtype(), self.device());
  logdet_kernel(y, sign, logabsdet);
  return differentiable("LogdetBackward0", y, inputs(self), saved(self), [](const Tensor& g, Wants, const Tensor& A) {
    return grads(mul(wide(g), adjoint_of(std::get<0>(linalg_inv_ex(A)))));
  });
}
CRESSET_ERRORS_OF(logdet, , self)

// ---- the exponential. Its gradient is the upper right corner of exp [[A^H, g], [0, A^H]].
CRESSET_OP(matrix_exp, , Tensor, (const Tensor& self), "self", Gradient::formula, "The exponential of square matrices.")
Tensor matrix_exp(const Tensor& self) try {
  CRESSET_INTERCEPT(matrix_exp, , Tensor, self);
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()),
                   "matrix_exp: expected a tensor of floating or complex types, found ", toString(self.dtype()));
  check_square("matrix_exp", self);
  const Tensor made = column_copy(self.detach().to(compute_dtype(self.dtype())));
  matrix_exp_kernel(made);
  const Tensor y = empty_like(self);
  copy_kernel(y, made);
  return differentiable("LinalgMatrixExpBackward0", y, inputs(self), saved(self),
                        [](const Tensor& g, Wants, const Tensor& self) {
                          const Tensor a = adjoint_of(self);
                          const int64_t n = a.size(-1);
                          const Tensor top = cat({{a, g}}, -1), bottom = cat({{zeros_like(a), a}}, -1);
                          const Tensor whole = matrix_exp(cat({{top, bottom}}, -2));
                          return grads(narrow(narrow(whole, -2, 0, n), -1, n, n));
                        });
}
CRESSET_ERRORS_OF(matrix_exp, , self)

}  // namespace cresset
