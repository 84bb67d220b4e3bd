// What the cases of ops/linalg cannot say: identities that vectors obey up to a factor, gradients through functions
// that keep an input symmetric or do not depend on that factor, singular matrices.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cresset/autograd/autograd.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/ops/cases/linalg_reference.h"
#include "tests/support/finite_difference.h"

namespace cresset::test {
namespace {

using Inputs = std::vector<Tensor>;

Tensor sample(std::vector<int64_t> sizes, DType dtype, uint64_t seed = 3) {
  Make make(dtype, seed);
  return make.tensor(std::move(sizes));
}
Tensor hermitian(const Tensor& x) { return add(x, adjoint_of(x)); }
Tensor definite(const Tensor& x) { return add(matmul(x, adjoint_of(x)), eye(x.size(-1), TensorOptions(x.dtype()))); }
Tensor scaled_columns(const Tensor& x, const Tensor& factors) { return mul(x, unsqueeze(factors, -2)); }

const std::vector<DType> wide = {kDouble, kComplex128};

void check_gradients(const Function& f, const Inputs& inputs, double tolerance = 1e-5) {
  EXPECT_TRUE(gradients_match(f, inputs, tolerance));
  EXPECT_TRUE(second_gradients_match(f, inputs, tolerance * 10));
}
void expect_near(const Tensor& found, const Tensor& wanted) { EXPECT_TRUE(near(found, read(wanted), 100)); }

}  // namespace

TEST(LinalgVectors, eigh_takes_a_matrix_apart) {
  for (DType dtype : linalg::lapack_dtypes()) {
    const Tensor a = hermitian(sample({2, 4, 4}, dtype));
    for (const char* triangle : {"L", "U"}) {
      const auto [values, vectors] = linalg_eigh(a, triangle);
      expect_near(matmul(scaled_columns(vectors, values.to(dtype)), adjoint_of(vectors)), a);
    }
  }
}

TEST(LinalgVectors, eig_gives_vectors_that_a_matrix_only_stretches) {
  for (DType dtype : linalg::lapack_dtypes()) {
    const Tensor a = sample({2, 4, 4}, dtype);
    const auto [values, vectors] = linalg_eig(a);
    expect_near(matmul(a.to(vectors.dtype()), vectors), scaled_columns(vectors, values));
  }
}

TEST(LinalgVectors, svd_takes_a_matrix_apart) {
  for (DType dtype : linalg::lapack_dtypes())
    for (std::vector<int64_t> sizes : {std::vector<int64_t>{4, 4}, {2, 5, 3}, {3, 6}}) {
      const Tensor a = sample(sizes, dtype);
      const auto [u, s, vh] = linalg_svd(a, false);
      expect_near(matmul(scaled_columns(u, s.to(dtype)), vh), a);
      const auto [full_u, full_s, full_vh] = linalg_svd(a, true);
      expect_near(matmul(full_u, adjoint_of(full_u)),
                  expand(eye(a.size(-2), TensorOptions(dtype)), full_u.sizes()).contiguous());
      expect_near(matmul(full_vh, adjoint_of(full_vh)),
                  expand(eye(a.size(-1), TensorOptions(dtype)), full_vh.sizes()).contiguous());
    }
}

TEST(LinalgGradients, cholesky_of_a_matrix_that_stays_positive) {
  for (DType dtype : wide)
    for (bool upper : {false, true})
      check_gradients([&](const Inputs& in) { return Inputs{linalg_cholesky(definite(in[0]), upper)}; },
                      {sample({2, 3, 3}, dtype)});
}

TEST(LinalgGradients, solving_with_a_triangular_factor) {
  for (DType dtype : wide)
    for (bool upper : {false, true}) {
      const Tensor factor = sample({3, 3}, dtype);
      auto kept = [&](const Tensor& x) {
        return add(upper ? triu(x, 1) : tril(x, -1), mul(eye(3, TensorOptions(dtype)), Scalar(4)));
      };
      check_gradients([&](const Inputs& in) { return Inputs{cholesky_solve(in[0], kept(in[1]), upper)}; },
                      {sample({3, 2}, dtype), factor});
      check_gradients([&](const Inputs& in) { return Inputs{cholesky_inverse(kept(in[0]), upper)}; }, {factor});
    }
}

// Functions of a Hermitian matrix do not depend on the vectors' phases.
TEST(LinalgGradients, eigh_through_functions_of_a_matrix) {
  for (DType dtype : wide) {
    check_gradients(
        [&](const Inputs& in) {
          const auto [values, vectors] = linalg_eigh(hermitian(in[0]));
          const Tensor squares = mul(values, mul(values, values)).to(dtype);
          return Inputs{values, matmul(scaled_columns(vectors, squares), adjoint_of(vectors))};
        },
        {sample({3, 3}, dtype)}, 1e-4);
    check_gradients([&](const Inputs& in) { return Inputs{linalg_eigvalsh(hermitian(in[0]))}; },
                    {sample({2, 3, 3}, dtype)});
  }
}

TEST(LinalgGradients, eig_through_functions_of_a_matrix) {
  for (DType dtype : wide)
    check_gradients(
        [&](const Inputs& in) {
          const auto [values, vectors] = linalg_eig(in[0]);
          return Inputs{values, matmul(scaled_columns(vectors, mul(values, values)), linalg_inv(vectors))};
        },
        {sample({3, 3}, dtype)}, 1e-4);
}

// The polar factor U V^H and the singular values.
TEST(LinalgGradients, svd_through_the_polar_factor) {
  for (DType dtype : wide)
    for (std::vector<int64_t> sizes : {std::vector<int64_t>{3, 3}, {2, 4, 2}, {2, 4}})
      check_gradients(
          [&](const Inputs& in) {
            const auto [u, s, vh] = linalg_svd(in[0], false);
            return Inputs{s, matmul(u, vh), matmul(u, adjoint_of(u)), matmul(adjoint_of(vh), vh)};
          },
          {sample(sizes, dtype)}, 1e-4);
}

TEST(LinalgGradients, qr_of_complex_matrices) {
  for (std::vector<int64_t> sizes : {std::vector<int64_t>{3, 3}, {4, 2}, {2, 3}})
    check_gradients(
        [&](const Inputs& in) {
          const auto [q, r] = linalg_qr(in[0]);
          return Inputs{matmul(q, adjoint_of(q)), matmul(adjoint_of(r), r)};
        },
        {sample(sizes, kComplex128)});
}

TEST(LinalgGradients, least_squares) {
  for (DType dtype : wide)
    for (std::vector<int64_t> sizes : {std::vector<int64_t>{4, 2}, {2, 3}, {3, 3}})
      check_gradients([&](const Inputs& in) { return Inputs{std::get<0>(linalg_lstsq(in[0], in[1]))}; },
                      {sample(sizes, dtype), sample({sizes[0], 2}, dtype, 5)}, 1e-4);
}

TEST(LinalgGradients, pseudo_inverse_of_a_hermitian_matrix) {
  for (DType dtype : wide)
    check_gradients(
        [&](const Inputs& in) { return Inputs{linalg_pinv(definite(in[0]), std::nullopt, std::nullopt, true)}; },
        {sample({3, 3}, dtype)});
}

TEST(LinalgGradients, determinants_of_singular_matrices_have_one) {
  for (DType dtype : wide) {
    Array a = Array::filled({3, 3});
    for (size_t i = 0; i < 9; i++) a.values[i] = Complex(static_cast<double>(i), is_complex(dtype) ? 1 : 0);
    for (const Tensor& x : {tensor_of(a, dtype), zeros({2, 2}, dtype), zeros({3, 3}, dtype), ones({4, 4}, dtype)})
      check_gradients([](const Inputs& in) { return Inputs{linalg_det(in[0])}; }, {x});
  }
}

TEST(LinalgGradients, negative_powers) {
  for (DType dtype : wide)
    check_gradients([](const Inputs& in) { return Inputs{matrix_power(in[0], -3)}; },
                    {add(sample({2, 2}, dtype), mul(eye(2, TensorOptions(dtype)), Scalar(4)))});
}

TEST(LinalgSolve, one_vector_for_each_matrix) {
  const Tensor a = definite(sample({2, 3, 3}, kDouble)), b = sample({2, 3}, kDouble, 5);
  const Tensor x = linalg_solve(a, b);
  expect_near(squeeze(matmul(a, unsqueeze(x, -1)), -1), b);
}

TEST(LinalgErrors, are_of_a_kind_of_their_own) {
  const Tensor zero = zeros({2, 2});
  EXPECT_THROW(linalg_inv(zero), LinAlgError);
  EXPECT_THROW(linalg_cholesky(zero), LinAlgError);
  EXPECT_THROW(linalg_solve(zero, zero), LinAlgError);
  EXPECT_THROW(linalg_inv(zero), ValueError);
  EXPECT_NO_THROW(linalg_inv_ex(zero));
  EXPECT_NO_THROW(linalg_lu(zero));
}

TEST(LinalgErrors, gradients_that_do_not_exist) {
  const Tensor a = sample({3, 2}, kDouble);
  a.requires_grad_();
  EXPECT_THROW(std::get<1>(linalg_qr(a, "r")).sum().backward(), AutogradError);
  EXPECT_THROW(std::get<1>(linalg_qr(a, "complete")).sum().backward(), AutogradError);
}

TEST(LinalgValues, hold_for_numbers_beyond_the_range_of_a_determinant) {
  const Tensor big = mul(eye(200), Scalar(100));
  const auto [sign, log] = linalg_slogdet(big);
  EXPECT_FLOAT_EQ(sign.item<float>(), 1);
  EXPECT_NEAR(log.item<float>(), 200 * std::log(100.0), 1e-2);
  EXPECT_TRUE(std::isinf(linalg_det(big).item<float>()));
}

TEST(LinalgValues, the_exponential_of_a_large_matrix_is_scaled) {
  const Tensor a = mul(eye(3), Scalar(20));
  EXPECT_NEAR(matrix_exp(a).select(0, 0).select(0, 0).item<float>() / std::exp(20.0), 1, 1e-4);
}

TEST(Einsum, sums_what_one_operand_alone_has) {
  const Tensor a = sample({2}, kDouble), b = sample({2, 3}, kDouble, 4), c = sample({2}, kDouble, 5);
  expect_near(einsum("i,ij,k->k", {{a, b, c}}), mul(c, matmul(a, b).sum()));
  const Tensor column = unsqueeze(a, 1), wide = sample({3, 2}, kDouble, 6);
  expect_near(einsum("ij,jk->ik", {{column, wide}}), mul(column, wide.sum(0)));
}

TEST(Einsum, contracts_along_a_given_path) {
  const Tensor a = sample({2, 3}, kDouble), b = sample({3, 4}, kDouble, 4), c = sample({4, 2}, kDouble, 5);
  const std::vector<int64_t> path = {1, 2, 0, 1};
  expect_near(einsum("ij,jk,kl->il", {{a, b, c}}, IntArrayRef(path)), matmul(a, matmul(b, c)));
  const std::vector<int64_t> wrong = {0, 3, 0, 1};
  EXPECT_THROW(einsum("ij,jk,kl->il", {{a, b, c}}, IntArrayRef(wrong)), ValueError);
}

// LAPACK looked for the singular values of this matrix for ever.
TEST(Det, HasANanGradientWhereTheMatrixIsInfinite) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  Tensor x = tensor_of({{3, 3}, {0, 1e-310, -0.5, -inf, 1e-310, 2, 3e38, -0.5, 1e-40}}, kDouble).requires_grad_();
  linalg_det(x).backward();
  for (Complex slope : read(x.grad()).values) EXPECT_TRUE(std::isnan(slope.real()));
}

TEST(SingularValues, OfAnInfiniteMatrixAreNan) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  Tensor x = tensor_of({{4, 3}, {inf, 1e-40, 2, 3e38, -inf, 0.5, 0, -1, 1e5, 1, inf, -0.5}}, kFloat);
  Tensor b = ones({4, 1});
  for (const Tensor& y : {linalg_svdvals(x), std::get<0>(linalg_svd(x)), linalg_matrix_norm(x, 2),
                          std::get<0>(linalg_lstsq(x, b, std::nullopt, "gelsd"))})
    for (Complex value : read(y).values) EXPECT_TRUE(std::isnan(value.real()));
}

TEST(Linalg, SomeResultsGoIntoAnOutOfAnyDtypeThatHoldsThem) {
  const Tensor x = sample({3, 3}, kFloat), b = sample({3, 2}, kFloat);
  Tensor a = empty({0}, kDouble), tau = empty({0}, kComplexFloat);
  geqrf_out(a, tau, x);
  EXPECT_TRUE(a.equal(std::get<0>(geqrf(x)).to(kDouble)));
  EXPECT_TRUE(tau.equal(std::get<1>(geqrf(x)).to(kComplexFloat)));
  Tensor values = empty({0}, kComplexDouble), vectors = empty({0}, kComplexFloat), real = empty({0});
  linalg_eig_out(values, vectors, x);
  EXPECT_TRUE(values.equal(linalg_eigvals(x).to(kComplexDouble)));
  EXPECT_THROW(linalg_eig_out(real, vectors, x), TypeError);
  Tensor solution = empty({0}, kDouble), rest = empty({0}, kDouble), rank = empty({0}, kInt), sizes = empty({0}, kHalf);
  linalg_lstsq_out(solution, rest, rank, sizes, x, b, std::nullopt, "gelsd");
  EXPECT_TRUE(solution.equal(std::get<0>(linalg_lstsq(x, b, std::nullopt, "gelsd")).to(kDouble)));
  EXPECT_EQ(rank.item<int>(), 3);
}

TEST(Qr, KeepsItsInputOnlyIfItIsWide) {
  for (int64_t rows : {3, 4}) {
    Tensor leaf = sample({rows, 3}, kDouble).requires_grad_();
    auto gradient = [&](bool changes) {
      Tensor x = mul(leaf, 1);
      auto [q, r] = linalg_qr(x);
      if (changes) x.detach().zero_();
      return autograd::grad({q, r}, {leaf}, {ones_like(q), ones_like(r)})[0];
    };
    EXPECT_TRUE(gradient(true).equal(gradient(false)));
  }
}

// LAPACK would follow them anywhere in memory.
TEST(Lu, RefusesPivotsOutsideTheMatrix) {
  Tensor lu = eye(2), b = ones({2, 1});
  auto message = [&](const Tensor& pivots, bool solve) -> std::string {
    try {
      if (solve)
        linalg_lu_solve(lu, pivots, b);
      else
        lu_unpack(lu, pivots);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(tensor({1, 9}, kInt), false), "lu_unpack: found the pivot 9 (expected 1 to 2)");
  EXPECT_EQ(message(tensor({0, 2}, kInt), true), "linalg_lu_solve: found the pivot 0 (expected 1 to 2)");
  EXPECT_NE(message(tensor({1, 2, 2}, kInt), false).find("lu_unpack: found LU_pivots of shape [3]"), std::string::npos);
}

}  // namespace cresset::test
