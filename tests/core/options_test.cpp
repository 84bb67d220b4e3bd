// TensorOptions: what is set, what is left open, and how two of them merge.
#include "cresset/core/options.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cresset/core/error.h"
#include "cresset/core/print.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

TEST(Options, WhatIsLeftOpenHasDefaults) {
  TensorOptions options;
  EXPECT_FALSE(options.has_dtype());
  EXPECT_FALSE(options.has_device());
  EXPECT_EQ(options.dtype(), kFloat);
  EXPECT_EQ(options.device(), Device(kCPU));
  EXPECT_FALSE(options.requires_grad());
}

TEST(Options, AreChainedWithoutChangingTheFirst) {
  TensorOptions first = dtype(kDouble);
  TensorOptions second = first.device(kMeta).requires_grad(true).memory_format(MemoryFormat::ChannelsLast);
  EXPECT_FALSE(first.has_device());
  EXPECT_EQ(second.dtype(), kDouble);
  EXPECT_TRUE(second.device().is_meta());
  EXPECT_TRUE(second.requires_grad());
  EXPECT_EQ(second.memory_format_opt(), MemoryFormat::ChannelsLast);
  EXPECT_FALSE(second.dtype(std::nullopt).has_dtype());
}

TEST(Options, TheLaterOnesWin) {
  TensorOptions merged = dtype(kDouble).device(kMeta).merge_in(dtype(kInt));
  EXPECT_EQ(merged.dtype(), kInt);
  EXPECT_TRUE(merged.device().is_meta());
}

TEST(Options, MakeTensors) {
  Tensor x = zeros({2}, dtype(kDouble).requires_grad(true));
  EXPECT_EQ(x.dtype(), kDouble);
  EXPECT_TRUE(x.requires_grad());
  EXPECT_EQ(x.options().dtype(), kDouble);
  EXPECT_EQ(zeros_like(x, kInt).dtype(), kInt);
  EXPECT_EQ(x.new_ones({3}).dtype(), kDouble);
  EXPECT_ERROR(AutogradError, zeros({2}, dtype(kInt).requires_grad(true)), "float");
}

std::string printed(const TensorOptions& options) {
  std::ostringstream out;
  out << options;
  return out.str();
}

// What libtorch 1.13 prints.
TEST(Options, PrintAsLibtorchs) {
  EXPECT_EQ(printed(ones({2}).options()),
            "TensorOptions(dtype=float, device=cpu, layout=Strided, requires_grad=false (default), pinned_memory=false "
            "(default), memory_format=(nullopt))");
  EXPECT_EQ(printed({}),
            "TensorOptions(dtype=float (default), device=cpu (default), layout=Strided (default), requires_grad=false "
            "(default), pinned_memory=false (default), memory_format=(nullopt))");
  EXPECT_EQ(printed(TensorOptions(kHalf).requires_grad(true).memory_format(MemoryFormat::ChannelsLast)),
            "TensorOptions(dtype=c10::Half, device=cpu (default), layout=Strided (default), requires_grad=true, "
            "pinned_memory=false (default), memory_format=ChannelsLast)");
  const std::pair<DType, const char*> names[] = {
      {kByte, "unsigned char"}, {kChar, "signed char"}, {kLong, "long int"}, {kComplexFloat, "c10::complex<float>"}};
  for (const auto& [dtype, name] : names)
    EXPECT_EQ(printed(dtype).find(std::string("TensorOptions(dtype=") + name + ","), 0u) << name;
  EXPECT_EQ(printed(TensorOptions(kStrided).pinned_memory(false)),
            "TensorOptions(dtype=float (default), device=cpu (default), layout=Strided, requires_grad=false (default), "
            "pinned_memory=false, memory_format=(nullopt))");
  EXPECT_NE(printed(TensorOptions(kFloat).device(kCPU)).find("layout=Strided (default)"), std::string::npos);
  std::ostringstream layout;
  layout << kStrided;
  EXPECT_EQ(layout.str(), "Strided");
}

TEST(Options, RememberWhatWasGiven) {
  const TensorOptions none, own = ones({2}).options();
  EXPECT_FALSE(none.has_layout() || none.has_requires_grad() || none.has_memory_format() || none.has_pinned_memory());
  EXPECT_TRUE(own.has_dtype() && own.has_device() && own.has_layout());
  EXPECT_FALSE(own.has_requires_grad() || own.has_memory_format() || own.has_pinned_memory());
  EXPECT_TRUE(layout(kStrided).has_layout());
  EXPECT_TRUE(none.merge_in(layout(kStrided)).has_layout());
  EXPECT_FALSE(own.layout(std::nullopt).has_layout());
  EXPECT_EQ(own.layout_opt(), kStrided);
  EXPECT_TRUE(none.requires_grad(false).has_requires_grad());
  EXPECT_EQ(none.pinned_memory(false).pinned_memory_opt(), false);
  EXPECT_EQ(none.dtype<double>().dtype(), kDouble);
}

TEST(Options, ATensorGoesToWhatAnotherIs) {
  const Tensor x = ones({2}), like = zeros({3}, kDouble);
  EXPECT_EQ(x.to(like).dtype(), kDouble);
  EXPECT_TRUE(x.to(ones({1})).is_same(x));
}

}  // namespace
}  // namespace cresset
