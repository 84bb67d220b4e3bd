// Cases of ops/search that look things up: searchsorted, bucketize, isin. The others are in counting.cpp.
#include <algorithm>
#include <cmath>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/reduce_samples.h"

namespace cresset::test {
namespace {

Array integers_of(Array x, DType dtype = kInt64) {
  x.dtype = dtype;
  return x;
}

Array sorted_rows(const Array& x) {
  return along(x, -1, [](const Line& line) {
    Line y = line;
    std::sort(y.begin(), y.end(), [](Complex a, Complex b) { return a.real() < b.real(); });
    return y;
  });
}
Tensor sequence(Make& m, std::vector<int64_t> sizes) {
  return tensor_of(sorted_rows(read(m.integers(std::move(sizes), 0, 50, m.dtype))), m.dtype);
}
double place(const Line& line, double value, bool right) {
  double at = 0;
  for (Complex x : line) at += right ? !(x.real() > value) : !(x.real() >= value);
  return at;
}
// The line of `rows` that goes with value number i of x.
Line line_for(const Array& rows, const Array& x, size_t i) {
  auto n = static_cast<size_t>(rows.sizes.back());
  size_t line = rows.rank() == 1 ? 0 : i / static_cast<size_t>(x.sizes.back());
  return Line(rows.values.begin() + static_cast<int64_t>(line * n),
              rows.values.begin() + static_cast<int64_t>((line + 1) * n));
}
std::vector<Array> found_places(const Array& rows, const Array& x, bool narrow, bool right) {
  Array y = x;
  for (size_t i = 0; i < x.values.size(); i++) y.values[i] = place(line_for(rows, x, i), x.values[i].real(), right);
  return {integers_of(y, narrow ? kInt32 : kInt64)};
}
std::vector<Array> searchsorted_reference(const Arguments& in) {
  Array rows = in.array(0);
  if (in.given(5)) {
    Array order = in.array(5), unsorted = rows;
    for (size_t i = 0; i < rows.values.size(); i++)
      rows.values[i] = unsorted.values[static_cast<size_t>(order.values[i].real())];
  }
  bool right = in.flag(3) || std::get<std::string>(in[4]) == "right";
  return found_places(rows, in.array(1), in.flag(2), right);
}
std::vector<Array> bucketize_reference(const Arguments& in) {
  return found_places(in.array(1), in.array(0), in.flag(2), in.flag(3));
}

}  // namespace

std::vector<OpCase> search_cases() {
  std::vector<OpCase> cases = {
      {.name = "searchsorted",
       .torch = "searchsorted.Tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         Tensor order = tensor_of({{4}, {2, 0, 3, 1}}, kInt64), shuffled = tensor_of({{4}, {7, 30, 2, 9}}, m.dtype);
         return {
             {"one sequence", {sequence(m, {7}), m.integers({3, 4}, 0, 50, m.dtype)}},
             {"right", {sequence(m, {7}), m.integers({9}, 0, 50, m.dtype), false, true}},
             {"many sequences", {sequence(m, {3, 5}), m.integers({3, 4}, 0, 50, m.dtype), true}},
             {"side", {sequence(m, {2, 5}), m.integers({2, 3}, 0, 50, m.dtype), false, false, std::string("right")}},
             {"sorter", {shuffled, m.integers({5}, 0, 50, m.dtype), false, false, std::string("left"), order}},
             {"0-d", {sequence(m, {7}), m.integers({}, 0, 50, m.dtype)}},
             {"empty", {sequence(m, {7}), m.tensor({0, 3})}},
             {"no sequence", {sequence(m, {0}), m.integers({3}, 0, 50, m.dtype)}},
             {"large", {sequence(m, {300}), m.integers({90, 100}, 0, 50, m.dtype)}, false}};
       },
       .reference = searchsorted_reference,
       .errors = {{"shape",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), m.tensor({3, 3})};
                   },
                   "the first N-1 dimensions of boundaries tensor and input value tensor must match"},
                  {"side",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), m.tensor({3}), false, false, std::string("up")};
                   },
                   "side can only be 'left' or 'right' but got up"}}},
      {.name = "searchsorted",
       .overload = "Scalar",
       .torch = "searchsorted.Scalar",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"left", {sequence(m, {7}), Scalar(20)}}, {"right", {sequence(m, {7}), Scalar(20), true, true}}};
       },
       .reference = searchsorted_reference},
      {.name = "bucketize",
       .torch = "bucketize.Tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"matrix", {m.integers({3, 4}, 0, 50, m.dtype), sequence(m, {7})}},
                 {"right", {m.integers({9}, 0, 50, m.dtype), sequence(m, {7}), true, true}},
                 {"0-d", {m.integers({}, 0, 50, m.dtype), sequence(m, {7})}}};
       },
       .reference = bucketize_reference,
       .errors = {{"boundaries",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), m.tensor({2, 3})};
                   },
                   "bucketize: boundaries tensor must be 1 dimension, but got dim(2)"}}},
      {.name = "bucketize",
       .overload = "Scalar",
       .torch = "bucketize.Scalar",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"left", {Scalar(20), sequence(m, {7})}}, {"right", {Scalar(20), sequence(m, {7}), true, true}}};
       },
       .reference = bucketize_reference},
      {.name = "isin",
       .torch = "isin.Tensor_Tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"few", {m.integers({3, 4}, 0, 9, m.dtype), m.integers({3}, 0, 9, m.dtype)}},
                 {"inverted", {m.integers({3, 4}, 0, 9, m.dtype), m.integers({2, 2}, 0, 9, m.dtype), false, true}},
                 {"0-d", {m.integers({}, 0, 9, m.dtype), m.integers({3}, 0, 9, m.dtype)}},
                 {"empty", {m.tensor({0, 3}), m.integers({3}, 0, 9, m.dtype)}},
                 {"none", {m.integers({4}, 0, 9, m.dtype), m.tensor({0})}},
                 {"large", {m.integers({90, 70}, 0, 90, m.dtype), m.integers({50}, 0, 90, m.dtype)}, false}};
       },
       .reference =
           [](const Arguments& in) {
             Array y = in.array(0), tests = in.array(1);
             for (Complex& value : y.values) {
               bool found = std::find(tests.values.begin(), tests.values.end(), value) != tests.values.end();
               value = found != in.flag(3);
             }
             return std::vector{integers_of(y, kBool)};
           }},
      {.name = "isin",
       .overload = "Tensor_Scalar",
       .torch = "isin.Tensor_Scalar",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"number", {m.integers({3, 4}, 0, 4, m.dtype), Scalar(2)}}};
       },
       .reference =
           [](const Arguments& in) {
             Array y = in.array(0);
             for (Complex& value : y.values) value = value == in.number(1);
             return std::vector{integers_of(y, kBool)};
           }},
      {.name = "isin",
       .overload = "Scalar_Tensor",
       .torch = "isin.Scalar_Tensor",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"number", {Scalar(2), m.integers({3, 4}, 0, 4, m.dtype)}}};
       },
       .reference =
           [](const Arguments& in) {
             bool found = false;
             for (Complex value : in.array(1).values) found = found || value == in.number(0);
             return std::vector{integers_of(Array::number(found), kBool)};
           }}};
  for (OpCase& one : cases) {
    one.dtypes = without(ordered_dtypes(), {kBool});
    one.refused = complex_dtypes();
    one.gradient = false;
    one.untested = {{kBool, "there is little to look for"}};
  }
  return cases;
}

}  // namespace cresset::test
