// Parts of complex tensors are views: what is written to them reaches the whole, and gradients find their way back.
#include "cresset/ops/complex.h"

#include <gtest/gtest.h>

#include "cresset/autograd/autograd.h"
#include "cresset/ops/all.h"

namespace cresset::complex_test {
namespace {

using C = std::complex<double>;

Tensor numbers() { return tensor({C(1, 2), C(3, 4), C(5, 6)}); }

TEST(ComplexViews, WritingToAPartChangesTheWhole) {
  Tensor x = numbers();
  fill_(imag(x), 7);
  EXPECT_EQ(x[1].item<C>(), C(3, 7));
  mul_(view_as_real(x), 2);
  EXPECT_EQ(x[2].item<C>(), C(10, 14));
}

TEST(ComplexViews, GradientThroughAnInPlaceChangeOfAPart) {
  Tensor x = numbers().requires_grad_();
  Tensor y = mul(x, 1);
  mul_(real(y), 5);
  sum(mul(real(y), tensor({1., 2., 3.}))).backward();
  EXPECT_EQ(x.grad()[1].item<C>(), C(10, 0));
  x.mutable_grad() = Tensor();
  Tensor z = mul(x, 1);
  Tensor before = imag(z);
  mul_(view_as_real(z), 3);
  sum(before).backward();
  EXPECT_EQ(x.grad()[0].item<C>(), C(0, 3));
}

TEST(ComplexViews, GradientThroughAnInPlaceChangeOfAComplexViewOfRealNumbers) {
  Tensor x = tensor({1., 2., 3., 4.}).requires_grad_();
  Tensor y = mul(x, 1);
  mul_(view_as_complex(view(y, {2, 2})), Scalar(C(0, 1)));  // (a, b) becomes (-b, a)
  sum(mul(y, tensor({1., 10., 100., 1000.}))).backward();
  EXPECT_EQ(x.grad()[0].item<double>(), 10);
  EXPECT_EQ(x.grad()[1].item<double>(), -1);
  EXPECT_EQ(x.grad()[3].item<double>(), -100);
}

TEST(ComplexViews, SharedMemoryAndStrides) {
  Tensor x = empty({3, 4}, kComplex64).t();
  Tensor parts = view_as_real(x);
  EXPECT_EQ(parts.sizes().vec(), (std::vector<int64_t>{4, 3, 2}));
  EXPECT_EQ(parts.strides().vec(), (std::vector<int64_t>{2, 8, 1}));
  EXPECT_EQ(parts.data_ptr(), x.data_ptr());
  EXPECT_TRUE(view_as_complex(parts).strides() == x.strides());
}

}  // namespace
}  // namespace cresset::complex_test
