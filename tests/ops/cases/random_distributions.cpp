// Cases of ops/random_distributions: shapes, dtypes and refusals. The gradient of what is drawn is zero, as PyTorch's,
// also where it could be another (normal): such arguments are constants here. What is drawn is tested in
// tests/ops/random_distributions_test.cpp.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

std::vector<Array> like_self(const Arguments& in) { return {Array::filled(in.array(0).sizes)}; }
std::vector<Array> like_both(const Arguments& in) {
  return {Array::filled(broadcast(in.array(0).sizes, in.array(1).sizes))};
}

// Numbers from 0 to `top`.
Tensor from_zero(Make& m, const Ints& sizes, double top) {
  Array array = read(m.tensor(sizes, kDouble));
  for (Complex& value : array.values) value = (value.real() + 2.5) / 5 * top;
  return tensor_of(array, m.dtype);
}
Samples rates(double top) {
  return [top](Make& m) -> std::vector<Sample> {
    return {{"vector", {from_zero(m, {7}, top)}},
            {"0-d", {from_zero(m, {}, top)}},
            {"empty", {from_zero(m, {0, 3}, top)}},
            {"large", {from_zero(m, {101, 33}, top)}, false}};
  };
}
std::vector<Sample> two_tensors(Make& m) {
  return {{"same shape", {from_zero(m, {3, 4}, 1), from_zero(m, {3, 4}, 1)}},
          {"broadcast", {from_zero(m, {2, 1, 4}, 1), from_zero(m, {3, 1}, 1)}},
          {"0-d", {from_zero(m, {}, 1), from_zero(m, {}, 1)}},
          {"large", {from_zero(m, {101, 33}, 1), from_zero(m, {101, 33}, 1)}, false}};
}
OpCase filling(std::string name, Values more, std::vector<DType> dtypes, std::vector<DType> refused, Values bad,
               std::string text, bool torch_refuses = true) {
  return {.name = name,
          .torch = name,
          .samples = self_and(more),
          .reference = like_self,
          .dtypes = dtypes,
          .refused = refused,
          .errors = {{"number",
                      [bad](Make& m) {
                        Values values{m.tensor({3}, kFloat)};
                        values.insert(values.end(), bad.begin(), bad.end());
                        return values;
                      },
                      text, torch_refuses}},
          .writes_self = true};
}

}  // namespace

std::vector<OpCase> random_distributions_cases() {
  const std::vector<DType> not_real = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble});
  std::vector<OpCase> cases = {
      filling("exponential_", {2.0}, real_floats, not_real, {-1.0},
              "exponential_: expects lambda >= 0.0, but found lambda=-1"),
      filling("geometric_", {0.5}, without(all_dtypes, {kBool, kComplex64, kComplex128}), {kComplex64, kComplex128},
              {1.0}, "geometric_: expects p to be in (0, 1), but got p=1"),
      filling("cauchy_", {0.0, 2.0}, real_floats, not_real, {0.0, 0.0},
              "cauchy_: expects sigma > 0.0, but found sigma=0", false),
      filling("log_normal_", {0.0, 1.0}, real_floats, not_real, {0.0, 0.0},
              "log_normal_: expects std > 0.0, but found std=0"),
      {.name = "normal",
       .overload = "Tensor_float",
       .torch = "normal.Tensor_float",
       .samples = self_and({2.0}),
       .reference = like_self,
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble, kComplex64, kComplex128}),
       .errors = {{"std",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), -1.0};
                   },
                   "normal: expects std >= 0.0, but found std -1"}},
       .constants = {0},
       .untested = {{kComplex64, "drawn, but seldom"}, {kComplex128, "drawn, but seldom"}}},
      {.name = "normal",
       .overload = "float_Tensor",
       .torch = "normal.float_Tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vector", {1.0, from_zero(m, {7}, 2)}}, {"large", {1.0, from_zero(m, {101, 33}, 2)}, false}};
       },
       .reference = [](const Arguments& in) { return std::vector{Array::filled(in.array(1).sizes)}; },
       .dtypes = real_floats,
       .refused = not_real,
       .errors = {{"std",
                   [](Make& m) -> Values {
                     return {0.0, m.tensor({3})};
                   },
                   "normal: expects all elements of std >= 0.0, found -"}},
       .constants = {1}},
      {.name = "normal",
       .overload = "Tensor_Tensor",
       .torch = "normal.Tensor_Tensor",
       .samples = two_tensors,
       .reference = like_both,
       .dtypes = real_floats,
       .refused = not_real,
       .constants = {0, 1}},
      {.name = "normal",
       .overload = "float_float",
       .torch = "normal.float_float",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {0.0, 1.0, Ints{3, 4}, Value(), TensorOptions(m.dtype)}, false},
                 {"0-d", {0.0, 1.0, Ints{}, Value(), TensorOptions(m.dtype)}, false}};
       },
       .reference = [](const Arguments& in) { return std::vector{Array::filled(in.integers(2))}; },
       .dtypes = floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble, kComplex64, kComplex128}),
       .gradient = false},
      {.name = "poisson",
       .torch = "poisson",
       .samples = rates(30),
       .reference = like_self,
       .dtypes = real_floats,
       .refused = not_real,
       .errors = {{"rate", [](Make& m) -> Values { return {m.tensor({3})}; },
                   "poisson: invalid Poisson rate, expected rate to be non-negative, found -"}}},
      {.name = "binomial",
       .torch = "binomial",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"same shape", {from_zero(m, {3, 4}, 50), from_zero(m, {3, 4}, 1)}},
                 {"0-d", {from_zero(m, {}, 50), from_zero(m, {}, 1)}},
                 {"large", {from_zero(m, {101, 33}, 50), from_zero(m, {101, 33}, 1)}, false}};
       },
       .reference = like_both,
       .dtypes = real_floats,
       .refused = not_real,
       .constants = {0, 1}},
      {.name = "multinomial",
       .torch = "multinomial",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"vector", {from_zero(m, {7}, 1), int64_t{3}}, false},
                 {"matrix", {from_zero(m, {3, 7}, 1), int64_t{4}}, false},
                 {"replacement", {from_zero(m, {3, 7}, 1), int64_t{20}, true}, false},
                 {"large", {from_zero(m, {301, 37}, 1), int64_t{20}}, false}};
       },
       .reference =
           [](const Arguments& in) {
             Array y = Array::filled(in.array(0).sizes);
             y.sizes.back() = in.integer(1);
             return std::vector{Array::filled(y.sizes)};
           },
       .dtypes = real_floats,
       .refused = not_real,
       .result_dtype = [](DType) { return kInt64; },
       .gradient = false,
       .errors = {{"samples",
                   [](Make& m) -> Values {
                     return {from_zero(m, {3}, 1), int64_t{4}};
                   },
                   "multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement"},
                  {"negative",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), int64_t{2}};
                   },
                   "multinomial: probability tensor contains either `inf`, `nan` or element < 0"},
                  {"zeros",
                   [](Make& m) -> Values {
                     return {tensor_of({{3}, {0, 0, 0}}, m.dtype), int64_t{2}, true};
                   },
                   "multinomial: invalid multinomial distribution (sum of probabilities <= 0)"}}},
  };
  for (OpCase& one : cases) {
    one.values_known = false;
    if (one.name == "geometric_") one.untested = {{kBool, "holds two numbers"}};
  }
  return cases;
}

}  // namespace cresset::test
