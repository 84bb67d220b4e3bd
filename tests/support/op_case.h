// OpCase: what the tests know about one op. From it the harness (tests/ops/op_case_test.cpp) makes forward tests in
// every dtype, gradient tests, layouts, in-place and out forms, meta, mock device, errors; parity and property tests
// use the same samples. The op is always called through the registry, so that what is tested is what is registered.
//
//   {.name = "exp",
//    .torch = "exp",
//    .samples = unary_samples,
//    .reference = elementwise([](Complex x) { return std::exp(x); }),
//    .result_dtype = floating}
#pragma once

#include <random>
#include <string>

#include "cresset/core/registry.h"
#include "tests/support/array.h"

namespace cresset::test {

inline const std::vector<DType> all_dtypes = {kUInt8, kInt8,   kInt16, kInt32,    kInt64,     kFloat16,
                                              kFloat, kDouble, kBool,  kBFloat16, kComplex64, kComplex128};
std::vector<DType> without(std::vector<DType> dtypes, std::initializer_list<DType> left_out);
inline const std::vector<DType> real_floats = {kFloat16, kBFloat16, kFloat, kDouble};
inline const std::vector<DType> floats = {kFloat16, kBFloat16, kFloat, kDouble, kComplex64, kComplex128};

// Makes sample tensors of one dtype. The same seed makes the same tensors.
class Make {
 public:
  explicit Make(DType dtype, uint64_t seed = 1) : dtype(dtype), random(seed) {}
  DType dtype;
  std::mt19937_64 random;

  // Distinct values away from zero (as far as the dtype has them), shuffled: small integers, or ±2.5.
  Tensor tensor(std::vector<int64_t> sizes) { return tensor(std::move(sizes), dtype); }
  Tensor tensor(std::vector<int64_t> sizes, DType of);
  Tensor integers(std::vector<int64_t> sizes, int64_t low, int64_t high, DType of = kInt64);  // low ≤ x < high
  Tensor condition(std::vector<int64_t> sizes) { return integers(std::move(sizes), 0, 2, kBool); }
  Tensor special();  // ±inf, nan, ±0 and ordinary numbers, in one dimension; ordinary ones where the dtype has none
  Tensor like_special();  // ordinary numbers and infinities to go with it
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
};

// The same values in other memory: dimensions stored in reverse order; every dimension with holes, at an offset.
Tensor reversed_layout(const Tensor& tensor);
Tensor layout_with_holes(const Tensor& tensor);

struct Sample {
  std::string label = {};
  Values arguments = {};             // the op's defaults fill in what is missing at the end
  bool differentiate = true;         // small and finite enough for finite differences
  bool values_decide_shape = false;  // cannot run on meta
};

// A sample's arguments, as a reference wants them.
class Arguments {
 public:
  Arguments(const Values& values, DType dtype) : dtype(dtype), values_(values) {}
  size_t size() const { return values_.size(); }
  bool given(size_t i) const { return i < values_.size() && !std::holds_alternative<std::monostate>(values_[i]); }
  Array array(size_t i) const;  // of a tensor or a number
  std::vector<Array> arrays(size_t i) const;
  Complex number(size_t i) const { return array(i).values.at(0); }
  int64_t integer(size_t i) const { return static_cast<int64_t>(number(i).real()); }
  bool flag(size_t i) const { return number(i) != 0.0; }
  std::vector<int64_t> integers(size_t i) const;
  DType dtype;  // the sample's
  const Value& operator[](size_t i) const { return values_.at(i); }

 private:
  const Values& values_;
};

using Samples = std::function<std::vector<Sample>(Make&)>;
using Reference = std::function<std::vector<Array>(const Arguments&)>;

struct ErrorCase {
  std::string label = {};
  std::function<Values(Make&)> arguments = nullptr;
  std::string text = {};      // must stand in the message
  bool torch_refuses = true;  // parity: PyTorch refuses it too
};

struct OpCase {
  std::string name = {}, overload = {};
  std::string torch = {};         // its schema in libtorch ("add.Tensor"), or
  std::string not_in_torch = {};  // why libtorch 1.13 has nothing to compare with
  Samples samples = nullptr;
  Reference reference = nullptr;
  std::vector<DType> dtypes = all_dtypes;
  std::vector<DType> refused = {};                     // dtypes that must throw
  std::function<DType(DType)> result_dtype = nullptr;  // of the first result, from the samples' dtype; null: the same
  double tolerance = 1;                                // times the dtype's own
  bool gradient = true, second_gradient = true;
  bool complex_gradient = true;  // where complex128 is among the dtypes
  // False where an input must stay symmetric, or triangular, or results are defined up to a factor: parity and a test
  // of its own check the gradient.
  bool finite_differences = true;
  double gradient_tolerance = 1e-5;
  std::vector<ErrorCase> errors = {};
  bool writes_self = false;                   // copy_, fill_: each call gets a self of its own
  bool same_bits_strided = true;              // any layout of the inputs gives the same bits
  bool same_bits_threads = true;              // any number of threads gives the same bits
  bool same_bits_in_place = true;             // the in-place form gives gradients of the same bits
  bool any_layout = true;                     // the inputs may be laid out in any way (not so for view and as_strided)
  bool values_known = true;                   // false for empty and random numbers: the reference gives the shape only
  bool repeatable = true;                     // false for empty: two calls need not give the same values
  std::vector<size_t> may_be_undefined = {};  // tensors without a default that may be left out all the same
  std::vector<size_t> constants = {};         // arguments that gradients are never asked for
  bool mixes_devices = false;                 // tensors of several devices are meant to meet
  std::string no_meta = {}, no_mock = {};     // why the op cannot run there
  std::vector<std::pair<DType, std::string>> untested = {};  // and why
  std::string family = {};                                   // filled in by all_cases()

  std::string full_name() const { return overload.empty() ? name : name + "_" + overload; }
  const Op& op() const;  // throws if the registry has none
};

DType floating(DType dtype);  // integers become the default dtype
DType summed(DType dtype);    // integers and bool become int64

// ---- samples and references that many ops share
std::vector<Sample> unary_samples(Make& make);
std::vector<Sample> binary_samples(Make& make);
// Samples whose first argument is one tensor of each usual shape, followed by more arguments made for that shape.
std::vector<Sample> shaped_samples(Make& make, const std::function<Values(const Tensor& self)>& rest);

Reference elementwise(std::function<Complex(Complex)> f);
Reference elementwise(std::function<Complex(Complex, Complex)> f);  // the first two arguments, broadcast
Reference elementwise(std::function<Complex(Complex, Complex, Complex)> f);
Array zipped(const Array& a, const Array& b, const std::function<Complex(Complex, Complex)>& f);  // broadcast

// ---- calling. The default generator is seeded before each call: random ops draw the same numbers every time.
void complete(const Op& op, Values& values);          // appends the defaults
Value default_of(const OpArgument& argument);         // throws if the text of the default is not understood
std::vector<Tensor> tensors_of(const Value& result);  // a bool result counts as a 0-d tensor
std::vector<Tensor> call(const Op& op, Values values);
// As call, but a written self is copied first, so that the arguments stay what they were.
std::vector<Tensor> call_fresh(const OpCase& op_case, Values values);
// Applies f to every tensor, also inside lists.
Values mapped(const Values& values, const std::function<Tensor(const Tensor&)>& f);
// The same arguments on another device (meta or mock); for ops without tensors, the device option is set.
Values on_device(const Values& values, DeviceType device);
// The tensors of floating and complex dtype that a case does not call constant.
std::vector<Tensor> differentiable_inputs(const OpCase& op_case, const Values& values);
// The arguments with those tensors replaced, in order.
Values with_inputs(const OpCase& op_case, const Values& values, const std::vector<Tensor>& inputs);

}  // namespace cresset::test
