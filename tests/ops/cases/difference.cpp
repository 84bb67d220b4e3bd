// Cases of diff and of the trapezoidal rule, and of softmin.
#include <cmath>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/reduce_samples.h"

namespace cresset::test {
namespace {

Array joined(const Array& a, const Array& b, int64_t dim) {
  auto d = static_cast<size_t>(dim < 0 ? dim + a.rank() : dim);
  Ints sizes = a.sizes;
  sizes[d] += b.sizes[d];
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](Index i) {
    Index from = i;
    bool first = i[d] < a.sizes[d];
    if (!first) from[d] -= a.sizes[d];
    y[i] = first ? a[from] : b[from];
  });
  return y;
}
std::vector<Array> diff_reference(const Arguments& in) {
  int64_t dim = in.integer(2);
  Array y = in.array(0);
  if (in.given(3)) y = joined(in.array(3), y, dim);
  if (in.given(4)) y = joined(y, in.array(4), dim);
  for (int64_t n = 0; n < in.integer(1); n++)
    y = along(y, dim, [&](const Line& line) {
      Line d;
      for (size_t i = 1; i < line.size(); i++)
        d.push_back(in.dtype == kBool ? Complex(line[i] != line[i - 1]) : line[i] - line[i - 1]);
      return d;
    });
  return {y};
}
// Terms of the rule along a line with steps h.
Line terms(const Line& y, const std::function<double(size_t)>& h) {
  Line t;
  for (size_t i = 1; i < y.size(); i++) t.push_back(h(i) * (y[i] + y[i - 1]) / 2.0);
  return t;
}
Line running(Line line) {
  for (size_t i = 1; i < line.size(); i++) line[i] += line[i - 1];
  return line;
}
Reference trapezoids(bool places, bool cumulative) {
  return [=](const Arguments& in) {
    Array y = in.array(0), x = in.array(1);
    auto h = [&](size_t i) { return places ? (x.values[i] - x.values[i - 1]).real() : in.number(1).real(); };
    Array z = along(y, in.integer(2), [&](const Line& line) {
      Line t = terms(line, h);
      return cumulative ? running(t) : Line{total(t)};
    });
    z.dtype = floating(in.dtype);
    return std::vector{cumulative ? z : without_dim(z, in.integer(2))};
  };
}
std::vector<Sample> along_samples(Make& m) {
  return {{"rows", {m.tensor({3, 5}), m.tensor({5})}},
          {"columns", {m.tensor({5, 3}), m.tensor({5}), int64_t{0}}},
          {"vector", {m.tensor({4}), m.tensor({4}), int64_t{0}}}};
}
std::vector<Sample> step_samples(Make& m) {
  return {{"rows", {m.tensor({3, 5}), Scalar(1)}},
          {"columns", {m.tensor({5, 3}), Scalar(0.5), int64_t{0}}},
          {"one", {m.tensor({3, 1}), Scalar(2)}}};
}

}  // namespace

std::vector<OpCase> difference_cases() {
  std::vector<OpCase> cases = {
      {.name = "diff",
       .torch = "diff",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({3, 5})}},
                 {"columns, twice", {m.tensor({4, 3}), int64_t{2}, int64_t{0}}},
                 {"not at all", {m.tensor({4}), int64_t{0}}},
                 {"too often", {m.tensor({2, 3}), int64_t{5}}, false},
                 {"prepend", {m.tensor({2, 3}), int64_t{1}, int64_t{-1}, m.tensor({2, 2})}},
                 {"both ends", {m.tensor({2, 3}), int64_t{1}, int64_t{0}, m.tensor({1, 3}), m.tensor({2, 3})}},
                 {"empty", {m.tensor({0, 3})}}};
       },
       .reference = diff_reference,
       .errors = {{"0-d", [](Make& m) -> Values { return {m.tensor({})}; },
                   "diff expects input to be at least one-dimensional"}}},
      {.name = "softmin",
       .not_in_torch = "a function of Python's torch.nn.functional",
       .samples = line_samples,
       .reference =
           [](const Arguments& in) {
             return std::vector{along(in.array(0), in.integer(1), [](const Line& line) {
               double low = line.empty() ? 0 : smallest(line).real(), sum = 0;
               Line y;
               for (Complex value : line) y.push_back(std::exp(low - value.real())), sum += y.back().real();
               for (Complex& value : y) value /= sum;
               return y;
             })};
           },
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 4,
       .same_bits_strided = false}};
  for (bool cumulative : {false, true})
    for (bool places : {false, true}) {
      OpCase c;
      c.name = cumulative ? "cumulative_trapezoid" : "trapezoid";
      c.overload = places ? "x" : "dx";
      c.torch = c.name + "." + c.overload;
      c.samples = places ? along_samples : step_samples;
      c.reference = trapezoids(places, cumulative);
      c.dtypes = {kFloat, kDouble, kInt64};
      if (!places) c.dtypes.push_back(kComplex128);
      c.untested = {{kUInt8, "as int64"},   {kInt8, "as int64"},     {kInt16, "as int64"},         {kInt32, "as int64"},
                    {kFloat16, "as float"}, {kBFloat16, "as float"}, {kComplex64, "as complex128"}};
      if (places) c.untested.push_back({kComplex128, "the reference's steps are real"});
      c.refused = {kBool};
      c.result_dtype = floating;
      c.tolerance = 8;
      c.same_bits_strided = false;
      cases.push_back(c);
    }
  return cases;
}

}  // namespace cresset::test
