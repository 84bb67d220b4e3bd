// ArrayRef and Dims, also beyond the dimensions that Dims keeps inline.
#include "cresset/core/shape.h"

#include <gtest/gtest.h>

#include <sstream>

namespace cresset {
namespace {

TEST(ArrayRef, ComparesByValue) {
  std::vector<int64_t> list{1, 2, 3};
  EXPECT_EQ(IntArrayRef(list), IntArrayRef({1, 2, 3}));
  EXPECT_FALSE(IntArrayRef(list) == IntArrayRef({1, 2}));
  EXPECT_EQ(IntArrayRef(list).slice(1), IntArrayRef({2, 3}));
  EXPECT_EQ(IntArrayRef(list).slice(0, 1).vec(), std::vector<int64_t>{1});
  std::ostringstream out;
  out << IntArrayRef(list) << IntArrayRef();
  EXPECT_EQ(out.str(), "[1, 2, 3][]");
}

TEST(Dims, GrowPastTheirInlineRoomAndKeepTheirValues) {
  Dims dims;
  for (int64_t i = 0; i < 20; i++) dims.push_back(i);
  dims.insert(1, 100);
  dims.erase(0);
  EXPECT_EQ(dims.rank(), 20);
  EXPECT_EQ(dims[0], 100);
  EXPECT_EQ(dims[1], 1);
  EXPECT_EQ(dims.back(), 19);
}

TEST(Dims, CopiesAreIndependentAndMovesLeaveNothing) {
  for (int rank : {3, 9}) {
    Dims dims = Dims::filled(rank, 2);
    Dims copy = dims;
    copy[0] = 5;
    EXPECT_EQ(dims[0], 2);
    Dims moved = std::move(dims);
    EXPECT_EQ(moved.rank(), rank);
    EXPECT_EQ(moved[rank - 1], 2);
    copy = moved;
    EXPECT_EQ(copy, moved);
    copy = Dims{1};
    EXPECT_EQ(copy.product(), 1);
  }
}

TEST(Dims, ContiguousStridesOfEmptyShapesTreatZeroAsOne) {
  EXPECT_EQ(contiguous_strides({2, 0, 3}), (Dims{3, 3, 1}));
  EXPECT_EQ(contiguous_strides({}).rank(), 0);
}

}  // namespace
}  // namespace cresset
