// Cases of ops/sort; that of topk stands among the reductions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/reduce_samples.h"

namespace cresset::test {
namespace {

bool is_whole(DType dtype) { return is_integral(dtype, true); }

// Equal elements may stand in any order in PyTorch's results: those of whole numbers differ.
Tensor distinct(Make& m, std::vector<int64_t> sizes) {
  if (!is_whole(m.dtype)) return m.tensor(sizes);
  Array x = Array::filled(sizes);
  for (size_t i = 0; i < x.values.size(); i++) x.values[i] = static_cast<double>(i * 7 % x.values.size());
  return tensor_of(x, m.dtype);
}
std::vector<Sample> sort_samples(Make& m) {
  std::vector<Sample> samples = {{"rows", {m.tensor({3, 5})}},
                                 {"columns", {m.tensor({3, 5}), int64_t{0}}},
                                 {"descending", {m.tensor({2, 3, 4}), int64_t{1}, true}},
                                 {"0-d", {m.tensor({})}},
                                 {"empty", {m.tensor({0, 3})}},
                                 {"over nothing", {m.tensor({3, 0})}}};
  if (is_floating_point(m.dtype)) {  // -0 and 0 are equals
    samples.push_back({"inf and nan", {m.special()}, false});
    samples.push_back({"inf and nan, descending", {m.special(), int64_t{0}, true}, false});
  }
  if (m.dtype == kFloat || m.dtype == kDouble) {  // radix sort, of rows and on several threads
    samples.push_back({"large", {m.tensor({5, 1700})}, false});
    samples.push_back({"large line", {m.tensor({33000}), int64_t{0}, true}, false});
  }
  return samples;
}
std::vector<Sample> stable_samples(Make& m) {
  std::vector<Sample> samples = sort_samples(m);
  if (m.dtype == kInt64) samples.push_back({"large", {m.tensor({5, 1700}), int64_t{1}, true}, false});
  for (Sample& sample : samples) sample.arguments.insert(sample.arguments.begin() + 1, Value(true));
  return samples;
}
std::vector<Array> sorted_of(const Array& x, int64_t dim, bool descending) {
  int64_t n = x.rank() ? x.sizes[static_cast<size_t>(dim < 0 ? dim + x.rank() : dim)] : 1;
  return picked(x, dim, static_cast<size_t>(n), descending);
}
Reference only_places(Reference f) {
  return [f](const Arguments& in) { return std::vector{f(in).at(1)}; };
}
std::vector<Array> sorted_reference(const Arguments& in) { return sorted_of(in.array(0), in.integer(1), in.flag(2)); }
std::vector<Array> stable_reference(const Arguments& in) { return sorted_of(in.array(0), in.integer(2), in.flag(3)); }

// ---- picks
// The place in a line, as a function of it.
using PlaceOf = std::function<size_t(const Line&)>;
std::vector<Array> picked_by(const Array& x, int64_t dim, bool keepdim, const PlaceOf& place) {
  std::vector<Array> both = {
      along(x, dim, [&](const Line& line) { return line.empty() ? Line(1) : Line{line[place(line)]}; }),
      along(x, dim, [&](const Line& line) { return line.empty() ? Line(1) : Line{static_cast<double>(place(line))}; })};
  both[1].dtype = kInt64;
  if (!keepdim)
    for (Array& one : both) one = without_dim(one, dim);
  return both;
}
size_t median_place(const Line& line, bool skip_nan) {
  size_t numbers = 0;
  for (size_t i = 0; i < line.size(); i++) {
    if (!std::isnan(line[i].real()))
      numbers++;
    else if (!skip_nan)
      return i;
  }
  return first_places(line, line.size(), false)[numbers ? (numbers - 1) / 2 : 0];
}
size_t mode_place(const Line& line) {
  std::vector<size_t> places = first_places(line, line.size(), false);
  size_t best = 0, longest = 0, run = 0;
  for (size_t i = 0; i < places.size(); i++) {
    run++;
    if (i + 1 < places.size() && line[places[i + 1]] == line[places[i]]) continue;
    if (run > longest) longest = run, best = places[i];
    run = 0;
  }
  return best;
}
Reference median_along(bool skip_nan) {
  return [skip_nan](const Arguments& in) {
    return picked_by(in.array(0), in.integer(1), in.flag(2),
                     [&](const Line& line) { return median_place(line, skip_nan); });
  };
}
Reference median_of_all(bool skip_nan) {
  return [skip_nan](const Arguments& in) {
    Array x = in.array(0);
    if (x.values.empty()) return std::vector{Array::number(std::numeric_limits<double>::quiet_NaN())};
    return std::vector{Array::number(x.values[median_place(x.values, skip_nan)])};
  };
}
std::vector<Sample> median_samples(Make& m) {
  std::vector<Sample> samples = {{"first", {distinct(m, {3, 4}), int64_t{0}}},
                                 {"last, kept", {distinct(m, {3, 4}), int64_t{-1}, true}},
                                 {"middle", {distinct(m, {2, 3, 4}), int64_t{1}}},
                                 {"0-d", {m.tensor({}), int64_t{0}}},
                                 {"empty result", {m.tensor({0, 3}), int64_t{1}}}};
  if (is_floating_point(m.dtype)) {
    double nan = std::numeric_limits<double>::quiet_NaN();
    Tensor holes = tensor_of({{2, 4}, {3, nan, 1, 2, 4, 8, 6, 7}}, m.dtype);
    samples.push_back({"nan", {holes, int64_t{1}}, false});
  }
  if (m.dtype == kFloat || m.dtype == kDouble) samples.push_back({"large", {m.tensor({201, 333}), int64_t{1}}, false});
  return samples;
}
std::vector<Sample> all_median_samples(Make& m) {
  std::vector<Sample> samples = full_samples(m);
  if (is_floating_point(m.dtype)) samples.push_back({"empty", {m.tensor({0, 3})}});
  samples.push_back({"ties", {m.integers({9}, 0, 3, m.dtype)}, false});
  return samples;
}

// ---- quantiles
Complex quantile_of(Line line, double q, const std::string& how, bool skip_nan) {
  bool has_nan = false;
  Line numbers;
  for (Complex value : line) {
    if (std::isnan(value.real()))
      has_nan = true;
    else
      numbers.push_back(value);
  }
  if ((has_nan && !skip_nan) || numbers.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(numbers.begin(), numbers.end(), [](Complex a, Complex b) { return a.real() < b.real(); });
  double rank = q * static_cast<double>(numbers.size() - 1);
  auto at = [&](double place) { return numbers[static_cast<size_t>(place)]; };
  if (how == "lower") return at(std::floor(rank));
  if (how == "higher") return at(std::ceil(rank));
  if (how == "nearest") return at(std::nearbyint(rank));
  double weight = how == "midpoint" ? 0.5 : rank - std::floor(rank);
  return at(std::floor(rank)) + (at(std::ceil(rank)) - at(std::floor(rank))) * weight;
}
Reference quantiles(bool skip_nan) {
  return [skip_nan](const Arguments& in) {
    Array x = in.array(0), q = in.array(1);
    std::string how = std::get<std::string>(in[4]);
    Ints dims = in.given(2) ? in.integers(2) : Ints{};
    Array y;
    for (Complex fraction : q.values) {
      Array one = reduced(x, dims, in.flag(3),
                          [&](const Line& line) { return quantile_of(line, fraction.real(), how, skip_nan); });
      if (y.sizes.empty() && y.values.empty()) y.sizes = one.sizes;
      y.values.insert(y.values.end(), one.values.begin(), one.values.end());
    }
    if (q.rank() == 1) y.sizes.insert(y.sizes.begin(), q.sizes[0]);
    return std::vector{y};
  };
}
std::vector<Sample> quantile_samples(Make& m, bool number) {
  auto q = [&](std::vector<double> values) -> Value {
    if (number) return values[0];
    Array x{{static_cast<int64_t>(values.size())}, {}};
    for (double value : values) x.values.push_back(value);
    if (values.size() == 1) x.sizes = {};
    return tensor_of(x, m.dtype);
  };
  std::vector<Sample> samples = {{"all", {m.tensor({3, 4}), q({0.3, 0.75})}},
                                 {"rows", {m.tensor({3, 4}), q({0.25, 0.6}), int64_t{1}}},
                                 {"columns, kept", {m.tensor({3, 4}), q({0.4}), int64_t{0}, true}},
                                 {"all, kept", {m.tensor({3, 4}), q({0.9, 0}), std::monostate(), true}},
                                 {"0-d", {m.tensor({}), q({0.5}), int64_t{0}}},
                                 {"ends", {m.tensor({5}), q({1, 0}), int64_t{-1}}}};
  for (const char* how : {"lower", "higher", "midpoint", "nearest"})
    samples.push_back({how, {m.tensor({3, 4}), q({0.3, 0.7}), int64_t{1}, false, std::string(how)}});
  double nan = std::numeric_limits<double>::quiet_NaN();
  samples.push_back(
      {"nan", {tensor_of({{2, 4}, {3, nan, 1, 2, 4, 8, 6, 7}}, m.dtype), q({0.5, 0.1}), int64_t{1}}, false});
  return samples;
}

}  // namespace

std::vector<OpCase> sort_cases() {
  std::vector<OpCase> cases = {
      {.name = "sort",
       .torch = "sort",
       .samples = sort_samples,
       .reference = sorted_reference,
       .dtypes = without(ordered_dtypes(), {kBool}),
       .refused = complex_dtypes(),
       .errors = {bad_dim("sort")},
       .untested = {{kBool, "PyTorch's sort is stable only when asked; the stable form's case has it"}}},
      {.name = "sort",
       .overload = "stable",
       .torch = "sort.stable",
       .samples = stable_samples,
       .reference = stable_reference,
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes()},
      {.name = "argsort",
       .torch = "argsort",
       .samples = sort_samples,
       .reference = only_places(sorted_reference),
       .dtypes = without(ordered_dtypes(), {kBool}),
       .refused = complex_dtypes(),
       .gradient = false,
       .errors = {bad_dim("sort")},
       .untested = {{kBool, "PyTorch's argsort is stable only when asked; the stable form's case has it"}}},
      {.name = "argsort",
       .overload = "stable",
       .torch = "argsort.stable",
       .samples = stable_samples,
       .reference = only_places(stable_reference),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .gradient = false},
      {.name = "msort",
       .torch = "msort",
       .samples = unary_samples,
       .reference = [](const Arguments& in) { return std::vector{sorted_of(in.array(0), 0, false).at(0)}; },
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes()},
      {.name = "kthvalue",
       .torch = "kthvalue",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = median_samples(m);
             for (Sample& sample : samples)
               sample.arguments.insert(sample.arguments.begin() + 1, Value(int64_t{sample.label == "0-d" ? 1 : 2}));
             return samples;
           },
       .reference =
           [](const Arguments& in) {
             auto rank = static_cast<size_t>(in.integer(1)) - 1;
             return picked_by(in.array(0), in.integer(2), in.flag(3),
                              [&](const Line& line) { return first_places(line, line.size(), false).at(rank); });
           },
       .dtypes = without(ordered_dtypes(), {kBool}),
       .refused = complex_dtypes(),
       .errors = {{"k",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), int64_t{4}};
                   },
                   "kthvalue(): selected number k out of range for dimension 1: found 4 (expected 1 to 3)"}},
       .untested = {{kBool, "all elements are equals, of which any place may be picked"}}},
      {.name = "median",
       .torch = "median",
       .samples = all_median_samples,
       .reference = median_of_all(false),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes()},
      {.name = "median",
       .overload = "dim",
       .torch = "median.dim",
       .samples = median_samples,
       .reference = median_along(false),
       .dtypes = without(ordered_dtypes(), {kBool}),
       .refused = complex_dtypes(),
       .errors = {bad_dim("median")},
       .untested = {{kBool, "all elements are equals, of which any place may be picked"}}},
      {.name = "nanmedian",
       .torch = "nanmedian",
       .samples = all_median_samples,
       .reference = median_of_all(true),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes()},
      {.name = "nanmedian",
       .overload = "dim",
       .torch = "nanmedian.dim",
       .samples = median_samples,
       .reference = median_along(true),
       .dtypes = without(ordered_dtypes(), {kBool}),
       .refused = complex_dtypes(),
       .errors = {bad_dim("nanmedian")},
       .untested = {{kBool, "all elements are equals, of which any place may be picked"}}},
      {.name = "mode",
       .torch = "mode",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = median_samples(m);
             std::erase_if(samples, [](const Sample& s) { return s.label == "large" || s.label == "nan"; });
             samples.push_back({"frequent", {m.integers({4, 9}, 0, 4, m.dtype)}, false});
             return samples;
           },
       .reference = [](const Arguments& in) { return picked_by(in.array(0), in.integer(1), in.flag(2), mode_place); },
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .errors = {bad_dim("mode")}},
  };
  for (bool skip_nan : {false, true})
    for (bool number : {false, true}) {
      OpCase c;
      c.name = skip_nan ? "nanquantile" : "quantile";
      c.overload = number ? "scalar" : "";
      c.torch = c.name + (number ? ".scalar" : "");
      c.samples = [number](Make& m) { return quantile_samples(m, number); };
      c.reference = quantiles(skip_nan);
      c.dtypes = {kFloat, kDouble};
      c.refused = without(all_dtypes, {kFloat, kDouble});
      c.tolerance = 4;
      if (!number) c.constants = {1};
      c.errors = {{"interpolation",
                   [number](Make& m) -> Values {
                     return {m.tensor({3}), number ? Value(0.5) : Value(tensor_of(Array::number(0.5), kFloat)),
                             std::monostate(), false, std::string("cubic")};
                   },
                   "interpolation must be one of linear, lower, higher, midpoint or nearest, but got cubic"}};
      cases.push_back(c);
    }
  return cases;
}

}  // namespace cresset::test
