// Cases of ops/search that count or make sets: histograms, bincount, unique. The others are in search.cpp.
#include <algorithm>
#include <cmath>
#include <map>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/reduce_samples.h"

namespace cresset::test {
namespace {

// ---- histogram
std::vector<double> histogram_edges(const Arguments& in) {
  if (auto* bins = std::get_if<Tensor>(&in[1])) {
    std::vector<double> edges;
    for (Complex edge : read(*bins).values) edges.push_back(edge.real());
    return edges;
  }
  const Array x = in.array(0);
  double low = 0, high = 1;
  if (in.given(2)) {
    low = in.number(2).real(), high = in.number(3).real();
  } else if (!x.values.empty()) {
    low = smallest(x.values).real(), high = largest(x.values).real();
  }
  if (low == high) low -= 0.5, high += 0.5;
  std::vector<double> edges;
  Array places = Array::filled({in.integer(1) + 1});
  for (int64_t i = 0; i <= in.integer(1); i++)
    places[{i}] = low + (high - low) * static_cast<double>(i) / static_cast<double>(in.integer(1));
  for (Complex edge : read(tensor_of(places, in.dtype)).values) edges.push_back(edge.real());  // as rounded
  return edges;
}
// weight is argument number `weight`, density the one after it.
Reference histogram_reference(size_t weight) {
  return [weight](const Arguments& in) {
    const Array x = in.array(0);
    const std::vector<double> edges = histogram_edges(in);
    Array y = Array::filled({static_cast<int64_t>(edges.size()) - 1}), bounds = y;
    bounds.sizes = {static_cast<int64_t>(edges.size())};
    bounds.values.assign(edges.begin(), edges.end());
    double total = 0;
    for (size_t i = 0; i < x.values.size(); i++)
      for (size_t bin = 0; bin < y.values.size(); bin++) {
        const double value = x.values[i].real();
        const bool last = bin + 1 == y.values.size() && value == edges[bin + 1];
        if (!(value >= edges[bin] && (value < edges[bin + 1] || last))) continue;
        y.values[bin] += in.given(weight) ? in.array(weight).values[i] : 1;
        total += in.given(weight) ? in.array(weight).values[i].real() : 1;
      }
    if (in.flag(weight + 1))
      for (size_t bin = 0; bin < y.values.size(); bin++) y.values[bin] /= total * (edges[bin + 1] - edges[bin]);
    return std::vector{y, bounds};
  };
}

// ---- sets
struct Unique {
  std::vector<Line> values;
  std::vector<double> inverse, counts;
};
bool below(const Line& a, const Line& b) {
  for (size_t i = 0; i < a.size(); i++)
    if (a[i] != b[i]) return a[i].real() < b[i].real();
  return false;
}
Unique unique_lines(const std::vector<Line>& lines, bool consecutive) {
  Unique u;
  if (!consecutive) {
    u.values = lines;
    std::sort(u.values.begin(), u.values.end(), below);
    u.values.erase(std::unique(u.values.begin(), u.values.end()), u.values.end());
  }
  for (const Line& line : lines) {
    if (consecutive && (u.values.empty() || u.values.back() != line)) u.values.push_back(line);
    size_t at = consecutive ? u.values.size() - 1
                            : static_cast<size_t>(std::find(u.values.begin(), u.values.end(), line) - u.values.begin());
    u.inverse.push_back(static_cast<double>(at));
    u.counts.resize(u.values.size());
    u.counts[at]++;
  }
  return u;
}
Array vector_of(const std::vector<double>& values, bool wanted) {
  Array y{{wanted ? static_cast<int64_t>(values.size()) : 0}, {}, kInt64};
  if (wanted)
    for (double value : values) y.values.push_back(value);
  return y;
}
std::vector<Array> unique_flat(const Array& x, bool consecutive, bool inverse, bool counts) {
  std::vector<Line> lines;
  for (Complex value : x.values) lines.push_back({value});
  Unique u = unique_lines(lines, consecutive);
  Array values{{static_cast<int64_t>(u.values.size())}, {}};
  for (const Line& line : u.values) values.values.push_back(line[0]);
  Array which = vector_of(u.inverse, inverse);
  if (inverse) which.sizes = x.sizes;
  return {values, which, vector_of(u.counts, counts)};
}
std::vector<Array> unique_slices(const Array& x, int64_t dim, bool consecutive, bool inverse, bool counts) {
  auto d = static_cast<size_t>(dim < 0 ? dim + x.rank() : dim);
  std::vector<Line> lines(static_cast<size_t>(x.sizes[d]));
  // PyTorch compares slices as they stand when dim and the first dimension have changed places.
  auto exchanged = [d](std::vector<int64_t> list) {
    std::swap(list[0], list[d]);
    return list;
  };
  for_each_index(exchanged(x.sizes),
                 [&](const Index& index) { lines[static_cast<size_t>(index[0])].push_back(x[exchanged(index)]); });
  Unique u = unique_lines(lines, consecutive);
  Ints sizes = x.sizes;
  sizes[d] = static_cast<int64_t>(u.values.size());
  Array values = Array::filled(sizes);
  std::vector<size_t> next(u.values.size());
  for_each_index(exchanged(sizes), [&](const Index& index) {
    auto group = static_cast<size_t>(index[0]);
    values[exchanged(index)] = u.values[group][next[group]++];
  });
  return {values, vector_of(u.inverse, inverse), vector_of(u.counts, counts)};
}

std::vector<Sample> set_samples(Make& m, const std::vector<Values>& rest) {
  std::vector<Sample> samples;
  for (const Values& more : rest)
    for (const auto& [label, sizes] :
         std::map<std::string, Ints>{{"vector", {9}}, {"matrix", {4, 3}}, {"3-d", {3, 2, 2}}}) {
      Sample sample{label, {m.integers(sizes, 0, 3, m.dtype)}, false, true};
      sample.arguments.insert(sample.arguments.end(), more.begin(), more.end());
      samples.push_back(sample);
    }
  return samples;
}
const char* no_meta_reason() { return "the result's shape depends on values"; }

}  // namespace

std::vector<OpCase> counting_cases() {
  const std::vector<DType> integers = {kUInt8, kInt8, kInt16, kInt32, kInt64};
  return {
      {.name = "histc",
       .torch = "histc",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"of the data", {m.tensor({3, 7}), int64_t{3}}},
                 {"within", {m.tensor({20}), int64_t{5}, Scalar(-1), Scalar(1.5)}},
                 {"constant", {m.integers({4}, 2, 3, m.dtype), int64_t{3}}},
                 {"empty", {m.tensor({0}), int64_t{3}}},
                 {"large", {m.tensor({200, 90}), int64_t{10}, Scalar(-2), Scalar(2)}, false}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             auto bins = in.integer(1);
             double low = in.number(2).real(), high = in.number(3).real();
             if (low == high && !x.values.empty()) {
               low = smallest(x.values).real();
               high = largest(x.values).real();
             }
             if (low == high) low -= 1, high += 1;
             Array y = Array::filled({bins});
             for (Complex value : x.values) {
               if (value.real() < low || value.real() > high) continue;
               auto bin = static_cast<int64_t>((value.real() - low) / (high - low) * static_cast<double>(bins));
               y.values[static_cast<size_t>(std::min(bin, bins - 1))] += 1;
             }
             return std::vector{y};
           },
       .dtypes = {kFloat, kDouble},
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .gradient = false,
       .errors = {{"bins",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), int64_t{0}};
                   },
                   "histc(): bins must be > 0, but got 0"}},
       .untested = {{kFloat16, "the reference's bins are finer than its numbers"},
                    {kBFloat16, "the reference's bins are finer than its numbers"}}},
      {.name = "histogram",
       .overload = "bin_ct",
       .not_in_torch = "the range is a list there; tests/parity/histogram_test.cpp compares",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"of the data", {m.tensor({3, 7}), int64_t{3}}, false, true},
                 {"within", {m.tensor({20}), int64_t{5}, -1.0, 1.5}},
                 {"weighted", {m.tensor({4, 5}), int64_t{5}, -1.0, 1.5, m.tensor({4, 5})}},
                 {"density", {m.tensor({20}), int64_t{5}, -1.0, 1.5, std::monostate(), true}},
                 {"constant", {m.integers({4}, 2, 3, m.dtype), int64_t{3}}, false, true},
                 {"empty", {m.tensor({0}), int64_t{2}}},
                 {"0-d", {m.tensor({}), int64_t{4}, -1.0, 1.5}},
                 {"large", {m.tensor({200, 90}), int64_t{10}, -1.0, 1.5}}};
       },
       .reference = histogram_reference(4),
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 4,
       .gradient = false,
       .errors = {{"bins",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), int64_t{0}};
                   },
                   "histogram: bins must be > 0, but got 0"},
                  {"range",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), int64_t{2}, 2.0, 1.0};
                   },
                   "histogram: min should not exceed max, found range [2, 1]"},
                  {"ends",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), int64_t{2}, 2.0};
                   },
                   "histogram: found one end of the range (expected both or none)"},
                  {"infinite",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), int64_t{2}, 0.0, INFINITY};
                   },
                   "histogram: range of [0, inf] is not finite"},
                  {"weight",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), int64_t{2}, std::monostate(), std::monostate(), m.tensor({4})};
                   },
                   "histogram: weight has shape [4] (expected the input's, [3])"}}},
      {.name = "histogram",
       .overload = "bins_tensor",
       .torch = "histogram.bins_tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         auto edges = [&] { return tensor_of({{5}, {-2, -0.75, 0, 0.5, 2}}, m.dtype); };
         return {{"counts", {m.tensor({3, 7}), edges()}},
                 {"weighted", {m.tensor({20}), edges(), m.tensor({20})}},
                 {"density", {m.tensor({20}), edges(), m.integers({20}, 1, 4, m.dtype), true}},
                 {"on the edges", {edges(), edges()}},
                 {"empty", {m.tensor({0}), edges()}},
                 {"large", {m.tensor({200, 90}), edges()}}};
       },
       .reference = histogram_reference(2),
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 4,
       .gradient = false,
       .errors = {{"edges",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), m.tensor({1})};
                   },
                   "histogram: bins has shape [1] (expected one dimension with at least two edges)"},
                  {"dtype",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), m.tensor({3}, m.dtype == kFloat ? kDouble : kFloat)};
                   },
                   "histogram: bins has dtype float64 (expected float32)"}}},
      {.name = "bincount",
       .torch = "bincount",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"counts", {m.integers({12}, 0, 5, m.dtype)}, false, true},
                 {"weights", {m.integers({12}, 0, 5, m.dtype), m.tensor({12}, kFloat)}, false, true},
                 {"wide weights", {m.integers({12}, 0, 5, m.dtype), m.tensor({12}, kInt32), int64_t{9}}, false, true},
                 {"empty", {m.tensor({0}), std::monostate(), int64_t{3}}, false, true}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             int64_t bins = in.integer(2);
             for (Complex value : x.values) bins = std::max(bins, static_cast<int64_t>(value.real()) + 1);
             Array y = Array::filled({bins});
             y.dtype = kInt64;
             if (in.given(1)) y.dtype = std::get<Tensor>(in[1]).dtype() == kFloat ? kFloat : kDouble;
             for (size_t i = 0; i < x.values.size(); i++)
               y.values[static_cast<size_t>(x.values[i].real())] += in.given(1) ? in.array(1).values[i] : 1;
             return std::vector{y};
           },
       .dtypes = integers,
       .refused = without(all_dtypes, {kUInt8, kInt8, kInt16, kInt32, kInt64}),
       .tolerance = 4,
       .gradient = false,
       .errors = {{"negative",
                   [](Make&) -> Values {
                     return {tensor_of({{2}, {1, -1}}, kInt64)};
                   },
                   "bincount only supports 1-d non-negative integral inputs"}},
       .no_meta = no_meta_reason()},
      {.name = "unique",
       .torch = "_unique2",
       .samples =
           [](Make& m) {
             return set_samples(m, {{true, true, true}, {true, false, false}});
           },
       .reference = [](const Arguments& in) { return unique_flat(in.array(0), false, in.flag(2), in.flag(3)); },
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .gradient = false,
       .no_meta = no_meta_reason()},
      {.name = "unique_dim",
       .torch = "unique_dim",
       .samples =
           [](Make& m) {
             return set_samples(m, {{int64_t{0}, true, true, true}, {int64_t{-1}, true, true, true}});
           },
       .reference =
           [](const Arguments& in) { return unique_slices(in.array(0), in.integer(1), false, in.flag(3), in.flag(4)); },
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .gradient = false,
       .errors = {bad_dim("unique_dim")},
       .no_meta = no_meta_reason()},
      {.name = "unique_consecutive",
       .torch = "unique_consecutive",
       .samples =
           [](Make& m) {
             return set_samples(m, {{true, true}, {false, false}, {true, true, int64_t{0}}});
           },
       .reference =
           [](const Arguments& in) {
             if (in.given(3)) return unique_slices(in.array(0), in.integer(3), true, in.flag(1), in.flag(2));
             return unique_flat(in.array(0), true, in.flag(1), in.flag(2));
           },
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .gradient = false,
       .no_meta = no_meta_reason()},
  };
}

}  // namespace cresset::test
