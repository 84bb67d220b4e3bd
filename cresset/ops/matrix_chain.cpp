// Chains of products: multi_dot, chain_matmul, powers of a matrix; and vander, the powers of a vector's elements.
#include <algorithm>

#include "cresset/ops/cat.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/linalg.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/matrix.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

// split[i][j]: where the product of matrices i…j is best cut, by the classic table over the lengths of chains.
std::vector<std::vector<size_t>> best_splits(const std::vector<Tensor>& chain) {
  const size_t n = chain.size();
  std::vector<std::vector<size_t>> split(n, std::vector<size_t>(n));
  std::vector<std::vector<double>> cost(n, std::vector<double>(n));
  auto edge = [&](size_t i) { return static_cast<double>(i < n ? chain[i].size(0) : chain[n - 1].size(1)); };
  for (size_t length = 1; length < n; length++)
    for (size_t i = 0; i + length < n; i++) {
      const size_t j = i + length;
      cost[i][j] = -1;
      for (size_t k = i; k < j; k++) {
        const double found = cost[i][k] + cost[k + 1][j] + edge(i) * edge(k + 1) * edge(j + 1);
        if (cost[i][j] >= 0 && found >= cost[i][j]) continue;
        cost[i][j] = found;
        split[i][j] = k;
      }
    }
  return split;
}

Tensor product(const std::vector<Tensor>& chain, const std::vector<std::vector<size_t>>& split, size_t i, size_t j) {
  if (i == j) return chain[i];
  return mm(product(chain, split, i, split[i][j]), product(chain, split, split[i][j] + 1, j));
}

Tensor chain_product(const char* op, const std::vector<Tensor>& chain) {
  for (size_t i = 0; i + 1 < chain.size(); i++) {
    const Tensor &a = chain[i], &b = chain[i + 1];
    CRESSET_CHECK_AS(ShapeError, a.size(1) == b.size(0), op, ": tensors ", i, " and ", i + 1, " with shapes ",
                     text_of(a.sizes()), " and ", text_of(b.sizes()), " cannot be multiplied");
    CRESSET_CHECK_AS(TypeError, a.dtype() == b.dtype(), op, ": all tensors must have the same dtype, found ",
                     toString(a.dtype()), " and ", toString(b.dtype()));
    check_same_device(op, a, b);
  }
  return product(chain, best_splits(chain), 0, chain.size() - 1);
}

}  // namespace

static const Op& linalg_multi_dot_op =
    define_op("linalg_multi_dot", static_cast<Tensor (*)(TensorList)>(&linalg_multi_dot), "tensors",
              "The product of a chain of matrices in the cheapest order; the first and the last may be vectors.",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor linalg_multi_dot(TensorList tensors) try {
  CRESSET_INTERCEPT(linalg_multi_dot, , Tensor, tensors);
  CRESSET_CHECK_AS(ShapeError, tensors.size() >= 2, "linalg_multi_dot: expected at least 2 tensors but got ",
                   tensors.size());
  std::vector<Tensor> chain = tensors.vec();
  Dims sizes;
  for (auto [tensor, last] : {std::pair{&chain.front(), false}, std::pair{&chain.back(), true}}) {
    CRESSET_CHECK_AS(ShapeError, tensor->dim() == 1 || tensor->dim() == 2,
                     "linalg_multi_dot: the first and the last tensor must be 1D or 2D but got ", tensor->dim(), "D");
    if (tensor->dim() == 2)
      sizes.push_back(tensor->size(last ? 1 : 0));
    else
      *tensor = unsqueeze(*tensor, last ? 1 : 0);
  }
  for (size_t i = 1; i + 1 < chain.size(); i++)
    CRESSET_CHECK_AS(ShapeError, chain[i].dim() == 2, "linalg_multi_dot: tensor ", i, " must be 2D but got ",
                     chain[i].dim(), "D");
  return reshape(chain_product("linalg_multi_dot", chain), sizes);
}
CRESSET_ERRORS_OF(linalg_multi_dot, , tensors)
static Tensor linalg_multi_dot_into(const Into& into, TensorList tensors) {
  return copied_from("linalg_multi_dot", into, linalg_multi_dot(tensors), tensors);
}
CRESSET_OUT_FORM(linalg_multi_dot, , (TensorList tensors), (tensors), "tensors",
                 "The product of a chain of matrices in the cheapest order.")

static const Op& chain_matmul_op = define_op("chain_matmul", static_cast<Tensor (*)(TensorList)>(&chain_matmul),
                                             "matrices", "The product of a chain of matrices in the cheapest order.",
                                             {.gradient = Gradient::composed, .where = Where::function});
Tensor chain_matmul(TensorList matrices) try {
  CRESSET_INTERCEPT(chain_matmul, , Tensor, matrices);
  CRESSET_CHECK_AS(ShapeError, !matrices.empty(), "chain_matmul: expected at least 1 matrix but got 0");
  for (const Tensor& x : matrices)
    CRESSET_CHECK_AS(ShapeError, x.dim() == 2, "chain_matmul: Tensor dimension is ", x.dim(), ", expected 2 instead");
  if (matrices.size() == 1) return matrices[0];
  return chain_product("chain_matmul", matrices.vec());
}
CRESSET_ERRORS_OF(chain_matmul, , matrices)
static Tensor chain_matmul_into(const Into& into, TensorList matrices) {
  return copied_from("chain_matmul", into, chain_matmul(matrices), matrices);
}
CRESSET_OUT_FORM(chain_matmul, , (TensorList matrices), (matrices), "matrices",
                 "The product of a chain of matrices in the cheapest order.")

// ---- matrix_power
CRESSET_OP(matrix_power, , Tensor, (const Tensor& self, int64_t n), "self, n", Gradient::composed,
           "The n-th power of square matrices; negative n are powers of the inverse.")
Tensor matrix_power(const Tensor& self, int64_t n) try {
  CRESSET_INTERCEPT(matrix_power, , Tensor, self, n);
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 2, "matrix_power: The input tensor A must have at least 2 dimensions.");
  CRESSET_CHECK_AS(ShapeError, self.size(-1) == self.size(-2),
                   "matrix_power: A must be batches of square matrices, but they are ", self.size(-2), " by ",
                   self.size(-1), " matrices");
  if (n == 0)  // a copy, so that self gets its gradient, zeros
    return copy_(clone(self, MemoryFormat::Contiguous),
                 eye(self.size(-1), TensorOptions(self.dtype()).device(self.device())));
  if (n == 1) return clone(self, MemoryFormat::Contiguous);
  Tensor power = n < 0 ? linalg_inv(self) : self, y;
  // Squares, as many of them as the bits of n ask for.
  for (uint64_t rest = n < 0 ? uint64_t{0} - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;) {
    if (rest & 1) y = y.defined() ? matmul(y, power) : power;
    rest >>= 1;
    if (rest == 0) return y;
    power = matmul(power, power);
  }
}
CRESSET_ERRORS_OF(matrix_power, , self, n)
CRESSET_COPIED_OUT(matrix_power, , (const Tensor& self, int64_t n), (self, n), (&self), "self, n",
                   "The n-th power of square matrices.")

// ---- vander
static Tensor powers(const Tensor& x, int64_t count, bool increasing) {
  constexpr int64_t kMostPowers = 1'000'000;  // one product each
  CRESSET_CHECK_AS(ValueError, count <= kMostPowers, "vander: found N = ", count, " (expected at most ", kMostPowers,
                   ")");
  const Tensor base = is_integral(x.dtype(), true) ? x.to(kLong) : x;
  std::vector<Tensor> list;
  for (int64_t i = 0; i < count; i++) list.push_back(i == 0 ? ones_like(base) : i == 1 ? base : mul(list.back(), base));
  if (!increasing) std::reverse(list.begin(), list.end());
  if (list.empty()) {
    Dims sizes(x.sizes());
    sizes.push_back(0);
    return new_empty(base, sizes);
  }
  return stack(list, -1);
}
static const Op& vander_op =
    define_op("vander", static_cast<Tensor (*)(const Tensor&, std::optional<int64_t>, bool)>(&vander),
              "x, N=std::nullopt, increasing=false", "The matrix of the powers of a vector's elements.",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) try {
  CRESSET_INTERCEPT(vander, , Tensor, x, N, increasing);
  CRESSET_CHECK_AS(ShapeError, x.dim() == 1, "vander: x must be a one-dimensional tensor, found shape ",
                   text_of(x.sizes()));
  const int64_t count = N.value_or(x.size(0));
  CRESSET_CHECK_AS(ValueError, count >= 0, "vander: N must be non-negative, found ", count);
  return powers(x, count, increasing);
}
CRESSET_ERRORS_OF(vander, , x, N, increasing)

static const Op& linalg_vander_op =
    define_op("linalg_vander", static_cast<Tensor (*)(const Tensor&, std::optional<int64_t>)>(&linalg_vander),
              "x, N=std::nullopt", "The matrices of the powers of vectors' elements, in rising order.",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) try {
  CRESSET_INTERCEPT(linalg_vander, , Tensor, x, N);
  CRESSET_CHECK_AS(TypeError, x.dtype() != kBool && x.dtype() != kHalf && x.dtype() != kBFloat16,
                   "linalg_vander: supports floating point, complex, and integer tensors, but got ",
                   toString(x.dtype()));
  CRESSET_CHECK_AS(ShapeError, x.dim() > 0, "linalg_vander: x must have at least one dimension");
  const int64_t count = N.value_or(x.size(-1));
  CRESSET_CHECK_AS(ValueError, count > 1, "linalg_vander: N must be greater than 1, found ", count);
  return powers(x, count, true);
}
CRESSET_ERRORS_OF(linalg_vander, , x, N)

}  // namespace cresset
