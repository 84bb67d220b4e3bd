// to_python_repr writes what PyTorch's repr writes, to the character. The expected texts come from PyTorch 1.13.
#include "cresset/core/print.h"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <sstream>

#include "cresset/ops/all.h"

namespace cresset {
namespace {

using C = std::complex<float>;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(PythonRepr, ZeroDimensionalTensors) {
  EXPECT_EQ(to_python_repr(tensor(3.5)), "tensor(3.5000)");
  EXPECT_EQ(to_python_repr(tensor(3.)), "tensor(3.)");
  EXPECT_EQ(to_python_repr(tensor(7)), "tensor(7)");
  EXPECT_EQ(to_python_repr(tensor(true)), "tensor(True)");
  EXPECT_EQ(to_python_repr(tensor(-0.0)), "tensor(-0.)");
  EXPECT_EQ(to_python_repr(tensor(1e-10)), "tensor(1.0000e-10)");
  EXPECT_EQ(to_python_repr(tensor(123456789.)), "tensor(1.2346e+08)");
  EXPECT_EQ(to_python_repr(tensor(99999999., kDouble)), "tensor(99999999., dtype=torch.float64)");
  EXPECT_EQ(to_python_repr(tensor(nan)), "tensor(nan)");
  EXPECT_EQ(to_python_repr(tensor(-inf)), "tensor(-inf)");
  EXPECT_EQ(to_python_repr(tensor(0.)), "tensor(0.)");
}

TEST(PythonRepr, OneFormatFitsAllNumbers) {
  EXPECT_EQ(to_python_repr(tensor({1., 2.})), "tensor([1., 2.])");
  EXPECT_EQ(to_python_repr(tensor({1.5, -2., 3.25})), "tensor([ 1.5000, -2.0000,  3.2500])");
  EXPECT_EQ(to_python_repr(tensor({0., 0.})), "tensor([0., 0.])");
  EXPECT_EQ(to_python_repr(tensor({1, -20, 300})), "tensor([  1, -20, 300])");
  EXPECT_EQ(to_python_repr(tensor({true, false})), "tensor([ True, False])");
  EXPECT_EQ(to_python_repr(tensor({{1., 2.}, {3., 4.}})),
            "tensor([[1., 2.],\n"
            "        [3., 4.]])");
  EXPECT_EQ(to_python_repr(tensor({nan, inf, -inf})), "tensor([nan, inf, -inf])");
  EXPECT_EQ(to_python_repr(tensor({nan, 1., 2.})), "tensor([nan, 1., 2.])");
  EXPECT_EQ(to_python_repr(tensor({inf, 1.5})), "tensor([   inf, 1.5000])");
  EXPECT_EQ(to_python_repr(tensor({0., inf})), "tensor([0., inf])");
  EXPECT_EQ(to_python_repr(tensor({1e-5, 1.})), "tensor([1.0000e-05, 1.0000e+00])");
  EXPECT_EQ(to_python_repr(tensor({1., 1001.})), "tensor([1.0000e+00, 1.0010e+03])");
  EXPECT_EQ(to_python_repr(tensor({1., 1000.})), "tensor([   1., 1000.])");
  EXPECT_EQ(to_python_repr(tensor({0.5, 600.})), "tensor([5.0000e-01, 6.0000e+02])");
  EXPECT_EQ(to_python_repr(tensor({1e9, 2e9})), "tensor([1.0000e+09, 2.0000e+09])");
  EXPECT_EQ(to_python_repr(tensor({0.0001, 0.01})), "tensor([1.0000e-04, 1.0000e-02])");
  EXPECT_EQ(to_python_repr(tensor({0.00009, 0.01})), "tensor([9.0000e-05, 1.0000e-02])");
  EXPECT_EQ(to_python_repr(tensor({1e-320, 2e-320}, kDouble)),
            "tensor([9.9999e-321, 2.0000e-320], dtype=torch.float64)");
  EXPECT_EQ(to_python_repr(tensor({1e300, -2.5e300}, kDouble)),
            "tensor([ 1.0000e+300, -2.5000e+300], dtype=torch.float64)");
}

TEST(PythonRepr, DtypesThatTheTextDoesNotTellAreNamed) {
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kDouble)), "tensor([1., 0., 3.], dtype=torch.float64)");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kDouble)),
            "tensor([[1., 1.],\n"
            "        [1., 1.]], dtype=torch.float64)");
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kHalf)), "tensor([1., 0., 3.], dtype=torch.float16)");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kHalf)),
            "tensor([[1., 1.],\n"
            "        [1., 1.]], dtype=torch.float16)");
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kBFloat16)), "tensor([1., 0., 3.], dtype=torch.bfloat16)");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kBFloat16)),
            "tensor([[1., 1.],\n"
            "        [1., 1.]], dtype=torch.bfloat16)");
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kInt)), "tensor([1, 0, 3], dtype=torch.int32)");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kInt)),
            "tensor([[1, 1],\n"
            "        [1, 1]], dtype=torch.int32)");
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kShort)), "tensor([1, 0, 3], dtype=torch.int16)");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kShort)),
            "tensor([[1, 1],\n"
            "        [1, 1]], dtype=torch.int16)");
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kChar)), "tensor([1, 0, 3], dtype=torch.int8)");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kChar)),
            "tensor([[1, 1],\n"
            "        [1, 1]], dtype=torch.int8)");
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kByte)), "tensor([1, 0, 3], dtype=torch.uint8)");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kByte)),
            "tensor([[1, 1],\n"
            "        [1, 1]], dtype=torch.uint8)");
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kBool)), "tensor([ True, False,  True])");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kBool)),
            "tensor([[True, True],\n"
            "        [True, True]])");
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kLong)), "tensor([1, 0, 3])");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kLong)),
            "tensor([[1, 1],\n"
            "        [1, 1]])");
  EXPECT_EQ(to_python_repr(tensor({1.5, 2.}, kHalf)), "tensor([1.5000, 2.0000], dtype=torch.float16)");
  EXPECT_EQ(to_python_repr(tensor({0.1, 2.}, kBFloat16)), "tensor([0.1001, 2.0000], dtype=torch.bfloat16)");
}

TEST(PythonRepr, ComplexPartsHaveAFormatEach) {
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kComplexFloat)), "tensor([1.+0.j, 0.+0.j, 3.+0.j])");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kComplexFloat)),
            "tensor([[1.+0.j, 1.+0.j],\n"
            "        [1.+0.j, 1.+0.j]])");
  EXPECT_EQ(to_python_repr(tensor({1, 0, 3}, kComplexDouble)),
            "tensor([1.+0.j, 0.+0.j, 3.+0.j], dtype=torch.complex128)");
  EXPECT_EQ(to_python_repr(ones({2, 2}, kComplexDouble)),
            "tensor([[1.+0.j, 1.+0.j],\n"
            "        [1.+0.j, 1.+0.j]], dtype=torch.complex128)");
  EXPECT_EQ(to_python_repr(tensor({C(1, 2), C(-3.5, -4)})), "tensor([ 1.0000+2.j, -3.5000-4.j])");
  EXPECT_EQ(to_python_repr(tensor({C(1, 0), C(2, -0.0)})), "tensor([1.+0.j, 2.-0.j])");
  EXPECT_EQ(to_python_repr(tensor(C(1.5, nan))), "tensor(1.5000+nanj)");
  EXPECT_EQ(to_python_repr(tensor({{C(1, -2), C(1000, 2)}, {C(inf, 0.001), C(0, 1)}}, kComplexDouble)),
            "tensor([[   1.-2.0000e+00j, 1000.+2.0000e+00j],\n"
            "        [  inf+1.0000e-03j,    0.+1.0000e+00j]], dtype=torch.complex128)");
  EXPECT_EQ(to_python_repr(tensor({C(1e-5, 2), C(3, 4)})), "tensor([1.0000e-05+2.j, 3.0000e+00+4.j])");
}

TEST(PythonRepr, TensorsWithoutValuesShowTheirSize) {
  EXPECT_EQ(to_python_repr(empty({0}, kDouble)), "tensor([], dtype=torch.float64)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kDouble)), "tensor([], size=(2, 0), dtype=torch.float64)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kDouble).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.float64)");
  EXPECT_EQ(to_python_repr(empty({0}, kHalf)), "tensor([], dtype=torch.float16)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kHalf)), "tensor([], size=(2, 0), dtype=torch.float16)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kHalf).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.float16)");
  EXPECT_EQ(to_python_repr(empty({0}, kBFloat16)), "tensor([], dtype=torch.bfloat16)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kBFloat16)), "tensor([], size=(2, 0), dtype=torch.bfloat16)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kBFloat16).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.bfloat16)");
  EXPECT_EQ(to_python_repr(empty({0}, kInt)), "tensor([], dtype=torch.int32)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kInt)), "tensor([], size=(2, 0), dtype=torch.int32)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kInt).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.int32)");
  EXPECT_EQ(to_python_repr(empty({0}, kShort)), "tensor([], dtype=torch.int16)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kShort)), "tensor([], size=(2, 0), dtype=torch.int16)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kShort).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.int16)");
  EXPECT_EQ(to_python_repr(empty({0}, kChar)), "tensor([], dtype=torch.int8)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kChar)), "tensor([], size=(2, 0), dtype=torch.int8)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kChar).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.int8)");
  EXPECT_EQ(to_python_repr(empty({0}, kByte)), "tensor([], dtype=torch.uint8)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kByte)), "tensor([], size=(2, 0), dtype=torch.uint8)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kByte).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.uint8)");
  EXPECT_EQ(to_python_repr(empty({0}, kBool)), "tensor([], dtype=torch.bool)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kBool)), "tensor([], size=(2, 0), dtype=torch.bool)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kBool).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.bool)");
  EXPECT_EQ(to_python_repr(empty({0}, kLong)), "tensor([], dtype=torch.int64)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kLong)), "tensor([], size=(2, 0), dtype=torch.int64)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kLong).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.int64)");
  EXPECT_EQ(to_python_repr(empty({0}, kComplexFloat)), "tensor([], dtype=torch.complex64)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kComplexFloat)), "tensor([], size=(2, 0), dtype=torch.complex64)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kComplexFloat).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.complex64)");
  EXPECT_EQ(to_python_repr(empty({0}, kComplexDouble)), "tensor([], dtype=torch.complex128)");
  EXPECT_EQ(to_python_repr(empty({2, 0}, kComplexDouble)), "tensor([], size=(2, 0), dtype=torch.complex128)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, TensorOptions(kComplexDouble).device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), dtype=torch.complex128)");
  EXPECT_EQ(to_python_repr(empty({0})), "tensor([])");
  EXPECT_EQ(to_python_repr(empty({0, 3})), "tensor([], size=(0, 3))");
  EXPECT_EQ(to_python_repr(empty({2, 0, 3})), "tensor([], size=(2, 0, 3))");
  EXPECT_EQ(to_python_repr(empty({2}, kMeta)), "tensor(..., device='meta', size=(2,))");
  EXPECT_EQ(to_python_repr(empty({}, kMeta)), "tensor(..., device='meta', size=())");
}

TEST(PythonRepr, TheGraphIsNamedLast) {
  EXPECT_EQ(to_python_repr(ones({2}, requires_grad())), "tensor([1., 1.], requires_grad=True)");
  EXPECT_EQ(to_python_repr(ones({2}, requires_grad()).mul(ones({2}))), "tensor([1., 1.], grad_fn=<MulBackward0>)");
  EXPECT_EQ(to_python_repr(ones({2}, requires_grad(true).dtype(kDouble)).exp()),
            "tensor([2.7183, 2.7183], dtype=torch.float64, grad_fn=<ExpBackward0>)");
  EXPECT_EQ(to_python_repr(ones({2, 2}, requires_grad()).view({4})),
            "tensor([1., 1., 1., 1.], grad_fn=<ViewBackward0>)");
  EXPECT_EQ(to_python_repr(ones({2}, requires_grad()).detach()), "tensor([1., 1.])");
  EXPECT_EQ(to_python_repr(ones({12}, requires_grad(true).dtype(kDouble)).mul(ones({12}, kDouble).mul(0.125))),
            "tensor([0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250,\n"
            "        0.1250, 0.1250, 0.1250], dtype=torch.float64, grad_fn=<MulBackward0>)");
  EXPECT_EQ(to_python_repr(ones({10}, requires_grad(true).dtype(kHalf)).mul(ones({10}, kHalf))),
            "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1.], dtype=torch.float16,\n"
            "       grad_fn=<MulBackward0>)");
  EXPECT_EQ(to_python_repr(ones({13}, requires_grad(true).dtype(kDouble)).exp()),
            "tensor([2.7183, 2.7183, 2.7183, 2.7183, 2.7183, 2.7183, 2.7183, 2.7183, 2.7183,\n"
            "        2.7183, 2.7183, 2.7183, 2.7183], dtype=torch.float64,\n"
            "       grad_fn=<ExpBackward0>)");
  EXPECT_EQ(to_python_repr(empty({0}, requires_grad(true).dtype(kDouble))),
            "tensor([], dtype=torch.float64, requires_grad=True)");
  EXPECT_EQ(to_python_repr(empty({2, 3}, requires_grad().device(kMeta))),
            "tensor(..., device='meta', size=(2, 3), requires_grad=True)");
}

TEST(PythonRepr, TheDefaultDtypeIsNotNamed) {
  set_default_dtype(kDouble);
  std::string is_default = to_python_repr(tensor({1.5}));
  std::string is_not = to_python_repr(tensor({1.5}, kFloat));
  set_default_dtype(kFloat);
  EXPECT_EQ(is_default, "tensor([1.5000])");
  EXPECT_EQ(is_not, "tensor([1.5000], dtype=torch.float32)");
}

TEST(PythonRepr, UndefinedTensorIsNone) { EXPECT_EQ(to_python_repr(Tensor()), "None"); }

TEST(Print, LibtorchsFormOfAMatrix) {
  std::ostringstream out;
  print(out, tensor({{1.5, 2.0}, {3.0, 4.25}}), 80);
  EXPECT_EQ(out.str(), " 1.5000  2.0000\n 3.0000  4.2500\n[ CPUFloatType{2,2} ]");
}

TEST(Print, AMetaTensorShowsWhatItIsOnly) {
  std::ostringstream out;
  print(out, empty({2, 3}, kMeta), 80);
  EXPECT_EQ(out.str(), "[ MetaFloatType{2,3} ]");
}

}  // namespace
}  // namespace cresset
