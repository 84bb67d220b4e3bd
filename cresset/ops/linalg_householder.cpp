// Products of Householder's reflections H_i = 1 - tau_i v_i v_i^H, whose vectors stand below the diagonal, as geqrf
// leaves them.
#include "cresset/core/kernel.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/diagonal.h"
#include "cresset/ops/linalg_rules.h"
#include "cresset/ops/pad.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"

namespace cresset {
namespace {

void check_reflectors(const char* op, const Tensor& input, const Tensor& tau) {
  check_lapack_dtype(op, input);
  check_matrices(op, input, "input");
  check_same_kind(op, input, tau, "input", "tau");
  const int64_t k = tau.dim() == 0 ? 0 : tau.size(-1);
  CRESSET_CHECK_AS(ShapeError, tau.dim() == input.dim() - 1 && batch_sizes(tau, 1) == batch_sizes(input), op,
                   ": found tau of shape ", text_of(tau.sizes()), " (expected ",
                   text_of(with_sizes(batch_sizes(input), {k})), " for input of shape ", text_of(input.sizes()), ")");
  CRESSET_CHECK_AS(ShapeError, k <= input.size(-1), op, ": found ", k, " elements in tau (expected at most ",
                   input.size(-1), ", as many as input has columns)");
}

struct ReflectorGradients {
  Tensor input, tau;
};
// Of Re tr(a^H Q b), Q being square. With V for the vectors, S = triu(V^H V, 1), D = diag(tau) and M = 1 + D S,
// Q = 1 - V M^-1 D V^H: nothing is divided by tau, which may be 0.
ReflectorGradients reflector_gradients(const Tensor& a, const Tensor& b, const Tensor& input, const Tensor& tau) {
  const int64_t m = input.size(-2), n = input.size(-1), k = tau.size(-1);
  const Tensor v = add(tril(narrow(input, -1, 0, k), -1), eye(m, k, input.options()));
  const Tensor vh = adjoint_of(v), s = triu(matmul(vh, v), 1), d = unsqueeze(tau, -1), p = matmul(vh, b);
  const Tensor above = mul(d, s);  // M without its ones
  const Tensor w = linalg_solve_triangular(above, mul(d, p), /*upper=*/true, /*left=*/true, /*unitriangular=*/true);
  const Tensor gw = linalg_solve_triangular(adjoint_of(above), neg(matmul(vh, a)), /*upper=*/false, /*left=*/true,
                                            /*unitriangular=*/true);
  const Tensor gm = triu(neg(matmul(gw, adjoint_of(w))), 1);
  const Tensor gs = mul(conj(d), gm), gp = mul(conj(d), gw);
  const Tensor gv = sub(add(matmul(v, add(gs, adjoint_of(gs))), matmul(b, adjoint_of(gp))), matmul(a, adjoint_of(w)));
  return {constant_pad_nd(tril(gv, -1), {0, n - k}), add(mul(gw, conj(p)).sum({-1}), mul(gm, conj(s)).sum({-1}))};
}

Tensor householder_product(const char* op, const Tensor& input, const Tensor& tau) {
  check_reflectors(op, input, tau);
  CRESSET_CHECK_AS(ShapeError, input.size(-2) >= input.size(-1), op, ": found input of shape ", text_of(input.sizes()),
                   " (expected at least as many rows as columns)");
  const Tensor q = column_copy(input);
  orgqr_kernel(q, tau.detach().contiguous());
  return differentiable("LinalgHouseholderProductBackward0", q, inputs(input, tau), saved(input, tau),
                        [](const Tensor& g, Wants, const Tensor& input, const Tensor& tau) {
                          const Tensor one = eye(input.size(-2), input.size(-1), input.options());
                          const ReflectorGradients of = reflector_gradients(g, one, input, tau);
                          return grads(of.input, of.tau);
                        });
}

}  // namespace

CRESSET_LINALG_OP(linalg_householder_product, , Tensor, (const Tensor& input, const Tensor& tau), "input, tau",
                  Gradient::formula, "The first columns of the product of the reflections that geqrf gives.")
Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) try {
  CRESSET_INTERCEPT(linalg_householder_product, , Tensor, input, tau);
  return householder_product("linalg_householder_product", input, tau);
}
CRESSET_ERRORS_OF(linalg_householder_product, , input, tau)
CRESSET_COPIED_OUT(linalg_householder_product, , (const Tensor& input, const Tensor& tau), (input, tau), (&input, &tau),
                   "input, tau", "The first columns of the product of the reflections that geqrf gives.")

CRESSET_OP(orgqr, , Tensor, (const Tensor& self, const Tensor& input2), "self, input2", Gradient::formula,
           "The first columns of the product of the reflections that geqrf gives.")
Tensor orgqr(const Tensor& self, const Tensor& input2) try {
  CRESSET_INTERCEPT(orgqr, , Tensor, self, input2);
  return householder_product("orgqr", self, input2);
}
CRESSET_ERRORS_OF(orgqr, , self, input2)
CRESSET_COPIED_OUT(orgqr, , (const Tensor& self, const Tensor& input2), (self, input2), (&self, &input2),
                   "self, input2", "The first columns of the product of the reflections that geqrf gives.")

// ---- ormqr: Q C, Q^H C, C Q or C Q^H, each of whose gradients by Q is that of Re tr(a^H Q b) for some a and b
CRESSET_OP(ormqr, , Tensor, (const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool transpose),
           "self, input2, input3, left=true, transpose=false", Gradient::formula,
           "input3 multiplied by the product of the reflections that geqrf gives, or by its adjoint.")
Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool transpose) try {
  CRESSET_INTERCEPT(ormqr, , Tensor, self, input2, input3, left, transpose);
  check_reflectors("ormqr", self, input2);
  check_matrices("ormqr", input3, "input3");
  check_same_kind("ormqr", self, input3, "input", "input3");
  const int64_t rows = self.size(-2), k = input2.size(-1);
  CRESSET_CHECK_AS(ShapeError,
                   input3.dim() == self.dim() && batch_sizes(input3) == batch_sizes(self) &&
                       input3.size(left ? -2 : -1) == rows && k <= rows,
                   "ormqr: found input of shape ", text_of(self.sizes()), ", tau of ", text_of(input2.sizes()), " and ",
                   "other of ", text_of(input3.sizes()), " (expected the same leading dimensions, ", rows,
                   left ? " rows" : " columns", " in other and at most as many elements in tau)");
  const Tensor y = column_copy(input3);
  ormqr_kernel(y, column_copy(narrow(self, -1, 0, k)), input2.detach().contiguous(), left, transpose);
  return differentiable(
      "OrmqrBackward0", y, inputs(self, input2, input3), saved(self, input2, input3),
      [left, transpose](const Tensor& g, Wants wants, const Tensor& self, const Tensor& input2, const Tensor& input3) {
        ReflectorGradients of;
        if (wants(0) || wants(1)) {
          Tensor a = left ? g : adjoint_of(input3), b = left ? input3 : adjoint_of(g);
          if (transpose) std::swap(a, b);
          of = reflector_gradients(a, b, self, input2);
        }
        return grads(of.input, of.tau, wants(2) ? ormqr(self, input2, g, left, !transpose) : Tensor());
      });
}
CRESSET_ERRORS_OF(ormqr, , self, input2, input3, left, transpose)
CRESSET_COPIED_OUT(ormqr, , (const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool transpose),
                   (self, input2, input3, left, transpose), (&self, &input2, &input3),
                   "self, input2, input3, left=true, transpose=false",
                   "input3 multiplied by the product of the reflections that geqrf gives, or by its adjoint.")

}  // namespace cresset
