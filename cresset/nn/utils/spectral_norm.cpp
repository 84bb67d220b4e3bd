#include "cresset/nn/utils/spectral_norm.h"

#include "cresset/ops/all.h"

namespace cresset::nn::utils {

namespace {

constexpr const char* kSpectralNorm = "spectral_norm";

struct Settings {
  std::string name;
  int64_t iterations;
  double eps;
  int64_t dim;
};

Tensor unit(const Tensor& vector, double eps) { return vector / norm(vector, Scalar(2)).clamp_min(eps); }

// A matrix whose rows are the outputs.
Tensor as_matrix(const Tensor& weight, int64_t dim) { return (dim == 0 ? weight : weight.movedim(dim, 0)).flatten(1); }

Tensor compute(Module& module, const Settings& settings, bool iterate) {
  Tensor weight = module.named_parameters(false)[settings.name + "_orig"];
  OrderedDict<std::string, Tensor> buffers = module.named_buffers(false);
  Tensor u = buffers[settings.name + "_u"], v = buffers[settings.name + "_v"];
  Tensor matrix = as_matrix(weight, settings.dim);
  if (iterate) {
    NoGradGuard no_grad;
    for (int64_t i = 0; i < settings.iterations; i++) {
      v.copy_(unit(mv(matrix.t(), u), settings.eps));
      u.copy_(unit(mv(matrix, v), settings.eps));
    }
  }
  // Copies: the next call changes the buffers while this call's graph may still need them.
  Tensor sigma = dot(u.clone(), mv(matrix, v.clone()));
  return weight / sigma;
}

}  // namespace

void spectral_norm(ModuleRef module, const std::string& name, int64_t n_power_iterations, double eps,
                   std::optional<int64_t> dim) {
  OrderedDict<std::string, Tensor> parameters = module->named_parameters(/*recurse=*/false);
  CRESSET_CHECK_AS(ValueError, parameters.contains(name), "spectral_norm: ", short_name(*module), " has no parameter '",
                   name, "'");
  CRESSET_CHECK_AS(
      ValueError, n_power_iterations > 0,
      "spectral_norm: Expected n_power_iterations to be positive, but got n_power_iterations=", n_power_iterations);
  int64_t outputs = dim.value_or(short_name(*module).starts_with("ConvTranspose") ? 1 : 0);
  Tensor weight = parameters[name].detach().clone();
  CRESSET_CHECK_AS(IndexError, weight.dim() >= 2 && outputs >= 0 && outputs < weight.dim(), "spectral_norm: found dim ",
                   outputs, " of '", name, "', which has ", weight.dim(), " dimensions");
  Settings settings{name, n_power_iterations, eps, outputs};
  module->register_computed(name, kSpectralNorm, {name + "_orig", name + "_u", name + "_v"},
                            [settings](Module& self, AnyValues&) {
                              self.set_computed(settings.name, compute(self, settings, self.is_training()));
                            });
  Tensor matrix = as_matrix(weight, outputs);
  module->register_parameter(name + "_orig", weight);
  module->register_buffer(name + "_u", unit(randn({matrix.size(0)}, weight.options()), eps));
  module->register_buffer(name + "_v", unit(randn({matrix.size(1)}, weight.options()), eps));
}

void remove_spectral_norm(ModuleRef module, const std::string& name) {
  CRESSET_CHECK_AS(ValueError, module->computed_kind(name) == kSpectralNorm, "remove_spectral_norm: spectral_norm of '",
                   name, "' not found in ", short_name(*module));
  NoGradGuard no_grad;
  Tensor weight = module->named_parameters(false)[name + "_orig"];
  // Whichever dimension holds the outputs has u's length; where several do, the lowest is the usual one.
  int64_t rows = module->named_buffers(false)[name + "_u"].size(0), dim = 0;
  while (weight.size(dim) != rows) dim++;
  module->unregister_computed(name, compute(*module, {name, 0, 0, dim}, /*iterate=*/false));
}

}  // namespace cresset::nn::utils
