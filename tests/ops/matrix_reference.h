// What the matrix and convolution tests compare with: values as complex doubles, reproducible inputs, and gradients by
// finite differences.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "cresset/cresset.h"

namespace cresset::testing {

using Complex = std::complex<double>;
using Numbers = std::vector<Complex>;

// The elements in logical order, whatever the strides.
inline Numbers values_of(const Tensor& x) {
  const Tensor wide = x.detach().to(kComplexDouble).contiguous();
  const auto* data = static_cast<const Complex*>(wide.data_ptr());
  return {data, data + wide.numel()};
}

// Small numbers that do not repeat soon; whole ones for integer types.
inline Tensor numbers(IntArrayRef sizes, DType dtype = kDouble, int seed = 0) {
  Tensor x = empty(sizes, TensorOptions(kComplexDouble));
  auto* data = static_cast<Complex*>(x.data_ptr());
  uint32_t state = 12345u + static_cast<uint32_t>(seed) * 7919u;
  auto next = [&] {
    state = state * 1664525u + 1013904223u;
    const int whole = static_cast<int>((state >> 16) % 9) - (dtype == kUInt8 ? 0 : 4);
    return is_integral(dtype, true) ? whole : whole / 4.0 + static_cast<double>(state >> 24) / 1024.0;
  };
  for (int64_t i = 0; i < x.numel(); i++) {
    const double real = next(), imaginary = next();
    data[i] = Complex(real, is_complex(dtype) ? imaginary : 0);
  }
  return x.to(dtype);
}

inline double tolerance(DType dtype) {
  if (dtype == kBFloat16) return 2e-2;
  if (dtype == kHalf) return 2e-3;
  return dtype == kFloat || dtype == kComplexFloat ? 2e-5 : 1e-11;
}

inline void expect_close(const Tensor& x, const Numbers& wanted, double relative, const std::string& what = "") {
  const Numbers found = values_of(x);
  ASSERT_EQ(found.size(), wanted.size()) << what;
  double largest = 1;
  for (const Complex& w : wanted) largest = std::max(largest, std::abs(w));
  for (size_t i = 0; i < wanted.size(); i++)
    ASSERT_LE(std::abs(found[i] - wanted[i]), relative * largest)
        << what << ": element " << i << ": found " << found[i] << ", expected " << wanted[i];
}
inline void expect_close(const Tensor& x, const Tensor& wanted, double relative, const std::string& what = "") {
  ASSERT_TRUE(x.sizes() == wanted.sizes()) << what << ": " << text_of(x.sizes()) << text_of(wanted.sizes());
  expect_close(x, values_of(wanted), relative, what);
}

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Re(sum(conj(v) * f(x))): its gradient is what backward with v gives.
inline double weighted(const Function& f, const std::vector<Tensor>& x, const Tensor& v) {
  const Numbers y = values_of(f(x)), w = values_of(v);
  double sum = 0;
  for (size_t i = 0; i < y.size(); i++) sum += (std::conj(w[i]) * y[i]).real();
  return sum;
}

inline void check_first_derivatives(const Function& f, const std::vector<Tensor>& inputs, const std::string& what) {
  std::vector<Tensor> x;
  for (const Tensor& t : inputs) x.push_back(t.detach().clone().requires_grad_());
  const Tensor y = f(x);
  const Tensor v = numbers(y.sizes(), y.dtype(), 99);
  const auto found = autograd::grad({y}, x, {v}, std::nullopt, false, /*allow_unused=*/true);
  NoGradGuard no_grad;
  for (size_t which = 0; which < x.size(); which++) {
    Numbers wanted;
    Tensor varied = x[which].detach().clone();
    std::vector<Tensor> at = x;
    at[which] = varied;
    const int parts = varied.is_complex() ? 2 : 1;
    auto* data = static_cast<double*>(varied.data_ptr());
    const double h = 1e-5;
    for (int64_t i = 0; i < varied.numel(); i++) {
      double slope[2] = {0, 0};
      for (int part = 0; part < parts; part++) {
        double& number = data[i * parts + part];
        const double kept = number;
        number = kept + h;
        const double up = weighted(f, at, v);
        number = kept - h;
        slope[part] = (up - weighted(f, at, v)) / (2 * h);
        number = kept;
      }
      wanted.emplace_back(slope[0], slope[1]);
    }
    const Tensor gradient = found[which].defined() ? found[which] : zeros_like(x[which]);
    // numel order of a dense clone may differ from the logical one: inputs here are contiguous
    ASSERT_TRUE(varied.is_contiguous()) << what;
    expect_close(gradient, wanted, 1e-6, what + ", gradient of input " + std::to_string(which));
  }
}

// First derivatives of f, and of each of its gradients as a function of the inputs and of the gradient that came in.
inline void check_derivatives(const Function& f, const std::vector<Tensor>& inputs, const std::string& what) {
  check_first_derivatives(f, inputs, what);
  const Tensor y = f(inputs);
  std::vector<Tensor> more = inputs;
  more.push_back(numbers(y.sizes(), y.dtype(), 7));
  for (size_t which = 0; which < inputs.size(); which++) {
    Function gradient = [&, which](const std::vector<Tensor>& x) {
      AutoGradMode on(true);
      std::vector<Tensor> leaves;
      for (const Tensor& t : x) leaves.push_back(t.requires_grad() ? t : t.detach().requires_grad_());
      const std::vector<Tensor> own(leaves.begin(), leaves.end() - 1);
      return autograd::grad({f(own)}, {own[which]}, {leaves.back()}, true, /*create_graph=*/true)[0];
    };
    check_first_derivatives(gradient, more, what + ", second derivative " + std::to_string(which));
  }
}

template <class E, class F>
void expect_error(const F& f, const std::string& words) {
  try {
    f();
    FAIL() << "expected an error with: " << words;
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

}  // namespace cresset::testing
