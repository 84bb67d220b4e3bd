// Devices from text, the texts that are refused, and whether CUDA is there.
#include "cresset/core/device.h"

#include <gtest/gtest.h>

#include "cresset/core/cuda.h"
#include "cresset/core/error.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

TEST(Device, IsReadFromText) {
  EXPECT_EQ(Device("cpu"), Device(kCPU));
  EXPECT_EQ(Device("cuda").type(), kCUDA);
  EXPECT_FALSE(Device("cuda").has_index());
  EXPECT_EQ(Device("cuda:3").index(), 3);
  EXPECT_EQ(Device("cuda:12").str(), "cuda:12");
  EXPECT_TRUE(Device("meta").is_meta());
}

TEST(Device, WithoutIndexMeansTheFirst) {
  EXPECT_EQ(Device("cuda"), Device("cuda:0"));
  EXPECT_FALSE(Device("cuda:0") == Device("cuda:1"));
  EXPECT_FALSE(Device("cpu") == Device("cuda"));
}

TEST(Device, OtherTextIsRefused) {
  for (const char* text :
       {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda:1:2", "cuda:1000", "cuda 1", ":0"})
    EXPECT_ERROR(DeviceError, Device(text), "expected cpu, cuda or meta");
  EXPECT_ERROR(DeviceError, Device("gpu"), "found \"gpu\"");
}

TEST(Cuda, NobodyAnnouncedNoDevice) {
  if (cuda::is_available()) GTEST_SKIP() << "skipped: there is a CUDA device";
  EXPECT_EQ(cuda::device_count(), 0u);
  EXPECT_ERROR(DeviceError, cuda::synchronize(), "no CUDA device is available");
}

TEST(Cuda, TheAnnouncedLibraryIsAsked) {
  if (cuda::is_available()) GTEST_SKIP() << "skipped: there is a CUDA device";
  static int64_t waited_for = -2;
  static const cuda::DeviceFunctions two{[] { return size_t{2}; }, [](int64_t index) { waited_for = index; }};
  cuda::announce(&two);
  EXPECT_TRUE(cuda::is_available());
  cuda::synchronize(1);
  EXPECT_EQ(waited_for, 1);
  EXPECT_ERROR(DeviceError, cuda::synchronize(2), "there is no device 2; devices are 0 to 1");
  cuda::announce(nullptr);
}

}  // namespace
}  // namespace cresset
