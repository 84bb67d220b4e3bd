// What counts small singular values as none: pseudo-inverse, rank, least squares.
#include "cresset/core/epsilon.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/linalg_rules.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"

namespace cresset {
namespace {

struct Limits {
  Tensor atol, rtol;
};
// PyTorch's defaults: rtol is epsilon times the longer side, unless an atol above 0 was given.
Limits limits_of(const Tensor& A, std::optional<double> atol, std::optional<double> rtol) {
  const TensorOptions options = TensorOptions(to_real(A.dtype())).device(A.device());
  const double a = atol.value_or(0);
  const double r = rtol    ? *rtol
                   : a > 0 ? 0
                           : epsilon_of(A.dtype()) * static_cast<double>(std::max(A.size(-1), A.size(-2)));
  return {full({}, a, options), full({}, r, options)};
}
Limits limits_of(const char* op, const Tensor& A, const Tensor& atol, const Tensor& rtol) {
  Limits limits = limits_of(A, std::nullopt, std::nullopt);
  const Dims batch = batch_sizes(A);
  auto fitted = [&](const Tensor& x, const char* name) {
    CRESSET_CHECK_AS(TypeError, !x.is_complex(), op, ": ", name, " tensor of complex type is not supported.");
    check_same_device(op, A, x);
    const Tensor wide = x.numel() == 1 ? reshape(x.detach(), {}) : expand(x.detach(), batch);
    return wide.to(to_real(A.dtype())).contiguous();
  };
  if (atol.defined()) limits.atol = fitted(atol, "atol");
  if (rtol.defined()) limits.rtol = fitted(rtol, "rtol");
  return limits;
}

// ---- pinv
Tensor pseudo_inverse(const char* op, const Tensor& A, const Limits& limits, bool hermitian) {
  check_lapack_dtype(op, A);
  check_matrices(op, A, "input");
  if (hermitian) check_square(op, A);
  const Tensor x = A.detach();
  if (A.numel() == 0) {
    Dims sizes = with_sizes(batch_sizes(A), {A.size(-1), A.size(-2)});
    return mul(reshape(A, sizes), Scalar(1));
  }
  Tensor y;
  if (hermitian) {
    const auto [values, vectors] = linalg_eigh(x);
    const Tensor over = empty_contiguous(values.sizes(), values.dtype(), values.device());
    cut_reciprocal_kernel(over, values, limits.atol, limits.rtol);
    y = matmul(mul(vectors, unsqueeze(over, -2)), adjoint_of(vectors));
  } else {
    const auto [u, s, vh] = linalg_svd(x, false);
    const Tensor over = empty_contiguous(s.sizes(), s.dtype(), s.device());
    cut_reciprocal_kernel(over, s, limits.atol, limits.rtol);
    y = matmul(mul(adjoint_of(vh), unsqueeze(over, -2)), adjoint_of(u));
  }
  // Golub and Pereyra: dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P
  return differentiable("LinalgPinvBackward0", y, inputs(A), saved(A, output(y)),
                        [](const Tensor& g, Wants, const Tensor& A, const Tensor& p) {
                          const Tensor ph = adjoint_of(p), gh = adjoint_of(g);
                          if (A.size(-2) <= A.size(-1)) {
                            const Tensor k = matmul(gh, p), kp = matmul(k, ph);
                            const Tensor rest = matmul(matmul(ph, p), sub(gh, matmul(k, A)));
                            return grads(add(sub(sub(kp, matmul(matmul(A, p), kp)), adjoint_of(matmul(p, k))), rest));
                          }
                          const Tensor k = matmul(p, gh), pk = matmul(ph, k);
                          const Tensor rest = matmul(matmul(sub(gh, matmul(A, k)), p), ph);
                          return grads(add(sub(sub(pk, matmul(matmul(pk, p), A)), adjoint_of(matmul(k, p))), rest));
                        });
}

Tensor rank_of(const char* op, const Tensor& A, const Limits& limits, bool hermitian) {
  check_matrices(op, A, "input");
  const Tensor x = A.detach();
  const Tensor s = hermitian ? linalg_eigvalsh(x) : linalg_svdvals(x);
  Tensor rank = empty_contiguous(batch_sizes(A), kLong, A.device());
  cut_count_kernel(rank, s, limits.atol, limits.rtol);
  return rank;
}

}  // namespace

CRESSET_LINALG_OP(linalg_pinv, atol_rtol_float, Tensor,
                  (const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian),
                  "self, atol=std::nullopt, rtol=std::nullopt, hermitian=false", Gradient::formula,
                  "The pseudo-inverses of matrices; singular values up to max(atol, rtol * the largest) count as 0.")
Tensor linalg_pinv(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) try {
  CRESSET_INTERCEPT(linalg_pinv, atol_rtol_float, Tensor, self, atol, rtol, hermitian);
  check_matrices("linalg_pinv", self, "input");
  return pseudo_inverse("linalg_pinv", self, limits_of(self, atol, rtol), hermitian);
}
CRESSET_ERRORS_OF(linalg_pinv, atol_rtol_float, self, atol, rtol, hermitian)
CRESSET_CAST_OUT(linalg_pinv, atol_rtol_float,
                 (const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian),
                 (self, atol, rtol, hermitian), (&self), "self, atol=std::nullopt, rtol=std::nullopt, hermitian=false",
                 "The pseudo-inverses of matrices.")

CRESSET_LINALG_OP(linalg_pinv, atol_rtol_tensor, Tensor,
                  (const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian),
                  "self, atol, rtol, hermitian=false", Gradient::formula,
                  "The pseudo-inverses of matrices, with limits for each matrix; an undefined limit is the default.")
Tensor linalg_pinv(const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian) try {
  CRESSET_INTERCEPT(linalg_pinv, atol_rtol_tensor, Tensor, self, atol, rtol, hermitian);
  check_matrices("linalg_pinv", self, "input");
  return pseudo_inverse("linalg_pinv", self, limits_of("linalg_pinv", self, atol, rtol), hermitian);
}
CRESSET_ERRORS_OF(linalg_pinv, atol_rtol_tensor, self, atol, rtol, hermitian)
CRESSET_CAST_OUT(linalg_pinv, atol_rtol_tensor,
                 (const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian),
                 (self, atol, rtol, hermitian), (&self, &atol, &rtol), "self, atol, rtol, hermitian=false",
                 "The pseudo-inverses of matrices.")

CRESSET_LINALG_OP(linalg_pinv, , Tensor, (const Tensor& self, double rcond, bool hermitian),
                  "self, rcond, hermitian=false", Gradient::formula,
                  "The pseudo-inverses of matrices; singular values up to rcond times the largest count as 0.")
Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian) try {
  CRESSET_INTERCEPT(linalg_pinv, , Tensor, self, rcond, hermitian);
  check_matrices("linalg_pinv", self, "input");
  return pseudo_inverse("linalg_pinv", self, limits_of(self, 0.0, rcond), hermitian);
}
CRESSET_ERRORS_OF(linalg_pinv, , self, rcond, hermitian)
CRESSET_CAST_OUT(linalg_pinv, , (const Tensor& self, double rcond, bool hermitian), (self, rcond, hermitian), (&self),
                 "self, rcond, hermitian=false", "The pseudo-inverses of matrices.")

CRESSET_OP(pinverse, , Tensor, (const Tensor& self, double rcond), "self, rcond=1e-15", Gradient::formula,
           "The pseudo-inverses of matrices.")
Tensor pinverse(const Tensor& self, double rcond) try {
  CRESSET_INTERCEPT(pinverse, , Tensor, self, rcond);
  check_matrices("pinverse", self, "input");
  return pseudo_inverse("pinverse", self, limits_of(self, 0.0, rcond), false);
}
CRESSET_ERRORS_OF(pinverse, , self, rcond)

// ---- matrix_rank
CRESSET_LINALG_OP(linalg_matrix_rank, atol_rtol_float, Tensor,
                  (const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian),
                  "self, atol=std::nullopt, rtol=std::nullopt, hermitian=false", Gradient::none,
                  "The number of singular values above max(atol, rtol * the largest).")
Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol, std::optional<double> rtol,
                          bool hermitian) try {
  CRESSET_INTERCEPT(linalg_matrix_rank, atol_rtol_float, Tensor, self, atol, rtol, hermitian);
  check_matrices("linalg_matrix_rank", self, "input");
  return rank_of("linalg_matrix_rank", self, limits_of(self, atol, rtol), hermitian);
}
CRESSET_ERRORS_OF(linalg_matrix_rank, atol_rtol_float, self, atol, rtol, hermitian)
CRESSET_CAST_OUT(linalg_matrix_rank, atol_rtol_float,
                 (const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian),
                 (self, atol, rtol, hermitian), (&self), "self, atol=std::nullopt, rtol=std::nullopt, hermitian=false",
                 "The number of singular values above a limit.")

CRESSET_LINALG_OP(linalg_matrix_rank, atol_rtol_tensor, Tensor,
                  (const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian),
                  "self, atol, rtol, hermitian=false", Gradient::none,
                  "The number of singular values above limits for each matrix.")
Tensor linalg_matrix_rank(const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian) try {
  CRESSET_INTERCEPT(linalg_matrix_rank, atol_rtol_tensor, Tensor, self, atol, rtol, hermitian);
  check_matrices("linalg_matrix_rank", self, "input");
  return rank_of("linalg_matrix_rank", self, limits_of("linalg_matrix_rank", self, atol, rtol), hermitian);
}
CRESSET_ERRORS_OF(linalg_matrix_rank, atol_rtol_tensor, self, atol, rtol, hermitian)
CRESSET_CAST_OUT(linalg_matrix_rank, atol_rtol_tensor,
                 (const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian),
                 (self, atol, rtol, hermitian), (&self, &atol, &rtol), "self, atol, rtol, hermitian=false",
                 "The number of singular values above a limit.")

CRESSET_LINALG_OP(linalg_matrix_rank, , Tensor, (const Tensor& self, double tol, bool hermitian),
                  "self, tol, hermitian=false", Gradient::none, "The number of singular values above tol.")
Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian) try {
  CRESSET_INTERCEPT(linalg_matrix_rank, , Tensor, self, tol, hermitian);
  check_matrices("linalg_matrix_rank", self, "input");
  return rank_of("linalg_matrix_rank", self, limits_of(self, tol, 0.0), hermitian);
}
CRESSET_ERRORS_OF(linalg_matrix_rank, , self, tol, hermitian)
CRESSET_CAST_OUT(linalg_matrix_rank, , (const Tensor& self, double tol, bool hermitian), (self, tol, hermitian),
                 (&self), "self, tol, hermitian=false", "The number of singular values above a limit.")

// ---- lstsq: X = pinv(A) B
namespace {

int64_t driver_number(std::string_view driver) {
  constexpr std::string_view names[] = {"gels", "gelsy", "gelsd", "gelss"};
  for (int64_t i = 0; i < 4; i++)
    if (driver == names[i]) return i;
  throw ValueError(message_of("linalg_lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), found ",
                              std::string(driver)));
}

}  // namespace

CRESSET_LINALG_OP(linalg_lstsq, , detail::FourTensors,
                  (const Tensor& self, const Tensor& b, std::optional<double> rcond, std::string_view driver),
                  "self, b, rcond=std::nullopt, driver=\"gelsy\"", Gradient::formula,
                  "The least-squares solutions of self @ X = b, their residuals, the ranks and singular values.")
std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond, std::string_view driver) try {
  CRESSET_INTERCEPT(linalg_lstsq, , detail::FourTensors, self, b, rcond, driver);
  const char* op = "linalg_lstsq";
  const int64_t method = driver_number(driver);
  check_matrices(op, self, "input");
  check_lapack_dtype(op, self);
  check_same_kind(op, self, b, "input", "other");
  const bool vector = b.dim() == self.dim() - 1 && b.sizes() == self.sizes().slice(0, static_cast<size_t>(b.dim()));
  const Tensor rhs = vector ? unsqueeze(b, -1) : b;
  check_matrices(op, rhs, "other");
  CRESSET_CHECK_AS(ShapeError, self.size(-2) == rhs.size(-2), op,
                   ": input.size(-2) should match other.size(-2), found shapes ", text_of(self.sizes()), " and ",
                   text_of(b.sizes()));
  const Dims batch = broadcast_shapes(op, batch_sizes(self), batch_sizes(rhs));
  const int64_t m = self.size(-2), n = self.size(-1), k = rhs.size(-1), least = std::min(m, n);
  const double limit = rcond.value_or(epsilon_of(self.dtype()) * static_cast<double>(std::max(m, n)));
  const Tensor A = expand(self, with_sizes(batch, {m, n})), B = expand(rhs, with_sizes(batch, {m, k}));
  const DType real = to_real(self.dtype());
  const Tensor whole = column_major(with_sizes(batch, {std::max(m, n), k}), self.dtype(), self.device());
  copy_kernel(narrow(whole, -2, 0, m), B.detach());
  if (n > m) fill_kernel(narrow(whole, -2, m, n - m), 0);
  const Dims none{0};
  const Tensor rank = empty_contiguous(method > 0 ? batch : none, kLong, self.device());
  const Tensor values = empty_contiguous(method > 1 ? with_sizes(batch, {least}) : none, real, self.device());
  const Tensor info = empty_contiguous(batch, kInt, self.device());
  lstsq_kernel(whole, rank, values, info, column_copy(A), limit, method);
  check_info(info, LinAlgFailure::lstsq);
  Tensor x = alias(whole, with_sizes(batch, {n, k}), whole.strides(), whole.storage_offset());
  x = differentiable("LinalgLstsqBackward0", x, inputs(A, B), saved(A, B),
                     [limit](const Tensor& g, Wants wants, const Tensor& A, const Tensor& B) {
                       const Tensor p = linalg_pinv(A, limit);
                       Tensor ga;
                       if (wants(0)) {  // by the pseudo-inverse's formula, with P's gradient g B^H
                         const Tensor gp = matmul(g, adjoint_of(B)), ph = adjoint_of(p), gh = adjoint_of(gp);
                         const Tensor k = matmul(gh, p), kp = matmul(k, ph);
                         ga = add(sub(sub(kp, matmul(matmul(A, p), kp)), adjoint_of(matmul(p, k))),
                                  matmul(matmul(ph, p), sub(gh, matmul(k, A))));
                       }
                       return grads(ga, wants(1) ? matmul(adjoint_of(p), g) : Tensor());
                     });
  Tensor residuals = empty_contiguous(none, real, self.device());
  // Only of a full rank are the rest of the rows the residuals; without values, it is taken for full.
  const bool known = method > 1 && rank.numel() > 0 && !rank.is_meta();
  if (m > n && method != 1 && (!known || min(rank).item<int64_t>() == n)) {
    const Tensor rest = narrow(whole, -2, n, m - n);
    residuals = sum(mul(rest, conj(rest)).to(real), -2);
  }
  if (vector) x = squeeze(x, -1);
  return {x, residuals, rank, values};
}
CRESSET_ERRORS_OF(linalg_lstsq, , self, b, rcond, driver)
static const Op& linalg_lstsq_out_op =
    define_op("linalg_lstsq_out", &linalg_lstsq_out,
              "solution, residuals, rank, singular_values, self, b, rcond=std::nullopt, driver=\"gelsy\"",
              "The least-squares solutions of self @ X = b, their residuals, the ranks and singular values.",
              {.where = Where::function, .functional = &linalg_lstsq_op});
std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> linalg_lstsq_out(Tensor& solution, Tensor& residuals, Tensor& rank,
                                                                Tensor& singular_values, const Tensor& self,
                                                                const Tensor& b, std::optional<double> rcond,
                                                                std::string_view driver) try {
  if (CRESSET_LIKELY(thread_state.modes_above == 0) ||
      !intercepted<void>(linalg_lstsq_out_op, solution, residuals, rank, singular_values, self, b, rcond, driver)) {
    const auto [x, rest, ranks, values] = linalg_lstsq(self, b, rcond, driver);
    kept_or_cast_into("linalg_lstsq", into_out(solution), x, {&self, &b});
    kept_or_cast_into("linalg_lstsq", into_out(residuals), rest, {&self, &b});
    kept_or_cast_into("linalg_lstsq", into_out(rank), ranks, {&self, &b});
    kept_or_cast_into("linalg_lstsq", into_out(singular_values), values, {&self, &b});
  }
  return {solution, residuals, rank, singular_values};
}
CRESSET_ERRORS_OF(linalg_lstsq_out, , solution, residuals, rank, singular_values, self, b, rcond, driver)

}  // namespace cresset
