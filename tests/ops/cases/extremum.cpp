// Cases of minima and of places; those of max and amax stand among the reductions.
#include <cmath>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/reduce_samples.h"

namespace cresset::test {
namespace {

// The first place of the largest (or smallest); nan wins.
size_t best_place(const Line& line, bool smallest) {
  size_t best = 0;
  for (size_t i = 1; i < line.size(); i++) {
    double x = line[i].real(), b = line[best].real();
    if (!std::isnan(b) && (std::isnan(x) || (smallest ? x < b : x > b))) best = i;
  }
  return best;
}

Reference place_of(bool smallest) {
  return [smallest](const Arguments& in) {
    Array x = in.array(0);
    auto place = [&](const Line& line) -> Complex { return static_cast<double>(best_place(line, smallest)); };
    Array y = reduced(x, in.given(1) ? in.integers(1) : Ints{}, in.flag(2), place);
    y.dtype = kInt64;
    return std::vector{y};
  };
}
std::vector<Sample> place_samples(Make& m) {
  std::vector<Sample> samples = picked_samples(m);
  for (const Sample& sample : full_samples(m)) samples.push_back(sample);
  samples.push_back({"all, kept", {m.tensor({2, 3}), std::monostate(), true}});
  return samples;
}
ErrorCase empty_refused(const std::string& text) {
  return {"empty", [](Make& m) -> Values { return {m.tensor({0})}; }, text};
}
ErrorCase empty_dim_refused(const std::string& op) {
  return {"empty dim",
          [](Make& m) -> Values {
            return {m.tensor({3, 0}), int64_t{1}};
          },
          op + "(): Expected reduction dim 1 to have non-zero size"};
}

}  // namespace

std::vector<OpCase> extremum_cases() {
  return {
      {.name = "amin",
       .torch = "amin",
       .samples = full_dim_samples,
       .reference = over_dims(smallest),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .errors = {bad_dim("amin"), empty_dim_refused("amin")}},
      {.name = "min",
       .torch = "min",
       .samples = full_samples,
       .reference = over_all(smallest),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .errors = {empty_refused("min(): Expected reduction dim to be specified for input.numel() == 0")}},
      {.name = "min",
       .overload = "dim",
       .torch = "min.dim",
       .samples = picked_samples,
       .reference =
           [](const Arguments& in) {
             std::vector<Array> both = {
                 along(in.array(0), in.integer(1),
                       [](const Line& line) { return line.empty() ? Line(1) : Line{line[best_place(line, true)]}; }),
                 along(in.array(0), in.integer(1),
                       [](const Line& line) { return Line{static_cast<double>(best_place(line, true))}; })};
             both[1].dtype = kInt64;
             if (!in.flag(2))
               for (Array& one : both) one = without_dim(one, in.integer(1));
             return both;
           },
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .errors = {bad_dim("min"), empty_dim_refused("min")}},
      {.name = "aminmax",
       .torch = "aminmax",
       .samples = place_samples,
       .reference =
           [](const Arguments& in) {
             Ints dims = in.given(1) ? in.integers(1) : Ints{};
             return std::vector{reduced(in.array(0), dims, in.flag(2), smallest),
                                reduced(in.array(0), dims, in.flag(2), largest)};
           },
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .errors = {bad_dim("aminmax"), empty_refused("aminmax(): Expected reduction dim to be specified")}},
      {.name = "argmax",
       .torch = "argmax",
       .samples = place_samples,
       .reference = place_of(false),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .gradient = false,
       .errors = {bad_dim("argmax"), empty_refused("argmax(): Expected reduction dim to be specified")}},
      {.name = "argmin",
       .torch = "argmin",
       .samples = place_samples,
       .reference = place_of(true),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .gradient = false,
       .errors = {bad_dim("argmin"), empty_refused("argmin(): Expected reduction dim to be specified")}},
  };
}

}  // namespace cresset::test
