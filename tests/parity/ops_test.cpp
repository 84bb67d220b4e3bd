// The samples of every op case through Cresset and through libtorch: values, dtypes, strides, gradients, and what is
// refused. OpCase::torch gives each op's name there.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/dtype_exceptions.h"
#include "tests/parity/torch_bridge.h"
#include "tests/parity/torch_faults.h"
#include "tests/support/finite_difference.h"
#include "tests/support/mock_device.h"

namespace cresset::test {
namespace {

struct Outcome {
  std::vector<Tensor> results;
  std::string error;
};

Outcome outcome_of(const std::function<std::vector<Tensor>()>& f) {
  try {
    return {f(), ""};
  } catch (const std::exception& error) {
    std::string text = error.what();
    return {{}, text.substr(0, text.find('\n'))};
  }
}

Outcome torch_outcome(const OpCase& c, const Values& values) {
  return outcome_of([&] {
    std::vector<Tensor> results;
    for (const at::Tensor& result : call_torch(c.torch, values, tensors_to_torch(values)))
      results.push_back(from_torch(result));
    return results;
  });
}

// Strides by which nobody steps (of single elements, of nothing) are nobody's business.
::testing::AssertionResult same_layout(const Tensor& found, const Tensor& wanted) {
  bool same = found.sizes() == wanted.sizes() && found.dtype() == wanted.dtype();
  for (int64_t i = 0; same && found.numel() > 0 && i < found.dim(); i++)
    same = found.size(i) == 1 || found.stride(i) == wanted.stride(i);
  return same ? ::testing::AssertionSuccess() : same_geometry(found, wanted);
}

void compare(const OpCase& c, const Values& values) {
  Outcome torch = torch_outcome(c, values);
  Outcome ours = outcome_of([&] { return call(c.op(), c.writes_self ? mapped(values, twin) : values); });
  if (wrong_in_torch(c, values)) return;
  if (!torch.error.empty() && only_missing_in_torch(c, torch.error)) return;
  if (!torch.error.empty() || !ours.error.empty()) {
    EXPECT_EQ(torch.error.empty(), ours.error.empty())
        << "libtorch: \"" << torch.error << "\", Cresset: \"" << ours.error << "\"";
    return;
  }
  ASSERT_EQ(ours.results.size(), torch.results.size());
  for (size_t i = 0; i < ours.results.size(); i++) {
    EXPECT_TRUE(same_layout(ours.results[i], torch.results[i])) << "result " << i;
    if (!c.values_known) continue;
    EXPECT_TRUE(near(ours.results[i], read(torch.results[i]), 2 * c.tolerance)) << "result " << i;
  }
}

bool is_large(const Sample& sample) { return sample.label.find("large") != std::string::npos; }

// A dtype that Cresset refuses must be one that PyTorch refuses too, though it may notice only where there is work.
void refusal_parity(const OpCase& c, DType dtype) {
  Make make(dtype);
  bool refused = false;
  for (const Sample& sample : c.samples(make)) refused = refused || !torch_outcome(c, sample.arguments).error.empty();
  EXPECT_TRUE(refused) << name_of(dtype) << " works in libtorch";
}

// A dtype that a case neither tests nor calls refused: what libtorch computes is computed here too, to the same values,
// or an exception.
void probed_parity(const OpCase& c, DType dtype) {
  if (is_excepted(c, dtype)) return;
  Make make(dtype);
  for (const Sample& sample : c.samples(make)) {
    if (!torch_outcome(c, sample.arguments).error.empty()) continue;
    SCOPED_TRACE(std::string(name_of(dtype)) + ", " + sample.label + ": works in libtorch");
    compare(c, sample.arguments);
  }
}

void forward_parity(const OpCase& c) {
  for (DType dtype : c.refused) refusal_parity(c, dtype);
  for (DType dtype : all_dtypes)
    if (!std::count(c.dtypes.begin(), c.dtypes.end(), dtype) && !std::count(c.refused.begin(), c.refused.end(), dtype))
      probed_parity(c, dtype);
  for (DType dtype : c.dtypes) {
    Make make(dtype);
    for (const Sample& sample : c.samples(make)) {
      SCOPED_TRACE(std::string(name_of(dtype)) + ", " + sample.label);
      compare(c, sample.arguments);
      if (!c.any_layout || is_large(sample)) continue;
      SCOPED_TRACE("strided");
      compare(c, mapped(sample.arguments, reversed_layout));
      compare(c, mapped(sample.arguments, layout_with_holes));
    }
  }
}

std::vector<Tensor> torch_gradients(const OpCase& c, const Values& values, const std::vector<Tensor>& v) {
  std::vector<at::Tensor> tensors = tensors_to_torch(values), leaves;
  size_t at = 0;
  for (size_t i = 0; i < values.size(); i++) {
    bool constant = std::find(c.constants.begin(), c.constants.end(), i) != c.constants.end();
    for (size_t count = tensors_to_torch({values[i]}).size(); count > 0; count--) {
      at::Tensor& tensor = tensors[at++];
      if (constant || !tensor.defined() || (!tensor.is_floating_point() && !tensor.is_complex())) continue;
      leaves.push_back(tensor.requires_grad_());
      if (c.writes_self && leaves.size() == 1) tensor = tensor.clone();
    }
  }
  size_t next = 0;
  for (const at::Tensor& result : call_torch(c.torch, values, tensors)) {
    if (!result.is_floating_point() && !result.is_complex()) continue;
    at::Tensor gradient = to_torch(v.at(next++));
    if (result.requires_grad()) result.backward(gradient, /*retain_graph=*/true);
  }
  std::vector<Tensor> gradients;
  for (const at::Tensor& leaf : leaves) gradients.push_back(leaf.grad().defined() ? from_torch(leaf.grad()) : Tensor());
  return gradients;
}

void gradient_parity(const OpCase& c) {
  if (gradient_fails_in_torch(c)) return;
  for (DType dtype : c.dtypes) {
    if (!is_differentiable(dtype) || (is_complex(dtype) && !c.complex_gradient)) continue;
    Make make(dtype);
    for (const Sample& sample : c.samples(make)) {
      if (!sample.differentiate || only_missing_in_torch(c, torch_outcome(c, sample.arguments).error)) continue;
      if (wrong_in_torch(c, sample.arguments)) continue;
      SCOPED_TRACE(std::string(name_of(dtype)) + ", " + sample.label);
      std::vector<Tensor> v = random_like(call_fresh(c, sample.arguments)), wanted, inputs;
      try {
        wanted = torch_gradients(c, sample.arguments, v);
      } catch (const std::exception& error) {
        EXPECT_TRUE(only_missing_in_torch(c, error.what())) << error.what();
        continue;
      }
      for (const Tensor& input : differentiable_inputs(c, sample.arguments)) inputs.push_back(alias(input));
      auto found = gradients_of(
          [&](const std::vector<Tensor>& leaves) { return call_fresh(c, with_inputs(c, sample.arguments, leaves)); },
          inputs, v);
      ASSERT_EQ(found.size(), wanted.size());
      for (size_t i = 0; i < found.size(); i++) {
        if (!wanted[i].defined()) continue;
        EXPECT_EQ(found[i].dtype(), wanted[i].dtype());
        if (!c.values_known) continue;
        EXPECT_TRUE(near(found[i], read(wanted[i]), 4 * c.tolerance)) << "gradient of input " << i;
      }
    }
  }
}

void error_parity(const OpCase& c) {
  for (const ErrorCase& error : c.errors) {
    SCOPED_TRACE(error.label);
    Make make(c.dtypes.front() == kUInt8 ? kFloat : c.dtypes.front());
    Values values = error.arguments(make);
    EXPECT_EQ(!torch_outcome(c, values).error.empty(), error.torch_refuses);
  }
}

class ParityTest : public ::testing::Test {
 public:
  explicit ParityTest(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

void add_test(const OpCase& c, const char* name, void (*f)(const OpCase&)) {
  ::testing::RegisterTest(("Parity/" + c.full_name()).c_str(), name, nullptr, nullptr, __FILE__, __LINE__,
                          [&c, f]() -> ParityTest* { return new ParityTest([&c, f] { f(c); }); });
}

[[maybe_unused]] const bool registered = [] {
  for (const OpCase& c : all_cases()) {
    if (c.torch.empty()) continue;
    add_test(c, "forward_in_every_dtype", forward_parity);
    if (c.gradient) add_test(c, "gradient", gradient_parity);
    if (!c.errors.empty()) add_test(c, "errors", error_parity);
  }
  return true;
}();

// ---- across ops
std::vector<Tensor> one_of_each_kind(Make& make, DType dtype) {  // no zeros: they divide, too
  return {make.integers({2}, 1, 4, dtype), make.integers({}, 1, 4, dtype)};
}

}  // namespace

TEST(ParityTable, every_op_case_has_its_name_in_torch_or_a_reason) {
  for (const OpCase& c : all_cases()) EXPECT_NE(c.torch.empty(), c.not_in_torch.empty()) << c.full_name();
}

TEST(ParityPromotion, every_pair_of_dtypes_with_and_without_dimensions) {
  Make make(kFloat);
  for (const char* name : {"add", "mul", "div"})
    for (DType left : all_dtypes)
      for (DType right : all_dtypes)
        for (const Tensor& a : one_of_each_kind(make, left))
          for (const Tensor& b : one_of_each_kind(make, right)) {
            SCOPED_TRACE(
                message_of(name, ": ", name_of(left), text_of(a.sizes()), " and ", name_of(right), text_of(b.sizes())));
            compare(*find_case(name, ""), {a, b});
          }
}

TEST(ParityPromotion, every_dtype_with_each_kind_of_number) {
  Make make(kFloat);
  for (const char* name : {"add", "mul", "div"})
    for (DType dtype : all_dtypes)
      for (const Tensor& x : one_of_each_kind(make, dtype))
        for (const Scalar& number : {Scalar(true), Scalar(3), Scalar(1.5), Scalar(Complex(1, 2))}) {
          SCOPED_TRACE(message_of(name, ": ", name_of(dtype), text_of(x.sizes()), " and ", number));
          compare(*find_case(name, "Scalar"), {x, number});
        }
}

// The order of a result's dimensions follows from the inputs' strides by rules that are easy to get nearly right.
TEST(ParityStrides, of_pointwise_results_over_random_layouts) {
  Make make(kFloat, 7);
  auto random_tensor = [&](const std::vector<int64_t>& sizes) {
    std::vector<int64_t> order(sizes.size()), strides(sizes.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = static_cast<int64_t>(i);
    std::shuffle(order.begin(), order.end(), make.random);
    int64_t step = make.between(1, 2);
    for (int64_t dim : order) {
      auto d = static_cast<size_t>(dim);
      strides[d] = make.between(0, 9) == 0 ? 0 : step;
      step *= std::max<int64_t>(sizes[d], 1) + make.between(0, 4) / 4;
    }
    Tensor values = make.tensor(sizes), tensor = empty_strided(sizes, strides, TensorOptions(kFloat));
    write(tensor, read(values));
    return tensor;
  };
  for (int round = 0; round < 400; round++) {
    std::vector<int64_t> sizes(static_cast<size_t>(make.between(0, 5))), other;
    for (int64_t& size : sizes) size = make.between(0, 20) == 0 ? 0 : make.between(1, 4);
    other.assign(sizes.begin() + make.between(0, static_cast<int64_t>(sizes.size())), sizes.end());
    for (int64_t& size : other)
      if (make.between(0, 3) == 0) size = 1;
    Tensor a = random_tensor(sizes), b = random_tensor(other);
    SCOPED_TRACE(message_of("round ", round, ": ", text_of(a.sizes()), " strides ", text_of(a.strides()), ", ",
                            text_of(b.sizes()), " strides ", text_of(b.strides())));
    compare(*find_case("add", ""), {a, b});
    compare(*find_case("mul", ""), {b, a});
    compare(*find_case("exp", ""), {a});
    compare(*find_case("clone", ""), {a});
    if (HasFailure()) break;
  }
}

}  // namespace cresset::test
