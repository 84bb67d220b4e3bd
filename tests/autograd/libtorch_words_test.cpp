// What libtorch's programs expect of autograd: inference tensors, lists of inputs in custom functions, and words.
#include <gtest/gtest.h>

#include "cresset/autograd/autograd.h"
#include "cresset/core/warning.h"
#include "cresset/ops/all.h"
#include "tests/autograd/expect.h"

namespace cresset {
namespace {

using autograd::AutogradContext;
using autograd::Function;
using autograd::IndexRange;
using autograd::variable_list;

Tensor inference_tensor(bool requires_grad = true) {
  const autograd::InferenceMode inference;
  return ones({2}).set_requires_grad(requires_grad);
}

// ---- inference tensors in normal mode
TEST(InferenceTensors, are_not_recorded_in_normal_mode) {
  const Tensor s = inference_tensor();
  EXPECT_TRUE(s.requires_grad() && s.is_leaf());
  const Tensor y = s * s, view = s.view({1, 2}), part = s.select(0, 0);
  EXPECT_FALSE(y.requires_grad() || y.is_inference());
  EXPECT_TRUE(view.is_inference() && part.is_inference() && s.unbind(0)[0].is_inference());
  EXPECT_FALSE(view.requires_grad() || part.requires_grad() || s.unbind(0)[0].requires_grad());
}

TEST(InferenceTensors, mix_with_tensors_that_want_gradients) {
  const Tensor s = inference_tensor(), w = ones({2}).requires_grad_();
  const Tensor y = w + s;
  EXPECT_TRUE(y.requires_grad());
  y.sum().backward();
  EXPECT_TRUE(equal(w.grad(), ones({2})));
  EXPECT_FALSE(s.grad().defined());
  EXPECT_ERROR(AutogradError, w * s,
               "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal "
               "tensor and use it in autograd.");
}

TEST(InferenceTensors, are_not_written_in_normal_mode) {
  Tensor s = inference_tensor(false);
  const Tensor x = ones({2});
  const char* words = "Inplace update to inference tensor outside InferenceMode is not allowed";
  EXPECT_ERROR(AutogradError, s.add_(1), words);
  EXPECT_ERROR(AutogradError, mul_out(s, x, x), words);
  EXPECT_ERROR(AutogradError, cat_out(s, {x}), words);
  EXPECT_ERROR(AutogradError, sum_out(s, x, 0), words);
  EXPECT_ERROR(AutogradError, s.set_requires_grad(true),
               "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  EXPECT_ERROR(AutogradError, s._version(), "Inference tensors do not track version counter.");
  const InferenceMode inference;
  mul_out(s, x, x);
}

// ---- custom functions
struct SumOfList : Function<SumOfList> {
  static Tensor forward(AutogradContext* context, double factor, TensorList list, const Tensor& last) {
    context->saved_data["factor"] = factor;
    Tensor sum = last.clone();
    for (const Tensor& x : list) sum = sum + x * factor;
    return sum;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    seen = {context->needs_input_grad(0), context->needs_input_grad({IndexRange{0, 2}}),
            context->needs_input_grad({IndexRange{1, 2}}), context->needs_input_grad({{1, 2}, {2, 3}})};
    const double factor = context->saved_data["factor"].toDouble();
    return {Tensor(), grads[0] * factor, grads[0] * factor, grads[0]};
  }
  static inline std::vector<bool> seen;
};

TEST(CustomFunctions, take_the_tensors_of_a_list_as_inputs) {
  const Tensor a = ones({2}).requires_grad_(), b = ones({2}), c = ones({2}).requires_grad_();
  const std::vector<Tensor> list{a, b};
  SumOfList::apply(3.0, list, c).sum().backward();
  EXPECT_TRUE(equal(a.grad(), full({2}, 3.0)));
  EXPECT_FALSE(b.grad().defined());
  EXPECT_TRUE(equal(c.grad(), ones({2})));
  EXPECT_EQ(SumOfList::seen, (std::vector<bool>{true, true, false, true}));
}

template <int which>
struct Misbehaved : Function<Misbehaved<which>> {
  static variable_list forward(AutogradContext* context, Tensor x, int64_t) {
    if (which == 0) context->mark_dirty({x});
    if (which == 0) return {x * 2};
    if (which == 1) x.add_(1), context->mark_dirty({x});
    if (which == 1) return {x, x * 2};
    return {x * 2};
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    if (which == 2) return {grads[0]};
    if (which == 3) return {grads[0], grads[0]};
    return {ones({7}), Tensor()};
  }
};

TEST(CustomFunctions, fail_in_libtorchs_words) {
  const Tensor w = ones({2}).requires_grad_();
  EXPECT_ERROR(AutogradError, Misbehaved<0>::apply(w, 1),
               "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
               "are modified inplace must all be outputs of the Function.");
  EXPECT_ERROR(AutogradError, Misbehaved<1>::apply((w * 1).view({2}), 1),
               "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
               "return more than one Tensor. This is not supported by the current autograd engine.");
  EXPECT_ERROR(AutogradError, Misbehaved<2>::apply(w, 1)[0].sum().backward(),
               " returned an incorrect number of gradients (expected 2, got 1)");
  EXPECT_ERROR(AutogradError, Misbehaved<3>::apply(w, 1)[0].sum().backward(),
               " returned a gradient different that is defined at position 2, but the corresponding forward input was "
               "not a Variable");
  EXPECT_ERROR(AutogradError, Misbehaved<4>::apply(w, 1)[0].sum().backward(),
               " returned an invalid gradient at index 0 - got [7] but expected shape compatible with [2]");
}

// ---- the engine
TEST(Backward, refuses_an_empty_list_of_inputs) {
  const Tensor w = ones({2}).requires_grad_();
  EXPECT_ERROR(AutogradError, (w * 2).sum().backward({}, std::nullopt, false, std::vector<Tensor>{}),
               "'inputs' argument to backward cannot be empty");
  (w * 2).sum().backward({}, std::nullopt, false, std::vector<Tensor>{w});
  EXPECT_TRUE(w.grad().defined());
}

TEST(Backward, a_second_time_is_refused_in_libtorchs_words) {
  const Tensor w = ones({2}).requires_grad_();
  const Tensor y = (w * w).sum();
  y.backward();
  EXPECT_ERROR(AutogradError, y.backward(),
               "Trying to backward through the graph a second time (or directly access saved tensors after they have "
               "already been freed).");
  EXPECT_ERROR(AutogradError, autograd::grad({(w * 2).sum()}, {ones({1}).requires_grad_()}),
               "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True "
               "if this is the desired behavior.");
}

// ---- anomaly mode warns of the forward's place
TEST(AnomalyWarnings, name_the_forward_and_what_induced_it) {
  std::vector<std::string> heard;
  const WarningHandlerGuard guard([&](const Warning& warning) { heard.push_back(warning.text); });
  const autograd::DetectAnomalyGuard anomaly;
  Tensor x = tensor({5.0}).requires_grad_();
  Tensor y = x * x, z = y * y;
  y += 1;
  EXPECT_ERROR(AutogradError, z.backward(), "one of the variables needed for gradient computation has been modified");
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_NE(heard[0].find("Error detected in MulBackward0. Traceback of forward call that caused the error:"),
            std::string::npos)
      << heard[0];
  heard.clear();
  Tensor zero = tensor({0.0}).requires_grad_();
  const Tensor first = autograd::grad({zero.pow(1.5)}, {zero}, {}, true, /*create_graph=*/true)[0];
  EXPECT_ERROR(AutogradError, autograd::grad({first}, {zero}, {tensor({0.0})}),
               "returned nan values in its 0th output.");
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_NE(heard[0].find("Traceback of forward call that caused the error:"), std::string::npos);
  EXPECT_NE(heard[1].find("Previous calculation was induced by PowBackward0. Traceback of forward call that induced "
                          "the previous calculation:"),
            std::string::npos)
      << heard[1];
}

}  // namespace
}  // namespace cresset
