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

std::vector<Array> range(double from, double to, double step) {
  Array y;
  for (double at = from; step > 0 ? at < to : at > to; at += step) y.values.push_back(at);
  y.sizes = {static_cast<int64_t>(y.values.size())};
  return {y};
}
std::vector<Array> identity(int64_t rows, int64_t columns) {
  Array y = Array::filled({rows, columns});
  for (int64_t i = 0; i < std::min(rows, columns); i++) y[{i, i}] = 1;
  return {y};
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
      {.name = "empty",
       .torch = "empty.memory_format",
       .samples = sized(),
       .reference = filled_with(0),
       .errors = negative_size,
       .values_known = false,
       .repeatable = false},
      {.name = "zeros", .torch = "zeros", .samples = sized(), .reference = filled_with(0), .errors = negative_size},
      {.name = "ones", .torch = "ones", .samples = sized(), .reference = filled_with(1), .errors = negative_size},
      {.name = "full", .torch = "full", .samples = sized({Scalar(2)}), .reference = filled_with(2)},
      {.name = "scalar_tensor",
       .torch = "scalar_tensor",
       .samples = [](Make& make) -> std::vector<Sample> {
         return {{"number", {Scalar(2), TensorOptions(make.dtype)}}};
       },
       .reference = [](const Arguments&) { return std::vector{Array::number(2)}; }},
      {.name = "arange",
       .torch = "arange",
       .samples = [](Make& make) -> std::vector<Sample> {
         TensorOptions options(make.dtype);
         return {
             {"integers", {Scalar(5), options}}, {"nothing", {Scalar(0), options}}, {"large", {Scalar(120), options}}};
       },
       .reference = [](const Arguments& in) { return range(0, in.number(0).real(), 1); },
       .dtypes = without(all_dtypes, {kBool, kComplex64, kComplex128}),
       .refused = {kBool, kComplex64, kComplex128},
       .errors = {{"sign", [](Make&) -> Values { return {Scalar(-1)}; },
                   "upper bound and larger bound inconsistent with step sign"}}},
      {.name = "arange",
       .overload = "start",
       .torch = "arange.start",
       .samples = [](Make& make) -> std::vector<Sample> {
         return {{"integers", {Scalar(2), Scalar(7), TensorOptions(make.dtype)}}};
       },
       .reference = [](const Arguments& in) { return range(in.number(0).real(), in.number(1).real(), 1); },
       .dtypes = without(all_dtypes, {kBool, kComplex64, kComplex128}),
       .refused = {kBool, kComplex64, kComplex128}},
      {.name = "arange",
       .overload = "start_step",
       .torch = "arange.start_step",
       .samples = [](Make& make) -> std::vector<Sample> {
         TensorOptions options(make.dtype);
         std::vector<Sample> samples = {{"up", {Scalar(1), Scalar(12), Scalar(3), options}},
                                        {"down", {Scalar(12), Scalar(1), Scalar(-4), options}}};
         if (is_floating_point(make.dtype))
           samples.push_back({"quarters", {Scalar(-1.0), Scalar(1.0), Scalar(0.25), options}});
         return samples;
       },
       .reference =
           [](const Arguments& in) { return range(in.number(0).real(), in.number(1).real(), in.number(2).real()); },
       .dtypes = without(all_dtypes, {kBool, kComplex64, kComplex128}),
       .refused = {kBool, kComplex64, kComplex128},
       .errors = {{"step",
                   [](Make&) -> Values {
                     return {Scalar(0), Scalar(4), Scalar(0)};
                   },
                   "arange: step must be nonzero"}}},
      {.name = "linspace",
       .torch = "linspace",
       .samples = [](Make& make) -> std::vector<Sample> {
         TensorOptions options(make.dtype);
         return {{"whole", {Scalar(0), Scalar(8), int64_t{5}, options}},
                 {"one", {Scalar(3), Scalar(8), int64_t{1}, options}},
                 {"none", {Scalar(3), Scalar(8), int64_t{0}, options}}};
       },
       .reference =
           [](const Arguments& in) {
             double from = in.number(0).real(), to = in.number(1).real();
             int64_t steps = in.integer(2);
             Array y{{steps}, {}};
             for (int64_t i = 0; i < steps; i++)
               y.values.push_back(from + (to - from) * static_cast<double>(i) /
                                             static_cast<double>(std::max<int64_t>(steps - 1, 1)));
             return std::vector{y};
           },
       .dtypes = without(all_dtypes, {kBool}),
       .refused = {kBool},
       .errors = {{"steps",
                   [](Make&) -> Values {
                     return {Scalar(0), Scalar(1), int64_t{-1}};
                   },
                   "linspace: number of steps must be non-negative"}}},
      {.name = "eye",
       .torch = "eye",
       .samples = [](Make& make) -> std::vector<Sample> {
         return {{"3", {int64_t{3}, TensorOptions(make.dtype)}}, {"0", {int64_t{0}, TensorOptions(make.dtype)}}};
       },
       .reference = [](const Arguments& in) { return identity(in.integer(0), in.integer(0)); },
       .errors = {{"negative", [](Make&) -> Values { return {int64_t{-1}}; }, "eye: n must be greater or equal to 0"}}},
      {.name = "eye",
       .overload = "m",
       .torch = "eye.m",
       .samples = [](Make& make) -> std::vector<Sample> {
         return {{"wide", {int64_t{2}, int64_t{4}, TensorOptions(make.dtype)}},
                 {"tall", {int64_t{201}, int64_t{33}, TensorOptions(make.dtype)}}};
       },
       .reference = [](const Arguments& in) { return identity(in.integer(0), in.integer(1)); }},
      {.name = "empty_like",
       .torch = "empty_like",
       .samples = like(),
       .reference = like_filled_with(0),
       .values_known = false,
       .repeatable = false},
      {.name = "zeros_like", .torch = "zeros_like", .samples = like(), .reference = like_filled_with(0)},
      {.name = "ones_like", .torch = "ones_like", .samples = like(), .reference = like_filled_with(1)},
      {.name = "full_like", .torch = "full_like", .samples = like({Scalar(2)}), .reference = like_filled_with(2)},
      {.name = "new_empty",
       .torch = "new_empty",
       .samples = like({size}),
       .reference = new_filled_with(0),
       .values_known = false,
       .repeatable = false},
      {.name = "new_empty_strided",
       .torch = "new_empty_strided",
       .samples = like({size, Value(std::vector<int64_t>{1, 2})}),
       .reference = new_filled_with(0),
       .errors = {{"lengths",
                   [](Make& make) -> Values {
                     return {make.tensor({2}), std::vector<int64_t>{2, 3}, std::vector<int64_t>{1}};
                   },
                   "new_empty_strided: "}},
       .values_known = false,
       .repeatable = false},
      {.name = "new_zeros", .torch = "new_zeros", .samples = like({size}), .reference = new_filled_with(0)},
      {.name = "new_ones", .torch = "new_ones", .samples = like({size}), .reference = new_filled_with(1)},
      {.name = "new_full", .torch = "new_full", .samples = like({size, Scalar(2)}), .reference = new_filled_with(2)},
  };
  for (OpCase& one : cases) one.gradient = false;
  return cases;
}

}  // namespace cresset::test
