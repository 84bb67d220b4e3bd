// Jacobians row by row with grad(); products with vectors on the right by differentiating backward's own dependence on
// its vector (the double-backward trick).
#include "cresset/autograd/functional.h"

#include "cresset/autograd/differentiable.h"
#include "cresset/autograd/engine.h"

namespace cresset::autograd::functional {
namespace {

// Inputs with a place of their own in the graph: a view of each, or a leaf where no graph is asked for.
variable_list prepared(const char* what, const variable_list& inputs, bool create_graph) {
  variable_list fresh;
  for (size_t i = 0; i < inputs.size(); i++) {
    CRESSET_CHECK_AS(AutogradError, inputs[i].defined(), what, ": input ", i, " is undefined");
    if (create_graph && inputs[i].requires_grad())
      fresh.push_back(inputs[i].view(inputs[i].sizes()));
    else
      fresh.push_back(inputs[i].detach().requires_grad_());
  }
  return fresh;
}

void check_outputs(const char* what, const variable_list& outputs, bool strict) {
  CRESSET_CHECK_AS(AutogradError, !outputs.empty(), what, ": the function returned no tensor");
  for (size_t i = 0; i < outputs.size(); i++) {
    CRESSET_CHECK_AS(AutogradError, outputs[i].defined(), what, ": output ", i,
                     " of the user-provided function is an undefined tensor");
    CRESSET_CHECK_AS(AutogradError, !strict || outputs[i].requires_grad(), what, ": output ", i,
                     " of the user-provided function does not require gradients. The outputs must be computed in a "
                     "differentiable manner from the input when running in strict mode");
  }
}

variable_list given_or_ones(const char* what, const char* whose, const variable_list& like, const variable_list& v) {
  if (v.empty()) {
    CRESSET_CHECK_AS(AutogradError, like.size() == 1 && like[0].numel() == 1, what,
                     ": the vector v can only be left out if there is one ", whose, " of one element");
    return {like[0].new_ones(like[0].sizes())};
  }
  CRESSET_CHECK_AS(AutogradError, v.size() == like.size(), what, ": found ", v.size(),
                   " vectors (expected one for each ", whose, ", ", like.size(), ")");
  for (size_t i = 0; i < v.size(); i++)
    CRESSET_CHECK_AS(ShapeError, v[i].sizes() == like[i].sizes(), what, ": v[", i, "] has shape ",
                     text_of(v[i].sizes()), " (expected the ", whose, "'s, ", text_of(like[i].sizes()), ")");
  return v;
}

// Gradients of the outputs that have a graph; undefined where there is no dependence.
variable_list gradients(const variable_list& outputs, const variable_list& inputs, const variable_list& v,
                        bool create_graph) {
  variable_list roots, at;
  for (size_t i = 0; i < outputs.size(); i++) {
    if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    at.push_back(v[i]);
  }
  if (roots.empty()) return variable_list(inputs.size());
  return grad(roots, inputs, at, /*retain_graph=*/true, create_graph, /*allow_unused=*/true);
}

void zeros_for_undefined(const char* what, variable_list& found, const variable_list& like, Options options,
                         const char* independence) {
  for (size_t i = 0; i < found.size(); i++) {
    CRESSET_CHECK_AS(AutogradError, found[i].defined() || !options.strict, what, ": ", independence, " ", i,
                     ". This is not allowed in strict mode");
    if (!found[i].defined()) found[i] = like[i].new_zeros(like[i].sizes());
    CRESSET_CHECK_AS(AutogradError, !options.strict || !options.create_graph || found[i].requires_grad(), what,
                     ": the derivative does not depend on the inputs (", independence, " ", i,
                     "), so it has no graph. This is not allowed in strict mode when create_graph=true");
  }
}

variable_list detached(variable_list tensors, bool create_graph) {
  if (!create_graph)
    for (Tensor& t : tensors) t = t.detach();
  return tensors;
}

// One row for each element, joined along a new first dimension.
Tensor stacked(const variable_list& rows, const Tensor& like) {
  Dims sizes(like.sizes());
  sizes.insert(0, static_cast<int64_t>(rows.size()));
  Tensor y = empty_contiguous(sizes, like.dtype(), like.device());
  {
    NoGradGuard no_grad;
    for (size_t i = 0; i < rows.size(); i++) y.select(0, static_cast<int64_t>(i)).copy_(rows[i]);
  }
  return differentiable("StackBackward0", Into{}, y, inputs(TensorList(rows)), saved(),
                        [](const Tensor& g, Wants wants) {
                          Grads each(wants.size());
                          for (size_t i = 0; i < wants.size(); i++)
                            if (wants(i)) each[i] = g.select(0, static_cast<int64_t>(i));
                          return each;
                        });
}

Dims joined(IntArrayRef a, IntArrayRef b) {
  Dims sizes(a);
  for (int64_t n : b) sizes.push_back(n);
  return sizes;
}

// d output / d inputs, by one backward per element of the output.
variable_list jacobian_rows(const Tensor& output, const variable_list& inputs, Options options) {
  std::vector<variable_list> rows(inputs.size());
  Tensor one_hot = output.new_zeros({output.numel()});
  for (int64_t e = 0; e < output.numel(); e++) {
    Tensor v = one_hot.clone();
    v.select(0, e).fill_(1);
    variable_list found = gradients({output}, inputs, {v.view(output.sizes())}, options.create_graph);
    zeros_for_undefined("jacobian", found, inputs, options,
                        "an output of the user-provided function is independent of input");
    for (size_t i = 0; i < inputs.size(); i++) rows[i].push_back(std::move(found[i]));
  }
  variable_list parts;
  for (size_t i = 0; i < inputs.size(); i++)
    parts.push_back(stacked(rows[i], inputs[i]).view(joined(output.sizes(), inputs[i].sizes())));
  return parts;
}

ListFunction as_list(const TensorFunction& function) {
  return [function](const variable_list& in) { return variable_list{function(in[0])}; };
}
variable_list one_or_none(const Tensor& v) { return v.defined() ? variable_list{v} : variable_list{}; }

}  // namespace

std::vector<variable_list> jacobian(const ListFunction& function, const variable_list& inputs, Options options) {
  AutoGradMode on(true);
  variable_list at = prepared("jacobian", inputs, options.create_graph);
  variable_list outputs = function(at);
  check_outputs("jacobian", outputs, options.strict);
  std::vector<variable_list> result;
  for (const Tensor& output : outputs)
    result.push_back(detached(jacobian_rows(output, at, options), options.create_graph));
  return result;
}
Tensor jacobian(const TensorFunction& function, const Tensor& input, Options options) {
  return jacobian(as_list(function), {input}, options)[0][0];
}

std::vector<variable_list> hessian(const ListFunction& function, const variable_list& inputs, Options options) {
  auto gradient = [&](const variable_list& at) {
    variable_list outputs = function(at);
    check_outputs("hessian", outputs, options.strict);
    CRESSET_CHECK_AS(ShapeError, outputs.size() == 1 && outputs[0].numel() == 1, "hessian: found ", outputs.size(),
                     " outputs, the first of shape ", text_of(outputs[0].sizes()),
                     " (expected one output of one element: a scalar)");
    Tensor y = outputs[0].reshape({});
    variable_list found = gradients({y}, at, {y.new_ones({})}, /*create_graph=*/true);
    zeros_for_undefined("hessian", found, at, {false, options.strict},
                        "the output of the user-provided function is independent of input");
    return found;
  };
  return jacobian(ListFunction(gradient), inputs, options);
}
Tensor hessian(const TensorFunction& function, const Tensor& input, Options options) {
  return hessian(as_list(function), {input}, options)[0][0];
}

Product vjp(const ListFunction& function, const variable_list& inputs, const variable_list& v, Options options) {
  AutoGradMode on(true);
  variable_list at = prepared("vjp", inputs, options.create_graph);
  variable_list outputs = function(at);
  check_outputs("vjp", outputs, options.strict);
  variable_list found = gradients(outputs, at, given_or_ones("vjp", "output", outputs, v), options.create_graph);
  zeros_for_undefined("vjp", found, at, options, "the outputs of the user-provided function are independent of input");
  return {detached(outputs, options.create_graph), detached(found, options.create_graph)};
}

Product jvp(const ListFunction& function, const variable_list& inputs, const variable_list& v, Options options) {
  AutoGradMode on(true);
  variable_list at = prepared("jvp", inputs, options.create_graph);
  variable_list outputs = function(at);
  check_outputs("jvp", outputs, options.strict);
  variable_list direction = given_or_ones("jvp", "input", at, v);
  variable_list dummies;  // backward is linear in these; its derivative by them is the jacobian, from the other side
  for (const Tensor& output : outputs) dummies.push_back(output.new_zeros(output.sizes()).requires_grad_());
  variable_list back = gradients(outputs, at, dummies, /*create_graph=*/true);
  if (options.strict)
    zeros_for_undefined("jvp", back, at, {false, true},
                        "the outputs of the user-provided function are independent of input");
  variable_list found = gradients(back, dummies, direction, options.create_graph);
  zeros_for_undefined("jvp", found, outputs, {options.create_graph, options.strict},
                      "the inputs have no influence on output");
  return {detached(outputs, options.create_graph), detached(found, options.create_graph)};
}

std::pair<Tensor, Tensor> vjp(const TensorFunction& function, const Tensor& input, const Tensor& v, Options options) {
  Product p = vjp(as_list(function), {input}, one_or_none(v), options);
  return {p.outputs[0], p.product[0]};
}
std::pair<Tensor, Tensor> jvp(const TensorFunction& function, const Tensor& input, const Tensor& v, Options options) {
  Product p = jvp(as_list(function), {input}, one_or_none(v), options);
  return {p.outputs[0], p.product[0]};
}

}  // namespace cresset::autograd::functional
