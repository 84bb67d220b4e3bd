// Values to IValues, by the types that the schema names.
#include "tests/parity/torch_bridge.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include <cstring>

namespace cresset::test {
namespace {

constexpr at::ScalarType torch_dtypes[kDTypes] = {at::kByte,         at::kChar,          at::kShort, at::kInt,
                                                  at::kLong,         at::kHalf,          at::kFloat, at::kDouble,
                                                  at::kComplexFloat, at::kComplexDouble, at::kBool,  at::kBFloat16};

DType from_torch_dtype(at::ScalarType dtype) {
  for (int i = 0; i < kDTypes; i++)
    if (torch_dtypes[i] == dtype) return static_cast<DType>(i);
  throw Error(message_of("parity: no such dtype here: ", c10::toString(dtype)));
}

at::IntArrayRef torch_ints(IntArrayRef list) { return {list.data(), list.size()}; }

at::Scalar torch_scalar(const Scalar& scalar) {
  if (scalar.isBoolean()) return scalar.toBool();
  if (scalar.isIntegral(false)) return scalar.toLong();
  if (scalar.isFloatingPoint()) return scalar.toDouble();
  std::complex<double> value = scalar.toComplexDouble();
  return c10::complex<double>(value.real(), value.imag());
}

bool is_tensor(const c10::TypePtr& type) { return type->isSubtypeOf(*c10::TensorType::get()); }

c10::IValue list_of(const std::vector<at::Tensor>& tensors, const c10::TypePtr& type) {
  if (type->isSubtypeOf(*c10::ListType::ofTensors())) return c10::List<at::Tensor>(tensors);
  c10::List<c10::optional<at::Tensor>> optional;
  for (const at::Tensor& tensor : tensors)
    optional.push_back(tensor.defined() ? c10::optional<at::Tensor>(tensor) : c10::nullopt);
  return optional;
}

c10::IValue number_for(const Value& value, const c10::TypePtr& type) {
  if (auto* scalar = std::get_if<Scalar>(&value)) return torch_scalar(*scalar);
  if (auto* integer = std::get_if<int64_t>(&value)) {
    if (type->kind() == c10::TypeKind::ListType) return std::vector<int64_t>{*integer};
    if (type->kind() == c10::TypeKind::NumberType) return at::Scalar(*integer);
    if (type->kind() == c10::TypeKind::FloatType) return static_cast<double>(*integer);
    return *integer;
  }
  if (auto* number = std::get_if<double>(&value)) return *number;
  if (auto* flag = std::get_if<bool>(&value)) return *flag;
  if (auto* dtype = std::get_if<DType>(&value)) return torch_dtype(*dtype);
  if (auto* format = std::get_if<MemoryFormat>(&value)) return static_cast<int64_t>(*format);  // the same order
  if (auto* text = std::get_if<std::string>(&value)) return *text;
  if (auto* ints = std::get_if<std::vector<int64_t>>(&value)) return *ints;
  throw Error(message_of("parity: an argument of kind ", value.index(), " cannot be carried over"));
}

}  // namespace

at::ScalarType torch_dtype(DType dtype) { return torch_dtypes[static_cast<int>(dtype)]; }

at::Tensor to_torch(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const StorageImpl& storage = *tensor.impl()->storage;
  auto room = static_cast<int64_t>(storage.bytes / tensor.itemsize());
  at::Tensor flat = at::empty({room}, torch_dtype(tensor.dtype()));
  if (storage.bytes) std::memcpy(flat.data_ptr(), storage.data, flat.nbytes());
  return at::as_strided(flat, torch_ints(tensor.sizes()), torch_ints(tensor.strides()), tensor.storage_offset())
      .detach();
}

Tensor from_torch(const at::Tensor& source) {
  at::Tensor tensor = source.detach().resolve_conj();
  if (tensor._is_zerotensor()) tensor = at::zeros(tensor.sizes(), tensor.options());  // it has no memory
  Tensor copy = empty_strided(tensor.sizes().vec(), tensor.strides().vec(),
                              TensorOptions(from_torch_dtype(tensor.scalar_type())));
  size_t bytes = copy.impl()->storage->bytes;
  if (bytes) std::memcpy(copy.impl()->storage->data, tensor.data_ptr(), bytes);
  return copy;
}

std::vector<at::Tensor> tensors_to_torch(const Values& values) {
  std::vector<at::Tensor> tensors;
  for (const Value& value : values) {
    if (auto* tensor = std::get_if<Tensor>(&value)) tensors.push_back(to_torch(*tensor));
    if (auto* list = std::get_if<std::vector<Tensor>>(&value))
      for (const Tensor& tensor : *list) tensors.push_back(to_torch(tensor));
  }
  return tensors;
}

std::vector<at::Tensor> call_torch(const std::string& schema, const Values& values,
                                   const std::vector<at::Tensor>& tensors) {
  size_t dot = schema.find('.');
  std::string name = "aten::" + schema.substr(0, dot),
              overload = dot == std::string::npos ? "" : schema.substr(dot + 1);
  c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload.c_str());
  const std::vector<c10::Argument>& arguments = op.schema().arguments();
  std::vector<c10::IValue> stack;
  size_t next = 0;
  auto type = [&] {
    c10::TypePtr found = arguments.at(stack.size()).type();
    return found->kind() == c10::TypeKind::OptionalType ? found->castRaw<c10::OptionalType>()->getElementType() : found;
  };
  for (const Value& value : values) {
    if (std::holds_alternative<Tensor>(value)) {
      stack.emplace_back(tensors.at(next++));
    } else if (auto* list = std::get_if<std::vector<Tensor>>(&value)) {
      std::vector<at::Tensor> some(tensors.begin() + static_cast<int64_t>(next),
                                   tensors.begin() + static_cast<int64_t>(next + list->size()));
      next += list->size();
      stack.push_back(list_of(some, type()));
    } else if (auto* options = std::get_if<TensorOptions>(&value)) {
      stack.push_back(options->dtype_opt() ? c10::IValue(torch_dtype(*options->dtype_opt())) : c10::IValue());
      stack.resize(stack.size() + 3);  // layout, device, pin_memory
    } else if (std::holds_alternative<std::monostate>(value)) {
      stack.push_back(is_tensor(type()) ? c10::IValue(at::Tensor()) : c10::IValue());
    } else {
      stack.push_back(number_for(value, type()));
    }
  }
  while (stack.size() < arguments.size()) stack.push_back(arguments[stack.size()].default_value().value());
  op.callBoxed(&stack);
  std::vector<at::Tensor> results;
  for (const c10::IValue& result : stack) {
    if (result.isTensor())
      results.push_back(result.toTensor());
    else if (result.isBool())
      results.push_back(at::scalar_tensor(result.toBool(), at::kBool));
    else
      for (const at::Tensor& one : result.toTensorVector()) results.push_back(one);
  }
  return results;
}

}  // namespace cresset::test
