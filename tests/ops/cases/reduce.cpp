// Cases of ops/reduce.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

using Ints = std::vector<int64_t>;

Complex total(const std::vector<Complex>& values) {
  Complex sum = 0;
  for (Complex value : values) sum += value;
  return sum;
}

std::vector<Sample> dim_samples(Make& m) {
  return {{"first", {m.tensor({3, 4}), Ints{0}}},
          {"last, kept", {m.tensor({3, 4}), Ints{-1}, true}},
          {"two of three", {m.tensor({2, 3, 4}), Ints{0, 2}}},
          {"middle", {m.tensor({2, 3, 4}), Ints{1}}},
          {"all", {m.tensor({2, 3}), Ints{}}},
          {"0-d", {m.tensor({}), Ints{0}}},
          {"empty", {m.tensor({0, 3}), Ints{0}}},
          {"over nothing", {m.tensor({3, 0}), Ints{1}}},
          {"inf and nan", {m.special(), Ints{0}}, false},
          {"large rows", {m.tensor({201, 333}), Ints{1}}, false},
          {"large columns", {m.tensor({201, 333}), Ints{0}}, false},
          {"large to one", {m.tensor({201, 333}), Ints{0, 1}}, false}};
}

}  // namespace

std::vector<OpCase> reduce_cases() {
  return {
      {.name = "sum",
       .samples = unary_samples,
       .reference = [](const Arguments& in) { return std::vector{reduced(in.array(0), {}, false, total)}; },
       .result_dtype = summed,
       .tolerance = 20},
      {.name = "sum",
       .overload = "dim",
       .samples = dim_samples,
       .reference =
           [](const Arguments& in) {
             return std::vector{reduced(in.array(0), in.integers(1), in.given(2) && in.flag(2), total)};
           },
       .result_dtype = summed,
       .tolerance = 20,
       .errors = {{"dim",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), Ints{2}};
                   },
                   "sum: dim 2 is out of range for shape [2, 3] (expected -2 to 1)"},
                  {"repeated",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), Ints{1, -1}};
                   },
                   "sum: dim -1 appears multiple times in the list of dims [1, -1]"}}},
  };
}

}  // namespace cresset::test
