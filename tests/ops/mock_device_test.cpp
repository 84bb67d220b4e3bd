// The mock device itself: it must catch what it is there to catch.
#include "tests/support/mock_device.h"

#include <gtest/gtest.h>

#include "cresset/ops/all.h"
#include "tests/support/array.h"

namespace cresset::test {

TEST(MockDevice, values_come_back_as_they_were) {
  Tensor x = ones({3, 4});
  EXPECT_TRUE(same_bits(x.to(Device(kMock)).to(Device(kCPU)), x));
}

TEST(MockDevice, kernels_run_and_may_touch_memory) {
  Tensor x = ones({70000}).to(Device(kMock));
  int64_t before = mock_kernel_calls();
  Tensor y;
  EXPECT_FALSE(touches_mock_memory([&] { y = x + x; }));
  EXPECT_GT(mock_kernel_calls(), before);
  EXPECT_TRUE(same_bits(y.to(Device(kCPU)), full({70000}, 2.0)));
}

TEST(MockDevice, a_read_outside_a_kernel_is_caught) {
  Tensor x = ones({4}).to(Device(kMock));
  volatile float read = 0;
  EXPECT_TRUE(touches_mock_memory([&] { read = x.data_ptr<float>()[0]; }));
}

TEST(MockDevice, a_write_outside_a_kernel_is_caught) {
  Tensor x = ones({4}).to(Device(kMock));
  EXPECT_TRUE(touches_mock_memory([&] { x.data_ptr<float>()[3] = 1; }));
}

TEST(MockDevice, an_exception_passes_through_and_memory_is_closed_again) {
  Tensor x = ones({4}).to(Device(kMock));
  EXPECT_THROW(touches_mock_memory([&] { x.view({3}); }), ShapeError);
  EXPECT_TRUE(touches_mock_memory([&] { x.data_ptr<float>()[0] = 1; }));
}

}  // namespace cresset::test
