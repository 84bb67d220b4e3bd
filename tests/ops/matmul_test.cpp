// Matrix products against a naive double reference, over dtypes, strides, sizes on both sides of every threshold, and
// their derivatives.
#include "cresset/ops/matmul.h"

#include <atomic>

#include "cresset/core/parallel.h"
#include "cresset/core/parallel_probe.h"
#include "tests/ops/matrix_reference.h"

namespace cresset::matmul_test {
namespace {

using namespace cresset::testing;

constexpr DType kAll[] = {kUInt8, kInt8,   kInt16,    kInt32,        kInt64,        kHalf,
                          kFloat, kDouble, kBFloat16, kComplexFloat, kComplexDouble};

Numbers naive_product(const Tensor& a, const Tensor& b) {
  const int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  const Numbers x = values_of(a), y = values_of(b);
  Numbers z(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; i++)
    for (int64_t p = 0; p < k; p++)
      for (int64_t j = 0; j < n; j++)
        z[static_cast<size_t>(i * n + j)] += x[static_cast<size_t>(i * k + p)] * y[static_cast<size_t>(p * n + j)];
  return z;
}

// Integers wrap round.
Numbers wrapped(Numbers values, DType dtype) {
  if (!is_integral(dtype, false) || dtype == kInt64) return values;
  const double range = std::pow(2.0, 8.0 * static_cast<double>(element_size(dtype)));
  for (Complex& v : values) {
    double x = std::fmod(v.real(), range);
    if (x < 0) x += range;
    if (is_signed(dtype) && x >= range / 2) x -= range;
    v = x;
  }
  return values;
}

void expect_product(const Tensor& y, const Tensor& a, const Tensor& b, const std::string& what) {
  expect_close(y, wrapped(naive_product(a, b), a.dtype()), tolerance(a.dtype()), what);
}

// The same values in another layout.
Tensor transposed(const Tensor& x) { return x.t().contiguous().t(); }
Tensor spaced(const Tensor& x) {  // neither stride is one
  Tensor wide = zeros({x.size(0), 2, x.size(1), 3}, x.options());
  Tensor view = wide.select(3, 1).select(1, 1);
  view.copy_(x);
  return view;
}

TEST(Mm, EqualsTheNaiveProductForEveryTypeLayoutAndSize) {
  struct Size {
    int64_t m, k, n;
  };
  for (DType dtype : kAll) {
    for (Size s : {Size{1, 1, 1}, Size{8, 8, 8}, Size{5, 7, 3}, Size{1, 40, 33}, Size{33, 40, 1}, Size{13, 1, 29},
                   Size{40, 65, 71}, Size{150, 20, 30}}) {
      const Tensor a = numbers({s.m, s.k}, dtype, 1), b = numbers({s.k, s.n}, dtype, 2);
      const std::string what = std::string(name_of(dtype)) + " " + std::to_string(s.m) + "x" + std::to_string(s.k) +
                               "x" + std::to_string(s.n);
      const Tensor y = mm(a, b);
      EXPECT_TRUE(y.is_contiguous());
      EXPECT_EQ(y.dtype(), dtype);
      expect_product(y, a, b, what);
      expect_product(mm(transposed(a), b), a, b, what + ", a transposed");
      expect_product(mm(a, transposed(b)), a, b, what + ", b transposed");
      expect_product(mm(spaced(a), spaced(b)), a, b, what + ", spaced");
    }
  }
}

TEST(Mm, LargeProductsEqualTheSmallOnesTheyConsistOf) {
  for (DType dtype : {kFloat, kDouble, kComplexFloat, kComplexDouble, kBFloat16, kInt64}) {
    const Tensor a = numbers({130, 140}, dtype, 1), b = numbers({140, 120}, dtype, 2);
    const Tensor wanted = mm(a, b);
    expect_product(wanted, a, b, name_of(dtype));
    expect_close(mm(transposed(a), transposed(b)), wanted, tolerance(dtype), name_of(dtype));
    expect_close(mm(spaced(a), b), wanted, tolerance(dtype), name_of(dtype));
    expect_close(mm(b.t(), a.t()).t(), wanted, tolerance(dtype), name_of(dtype));
  }
}

// Beyond what small products take: heights and widths around a tile's, k around a chunk's, every layout, with what is
// added and without, and the few rows or columns that go as dot products.
TEST(MmOnPointwiseTargets, LargeFloatProductsOfEveryShapeAndLayoutEqualTheNaiveOnes) {
  struct Size {
    int64_t m, k, n;
  };
  for (Size s : {Size{61, 97, 57}, Size{8, 600, 65}, Size{64, 400, 10}, Size{13, 385, 64}, Size{2, 1024, 140},
                 Size{200, 700, 3}, Size{5, 2, 30000}, Size{131, 40, 77}, Size{97, 512, 34}, Size{133, 1024, 111},
                 Size{100, 130, 600}, Size{150, 97, 300}}) {
    const Tensor a = numbers({s.m, s.k}, kFloat, 1), b = numbers({s.k, s.n}, kFloat, 2);
    const std::string what = std::to_string(s.m) + "x" + std::to_string(s.k) + "x" + std::to_string(s.n);
    const Tensor wanted = mm(a.to(kDouble), b.to(kDouble));
    const Tensor bias = numbers({s.n}, kFloat, 3), full = numbers({s.m, s.n}, kFloat, 4);
    const double close = 2e-6;  // of the largest
    for (int layout = 0; layout < 9; layout++) {
      const Tensor x = layout % 3 == 0 ? a : layout % 3 == 1 ? transposed(a) : spaced(a);
      const Tensor y = layout / 3 == 0 ? b : layout / 3 == 1 ? transposed(b) : spaced(b);
      const std::string which = what + ", layout " + std::to_string(layout);
      expect_close(mm(x, y), wanted, close, which);
      expect_close(addmm(bias, x, y), wanted + bias, close, which + ", bias");
      expect_close(addmm(full, x, y, 0.5, -2), 0.5 * full - 2 * wanted, close, which + ", scaled");
      Tensor turned = empty({s.n, s.m}).t();
      expect_close(mm_out(turned, x, y), wanted, close, which + ", out transposed");
      Tensor sparse = spaced(full);
      expect_close(addmm_out(sparse, full, x, y), wanted + full, close, which + ", out spaced");
    }
  }
}

TEST(MmOnPointwiseTargets, ProductsAlongKGiveTheSameBitsOnAnyNumberOfThreads) {
  const int before = get_num_threads();
  // Rows along k on the left, or columns along k on the right.
  for (auto [m, k, n] : {std::array<int64_t, 3>{6, 1000, 101},
                         {1000, 300, 5},
                         {20, 90, 700},
                         {333, 700, 40},
                         {270, 1024, 150},
                         {400, 200, 70}}) {
    const Tensor a = randn({m, k}), b = transposed(randn({k, n})), bias = randn({n});
    set_num_threads(1);
    const Tensor alone = addmm(bias, a, b, 0.7, 1.3);
    for (int threads : {2, 3, 5}) {
      set_num_threads(threads);
      EXPECT_TRUE(equal(alone, addmm(bias, a, b, 0.7, 1.3))) << m << " " << k << " " << n << ", " << threads;
    }
    set_num_threads(before);
  }
}

thread_local bool on_a_busy_core = false;
std::atomic<int64_t> busy_clock{0};

// The caller then does by itself what threads would have done, in the same pieces.
TEST(Mm, BusyCoresDoNotChangeABit) {
  const int before = get_num_threads();
  set_num_threads(3);
  on_a_busy_core = true;
  // This thread waits for a core all the time.
  const auto probe = detail::set_busy_probe({[]() -> int64_t { return on_a_busy_core ? busy_clock += 1'000'000 : 0; },
                                             []() -> int64_t { return busy_clock; }});
  for (DType dtype : {kFloat, kDouble, kComplexDouble}) {
    const Tensor a = numbers({140, 300}, dtype, 1), b = numbers({300, 170}, dtype, 2);
    const Tensor first = mm(a, b);
    for (int i = 0; i < 30; i++) EXPECT_TRUE(equal(mm(a, b), first)) << name_of(dtype) << ", call " << i;
  }
  detail::set_busy_probe(probe);
  on_a_busy_core = false;
  set_num_threads(before);
}

// Threads take rows, or columns, in steps of eight: heights on both sides of a step, a share that is empty or short,
// every layout.
TEST(Mm, LargeFloatProductsEqualTheNaiveOnesOnAnyNumberOfThreads) {
  const int before = get_num_threads();
  for (auto [m, k, n] :
       {std::array<int64_t, 3>{256, 70, 66}, {263, 97, 131}, {264, 300, 80}, {645, 65, 67}, {100, 97, 645}}) {
    const Tensor a = numbers({m, k}, kFloat, 1), b = numbers({k, n}, kFloat, 2), full = numbers({m, n}, kFloat, 3);
    const Tensor wanted = mm(a.to(kDouble), b.to(kDouble));
    for (int threads : {1, 2, 3, 5}) {
      set_num_threads(threads);
      const std::string what = std::to_string(m) + " rows, " + std::to_string(threads) + " threads";
      for (int layout = 0; layout < 4; layout++) {
        const Tensor x = layout % 2 ? transposed(a) : a, y = layout / 2 ? transposed(b) : b;
        expect_close(mm(x, y), wanted, 2e-6, what);
        expect_close(addmm(full, x, y, 0.5, -2), 0.5 * full - 2 * wanted, 2e-6, what + ", scaled");
        Tensor turned = empty({n, m}).t();
        expect_close(mm_out(turned, x, y), wanted, 2e-6, what + ", out transposed");
        const Tensor pair = bmm(x.unsqueeze(0).expand({2, m, k}), y.unsqueeze(0).expand({2, k, n}));
        expect_close(pair.select(0, 1), wanted, 2e-6, what + ", batch of two");
      }
    }
    set_num_threads(before);
  }
}

TEST(Mm, LargeFloatProductsOnSeveralThreadsKeepNanAndInfinityToTheirRows) {
  const int before = get_num_threads();
  set_num_threads(2);
  Tensor a = ones({300, 100});
  a.select(0, 149).select(0, 3).fill_(std::numeric_limits<float>::quiet_NaN());
  a.select(0, 150).select(0, 3).fill_(std::numeric_limits<float>::infinity());
  const Tensor y = mm(a, ones({100, 90}));
  EXPECT_TRUE(y.select(0, 149).isnan().all().item<bool>());
  EXPECT_TRUE(y.select(0, 150).isinf().all().item<bool>());
  EXPECT_EQ(y.isfinite().sum().item<int64_t>(), 298 * 90);
  set_num_threads(before);
}

TEST(Mm, HalfTypesAddUpInFloat) {
  const Tensor ones_row = ones({1, 4096}, TensorOptions(kBFloat16)),
               ones_column = ones({4096, 1}, TensorOptions(kBFloat16));
  EXPECT_EQ(mm(ones_row, ones_column).item<float>(), 4096.0f);  // in bfloat16 the sum would stop at 256
}

TEST(Mm, ExpandedFactorsAreReadAsTheyStand) {
  for (int64_t n : {6, 64}) {
    const Tensor row = numbers({1, n}, kFloat, 3), b = numbers({n, n}, kFloat, 4);
    expect_product(mm(row.expand({n, n}), b), row.expand({n, n}).contiguous(), b, "expanded");
  }
}

TEST(Mm, NothingToSumGivesZerosAndNothingToWriteGivesNothing) {
  for (DType dtype : kAll) {
    const Tensor y = mm(zeros({3, 0}, TensorOptions(dtype)), zeros({0, 2}, TensorOptions(dtype)));
    expect_close(y, Numbers(6), 0);
  }
  EXPECT_TRUE(mm(zeros({0, 3}), zeros({3, 2})).sizes() == IntArrayRef({0, 2}));
  EXPECT_TRUE(bmm(zeros({0, 3, 4}), zeros({0, 4, 2})).sizes() == IntArrayRef({0, 3, 2}));
}

TEST(Mm, ResultsOnOneAndTwoThreadsAreClose) {
  const int before = get_num_threads();
  for (DType dtype : {kFloat, kDouble, kBFloat16, kComplexFloat, kInt32}) {
    const Tensor a = numbers({200, 90}, dtype, 1), b = numbers({90, 170}, dtype, 2);
    set_num_threads(1);
    const Tensor one = mm(a, b);
    set_num_threads(2);
    expect_close(mm(a, b), one, tolerance(dtype), name_of(dtype));
  }
  set_num_threads(before);
}

TEST(Mm, WritesIntoOutOfAnyLayout) {
  for (int64_t n : {7, 60}) {
    const Tensor a = numbers({n, n}, kFloat, 1), b = numbers({n, n}, kFloat, 2);
    Tensor row_major = zeros({n, n}), column_major = zeros({n, n}).t(), of_another_size = zeros({2});
    Tensor apart = zeros({n, n, 2}).select(2, 0);
    for (Tensor* out : {&row_major, &column_major, &of_another_size, &apart})
      expect_product(mm_out(*out, a, b), a, b, "");
  }
  Tensor a = ones({2, 2});
  expect_error<Error>([&] { mm_out(a, a, a); }, "single memory location");
  Tensor wants_grad = ones({2, 2}).requires_grad_(), out = zeros({2, 2});
  expect_error<Error>([&] { mm_out(out, wants_grad, a); }, "automatic differentiation");
  Tensor whole = zeros({2, 2}, TensorOptions(kLong));
  expect_error<TypeError>([&] { mm_out(whole, a, ones({2, 2})); }, "Long");
}

TEST(Mm, RefusesWhatDoesNotFit) {
  const Tensor a = ones({2, 3}), b = ones({4, 5});
  expect_error<ShapeError>([&] { mm(a, b); }, "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  expect_error<ShapeError>([&] { mm(a, b.select(0, 0)); }, "mat2 must be a matrix");
  expect_error<ShapeError>([&] { mm(a.select(0, 0), b); }, "self must be a matrix");
  expect_error<TypeError>([&] { mm(a, b.to(kDouble)); }, "expected scalar type Float but found Double");
  expect_error<TypeError>([&] { mm(a.to(kBool), b.to(kBool)); }, "not implemented for 'Bool'");
  expect_error<DeviceError>([&] { mm(a, empty({3, 2}, TensorOptions(kMeta))); }, "same device");
  expect_error<Error>([&] { mm(a, Tensor()); }, "mm: found an undefined tensor for mat2");
}

TEST(Mm, MetaTensorsGetTheShapeAlone) {
  const TensorOptions meta(kMeta);
  EXPECT_TRUE(mm(empty({2, 3}, meta), empty({3, 4}, meta)).sizes() == IntArrayRef({2, 4}));
  EXPECT_TRUE(linear(empty({5, 2, 3}, meta), empty({4, 3}, meta), empty({4}, meta)).sizes() == IntArrayRef({5, 2, 4}));
  EXPECT_TRUE(dot(empty({3}, meta), empty({3}, meta)).is_meta());
}

TEST(Bmm, MultipliesEachPairWhateverTheStrides) {
  for (DType dtype : {kFloat, kDouble, kHalf, kInt32, kComplexDouble}) {
    for (int64_t n : {5, 40}) {
      const Tensor a = numbers({3, n, 6}, dtype, 1), b = numbers({3, 6, n}, dtype, 2);
      const Tensor a_turned = a.transpose(0, 2).contiguous().transpose(0, 2);
      for (const Tensor& y : {bmm(a, b), bmm(a_turned, b)})
        for (int64_t i = 0; i < 3; i++) expect_product(y.select(0, i), a.select(0, i), b.select(0, i), name_of(dtype));
      const Tensor same = b.slice(0, 0, 1).expand({3, 6, n});
      expect_product(bmm(a, same).select(0, 2), a.select(0, 2), b.select(0, 0), "expanded batch");
    }
  }
  expect_error<ShapeError>([&] { bmm(ones({2, 3}), ones({2, 3, 4})); }, "batch1 must be a 3D tensor");
  expect_error<ShapeError>(
      [&] {
        bmm(ones({2, 3, 4}), ones({2, 3, 4}));
      },
      "Expected size for first two dimensions of batch2 tensor to be: [2, 4] but got: [2, 3]");
}

TEST(Addmm, ScalesBothPartsInEveryForm) {
  for (DType dtype : {kFloat, kDouble, kHalf, kInt64, kComplexFloat}) {
    for (int64_t n : {6, 48}) {
      const Tensor c = numbers({n}, dtype, 3), a = numbers({n, n}, dtype, 1), b = numbers({n, n}, dtype, 2);
      Numbers wanted = naive_product(a, b);
      const Numbers added = values_of(c);
      for (size_t i = 0; i < wanted.size(); i++) wanted[i] = 3.0 * wanted[i] + 2.0 * added[i % added.size()];
      expect_close(addmm(c, a, b, 2, 3), wanted, tolerance(dtype), name_of(dtype));
      Tensor out = zeros({0}, TensorOptions(dtype)), self = c.expand({n, n}).contiguous();
      expect_close(addmm_out(out, c, a, b, 2, 3), wanted, tolerance(dtype), name_of(dtype));
      expect_close(addmm_(self, a, b, 2, 3), wanted, tolerance(dtype), name_of(dtype));
    }
  }
}

TEST(Addmm, BetaZeroDoesNotReadSelf) {
  const Tensor nan = full({3, 3}, std::nan("")), a = ones({3, 3});
  expect_close(addmm(nan, a, a, 0, 1), Numbers(9, 3.0), 0);
  Tensor in_place = nan.clone();
  expect_close(addmm_(in_place, a, a, 0, 1), Numbers(9, 3.0), 0);
}

TEST(Addmm, InPlaceOnOneOfItsFactorsUsesTheOldValues) {
  const Tensor a = numbers({4, 4});
  Tensor x = a.clone();
  addmm_(x, x, x);
  Numbers wanted = naive_product(a, a);
  const Numbers old = values_of(a);
  for (size_t i = 0; i < wanted.size(); i++) wanted[i] += old[i];
  expect_close(x, wanted, 1e-12);
}

TEST(Addmm, RefusesWhatDoesNotFit) {
  const Tensor a = ones({2, 3}), b = ones({3, 2});
  expect_error<ShapeError>([&] { addmm(ones({7}), a, b); },
                           "The expanded size of the tensor (2) must match the existing size (7) at non-singleton "
                           "dimension 1.  Target sizes: [2, 2].  Tensor sizes: [7]");
  expect_error<ShapeError>([&] { addmm_(ones({1, 2}), a, b); }, "output with shape [1, 2]");
  expect_error<TypeError>([&] { addmm(ones({2}).to(kDouble), a, b); }, "self has dtype float64 (expected float32)");
}

TEST(Addmm, CastsFloatingFactorsToIntegers) {
  const Tensor one = ones({2, 2}).to(kLong);
  expect_close(addmm(one, one, one, 1.5, 2.5), full({2, 2}, 5).to(kLong), 0);
}

TEST(DotAndMv, EqualTheNaiveProduct) {
  for (DType dtype : kAll) {
    for (int64_t n : {0, 1, 5, 100, 1000}) {
      const Tensor x = numbers({n}, dtype, 1), y = numbers({n}, dtype, 2), a = numbers({37, n}, dtype, 3);
      const std::string what = std::string(name_of(dtype)) + " " + std::to_string(n);
      const double close = 10 * tolerance(dtype);
      const Numbers dotted = wrapped(naive_product(x.unsqueeze(0), y.unsqueeze(1)), dtype);
      EXPECT_EQ(dot(x, y).dim(), 0);
      expect_close(dot(x, y), dotted, close, what);
      const Numbers product = wrapped(naive_product(a, y.unsqueeze(1)), dtype);
      expect_close(mv(a, y), product, close, what);
      expect_close(mv(a.t().contiguous().t(), y), product, close, what + " transposed");
      Tensor every_second = zeros({n, 2}, x.options()).select(1, 1);
      every_second.copy_(y);
      expect_close(mv(a, every_second), product, close, what + " strided");
      expect_close(dot(x, every_second), dotted, close, what + " strided");
    }
  }
  expect_error<ShapeError>([] { dot(ones({2, 2}), ones({2})); }, "1D tensors expected, but got 2D and 1D tensors");
  expect_error<ShapeError>([] { dot(ones({3}), ones({5})); }, "inconsistent tensor size");
  expect_error<TypeError>([] { dot(ones({3}), ones({3}).to(kDouble)); },
                          "expected both vectors to have same dtype, but found Float and Double");
  expect_error<ShapeError>([] { mv(ones({2, 3}), ones({5})); }, "size mismatch");
}

TEST(Matmul, FollowsTheRulesForEachPairOfRanks) {
  struct Case {
    std::vector<int64_t> a, b, y;
  };
  for (const Case& c :
       {Case{{3}, {3}, {}}, Case{{2, 3}, {3}, {2}}, Case{{3}, {3, 4}, {4}}, Case{{2, 3}, {3, 4}, {2, 4}},
        Case{{5, 2, 3}, {3}, {5, 2}}, Case{{5, 2, 3}, {3, 4}, {5, 2, 4}}, Case{{3}, {5, 3, 4}, {5, 4}},
        Case{{2, 3}, {5, 3, 4}, {5, 2, 4}}, Case{{6, 1, 2, 3}, {5, 3, 4}, {6, 5, 2, 4}},
        Case{{0, 2, 3}, {3, 4}, {0, 2, 4}}, Case{{5, 2, 0}, {0, 4}, {5, 2, 4}}}) {
    const Tensor a = numbers(c.a, kDouble, 1), b = numbers(c.b, kDouble, 2);
    const Tensor y = matmul(a, b);
    ASSERT_TRUE(y.sizes() == IntArrayRef(c.y)) << text_of(y.sizes()) << " expected " << text_of(c.y);
    Tensor out = zeros({1}, TensorOptions(kDouble));
    expect_close(matmul_out(out, a, b), y, 0);
  }
  const Tensor a = numbers({6, 1, 2, 3}, kDouble, 1), b = numbers({5, 3, 4}, kDouble, 2);
  expect_product(matmul(a, b).select(0, 4).select(0, 3), a.select(0, 4).select(0, 0), b.select(0, 3),
                 "broadcast batch");
  const Tensor turned = numbers({2, 5, 3}, kDouble, 4).transpose(0, 1);
  expect_product(matmul(turned, b.select(0, 0)).select(0, 3), turned.select(0, 3), b.select(0, 0),
                 "rows that no view folds");
  expect_error<ShapeError>([] { matmul(ones({}), ones({2, 3})); }, "both arguments to matmul need to be at least 1D");
  expect_error<ShapeError>([] { matmul(ones({2, 3, 4}), ones({3, 4, 5})); }, "do not broadcast");
}

TEST(Linear, TakesAnyLeadingDimensions) {
  const Tensor w = numbers({4, 3}, kDouble, 1), bias = numbers({4}, kDouble, 2);
  for (std::vector<int64_t> lead : {std::vector<int64_t>{}, {5}, {2, 5}, {2, 1, 5}, {0}, {2, 0, 5}}) {
    std::vector<int64_t> sizes = lead;
    sizes.push_back(3);
    const Tensor x = numbers(sizes, kDouble, 3);
    const Tensor wanted = matmul(x, w.t());
    expect_close(linear(x, w), wanted, 1e-12);
    expect_close(linear(x, w, bias), wanted + bias, 1e-12);
  }
  const Tensor permuted = numbers({3, 2, 5}, kDouble, 4).permute({2, 1, 0});
  expect_close(linear(permuted, w, bias), matmul(permuted.contiguous(), w.t()) + bias, 1e-12);
  expect_error<ShapeError>(
      [&] {
        linear(ones({2, 3}), ones({5, 4}));
      },
      "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  expect_error<ShapeError>(
      [&] {
        linear(ones({2, 3}), ones({5, 3}), ones({4}));
      },
      "The expanded size of the tensor (5) must match the existing size (4)");
}

TEST(MatmulDerivatives, FirstAndSecondEqualFiniteDifferences) {
  for (DType dtype : {kDouble, kComplexDouble}) {
    const std::string type = name_of(dtype);
    const Tensor a = numbers({2, 3}, dtype, 1), b = numbers({3, 4}, dtype, 2), v = numbers({3}, dtype, 3);
    check_derivatives([](auto& x) { return mm(x[0], x[1]); }, {a, b}, "mm " + type);
    check_derivatives([](auto& x) { return mv(x[0], x[1]); }, {a, v}, "mv " + type);
    check_derivatives([](auto& x) { return dot(x[0], x[1]); }, {v, numbers({3}, dtype, 5)}, "dot " + type);
    check_derivatives([](auto& x) { return bmm(x[0], x[1]); },
                      {numbers({2, 2, 3}, dtype, 1), numbers({2, 3, 2}, dtype, 2)}, "bmm " + type);
    check_derivatives([](auto& x) { return addmm(x[0], x[1], x[2], 2, 3); }, {numbers({2, 4}, dtype, 6), a, b},
                      "addmm " + type);
    check_derivatives([](auto& x) { return linear(x[0], x[1]); },
                      {numbers({2, 2, 3}, dtype, 7), numbers({4, 3}, dtype, 8)}, "linear " + type);
  }
}

TEST(MatmulDerivatives, SumOverWhatWasBroadcast) {
  for (DType dtype : {kDouble, kComplexDouble}) {
    const Tensor a = numbers({2, 3}, dtype, 1), b = numbers({3, 4}, dtype, 2);
    check_derivatives([](auto& x) { return addmm(x[0], x[1], x[2]); }, {numbers({4}, dtype, 6), a, b}, "addmm");
    check_derivatives([](auto& x) { return linear(x[0], x[1], x[2]); },
                      {numbers({2, 2, 3}, dtype, 7), numbers({4, 3}, dtype, 8), numbers({4}, dtype, 9)}, "linear");
    check_derivatives([](auto& x) { return matmul(x[0], x[1]); },
                      {numbers({2, 1, 2, 3}, dtype, 1), numbers({2, 3, 2}, dtype, 2)}, "matmul");
  }
}

// A frozen weight's input need not stay in memory, and may be changed.
TEST(MatmulDerivatives, KeepOnlyWhatTheyRead) {
  using Product = std::function<Tensor(const Tensor&, const Tensor&)>;
  const Product products[] = {[](auto& a, auto& b) { return mm(a, b); },
                              [](auto& a, auto& b) { return linear(a, b); },
                              [](auto& a, auto& b) { return addmm(a, a, b); },
                              [](auto& a, auto& b) { return mv(a, b[0]); },
                              [](auto& a, auto& b) { return dot(a[0], b[0]); },
                              [](auto& a, auto& b) { return addmv(a[0], a, b[0]); },
                              [](auto& a, auto& b) { return bmm(a.unsqueeze(0), b.unsqueeze(0)); },
                              [](auto& a, auto& b) { return baddbmm(a, a.unsqueeze(0), b.unsqueeze(0)); }};
  for (const Product& product : products)
    for (bool first : {true, false}) {
      Tensor free = numbers({2, 2}, kDouble, 1).requires_grad_(), frozen = numbers({2, 2}, kDouble, 2);
      auto gradient = [&](bool changes) {
        Tensor x = free * 1, y = first ? product(x, frozen) : product(frozen, x);
        if (changes) x.detach().zero_();
        return autograd::grad({y}, {free}, {ones_like(y)})[0];
      };
      EXPECT_TRUE(gradient(true).equal(gradient(false))) << (&product - products) << first;
    }
}

TEST(Matmul, WhatIsAddedToAProductMayHaveAnotherDtype) {
  const Tensor a = ones({2, 2}), b = ones({1, 2, 2});
  Tensor x = full({2}, 0.5, TensorOptions(kDouble).requires_grad(true)), y = addmv(x, a, a[0]);
  EXPECT_EQ(y.dtype(), kFloat);
  expect_close(y, Numbers(2, 2.5), 0);
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(ones_like(x)));
  expect_close(baddbmm(ones({1, 2, 2}, kLong), b, b), Numbers(4, 3.0), 0);
  EXPECT_EQ(baddbmm(ones({1, 2, 2}, kLong), b, b).dtype(), kFloat);
  EXPECT_THROW(addmm(x.detach(), a, a), TypeError);
  EXPECT_THROW(ones({2}, kDouble).addmv_(a, a[0]), TypeError);
}

TEST(MatmulDerivatives, InPlaceAddmmPassesGradientsToWhatItWas) {
  const Tensor x = numbers({2, 2}, kDouble, 1).requires_grad_(), a = numbers({2, 2}, kDouble, 2).requires_grad_();
  Tensor y = x * 1;
  addmm_(y, a, a, 2, 1);
  const auto g = autograd::grad({y}, {x, a}, {ones_like(y)});
  expect_close(g[0], Numbers(4, 2.0), 0);
  expect_close(g[1], mm(ones_like(y), a.detach().t()) + mm(a.detach().t(), ones_like(y)), 1e-12);
}

}  // namespace
}  // namespace cresset::matmul_test
