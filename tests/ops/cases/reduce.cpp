// Cases of ops/reduce, ops/softmax and ops/sort.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/reduce_samples.h"

namespace cresset::test {
namespace {

std::vector<Complex> softmax_of(const std::vector<Complex>& line) {
  if (line.empty()) return line;
  double top = largest(line).real(), sum = 0;
  std::vector<Complex> y;
  for (Complex value : line) y.push_back(std::exp(value.real() - top)), sum += y.back().real();
  for (Complex& value : y) value /= sum;
  return y;
}

std::vector<Complex> log_softmax_of(const std::vector<Complex>& line) {
  if (line.empty()) return line;
  double top = largest(line).real(), sum = 0;
  for (Complex value : line) sum += std::exp(value.real() - top);
  std::vector<Complex> y;
  for (Complex value : line) y.push_back(value.real() - top - std::log(sum));
  return y;
}
}  // namespace

// Sums are taken in the order that suits the layout: what sums has same_bits_strided = false.
std::vector<OpCase> reduce_cases() {
  const std::vector<DType> complex = complex_dtypes(), ordered = ordered_dtypes(), whole = whole_dtypes();
  auto repeated_dim = [](const std::string& op) -> ErrorCase {
    return {"repeated",
            [](Make& m) -> Values {
              return {m.tensor({2, 3}), Ints{1, -1}};
            },
            op + ": dim -1 appears multiple times in the list of dims [1, -1]"};
  };
  return {
      {.name = "sum",
       .torch = "sum",
       .samples = unary_samples,
       .reference = over_all(total),
       .result_dtype = summed,
       .tolerance = 20,
       .same_bits_strided = false},
      {.name = "sum",
       .overload = "dim",
       .torch = "sum.dim_IntList",
       .samples = dim_samples,
       .reference = over_dims(total),
       .result_dtype = summed,
       .tolerance = 20,
       .errors = {bad_dim("sum"), repeated_dim("sum")},
       .same_bits_strided = false},
      {.name = "sum_to_size",
       .torch = "sum_to_size",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"columns", {m.tensor({3, 4}), Ints{1, 4}}}, {"leading", {m.tensor({2, 3, 4}), Ints{4}}},
                 {"both", {m.tensor({2, 3, 4}), Ints{3, 1}}}, {"all", {m.tensor({2, 3}), Ints{}}},
                 {"nothing", {m.tensor({0, 3}), Ints{3}}},    {"large", {m.tensor({201, 33}), Ints{33}}, false}};
       },
       .reference =
           [](const Arguments& in) {
             const Array x = in.array(0);
             const Ints sizes = in.integers(1);
             const size_t lead = x.sizes.size() - sizes.size();
             Array y = Array::filled(sizes);
             for_each_index(x.sizes, [&](const Index& at) {
               Index to(at.begin() + static_cast<std::ptrdiff_t>(lead), at.end());
               for (size_t d = 0; d < to.size(); d++)
                 if (sizes[d] == 1) to[d] = 0;
               y[to] += x[at];
             });
             return std::vector{y};
           },
       .result_dtype = summed,
       .tolerance = 20,
       .errors = {{"larger",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 4}), Ints{2, 4}};
                   },
                   "sum_to_size: found size [2, 4] (expected one that broadcasts to [3, 4])"},
                  {"more dimensions",
                   [](Make& m) -> Values {
                     return {m.tensor({4}), Ints{1, 4}};
                   },
                   "sum_to_size: found size [1, 4] (expected one that broadcasts to [4])"}},
       .same_bits_strided = false},
      {.name = "mean",
       .torch = "mean",
       .samples = without_gradient_of_nothing(unary_samples),
       .reference = over_all(average),
       .dtypes = floats,
       .refused = whole,
       .tolerance = 4,
       .errors = {{"dtype", [](Make& m) -> Values { return {m.tensor({3}, kInt32)}; },
                   "dtype must be either a floating point or complex dtype. Got: Int"}},
       .same_bits_strided = false},
      {.name = "mean",
       .overload = "dim",
       .torch = "mean.dim",
       .samples = without_gradient_of_nothing(dim_samples),
       .reference = over_dims(average),
       .dtypes = floats,
       .refused = whole,
       .tolerance = 4,
       .errors = {bad_dim("mean"), repeated_dim("mean")},
       .same_bits_strided = false},
      {.name = "amax",
       .torch = "amax",
       .samples = full_dim_samples,
       .reference = over_dims(largest),
       .dtypes = ordered,
       .refused = complex,
       .errors = {bad_dim("amax"),
                  {"empty",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 0}), Ints{1}};
                   },
                   "amax(): Expected reduction dim 1 to have non-zero size"}}},
      {.name = "max",
       .torch = "max",
       .samples = full_samples,
       .reference = over_all(largest),
       .dtypes = ordered,
       .refused = complex,
       .errors = {{"empty", [](Make& m) -> Values { return {m.tensor({0})}; },
                   "max(): Expected reduction dim to be specified for input.numel() == 0"}}},
      {.name = "max",
       .overload = "dim",
       .torch = "max.dim",
       .samples = picked_samples,
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             std::vector<Array> both = picked(x, in.integer(1), 1, true);
             int64_t dim = in.integer(1) < 0 ? in.integer(1) + x.rank() : in.integer(1);
             if (!in.flag(2) && x.rank() > 0)
               for (Array& one : both) one.sizes.erase(one.sizes.begin() + dim);
             return both;
           },
       .dtypes = ordered,
       .refused = complex,
       .errors = {{"dim",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), int64_t{2}};
                   },
                   "max: dim 2 is out of range for shape [2, 3] (expected -2 to 1)"},
                  {"empty",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 0}), int64_t{1}};
                   },
                   "max(): Expected reduction dim 1 to have non-zero size"}}},
      {.name = "softmax",
       .torch = "softmax.int",
       .samples = line_samples,
       .reference = [](const Arguments& in) { return std::vector{along(in.array(0), in.integer(1), softmax_of)}; },
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 4,
       .errors = {{"dim",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 4}), int64_t{3}};
                   },
                   "softmax: dim 3 is out of range for shape [2, 4] (expected -2 to 1)"},
                  {"dtype",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 4}, kInt32), int64_t{0}};
                   },
                   "softmax: not implemented for 'Int'"}},
       .same_bits_strided = false},
      {.name = "log_softmax",
       .torch = "log_softmax.int",
       .samples = line_samples,
       .reference = [](const Arguments& in) { return std::vector{along(in.array(0), in.integer(1), log_softmax_of)}; },
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 4,
       .errors = {{"dim",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 4}), int64_t{3}};
                   },
                   "log_softmax: dim 3 is out of range for shape [2, 4] (expected -2 to 1)"},
                  {"dtype",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 4}, kInt32), int64_t{0}};
                   },
                   "log_softmax: not implemented for 'Int'"}},
       .same_bits_strided = false},
      {.name = "topk",
       .torch = "topk",
       .samples = [](Make& m) -> std::vector<Sample> {
         constexpr double inf = std::numeric_limits<double>::infinity();
         Array ends{{5}, {1, inf, -inf, std::numeric_limits<double>::quiet_NaN(), 2}};
         std::vector<Sample> samples = {{"largest", {m.tensor({9}), int64_t{3}}},
                                        {"smallest", {m.tensor({2, 5}), int64_t{2}, int64_t{-1}, false}},
                                        {"columns", {m.tensor({5, 2}), int64_t{2}, int64_t{0}}},
                                        {"all", {m.tensor({2, 4}), int64_t{4}}},
                                        {"none", {m.tensor({2, 4}), int64_t{0}}},
                                        {"0-d", {m.tensor({}), int64_t{1}}}};
         if (is_floating_point(m.dtype)) {
           samples.push_back({"inf and nan", {tensor_of(ends, m.dtype), int64_t{3}}, false});
           samples.push_back(
               {"inf and nan, smallest", {tensor_of(ends, m.dtype), int64_t{2}, int64_t{0}, false}, false});
         }
         if (m.dtype == kFloat || m.dtype == kDouble)
           samples.push_back({"large", {m.tensor({41, 1700}), int64_t{7}}, false});
         return samples;
       },
       .reference =
           [](const Arguments& in) {
             return picked(in.array(0), in.integer(2), static_cast<size_t>(in.integer(1)), in.flag(3));
           },
       .dtypes = without(ordered, {kBool}),
       .refused = complex,
       .errors = {{"k",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), int64_t{4}};
                   },
                   "topk: selected index k out of range: found 4 for dimension 1"}},
       .untested = {{kBool, "among equals any place may be picked, and bool has little but equals"}}},
  };
}

}  // namespace cresset::test
