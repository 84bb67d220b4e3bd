// Cases of ops/vector_norm.
#include <cmath>
#include <limits>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/reduce_samples.h"

namespace cresset::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Complex norm_of(const Line& values, double p) {
  double y = p == -kInf ? kInf : 0;
  for (Complex value : values) {
    double size = std::hypot(value.real(), value.imag());
    if (std::isnan(value.real())) return std::numeric_limits<double>::quiet_NaN();
    if (p == 0)
      y += size != 0;
    else if (std::isinf(p))
      y = p > 0 ? std::max(y, size) : std::min(y, size);
    else
      y += std::pow(size, p);
  }
  return p == 0 || std::isinf(p) ? y : std::pow(y, 1 / p);
}
double order(const Arguments& in, size_t i) { return in.given(i) ? in.number(i).real() : 2; }
std::vector<Array> norm_reference(const Arguments& in, size_t dims, size_t dtype) {
  Array y = reduced(in.array(0), in.given(dims) ? in.integers(dims) : Ints{}, in.given(dims) && in.flag(dims + 1),
                    [&](const Line& line) { return norm_of(line, order(in, 1)); });
  y.dtype = to_real(in.given(dtype) ? std::get<DType>(in[dtype]) : in.dtype);
  return {y};
}
const std::vector<double> orders = {2, 1, 0, 3, 0.5, 1.5, -1, kInf, -kInf};

std::vector<Sample> norm_samples(Make& m) {
  std::vector<Sample> samples = {{"default", {m.tensor({3, 4})}},
                                 {"0-d", {m.tensor({})}},
                                 {"empty", {m.tensor({0, 3})}},
                                 {"empty, p = inf", {m.tensor({0, 3}), Scalar(kInf)}}};
  if (element_size(m.dtype) >= 4) samples.push_back({"large", {m.tensor({201, 333})}, false});  // PyTorch adds halves
  for (double p : orders) samples.push_back({"p = " + std::to_string(p), {m.tensor({2, 5}), Scalar(p)}});
  samples.push_back({"zeros", {m.integers({4}, 0, 1, m.dtype)}, false});
  return samples;
}
std::vector<Sample> norm_dim_samples(Make& m) {
  std::vector<Sample> samples = {{"default", {m.tensor({3, 4}), std::monostate(), Ints{1}}},
                                 {"columns, kept", {m.tensor({3, 4}), Scalar(2), Ints{0}, true}},
                                 {"two of three", {m.tensor({2, 3, 4}), Scalar(3), Ints{0, 2}}},
                                 {"0-d", {m.tensor({}), Scalar(2), Ints{0}}},
                                 {"over nothing", {m.tensor({3, 0}), Scalar(2), Ints{1}}},
                                 {"empty result", {m.tensor({0, 3}), Scalar(2), Ints{1}}},
                                 {"large rows", {m.tensor({61, 333}), Scalar(1), Ints{1}}, false},
                                 {"large columns", {m.tensor({301, 63}), Scalar(2), Ints{0}}, false}};
  for (double p : orders) {
    samples.push_back({"rows, p = " + std::to_string(p), {m.tensor({2, 5}), Scalar(p), Ints{1}}});
    samples.push_back({"columns, p = " + std::to_string(p), {m.tensor({5, 2}), Scalar(p), Ints{0}, true}});
  }
  return samples;
}
Samples with_dtype(Samples samples) {
  return [samples](Make& m) {
    std::vector<Sample> list = samples(m);
    DType wide = is_complex(m.dtype) ? kComplex128 : kDouble;
    for (Sample& sample : list) {
      if (sample.arguments.size() == 1) sample.arguments.push_back(std::monostate());
      if (sample.arguments.size() == 3) sample.arguments.push_back(false);
      sample.arguments.push_back(wide);
    }
    return list;
  };
}

// ---- covariances
std::vector<std::vector<Complex>> rows_of(const Array& x) {
  auto n = static_cast<size_t>(x.rank() == 2 ? x.sizes[1] : x.numel());
  std::vector<std::vector<Complex>> rows(x.rank() == 2 ? static_cast<size_t>(x.sizes[0]) : 1);
  for (size_t i = 0; i < x.values.size(); i++) rows[i / n].push_back(x.values[i]);
  return rows;
}
Array covariances(const Arguments& in, bool normalised) {
  auto rows = rows_of(in.array(0));
  size_t n = rows[0].size();
  std::vector<double> w(n, 1);
  bool weighted = !normalised && (in.given(2) || in.given(3));
  double correction = normalised ? 1 : static_cast<double>(in.integer(1)), total_weight = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    if (weighted && in.given(2)) w[i] *= in.array(2).values[i].real();
    if (weighted && in.given(3)) w[i] *= in.array(3).values[i].real();
    total_weight += w[i];
    squares += w[i] * (weighted && in.given(3) ? in.array(3).values[i].real() : 1);
  }
  double divisor = total_weight - correction * (weighted && in.given(3) ? squares / total_weight : 1);
  for (auto& row : rows) {
    Complex mean = 0;
    for (size_t i = 0; i < n; i++) mean += row[i] * w[i] / total_weight;
    for (Complex& value : row) value -= mean;
  }
  auto count = static_cast<int64_t>(rows.size());
  Array y = Array::filled({count, count});
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b < count; b++)
      for (size_t i = 0; i < n; i++)
        y[{a, b}] += rows[static_cast<size_t>(a)][i] * std::conj(rows[static_cast<size_t>(b)][i]) * w[i] / divisor;
  if (normalised) {
    Array c = y;
    for (int64_t a = 0; a < count; a++)
      for (int64_t b = 0; b < count; b++) y[{a, b}] /= std::sqrt(c[{a, a}].real() * c[{b, b}].real());
  }
  if (count == 1) y.sizes = {};
  y.dtype = floating(in.dtype);
  return y;
}

using Untested = std::vector<std::pair<DType, std::string>>;
Untested converted_norms() {
  Untested all;
  for (DType dtype : {kComplex64, kComplex128})
    all.emplace_back(dtype, "PyTorch 1.13 gives complex norms, without gradients");
  for (DType dtype : whole_dtypes()) all.emplace_back(dtype, "converted first");
  return all;
}
Untested uncorrelated() {
  Untested all;
  for (DType dtype : {kUInt8, kInt8, kInt16, kInt32}) all.emplace_back(dtype, "as int64");
  for (DType dtype : {kFloat16, kBFloat16}) all.emplace_back(dtype, "differences of sums lose too much");
  return all;
}

}  // namespace

std::vector<OpCase> vector_norm_cases() {
  auto two = [](const Arguments& in, size_t dims, size_t dtype) { return norm_reference(in, dims, dtype); };
  return {
      {.name = "norm",
       .torch = "norm.Scalar",
       .samples = norm_samples,
       .reference = [two](const Arguments& in) { return two(in, 9, 9); },
       .dtypes = floats,
       .refused = whole_dtypes(),
       .result_dtype = to_real,
       .tolerance = 20,
       .same_bits_strided = false},
      {.name = "norm",
       .overload = "dtype",
       .torch = "norm.ScalarOpt_dtype",
       .samples = with_dtype(norm_samples),
       .reference = [two](const Arguments& in) { return two(in, 9, 2); },
       .dtypes = real_floats,
       .refused = {},
       .tolerance = 20,
       .same_bits_strided = false,
       .untested = converted_norms()},
      {.name = "norm",
       .overload = "dim",
       .torch = "norm.ScalarOpt_dim",
       .samples = norm_dim_samples,
       .reference = [two](const Arguments& in) { return two(in, 2, 9); },
       .dtypes = floats,
       .refused = whole_dtypes(),
       .result_dtype = to_real,
       .tolerance = 20,
       .errors = {{"dim",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), Scalar(2), Ints{2}};
                   },
                   "norm: dim 2 is out of range for shape [2, 3] (expected -2 to 1)"}},
       .same_bits_strided = false},
      {.name = "norm",
       .overload = "dim_dtype",
       .torch = "norm.ScalarOpt_dim_dtype",
       .samples = with_dtype(norm_dim_samples),
       .reference = [two](const Arguments& in) { return two(in, 2, 4); },
       .dtypes = real_floats,
       .refused = {},
       .tolerance = 20,
       .same_bits_strided = false,
       .untested = converted_norms()},
      {.name = "dist",
       .torch = "dist",
       .samples = [](Make& m) -> std::vector<Sample> {
         std::vector<Sample> samples = {{"broadcast", {m.tensor({3, 4}), m.tensor({4})}}};
         for (double p : {2.0, 1.0, 0.0, 3.0, kInf})
           samples.push_back({"p = " + std::to_string(p), {m.tensor({2, 3}), m.tensor({3}), Scalar(p)}, p != 0});
         return samples;
       },
       .reference =
           [](const Arguments& in) {
             Array d = zipped(in.array(0), in.array(1), [](Complex a, Complex b) { return a - b; });
             Array y = Array::number(norm_of(d.values, order(in, 2)));
             y.dtype = to_real(in.dtype);
             return std::vector{y};
           },
       .dtypes = floats,
       .refused = whole_dtypes(),
       .result_dtype = to_real,
       .tolerance = 20,
       .same_bits_strided = false},
      {.name = "renorm",
       .torch = "renorm",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({3, 4}), Scalar(2), int64_t{0}, Scalar(3)}},
                 {"columns, 1-norm", {m.tensor({3, 4}), Scalar(1), int64_t{-1}, Scalar(2.5)}},
                 {"3-d", {m.tensor({2, 3, 2}), Scalar(3), int64_t{1}, Scalar(1)}}};
       },
       .reference =
           [](const Arguments& in) {
             Array y = in.array(0);
             double p = in.number(1).real(), most = in.number(3).real();
             auto d = static_cast<size_t>(in.integer(2) < 0 ? in.integer(2) + y.rank() : in.integer(2));
             std::vector<Line> slices(static_cast<size_t>(y.sizes[d]));
             for_each_index(y.sizes, [&](const Index& i) { slices[static_cast<size_t>(i[d])].push_back(y[i]); });
             for_each_index(y.sizes, [&](const Index& i) {
               double length = norm_of(slices[static_cast<size_t>(i[d])], p).real();
               if (length > most) y[i] *= most / (length + 1e-7);
             });
             return std::vector{y};
           },
       .dtypes = floats,
       .refused = whole_dtypes(),
       .tolerance = 20,
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({3}), Scalar(2), int64_t{0}, Scalar(1)};
                   },
                   "renorm: input needs at least 2 dimensions, got 1 dimensions"}},
       .same_bits_strided = false},
      {.name = "cov",
       .torch = "cov",
       .samples = [](Make& m) -> std::vector<Sample> {
         Tensor often = m.integers({5}, 1, 4), weights = tensor_of({{5}, {0.5, 1, 2, 0.25, 1.5}}, kDouble);
         std::vector<Sample> samples = {{"rows", {m.tensor({3, 5})}},
                                        {"vector", {m.tensor({5})}},
                                        {"biased", {m.tensor({2, 5}), int64_t{0}}},
                                        {"repeated", {m.tensor({2, 5}), int64_t{1}, often}}};
         if (m.dtype == kDouble || m.dtype == kComplex128) {
           samples.push_back({"weighted", {m.tensor({2, 5}), int64_t{0}, m.integers({5}, 1, 2), weights}});
           samples.push_back({"both", {m.tensor({2, 5}), int64_t{1}, often, weights}});
         }
         return samples;
       },
       .reference = [](const Arguments& in) { return std::vector{covariances(in, false)}; },
       .dtypes = {kFloat, kDouble, kComplex64, kComplex128, kInt64},
       .refused = {kBool},
       .result_dtype = floating,
       .tolerance = 20,
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3, 4})};
                   },
                   "cov(): expected input to have two or fewer dimensions"}},
       .same_bits_strided = false,
       .constants = {2, 3},
       .untested = uncorrelated()},
      {.name = "corrcoef",
       .torch = "corrcoef",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"rows", {m.tensor({3, 5})}}, {"vector", {m.tensor({5})}}};
       },
       .reference = [](const Arguments& in) { return std::vector{covariances(in, true)}; },
       .dtypes = {kFloat, kDouble, kComplex64, kComplex128, kInt64},
       .refused = {kBool},
       .result_dtype = floating,
       .tolerance = 20,
       .second_gradient = true,
       .errors = {{"rank",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3, 4})};
                   },
                   "corrcoef(): expected input to have two or fewer dimensions"}},
       .same_bits_strided = false,
       .untested = uncorrelated()},
  };
}

}  // namespace cresset::test
