// Devices from text, and the texts that are refused.
#include "cresset/core/device.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cresset
