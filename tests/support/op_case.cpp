// Sample tensors, shared samples and references, and calls through the registry.
#include "tests/support/op_case.h"

#include <algorithm>
#include <limits>

#include "tests/support/mock_device.h"

namespace cresset::test {

std::vector<DType> without(std::vector<DType> dtypes, std::initializer_list<DType> left_out) {
  std::erase_if(dtypes, [&](DType t) { return std::find(left_out.begin(), left_out.end(), t) != left_out.end(); });
  return dtypes;
}

// ---- making tensors
Tensor Make::tensor(std::vector<int64_t> sizes, DType of) {
  Array array = Array::filled(std::move(sizes));
  auto n = static_cast<double>(array.values.size());
  bool whole = is_integral(of, true);
  for (size_t i = 0; i < array.values.size(); i++) {
    double at = static_cast<double>(i);
    if (of == kBool)
      array.values[i] = static_cast<double>(i % 2);
    else if (whole)
      array.values[i] = static_cast<double>(i % 11) - (of == kUInt8 ? 0 : 5);
    else  // a grid that leaves out zero
      array.values[i] = {5 * (at + 0.75) / n - 2.5, is_complex(of) ? 5 * (n - at) / (n + 1) - 2.4 : 0};
  }
  std::shuffle(array.values.begin(), array.values.end(), random);
  return tensor_of(array, of);
}

Tensor Make::integers(std::vector<int64_t> sizes, int64_t low, int64_t high, DType of) {
  Array array = Array::filled(std::move(sizes));
  for (Complex& value : array.values) value = static_cast<double>(between(low, high - 1));
  return tensor_of(array, of);
}

Tensor Make::special() {
  if (!is_floating_point(dtype)) return tensor({14});
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  return tensor_of({{14}, {inf, -inf, nan, 0.0, -0.0, 1, -1, inf, inf, nan, 1e30, -1e30, 2, 0}}, dtype);
}
Tensor Make::like_special() {
  if (!is_floating_point(dtype)) return tensor({14});
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  return tensor_of({{14}, {1, 1, 1, -0.0, -0.0, nan, inf, -inf, inf, nan, 1e30, 1e30, -inf, inf}}, dtype);
}

Tensor reversed_layout(const Tensor& tensor) {
  std::vector<int64_t> strides(static_cast<size_t>(tensor.dim()));
  int64_t step = 1;
  for (size_t i = 0; i < strides.size(); i++) {
    strides[i] = step;
    step *= std::max<int64_t>(tensor.sizes()[i], 1);
  }
  Tensor copy = empty_strided(tensor.sizes(), strides, TensorOptions(tensor.dtype()));
  write(copy, read(tensor));
  return copy;
}

Tensor layout_with_holes(const Tensor& tensor) {
  std::vector<int64_t> padded = tensor.sizes().vec();
  for (int64_t& size : padded) size = size * 2 + 1;
  Tensor room = empty_contiguous(padded, tensor.dtype(), kCPU);
  write(room, Array::filled(padded, 77));
  std::vector<int64_t> strides = room.strides().vec();
  int64_t offset = 0;
  for (int64_t& stride : strides) {
    offset += stride;
    stride *= 2;
  }
  Tensor copy = alias(room, tensor.sizes(), strides, tensor.numel() ? offset : 0);
  write(copy, read(tensor));
  return copy;
}

// ---- arguments
Array Arguments::array(size_t i) const {
  const Value& value = values_.at(i);
  if (auto* tensor = std::get_if<Tensor>(&value)) return read(*tensor);
  if (auto* scalar = std::get_if<Scalar>(&value)) return Array::number(scalar->toComplexDouble());
  if (auto* integer = std::get_if<int64_t>(&value)) return Array::number(static_cast<double>(*integer));
  if (auto* number = std::get_if<double>(&value)) return Array::number(*number);
  if (auto* flag = std::get_if<bool>(&value)) return Array::number(*flag ? 1 : 0);
  throw Error(message_of("test: argument ", i, " is not a number or tensor"));
}
std::vector<Array> Arguments::arrays(size_t i) const {
  std::vector<Array> list;
  for (const Tensor& tensor : std::get<std::vector<Tensor>>(values_.at(i))) list.push_back(read(tensor));
  return list;
}
std::vector<int64_t> Arguments::integers(size_t i) const {
  if (!given(i)) return {};
  if (auto* one = std::get_if<int64_t>(&values_.at(i))) return {*one};
  return std::get<std::vector<int64_t>>(values_.at(i));
}

const Op& OpCase::op() const {
  const Op* found = find_op(name, overload);
  CRESSET_CHECK(found, "test: the registry has no op ", name, overload.empty() ? "" : "." + overload);
  return *found;
}

DType floating(DType dtype) { return is_integral(dtype, true) ? default_dtype() : dtype; }
DType summed(DType dtype) { return is_integral(dtype, true) ? kInt64 : dtype; }

// ---- shared samples
std::vector<Sample> unary_samples(Make& make) {
  return {{"vector", {make.tensor({7})}},
          {"0-d", {make.tensor({})}},
          {"empty", {make.tensor({0, 3})}},
          {"3-d", {make.tensor({3, 4, 5})}},
          {"7-d", {make.tensor({2, 1, 2, 1, 3, 1, 2})}},
          {"expanded", {alias(make.tensor({4}), {3, 4}, {0, 1}, 0)}, false},
          {"inf and nan", {make.special()}, false},
          {"large", {make.tensor({201, 333})}, false}};
}

std::vector<Sample> binary_samples(Make& make) {
  return {{"same shape", {make.tensor({3, 4}), make.tensor({3, 4})}},
          {"0-d", {make.tensor({}), make.tensor({})}},
          {"0-d right", {make.tensor({5}), make.tensor({})}},
          {"0-d left", {make.tensor({}), make.tensor({5})}},
          {"empty", {make.tensor({0, 3}), make.tensor({3})}},
          {"broadcast", {make.tensor({2, 1, 4}), make.tensor({3, 1})}},
          {"row", {make.tensor({3, 4}), make.tensor({4})}},
          {"inf and nan", {make.special(), make.like_special()}, false},
          {"large", {make.tensor({201, 333}), make.tensor({201, 333})}, false},
          {"large broadcast", {make.tensor({203, 1}), make.tensor({1, 331})}, false}};
}

std::vector<Sample> shaped_samples(Make& make, const std::function<Values(const Tensor&)>& rest) {
  std::vector<Sample> samples = unary_samples(make);
  for (Sample& sample : samples)
    for (Value& more : rest(std::get<Tensor>(sample.arguments[0]))) sample.arguments.push_back(std::move(more));
  return samples;
}

// ---- shared references
Reference elementwise(std::function<Complex(Complex)> f) {
  return [f](const Arguments& in) {
    Array y = in.array(0);
    for (Complex& value : y.values) value = f(value);
    return std::vector{y};
  };
}
Array zipped(const Array& a, const Array& b, const std::function<Complex(Complex, Complex)>& f) {
  auto sizes = broadcast(a.sizes, b.sizes);
  Array y = broadcast_to(a, sizes), right = broadcast_to(b, sizes);
  for (size_t i = 0; i < y.values.size(); i++) y.values[i] = f(y.values[i], right.values[i]);
  return y;
}
Reference elementwise(std::function<Complex(Complex, Complex)> f) {
  return [f](const Arguments& in) { return std::vector{zipped(in.array(0), in.array(1), f)}; };
}
Reference elementwise(std::function<Complex(Complex, Complex, Complex)> f) {
  return [f](const Arguments& in) {
    Array a = in.array(0), b = in.array(1), c = in.array(2);
    auto sizes = broadcast(broadcast(a.sizes, b.sizes), c.sizes);
    Array y = broadcast_to(a, sizes), second = broadcast_to(b, sizes), third = broadcast_to(c, sizes);
    for (size_t i = 0; i < y.values.size(); i++) y.values[i] = f(y.values[i], second.values[i], third.values[i]);
    return std::vector{y};
  };
}

// ---- calling
static Value number_from(const std::string& text) {
  size_t end = 0;
  if (text.find_first_of(".e") == std::string::npos) {
    int64_t whole = std::stoll(text, &end);
    if (end == text.size()) return whole;
  }
  double number = std::stod(text, &end);
  CRESSET_CHECK(end == text.size(), "not a number: ", text);
  return number;
}

Value default_of(const OpArgument& argument) {
  const std::string &text = argument.default_value, &type = argument.type;
  if (text == "std::nullopt") return {};
  if (text == "true" || text == "false")
    return type == "Scalar" ? Value(Scalar(text == "true")) : Value(text == "true");
  if (text == "{}")
    return type == "options" ? Value(TensorOptions()) : type == "int[]" ? Value(std::vector<int64_t>()) : Value();
  if (type == "string" && text.size() >= 2 && text.front() == '"') return text.substr(1, text.size() - 2);
  if (text == "MemoryFormat::Contiguous") return MemoryFormat::Contiguous;
  if (text == "MemoryFormat::Preserve") return MemoryFormat::Preserve;
  if (text == "Reduction::Mean") return int64_t{1};
  try {
    if (type == "int[]" && text.front() == '{') {
      std::vector<int64_t> list;
      for (size_t at = 0; at < text.size() && text[at] != '}'; at = text.find_first_of(",}", at + 1))
        list.push_back(std::stoll(text.substr(at + 1)));
      return list;
    }
    Value number = number_from(text);
    if (type == "float" && std::holds_alternative<int64_t>(number))
      return static_cast<double>(std::get<int64_t>(number));
    if (type == "Scalar" && std::holds_alternative<int64_t>(number)) return Scalar(std::get<int64_t>(number));
    if (type == "Scalar") return Scalar(std::get<double>(number));
    return number;
  } catch (const std::exception&) {
    throw Error(message_of("default \"", text, "\" of argument ", argument.name, " (", type, ") is not understood"));
  }
}

void complete(const Op& op, Values& values) {
  std::vector<OpArgument> arguments = op.parsed_arguments();
  for (size_t i = values.size(); i < arguments.size(); i++) {
    CRESSET_CHECK(!arguments[i].default_value.empty(), "test: ", op.name, ": argument ", arguments[i].name,
                  " is missing and has no default");
    values.push_back(default_of(arguments[i]));
  }
}

std::vector<Tensor> tensors_of(const Value& result) {
  if (auto* tensor = std::get_if<Tensor>(&result)) return {*tensor};
  if (auto* list = std::get_if<std::vector<Tensor>>(&result)) return *list;
  if (auto* flag = std::get_if<bool>(&result)) return {tensor_of(Array::number(*flag ? 1 : 0), kBool)};
  return {};
}

std::vector<Tensor> call(const Op& op, Values values) {
  complete(op, values);
  manual_seed(7);
  return tensors_of(op.call(values));
}

// Memory of its own, so that writing it changes nobody's values: with the same strides, or with a place in the graph.
static Tensor copied(const Tensor& tensor) {
  bool overlaps = false;
  for (int64_t i = 0; i < tensor.dim(); i++) overlaps = overlaps || (tensor.size(i) > 1 && tensor.stride(i) == 0);
  return tensor.requires_grad() || overlaps ? tensor.clone() : twin(tensor);
}

std::vector<Tensor> call_fresh(const OpCase& op_case, Values values) {
  if (op_case.writes_self) values[0] = copied(std::get<Tensor>(values[0]));
  return call(op_case.op(), std::move(values));
}

Values mapped(const Values& values, const std::function<Tensor(const Tensor&)>& f) {
  Values out = values;
  for (Value& value : out) {
    if (auto* tensor = std::get_if<Tensor>(&value); tensor && tensor->defined()) *tensor = f(*tensor);
    if (auto* list = std::get_if<std::vector<Tensor>>(&value))
      for (Tensor& tensor : *list)
        if (tensor.defined()) tensor = f(tensor);
  }
  return out;
}

Values on_device(const Values& values, DeviceType device) {
  bool has_tensors = false;
  Values out = mapped(values, [&](const Tensor& tensor) {
    has_tensors = true;
    if (device == kMock) return on_mock(tensor);
    auto room = static_cast<int64_t>(tensor.impl()->storage->bytes / tensor.itemsize());
    Tensor flat = empty_contiguous(room, tensor.dtype(), device);
    return alias(flat, tensor.sizes(), tensor.strides(), tensor.storage_offset());
  });
  if (has_tensors) return out;
  for (Value& value : out)
    if (auto* options = std::get_if<TensorOptions>(&value)) *options = options->device(device);
  return out;
}

// Applies f to what a case may differentiate.
static Values mapped_inputs(const OpCase& op_case, const Values& values,
                            const std::function<Tensor(const Tensor&)>& f) {
  Values out = values;
  for (size_t i = 0; i < values.size(); i++) {
    if (std::find(op_case.constants.begin(), op_case.constants.end(), i) != op_case.constants.end()) continue;
    out[i] = mapped({values[i]}, [&](const Tensor& t) { return is_differentiable(t.dtype()) ? f(t) : t; })[0];
  }
  return out;
}

std::vector<Tensor> differentiable_inputs(const OpCase& op_case, const Values& values) {
  std::vector<Tensor> inputs;
  mapped_inputs(op_case, values, [&](const Tensor& tensor) {
    inputs.push_back(tensor);
    return tensor;
  });
  return inputs;
}

Values with_inputs(const OpCase& op_case, const Values& values, const std::vector<Tensor>& inputs) {
  size_t next = 0;
  return mapped_inputs(op_case, values, [&](const Tensor&) { return inputs.at(next++); });
}

}  // namespace cresset::test
