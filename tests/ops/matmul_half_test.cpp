// Products of float16 and bfloat16 matrices that are large enough for the CPU's tile unit, in every layout: sums must
// be float's, rounded once.
#include <gtest/gtest.h>

#include <cmath>

#include "cresset/cresset.h"

namespace cresset::matmul_half_test {
namespace {

class HalfProducts : public ::testing::TestWithParam<DType> {
 protected:
  // Small integers and fractions: each product is exact in float, and few of their sums round.
  Tensor operand(IntArrayRef sizes) const { return randn(sizes).mul(4).round().div(4).to(GetParam()); }

  // The exact result, rounded once, may differ by one unit in the last place where float's sum was near a tie.
  void expect_product(const Tensor& found, const Tensor& a, const Tensor& b, const Tensor& added = {}) const {
    Tensor wanted = matmul(a.to(kDouble), b.to(kDouble));
    if (added.defined()) wanted = wanted + added.to(kDouble);
    ASSERT_EQ(found.scalar_type(), GetParam());
    const double unit = GetParam() == kHalf ? 0x1p-10 : 0x1p-7;
    const Tensor error = (found.to(kDouble) - wanted).abs() / wanted.abs().clamp_min(1);
    EXPECT_LE(error.max().item<double>(), unit) << a.sizes() << " " << b.sizes();
  }
};

TEST_P(HalfProducts, of_every_layout_and_odd_sizes) {
  manual_seed(1);
  for (auto [m, n, k] :
       {std::tuple{64, 64, 64}, {33, 47, 65}, {100, 1, 700}, {1, 130, 600}, {70, 31, 300}, {97, 129, 31}})
    for (int layout = 0; layout < 8; layout++) {
      const Tensor a = layout & 1 ? operand({k, m}).t() : operand({m, k});
      const Tensor b = layout & 2 ? operand({n, k}).t() : operand({k, n});
      if (layout & 4) {
        Tensor out = empty({n, m}, GetParam()).t();
        mm_out(out, a, b);
        expect_product(out, a, b);
      } else {
        expect_product(mm(a, b), a, b);
      }
    }
}

TEST_P(HalfProducts, with_bias_beta_and_alpha) {
  manual_seed(2);
  const Tensor a = operand({50, 77}), b = operand({77, 90}), bias = operand({90}), column = operand({50, 1});
  expect_product(addmm(bias, a, b), a, b, bias);
  expect_product(addmm(column, a, b), a, b, column);
  expect_product(addmm(bias, a, b, 2, 0.5), a.mul(0.5), b, bias.mul(2));
  Tensor held = operand({50, 90});
  const Tensor before = held.clone();
  held.addmm_(a, b);
  expect_product(held, a, b, before);
}

TEST_P(HalfProducts, in_batches_and_from_strided_views) {
  manual_seed(3);
  const Tensor a = operand({5, 40, 64}), b = operand({5, 64, 48});
  expect_product(bmm(a, b), a, b);
  expect_product(matmul(a, b[0]), a, b[0]);
  const Tensor wide = operand({80, 160});
  const Tensor every_other = wide.slice(1, 0, 160, 2), rows = wide.slice(0, 0, 80, 2);
  expect_product(mm(every_other, wide), every_other, wide);
  expect_product(mm(rows, wide.t()), rows, wide.t());
}

TEST_P(HalfProducts, with_numbers_that_are_not_finite) {
  manual_seed(4);
  Tensor a = operand({64, 64}), b = operand({64, 64});
  a.index_put_({3, 5}, INFINITY);
  b.index_put_({5, indexing::Slice()}, 2);
  b.index_put_({7, 9}, NAN);
  const Tensor found = mm(a, b);
  EXPECT_EQ(found[3][0].item<float>(), INFINITY);
  EXPECT_TRUE(std::isnan(found[0][9].item<float>()));
  EXPECT_TRUE(found[0].slice(0, 0, 9).isfinite().all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Dtypes, HalfProducts, ::testing::Values(kHalf, kBFloat16),
                         [](const auto& info) { return info.param == kHalf ? "float16" : "bfloat16"; });

}  // namespace
}  // namespace cresset::matmul_half_test
