// PyTorch's rules for views, in-place changes and leaves: each case is one piece of code that runs on Cresset's tensors
// and on libtorch's. What can be seen of the results must be the same: values, version, requires_grad, leaf, the node's
// name, the gradients, and whether and when an error is raised.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>

#include <cctype>
#include <sstream>

#include "cresset/cresset.h"

namespace {

template <class T>
struct Lib;
template <>
struct Lib<cresset::Tensor> {
  using Tensor = cresset::Tensor;
  using NoGrad = cresset::NoGradGuard;
  using Grad = cresset::AutoGradMode;
  using Inference = cresset::InferenceMode;
  static Tensor empty(cresset::IntArrayRef sizes) { return cresset::empty(sizes); }
  static constexpr auto kDouble = cresset::kDouble;
};
template <>
struct Lib<at::Tensor> {
  using Tensor = at::Tensor;
  using NoGrad = at::NoGradGuard;
  using Grad = at::AutoGradMode;
  using Inference = c10::InferenceMode;
  static Tensor empty(at::IntArrayRef sizes) { return at::empty(sizes); }
  static constexpr auto kDouble = at::kDouble;
};

template <class T>
T numbers(float first, std::initializer_list<int64_t> sizes) {
  std::vector<int64_t> shape(sizes);
  T x = Lib<T>::empty(shape);
  for (int64_t i = 0; i < x.numel(); i++) x.template data_ptr<float>()[i] = first + 0.25f * static_cast<float>(i);
  return x;
}

template <class T>
std::string text(const T& x) {
  if (!x.defined()) return "none";
  T flat = x.detach().to(Lib<T>::kDouble).contiguous();
  std::ostringstream out;
  for (int64_t i = 0; i < flat.numel(); i++) out << ' ' << flat.template data_ptr<double>()[i];
  return out.str();
}

// Without namespace and overload number: libtorch gives x * 2 another node in C++ than in Python.
std::string plain(std::string name) {
  if (size_t colon = name.rfind("::"); colon != std::string::npos) name = name.substr(colon + 2);
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) name.pop_back();
  return name;
}

template <class T>
std::string seen(const T& y) {
  std::ostringstream out;
  out << "requires_grad " << y.requires_grad() << ", leaf " << y.is_leaf();
  if (!y.is_inference()) out << ", version " << y._version();
  try {
    auto node = y.grad_fn();
    out << ", node " << (node ? plain(node->name()) : "none");
  } catch (const std::exception&) {
    out << ", node refused";
  }
  out << ", output " << y.output_nr() << ", values" << text(y);
  return out.str();
}

// What the code does, in words: the results, the phase in which it failed, the gradients.
template <class T, class Code>
std::string outcome(const Code& code, std::string& error) {
  T x = numbers<T>(1, {2, 3}).requires_grad_(true), w = numbers<T>(-2, {3}).requires_grad_(true),
    c = numbers<T>(3, {2, 3});
  std::vector<T> results;
  std::ostringstream out;
  try {
    results = code(x, w, c);
    for (const T& y : results) out << seen(y) << "\n";
  } catch (const std::exception& e) {
    error = e.what();
    return out.str() + "refused in forward; c" + text(c) + ", version " + std::to_string(c._version());
  }
  try {
    T total;
    for (const T& y : results)
      if (y.requires_grad()) total = total.defined() ? total + (y * y).sum() : (y * y).sum();
    if (total.defined()) total.backward();
  } catch (const std::exception& e) {
    error = e.what();
    return out.str() + "refused in backward";
  }
  out << "x.grad" << text(x.grad()) << "; w.grad" << text(w.grad());
  return out.str();
}

struct Case {
  const char* name;
  std::string (*ours)(std::string& error);
  std::string (*theirs)(std::string& error);
};

template <class Code>
Case make_case(const char* name, Code) {
  return {name, [](std::string& error) { return outcome<cresset::Tensor>(Code{}, error); },
          [](std::string& error) { return outcome<at::Tensor>(Code{}, error); }};
}

#define CASE(name, ...)                                                                                             \
  make_case(name, []<class T>([[maybe_unused]] T x, [[maybe_unused]] T w, [[maybe_unused]] T c) -> std::vector<T> { \
    __VA_ARGS__                                                                                                     \
  })

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
#include "autograd_cases.inc"
  };
  return list;
}

class AutogradParity : public testing::TestWithParam<size_t> {};

TEST_P(AutogradParity, SameAsLibtorch) {
  const Case& test = cases()[GetParam()];
  std::string our_error, their_error;
  std::string ours = test.ours(our_error), theirs = test.theirs(their_error);
  EXPECT_EQ(ours, theirs) << test.name << "\nour error: " << our_error << "\ntheir error: " << their_error;
}

INSTANTIATE_TEST_SUITE_P(Cases, AutogradParity, testing::Range(size_t{0}, cases().size()),
                         [](const testing::TestParamInfo<size_t>& info) { return cases()[info.param].name; });

}  // namespace
