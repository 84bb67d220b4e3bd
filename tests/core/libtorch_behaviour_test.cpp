// What libtorch's programs expect of tensors, containers and warnings beside the names: results, refusals and words.
// The values and sentences are libtorch 1.13.1's own.
#include <gtest/gtest.h>

#include <future>

#include "cresset/torch.h"
#include "tests/core/expect_error.h"

namespace libtorch_behaviour_test {
namespace {

using namespace torch::indexing;

struct Style {
  explicit Style(torch::PrintStyle style) : before(torch::set_print_style(style)) {}
  ~Style() { torch::set_print_style(before); }
  torch::PrintStyle before;
};
template <class T>
std::string printed(const T& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

// ---- printing
TEST(LibtorchBehaviour, one_style_decides_how_tensors_print) {
  const torch::Tensor x = torch::tensor({{1.5, 2.0}, {3.0, 4.25}});
  {
    const Style style(torch::PrintStyle::libtorch);
    EXPECT_EQ(printed(x), " 1.5000  2.0000\n 3.0000  4.2500\n[ CPUFloatType{2,2} ]");
    EXPECT_EQ(printed(torch::Tensor()), "[ Tensor (undefined) ]");
  }
  const Style style(torch::PrintStyle::python);
  EXPECT_EQ(printed(x), "tensor([[1.5000, 2.0000],\n        [3.0000, 4.2500]])");
  EXPECT_EQ(printed(torch::zeros({1001})), "tensor([0., 0., 0.,  ..., 0., 0., 0.])");
}

// ---- at::tensor, default dtype, options
TEST(LibtorchBehaviour, at_tensor_keeps_cpp_types_and_makes_a_number_one_dimensional) {
  EXPECT_EQ(at::tensor(1).sizes(), at::IntArrayRef({1}));
  EXPECT_EQ(at::tensor(1).scalar_type(), at::kInt);
  EXPECT_EQ(at::tensor(1.5).scalar_type(), at::kDouble);
  EXPECT_EQ(at::tensor({1, 2}).scalar_type(), at::kInt);
  EXPECT_EQ(at::tensor(std::vector<int16_t>{1, 2}).scalar_type(), at::kShort);
  EXPECT_EQ(at::tensor({1.5, 2.5}, at::kFloat).scalar_type(), at::kFloat);
  EXPECT_EQ(torch::tensor(1).dim(), 0);
  EXPECT_EQ(torch::tensor(1).scalar_type(), torch::kLong);
}

TEST(LibtorchBehaviour, set_default_dtype_takes_an_integer_as_a_type_meta_only) {
  torch::set_default_dtype(caffe2::TypeMeta::Make<int>());
  EXPECT_EQ(torch::get_default_dtype(), torch::kInt);
  EXPECT_EQ(torch::TensorOptions().dtype(), torch::kInt);
  torch::set_default_dtype(caffe2::TypeMeta::Make<float>());
  EXPECT_ERROR(torch::TypeError, torch::set_default_dtype(torch::kInt),
               "only floating-point types are supported as the default type");
}

TEST(LibtorchBehaviour, options_name_the_sparse_layout_and_no_tensor_takes_it) {
  const auto options = torch::TensorOptions().dtype(torch::kInt).layout(torch::kSparse);
  EXPECT_EQ(options.layout(), torch::kSparse);
  EXPECT_EQ(options.layout(torch::kStrided).layout(), torch::kStrided);
  EXPECT_EQ(torch::TensorOptions(torch::kStrided).merge_in(options).layout(), torch::kSparse);
  EXPECT_EQ(options.merge_in(torch::kStrided).layout(), torch::kStrided);
  EXPECT_EQ(options.layout(c10::nullopt).layout(), torch::kStrided);
  EXPECT_EQ(printed(torch::kSparse), "Sparse");
  EXPECT_ERROR(torch::NotImplementedError, torch::zeros({2}, options), "zeros: found layout Sparse");
  EXPECT_ERROR(torch::NotImplementedError, torch::rand({2}, torch::kSparse), "found layout Sparse");
  EXPECT_ERROR(torch::NotImplementedError, torch::ones({2}).to(torch::TensorOptions(torch::kSparse)),
               "to(options) doesn't support converting to a different layout");
  EXPECT_EQ(torch::device_index(1).device(), torch::Device(torch::kCUDA, 1));
  EXPECT_EQ(torch::Device::Type::CPU, torch::kCPU);
}

TEST(LibtorchBehaviour, to_refuses_requires_grad) {
  const auto options = torch::TensorOptions(torch::kDouble).requires_grad(true);
  EXPECT_ERROR(torch::ValueError, torch::ones({2}).to(options),
               "Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set as true. "
               "This isn't implemented yet.");
  EXPECT_EQ(torch::ones({2}).to(options.requires_grad(false)).scalar_type(), torch::kDouble);
}

// ---- tensors and storages
TEST(LibtorchBehaviour, older_accessors_still_read) {
  const torch::Tensor x = torch::arange(6, torch::kFloat).view({2, 3});
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  EXPECT_EQ(x.data<float>(), x.data_ptr<float>());
  EXPECT_EQ((x.packed_accessor<float, 2>()[1][2]), 5);
#pragma GCC diagnostic pop
  const at::TensorBase& base = x;
  EXPECT_EQ(base.numel(), 6);
}

TEST(LibtorchBehaviour, a_storage_says_who_frees_it) {
  const torch::Tensor x = torch::ones({3});
  EXPECT_EQ(x.storage().mutable_data(), x.data_ptr());
  EXPECT_EQ(x.storage().data_ptr().get(), x.data_ptr());
  EXPECT_EQ(x.storage().data_ptr().get_context(), x.data_ptr());
  float values[4] = {};
  EXPECT_EQ(torch::from_blob(values, {4}).storage().data_ptr().get_context(), nullptr);
  EXPECT_NE(torch::from_blob(values, {4}, [](void*) {}).storage().data_ptr().get_context(), nullptr);
}

TEST(LibtorchBehaviour, alias_is_a_view_that_gradients_pass) {
  const torch::Tensor w = torch::ones({2}, torch::requires_grad());
  torch::Tensor y = (w * 3).t().alias();
  EXPECT_TRUE(y.is_view());
  EXPECT_EQ(y.grad_fn()->name(), "AliasBackward0");
  at::alias(y).mul_(2).sum().backward();
  EXPECT_TRUE(torch::equal(w.grad(), torch::full({2}, 6.0)));
}

TEST(LibtorchBehaviour, the_meta_namespace_tells_shapes) {
  const torch::Tensor y = at::meta::add(torch::ones({4}), torch::ones({3, 4}));
  EXPECT_TRUE(y.is_meta());
  EXPECT_EQ(y.sizes(), torch::IntArrayRef({3, 4}));
  EXPECT_EQ(at::meta::mean(torch::ones({3, 4}), 1).sizes(), torch::IntArrayRef({3}));
  EXPECT_EQ(at::meta::cat(std::vector<torch::Tensor>{torch::ones({2}), torch::ones({3})}, 0).numel(), 5);
}

TEST(LibtorchBehaviour, launch_runs_elsewhere_in_the_callers_mode) {
  std::promise<std::pair<bool, std::thread::id>> seen;
  {
    const torch::NoGradGuard no_grad;
    at::launch([&] { seen.set_value({torch::GradMode::is_enabled(), std::this_thread::get_id()}); });
  }
  auto result = seen.get_future();
  ASSERT_EQ(result.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  const auto [grad, thread] = result.get();
  EXPECT_FALSE(grad);
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(LibtorchBehaviour, a_traced_module_is_refused_with_what_to_do) {
  EXPECT_ERROR(torch::NotImplementedError, torch::jit::load("traced.pt"), "torch.save(model.state_dict()");
  EXPECT_ERROR(torch::NotImplementedError, torch::jit::load("traced.pt"), "\"traced.pt\"");
}

TEST(LibtorchBehaviour, a_missing_cuda_build_names_the_option) {
  if (torch::cuda::is_available()) return;
  std::string message;
  try {
    torch::ones({1}, torch::kCUDA);
  } catch (const c10::Error& error) {
    message = error.what();
  }
  const bool built = message.find("no CUDA device") != std::string::npos;
  EXPECT_TRUE(built || message.find("CRESSET_CUDA") != std::string::npos) << message;
}

// ---- indexing
TEST(LibtorchBehaviour, a_negative_step_fails_only_where_it_is_used) {
  const Slice backward(None, None, -1);
  EXPECT_EQ(backward.start(), INDEX_MAX);
  EXPECT_EQ(backward.stop(), INDEX_MIN);
  EXPECT_EQ(Slice(None, None, INDEX_MIN).step(), -INDEX_MAX);
  EXPECT_ERROR(torch::ValueError, torch::ones({3}).index({backward}), "step must be greater than zero");
  EXPECT_ERROR(torch::ValueError, Slice(0, 1, 0), "slice step cannot be zero");
}

TEST(LibtorchBehaviour, an_empty_index_list_is_refused) {
  torch::Tensor x = torch::ones({2, 3});
  EXPECT_ERROR(torch::IndexError, x.index({}), "Passing an empty index list to Tensor::index() is not valid syntax");
  EXPECT_ERROR(torch::IndexError, x.index_put_({}, 1),
               "Passing an empty index list to Tensor::index_put_() is not valid syntax");
}

// ---- containers
TEST(LibtorchBehaviour, an_ordered_dict_checks_its_bounds) {
  torch::OrderedDict<std::string, int> dict;
  EXPECT_ERROR(torch::IndexError, dict.front(), "Called front() on an empty OrderedDict");
  EXPECT_ERROR(torch::IndexError, dict.back(), "Called back() on an empty OrderedDict");
  EXPECT_ERROR(torch::IndexError, dict[size_t{0}], "Index 0 is out of bounds");
  dict.insert("a", 1);
  EXPECT_EQ(dict.front().value() + dict.back().value() + dict[size_t{0}].value(), 3);
  EXPECT_ERROR(torch::IndexError, dict[size_t{1}], "Index 1 is out of bounds");
}

TEST(LibtorchBehaviour, an_expanding_array_counts_its_values) {
  EXPECT_ERROR(torch::ValueError, torch::ExpandingArray<2>(std::vector<int64_t>{1, 2, 3}),
               "Expected 2 values, but instead got 3");
}

// ---- warnings
class Heard : public c10::WarningHandler {
 public:
  Heard() : before_(c10::WarningUtils::get_warning_handler()) { c10::WarningUtils::set_warning_handler(this); }
  ~Heard() override { c10::WarningUtils::set_warning_handler(before_); }
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
  int count(const std::string& part) const {
    int found = 0;
    for (const std::string& text : texts) found += text.find(part) != std::string::npos;
    return found;
  }
  std::vector<std::string> texts;

 private:
  c10::WarningHandler* before_;
};
class OlderHeard : public c10::WarningHandler {
 public:
  void process(const c10::SourceLocation&, const std::string& text, const bool) override { last = text; }
  std::string last;
};

TEST(LibtorchBehaviour, a_handler_in_libtorchs_form_hears_what_is_warned) {
  Heard heard;
  TORCH_WARN("one ", 1);
  TORCH_WARN_DEPRECATION("two");
  EXPECT_EQ(heard.texts, (std::vector<std::string>{"one 1", "two"}));
  {
    OlderHeard older;
    const c10::WarningUtils::WarningHandlerGuard guard(&older);
    TORCH_WARN("three");
    EXPECT_EQ(older.last, "three");
  }
  const c10::WarningUtils::WarnAlways always(true);
  EXPECT_TRUE(c10::WarningUtils::get_warnAlways());
  EXPECT_EQ(heard.texts.size(), 2U);
}

TEST(LibtorchBehaviour, a_function_set_later_hears_instead_and_the_handler_comes_back) {
  Heard heard;
  int own = 0;
  {
    const cresset::WarningHandlerGuard guard([&](const cresset::Warning&) { own++; });
    TORCH_WARN("for the function");
  }
  TORCH_WARN("for the handler");
  EXPECT_EQ(own, 1);
  EXPECT_EQ(heard.texts, (std::vector<std::string>{"for the handler"}));
  EXPECT_EQ(c10::WarningUtils::get_warning_handler(), &heard);
}

TEST(LibtorchBehaviour, a_handler_leaves_the_programs_function_below_it) {
  int own = 0;
  const cresset::WarningHandlerGuard guard([&](const cresset::Warning&) { own++; });
  {
    Heard heard;
    const cresset::WarningHandlerGuard inner([](const cresset::Warning&) {});
  }
  TORCH_WARN("for the function again");
  EXPECT_EQ(own, 1);
}

TEST(LibtorchBehaviour, deprecated_masks_are_warned_of) {
  Heard heard;
  torch::Tensor x = torch::ones({2});
  const torch::Tensor mask = torch::ones({2}, torch::kByte);
  x.index({mask});
  x.index({mask});
  x.masked_fill_(mask, 1);
  x.masked_select(mask);
  torch::where(mask, x, x);
  EXPECT_EQ(heard.count("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."),
            2);
  EXPECT_EQ(heard.count("masked_fill_ received a mask with dtype torch.uint8"), 1);
  EXPECT_EQ(heard.count("masked_select received a mask with dtype torch.uint8"), 1);
  EXPECT_EQ(heard.count("where received a uint8 condition tensor"), 1);
}

TEST(LibtorchBehaviour, the_gradient_of_no_leaf_is_warned_of) {
  Heard heard;
  const torch::Tensor w = torch::ones({2}, torch::requires_grad());
  const torch::Tensor y = w * 2;
  EXPECT_FALSE(y.grad().defined());
  EXPECT_EQ(heard.count("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed."), 1);
  y.retain_grad();
  EXPECT_FALSE(y.grad().defined() || w.grad().defined());
  EXPECT_EQ(heard.texts.size(), 1U);
}

TEST(LibtorchBehaviour, create_graph_is_warned_of) {
  Heard heard;
  const c10::WarningUtils::WarnAlways always;
  torch::Tensor w = torch::ones({2}, torch::requires_grad());
  w.pow(2).sum().backward({}, c10::nullopt, /*create_graph=*/true);
  w.mutable_grad() = torch::Tensor();
  EXPECT_EQ(heard.count("Using backward() with create_graph=True will create a reference cycle"), 1);
  torch::autograd::grad({w.pow(2).sum()}, {w}, {}, c10::nullopt, /*create_graph=*/true);
  EXPECT_EQ(heard.texts.size(), 1U);
}

TEST(LibtorchBehaviour, an_old_guard_says_that_it_is) {
  Heard heard;
  const c10::WarningUtils::WarnAlways always;
  const at::AutoNonVariableTypeMode guard;
  EXPECT_FALSE(torch::GradMode::is_enabled());
  EXPECT_EQ(heard.count("AutoNonVariableTypeMode is deprecated"), 1);
}

}  // namespace
}  // namespace libtorch_behaviour_test
