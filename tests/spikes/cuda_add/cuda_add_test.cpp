// SPIKE 6. add on CUDA through the same op. Where there is a GPU the cases compare it with the CPU; where there is
// none, asking for it must say so clearly.
#include <gtest/gtest.h>

#include <string>

#include "cresset/autograd/autograd.h"
#include "cresset/cresset.h"

namespace cresset {
namespace {

// Why no CUDA tensor can be made here; empty if one can.
const std::string& refusal() {
  static const std::string text = [] {
    try {
      zeros({1}, kCUDA);
      return std::string();
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
  }();
  return text;
}

Tensor counting(IntArrayRef sizes, DType dtype = kFloat) {
  Tensor x = empty(sizes);
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<float>()[i] = static_cast<float>(i % 1000) * 0.5f;
  return x.to(dtype);
}

void expect_equal(const Tensor& found, const Tensor& wanted) {
  ASSERT_EQ(found.sizes(), wanted.sizes());
  ASSERT_EQ(found.dtype(), wanted.dtype());
  Tensor f = found.cpu().contiguous(), w = wanted.cpu().contiguous();
  ASSERT_EQ(std::string(static_cast<char*>(f.data_ptr()), f.nbytes()),
            std::string(static_cast<char*>(w.data_ptr()), w.nbytes()));
}

TEST(SpikeCudaRefused, NamesTheDeviceAndWhyItCannotBeHad) {
  if (refusal().empty()) GTEST_SKIP() << "there is a CUDA device here";
  EXPECT_NE(refusal().find("CUDA"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("cuda"), std::string::npos) << refusal();
#ifdef CRESSET_CUDA
  EXPECT_NE(refusal().find("no CUDA device can be used here ("), std::string::npos) << refusal();
#else
  EXPECT_NE(refusal().find("not in this build: no CUDA backend is loaded ("), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("libcresset_cuda.so"), std::string::npos) << refusal();
#endif
}

class SpikeCudaAdd : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!refusal().empty()) GTEST_SKIP() << refusal();
  }
};

TEST_F(SpikeCudaAdd, GoesThereAndBack) {
  for (DType dtype : {kFloat, kDouble, kLong, kInt}) {
    Tensor x = counting({3, 5}, dtype);
    EXPECT_TRUE(x.cuda().is_cuda());
    expect_equal(x.cuda(), x);
    expect_equal(x.t().cuda(), x.t());
  }
}

TEST_F(SpikeCudaAdd, EqualsTheCpuOnContiguousTensors) {
  for (DType dtype : {kFloat, kDouble})
    for (int64_t n : {1, 64, 65, 100003, 20000000}) {
      Tensor a = counting({n}, dtype), b = counting({n}, dtype);
      expect_equal(a.cuda() + b.cuda(), a + b);
      expect_equal(add(a.cuda(), b.cuda(), 2), add(a, b, 2));
    }
}

TEST_F(SpikeCudaAdd, TakesAnyStridesAndBroadcasts) {
  for (DType dtype : {kFloat, kDouble}) {
    Tensor a = counting({4, 5, 6}, dtype), b = counting({6, 5, 4}, dtype);
    expect_equal(a.cuda() + b.cuda().permute({2, 1, 0}), a + b.permute({2, 1, 0}));
    expect_equal(a.cuda().slice(2, 1, 6, 2) + b.cuda().select(0, 3).t().slice(1, 0, 3).unsqueeze(1),
                 a.slice(2, 1, 6, 2) + b.select(0, 3).t().slice(1, 0, 3).unsqueeze(1));
    Tensor column = counting({5, 1}, dtype), row = counting({6}, dtype);
    expect_equal(column.cuda() + row.cuda(), column + row);
  }
}

TEST_F(SpikeCudaAdd, TakesNumbersFromTheCpuAndMixedTypes) {
  Tensor x = counting({7}), y = counting({7}, kDouble);
  expect_equal(x.cuda() + 2.5, x + 2.5);
  expect_equal(x.cuda() + y.cuda(), x + y);
  expect_equal(x.cuda() + counting({7}, kLong).cuda(), x + counting({7}, kLong));
}

TEST_F(SpikeCudaAdd, WorksInPlaceAndIntoAGivenTensor) {
  Tensor x = counting({3, 4}), y = counting({4});
  Tensor on = x.cuda();
  on.t().add_(y.cuda().unsqueeze(1));
  expect_equal(on, x + y);
  Tensor out = empty({3, 4}, kCUDA);
  add_out(out, x.cuda(), y.cuda());
  expect_equal(out, x + y);
}

TEST_F(SpikeCudaAdd, HasTheSameGradient) {
  Tensor x = counting({3}).cuda().requires_grad_();
  Tensor y = x + x;
  EXPECT_EQ(y.grad_fn()->name(), "AddBackward0");
  y.backward(ones({3}, kCUDA));
  expect_equal(x.grad(), full({3}, 2.0));
}

TEST_F(SpikeCudaAdd, RefusesMixedDevicesAndMissingKernelsByName) {
  Tensor x = ones({3}), on = x.cuda();
  EXPECT_THROW(x + on, DeviceError);
  try {
    exp(on);
    FAIL() << "exp has no CUDA kernel yet";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("exp: no CUDA kernel in this build"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace cresset
