// Cases of ops/distance.
#include <cmath>
#include <limits>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double length(const std::vector<double>& x, double p) {
  double total = 0;
  for (double value : x) {
    double size = std::abs(value);
    if (std::isinf(p))
      total = std::max(total, size);
    else
      total += p == 0 ? (size != 0 ? 1 : 0) : std::pow(size, p);
  }
  return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p);
}
// Lines of x along dim through f, which gives one number.
Array along(const Array& x, int64_t dim, bool keepdim, const std::function<double(const std::vector<double>&)>& f) {
  return reduced(x, {dim}, keepdim, [&](const std::vector<Complex>& line) {
    std::vector<double> values;
    for (Complex value : line) values.push_back(value.real());
    return Complex(f(values));
  });
}

std::vector<Array> cdist_of(const Arguments& in) {
  Array a = in.array(0), b = in.array(1);
  double p = in.number(2).real();
  auto batch_of = [](const Array& x) { return Ints(x.sizes.begin(), x.sizes.end() - 2); };
  Ints batch = broadcast(batch_of(a), batch_of(b)), sizes = batch, of_a = batch, of_b = batch;
  of_a.insert(of_a.end(), {a.sizes.end()[-2], a.sizes.back()});
  of_b.insert(of_b.end(), {b.sizes.end()[-2], b.sizes.back()});
  sizes.insert(sizes.end(), {a.sizes.end()[-2], b.sizes.end()[-2]});
  a = broadcast_to(a, of_a);
  b = broadcast_to(b, of_b);
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) {
    std::vector<double> apart;
    for (int64_t m = 0; m < a.sizes.back(); m++) {
      Index i = at, j = at;
      i.back() = j.back() = m;
      j.end()[-2] = at.back();
      apart.push_back(a[i].real() - b[j].real());
    }
    y[at] = length(apart, p);
  });
  return {y};
}
std::vector<Array> pdist_of(const Arguments& in) {
  Array x = in.array(0);
  Array y = Array::filled({x.sizes[0] * (x.sizes[0] - 1) / 2});
  size_t at = 0;
  for (int64_t i = 0; i < x.sizes[0]; i++)
    for (int64_t j = i + 1; j < x.sizes[0]; j++) {
      std::vector<double> apart;
      for (int64_t m = 0; m < x.sizes[1]; m++) apart.push_back(x[{i, m}].real() - x[{j, m}].real());
      y.values[at++] = length(apart, in.number(1).real());
    }
  return {y};
}

}  // namespace

std::vector<OpCase> distance_cases() {
  const std::vector<DType> others = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble});
  std::vector<OpCase> cases = {
      {.name = "cdist",
       .torch = "cdist",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"plain", {m.tensor({3, 4}), m.tensor({2, 4})}},
                 {"one", {m.tensor({3, 4}), m.tensor({2, 4}), 1.0}},
                 {"three", {m.tensor({2, 3, 2}), m.tensor({2, 2, 2}), 3.0}},
                 {"one and a half", {m.tensor({3, 2}), m.tensor({2, 2}), 1.5}},
                 {"largest", {m.tensor({3, 4}), m.tensor({2, 4}), kInf}},
                 {"count", {m.tensor({3, 4}), m.tensor({2, 4}), 0.0}},
                 {"broadcast", {m.tensor({2, 1, 3, 2}), m.tensor({5, 2, 2})}},
                 {"large", {m.tensor({51, 33}), m.tensor({47, 33}), 2.0, int64_t{2}}, false}};
       },
       .reference = cdist_of,
       .errors = {{"columns",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 4}), m.tensor({2, 3})};
                   },
                   "cdist: X1 and X2 must have the same number of columns. X1: 4 X2: 3"}}},
      {.name = "pdist",
       .torch = "pdist",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"plain", {m.tensor({4, 3})}}, {"one", {m.tensor({3, 3}), 1.0}}, {"three", {m.tensor({3, 2}), 3.0}}};
       },
       .reference = pdist_of,
       .errors = {{"rank", [](Make& m) -> Values { return {m.tensor({3})}; },
                   "pdist: pdist only supports 2D tensors, got: 1D"}}},
      {.name = "pairwise_distance",
       .torch = "pairwise_distance",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"plain", {m.tensor({3, 4}), m.tensor({3, 4})}},
                 {"kept", {m.tensor({3, 4}), m.tensor({3, 4}), 2.0, 1e-6, true}},
                 {"one", {m.tensor({2, 3, 4}), m.tensor({3, 4}), 1.0}},
                 {"three", {m.tensor({4}), m.tensor({3, 4}), 3.0}},
                 {"largest", {m.tensor({3, 4}), m.tensor({3, 4}), kInf}, false}};
       },
       .reference =
           [](const Arguments& in) {
             double p = in.number(2).real(), eps = in.number(3).real();
             Array apart =
                 zipped(in.array(0), in.array(1), [&](Complex a, Complex b) { return std::abs(a - b + eps); });
             return std::vector{along(apart, apart.rank() - 1, in.flag(4),
                                      [&](const std::vector<double>& line) { return length(line, p); })};
           }},
      {.name = "cosine_similarity",
       .torch = "cosine_similarity",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"plain", {m.tensor({3, 4}), m.tensor({3, 4})}},
                 {"rows", {m.tensor({2, 3, 4}), m.tensor({3, 4}), int64_t{-1}}},
                 {"columns", {m.tensor({3, 4}), m.tensor({3, 4}), int64_t{0}}}};
       },
       .reference =
           [](const Arguments& in) {
             Ints sizes = broadcast(in.array(0).sizes, in.array(1).sizes);
             Array a = broadcast_to(in.array(0), sizes), b = broadcast_to(in.array(1), sizes);
             int64_t dim = in.integer(2) < 0 ? in.integer(2) + a.rank() : in.integer(2);
             auto dot = [&](const Array& x, const Array& y) {
               return along(zipped(x, y, [](Complex u, Complex v) { return u * v; }), dim, false,
                            [](const std::vector<double>& line) {
                              double sum = 0;
                              for (double value : line) sum += value;
                              return sum;
                            });
             };
             Array both = dot(a, b), aa = dot(a, a), bb = dot(b, b);
             for (size_t i = 0; i < both.values.size(); i++)
               both.values[i] /= std::sqrt(aa.values[i].real() * bb.values[i].real());
             return std::vector{both};
           },
       .errors = {{"dim",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 4}), m.tensor({3, 4}), int64_t{2}};
                   },
                   "cosine_similarity: dim 2 is out of range for shape [3, 4]"}}},
      {.name = "normalize",
       .not_in_torch = "a function of nn in libtorch",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"plain", {m.tensor({3, 4})}},
                 {"one", {m.tensor({3, 4}), 1.0, int64_t{0}}},
                 {"three", {m.tensor({2, 3, 4}), 3.0, int64_t{-1}}},
                 {"large", {m.tensor({201, 333})}, false}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             int64_t dim = in.integer(2) < 0 ? in.integer(2) + x.rank() : in.integer(2);
             Array sizes = along(x, dim, true,
                                 [&](const std::vector<double>& line) { return length(line, in.number(1).real()); });
             return std::vector{zipped(x, sizes, [](Complex a, Complex b) { return a / b; })};
           }},
      {.name = "local_response_norm",
       .not_in_torch = "a function of nn in libtorch",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"odd", {m.tensor({2, 5, 3}), int64_t{3}, 0.5}},
                 {"even", {m.tensor({1, 4, 2, 2}), int64_t{2}, 0.1, 0.5, 2.0}}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0), y = x;
             int64_t size = in.integer(1), first = -(size / 2);
             for_each_index(x.sizes, [&](const Index& at) {
               double sum = 0;
               for (int64_t i = first; i < first + size; i++) {
                 Index near = at;
                 near[1] += i;
                 if (near[1] >= 0 && near[1] < x.sizes[1]) sum += std::norm(x[near]);
               }
               double base = in.number(4).real() + in.number(2).real() * sum / static_cast<double>(size);
               y[at] = x[at] / std::pow(base, in.number(3).real());
             });
             return std::vector{y};
           },
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 4}), int64_t{2}};
                   },
                   "local_response_norm: Expected 3D or higher dimensionality input (got 2 dimensions)"}}}};
  for (OpCase& one : cases) {
    one.dtypes = real_floats;
    one.refused = others;
    if (one.name == "pairwise_distance") {
      one.dtypes = without(all_dtypes, {kBool, kUInt8});
      one.untested.push_back({kUInt8, "differences wrap round"});
      one.refused = {kBool};
      one.result_dtype = [](DType dtype) {
        return dtype == kComplex64 ? kFloat : dtype == kComplex128 ? kDouble : floating(dtype);
      };
    }
    one.tolerance = 20;
    one.same_bits_strided = false;
  }
  return cases;
}

}  // namespace cresset::test
