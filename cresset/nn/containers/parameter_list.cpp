#include "cresset/nn/containers/parameter_list.h"

#include <ostream>
#include <unordered_map>

#include "cresset/core/print.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

namespace {

using Named = OrderedDict<std::string, Tensor>;

// As PyTorch does it: a single entry stays on the line.
void print(std::ostream& stream, const char* name, const Named& parameters) {
  if (print_style() == PrintStyle::libtorch) {
    stream << "torch::nn::" << name << "(\n";
    for (const auto& [key, tensor] : parameters)
      stream << '(' << key << "): Parameter containing: [" << toString(tensor.scalar_type()) << " of size "
             << text_of(tensor.sizes()) << "]\n";
    stream << ')';
    return;
  }
  const bool several = parameters.size() > 1;
  stream << name << "(";
  for (const auto& [key, tensor] : parameters) {
    stream << (several ? "\n    (" : "  (") << key << "): Parameter containing: [torch." << name_of(tensor.dtype())
           << " of size ";
    for (int64_t i = 0; i < tensor.dim(); i++) stream << (i ? "x" : "") << tensor.size(i);
    stream << (tensor.is_cuda() ? " (" + tensor.device().str() + ")]" : "]");
  }
  stream << (several ? "\n)" : ")");
}

// Copies under the same names; one tensor under two names stays one.
void copy_all(const Named& from, Named& into, const std::optional<Device>& device) {
  std::unordered_map<const void*, Tensor> copies;
  into.clear();
  for (const auto& [key, tensor] : from) {
    Tensor& copy = copies[tensor.impl()];
    if (!copy.defined() && tensor.defined()) {
      copy = tensor.detach().to(device.value_or(tensor.device()), tensor.dtype(), false, /*copy=*/true);
      copy.requires_grad_(tensor.requires_grad());
    }
    into.insert(key, copy);
  }
}

}  // namespace

void ParameterListImpl::append(const Tensor& parameter) {
  register_parameter(std::to_string(parameters_.size()), parameter, parameter.requires_grad());
}
Tensor& ParameterListImpl::at(size_t index) {
  CRESSET_CHECK_AS(IndexError, index < size(), "ParameterList: Index out of range: found ", index,
                   " (expected less than ", size(), ")");
  return parameters_[index].value();
}
void ParameterListImpl::pretty_print(std::ostream& stream) const { print(stream, "ParameterList", parameters_); }
std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>();
  copy_settings_into(*copy);
  copy->rebuild_as(*this, device);
  return copy;
}
bool ParameterListImpl::rebuild_as(const Module& original, const std::optional<Device>& device) {
  copy_all(static_cast<const ParameterListImpl&>(original).parameters_, parameters_, device);
  return true;
}

ParameterDictImpl::ParameterDictImpl(const OrderedDict<std::string, Tensor>& parameters) {
  for (const auto& [key, parameter] : parameters) insert(key, parameter);
}
void ParameterDictImpl::clear() { parameters_.clear(); }
std::vector<std::string> ParameterDictImpl::keys() const { return parameters_.keys(); }
std::vector<Tensor> ParameterDictImpl::values() const { return parameters_.values(); }
bool ParameterDictImpl::contains(const std::string& key) const noexcept { return parameters_.contains(key); }
const Tensor& ParameterDictImpl::get(const std::string& key) const { return parameters_[key]; }
Tensor& ParameterDictImpl::get(const std::string& key) { return parameters_[key]; }
Tensor& ParameterDictImpl::insert(std::string key, Tensor parameter) {
  bool requires_grad = parameter.requires_grad();
  return register_parameter(std::move(key), std::move(parameter), requires_grad);
}
Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor parameter = parameters_[key];
  parameters_.erase(key);
  return parameter;
}
void ParameterDictImpl::pretty_print(std::ostream& stream) const { print(stream, "ParameterDict", parameters_); }
std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterDictImpl>();
  copy_settings_into(*copy);
  copy->rebuild_as(*this, device);
  return copy;
}
bool ParameterDictImpl::rebuild_as(const Module& original, const std::optional<Device>& device) {
  copy_all(static_cast<const ParameterDictImpl&>(original).parameters_, parameters_, device);
  return true;
}

}  // namespace cresset::nn
