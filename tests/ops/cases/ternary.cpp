// Cases of ops/ternary.
#include "tests/ops/cases/pairs.h"

namespace cresset::test {
namespace {

std::vector<Sample> lerp_samples(Make& make) {
  std::vector<Sample> samples;
  for (double weight : {0.25, 0.75})
    for (Sample sample : binary_samples(make)) {
      if (is_complex(make.dtype) && sample.label == "inf and nan") continue;
      sample.label += message_of(" at ", weight);
      sample.arguments.emplace_back(is_complex(make.dtype) ? Scalar(Complex(weight, 0.1)) : Scalar(weight));
      samples.push_back(sample);
    }
  return samples;
}
Complex interpolated(Complex a, Complex b, Complex w) {
  if (a.imag() == 0 && b.imag() == 0 && w.imag() == 0) {
    double x = a.real(), y = b.real(), t = w.real();
    return t < 0.5 ? x + t * (y - x) : y - (y - x) * (1 - t);
  }
  return a + w * (b - a);
}
Samples with_value(const Samples& given) {
  return [given](Make& make) {
    std::vector<Sample> samples = given(make);
    Sample more = samples[0];
    more.label = "value";
    more.arguments.push_back(number_for(make));
    samples.push_back(more);
    if (is_complex(make.dtype))
      std::erase_if(samples, [](const Sample& sample) { return sample.label == "inf and nan"; });
    return samples;
  };
}
std::vector<Array> added(const Arguments& in, const std::function<Complex(Complex, Complex)>& f) {
  Complex value = in.number(3);
  Array product = zipped(in.array(1), in.array(2), [&](Complex b, Complex c) { return f(b, c); });
  return {zipped(in.array(0), product, [&](Complex a, Complex p) {
    return p.imag() == 0 && value.imag() == 0 && a.imag() == 0 ? Complex(a.real() + value.real() * p.real())
                                                               : a + value * p;
  })};
}
void add_where(std::vector<OpCase>& cases, const std::string& overload, bool number_self, bool number_other) {
  cases.push_back({.name = "where",
                   .overload = overload,
                   .torch = "where." + overload,
                   .samples =
                       [=](Make& make) {
                         std::vector<Sample> samples = unary_samples(make);
                         for (Sample& sample : samples) {
                           Tensor x = std::get<Tensor>(sample.arguments[0]);
                           Value number = number_for(make);
                           sample.arguments = {make.condition(x.sizes().vec()), number_self ? number : Value(x),
                                               number_other ? number : Value(x)};
                         }
                         return samples;
                       },
                   .reference = elementwise([](Complex c, Complex a, Complex b) { return c != 0.0 ? a : b; })});
}

}  // namespace

std::vector<OpCase> ternary_cases() {
  std::vector<OpCase> cases;
  cases.push_back({.name = "lerp",
                   .overload = "Scalar",
                   .torch = "lerp.Scalar",
                   .samples = lerp_samples,
                   .reference = elementwise(interpolated),
                   .dtypes = floats,
                   .refused = not_floats(),
                   .errors = {{"dtypes",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}, kFloat), make.tensor({2}, kDouble), Scalar(0.5)};
                               },
                               "lerp: expected dtype float32 for `end` but got dtype float64"}}});
  cases.push_back({.name = "lerp",
                   .torch = "lerp.Tensor",
                   .samples =
                       [](Make& make) {
                         std::vector<Sample> samples = three_samples(make);
                         if (is_complex(make.dtype))
                           std::erase_if(samples, [](const Sample& s) { return s.label == "inf and nan"; });
                         return samples;
                       },
                   .reference = elementwise(interpolated),
                   .dtypes = floats,
                   .refused = not_floats(),
                   .tolerance = 4});
  cases.push_back({.name = "addcmul",
                   .torch = "addcmul",
                   .samples = with_value(three_samples),
                   .reference =
                       [](const Arguments& in) {
                         return added(in, [](Complex b, Complex c) {
                           return b.imag() == 0 && c.imag() == 0 ? Complex(b.real() * c.real()) : b * c;
                         });
                       },
                   .dtypes = all_but({kBool}),
                   .refused = {kBool},
                   .tolerance = 4});
  cases.push_back({.name = "addcdiv",
                   .torch = "addcdiv",
                   .samples = with_value(three_samples),
                   .reference =
                       [](const Arguments& in) {
                         return added(in, [](Complex b, Complex c) {
                           return b.imag() == 0 && c.imag() == 0 ? Complex(b.real() / c.real()) : b / c;
                         });
                       },
                   .dtypes = floats,
                   .refused = not_floats(),
                   .tolerance = 8,
                   .errors = {{"integers",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}, kInt64), make.tensor({2}, kInt64), make.tensor({2}, kInt64)};
                               },
                               "addcdiv: Integer division with addcdiv is no longer supported"}}});
  add_where(cases, "ScalarSelf", true, false);
  add_where(cases, "ScalarOther", false, true);
  cases.push_back({.name = "where",
                   .overload = "Scalar",
                   .torch = "where.Scalar",
                   .samples = [](Make& make) -> std::vector<Sample> {
                     return {{"integers", {make.condition({3, 4}), Scalar(1), Scalar(2)}},
                             {"empty", {make.condition({0}), Scalar(1), Scalar(2)}}};
                   },
                   .reference =
                       [](const Arguments& in) {
                         Array y = in.array(0);
                         for (Complex& v : y.values) v = v != 0.0 ? in.number(1) : in.number(2);
                         y.dtype = kInt64;
                         return std::vector{y};
                       }});
  cases.push_back({.name = "where",
                   .overload = "condition",
                   .torch = "where",
                   .samples = [](Make& make) -> std::vector<Sample> {
                     return {{"2-d", {make.tensor({3, 4})}, false, true},
                             {"0-d", {make.tensor({})}, false, true},
                             {"mask", {make.condition({5})}, false, true}};
                   },
                   .reference =
                       [](const Arguments& in) {
                         Array x = in.array(0);
                         if (x.sizes.empty()) x.sizes = {1};
                         std::vector<Array> places(x.sizes.size(), Array{{0}, {}, kInt64});
                         for_each_index(x.sizes, [&](const Index& at) {
                           if (x[at] == 0.0) return;
                           for (size_t i = 0; i < at.size(); i++) {
                             places[i].values.emplace_back(static_cast<double>(at[i]));
                             places[i].sizes[0]++;
                           }
                         });
                         return places;
                       },
                   .gradient = false});
  return cases;
}

}  // namespace cresset::test
