#include "cresset/nn/utils/weight_norm.h"

#include "cresset/ops/all.h"

namespace cresset::nn::utils {

namespace {

constexpr const char* kWeightNorm = "weight_norm";

Tensor norm_except(const Tensor& v, std::optional<int64_t> dim) {
  if (!dim || *dim == -1) return norm(v, Scalar(2));  // -1: PyTorch's word for all dimensions, not for the last
  std::vector<int64_t> others;
  int64_t kept = *dim < 0 ? *dim + v.dim() : *dim;
  for (int64_t i = 0; i < v.dim(); i++)
    if (i != kept) others.push_back(i);
  return others.empty() ? v.abs() : norm(v, Scalar(2), others, /*keepdim=*/true);
}

Tensor source(const Module& module, const std::string& name) {
  return module.named_parameters(/*recurse=*/false)[name];
}

// The shape of g says which dimension was kept: the one that is not 1, or none.
Tensor compute(const Module& module, const std::string& name) {
  Tensor g = source(module, name + "_g"), v = source(module, name + "_v");
  std::vector<int64_t> others;
  for (int64_t i = 0; i < g.dim(); i++)
    if (g.size(i) == 1) others.push_back(i);
  Tensor length = g.dim() == 0 ? norm(v, Scalar(2)) : others.empty() ? v.abs() : norm(v, Scalar(2), others, true);
  return v * (g / length);
}

}  // namespace

void weight_norm(ModuleRef module, const std::string& name, std::optional<int64_t> dim) {
  OrderedDict<std::string, Tensor> parameters = module->named_parameters(/*recurse=*/false);
  CRESSET_CHECK_AS(ValueError, parameters.contains(name) && module->computed_kind(name).empty(),
                   "weight_norm: ", short_name(*module), " has no parameter '", name, "'");
  Tensor weight = parameters[name].detach().clone();
  CRESSET_CHECK_AS(IndexError, !dim || (*dim >= -weight.dim() && *dim < weight.dim()), "weight_norm: found dim ",
                   dim.value_or(0), " (expected a dimension of '", name, "', which has ", weight.dim(), ")");
  module->register_computed(name, kWeightNorm, {name + "_g", name + "_v"},
                            [name](Module& self, AnyValues&) { self.set_computed(name, compute(self, name)); });
  module->register_parameter(name + "_g", norm_except(weight, dim).clone());
  module->register_parameter(name + "_v", weight);
  module->set_computed(name, compute(*module, name));
}

void remove_weight_norm(ModuleRef module, const std::string& name) {
  CRESSET_CHECK_AS(ValueError, module->computed_kind(name) == kWeightNorm, "remove_weight_norm: weight_norm of '", name,
                   "' not found in ", short_name(*module));
  NoGradGuard no_grad;
  module->unregister_computed(name, compute(*module, name));
}

}  // namespace cresset::nn::utils
