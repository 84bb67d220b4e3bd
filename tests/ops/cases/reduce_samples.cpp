// Samples and references that the reductions, scans and sorts share.
#include "tests/ops/cases/reduce_samples.h"

#include <algorithm>
#include <cmath>

namespace cresset::test {

Complex total(const std::vector<Complex>& values) {
  Complex sum = 0;
  for (Complex value : values) sum += value;
  return sum;
}
Complex average(const std::vector<Complex>& values) { return total(values) / static_cast<double>(values.size()); }
// nan counts as the largest.
bool above(Complex a, Complex b) { return (std::isnan(a.real()) && !std::isnan(b.real())) || a.real() > b.real(); }
Complex largest(const std::vector<Complex>& values) {
  Complex best = values.at(0);
  for (Complex value : values)
    if (above(value, best)) best = value;
  return best;
}

Complex smallest(const std::vector<Complex>& values) {
  Complex best = values.at(0);
  for (Complex value : values)
    if (std::isnan(value.real()) || value.real() < best.real()) best = value;
  return best;
}

Reference over_all(Complex (*f)(const std::vector<Complex>&)) {
  return [f](const Arguments& in) { return std::vector{reduced(in.array(0), {}, false, f)}; };
}
Reference over_dims(Complex (*f)(const std::vector<Complex>&)) {
  return [f](const Arguments& in) {
    return std::vector{reduced(in.array(0), in.integers(1), in.given(2) && in.flag(2), f)};
  };
}

std::vector<Sample> full_dim_samples(Make& m) {  // nothing empty is reduced
  return {{"first", {m.tensor({3, 4}), Ints{0}}},
          {"last, kept", {m.tensor({3, 4}), Ints{-1}, true}},
          {"two of three", {m.tensor({2, 3, 4}), Ints{0, 2}}},
          {"middle", {m.tensor({2, 3, 4}), Ints{1}}},
          {"all", {m.tensor({2, 3}), Ints{}}},
          {"0-d", {m.tensor({}), Ints{0}}},
          {"empty result", {m.tensor({0, 3}), Ints{1}}},
          {"inf and nan", {m.special(), Ints{0}}, false},
          {"large rows", {m.tensor({201, 333}), Ints{1}}, false},
          {"large columns", {m.tensor({201, 333}), Ints{0}}, false},
          {"large to one", {m.tensor({201, 333}), Ints{0, 1}}, false}};
}
std::vector<Sample> dim_samples(Make& m) {
  std::vector<Sample> samples = full_dim_samples(m);
  samples.push_back({"over nothing", {m.tensor({3, 0}), Ints{1}}});
  return samples;
}
// The gradient of a mean of nothing is 0 times inf.
Samples without_gradient_of_nothing(Samples samples) {
  return [samples](Make& m) {
    std::vector<Sample> list = samples(m);
    for (Sample& sample : list)
      if (sample.label == "empty" || sample.label == "over nothing") sample.differentiate = false;
    return list;
  };
}
std::vector<Sample> full_samples(Make& m) {
  std::vector<Sample> samples = unary_samples(m);
  std::erase_if(samples, [](const Sample& sample) { return sample.label == "empty"; });
  return samples;
}

// Each line of x along dim, through f; f may change its length.
Array along(const Array& x, int64_t dim, const std::function<std::vector<Complex>(const std::vector<Complex>&)>& f) {
  if (x.sizes.empty()) return {{}, f(x.values)};
  auto d = static_cast<size_t>(dim < 0 ? dim + x.rank() : dim);
  Ints outer = x.sizes, sizes = x.sizes;
  outer[d] = 1;
  std::vector<Complex> line(static_cast<size_t>(x.sizes[d]));
  sizes[d] = static_cast<int64_t>(f(std::vector<Complex>(line.size())).size());
  Array y = Array::filled(sizes);
  for_each_index(outer, [&](Index index) {
    for (size_t i = 0; i < line.size(); i++) index[d] = static_cast<int64_t>(i), line[i] = x[index];
    std::vector<Complex> changed = f(line);
    for (size_t i = 0; i < changed.size(); i++) index[d] = static_cast<int64_t>(i), y[index] = changed[i];
  });
  return y;
}

// The places of the k first in order; earlier places first among equals.
std::vector<size_t> first_places(const std::vector<Complex>& line, size_t k, bool largest_first) {
  std::vector<size_t> places(line.size());
  for (size_t i = 0; i < places.size(); i++) places[i] = i;
  std::stable_sort(places.begin(), places.end(), [&](size_t i, size_t j) {
    return largest_first ? above(line[i], line[j]) : above(line[j], line[i]);
  });
  places.resize(k);
  return places;
}

std::vector<Array> picked(const Array& x, int64_t dim, size_t k, bool largest_first) {
  Array values = along(x, dim, [&](const std::vector<Complex>& line) {
    std::vector<Complex> some;
    for (size_t at : first_places(line, k, largest_first)) some.push_back(line[at]);
    return some;
  });
  Array places = along(x, dim, [&](const std::vector<Complex>& line) {
    std::vector<Complex> some;
    for (size_t at : first_places(line, k, largest_first)) some.push_back(static_cast<double>(at));
    return some;
  });
  places.dtype = kInt64;
  return {values, places};
}

ErrorCase bad_dim(const std::string& op) {
  return {"dim",
          [](Make& m) -> Values {
            return {m.tensor({2, 3}), int64_t{2}};
          },
          op + ": dim 2 is out of range for shape [2, 3] (expected -2 to 1)"};
}

std::vector<Sample> line_samples(Make& m) {
  return {{"rows", {m.tensor({3, 5}), int64_t{-1}}},
          {"columns", {m.tensor({3, 5}), int64_t{0}}},
          {"many columns", {m.tensor({3, 9}), int64_t{0}}},
          {"middle", {m.tensor({2, 3, 4}), int64_t{1}}},
          {"0-d", {m.tensor({}), int64_t{0}}},
          {"empty", {m.tensor({0, 3}), int64_t{1}}},
          {"over nothing", {m.tensor({3, 0}), int64_t{1}}},
          {"inf and nan", {m.special(), int64_t{0}}, false},
          {"large rows", {m.tensor({201, 333}), int64_t{1}}, false},
          {"large columns", {m.tensor({201, 333}), int64_t{0}}, false}};
}

std::vector<Sample> picked_samples(Make& m) {
  return {{"first", {m.tensor({3, 4}), int64_t{0}}},
          {"last, kept", {m.tensor({3, 4}), int64_t{-1}, true}},
          {"middle", {m.tensor({2, 3, 4}), int64_t{1}}},
          {"0-d", {m.tensor({}), int64_t{0}}},
          {"empty result", {m.tensor({0, 3}), int64_t{1}}},
          {"inf and nan", {m.special(), int64_t{0}}, false},
          {"large rows", {m.tensor({201, 333}), int64_t{1}}, false},
          {"large columns", {m.tensor({201, 333}), int64_t{0}}, false}};
}

Array without_dim(Array x, int64_t dim) {
  if (x.rank() > 0) x.sizes.erase(x.sizes.begin() + (dim < 0 ? dim + x.rank() : dim));
  return x;
}

}  // namespace cresset::test
