// Cases of ops/scan.
#include <cmath>
#include <limits>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/reduce_samples.h"

namespace cresset::test {
namespace {

Line sums(const Line& line) {
  Line y = line;
  for (size_t i = 1; i < y.size(); i++) y[i] += y[i - 1];
  return y;
}
Line products(const Line& line) {
  Line y = line;
  for (size_t i = 1; i < y.size(); i++) y[i] *= y[i - 1];
  return y;
}
Line log_sums(const Line& line) {
  Line y = line;
  for (size_t i = 1; i < y.size(); i++) {
    double a = y[i - 1].real(), b = y[i].real(), top = std::max(a, b);
    if (std::isnan(a) || std::isnan(b))
      y[i] = std::numeric_limits<double>::quiet_NaN();
    else
      y[i] = std::isinf(top) ? top : top + std::log(std::exp(a - top) + std::exp(b - top));
  }
  return y;
}
// Places of the best so far: of equals the last, nan wins.
Line best_places(const Line& line, bool smallest) {
  Line y;
  size_t best = 0;
  for (size_t i = 0; i < line.size(); i++) {
    double x = line[i].real(), b = line[best].real();
    if (std::isnan(x) || (!std::isnan(b) && (smallest ? x <= b : x >= b))) best = i;
    y.push_back(static_cast<double>(best));
  }
  return y;
}
Reference along_dim(Line (*f)(const Line&)) {
  return [f](const Arguments& in) { return std::vector{along(in.array(0), in.integer(1), f)}; };
}
Reference best_so_far(bool smallest) {
  return [smallest](const Arguments& in) {
    auto places = [&](const Line& line) { return best_places(line, smallest); };
    Array values = along(in.array(0), in.integer(1), [&](const Line& line) {
      Line y;
      for (Complex place : places(line)) y.push_back(line[static_cast<size_t>(place.real())]);
      return y;
    });
    Array indices = along(in.array(0), in.integer(1), places);
    indices.dtype = kInt64;
    return std::vector{values, indices};
  };
}
// Sums that are exact in every dtype, products that stay in range.
std::vector<Sample> sum_samples(Make& m) {
  std::vector<Sample> samples = line_samples(m);
  std::erase_if(samples, [](const Sample& sample) { return sample.label.starts_with("large"); });
  if (m.dtype == kFloat || m.dtype == kDouble || m.dtype == kInt32) {
    samples.push_back({"large rows", {m.integers({7, 1500}, 0, 2, m.dtype), int64_t{1}}, false});
    samples.push_back({"large columns", {m.integers({300, 40}, 0, 2, m.dtype), int64_t{0}}, false});
    samples.push_back({"large line", {m.integers({40000}, 0, 2, m.dtype), int64_t{0}}, false});
  }
  return samples;
}
std::vector<Sample> cumulative_product_samples(Make& m) {
  std::vector<Sample> samples = line_samples(m);
  std::erase_if(samples, [](const Sample& sample) { return sample.label.starts_with("large"); });
  samples.push_back({"zeros", {m.integers({3, 6}, 0, 3, m.dtype), int64_t{1}}});
  samples.push_back({"large", {m.integers({300, 70}, 1, 2, m.dtype), int64_t{0}}, false});
  return samples;
}

}  // namespace

std::vector<OpCase> scan_cases() {
  return {
      {.name = "cumsum",
       .torch = "cumsum",
       .samples = sum_samples,
       .reference = along_dim(sums),
       .result_dtype = summed,
       .tolerance = 4,
       .errors = {bad_dim("cumsum")},
       .same_bits_strided = false},
      {.name = "cumprod",
       .torch = "cumprod",
       .samples = cumulative_product_samples,
       .reference = along_dim(products),
       .result_dtype = summed,
       .tolerance = 4,
       .errors = {bad_dim("cumprod")}},
      {.name = "logcumsumexp",
       .torch = "logcumsumexp",
       .samples = line_samples,
       .reference = along_dim(log_sums),
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 8,
       .errors = {bad_dim("logcumsumexp")}},
      {.name = "cummax",
       .torch = "cummax",
       .samples = line_samples,
       .reference = best_so_far(false),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .errors = {bad_dim("cummax")}},
      {.name = "cummin",
       .torch = "cummin",
       .samples = line_samples,
       .reference = best_so_far(true),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .errors = {bad_dim("cummin")}},
  };
}

}  // namespace cresset::test
