// Layout of long tensors and set_printoptions: to_python_repr writes what PyTorch's repr writes, to the character. The
// expected texts come from PyTorch 1.13.
#include "cresset/core/print.h"

#include <gtest/gtest.h>

#include <complex>

#include "cresset/ops/all.h"

namespace cresset {
namespace {

using C = std::complex<float>;

// Changes the options while it lives.
struct PrintScope {
  explicit PrintScope(const PrintOptions& changes) { set_printoptions(changes); }
  ~PrintScope() { set_printoptions({.profile = "default"}); }
};

TEST(PythonRepr, BracketsAndLineBreaks) {
  EXPECT_EQ(to_python_repr(arange(30)),
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])");
  EXPECT_EQ(to_python_repr(arange(100, kFloat)),
            "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
            "        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n"
            "        28., 29., 30., 31., 32., 33., 34., 35., 36., 37., 38., 39., 40., 41.,\n"
            "        42., 43., 44., 45., 46., 47., 48., 49., 50., 51., 52., 53., 54., 55.,\n"
            "        56., 57., 58., 59., 60., 61., 62., 63., 64., 65., 66., 67., 68., 69.,\n"
            "        70., 71., 72., 73., 74., 75., 76., 77., 78., 79., 80., 81., 82., 83.,\n"
            "        84., 85., 86., 87., 88., 89., 90., 91., 92., 93., 94., 95., 96., 97.,\n"
            "        98., 99.])");
  EXPECT_EQ(to_python_repr(arange(30, kFloat).mul(0.37)),
            "tensor([ 0.0000,  0.3700,  0.7400,  1.1100,  1.4800,  1.8500,  2.2200,  2.5900,\n"
            "         2.9600,  3.3300,  3.7000,  4.0700,  4.4400,  4.8100,  5.1800,  5.5500,\n"
            "         5.9200,  6.2900,  6.6600,  7.0300,  7.4000,  7.7700,  8.1400,  8.5100,\n"
            "         8.8800,  9.2500,  9.6200,  9.9900, 10.3600, 10.7300])");
  EXPECT_EQ(to_python_repr(arange(24).view({2, 3, 4})),
            "tensor([[[ 0,  1,  2,  3],\n"
            "         [ 4,  5,  6,  7],\n"
            "         [ 8,  9, 10, 11]],\n"
            "\n"
            "        [[12, 13, 14, 15],\n"
            "         [16, 17, 18, 19],\n"
            "         [20, 21, 22, 23]]])");
  EXPECT_EQ(to_python_repr(arange(16, kFloat).mul(0.5).view({2, 2, 2, 2})),
            "tensor([[[[0.0000, 0.5000],\n"
            "          [1.0000, 1.5000]],\n"
            "\n"
            "         [[2.0000, 2.5000],\n"
            "          [3.0000, 3.5000]]],\n"
            "\n"
            "\n"
            "        [[[4.0000, 4.5000],\n"
            "          [5.0000, 5.5000]],\n"
            "\n"
            "         [[6.0000, 6.5000],\n"
            "          [7.0000, 7.5000]]]])");
  EXPECT_EQ(to_python_repr(arange(60, kInt).view({3, 20})),
            "tensor([[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "         18, 19],\n"
            "        [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,\n"
            "         38, 39],\n"
            "        [40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57,\n"
            "         58, 59]], dtype=torch.int32)");
  EXPECT_EQ(to_python_repr(arange(60, kDouble).mul(1.5).view({3, 20})),
            "tensor([[ 0.0000,  1.5000,  3.0000,  4.5000,  6.0000,  7.5000,  9.0000, 10.5000,\n"
            "         12.0000, 13.5000, 15.0000, 16.5000, 18.0000, 19.5000, 21.0000, 22.5000,\n"
            "         24.0000, 25.5000, 27.0000, 28.5000],\n"
            "        [30.0000, 31.5000, 33.0000, 34.5000, 36.0000, 37.5000, 39.0000, 40.5000,\n"
            "         42.0000, 43.5000, 45.0000, 46.5000, 48.0000, 49.5000, 51.0000, 52.5000,\n"
            "         54.0000, 55.5000, 57.0000, 58.5000],\n"
            "        [60.0000, 61.5000, 63.0000, 64.5000, 66.0000, 67.5000, 69.0000, 70.5000,\n"
            "         72.0000, 73.5000, 75.0000, 76.5000, 78.0000, 79.5000, 81.0000, 82.5000,\n"
            "         84.0000, 85.5000, 87.0000, 88.5000]], dtype=torch.float64)");
  EXPECT_EQ(to_python_repr(arange(12, kFloat).view({3, 4}).t()),
            "tensor([[ 0.,  4.,  8.],\n"
            "        [ 1.,  5.,  9.],\n"
            "        [ 2.,  6., 10.],\n"
            "        [ 3.,  7., 11.]])");
  EXPECT_EQ(to_python_repr(arange(3, kFloat).view({3, 1}).expand({3, 2})),
            "tensor([[0., 0.],\n"
            "        [1., 1.],\n"
            "        [2., 2.]])");
}

TEST(PythonRepr, MoreThanAThousandElementsAreSummarised) {
  EXPECT_EQ(to_python_repr(arange(1001)), "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  EXPECT_EQ(to_python_repr(arange(2000, kFloat).mul(0.25)),
            "tensor([0.0000e+00, 2.5000e-01, 5.0000e-01,  ..., 4.9925e+02, 4.9950e+02,\n"
            "        4.9975e+02])");
  EXPECT_EQ(to_python_repr(arange(10000).view({100, 100})),
            "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
            "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
            "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
            "        ...,\n"
            "        [9700, 9701, 9702,  ..., 9797, 9798, 9799],\n"
            "        [9800, 9801, 9802,  ..., 9897, 9898, 9899],\n"
            "        [9900, 9901, 9902,  ..., 9997, 9998, 9999]])");
  EXPECT_EQ(to_python_repr(arange(2400, kFloat).view({2, 40, 30})),
            "tensor([[[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 2.7000e+01,\n"
            "          2.8000e+01, 2.9000e+01],\n"
            "         [3.0000e+01, 3.1000e+01, 3.2000e+01,  ..., 5.7000e+01,\n"
            "          5.8000e+01, 5.9000e+01],\n"
            "         [6.0000e+01, 6.1000e+01, 6.2000e+01,  ..., 8.7000e+01,\n"
            "          8.8000e+01, 8.9000e+01],\n"
            "         ...,\n"
            "         [1.1100e+03, 1.1110e+03, 1.1120e+03,  ..., 1.1370e+03,\n"
            "          1.1380e+03, 1.1390e+03],\n"
            "         [1.1400e+03, 1.1410e+03, 1.1420e+03,  ..., 1.1670e+03,\n"
            "          1.1680e+03, 1.1690e+03],\n"
            "         [1.1700e+03, 1.1710e+03, 1.1720e+03,  ..., 1.1970e+03,\n"
            "          1.1980e+03, 1.1990e+03]],\n"
            "\n"
            "        [[1.2000e+03, 1.2010e+03, 1.2020e+03,  ..., 1.2270e+03,\n"
            "          1.2280e+03, 1.2290e+03],\n"
            "         [1.2300e+03, 1.2310e+03, 1.2320e+03,  ..., 1.2570e+03,\n"
            "          1.2580e+03, 1.2590e+03],\n"
            "         [1.2600e+03, 1.2610e+03, 1.2620e+03,  ..., 1.2870e+03,\n"
            "          1.2880e+03, 1.2890e+03],\n"
            "         ...,\n"
            "         [2.3100e+03, 2.3110e+03, 2.3120e+03,  ..., 2.3370e+03,\n"
            "          2.3380e+03, 2.3390e+03],\n"
            "         [2.3400e+03, 2.3410e+03, 2.3420e+03,  ..., 2.3670e+03,\n"
            "          2.3680e+03, 2.3690e+03],\n"
            "         [2.3700e+03, 2.3710e+03, 2.3720e+03,  ..., 2.3970e+03,\n"
            "          2.3980e+03, 2.3990e+03]]])");
  EXPECT_EQ(to_python_repr(arange(1200, kDouble).view({2, 600})),
            "tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 5.9700e+02, 5.9800e+02,\n"
            "         5.9900e+02],\n"
            "        [6.0000e+02, 6.0100e+02, 6.0200e+02,  ..., 1.1970e+03, 1.1980e+03,\n"
            "         1.1990e+03]], dtype=torch.float64)");
  EXPECT_EQ(to_python_repr(zeros({1001})), "tensor([0., 0., 0.,  ..., 0., 0., 0.])");
  EXPECT_EQ(to_python_repr(ones({1100}, kComplexFloat)),
            "tensor([1.+0.j, 1.+0.j, 1.+0.j,  ..., 1.+0.j, 1.+0.j, 1.+0.j])");
  EXPECT_EQ(to_python_repr(zeros({600, 2}, kBool)),
            "tensor([[False, False],\n"
            "        [False, False],\n"
            "        [False, False],\n"
            "        ...,\n"
            "        [False, False],\n"
            "        [False, False],\n"
            "        [False, False]])");
}

TEST(PythonRepr, PrintOptions) {
  {
    PrintScope options({.precision = 2});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})), "tensor([  1.12,  20.50, 300.00])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})), "tensor([1.00e-07, 2.00e+03, 0.00e+00])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  1,  2],\n"
              "        [ 3,  4,  5],\n"
              "        [ 6,  7,  8],\n"
              "        [ 9, 10, 11],\n"
              "        [12, 13, 14],\n"
              "        [15, 16, 17],\n"
              "        [18, 19, 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})), "tensor([1.25-2.00j, 3.00+0.50j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([2.72, 2.72, 2.72], dtype=torch.float64, grad_fn=<ExpBackward0>)");
  }
  {
    PrintScope options({.precision = 0});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})), "tensor([  1,  20, 300])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})), "tensor([1e-07, 2e+03, 0e+00])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  1,  2],\n"
              "        [ 3,  4,  5],\n"
              "        [ 6,  7,  8],\n"
              "        [ 9, 10, 11],\n"
              "        [12, 13, 14],\n"
              "        [15, 16, 17],\n"
              "        [18, 19, 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})), "tensor([1-2j, 3+0j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([3, 3, 3], dtype=torch.float64, grad_fn=<ExpBackward0>)");
  }
  {
    PrintScope options({.precision = 10});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})),
              "tensor([  1.1234560013,  20.5000000000, 300.0000000000])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})),
              "tensor([1.0000000117e-07, 2.0000000000e+03, 0.0000000000e+00])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  1,  2],\n"
              "        [ 3,  4,  5],\n"
              "        [ 6,  7,  8],\n"
              "        [ 9, 10, 11],\n"
              "        [12, 13, 14],\n"
              "        [15, 16, 17],\n"
              "        [18, 19, 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})),
              "tensor([1.2500000000-2.0000000000j, 3.0000000000+0.5000000000j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([2.7182818285, 2.7182818285, 2.7182818285], dtype=torch.float64,\n"
              "       grad_fn=<ExpBackward0>)");
  }
  {
    PrintScope options({.sci_mode = true});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})), "tensor([1.1235e+00, 2.0500e+01, 3.0000e+02])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})), "tensor([1.0000e-07, 2.0000e+03, 0.0000e+00])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  1,  2],\n"
              "        [ 3,  4,  5],\n"
              "        [ 6,  7,  8],\n"
              "        [ 9, 10, 11],\n"
              "        [12, 13, 14],\n"
              "        [15, 16, 17],\n"
              "        [18, 19, 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})),
              "tensor([1.2500e+00-2.0000e+00j, 3.0000e+00+5.0000e-01j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([2.7183e+00, 2.7183e+00, 2.7183e+00], dtype=torch.float64,\n"
              "       grad_fn=<ExpBackward0>)");
  }
  {
    PrintScope options({.sci_mode = false});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})), "tensor([  1.1235,  20.5000, 300.0000])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})), "tensor([    0.0000,  2000.0000,     0.0000])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  1,  2],\n"
              "        [ 3,  4,  5],\n"
              "        [ 6,  7,  8],\n"
              "        [ 9, 10, 11],\n"
              "        [12, 13, 14],\n"
              "        [15, 16, 17],\n"
              "        [18, 19, 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})), "tensor([1.2500-2.0000j, 3.0000+0.5000j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([2.7183, 2.7183, 2.7183], dtype=torch.float64, grad_fn=<ExpBackward0>)");
  }
  {
    PrintScope options({.linewidth = 20});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})),
              "tensor([  1.1235,\n"
              "         20.5000,\n"
              "        300.0000])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})),
              "tensor([1.0000e-07,\n"
              "        2.0000e+03,\n"
              "        0.0000e+00])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  1,  2],\n"
              "        [ 3,  4,  5],\n"
              "        [ 6,  7,  8],\n"
              "        [ 9, 10, 11],\n"
              "        [12, 13, 14],\n"
              "        [15, 16, 17],\n"
              "        [18, 19, 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})),
              "tensor([1.2500-2.0000j,\n"
              "        3.0000+0.5000j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([2.7183,\n"
              "        2.7183,\n"
              "        2.7183],\n"
              "       dtype=torch.float64,\n"
              "       grad_fn=<ExpBackward0>)");
  }
  {
    PrintScope options({.profile = "short"});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})), "tensor([  1.12,  20.50, 300.00])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})), "tensor([1.00e-07, 2.00e+03, 0.00e+00])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  1,  2],\n"
              "        [ 3,  4,  5],\n"
              "        [ 6,  7,  8],\n"
              "        [ 9, 10, 11],\n"
              "        [12, 13, 14],\n"
              "        [15, 16, 17],\n"
              "        [18, 19, 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})), "tensor([1.25-2.00j, 3.00+0.50j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([2.72, 2.72, 2.72], dtype=torch.float64, grad_fn=<ExpBackward0>)");
  }
  {
    PrintScope options({.threshold = 2});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})), "tensor([  1.1235,  20.5000, 300.0000])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})), "tensor([1.0000e-07, 2.0000e+03, 0.0000e+00])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  1,  2],\n"
              "        [ 3,  4,  5],\n"
              "        [ 6,  7,  8],\n"
              "        ...,\n"
              "        [12, 13, 14],\n"
              "        [15, 16, 17],\n"
              "        [18, 19, 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})), "tensor([1.2500-2.0000j, 3.0000+0.5000j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([2.7183, 2.7183, 2.7183], dtype=torch.float64, grad_fn=<ExpBackward0>)");
  }
  {
    PrintScope options({.threshold = 5, .edgeitems = 1});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})), "tensor([  1.1235,  20.5000, 300.0000])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})), "tensor([1.0000e-07, 2.0000e+03, 0.0000e+00])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  ...,  2],\n"
              "        ...,\n"
              "        [18,  ..., 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})), "tensor([1.2500-2.0000j, 3.0000+0.5000j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([2.7183, 2.7183, 2.7183], dtype=torch.float64, grad_fn=<ExpBackward0>)");
  }
  {
    PrintScope options({.profile = "full"});
    EXPECT_EQ(to_python_repr(tensor({1.123456, 20.5, 300.})), "tensor([  1.1235,  20.5000, 300.0000])");
    EXPECT_EQ(to_python_repr(tensor({1e-7, 2000., 0.})), "tensor([1.0000e-07, 2.0000e+03, 0.0000e+00])");
    EXPECT_EQ(to_python_repr(arange(21).view({7, 3})),
              "tensor([[ 0,  1,  2],\n"
              "        [ 3,  4,  5],\n"
              "        [ 6,  7,  8],\n"
              "        [ 9, 10, 11],\n"
              "        [12, 13, 14],\n"
              "        [15, 16, 17],\n"
              "        [18, 19, 20]])");
    EXPECT_EQ(to_python_repr(tensor({C(1.25, -2), C(3, 0.5)})), "tensor([1.2500-2.0000j, 3.0000+0.5000j])");
    EXPECT_EQ(to_python_repr(ones({3}, requires_grad(true).dtype(kDouble)).exp()),
              "tensor([2.7183, 2.7183, 2.7183], dtype=torch.float64, grad_fn=<ExpBackward0>)");
  }
}

TEST(PythonRepr, PrintOptionsThatMakeNoSenseAreRefused) {
  EXPECT_THROW(set_printoptions({.precision = -1}), ValueError);
  EXPECT_THROW(set_printoptions({.edgeitems = 0}), ValueError);
  EXPECT_THROW(set_printoptions({.linewidth = 0}), ValueError);
  EXPECT_THROW(set_printoptions({.profile = "long"}), ValueError);
  EXPECT_EQ(get_printoptions().precision, 4);
}

}  // namespace
}  // namespace cresset
