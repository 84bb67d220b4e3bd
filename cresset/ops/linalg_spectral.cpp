// Eigenvalues and singular values. Gradients of vectors exist where the values are apart; where vectors are defined up
// to a factor only, a loss must not depend on it.
#include <limits>

#include "cresset/core/kernel.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/diagonal.h"
#include "cresset/ops/linalg_rules.h"
#include "cresset/ops/pointwise.h"

namespace cresset {
namespace {

Tensor real_part(const Tensor& x) { return x.is_complex() ? x.to(to_real(x.dtype())) : x; }

// values[j] - values[i], infinite on the diagonal: what is divided by it vanishes there.
Tensor gaps(const Tensor& values) {
  const Tensor difference = sub(unsqueeze(values, -2), unsqueeze(values, -1));
  const Tensor on_diagonal = eye(values.size(-1), TensorOptions(kBool).device(values.device()));
  const Tensor infinite =
      full({}, std::numeric_limits<double>::infinity(), TensorOptions(values.dtype()).device(values.device()));
  return where(on_diagonal, infinite, difference);
}

bool reads_upper(const char* op, std::string_view uplo) {
  const bool upper = uplo == "U" || uplo == "u";
  CRESSET_CHECK_AS(ValueError, upper || uplo == "L" || uplo == "l", op,
                   ": Expected UPLO argument to be 'L' or 'U', but got ", std::string(uplo));
  return upper;
}

// ---- eigh: gA = V (diag gL + skew(V^H gV) / gaps) V^H, with skew(X) = (X - X^H) / 2: Hermitian, as A is
struct Eigen {
  Tensor values, vectors;
};
Eigen hermitian(const char* op, const Tensor& A, std::string_view uplo, bool vectors) {
  check_lapack_dtype(op, A);
  check_square(op, A);
  const bool upper = reads_upper(op, uplo);
  // The gradient of the values needs the vectors.
  vectors = vectors || (thread_state.grad_enabled && A.requires_grad());
  const Tensor v = column_copy(A), info = new_info(A);
  const Tensor values = empty_contiguous(batch_sizes(A, 1), to_real(A.dtype()), A.device());
  eigh_kernel(values, v, info, upper, vectors);
  check_info(info, LinAlgFailure::eigh);
  differentiable_outputs("LinalgEighBackward0", Into{}, {&values, &v}, inputs(A), saved(output(values), output(v)),
                         [](OutputGrads g, Wants, const Tensor& values, const Tensor& v) {
                           const Tensor &gl = g[0], &gv = g[1];
                           if (!gl.defined() && !gv.defined()) return grads(Tensor());
                           if (!gv.defined())
                             return grads(matmul(mul(v, unsqueeze(gl, -2).to(v.dtype())), adjoint_of(v)));
                           const Tensor turned = matmul(adjoint_of(v), gv);
                           Tensor inner = div(mul(sub(turned, adjoint_of(turned)), 0.5), gaps(values));
                           if (gl.defined()) inner = add(inner, diag_embed(gl.to(v.dtype())));
                           return grads(matmul(v, matmul(inner, adjoint_of(v))));
                         });
  return {values, v};
}

}  // namespace

CRESSET_LINALG_OP(linalg_eigh, , detail::TwoTensors, (const Tensor& self, std::string_view UPLO), "self, UPLO=\"L\"",
                  Gradient::formula,
                  "Eigenvalues (rising) and eigenvectors of symmetric or Hermitian matrices; one triangle is read.")
std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO) try {
  CRESSET_INTERCEPT(linalg_eigh, , detail::TwoTensors, self, UPLO);
  const Eigen made = hermitian("linalg_eigh", self, UPLO, true);
  return {made.values, made.vectors};
}
CRESSET_ERRORS_OF(linalg_eigh, , self, UPLO)
CRESSET_COPIED_OUTS(linalg_eigh, eigvals, eigvecs, (const Tensor& self, std::string_view UPLO), (self, UPLO), (&self),
                    "self, UPLO=\"L\"", "Eigenvalues and eigenvectors of Hermitian matrices.")

CRESSET_LINALG_OP(linalg_eigvalsh, , Tensor, (const Tensor& self, std::string_view UPLO), "self, UPLO=\"L\"",
                  Gradient::formula, "The eigenvalues of symmetric or Hermitian matrices, rising.")
Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) try {
  CRESSET_INTERCEPT(linalg_eigvalsh, , Tensor, self, UPLO);
  return hermitian("linalg_eigvalsh", self, UPLO, false).values;
}
CRESSET_ERRORS_OF(linalg_eigvalsh, , self, UPLO)
CRESSET_COPIED_OUT(linalg_eigvalsh, , (const Tensor& self, std::string_view UPLO), (self, UPLO), (&self),
                   "self, UPLO=\"L\"", "The eigenvalues of Hermitian matrices.")

// ---- eig: gA = V^-H (diag gL + (V^H gV - V^H V diag Re(V^H gV)) / conj gaps) V^H; vectors have length 1
namespace {

Eigen general(const char* op, const Tensor& A, bool vectors) {
  check_lapack_dtype(op, A);
  check_square(op, A);
  vectors = vectors || (thread_state.grad_enabled && A.requires_grad());
  const DType type = to_complex(A.dtype());
  const Tensor info = new_info(A), values = empty_contiguous(batch_sizes(A, 1), type, A.device());
  const Tensor v = vectors ? column_major(A.sizes(), type, A.device()) : empty_contiguous({0}, type, A.device());
  eig_kernel(values, v, info, column_copy(A), vectors);
  check_info(info, LinAlgFailure::eig);
  differentiable_outputs("LinalgEigBackward0", Into{}, {&values, &v}, inputs(A), saved(output(values), output(v)),
                         [from = A.dtype()](OutputGrads g, Wants, const Tensor& values, const Tensor& v) {
                           const Tensor &gl = g[0], &gv = g[1];
                           if (!gl.defined() && !gv.defined()) return grads(Tensor());
                           const Tensor turned = adjoint_of(v);
                           Tensor inner;
                           if (gv.defined()) {
                             const Tensor along = matmul(turned, gv);
                             const Tensor length = real_part(diagonal(along, 0, -2, -1)).to(v.dtype());
                             inner = sub(along, matmul(turned, mul(v, unsqueeze(length, -2))));
                             inner = div(inner, conj(gaps(values)));
                             if (gl.defined()) inner = add(inner, diag_embed(gl));
                             inner = matmul(inner, turned);
                           } else {
                             inner = mul(unsqueeze(gl, -1), turned);
                           }
                           const Tensor ga = linalg_solve(turned, inner);
                           return grads(is_complex(from) ? ga : ga.to(from));
                         });
  return {values, v};
}

}  // namespace

CRESSET_LINALG_OP(linalg_eig, , detail::TwoTensors, (const Tensor& self), "self", Gradient::formula,
                  "The eigenvalues and eigenvectors of square matrices, as complex numbers.")
std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) try {
  CRESSET_INTERCEPT(linalg_eig, , detail::TwoTensors, self);
  const Eigen made = general("linalg_eig", self, true);
  return {made.values, made.vectors};
}
CRESSET_ERRORS_OF(linalg_eig, , self)
CRESSET_CAST_OUTS(linalg_eig, eigenvalues, eigenvectors, (const Tensor& self), (self), (&self), "self",
                  "The eigenvalues and eigenvectors of square matrices.")

CRESSET_LINALG_OP(linalg_eigvals, , Tensor, (const Tensor& self), "self", Gradient::formula,
                  "The eigenvalues of square matrices, as complex numbers.")
Tensor linalg_eigvals(const Tensor& self) try {
  CRESSET_INTERCEPT(linalg_eigvals, , Tensor, self);
  return general("linalg_eigvals", self, false).values;
}
CRESSET_ERRORS_OF(linalg_eigvals, , self)
CRESSET_CAST_OUT(linalg_eigvals, , (const Tensor& self), (self), (&self), "self", "The eigenvalues of square matrices.")

// ---- svd, A = U S V^H. With E[i, j] = S[j]^2 - S[i]^2 and skew(X) = X - X^H:
// gA = U [skew(U^H gU) / E S + S skew(V^H gV) / E + diag gS + i Im diag(U^H gU) / S] V^H
//      + (1 - U U^H) gU / S V^H + U / S gV^H (1 - V V^H)
namespace {

struct Decomposition {
  Tensor u, s, vh;
};

Tensor svd_gradient(const Tensor& gu, const Tensor& gs, const Tensor& gvh, const Tensor& u, const Tensor& s,
                    const Tensor& vh) {
  auto skew = [](const Tensor& x) { return sub(x, adjoint_of(x)); };
  const DType type = u.dtype();
  Tensor inner;
  auto put = [](Tensor& sum, const Tensor& more) { sum = sum.defined() ? add(sum, more) : more; };
  if (gs.defined()) {
    if (!gu.defined() && !gvh.defined()) return matmul(mul(u, unsqueeze(gs, -2).to(type)), vh);
    put(inner, diag_embed(gs.to(type)));
  }
  const Tensor row = unsqueeze(s, -2), column = unsqueeze(s, -1), e = gaps(mul(s, s));
  Tensor uhgu, gvhv;
  if (gu.defined()) {
    uhgu = matmul(adjoint_of(u), gu);
    put(inner, mul(div(skew(uhgu), e), row));
    if (u.is_complex()) {
      const Tensor along = diagonal(uhgu, 0, -2, -1);
      put(inner, diag_embed(div(mul(sub(along, conj(along)), Scalar(0.5)), s)));
    }
  }
  if (gvh.defined()) {
    gvhv = matmul(gvh, adjoint_of(vh));
    put(inner, mul(column, div(skew(adjoint_of(gvhv)), e)));
  }
  Tensor ga = matmul(u, matmul(inner, vh));
  const int64_t k = s.size(-1);
  if (gu.defined() && u.size(-2) > k) put(ga, matmul(div(sub(gu, matmul(u, uhgu)), row), vh));
  if (gvh.defined() && vh.size(-1) > k) put(ga, matmul(div(u, row), sub(gvh, matmul(gvhv, vh))));
  return ga;
}

Decomposition decomposed(const char* op, const Tensor& A, bool full, bool vectors) {
  check_lapack_dtype(op, A);
  check_matrices(op, A);
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const Dims batch = batch_sizes(A);
  if (!vectors && thread_state.grad_enabled && A.requires_grad()) vectors = true, full = false;
  const Tensor s = empty_contiguous(with_sizes(batch, {k}), to_real(A.dtype()), A.device()), info = new_info(A);
  const Dims none{0};
  const Tensor u = vectors ? column_major(with_sizes(batch, {m, full ? m : k}), A.dtype(), A.device())
                           : empty_contiguous(none, A.dtype(), A.device());
  const Tensor vh = vectors ? column_major(with_sizes(batch, {full ? n : k, n}), A.dtype(), A.device())
                            : empty_contiguous(none, A.dtype(), A.device());
  svd_kernel(u, s, vh, info, column_copy(A), vectors);
  check_info(info, LinAlgFailure::svd);
  differentiable_outputs("LinalgSvdBackward0", Into{}, {&u, &s, &vh}, inputs(A),
                         saved(output(u), output(s), output(vh)),
                         [k](OutputGrads g, Wants, const Tensor& u, const Tensor& s, const Tensor& vh) {
                           if (!g[0].defined() && !g[1].defined() && !g[2].defined()) return grads(Tensor());
                           // The columns beyond the first k are not determined, and get no gradient.
                           return grads(svd_gradient(g[0].defined() ? narrow(g[0], -1, 0, k) : Tensor(), g[1],
                                                     g[2].defined() ? narrow(g[2], -2, 0, k) : Tensor(),
                                                     narrow(u, -1, 0, k), s, narrow(vh, -2, 0, k)));
                         });
  return {u, s, vh};
}

}  // namespace

CRESSET_LINALG_OP(linalg_svd, , detail::ThreeTensors, (const Tensor& A, bool full_matrices), "A, full_matrices=true",
                  Gradient::formula, "U, S and Vh with U @ diag(S) @ Vh = A; S falls.")
std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices) try {
  CRESSET_INTERCEPT(linalg_svd, , detail::ThreeTensors, A, full_matrices);
  const Decomposition made = decomposed("linalg_svd", A, full_matrices, true);
  return {made.u, made.s, made.vh};
}
CRESSET_ERRORS_OF(linalg_svd, , A, full_matrices)
CRESSET_COPIED_THREE(linalg_svd, U, S, Vh, (const Tensor& A, bool full_matrices), (A, full_matrices), (&A),
                     "A, full_matrices=true", "U, S and Vh with U @ diag(S) @ Vh = A.")

CRESSET_LINALG_OP(linalg_svdvals, , Tensor, (const Tensor& A), "A", Gradient::formula,
                  "The singular values of matrices, falling.")
Tensor linalg_svdvals(const Tensor& A) try {
  CRESSET_INTERCEPT(linalg_svdvals, , Tensor, A);
  return decomposed("linalg_svdvals", A, false, false).s;
}
CRESSET_ERRORS_OF(linalg_svdvals, , A)
CRESSET_COPIED_OUT(linalg_svdvals, , (const Tensor& A), (A), (&A), "A", "The singular values of matrices.")

CRESSET_OP(svd, , detail::ThreeTensors, (const Tensor& self, bool some, bool compute_uv),
           "self, some=true, compute_uv=true", Gradient::formula,
           "U, S and V with U @ diag(S) @ V^H = self; without compute_uv, U and V are zeros.")
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) try {
  CRESSET_INTERCEPT(svd, , detail::ThreeTensors, self, some, compute_uv);
  check_matrices("svd", self, "input");
  const Decomposition made = decomposed("svd", self, !some, compute_uv);
  if (compute_uv) return {made.u, made.s, adjoint_of(made.vh)};
  const int64_t m = self.size(-2), n = self.size(-1);
  const Dims batch = batch_sizes(self);
  return {new_zeros(self, with_sizes(batch, {m, m})), made.s,
          transpose(new_zeros(self, with_sizes(batch, {n, n})), -2, -1)};
}
CRESSET_ERRORS_OF(svd, , self, some, compute_uv)
CRESSET_COPIED_THREE(svd, U, S, V, (const Tensor& self, bool some, bool compute_uv), (self, some, compute_uv), (&self),
                     "self, some=true, compute_uv=true", "U, S and V with U @ diag(S) @ V^H = self.")

}  // namespace cresset
