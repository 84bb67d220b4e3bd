// Derivatives of functions: jacobian, hessian and products with vectors.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd::functional;
using autograd::variable_list;

TEST(Jacobian, OfOneInputAndOutput) {
  Tensor x = tensor_of({1, 2, 3}, {3}, kDouble);
  Tensor j = jacobian([](const Tensor& t) { return t * t; }, x);
  EXPECT_EQ(j.sizes(), IntArrayRef({3, 3}));
  EXPECT_EQ(values_of(j), Numbers({2, 0, 0, 0, 4, 0, 0, 0, 6}));
  EXPECT_FALSE(j.requires_grad());
}

TEST(Jacobian, OfSeveralInputsAndOutputsHasBothShapes) {
  Tensor a = tensor_of({1, 2}, {1, 2}, kDouble), b = tensor_of({3, 4, 5}, {3, 1}, kDouble);
  auto f = [](const variable_list& in) { return variable_list{in[0] * in[1], in[1] * 2}; };
  auto j = jacobian(f, {a, b});
  EXPECT_EQ(j[0][0].sizes(), IntArrayRef({3, 2, 1, 2}));
  EXPECT_EQ(j[0][1].sizes(), IntArrayRef({3, 2, 3, 1}));
  EXPECT_EQ(values_of(j[0][0].select(0, 1)), Numbers({4, 0, 0, 4}));
  EXPECT_EQ(values_of(j[1][0].sum()), Numbers({0}));  // no dependence: zeros
  EXPECT_EQ(j[1][0].sizes(), IntArrayRef({3, 1, 1, 2}));
}

TEST(Jacobian, WithAGraphCanBeDifferentiated) {
  Tensor x = leaf_of({1, 2}, kDouble);
  Tensor j = jacobian([](const Tensor& t) { return t * t * t; }, x, {.create_graph = true});
  (j * j).sum().backward();  // sum of 9 x^4
  EXPECT_EQ(values_of(x.grad()), Numbers({36, 288}));
}

TEST(Hessian, OfAScalarFunction) {
  Tensor x = tensor_of({1, 2}, {2}, kDouble);
  EXPECT_EQ(values_of(hessian([](const Tensor& t) { return (t * t * t).sum(); }, x)), Numbers({6, 0, 0, 12}));
  auto f = [](const variable_list& in) { return variable_list{(in[0] * in[1]).sum()}; };
  auto h = hessian(f, {x, tensor_of({5, 6}, {2}, kDouble)});
  EXPECT_EQ(values_of(h[0][0]), Numbers({0, 0, 0, 0}));
  EXPECT_EQ(values_of(h[0][1]), Numbers({1, 0, 0, 1}));
  EXPECT_ERROR(ShapeError, hessian([](const Tensor& t) { return t * 1; }, x), "a scalar");
}

TEST(Vjp, IsAVectorTimesTheJacobian) {
  Tensor x = tensor_of({1, 2, 3}, {3}, kDouble), v = tensor_of({1, 10, 100}, {3}, kDouble);
  auto [y, product] = vjp([](const Tensor& t) { return t * t; }, x, v);
  EXPECT_EQ(values_of(y), Numbers({1, 4, 9}));
  EXPECT_EQ(values_of(product), Numbers({2, 40, 600}));
  EXPECT_EQ(values_of(vjp([](const Tensor& t) { return (t * t).sum(); }, x).second), Numbers({2, 4, 6}));
  EXPECT_ERROR(ShapeError, vjp([](const Tensor& t) { return t * t; }, x, ones({2}, kDouble)), "v[0] has shape [2]");
  EXPECT_ERROR(AutogradError, vjp([](const Tensor& t) { return t * t; }, x), "can only be left out");
}

TEST(Jvp, IsTheJacobianTimesAVector) {
  Tensor a = tensor_of({1, 2}, {2}, kDouble), b = tensor_of({3, 4}, {2}, kDouble);
  auto f = [](const variable_list& in) { return variable_list{in[0] * in[1], in[0].exp() * 0 + in[0].sum()}; };
  Product p = jvp(f, {a, b}, {ones({2}, kDouble), tensor_of({10, 20}, {2}, kDouble)});
  EXPECT_EQ(values_of(p.outputs[0]), Numbers({3, 8}));
  EXPECT_EQ(values_of(p.product[0]), Numbers({3 + 10, 4 + 40}));
  EXPECT_EQ(values_of(p.product[1]), Numbers({2, 2}));
  EXPECT_FALSE(p.product[0].requires_grad());
}

TEST(Jvp, WithAGraphCanBeDifferentiated) {
  Tensor x = leaf_of({1, 2}, kDouble);
  Tensor p = jvp([](const Tensor& t) { return t * t * t; }, x, ones({2}, kDouble), {.create_graph = true}).second;
  p.sum().backward();  // 3 x^2
  EXPECT_EQ(values_of(x.grad()), Numbers({6, 12}));
}

TEST(Strict, RefusesIndependence) {
  Tensor x = tensor_of({1, 2}, {2}, kDouble), other = tensor_of({1}, {1}, kDouble);
  auto ignores = [](const variable_list& in) { return variable_list{in[0] * 2}; };
  EXPECT_ERROR(AutogradError, jacobian(ignores, {x, other}, {.strict = true}), "independent of input 1");
  EXPECT_ERROR(AutogradError, vjp(ignores, {x, other}, {ones({2}, kDouble)}, {.strict = true}),
               "independent of input 1");
  auto constant = [](const Tensor& t) { return t.detach() * 2; };
  EXPECT_ERROR(AutogradError, jacobian(constant, x, {.strict = true}), "strict mode");
  EXPECT_EQ(values_of(jacobian(constant, x)), Numbers({0, 0, 0, 0}));
  EXPECT_EQ(values_of(jvp(constant, x, ones({2}, kDouble)).second), Numbers({0, 0}));
}

TEST(Functional, WorksWithGradientsOffOutside) {
  NoGradGuard no_grad;
  EXPECT_EQ(values_of(jacobian([](const Tensor& t) { return t * t; }, tensor_of({3}, {1}))), Numbers({6}));
}

}  // namespace
}  // namespace cresset
