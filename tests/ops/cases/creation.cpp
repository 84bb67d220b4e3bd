// Cases of ops/creation. Nothing here has a gradient; empty and its kin are checked for shape and dtype only.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

// size, then what `more` gives, then options of the dtype.
Samples sized(const Values& more = {}) {
  return [more](Make& make) {
    std::vector<Sample> samples;
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {7}, {0, 3}, {2, 3, 4}, {201, 333}}) {
      Values arguments{shape};
      arguments.insert(arguments.end(), more.begin(), more.end());
      arguments.push_back(TensorOptions(make.dtype));
      samples.push_back({text_of(shape), arguments, false});
    }
    return samples;
  };
}
// self and what `more` gives.
Samples like(const Values& more = {}) {
  return [more](Make& make) { return shaped_samples(make, [&](const Tensor&) { return more; }); };
}

Reference filled_with(double value) {
  return [value](const Arguments& in) { return std::vector{Array::filled(in.integers(0), value)}; };
}
Reference like_filled_with(double value) {
  return [value](const Arguments& in) { return std::vector{Array::filled(in.array(0).sizes, value)}; };
}
Reference new_filled_with(double value) {
  return [value](const Arguments& in) { return std::vector{Array::filled(in.integers(1), value)}; };
}

}  // namespace

std::vector<OpCase> creation_cases() {
  const Value size = std::vector<int64_t>{2, 3};
  const std::vector<ErrorCase> negative_size = {{"negative",
                                                 [](Make&) -> Values {
                                                   return {std::vector<int64_t>{2, -1}};
                                                 },
                                                 "found a negative size in [2, -1]"}};
  std::vector<OpCase> cases = {
      {.name = "empty", .samples = sized(), .reference = filled_with(0), .errors = negative_size, .values_set = false},
      {.name = "zeros", .samples = sized(), .reference = filled_with(0), .errors = negative_size},
      {.name = "ones", .samples = sized(), .reference = filled_with(1), .errors = negative_size},
      {.name = "full", .samples = sized({Scalar(2)}), .reference = filled_with(2)},
      {.name = "empty_like", .samples = like(), .reference = like_filled_with(0), .values_set = false},
      {.name = "zeros_like", .samples = like(), .reference = like_filled_with(0)},
      {.name = "ones_like", .samples = like(), .reference = like_filled_with(1)},
      {.name = "full_like", .samples = like({Scalar(2)}), .reference = like_filled_with(2)},
      {.name = "new_empty", .samples = like({size}), .reference = new_filled_with(0), .values_set = false},
      {.name = "new_zeros", .samples = like({size}), .reference = new_filled_with(0)},
      {.name = "new_ones", .samples = like({size}), .reference = new_filled_with(1)},
      {.name = "new_full", .samples = like({size, Scalar(2)}), .reference = new_filled_with(2)},
  };
  for (OpCase& one : cases) one.gradient = false;
  return cases;
}

}  // namespace cresset::test
