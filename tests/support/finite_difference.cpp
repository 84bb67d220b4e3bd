// With L = sum over outputs of Re(conj(v) y), a gradient g promises dL = Re(conj(g) dx), also for complex x.
#include "tests/support/finite_difference.h"

#include <random>

#include "cresset/autograd/autograd.h"
#include "tests/support/array.h"

namespace cresset::test {
namespace {

std::vector<Tensor> leaves(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> copies;
  for (const Tensor& input : inputs) {
    Tensor copy = empty_strided(
        input.sizes(),
        input.is_non_overlapping_and_dense() ? input.strides() : IntArrayRef(contiguous_strides(input.sizes())),
        TensorOptions(input.dtype()));
    write(copy, read(input));
    copies.push_back(copy.requires_grad_());
  }
  return copies;
}

std::vector<Tensor> differentiable(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> some;
  for (const Tensor& output : outputs)
    if (is_differentiable(output.dtype())) some.push_back(output);
  return some;
}

double inner_product(const std::vector<Tensor>& v, const std::vector<Tensor>& y) {
  double sum = 0;
  for (size_t i = 0; i < v.size(); i++) {
    Array a = read(v[i]), b = read(y[i]);
    for (size_t j = 0; j < a.values.size(); j++) sum += (std::conj(a.values[j]) * b.values[j]).real();
  }
  return sum;
}

// The gradients that arrive; outputs without a graph send none.
std::vector<Tensor> backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                             const std::vector<Tensor>& v, bool create_graph) {
  std::vector<Tensor> roots, root_gradients;
  for (size_t i = 0; i < outputs.size(); i++) {
    if (!outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    root_gradients.push_back(v[i]);
  }
  std::vector<Tensor> gradients(inputs.size());
  if (!roots.empty()) gradients = autograd::grad(roots, inputs, root_gradients, create_graph, create_graph, true);
  for (size_t i = 0; i < inputs.size(); i++)
    if (!gradients[i].defined()) gradients[i] = tensor_of(Array::filled(inputs[i].sizes().vec()), inputs[i].dtype());
  return gradients;
}

// dL/dx of one input, by moving each of its elements (both parts of a complex one).
Array numeric_gradient(const Function& f, const std::vector<Tensor>& inputs, size_t which,
                       const std::vector<Tensor>& v) {
  constexpr double step = 1e-6;
  const Tensor& x = inputs[which];
  Array at = read(x), gradient = at;
  auto slope = [&](size_t i, Complex direction) {
    Complex before = at.values[i];
    double ends[2];
    for (int side = 0; side < 2; side++) {
      at.values[i] = before + direction * (side ? step : -step);
      write(x, at);
      ends[side] = inner_product(v, differentiable(f(inputs)));
    }
    at.values[i] = before;
    write(x, at);
    return (ends[1] - ends[0]) / (2 * step);
  };
  for (size_t i = 0; i < at.values.size(); i++)
    gradient.values[i] = {slope(i, 1), x.is_complex() ? slope(i, {0, 1}) : 0};
  return gradient;
}

// The gradients of f as a function of its inputs and of its outputs' gradients.
Function gradient_function(const Function& f, size_t input_count) {
  return [f, input_count](const std::vector<Tensor>& all) {
    std::vector<Tensor> inputs(all.begin(), all.begin() + static_cast<int64_t>(input_count));
    std::vector<Tensor> v(all.begin() + static_cast<int64_t>(input_count), all.end());
    AutoGradMode on(true);
    return backward(differentiable(f(inputs)), inputs, v, true);
  };
}

}  // namespace

std::vector<Tensor> random_like(const std::vector<Tensor>& outputs, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<Tensor> v;
  for (const Tensor& output : differentiable(outputs)) {
    Array array = Array::filled(output.sizes().vec());
    for (Complex& value : array.values) {
      double real = number(random), imaginary = number(random);
      value = {real, output.is_complex() ? imaginary : 0};
    }
    v.push_back(tensor_of(array, output.dtype()));
  }
  return v;
}

std::vector<Tensor> gradients_of(const Function& f, const std::vector<Tensor>& inputs,
                                 const std::vector<Tensor>& output_gradients) {
  for (const Tensor& input : inputs) input.requires_grad_();
  return backward(differentiable(f(inputs)), inputs, output_gradients, false);
}

::testing::AssertionResult gradients_match(const Function& f, const std::vector<Tensor>& inputs, double tolerance) {
  std::vector<Tensor> xs = leaves(inputs), ys = differentiable(f(xs)), v = random_like(ys);
  std::vector<Tensor> analytic = backward(ys, xs, v, false);
  NoGradGuard no_grad;
  for (size_t i = 0; i < xs.size(); i++) {
    if (!(analytic[i].sizes() == xs[i].sizes()) || analytic[i].dtype() != xs[i].dtype())
      return ::testing::AssertionFailure()
             << "the gradient of input " << i << " is " << analytic[i].dtype() << text_of(analytic[i].sizes())
             << ", the input " << xs[i].dtype() << text_of(xs[i].sizes());
    auto same = near(read(analytic[i]), numeric_gradient(f, xs, i, v), {tolerance, tolerance});
    if (!same) return ::testing::AssertionFailure() << "gradient of input " << i << ": " << same.message();
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult second_gradients_match(const Function& f, const std::vector<Tensor>& inputs,
                                                  double tolerance) {
  std::vector<Tensor> xs = leaves(inputs), all = xs;
  for (Tensor& v : random_like(f(xs), 23)) all.push_back(v);
  auto same = gradients_match(gradient_function(f, xs.size()), all, tolerance);
  if (!same)
    return ::testing::AssertionFailure() << "second derivative (inputs, then output gradients): " << same.message();
  return same;
}

}  // namespace cresset::test
