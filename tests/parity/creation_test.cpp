// Ranges and fills give libtorch's values, dtypes and shapes.
#include "cresset/ops/creation.h"

#include <gtest/gtest.h>

#include "cresset/ops/all.h"
#include "tests/parity/torch_twin.h"

namespace cresset {
namespace {

using parity::all_dtypes;
using parity::torch_dtype;
using parity::torch_twin;

void expect_same(const Tensor& ours, const at::Tensor& theirs, double tolerance = 0) {
  ASSERT_EQ(torch_dtype(ours.dtype()), theirs.scalar_type());
  ASSERT_EQ(at::IntArrayRef(ours.sizes().data(), ours.sizes().size()), theirs.sizes());
  at::Tensor twin = torch_twin(ours);
  EXPECT_TRUE(tolerance == 0 ? twin.equal(theirs) : at::allclose(twin, theirs, tolerance, tolerance))
      << twin << "\nlibtorch:\n"
      << theirs;
}

TEST(CreationParity, ArangeOfIntegers) {
  expect_same(arange(5), at::arange(5));
  expect_same(arange(0), at::arange(0));
  expect_same(arange(3, 9), at::arange(3, 9));
  expect_same(arange(9, -3, -4), at::arange(9, -3, -4));
  expect_same(arange(true), at::arange(true));
  for (int64_t step : {1, 2, 3, 7, 100}) expect_same(arange(-5, 50, step), at::arange(-5, 50, step));
  constexpr int64_t big = int64_t{1} << 62;
  expect_same(arange(big, big + 5, 2), at::arange(big, big + 5, 2));
}

TEST(CreationParity, ArangeOfFractions) {
  expect_same(arange(2.5), at::arange(2.5));
  expect_same(arange(0, 1, 0.1), at::arange(0, 1, 0.1), 1e-6);
  expect_same(arange(1.0, -1.0, -0.3), at::arange(1.0, -1.0, -0.3), 1e-6);
  expect_same(arange(0, 1000, 0.1, kDouble), at::arange(0, 1000, 0.1, at::kDouble), 1e-12);
  for (DType dtype : {kHalf, kBFloat16})
    expect_same(arange(0, 4, 0.5, dtype), at::arange(0, 4, 0.5, torch_dtype(dtype)));
}

TEST(CreationParity, ArangeInEveryDtype) {
  for (DType dtype : all_dtypes())
    if (dtype != kBool && !is_complex(dtype)) {
      expect_same(arange(1, 100, 3, dtype), at::arange(1, 100, 3, torch_dtype(dtype)));
      expect_same(arange(1.9, 9.9, 2, dtype), at::arange(1.9, 9.9, 2, torch_dtype(dtype)), 1e-2);
    }
}

TEST(CreationParity, Linspace) {
  for (int64_t steps : {0, 1, 2, 3, 10, 1001}) {
    expect_same(linspace(0, 1, steps), at::linspace(0, 1, steps), 1e-6);
    expect_same(linspace(-3.5, 12, steps, kDouble), at::linspace(-3.5, 12, steps, at::kDouble), 1e-12);
    if (steps > 10) continue;  // libtorch's vector code truncates integers twice and jumps back: 9, 8, 8, 9, 8
    expect_same(linspace(10, -10, steps, kInt), at::linspace(10, -10, steps, at::kInt));
    expect_same(linspace(0, 200, steps, kByte), at::linspace(0, 200, steps, at::kByte));
  }
  expect_same(linspace(std::complex<float>(0, 1), std::complex<float>(1, 0), 5),
              at::linspace(c10::complex<float>(0, 1), c10::complex<float>(1, 0), 5, at::kComplexFloat), 1e-6);
}

TEST(CreationParity, Eye) {
  for (DType dtype : all_dtypes()) {
    if (dtype == kBFloat16) continue;  // not in libtorch 1.13
    expect_same(eye(3, dtype), at::eye(3, torch_dtype(dtype)));
    expect_same(eye(2, 4, dtype), at::eye(2, 4, torch_dtype(dtype)));
  }
  expect_same(eye(0), at::eye(0));
  expect_same(eye(3, 0), at::eye(3, 0));
}

TEST(CreationParity, FillsAndScalars) {
  expect_same(full({2}, 3), at::full({2}, 3));
  expect_same(full({2}, true), at::full({2}, true));
  expect_same(full({2}, 2.5), at::full({2}, 2.5));
  expect_same(scalar_tensor(5), at::scalar_tensor(5));
  expect_same(scalar_tensor(5, kLong), at::scalar_tensor(5, at::kLong));
}

}  // namespace
}  // namespace cresset
