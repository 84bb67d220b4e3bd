// The harness: makes of every OpCase its tests, named Family/op.what. Nothing here knows any op.
#include <gtest/gtest.h>

#include "cresset/core/parallel.h"
#include "tests/ops/cases/cases.h"
#include "tests/support/finite_difference.h"
#include "tests/support/mock_device.h"

namespace cresset::test {
namespace {

bool is_small(const Sample& sample) {
  int64_t elements = 0;
  mapped(sample.arguments, [&](const Tensor& tensor) {
    elements = std::max(elements, tensor.numel());
    return tensor;
  });
  return elements <= 1000;
}

struct Layout {
  const char* name;
  Tensor (*make)(const Tensor&);
};
Tensor contiguous_layout(const Tensor& tensor) { return tensor_of(read(tensor), tensor.dtype()); }
constexpr Layout layouts[] = {{"reversed", reversed_layout}, {"with holes", layout_with_holes}};
constexpr Layout all_layouts[] = {{"contiguous", contiguous_layout}, layouts[0], layouts[1]};

DType first_dtype(const OpCase& c) {
  for (DType wanted : {kFloat, kDouble, kInt64})
    if (std::find(c.dtypes.begin(), c.dtypes.end(), wanted) != c.dtypes.end()) return wanted;
  return c.dtypes.front();
}
bool supports(const OpCase& c, DType dtype) {
  return std::find(c.dtypes.begin(), c.dtypes.end(), dtype) != c.dtypes.end();
}

const Op* form_of(const Op& functional, bool (Op::*is_form)() const) {
  for (const Op* op : all_ops())
    if (op->functional == &functional && (op->*is_form)()) return op;
  return nullptr;
}

// ---- values
void check_against_reference(const OpCase& c, const Values& values, DType dtype) {
  Values completed = values;
  complete(c.op(), completed);
  std::vector<Array> wanted = c.reference(Arguments(completed, dtype));
  std::vector<Tensor> found = call_fresh(c, values);
  ASSERT_EQ(found.size(), wanted.size()) << "number of results";
  for (size_t i = 0; i < found.size(); i++) {
    DType wanted_dtype = wanted[i].dtype != DType::Undefined ? wanted[i].dtype
                         : c.result_dtype && i == 0          ? c.result_dtype(dtype)
                                                             : dtype;
    EXPECT_EQ(found[i].dtype(), wanted_dtype) << "result " << i;
    EXPECT_EQ(found[i].sizes().vec(), wanted[i].sizes) << "result " << i;
    if (c.values_known) {
      EXPECT_TRUE(near(found[i], wanted[i], c.tolerance)) << "result " << i;
    }
  }
}

void forward(const OpCase& c, DType dtype) {
  Make make(dtype);
  for (const Sample& sample : c.samples(make)) {
    SCOPED_TRACE(sample.label);
    check_against_reference(c, sample.arguments, dtype);
    if (!c.any_layout || (!is_small(sample) && dtype != kFloat)) continue;
    for (const Layout& layout : layouts) {
      SCOPED_TRACE(layout.name);
      check_against_reference(c, mapped(sample.arguments, layout.make), dtype);
    }
  }
}

void leaves_inputs_alone(const OpCase& c) {
  Make make(first_dtype(c));
  for (const Sample& sample : c.samples(make)) {
    SCOPED_TRACE(sample.label);
    Values kept = mapped(sample.arguments, contiguous_layout);
    call_fresh(c, sample.arguments);
    std::vector<Tensor> before, after;
    auto into = [](std::vector<Tensor>& list) {
      return [&list](const Tensor& tensor) {
        list.push_back(tensor);
        return tensor;
      };
    };
    mapped(kept, into(before));
    mapped(sample.arguments, into(after));
    for (size_t i = 0; i < before.size(); i++) EXPECT_TRUE(same_bits(after[i], before[i])) << "tensor " << i;
  }
}

void compare_results(const OpCase& c, const std::vector<Tensor>& found, const std::vector<Tensor>& wanted,
                     bool bitwise) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); i++) {
    EXPECT_TRUE(bitwise ? same_bits(found[i], wanted[i]) : near(found[i], read(wanted[i]), c.tolerance))
        << "result " << i;
  }
}

void strided_like_contiguous(const OpCase& c) {
  Make make(first_dtype(c));
  for (const Sample& sample : c.samples(make)) {
    std::vector<Tensor> wanted = call_fresh(c, sample.arguments);
    for (const Layout& layout : layouts) {
      SCOPED_TRACE(sample.label + ", " + layout.name);
      compare_results(c, call_fresh(c, mapped(sample.arguments, layout.make)), wanted, c.same_bits_strided);
    }
  }
}

void same_on_two_threads(const OpCase& c) {
  int before = get_num_threads();
  Make make(first_dtype(c));
  for (const Sample& sample : c.samples(make)) {
    SCOPED_TRACE(sample.label);
    set_num_threads(1);
    std::vector<Tensor> wanted = call_fresh(c, sample.arguments);
    set_num_threads(2);
    compare_results(c, call_fresh(c, sample.arguments), wanted, c.same_bits_threads);
  }
  set_num_threads(before);
}

// ---- gradients
Function as_function(const OpCase& c, const Values& values) {
  return [&c, values](const std::vector<Tensor>& inputs) { return call_fresh(c, with_inputs(c, values, inputs)); };
}

void gradient(const OpCase& c, DType dtype, decltype(gradients_match)* match) {
  Make make(dtype);
  int checked = 0;
  for (const Sample& sample : c.samples(make)) {
    if (!sample.differentiate || !is_small(sample)) continue;
    SCOPED_TRACE(sample.label);
    EXPECT_TRUE(
        match(as_function(c, sample.arguments), differentiable_inputs(c, sample.arguments), c.gradient_tolerance));
    checked++;
  }
  EXPECT_GT(checked, 0) << "no sample is fit for finite differences";
}

Tensor in_double(const Tensor& tensor) {
  if (!is_differentiable(tensor.dtype())) return tensor;
  return tensor_of(read(tensor), tensor.is_complex() ? kComplex128 : kDouble);
}
std::vector<Tensor> all_of(const std::vector<Tensor>& tensors, Tensor (*f)(const Tensor&)) {
  std::vector<Tensor> out;
  for (const Tensor& tensor : tensors) out.push_back(f(tensor));
  return out;
}
Tensor fresh_leaf(const Tensor& tensor) { return alias(tensor); }

// What exact gradients are asked for in: complex numbers where the op takes nothing else.
DType gradient_dtype(const OpCase& c) { return supports(c, kDouble) ? kDouble : kComplex128; }

// The gradient in a smaller dtype against the one in double (which finite differences check) from the same numbers.
void gradient_like_double(const OpCase& c, DType dtype) {
  Make make(dtype);
  for (const Sample& sample : c.samples(make)) {
    if (!sample.differentiate) continue;
    SCOPED_TRACE(sample.label);
    Values wide = mapped(sample.arguments, in_double);
    std::vector<Tensor> v = random_like(call_fresh(c, sample.arguments));
    auto wanted =
        gradients_of(as_function(c, wide), all_of(differentiable_inputs(c, wide), fresh_leaf), all_of(v, in_double));
    auto inputs = all_of(differentiable_inputs(c, sample.arguments), fresh_leaf);
    auto found = gradients_of(as_function(c, sample.arguments), inputs, v);
    for (size_t i = 0; i < inputs.size(); i++) {
      EXPECT_EQ(found[i].dtype(), inputs[i].dtype());
      EXPECT_TRUE(near(found[i], read(wanted[i]), 4 * c.tolerance)) << "gradient of input " << i;
    }
  }
}

std::vector<Tensor> tensors_among(const Values& values) {
  std::vector<Tensor> tensors;
  mapped(values, [&](const Tensor& tensor) {
    tensors.push_back(tensor);
    return tensor;
  });
  return tensors;
}

// Between forward and backward one of the op's tensors is overwritten: backward must refuse, or not care.
void notices_changed_tensors(const OpCase& c) {
  Make make(gradient_dtype(c));
  Sample sample = c.samples(make).at(0);
  std::vector<Tensor> inputs = all_of(differentiable_inputs(c, sample.arguments), contiguous_layout);
  for (const Tensor& input : inputs) input.requires_grad_();
  Values values = with_inputs(c, sample.arguments, inputs);
  std::vector<Tensor> v = random_like(call_fresh(c, values));
  auto wanted = gradients_of(as_function(c, values), all_of(inputs, contiguous_layout), v);
  std::vector<Tensor> involved = tensors_among(values);
  size_t inputs_involved = involved.size();
  for (size_t i = 0; i < inputs_involved + v.size(); i++) {
    SCOPED_TRACE("tensor " + std::to_string(i) + (i < inputs_involved ? "" : ", a result"));
    Values fresh = mapped(sample.arguments, contiguous_layout);
    std::vector<Tensor> leaves = differentiable_inputs(c, fresh);
    Function overwriting = [&](const std::vector<Tensor>&) {
      std::vector<Tensor> results = call_fresh(c, fresh), all = tensors_among(fresh);
      all.insert(all.end(), results.begin(), results.end());
      NoGradGuard no_grad;
      if (i < all.size() && all[i].is_non_overlapping_and_dense())
        call(*find_op("fill_"), {all[i].detach(), Scalar(1)});
      return results;
    };
    try {
      auto found = gradients_of(overwriting, leaves, v);
      for (size_t k = 0; k < found.size(); k++)
        EXPECT_TRUE(near(found[k], read(wanted[k]), 1)) << "the wrong gradient of input " << k << ", and no error";
    } catch (const AutogradError& error) {
      EXPECT_NE(std::string(error.what()).find("inplace operation"), std::string::npos) << error.what();
    }
  }
}

// ---- in-place and out forms
bool fits_in_place(const Tensor& self, const Tensor& result) {
  return self.sizes() == result.sizes() && can_cast(result.dtype(), self.dtype());
}

void in_place_form(const OpCase& c, const Op& op, DType dtype) {
  Make make(dtype);
  for (const Sample& sample : c.samples(make)) {
    SCOPED_TRACE(sample.label);
    Tensor wanted = call(c.op(), sample.arguments).at(0);
    for (const Layout& layout : all_layouts) {
      SCOPED_TRACE(layout.name);
      Values values = sample.arguments;
      Tensor self = layout.make(std::get<Tensor>(values[0]));
      values[0] = self;
      if (!fits_in_place(self, wanted)) {
        EXPECT_THROW(call(op, values), Error) << "the result does not fit into self";
        continue;
      }
      uint32_t version = self._version();
      EXPECT_TRUE(call(op, values).at(0).is_same(self));
      EXPECT_TRUE(near(self, read(wanted), c.same_bits_strided ? 0 : c.tolerance));
      if (self.numel()) {
        EXPECT_GT(self._version(), version) << "an in-place op must advance the version";
      }
    }
  }
}

// x.clone().op_() must give x the gradient that op(x) gives.
void in_place_gradient(const OpCase& c, const Op& op) {
  Make make(gradient_dtype(c));
  for (const Sample& sample : c.samples(make)) {
    if (!sample.differentiate) continue;
    SCOPED_TRACE(sample.label);
    std::vector<Tensor> results = call(c.op(), sample.arguments);
    if (!fits_in_place(std::get<Tensor>(sample.arguments[0]), results.at(0))) continue;
    std::vector<Tensor> inputs = differentiable_inputs(c, sample.arguments), v = random_like(results);
    auto wanted = gradients_of(as_function(c, sample.arguments), all_of(inputs, fresh_leaf), v);
    Function written = [&](const std::vector<Tensor>& leaves) {
      Values values = with_inputs(c, sample.arguments, leaves);
      values[0] = std::get<Tensor>(values[0]).clone();
      return call(op, values);
    };
    auto found = gradients_of(written, all_of(inputs, fresh_leaf), v);
    for (size_t i = 0; i < inputs.size(); i++) {
      EXPECT_TRUE(c.same_bits_in_place ? same_bits(found[i], wanted[i]) : near(found[i], read(wanted[i]), 1))
          << "input " << i;
    }
  }
}

// The out form's arguments: those that the functional form has too by their names, the others are the outs.
Values out_values(const Op& op, Values values, const std::vector<Tensor>& outs) {
  complete(*op.functional, values);
  std::vector<OpArgument> known = op.functional->parsed_arguments();
  Values all;
  size_t next = 0;
  for (const OpArgument& argument : op.parsed_arguments()) {
    auto same = std::find_if(known.begin(), known.end(), [&](const OpArgument& k) { return k.name == argument.name; });
    all.push_back(same == known.end() ? Value(outs.at(next++)) : values[static_cast<size_t>(same - known.begin())]);
  }
  return all;
}

void check_out(const OpCase& c, const Op& op, const Sample& sample, const std::vector<Tensor>& outs,
               const std::vector<Tensor>& wanted) {
  std::vector<uint32_t> versions;
  for (const Tensor& out : outs) versions.push_back(out._version());
  std::vector<Tensor> returned = call(op, out_values(op, sample.arguments, outs));
  for (size_t i = 0; i < outs.size(); i++) {
    EXPECT_GT(outs[i]._version(), versions[i]) << "writing to out must advance its version";
    EXPECT_TRUE(returned.at(i).is_same(outs[i]));
    EXPECT_EQ(outs[i].dtype(), wanted[i].dtype());
    EXPECT_EQ(outs[i].sizes().vec(), wanted[i].sizes().vec());
    if (!c.repeatable) continue;
    EXPECT_TRUE(near(outs[i], read(wanted[i]), c.same_bits_strided ? 0 : c.tolerance)) << "out " << i;
  }
}

void out_form(const OpCase& c, const Op& op, DType dtype) {
  Make make(dtype);
  for (const Sample& sample : c.samples(make)) {
    SCOPED_TRACE(sample.label);
    std::vector<Tensor> wanted = call(c.op(), sample.arguments);
    for (const Layout& layout : all_layouts) {
      SCOPED_TRACE(layout.name);
      std::vector<Tensor> outs;
      for (const Tensor& result : wanted)
        outs.push_back(layout.make(tensor_of(Array::filled(result.sizes().vec(), 99), result.dtype())));
      check_out(c, op, sample, outs, wanted);
    }
    SCOPED_TRACE("an empty out is resized");
    std::vector<Tensor> outs;
    for (const Tensor& result : wanted) outs.push_back(empty_contiguous({0}, result.dtype(), kCPU));
    check_out(c, op, sample, outs, wanted);
  }
}

void out_form_refuses_gradients(const OpCase& c, const Op& op) {
  Make make(gradient_dtype(c));
  for (const Sample& sample : c.samples(make)) {
    SCOPED_TRACE(sample.label);
    std::vector<Tensor> inputs = all_of(differentiable_inputs(c, sample.arguments), fresh_leaf);
    if (inputs.empty()) continue;  // the case holds all of them fixed
    for (const Tensor& input : inputs) input.requires_grad_();
    std::vector<Tensor> outs;
    for (const Tensor& result : call(c.op(), sample.arguments))
      outs.push_back(empty_contiguous(result.sizes(), result.dtype(), kCPU));
    Values values = out_values(op, with_inputs(c, sample.arguments, inputs), outs);
    EXPECT_THROW(call(op, values), AutogradError);
    return;
  }
}

// ---- other devices
void meta(const OpCase& c) {
  Make make(first_dtype(c));
  for (const Sample& sample : c.samples(make)) {
    if (sample.values_decide_shape) continue;
    for (const Layout& layout : all_layouts) {
      SCOPED_TRACE(sample.label + ", " + layout.name);
      Values here = c.any_layout ? mapped(sample.arguments, layout.make) : sample.arguments;
      std::vector<Tensor> wanted = call_fresh(c, here), found = call_fresh(c, on_device(here, kMeta));
      ASSERT_EQ(found.size(), wanted.size());
      for (size_t i = 0; i < found.size(); i++) {
        EXPECT_TRUE(found[i].is_meta());
        EXPECT_TRUE(same_geometry(found[i], wanted[i])) << "result " << i;
      }
    }
  }
}

// Forward and backward with memory that faults outside kernels.
void mock(const OpCase& c) {
  DType dtype = first_dtype(c);
  Make make(dtype);
  for (const Sample& sample : c.samples(make)) {
    SCOPED_TRACE(sample.label);
    std::vector<Tensor> wanted = call_fresh(c, sample.arguments), found;
    Values there = on_device(sample.arguments, kMock);
    bool touched = touches_mock_memory([&] { found = call_fresh(c, there); });
    ASSERT_FALSE(touched) << c.name << " touches data outside a kernel";
    for (const Tensor& result : found) EXPECT_EQ(result.device().type(), kMock);
    if (c.repeatable) compare_results(c, found, wanted, true);
    if (!c.gradient || !sample.differentiate || !is_differentiable(dtype)) continue;
    std::vector<Tensor> v = random_like(wanted), gradients;
    auto here_gradients = gradients_of(as_function(c, sample.arguments),
                                       all_of(differentiable_inputs(c, sample.arguments), fresh_leaf), v);
    touched = touches_mock_memory([&] {
      gradients =
          gradients_of(as_function(c, there), all_of(differentiable_inputs(c, there), fresh_leaf), all_of(v, on_mock));
    });
    ASSERT_FALSE(touched) << "the gradient of " << c.name << " touches data outside a kernel";
    for (size_t i = 0; i < gradients.size(); i++)
      EXPECT_TRUE(near(read(gradients[i]), read(here_gradients[i]), {0, 0})) << "gradient of input " << i;
  }
}

// ---- refusals
void refuses_dtype(const OpCase& c, DType dtype) {
  Make make(dtype);
  for (const Sample& sample : c.samples(make)) {
    SCOPED_TRACE(sample.label);
    EXPECT_THROW(call_fresh(c, sample.arguments), Error);
  }
}

void gives_error(const OpCase& c, const ErrorCase& error) {
  Make make(first_dtype(c));
  Values values = error.arguments(make);
  try {
    call(c.op(), values);
    FAIL() << "no error (wanted \"" << error.text << "\")";
  } catch (const Error& thrown) {
    EXPECT_NE(std::string(thrown.what()).find(error.text), std::string::npos)
        << "found \"" << thrown.what() << "\", wanted \"" << error.text << "\"";
  }
}

// An undefined tensor where one is needed is an error that names the op and the argument, never a crash.
void refuses_undefined_tensors(const OpCase& c) {
  Make make(first_dtype(c));
  Sample sample = c.samples(make).at(0);
  complete(c.op(), sample.arguments);
  std::vector<OpArgument> arguments = c.op().parsed_arguments();
  for (size_t i = 0; i < arguments.size(); i++) {
    if (arguments[i].type != "Tensor" || arguments[i].optional || !arguments[i].default_value.empty()) continue;
    if (std::find(c.may_be_undefined.begin(), c.may_be_undefined.end(), i) != c.may_be_undefined.end()) continue;
    SCOPED_TRACE(arguments[i].name);
    Values values = sample.arguments;
    values[i] = Tensor();
    try {
      call(c.op(), values);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      std::string text = error.what();
      EXPECT_TRUE(text.starts_with(c.name + ": ")) << text;
      EXPECT_NE(text.find(arguments[i].name), std::string::npos) << text;
      EXPECT_NE(text.find("undefined"), std::string::npos) << text;
    }
  }
}

void refuses_mixed_devices(const OpCase& c) {
  Make make(first_dtype(c));
  Sample sample = c.samples(make).at(0);
  Values there = on_device(sample.arguments, kMeta);
  size_t tensors = 0;
  for (size_t i = 0; i < sample.arguments.size(); i++) {
    auto* tensor = std::get_if<Tensor>(&sample.arguments[i]);
    if (!tensor || !tensor->defined() || tensors++ == 0) continue;
    SCOPED_TRACE("argument " + std::to_string(i));
    Values values = sample.arguments;
    values[i] = there[i];
    EXPECT_THROW(call(c.op(), values), DeviceError);
  }
}

// ---- one case's tests
class CaseTest : public ::testing::Test {
 public:
  explicit CaseTest(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

class Tests {
 public:
  explicit Tests(const OpCase& c) : case_(c), suite_(c.family + "/" + c.full_name()) {}

  template <class F, class... Args>
  void add(const std::string& name, F f, Args... args) {
    const OpCase& c = case_;
    ::testing::RegisterTest(suite_.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [=, &c]() -> CaseTest* { return new CaseTest([=, &c] { f(c, args...); }); });
  }

  void add_all() {
    const OpCase& c = case_;
    for (DType dtype : c.dtypes) add(std::string("forward_") + name_of(dtype), forward, dtype);
    for (DType dtype : c.refused) add(std::string("refuses_") + name_of(dtype), refuses_dtype, dtype);
    add("leaves_its_inputs_alone", leaves_inputs_alone);
    if (c.any_layout && c.repeatable) add("strided_like_contiguous", strided_like_contiguous);
    if (c.repeatable) add("same_on_two_threads", same_on_two_threads);
    if (c.no_meta.empty()) add("meta_has_the_same_geometry", meta);
    if (c.no_mock.empty()) add("mock_device_touches_data_in_kernels_only", mock);
    for (const ErrorCase& error : c.errors) {
      add("error_" + error.label, [error](const OpCase& of) { gives_error(of, error); });
    }
    add("refuses_undefined_tensors", refuses_undefined_tensors);
    if (!c.mixes_devices) add("refuses_mixed_devices", refuses_mixed_devices);
    add("forms", [](const OpCase& of) { forms(of); });
    if (c.gradient) add_gradients();
  }

 private:
  void add_gradients() {
    const OpCase& c = case_;
    for (DType dtype : {kDouble, kComplex128}) {
      if (!c.finite_differences || !supports(c, dtype) || (dtype == kComplex128 && !c.complex_gradient)) continue;
      add(std::string("gradient_") + name_of(dtype), gradient, dtype, &gradients_match);
      if (c.second_gradient)
        add(std::string("second_gradient_") + name_of(dtype), gradient, dtype, &second_gradients_match);
    }
    add("notices_changed_tensors", notices_changed_tensors);
    // Results up to a factor may take another one in another dtype.
    if (!c.finite_differences && !c.values_known) return;
    for (DType dtype : {kHalf, kBFloat16, kFloat, kComplex64})
      if (supports(c, dtype) && (dtype != kComplex64 || c.complex_gradient))
        add(std::string("gradient_") + name_of(dtype), gradient_like_double, dtype);
  }

  // In-place and out, where the registry has them.
  static void forms(const OpCase& c) {
    const Op *in_place = form_of(c.op(), &Op::is_inplace), *out = form_of(c.op(), &Op::is_out);
    for (DType dtype : c.dtypes) {
      SCOPED_TRACE(name_of(dtype));
      if (in_place) in_place_form(c, *in_place, dtype);
      if (out) out_form(c, *out, dtype);
    }
    if (in_place && c.gradient) in_place_gradient(c, *in_place);
    if (out && c.gradient) out_form_refuses_gradients(c, *out);
  }

  const OpCase& case_;
  std::string suite_;
};

[[maybe_unused]] const bool registered = [] {
  for (const OpCase& c : all_cases()) Tests(c).add_all();
  return true;
}();

}  // namespace
}  // namespace cresset::test
