// Cases of ops/statistics.
#include <cmath>
#include <limits>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/reduce_samples.h"

namespace cresset::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Complex product(const Line& values) {
  Complex y = 1;
  for (Complex value : values) y *= value;
  return y;
}
Complex any_of(const Line& values) {
  for (Complex value : values)
    if (value != 0.0) return 1;
  return 0;
}
Complex all_of(const Line& values) {
  for (Complex value : values)
    if (value == 0.0) return 0;
  return 1;
}
Complex nonzeros(const Line& values) {
  double count = 0;
  for (Complex value : values) count += value != 0.0;
  return count;
}
Line numbers_of(const Line& values) {
  Line numbers;
  for (Complex value : values)
    if (!std::isnan(value.real())) numbers.push_back(value);
  return numbers;
}
Complex nan_total(const Line& values) { return total(numbers_of(values)); }
Complex nan_average(const Line& values) { return values.empty() ? Complex(kNan) : average(numbers_of(values)); }
Complex log_sum_exp(const Line& values) {
  if (values.empty()) return -std::numeric_limits<double>::infinity();
  double top = largest(values).real(), sum = 0;
  if (!std::isfinite(top)) return top;
  for (Complex value : values) sum += std::exp(value.real() - top);
  return top + std::log(sum);
}
double variance(const Line& values, double correction) {
  Complex mean = average(values);
  double m2 = 0, count = static_cast<double>(values.size());
  for (Complex value : values) m2 += std::norm(value - mean);
  return m2 / std::max(0.0, count - correction);
}

std::vector<Array> of_dtype(Array y, DType dtype) {
  y.dtype = dtype;
  return {y};
}
Reference with_dtype(Reference f, DType dtype) {
  return [f, dtype](const Arguments& in) { return of_dtype(f(in).at(0), dtype); };
}
// bool, but uint8 of uint8.
Reference truth(Reference f) {
  return [f](const Arguments& in) { return of_dtype(f(in).at(0), in.dtype == kUInt8 ? kUInt8 : kBool); };
}

// Products of many numbers near 1 or 0.
std::vector<Sample> product_samples(Make& m) {
  bool whole = is_integral(m.dtype, true);
  Tensor large = whole ? m.integers({90, 400}, 0, 2, m.dtype)
                       : tensor_of(
                             [] {
                               Array x = Array::filled({90, 400});
                               for (size_t i = 0; i < x.values.size(); i++)
                                 x.values[i] = i % 97 == 0 ? 2 : i % 97 == 50 ? 0.5 : 1;
                               return x;
                             }(),
                             m.dtype);
  auto with_zeros = [&](std::vector<double> values) {
    Array x = Array::filled({static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); i++) x.values[i] = values[i];
    return tensor_of(x, m.dtype);
  };
  return {{"vector", {m.tensor({5})}},
          {"0-d", {m.tensor({})}},
          {"empty", {m.tensor({0, 3})}},
          {"3-d", {m.integers({2, 3, 2}, 1, 3, m.dtype)}},
          {"one zero", {with_zeros({2, 0, 3, 1})}},
          {"two zeros", {with_zeros({2, 0, 3, 0})}},
          {"large", {large}, false}};
}
std::vector<Sample> product_dim_samples(Make& m) {
  std::vector<Sample> samples = {{"rows", {m.tensor({3, 4}), int64_t{-1}}},
                                 {"columns", {m.tensor({3, 4}), int64_t{0}, true}},
                                 {"zeros", {m.integers({4, 5}, 0, 3, m.dtype), int64_t{1}}},
                                 {"middle", {m.integers({2, 3, 2}, 1, 3, m.dtype), int64_t{1}}},
                                 {"0-d", {m.tensor({}), int64_t{0}}},
                                 {"empty", {m.tensor({0, 3}), int64_t{1}}},
                                 {"over nothing", {m.tensor({3, 0}), int64_t{1}}}};
  for (Sample& sample : product_samples(m))
    if (sample.label == "large")
      for (int64_t dim : {0, 1}) samples.push_back({"large", {sample.arguments[0], dim}, false});
  return samples;
}
std::vector<Sample> truth_dim_samples(Make& m) {
  std::vector<Sample> samples = picked_samples(m);
  samples.push_back({"zeros", {m.integers({40, 3}, 0, 2, m.dtype), int64_t{1}}});
  samples.push_back({"over nothing", {m.tensor({3, 0}), int64_t{1}}});
  return samples;
}
std::vector<Sample> truth_samples(Make& m) {
  std::vector<Sample> samples = unary_samples(m);
  samples.push_back({"zeros", {m.integers({3}, 0, 1, m.dtype)}});
  samples.push_back({"ones", {m.integers({3}, 1, 2, m.dtype)}});
  return samples;
}
std::vector<Sample> nan_samples(Make& m) {
  std::vector<Sample> samples = dim_samples(m);
  for (const Sample& sample : unary_samples(m)) samples.push_back(sample);
  if (is_floating_point(m.dtype)) {
    Tensor holes = tensor_of({{2, 3}, {1, kNan, 3, kNan, 5, 6}}, m.dtype);
    samples.push_back({"nan", {holes}, false});
    samples.push_back({"nan in columns", {holes, Ints{0}, true}, false});
  }
  return samples;
}

// PyTorch 1.13 refuses an empty list in some ops and takes its count for 1 in others' gradients.
Samples without_empty_list(Samples samples) {
  return [samples](Make& m) {
    std::vector<Sample> list = samples(m);
    std::erase_if(list, [](const Sample& sample) { return sample.label == "all"; });
    return list;
  };
}

// ---- var, std and with the mean, in three forms each
enum class Form : uint8_t { all, dim, correction };
Reference moment(Form form, bool root, bool with_mean) {
  return [=](const Arguments& in) {
    Ints dims = form == Form::all ? Ints{} : in.integers(1);
    bool keep = form != Form::all && in.flag(form == Form::dim ? 3 : 3);
    double correction = form == Form::all   ? in.flag(1)
                        : form == Form::dim ? in.flag(2)
                        : in.given(2)       ? static_cast<double>(in.integer(2))
                                            : 1;
    Array y = reduced(in.array(0), dims, keep, [&](const Line& line) -> Complex {
      double v = variance(line, correction);
      return root ? std::sqrt(v) : v;
    });
    y.dtype = to_real(in.dtype);
    if (!with_mean) return std::vector{y};
    Array mean = reduced(in.array(0), dims, keep, average);
    mean.dtype = in.dtype;
    return std::vector{y, mean};
  };
}
std::vector<Sample> moment_samples(Form form, Make& m) {
  std::vector<Sample> samples;
  if (form == Form::all) {
    for (Sample& sample : unary_samples(m)) {
      if (sample.label == "0-d" || sample.label == "empty") sample.differentiate = false;
      samples.push_back(sample);
    }
    samples.push_back({"biased", {m.tensor({2, 3}), false}});
    return samples;
  }
  samples = without_empty_list(dim_samples)(m);
  for (Sample& sample : samples) {
    bool keep = sample.arguments.size() > 2;
    if (sample.label == "0-d" || sample.label == "over nothing" || sample.label == "empty result")
      sample.differentiate = false;
    if (keep) sample.arguments.pop_back();
    sample.arguments.push_back(form == Form::dim ? Value(true) : keep ? Value(int64_t{2}) : Value());
    if (keep) sample.arguments.push_back(true);
  }
  if (form == Form::dim)
    samples.push_back({"biased", {m.tensor({2, 3}), Ints{1}, false, true}});
  else
    samples.push_back({"all", {m.tensor({2, 3}), std::monostate(), int64_t{0}}});
  if (form == Form::correction && m.dtype == kFloat) {  // far from zero: what naive sums of squares lose
    Array far = Array::filled({40, 70});
    for (size_t i = 0; i < far.values.size(); i++) far.values[i] = 30000 + static_cast<double>(i % 7) / 4;
    samples.push_back({"far rows", {tensor_of(far, kFloat), Ints{1}, int64_t{1}}, false});
    samples.push_back({"far columns", {tensor_of(far, kFloat), Ints{0}, int64_t{1}}, false});
  }
  return samples;
}
void add_moments(std::vector<OpCase>& cases) {
  struct Kind {
    const char* name;
    bool root, with_mean;
  };
  for (Kind kind : {Kind{"var", false, false}, Kind{"std", true, false}, Kind{"var_mean", false, true},
                    Kind{"std_mean", true, true}})
    for (Form form : {Form::all, Form::dim, Form::correction}) {
      std::string overload = form == Form::all ? "" : form == Form::dim ? "dim" : "correction", name = kind.name;
      OpCase c;
      c.name = name;
      c.overload = overload;
      c.torch = overload.empty() ? name : name + "." + overload;
      c.samples = [form](Make& m) { return moment_samples(form, m); };
      c.reference = moment(form, kind.root, kind.with_mean);
      c.dtypes = floats;
      c.refused = whole_dtypes();
      c.result_dtype = to_real;
      c.tolerance = 8;
      c.same_bits_strided = false;
      if (form != Form::all) {
        c.errors = {{"dim",
                     [form](Make& m) -> Values {
                       return {m.tensor({2, 3}), Ints{2}, form == Form::dim ? Value(true) : Value(int64_t{1})};
                     },
                     ": dim 2 is out of range for shape [2, 3]"}};
      }
      cases.push_back(c);
    }
}

}  // namespace

std::vector<OpCase> statistics_cases() {
  std::vector<OpCase> cases = {
      {.name = "prod",
       .torch = "prod",
       .samples = product_samples,
       .reference = over_all(product),
       .result_dtype = summed,
       .tolerance = 10,
       .same_bits_strided = false},
      {.name = "prod",
       .overload = "dim",
       .torch = "prod.dim_int",
       .samples = product_dim_samples,
       .reference = over_dims(product),
       .result_dtype = summed,
       .tolerance = 10,
       .errors = {bad_dim("prod")},
       .same_bits_strided = false},
      {.name = "any",
       .torch = "any",
       .samples = truth_samples,
       .reference = truth(over_all(any_of)),
       .gradient = false},
      {.name = "any",
       .overload = "dim",
       .torch = "any.dim",
       .samples = truth_dim_samples,
       .reference = truth(over_dims(any_of)),
       .gradient = false,
       .errors = {bad_dim("any")}},
      {.name = "all",
       .torch = "all",
       .samples = truth_samples,
       .reference = truth(over_all(all_of)),
       .gradient = false},
      {.name = "all",
       .overload = "dim",
       .torch = "all.dim",
       .samples = truth_dim_samples,
       .reference = truth(over_dims(all_of)),
       .gradient = false,
       .errors = {bad_dim("all")}},
      {.name = "count_nonzero",
       .torch = "count_nonzero",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = truth_samples(m);
             for (const Sample& sample : truth_dim_samples(m))
               if (sample.arguments.size() == 2) samples.push_back(sample);
             return samples;
           },
       .reference = with_dtype(
           [](const Arguments& in) { return std::vector{reduced(in.array(0), in.integers(1), false, nonzeros)}; },
           kInt64),
       .gradient = false,
       .errors = {bad_dim("count_nonzero")}},
      {.name = "count_nonzero",
       .overload = "dim_IntList",
       .torch = "count_nonzero.dim_IntList",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = dim_samples(m);
             for (Sample& sample : samples) sample.arguments.resize(2);
             return samples;
           },
       .reference = with_dtype(
           [](const Arguments& in) { return std::vector{reduced(in.array(0), in.integers(1), false, nonzeros)}; },
           kInt64),
       .gradient = false},
      {.name = "nansum",
       .torch = "nansum",
       .samples = nan_samples,
       .reference = over_dims(nan_total),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .result_dtype = summed,
       .tolerance = 20,
       .same_bits_strided = false},
      {.name = "nanmean",
       .torch = "nanmean",
       .samples = without_gradient_of_nothing(nan_samples),
       .reference = over_dims(nan_average),
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 20,
       .same_bits_strided = false},
      {.name = "logsumexp",
       .torch = "logsumexp",
       .samples = without_empty_list(dim_samples),
       .reference = over_dims(log_sum_exp),
       .dtypes = ordered_dtypes(),
       .refused = complex_dtypes(),
       .result_dtype = floating,
       .tolerance = 8,
       .same_bits_strided = false},
  };
  add_moments(cases);
  return cases;
}

}  // namespace cresset::test
