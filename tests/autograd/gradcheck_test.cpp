// gradcheck and gradgradcheck: what passes, what fails, and what the failure says.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd;

template <int Mistake>
struct Cube : Function<Cube<Mistake>> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x * x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    Tensor x = ctx->get_saved_variables()[0];
    if (Mistake == 1) return {g[0] * x * x * 2};                     // wrong
    if (Mistake == 2) x = x.detach();                                // right, but its own gradient is not
    if (Mistake == 3) return {g[0] * x * x * (3 + ++calls * 1e-3)};  // another value each time
    if (Mistake == 4) return {Tensor()};
    return {g[0] * x * x * 3};
  }
  static inline int calls = 0;
};

TEST(Gradcheck, PassesForTheRightGradient) {
  Tensor x = leaf_of({0.5, -1, 2}, kDouble);
  EXPECT_TRUE(gradcheck([](const Tensor& t) { return Cube<0>::apply(t); }, x));
  EXPECT_TRUE(gradgradcheck([](const Tensor& t) { return Cube<0>::apply(t); }, x));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(x._version(), 0u);
}

TEST(Gradcheck, NamesOutputInputElementsAndValues) {
  Tensor a = leaf_of({1, 2}, kDouble), b = leaf_of({1, 2, 3, 2}, {2, 2}, kDouble);
  auto f = [](const variable_list& in) { return variable_list{in[0] * 2, Cube<1>::apply(in[1]).sum(), in[1] * 3}; };
  EXPECT_ERROR(AutogradError, gradcheck(f, {a, b}),
               "Jacobian mismatch for output 1 with respect to input 1: at output element [], input element [0, 0]: "
               "numerical 3, analytical 2");
  GradcheckOptions quiet;
  quiet.raise_exception = false;
  EXPECT_FALSE(gradcheck(f, {a, b}, quiet));
}

TEST(Gradcheck, FindsAMissingGradient) {
  EXPECT_ERROR(AutogradError, gradcheck([](const Tensor& t) { return Cube<4>::apply(t); }, leaf_of({2}, kDouble)),
               "numerical 12, analytical 0");
}

TEST(Gradcheck, FindsABackwardThatChangesItsMind) {
  EXPECT_ERROR(AutogradError, gradcheck([](const Tensor& t) { return Cube<3>::apply(t); }, leaf_of({2}, kDouble)),
               "not reentrant");
}

TEST(Gradgradcheck, FindsAGradientThatCannotBeDifferentiated) {
  auto f = [](const Tensor& t) { return Cube<2>::apply(t); };
  Tensor x = leaf_of({0.5, -1}, kDouble);
  EXPECT_TRUE(gradcheck(f, x));
  EXPECT_ERROR(AutogradError, gradgradcheck(f, x), "Jacobian mismatch");
}

TEST(Gradcheck, ComplexInputsAndOutputs) {
  Tensor z = empty({2}, kComplexDouble);
  z.data_ptr<std::complex<double>>()[0] = {0.3, -0.8};
  z.data_ptr<std::complex<double>>()[1] = {1.1, 0.4};
  z.requires_grad_();
  Tensor x = leaf_of({0.5, -1}, kDouble);
  auto product = [](const variable_list& in) { return variable_list{in[0] * in[1], in[0].exp() * in[0]}; };
  EXPECT_TRUE(gradcheck(product, {z, x}));
  EXPECT_TRUE(gradgradcheck(product, {z, x}));
  auto with_conjugate = [](const variable_list& in) { return variable_list{in[0].conj() * in[0] * in[1]}; };
  EXPECT_TRUE(gradcheck(with_conjugate, {z, x}));
  EXPECT_TRUE(gradgradcheck(with_conjugate, {z, x}));
  struct ForgetsConj : Function<ForgetsConj> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
      ctx->save_for_backward({x});
      return x * x;
    }
    static variable_list backward(AutogradContext* ctx, variable_list g) {
      return {g[0] * ctx->get_saved_variables()[0] * 2};
    }
  };
  EXPECT_ERROR(AutogradError, gradcheck([](const Tensor& t) { return ForgetsConj::apply(t); }, z), "(imaginary part)");
}

TEST(Gradcheck, KeepsTheLayoutOfItsInputs) {
  Tensor memory = tensor_of({1, 2, 3, 4, 5, 6}, {6}, kDouble);
  Tensor strided = memory.as_strided({2, 2}, {3, 2}, 0).detach().requires_grad_();
  std::vector<int64_t> seen;
  auto f = [&](const Tensor& t) {
    seen = t.strides().vec();
    return t * t;
  };
  EXPECT_TRUE(gradcheck(f, strided));
  EXPECT_EQ(seen, std::vector<int64_t>({3, 2}));
}

TEST(Gradcheck, SkipsWhatHasNoGradient) {
  Tensor x = leaf_of({0.5, -1}, kDouble), plain = tensor_of({2, 3}, {2}, kDouble);
  auto f = [](const variable_list& in) { return variable_list{in[0] * in[1], in[0].to(kLong)}; };
  EXPECT_TRUE(gradcheck(f, {x, plain}));
  EXPECT_TRUE(gradcheck([](const Tensor& t) { return t.sum(); }, zeros({0}, kDouble).requires_grad_()));
}

TEST(Gradcheck, RefusesWrongUse) {
  auto f = [](const Tensor& t) { return t * t; };
  EXPECT_ERROR(TypeError, gradcheck(f, leaf_of({1})), "input 0 has dtype float32 (expected float64 or complex128)");
  EXPECT_ERROR(ValueError, gradcheck(f, tensor_of({1}, {1}, kDouble)), "at least one input tensor to require gradient");
}

}  // namespace
}  // namespace cresset
