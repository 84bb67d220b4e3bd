// Everything is seen as a map between real numbers: a complex element is two of them. With L the real part of output
// element k (or its imaginary part), the gradient by a complex input is dL/dRe + i dL/dIm, PyTorch's convention.
#include "cresset/autograd/gradcheck.h"

#include <cmath>

#include "cresset/autograd/engine.h"
#include "cresset/core/generator.h"

namespace cresset::autograd {
namespace {

using TensorFunction = std::function<variable_list(const variable_list&)>;

// A wrong gradient, as opposed to wrong use; turned into `false` on request.
struct Mismatch {
  std::string text;
};

// A tensor's values as real numbers, in the order of its elements.
std::vector<double> real_values(const Tensor& x) {
  Tensor here = x.detach().to(Device(kCPU)).to(x.is_complex() ? kComplexDouble : kDouble).contiguous();
  const double* from = static_cast<const double*>(here.data_ptr());
  return {from, from + here.numel() * (x.is_complex() ? 2 : 1)};
}

std::string element_name(const Tensor& x, int64_t element) {
  Dims at = Dims::filled(static_cast<int>(x.dim()), 0);
  for (int i = static_cast<int>(x.dim()) - 1; i >= 0; i--) {
    at[i] = element % x.size(i);
    element /= x.size(i);
  }
  return text_of(at);
}

// The view of one element, to be written to.
Tensor element_of(const Tensor& x, int64_t element) {
  Tensor part = x;
  int64_t rest = x.numel();
  for (int i = 0; i < x.dim(); i++) {
    rest /= x.size(i);
    part = part.select(0, element / rest);
    element %= rest;
  }
  return part;
}

// A copy with the same strides, holes included: ops may take other paths for other layouts.
Tensor same_layout(const Tensor& x) {
  bool overlaps = false;
  int64_t extent = 1;
  for (int i = 0; i < x.dim(); i++) {
    overlaps = overlaps || (x.stride(i) == 0 && x.size(i) > 1);
    extent += (x.size(i) - 1) * x.stride(i);
  }
  if (overlaps || x.numel() == 0 || x.is_non_overlapping_and_dense()) return x.detach().clone();
  Tensor memory = x.new_zeros({extent});
  Tensor copy = memory.as_strided(x.sizes(), x.strides(), 0).detach();
  copy.copy_(x.detach());
  return copy;
}

void check_inputs(const char* what, const variable_list& inputs) {
  bool any = false;
  for (size_t i = 0; i < inputs.size(); i++) {
    if (!inputs[i].defined() || !inputs[i].requires_grad()) continue;
    any = true;
    CRESSET_CHECK_AS(TypeError, inputs[i].dtype() == kDouble || inputs[i].dtype() == kComplexDouble, what, ": input ",
                     i, " has dtype ", name_of(inputs[i].dtype()), " (expected float64 or complex128)");
  }
  CRESSET_CHECK_AS(ValueError, any, what,
                   ": expects at least one input tensor to require gradient, but none of the them have "
                   "requires_grad=true");
}

struct Checker {
  const TensorFunction& function;
  GradcheckOptions options;
  variable_list inputs;  // own copies
  variable_list outputs;

  variable_list evaluate() {
    NoGradGuard no_grad;
    variable_list results = function(inputs);
    for (Tensor& y : results)
      if (y.defined()) y = y.detach().clone();
    return results;
  }

  // d (every output) / d (one real component of one input element), by a central difference.
  std::vector<std::vector<double>> difference(size_t input, int64_t element, bool imaginary) {
    NoGradGuard no_grad;
    Tensor spot = element_of(inputs[input].detach(), element);
    Scalar value = spot.item(), step = options.eps;
    if (inputs[input].is_complex() && imaginary) step = std::complex<double>(0, options.eps);
    auto shifted = [&](double sign) {
      if (inputs[input].is_complex())
        spot.fill_(value.toComplexDouble() + sign * step.toComplexDouble());
      else
        spot.fill_(value.toDouble() + sign * step.toDouble());
      return evaluate();
    };
    variable_list up = shifted(1), down = shifted(-1);
    spot.fill_(value);
    std::vector<std::vector<double>> slopes(outputs.size());
    for (size_t o = 0; o < outputs.size(); o++) {
      if (!is_differentiable(outputs[o].dtype())) continue;
      std::vector<double> a = real_values(up[o]), b = real_values(down[o]);
      for (size_t k = 0; k < a.size(); k++) slopes[o].push_back((a[k] - b[k]) / (2 * options.eps));
    }
    return slopes;
  }

  // The gradients by all inputs of one real component of one output element.
  variable_list analytical(size_t output, int64_t element, bool imaginary) {
    const Tensor& y = outputs[output];
    Tensor v = y.new_zeros(y.sizes());
    if (imaginary)
      element_of(v, element).fill_(std::complex<double>(0, 1));
    else
      element_of(v, element).fill_(1);
    variable_list wanted;
    for (const Tensor& x : inputs)
      if (x.defined() && x.requires_grad()) wanted.push_back(x);
    variable_list found = grad({y}, wanted, {v}, /*retain_graph=*/true, /*create_graph=*/false, /*allow_unused=*/true);
    variable_list result(inputs.size());
    size_t next = 0;
    for (size_t i = 0; i < inputs.size(); i++)
      if (inputs[i].defined() && inputs[i].requires_grad()) result[i] = found[next++];
    return result;
  }

  void compare(size_t o, int64_t k, size_t i, int64_t j, bool imaginary_output, bool imaginary_input, double numerical,
               double analytical_value) const {
    double bound = options.atol + options.rtol * std::abs(numerical);
    if (std::abs(numerical - analytical_value) <= bound) return;
    if (std::isnan(numerical) && std::isnan(analytical_value)) return;
    throw Mismatch{
        message_of("gradcheck: Jacobian mismatch for output ", o, " with respect to input ", i, ": at output element ",
                   element_name(outputs[o], k), imaginary_output ? " (imaginary part)" : "", ", input element ",
                   element_name(inputs[i], j), imaginary_input ? " (imaginary part)" : "", ": numerical ", numerical,
                   ", analytical ", analytical_value, " (atol ", options.atol, ", rtol ", options.rtol, ")")};
  }

  void check_form(size_t o, size_t i, const Tensor& gradient) const {
    if (!(gradient.sizes() == inputs[i].sizes()) || gradient.dtype() != inputs[i].dtype())
      throw Mismatch{message_of("gradcheck: the gradient of output ", o, " with respect to input ", i, " has shape ",
                                text_of(gradient.sizes()), " and dtype ", name_of(gradient.dtype()), " (expected ",
                                text_of(inputs[i].sizes()), ", ", name_of(inputs[i].dtype()), ")")};
  }

  void check_repeatable(size_t o, const variable_list& once, const variable_list& again) const {
    for (size_t i = 0; i < once.size(); i++) {
      if (!once[i].defined()) continue;
      std::vector<double> a = real_values(once[i]), b = real_values(again[i]);
      for (size_t n = 0; n < a.size(); n++)
        if (std::abs(a[n] - b[n]) > options.nondet_tol)
          throw Mismatch{
              message_of("gradcheck: backward is not reentrant, i.e., running backward with same input and "
                         "grad_output multiple times gives different values: output ",
                         o, ", input ", i, ": ", a[n], " and ", b[n])};
    }
  }

  void run() {
    outputs = function(inputs);
    // gradients[output][component of its elements][input]: real components
    std::vector<std::vector<std::vector<std::vector<double>>>> found(outputs.size());
    for (size_t o = 0; o < outputs.size(); o++) {
      CRESSET_CHECK_AS(ValueError, outputs[o].defined(), "gradcheck: output ", o, " is undefined");
      if (!is_differentiable(outputs[o].dtype())) continue;
      int parts = outputs[o].is_complex() ? 2 : 1;
      for (int64_t c = 0; c < outputs[o].numel() * parts; c++) {
        std::vector<std::vector<double>> row(inputs.size());
        if (outputs[o].requires_grad()) {
          variable_list gradients = analytical(o, c / parts, c % parts);
          if (c == 0) check_repeatable(o, gradients, analytical(o, 0, false));
          for (size_t i = 0; i < inputs.size(); i++) {
            if (!gradients[i].defined()) continue;
            check_form(o, i, gradients[i]);
            row[i] = real_values(gradients[i]);
          }
        }
        found[o].push_back(std::move(row));
      }
    }
    for (size_t i = 0; i < inputs.size(); i++) {
      if (!inputs[i].defined() || !inputs[i].requires_grad()) continue;
      int input_parts = inputs[i].is_complex() ? 2 : 1;
      for (int64_t j = 0; j < inputs[i].numel() * input_parts; j++) {
        auto slopes = difference(i, j / input_parts, j % input_parts);
        for (size_t o = 0; o < outputs.size(); o++) {
          int64_t parts = outputs[o].is_complex() ? 2 : 1;
          for (size_t c = 0; c < slopes[o].size(); c++) {
            const std::vector<double>& row = found[o][c][i];
            compare(o, static_cast<int64_t>(c) / parts, i, j / input_parts, static_cast<int64_t>(c) % parts,
                    j % input_parts, slopes[o][c], row.empty() ? 0 : row[static_cast<size_t>(j)]);
          }
        }
      }
    }
  }
};

bool run_check(const TensorFunction& function, const variable_list& inputs, GradcheckOptions options) {
  AutoGradMode on(true);
  Checker checker{function, options, {}, {}};
  for (const Tensor& x : inputs) {
    Tensor copy = x.defined() ? same_layout(x) : Tensor();
    if (x.defined() && x.requires_grad()) copy.requires_grad_();
    checker.inputs.push_back(std::move(copy));
  }
  try {
    checker.run();
  } catch (const Mismatch& mismatch) {
    if (options.raise_exception) throw AutogradError(mismatch.text);
    return false;
  }
  return true;
}

// Numbers between -1 and 1, the same every time and nobody else's stream.
Tensor drawn_like(const Tensor& y, uint64_t stream) {
  Tensor here = empty_contiguous(y.sizes(), y.is_complex() ? kComplexDouble : kDouble, kCPU);
  auto* to = static_cast<double*>(here.data_ptr());
  int64_t count = y.numel() * (y.is_complex() ? 2 : 1);
  for (int64_t i = 0; i < count; i++) {
    PhiloxBlock block = philox(stream, static_cast<uint64_t>(i));
    to[i] = 2 * uniform_double(block[0], block[1]) - 1;
  }
  return here.to(y.device()).to(y.dtype());
}

}  // namespace

bool gradcheck(const TensorFunction& function, const variable_list& inputs, GradcheckOptions options) {
  check_inputs("gradcheck", inputs);
  return run_check(function, inputs, options);
}
bool gradcheck(const std::function<Tensor(const Tensor&)>& function, const Tensor& input, GradcheckOptions options) {
  return gradcheck([&](const variable_list& in) { return variable_list{function(in[0])}; }, variable_list{input},
                   options);
}

bool gradgradcheck(const TensorFunction& function, const variable_list& inputs, const variable_list& grad_outputs,
                   GradcheckOptions options) {
  check_inputs("gradgradcheck", inputs);
  variable_list vectors;
  if (grad_outputs.empty()) {
    uint64_t stream = 0;
    for (const Tensor& y : function(inputs))
      if (y.defined() && y.requires_grad()) vectors.push_back(drawn_like(y, stream++).requires_grad_());
  } else {
    for (const Tensor& v : grad_outputs) vectors.push_back(v.detach().clone().requires_grad_());
  }
  CRESSET_CHECK_AS(ValueError, !vectors.empty(), "gradgradcheck: no output requires grad");
  variable_list all = inputs;
  all.insert(all.end(), vectors.begin(), vectors.end());
  auto backward_of = [&function, count = inputs.size()](const variable_list& in) {
    AutoGradMode on(true);
    variable_list at(in.begin(), in.begin() + static_cast<ptrdiff_t>(count)), wanted, roots;
    variable_list v(in.begin() + static_cast<ptrdiff_t>(count), in.end());
    // Evaluated for a difference, the inputs still want their gradients here.
    for (const Tensor& x : at)
      if (x.defined() && x.requires_grad()) wanted.push_back(x);
    for (const Tensor& y : function(at))
      if (y.defined() && y.requires_grad()) roots.push_back(y);
    variable_list found = grad(roots, wanted, v, /*retain_graph=*/true, /*create_graph=*/true, /*allow_unused=*/true);
    for (size_t i = 0; i < found.size(); i++)
      if (!found[i].defined()) found[i] = wanted[i].new_zeros(wanted[i].sizes());
    return found;
  };
  return run_check(backward_of, all, options);
}
bool gradgradcheck(const std::function<Tensor(const Tensor&)>& function, const Tensor& input,
                   GradcheckOptions options) {
  return gradgradcheck([&](const variable_list& in) { return variable_list{function(in[0])}; }, variable_list{input},
                       {}, options);
}

}  // namespace cresset::autograd
