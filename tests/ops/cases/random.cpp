// Cases of ops/random. The harness seeds before each call: what layouts, threads and devices give must be the same
// numbers. How they are distributed is a matter for random_test.cpp.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

Reference shaped_like_self() {
  return [](const Arguments& in) { return std::vector{Array::filled(in.array(0).sizes)}; };
}
Reference shaped_by(size_t argument) {
  return [argument](const Arguments& in) { return std::vector{Array::filled(in.integers(argument))}; };
}
// What `front` gives, a size, options of the dtype.
Samples sized(const Values& front = {}) {
  return [front](Make& make) {
    std::vector<Sample> samples;
    for (const Ints& shape : std::vector<Ints>{{}, {7}, {0, 3}, {2, 3, 4}, {201, 333}}) {
      Values arguments = front;
      arguments.push_back(shape);
      arguments.push_back(TensorOptions(make.dtype));
      samples.push_back({text_of(shape), arguments, false});
    }
    return samples;
  };
}
// Probabilities of each usual shape.
Tensor probabilities(Make& make, const Ints& sizes) {
  Array array = Array::filled(sizes);
  for (Complex& value : array.values) value = static_cast<double>(make.between(1, 7)) / 8;
  return tensor_of(array, make.dtype);
}

std::vector<OpCase> all_random_cases() {
  const std::vector<DType> whole = {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool};
  const std::vector<DType> complex = {kComplex64, kComplex128};
  const std::vector<DType> real = without(all_dtypes, {kComplex64, kComplex128});
  const std::vector<DType> numbers = without(all_dtypes, {kComplex64, kComplex128, kBool});
  return {
      {.name = "uniform_",
       .torch = "uniform_",
       .samples = self_and({-1.0, 2.0}),
       .reference = shaped_like_self(),
       .dtypes = floats,
       .refused = whole,
       .errors = {{"range",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), 2.0, 1.0};
                   },
                   "uniform_: uniform_ expects to return a [from, to) range, but found from=2 > to=1"}},
       .writes_self = true},
      {.name = "normal_",
       .torch = "normal_",
       .samples = self_and({1.0, 2.0}),
       .reference = shaped_like_self(),
       .dtypes = floats,
       .refused = whole,
       .errors = {{"std",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), 0.0, -1.0};
                   },
                   "normal_: normal expects std >= 0.0, but found std -1"}},
       .writes_self = true},
      {.name = "random_",
       .torch = "random_",
       .samples = self_and(),
       .reference = shaped_like_self(),
       .dtypes = real,
       .refused = complex,
       .writes_self = true},
      {.name = "random_",
       .overload = "to",
       .torch = "random_.to",
       .samples = self_and({int64_t{2}}),
       .reference = shaped_like_self(),
       .dtypes = real,
       .refused = complex,
       .errors = {{"range",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), int64_t{0}};
                   },
                   "random_: random_ expects 'from' to be less than 'to', but got from=0 >= to=0"}},
       .writes_self = true},
      {.name = "random_",
       .overload = "from",
       .torch = "random_.from",
       .samples = self_and({int64_t{0}, int64_t{2}}),
       .reference = shaped_like_self(),
       .dtypes = real,
       .refused = complex,
       .writes_self = true},
      {.name = "bernoulli_",
       .torch = "bernoulli_.float",
       .samples = self_and({0.25}),
       .reference = shaped_like_self(),
       .errors = {{"p",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), 1.5};
                   },
                   "bernoulli_: expects p to be in [0, 1], but got p=1.5"}},
       .writes_self = true},
      {.name = "bernoulli_",
       .overload = "Tensor",
       .torch = "bernoulli_.Tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vector", {m.tensor({7}), tensor_of(Array::filled({7}, 0.5), kDouble)}},
                 {"large", {m.tensor({201, 333}), tensor_of(Array::filled({201, 333}, 0.5), kDouble)}, false}};
       },
       .reference = shaped_like_self(),
       .writes_self = true},
      {.name = "bernoulli",
       .torch = "bernoulli",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vector", {probabilities(m, {7})}},
                 {"0-d", {probabilities(m, {})}},
                 {"3-d", {probabilities(m, {2, 3, 4})}},
                 {"large", {probabilities(m, {201, 333})}, false}};
       },
       .reference = shaped_like_self(),
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble})},
      {.name = "bernoulli",
       .overload = "p",
       .torch = "bernoulli.p",
       .samples = self_and({0.25}),
       .reference = shaped_like_self()},
      {.name = "dropout",
       .torch = "dropout",
       .samples = self_and({0.25, true}),
       .reference = shaped_like_self(),
       .dtypes = floats,
       .errors = {{"p",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), 1.5, true};
                   },
                   "dropout: dropout probability has to be between 0 and 1, but got 1.5"}}},
      {.name = "rand",
       .torch = "rand",
       .samples = sized(),
       .reference = shaped_by(0),
       .dtypes = floats,
       .refused = whole,
       .gradient = false},
      {.name = "randn",
       .torch = "randn",
       .samples = sized(),
       .reference = shaped_by(0),
       .dtypes = floats,
       .refused = whole,
       .gradient = false},
      {.name = "randint",
       .torch = "randint",
       .samples = sized({int64_t{2}}),
       .reference = shaped_by(1),
       .dtypes = real,
       .refused = complex,
       .gradient = false},
      {.name = "randint",
       .overload = "low",
       .torch = "randint.low",
       .samples = sized({int64_t{0}, int64_t{2}}),
       .reference = shaped_by(2),
       .dtypes = real,
       .refused = complex,
       .gradient = false},
      {.name = "rand_like",
       .torch = "rand_like",
       .samples = self_and(),
       .reference = shaped_like_self(),
       .dtypes = floats,
       .refused = whole,
       .gradient = false},
      {.name = "randn_like",
       .torch = "randn_like",
       .samples = self_and(),
       .reference = shaped_like_self(),
       .dtypes = floats,
       .refused = whole,
       .gradient = false},
      {.name = "randint_like",
       .torch = "randint_like",
       .samples = self_and({int64_t{2}}),
       .reference = shaped_like_self(),
       .dtypes = real,
       .refused = complex,
       .gradient = false},
      {.name = "randint_like",
       .overload = "low",
       .torch = "randint_like.low_dtype",
       .samples = self_and({int64_t{0}, int64_t{2}}),
       .reference = shaped_like_self(),
       .dtypes = real,
       .refused = complex,
       .gradient = false},
      {.name = "randperm",
       .torch = "randperm",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"some", {int64_t{20}, TensorOptions(m.dtype)}}, {"none", {int64_t{0}, TensorOptions(m.dtype)}}};
       },
       .reference = [](const Arguments& in) { return std::vector{Array::filled({in.integer(0)})}; },
       .dtypes = numbers,
       .gradient = false,
       .errors = {{"n", [](Make&) -> Values { return {int64_t{-1}}; }, "randperm: n must be non-negative, found -1"}},
       .untested = {{kBool, "holds two numbers"},
                    {kComplex64, "refused only if there is something to order"},
                    {kComplex128, "as complex64"}}},
  };
}

}  // namespace

std::vector<OpCase> random_cases() {
  std::vector<OpCase> cases = all_random_cases();
  for (OpCase& one : cases) {
    one.values_known = false;
    if (one.name == "dropout")
      for (DType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool})
        one.untested.push_back({dtype, "refused only if there is something to drop"});
  }
  return cases;
}

}  // namespace cresset::test
