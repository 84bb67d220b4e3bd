// SPIKE 1. A user's op in its own shared library, loaded while the program runs: found by name, called through the
// registry, differentiated twice, seen by modes.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "cresset/autograd/autograd.h"
#include "cresset/core/modes.h"
#include "cresset/cresset.h"

namespace cresset {
namespace {

const Op* load_user_op(const char* name) {
  static void* library = dlopen(USER_OP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  return find_op(name);
}

Tensor call(const Op& op, const Tensor& x) { return std::get<Tensor>(op.call({x})); }

Tensor counting(IntArrayRef sizes) {
  Tensor x = empty(sizes);
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<float>()[i] = static_cast<float>(i + 1);
  return x;
}

TEST(SpikeUserOp, IsUnknownUntilItsLibraryIsLoadedAndFoundThereafter) {
  EXPECT_EQ(find_op("cubed"), nullptr);

  const Op* op = load_user_op("cubed");

  ASSERT_NE(op, nullptr);
  EXPECT_STREQ(op->arguments, "self");
  EXPECT_NE(find_op("cubed_"), nullptr) << "the in-place form comes from the same definition";
  EXPECT_NE(find_op("cubed_out"), nullptr);
}

TEST(SpikeUserOp, ComputesOnAnyStrides) {
  const Op* op = load_user_op("cubed");
  Tensor x = counting({2, 3}).t();

  Tensor y = call(*op, x);

  EXPECT_EQ(y.sizes(), IntArrayRef({3, 2}));
  EXPECT_EQ(y.select(0, 2).select(0, 1).item<float>(), 216.f);
  EXPECT_EQ(y.select(0, 1).select(0, 0).item<float>(), 8.f);
}

TEST(SpikeUserOp, HasItsGradientAndTheSecondDerivative) {
  const Op* op = load_user_op("cubed");
  Tensor x = counting({4}).requires_grad_();

  Tensor y = call(*op, x);
  EXPECT_EQ(y.grad_fn()->name(), "CubedBackward");
  Tensor slope = autograd::grad({y}, {x}, {ones({4})}, true, true)[0];
  Tensor curvature = autograd::grad({slope}, {x}, {ones({4})})[0];

  for (int i = 0; i < 4; i++) {
    float v = static_cast<float>(i + 1);
    EXPECT_EQ(slope.select(0, i).item<float>(), 3 * v * v);
    EXPECT_EQ(curvature.select(0, i).item<float>(), 6 * v);
  }
}

TEST(SpikeUserOp, WorksInPlaceInAGraph) {
  load_user_op("cubed");
  Tensor x = counting({3}).requires_grad_();
  Tensor y = x * 1;

  find_op("cubed_")->call({y});
  y.backward(ones({3}));

  EXPECT_EQ(y.select(0, 2).item<float>(), 27.f);
  EXPECT_EQ(x.grad().select(0, 2).item<float>(), 27.f);
}

TEST(SpikeUserOp, SaysWhatItDoesNotTake) {
  const Op* op = load_user_op("cubed");
  try {
    call(*op, zeros({2}, kLong));
    FAIL() << "int64 was taken";
  } catch (const TypeError& error) {
    EXPECT_STREQ(error.what(), "cubed: found dtype int64 (expected float32 or float64)");
  }
}

class Listening : public modes::AboveMode {
 public:
  std::vector<std::string> seen;
  Value call(const Op& op, Values& arguments) override {
    seen.emplace_back(op.name);
    return op.call(arguments);
  }
};

TEST(SpikeUserOp, IsSeenByModesLikeTheHousesOwnOps) {
  const Op* op = load_user_op("cubed");
  Listening listening;
  {
    modes::AboveScope scope(listening);
    call(*op, ones({2}));
  }
  EXPECT_EQ(listening.seen, (std::vector<std::string>{"ones", "cubed"}));
}

}  // namespace
}  // namespace cresset
