#include "cresset/nn/utils/parameters.h"

#include "cresset/ops/all.h"

namespace cresset::nn::utils {

namespace {
void check_one_device(const char* function, const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters)
    CRESSET_CHECK_AS(DeviceError, parameter.device() == parameters[0].device(), function,
                     ": Found two parameters on different devices, ", parameters[0].device().str(), " and ",
                     parameter.device().str());
}
}  // namespace

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  CRESSET_CHECK_AS(ValueError, !parameters.empty(), "parameters_to_vector: found no parameters");
  check_one_device("parameters_to_vector", parameters);
  std::vector<Tensor> flat;
  flat.reserve(parameters.size());
  for (const Tensor& parameter : parameters) flat.push_back(parameter.reshape({-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  check_one_device("vector_to_parameters", parameters);
  int64_t wanted = 0;
  for (const Tensor& parameter : parameters) wanted += parameter.numel();
  CRESSET_CHECK_AS(ShapeError, vec.dim() == 1 && vec.numel() >= wanted, "vector_to_parameters: found a vector of ",
                   vec.numel(), " elements in ", vec.dim(), " dimensions (expected ", wanted, " in 1)");
  NoGradGuard no_grad;
  int64_t at = 0;
  for (const Tensor& parameter : parameters) {
    parameter.detach().copy_(vec.slice(0, at, at + parameter.numel()).reshape(parameter.sizes()));
    at += parameter.numel();
  }
}

}  // namespace cresset::nn::utils
