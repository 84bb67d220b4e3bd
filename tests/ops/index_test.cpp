// Index expressions of every kind, reading and writing; gradients, errors, and the order in which writes meet.
#include "cresset/ops/index.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "cresset/cresset.h"
#include "tests/support/message_when.h"

namespace cresset {
namespace {

using test::expect_contains;
using test::message_when;
using namespace indexing;
using Floats = std::vector<float>;

template <class T>
Tensor tensor_of(const std::vector<T>& values, IntArrayRef sizes) {
  Tensor y = empty(sizes, dtype_of<T>);
  for (size_t i = 0; i < values.size(); i++) static_cast<T*>(y.data_ptr())[i] = values[i];
  return y;
}
Tensor longs(const std::vector<int64_t>& values) {
  return tensor_of<int64_t>(values, {static_cast<int64_t>(values.size())});
}
Tensor mask_of(const std::vector<int>& values, IntArrayRef sizes) {
  Tensor y = empty(sizes, kBool);
  for (size_t i = 0; i < values.size(); i++) y.data_ptr<bool>()[i] = values[i] != 0;
  return y;
}
Tensor counting(IntArrayRef sizes) {
  Tensor y = empty(sizes);
  for (int64_t i = 0; i < y.numel(); i++) y.data_ptr<float>()[i] = static_cast<float>(i);
  return y;
}
template <class T = float>
std::vector<T> values_of(const Tensor& x) {
  Tensor dense = x.detach().contiguous();
  const T* p = dense.data_ptr<T>();
  return {p, p + dense.numel()};
}

TEST(Indexing, IntegersAndSlicesAreViews) {
  Tensor x = counting({3, 4});
  Tensor row = x.index({1}), part = x.index({Slice(), Slice(1, None, 2)});
  EXPECT_TRUE(row.is_alias_of(x));
  EXPECT_TRUE(part.is_alias_of(x));
  EXPECT_EQ(values_of(row), (Floats{4, 5, 6, 7}));
  EXPECT_EQ(values_of(part), (Floats{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(values_of(x[-1]), (Floats{8, 9, 10, 11}));
  EXPECT_EQ(values_of(x[0][2]), (Floats{2}));
}

TEST(Indexing, NoneAddsADimensionAndEllipsisSkipsWhatIsOpen) {
  Tensor x = counting({2, 3, 4});
  EXPECT_EQ(x.index({None, 0, "...", None}).sizes(), IntArrayRef({1, 3, 4, 1}));
  EXPECT_EQ(values_of(x.index({Ellipsis, 1})), (Floats{1, 5, 9, 13, 17, 21}));
  EXPECT_EQ(x.index({Slice(), "...", Slice(None, 2)}).sizes(), IntArrayRef({2, 3, 2}));
}

TEST(Indexing, AnExpressionThatChangesNothingIsAnotherTensorOverTheSameMemory) {
  Tensor x = counting({2, 2});
  Tensor all = x.index({"..."});
  EXPECT_FALSE(all.is_same(x));
  EXPECT_TRUE(all.is_alias_of(x));
}

TEST(Indexing, NegativeBoundsOfASliceCountFromTheEndAndAreClamped) {
  Tensor x = counting({5});
  EXPECT_EQ(values_of(x.index({Slice(-2, None)})), (Floats{3, 4}));
  EXPECT_EQ(values_of(x.index({Slice(-100, 100, 3)})), (Floats{0, 3}));
  EXPECT_EQ(x.index({Slice(4, 2)}).numel(), 0);
}

TEST(Indexing, SideBySideIndicesLandWhereTheyStood) {
  Tensor x = counting({2, 3, 4, 5});
  Tensor i = longs({0, 1}), j = longs({3, 0});
  EXPECT_EQ(x.index({Slice(), i, j}).sizes(), IntArrayRef({2, 2, 5}));
  EXPECT_EQ(x.index({i, Slice(), j}).sizes(), IntArrayRef({2, 3, 5}));  // apart: they come first
  Tensor y = x.index({i, Slice(), j});
  for (int64_t a = 0; a < 2; a++)
    for (int64_t b = 0; b < 3; b++) EXPECT_EQ(values_of(y[a][b]), values_of(x[a][b][a == 0 ? 3 : 0]));
}

TEST(Indexing, IndicesBroadcastAndMayBeNegativeAndInt32) {
  Tensor x = counting({3, 4});
  Tensor rows = tensor_of<int64_t>({0, -1}, {2, 1}), columns = tensor_of<int32_t>({1, -1, 0}, {3});
  EXPECT_EQ(values_of(x.index({rows, columns})), (Floats{1, 3, 0, 9, 11, 8}));
}

TEST(Indexing, MasksOfAnyRankTakeTheirTrueElements) {
  Tensor x = counting({2, 3, 2});
  Tensor flat = mask_of({1, 0}, {2}), matrix = mask_of({0, 1, 0, 1, 0, 1}, {2, 3});
  EXPECT_EQ(values_of(x.index({flat})), (Floats{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of(x.index({matrix})), (Floats{2, 3, 6, 7, 10, 11}));
  EXPECT_EQ(values_of(x.index({matrix, 1})), (Floats{3, 7, 11}));  // what follows a mask counts its dimensions
  EXPECT_EQ(values_of(x[matrix]), values_of(x.index({matrix})));
  EXPECT_EQ(x.index({mask_of({0, 0}, {2})}).sizes(), IntArrayRef({0, 3, 2}));
}

TEST(Indexing, ByteTensorsAreMasksAsInPyTorch) {
  Tensor x = counting({3});
  EXPECT_EQ(values_of(x.index({tensor_of<uint8_t>({1, 0, 2}, {3})})), (Floats{0, 2}));
}

TEST(Indexing, TruthValuesAddADimensionOfOneOrNone) {
  Tensor x = counting({2});
  EXPECT_EQ(x.index({true}).sizes(), IntArrayRef({1, 2}));
  EXPECT_EQ(x.index({false}).sizes(), IntArrayRef({0, 2}));
  EXPECT_EQ(counting({})[mask_of({1}, {})].sizes(), IntArrayRef({1}));
}

TEST(Indexing, AZeroDimIntegerTensorIsAnInteger) {
  Tensor x = counting({2, 2});
  Tensor y = x[tensor_of<int64_t>({1}, {})];
  EXPECT_TRUE(y.is_alias_of(x));
  EXPECT_EQ(values_of(y), (Floats{2, 3}));
}

TEST(Indexing, StridedTensorsAndIndicesGiveWhatContiguousOnesGive) {
  Tensor x = counting({6, 7, 5});
  Tensor strided = x.permute({2, 0, 1});
  Tensor index = longs({4, 0, 3, 1, 2, 2, 0, 1}).index({Slice(None, None, 2)});
  EXPECT_EQ(values_of(strided.index({Slice(), index})),
            values_of(strided.contiguous().index({Slice(), index.contiguous()})));
  EXPECT_EQ(values_of(strided.index({index, index, index})),
            values_of(strided.contiguous().index({index, index, index})));
}

TEST(Indexing, LargeGathersAreTheSameOnEveryThreadCount) {
  Tensor x = counting({300, 200}), rows = randint(300, {5000}), columns = randint(200, {5000});
  const int before = get_num_threads();
  set_num_threads(1);
  Tensor one = x.index({rows}), single = x.index({rows, columns});
  set_num_threads(4);
  EXPECT_EQ(values_of(x.index({rows})), values_of(one));
  EXPECT_EQ(values_of(x.index({rows, columns})), values_of(single));
  set_num_threads(before);
}

TEST(Indexing, EveryDtypeIsMoved) {
  for (DType dtype :
       {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kComplexFloat, kComplexDouble, kBool, kBFloat16}) {
    Tensor x = counting({4}).to(dtype);
    EXPECT_EQ(values_of(x.index({longs({3, 0})}).to(kFloat)), values_of(x.to(kFloat).index({longs({3, 0})})))
        << name_of(dtype);
  }
}

TEST(IndexErrors, NameTheIndexTheDimensionAndItsSize) {
  Tensor x = counting({3, 4});
  expect_contains(message_when([&] { x[3]; }), "index 3 is out of bounds for dimension 0 with size 3");
  expect_contains(message_when([&] { x.index({0, -5}); }), "index -5 is out of bounds for dimension 1 with size 4");
  expect_contains(message_when([&] {
                    x.index({Slice(), longs({0, 4})});
                  }),
                  "index 4 is out of bounds for dimension 1 with size 4");
  expect_contains(message_when([&] { x.index({longs({-4})}); }),
                  "index -4 is out of bounds for dimension 0 with size 3");
  expect_contains(message_when([&] { x.index({0, 0, 0}); }), "too many indices for tensor of dimension 2");
  expect_contains(message_when([&] { counting({})[0]; }), "invalid index of a 0-dim tensor");
  expect_contains(message_when([&] {
                    x.index({longs({0, 1}), longs({0, 1, 2})});
                  }),
                  "indexing tensors could not be broadcast together with shapes [2], [3]");
  expect_contains(
      message_when([&] {
        x.index({mask_of({1, 0}, {2})});
      }),
      "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [3, 4] at index 0");
  expect_contains(message_when([&] { x.index({counting({1})}); }), "tensors used as indices must be long");
  expect_contains(message_when([&] { empty({0, 2}).index({longs({0})}); }), "out of bounds for dimension with size 0");
  EXPECT_THROW(x.index({Slice(0, 4, -1)}), ValueError);
  EXPECT_THROW(Slice(0, 4, 0), ValueError);
  EXPECT_THROW(TensorIndex("..x"), ValueError);
}

TEST(IndexPut, WritesNumbersAndTensorsThroughEveryKindOfIndex) {
  Tensor x = counting({2, 3});
  x.index_put_({0, Slice(1, None)}, -1);
  EXPECT_EQ(values_of(x), (Floats{0, -1, -1, 3, 4, 5}));
  x.index_put_({Slice(), longs({0, 2})}, tensor_of<float>({7, 8}, {2}));
  EXPECT_EQ(values_of(x), (Floats{7, -1, 8, 7, 4, 8}));
  x.index_put_({mask_of({1, 0, 0, 0, 0, 1}, {2, 3})}, 0.5);
  EXPECT_EQ(values_of(x), (Floats{0.5, -1, 8, 7, 4, 0.5}));
  x.index_put_({1}, tensor_of<float>({1, 2, 3}, {1, 1, 3}));  // leading ones of the values do not matter
  EXPECT_EQ(values_of(x), (Floats{0.5, -1, 8, 1, 2, 3}));
  x.index_put_({longs({0}), "..."}, tensor_of<float>({9}, {1, 1, 1}));
  EXPECT_EQ(values_of(x), (Floats{9, 9, 9, 1, 2, 3}));
}

TEST(IndexPut, BasicWritesConvertTheDtypeAndTensorIndicesRefuseAnother) {
  Tensor x = counting({2}), doubles = tensor_of<double>({5}, {1});
  x.index_put_({Slice(0, 1)}, doubles);
  EXPECT_EQ(values_of(x), (Floats{5, 1}));
  expect_contains(
      message_when([&] { x.index_put_({longs({0})}, doubles); }),
      "Index put requires the source and destination dtypes match, got Float for the destination and Double");
}

TEST(IndexPut, AccumulateAddsEveryDuplicate) {
  Tensor x = zeros({3});
  x.index_put_({longs({1, 1, 2, 1})}, tensor_of<float>({1, 2, 4, 8}, {4}), /*accumulate=*/true);
  EXPECT_EQ(values_of(x), (Floats{0, 11, 4}));
}

TEST(IndexPut, DuplicatesAreWrittenInOrderOnEveryThreadCount) {
  Tensor rows = randint(40, {60000}), values = rand({60000, 3});
  const int before = get_num_threads();
  set_num_threads(1);
  Tensor added = zeros({40, 3}).index_put_({rows}, values, true), last = zeros({40, 3}).index_put_({rows}, values);
  for (int threads : {2, 3, 4}) {
    set_num_threads(threads);
    EXPECT_EQ(values_of(zeros({40, 3}).index_put_({rows}, values, true)), values_of(added));
    EXPECT_EQ(values_of(zeros({40, 3}).index_put_({rows}, values)), values_of(last));
  }
  set_num_threads(before);
  const int64_t row = rows[59999].item<int64_t>();
  EXPECT_EQ(values_of(last[row]), values_of(values[59999]));
}

TEST(IndexPut, LongRowsAreSharedAmongThreads) {
  Tensor values = rand({3, 50000}), x = zeros({2, 50000});
  x.index_put_({longs({1, 0, 1})}, values, true);
  Tensor sum = values[0].add(values[2]);
  EXPECT_EQ(values_of(x[1]), values_of(sum));
  EXPECT_EQ(values_of(x[0]), values_of(values[1]));
}

TEST(IndexPut, NothingIsWrittenWhenAnIndexIsOutOfBounds) {
  Tensor x = counting({3});
  expect_contains(message_when([&] {
                    x.index_put_({longs({0, 1, 3})}, 9);
                  }),
                  "index 3 is out of bounds for dimension 0 with size 3");
  EXPECT_EQ(values_of(x), (Floats{0, 1, 2}));
}

TEST(IndexPut, RefusesWhatItCannotWrite) {
  Tensor x = counting({2, 3});
  expect_contains(message_when([&] { x.index_put_({longs({0})}, counting({5})); }),
                  "value tensor of shape [5] cannot be broadcast to indexing result of shape [1, 3]");
  expect_contains(message_when([&] { x.index_put_({longs({0, 1})}, x); }), "refer to a single memory location");
  Tensor leaf = counting({2}).requires_grad_();
  expect_contains(message_when([&] { leaf.index_put_({longs({0})}, 1); }), "leaf Variable that requires grad");
}

TEST(IndexPut, FunctionalFormLeavesSelfAlone) {
  Tensor x = counting({3});
  Tensor y = index_put(x, {longs({1})}, tensor_of<float>({7}, {1}));
  EXPECT_EQ(values_of(x), (Floats{0, 1, 2}));
  EXPECT_EQ(values_of(y), (Floats{0, 7, 2}));
}

TEST(IndexOut, WritesIntoTheGivenTensor) {
  Tensor x = counting({3}), y = empty({2});
  index_out(y, x, {longs({2, 0})});
  EXPECT_EQ(values_of(y), (Floats{2, 0}));
}

TEST(IndexGradient, AddsUpWhereAnElementWasTakenTwice) {
  Tensor x = counting({3}).requires_grad_();
  x.index({longs({2, 0, 2})}).backward(tensor_of<float>({1, 10, 100}, {3}));
  EXPECT_EQ(values_of(x.grad()), (Floats{10, 0, 101}));
}

TEST(IndexGradient, FlowsThroughMasksAndSlicesTogether) {
  Tensor x = counting({2, 3}).requires_grad_();
  x.index({Slice(1, None), mask_of({1, 0, 1}, {3})}).backward(tensor_of<float>({5, 6}, {1, 2}));
  EXPECT_EQ(values_of(x.grad()), (Floats{0, 0, 0, 5, 0, 6}));
}

TEST(IndexGradient, SecondDerivativeReadsTheSamePlaces) {
  Tensor x = counting({3}).requires_grad_();
  Tensor y = x.index({longs({2, 2})});
  Tensor g = tensor_of<float>({3, 4}, {2}).requires_grad_();
  Tensor dx = autograd::grad({y}, {x}, {g}, true, true)[0];  // [0, 0, g0 + g1]
  EXPECT_EQ(values_of(dx), (Floats{0, 0, 7}));
  Tensor dg = autograd::grad({dx}, {g}, {tensor_of<float>({1, 2, 5}, {3})})[0];
  EXPECT_EQ(values_of(dg), (Floats{5, 5}));
}

TEST(IndexGradient, OfWritingIsZeroForSelfWhereItWasOverwritten) {
  Tensor x = counting({3}).requires_grad_(), v = tensor_of<float>({9}, {1}).requires_grad_();
  Tensor y = index_put(x, {longs({1})}, v);
  y.backward(tensor_of<float>({1, 2, 3}, {3}));
  EXPECT_EQ(values_of(x.grad()), (Floats{1, 0, 3}));
  EXPECT_EQ(values_of(v.grad()), (Floats{2}));
}

TEST(IndexGradient, OfAddingReachesBoth) {
  Tensor x = counting({3}).requires_grad_(), v = tensor_of<float>({9, 8}, {2}).requires_grad_();
  index_put(x, {longs({1, 1})}, v, true).backward(tensor_of<float>({1, 2, 3}, {3}));
  EXPECT_EQ(values_of(x.grad()), (Floats{1, 2, 3}));
  EXPECT_EQ(values_of(v.grad()), (Floats{2, 2}));
}

TEST(IndexGradient, OfWritingInPlaceThroughAViewReachesTheBase) {
  Tensor x = counting({2, 3}).requires_grad_(), v = tensor_of<float>({9, 8}, {2}).requires_grad_();
  Tensor y = x.mul(1);
  y.index_put_({1, longs({2, 0})}, v);
  y.backward(tensor_of<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
  EXPECT_EQ(values_of(x.grad()), (Floats{1, 2, 3, 0, 5, 0}));
  EXPECT_EQ(values_of(v.grad()), (Floats{6, 4}));
}

TEST(IndexGradient, OfBroadcastValuesIsSummed) {
  Tensor x = counting({2, 3}), v = tensor_of<float>({9}, {1}).requires_grad_();
  index_put(x, {longs({1})}, v).backward(tensor_of<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
  EXPECT_EQ(values_of(v.grad()), (Floats{15}));
}

TEST(IndexGradient, NoticesAnIndexChangedSinceTheForward) {
  Tensor x = counting({3}).requires_grad_(), index = longs({0, 1});
  Tensor y = x.index({index});
  index.fill_(0);
  expect_contains(message_when([&] { y.backward(tensor_of<float>({1, 1}, {2})); }), "inplace operation");
}

TEST(Nonzero, ListsPlacesInRowMajorOrder) {
  Tensor places = nonzero(tensor_of<float>({0, 3, 0, -1, 0, 2}, {2, 3}).t());
  EXPECT_EQ(places.sizes(), IntArrayRef({3, 2}));
  EXPECT_EQ(values_of<int64_t>(places), (std::vector<int64_t>{0, 1, 1, 0, 2, 1}));
  EXPECT_EQ(nonzero(zeros({2, 2})).sizes(), IntArrayRef({0, 2}));
  EXPECT_EQ(nonzero(ones({})).sizes(), IntArrayRef({1, 0}));
  EXPECT_THROW(nonzero(empty({2}, kMeta)), NotImplementedError);
}

TEST(Nonzero, FindsEveryElementOfALargeTensor) {
  Tensor x = bernoulli_(empty({100000}), 0.3);
  std::vector<int64_t> wanted;
  for (int64_t i = 0; i < x.numel(); i++)
    if (x.data_ptr<float>()[i] != 0) wanted.push_back(i);
  EXPECT_EQ(values_of<int64_t>(nonzero(x)), wanted);
}

TEST(IndexMeta, RunsTheShapeRuleAlone) {
  Tensor x = empty({4, 5}, kMeta), i = empty({2, 3}, TensorOptions(kLong).device(kMeta));
  EXPECT_EQ(x.index({i}).sizes(), IntArrayRef({2, 3, 5}));
}

// Rows of one index go as slices; the same at both ends is not yet the same between.
TEST(ScatterAdd, RowsOfOneIndexAndOfManyGiveWhatElementsGive) {
  const int64_t places = 5, rows = 40, width = 70;
  Tensor index = empty({rows, width}, kLong), source = counting({rows, width});
  auto* at = index.data_ptr<int64_t>();
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < width; j++)
      at[i * width + j] = (i % 3 == 0 && j == width / 2) ? (i + 1) % places : i % places;
  Tensor wanted = ones({places, width});
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < width; j++)
      wanted.data_ptr<float>()[at[i * width + j] * width + j] += source.data_ptr<float>()[i * width + j];
  EXPECT_EQ(values_of(ones({places, width}).scatter_add(0, index, source)), values_of(wanted));
}

// As in PyTorch, which says that it is deprecated: each place that is named writes to the memory that it shares.
TEST(Index, ExpandedTensorsAreFilledWhereAnyOfTheirPlacesIs) {
  auto expanded = [] { return counting({3, 1}).expand({3, 4}); };
  Tensor some = mask_of({0, 1, 0, 0}, {4}), row = longs({0});
  for (const Scalar& value : {Scalar(5), Scalar(7)}) {
    const auto v = value.to<float>();
    Tensor number = full({}, value, kFloat);
    EXPECT_EQ(values_of(expanded().masked_fill_(some, value).select(1, 0)), Floats(3, v));
    EXPECT_EQ(values_of(expanded().masked_fill_(some, number).select(1, 3)), Floats(3, v));
    EXPECT_EQ(values_of(expanded().index_fill_(0, row, value).select(1, 2)), (Floats{v, 1, 2}));
    EXPECT_EQ(values_of(expanded().index_fill_(1, row, number).select(1, 2)), Floats(3, v));
    EXPECT_EQ(values_of(expanded().index_put_({row}, number).select(1, 2)), (Floats{v, 1, 2}));
    EXPECT_EQ(values_of(expanded().index_put_({row}, number, true).select(1, 2)), (Floats{4 * v, 1, 2}));
  }
  EXPECT_EQ(values_of(expanded().masked_fill_(mask_of({0}, {1}), 5).select(1, 0)), (Floats{0, 1, 2}));
  expect_contains(message_when([&] { expanded().masked_scatter_(some, ones({12})); }),
                  "refers to a single memory location");
  Tensor leaf = ones({3, 1}).requires_grad_(), base = leaf * 1, wide = base.expand({3, 4});
  wide.masked_fill_(mask_of({1, 0, 0}, {3, 1}), 5);
  wide.sum().backward();
  EXPECT_EQ(values_of(leaf.grad()), (Floats{0, 4, 4}));
}

TEST(ScatterAdd, RefusesIndicesAtTheEndsOfTheirType) {
  for (int64_t wrong :
       {int64_t{-1}, int64_t{5}, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    Tensor index = zeros({3, 20}, kLong);
    index.data_ptr<int64_t>()[33] = wrong;
    expect_contains(message_when([&] {
                      ones({5, 20}).scatter_add(0, index, ones({3, 20}));
                    }),
                    "index " + std::to_string(wrong) + " is out of bounds for dimension 0 with size 5");
  }
}

}  // namespace
}  // namespace cresset
