// Errors at the edges: the op that was called is the one that is named, whatever it calls inside, and nothing that the
// standard library throws for want of memory gets out as it is.
#include <gtest/gtest.h>

#include <sstream>

#include "cresset/cresset.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

TEST(ErrorNames, OfFormsAreTheFormsOwn) {
  Tensor a = zeros({2, 3}), b = zeros({4}), out;
  EXPECT_ERROR(ShapeError, a.add_(b), "add_: shapes [2, 3] and [4] do not broadcast");
  EXPECT_ERROR(Error, a.mul_(Tensor()), "mul_: found an undefined tensor for other");
  EXPECT_ERROR(ShapeError, a.index_put_({0}, zeros({7})), "index_put_: shapes [3] and [7] do not broadcast");
}

TEST(ErrorNames, OfComposedOpsAreNotThoseOfInnerOps) {
  EXPECT_ERROR(ShapeError, matmul(zeros({2, 3}), zeros({4})), "matmul: size mismatch");
  EXPECT_ERROR(ValueError, randint(0, {3}), "randint: ");
  EXPECT_ERROR(ShapeError, rand({-1}), "rand: found a negative size");
}

TEST(ErrorNames, OfUndefinedTensorsIncludeTheMethod) {
  Tensor none;
  EXPECT_ERROR(Error, none.item<float>(), "item: found an undefined tensor for self");
  EXPECT_ERROR(Error, none.index({0}), "index: self is undefined");
  EXPECT_ERROR(Error, none.sum(), "sum: found an undefined tensor for self");
}

TEST(ErrorMemory, OfHugeExpandedTensorsIsOurs) {
  Tensor huge = zeros({1}).expand({int64_t{1} << 40, int64_t{1} << 20});
  std::ostringstream out;
  EXPECT_ERROR(OutOfMemoryError, print(out, huge, 80), "print: no memory for the 1152921504606846976 elements");
#ifndef __SANITIZE_ADDRESS__  // whose operator new ends the program instead of throwing
  EXPECT_ERROR(OutOfMemoryError, huge.sum(), "sum: out of memory");
  EXPECT_ERROR(OutOfMemoryError, huge.clone(), "clone: out of memory");
#endif
  EXPECT_EQ(zeros({1}, kComplexDouble).expand({int64_t{1} << 62}).nbytes(), SIZE_MAX);
}

TEST(ErrorRank, OfMoreThan64DimensionsLeavesTheTensorAsItWas) {
  std::vector<int64_t> many(65, 1);
  EXPECT_ERROR(ShapeError, cresset::empty(many), "empty: found 65 dimensions (expected at most 64)");
  many.pop_back();
  Tensor most = ones(many);
  EXPECT_ERROR(ShapeError, most.unsqueeze(0), "unsqueeze: found 65 dimensions (expected at most 64)");
  EXPECT_EQ((most + most).sum().item<float>(), 2);
}

TEST(ErrorOverflow, OfARangeShowsItsBounds) {
  EXPECT_ERROR(ShapeError, arange(INT64_MIN, INT64_MAX, 1), "arange: invalid size, possible overflow: found start -92");
}

}  // namespace
}  // namespace cresset
