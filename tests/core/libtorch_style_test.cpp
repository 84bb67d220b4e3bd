// A program as libtorch's users write it, compiled against cresset/torch.h.
#include "cresset/torch.h"

#include <gtest/gtest.h>

#include <sstream>

// User code reopens the namespace, so `torch` must be more than an alias.
namespace torch {
namespace my_extension {
Tensor twice(const Tensor& x) { return x * 2; }
}  // namespace my_extension
}  // namespace torch

namespace {

struct RampOptions {
  RampOptions(int64_t length) : length_(length) {}
  TORCH_ARG(int64_t, length);
  TORCH_ARG(double, slope) = 1.0;
  TORCH_ARG(c10::optional<at::ScalarType>, dtype) = c10::nullopt;
};

at::Tensor ramp(const RampOptions& options) {
  TORCH_CHECK_VALUE(options.length() >= 0, "ramp: length must not be negative, but got ", options.length());
  auto dtype = options.dtype() ? *options.dtype() : torch::kFloat32;
  return at::arange(options.length(), at::TensorOptions().dtype(dtype)).mul(options.slope());
}

double sum_of(const at::Tensor& x) {
  double sum = 0;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sum_of", [&] {
    auto values = x.accessor<scalar_t, 1>();
    for (const auto i : c10::irange(values.size(0))) sum += values[i];
  });
  return sum;
}

TEST(LibtorchStyle, OptionsAreFluent) {
  auto x = ramp(RampOptions(4).slope(0.5).dtype(torch::kDouble));
  EXPECT_EQ(x.sizes(), at::IntArrayRef({4}));
  EXPECT_EQ(x.dtype(), torch::kFloat64);
  EXPECT_EQ(sum_of(x), 3.0);
  EXPECT_EQ(RampOptions(4).slope(0.5).slope(), 0.5);
}

TEST(LibtorchStyle, NamespacesHoldTheSameNames) {
  torch::Tensor a = torch::ones({2, 3}, torch::dtype(torch::kFloat32).requires_grad(true));
  at::Tensor b = torch::my_extension::twice(a);
  b.sum().backward();
  EXPECT_EQ(a.grad().sum().item<float>(), 12.f);
  c10::Scalar two = 2;
  c10::ArrayRef<int64_t> sizes = a.sizes();
  std::vector<int64_t> expected{2, 3};
  EXPECT_EQ(sizes, c10::IntArrayRef(expected));
  EXPECT_EQ(two.toInt(), 2);
  EXPECT_EQ(torch::Device(torch::kCPU), c10::Device(c10::DeviceType::CPU));
  EXPECT_EQ(c10::str("a", 1), "a1");
  at::optional<int64_t> none = torch::nullopt;
  EXPECT_FALSE(none.has_value());
}

TEST(LibtorchStyle, GradientsAreFoundByName) {
  auto x = torch::arange(1, 4, torch::TensorOptions().dtype(torch::kFloat32)).requires_grad_(true);
  auto y = (x * x).sum();
  auto first = torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  auto second = torch::autograd::grad({first.sum()}, {x})[0];
  EXPECT_EQ(second.select(0, 2).item<float>(), 2.f);
}

TEST(LibtorchStyle, ChecksThrowTypedErrorsWithTheirMessage) {
  try {
    ramp(RampOptions(-1));
    FAIL() << "a negative length was accepted";
  } catch (const c10::Error& e) {
    EXPECT_STREQ(e.what_without_backtrace(), "ramp: length must not be negative, but got -1");
  }
  EXPECT_THROW(TORCH_CHECK_INDEX(false, "index"), c10::IndexError);
  EXPECT_THROW(TORCH_CHECK_TYPE(false, "type"), c10::TypeError);
  EXPECT_THROW(TORCH_CHECK_NOT_IMPLEMENTED(false), c10::NotImplementedError);
  EXPECT_THROW(AT_ERROR("no ", 1), c10::Error);
  EXPECT_THROW(TORCH_INTERNAL_ASSERT(1 == 2, "odd"), c10::Error);
  EXPECT_NO_THROW(TORCH_CHECK(true));
}

TEST(LibtorchStyle, ACheckWithoutMessageNamesItsCondition) {
  try {
    TORCH_CHECK(1 > 2);
    FAIL() << "1 > 2";
  } catch (const c10::Error& e) {
    EXPECT_NE(std::string(e.what()).find("Expected 1 > 2 to be true"), std::string::npos);
  }
}

TEST(LibtorchStyle, DispatchRefusesOtherTypesByName) {
  try {
    sum_of(torch::ones({2}, torch::kInt));
    FAIL() << "int is no floating type";
  } catch (const c10::NotImplementedError& e) {
    EXPECT_STREQ(e.what(), "\"sum_of\" not implemented for 'Int'");
  }
}

TEST(LibtorchStyle, TensorsPrint) {
  std::ostringstream out;
  out << torch::tensor({{1.5, 2.0}, {3.0, 4.25}});
  EXPECT_EQ(out.str(), " 1.5000  2.0000\n 3.0000  4.2500\n[ CPUFloatType{2,2} ]");
}

}  // namespace
