// Cases of ops/activation.
#include <limits>

#include "tests/ops/cases/pairs.h"

namespace cresset::test {
namespace {

std::vector<DType> others() { return all_but(real_floats); }
std::vector<DType> not_real() { return {kBool, kComplex64, kComplex128}; }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double elu(double x, double alpha, double scale, double input_scale) {
  return x > 0 ? scale * x : std::isnan(x) ? x : scale * alpha * std::expm1(x * input_scale);
}
double hard_sigmoid(double x) { return std::isnan(x) ? x : std::min(std::max(x + 3, 0.0), 6.0) / 6; }

// Elements up to ten, which reach every branch.
std::vector<Sample> wide_samples(Make& make) {
  std::vector<Sample> samples = unary_samples(make);
  samples.push_back({"wide", {changed(make.tensor({4, 5}), [](Complex x) { return x * 4.03; })}});
  samples.push_back({"very wide", {changed(make.tensor({40}), [](Complex x) { return x * 50.0; })}, false});
  return samples;
}
Samples wide_with(std::vector<Values> lists) {
  return [lists](Make& make) {
    std::vector<Sample> samples = wide_samples(make);
    for (const Values& list : lists) {
      Sample more{message_of("arguments ", samples.size()),
                  {changed(make.tensor({4, 5}), [](Complex x) { return x * 2.03; })}};
      more.arguments.insert(more.arguments.end(), list.begin(), list.end());
      samples.push_back(more);
    }
    return samples;
  };
}
OpCase activation(const std::string& name, const Reference& reference, const Samples& samples = wide_samples,
                  bool in_torch = true) {
  return {.name = name,
          .torch = in_torch ? name : "",
          .not_in_torch = in_torch ? "" : "a composition of the nn library there",
          .samples = samples,
          .reference = reference,
          .dtypes = real_floats,
          .refused = others(),
          .tolerance = 4};
}
// With further arguments, all of them numbers.
Reference with_numbers(const std::function<double(double, const Arguments&)>& f) {
  return [f](const Arguments& in) {
    Array y = in.array(0);
    for (Complex& v : y.values) v = f(v.real(), in);
    return std::vector{y};
  };
}

std::vector<Sample> prelu_samples(Make& make) {
  return {{"one weight", {make.tensor({3, 4}), make.tensor({1})}},
          {"0-d", {make.tensor({}), make.tensor({1})}},
          {"vector", {make.tensor({5}), make.tensor({1})}},
          {"channels", {make.tensor({2, 3, 4}), make.tensor({3})}},
          {"matrix", {make.tensor({4, 3}), make.tensor({3})}},
          {"empty", {make.tensor({0, 3}), make.tensor({3})}},
          {"inf and nan", {make.special(), make.tensor({1})}, false},
          {"large", {make.tensor({67, 3, 333}), make.tensor({3})}, false}};
}
std::vector<Array> prelu_reference(const Arguments& in) {
  Array x = in.array(0), w = in.array(1);
  if (w.numel() == 1) w.sizes = {};
  if (w.numel() > 1) {
    w.sizes.assign(x.sizes.size(), 1);
    w.sizes[1] = w.numel();
  }
  return {zipped(x, w, [](Complex v, Complex slope) { return v.real() > 0 ? v : slope * v.real(); })};
}

std::vector<Sample> glu_samples(Make& make) {
  return {{"vector", {make.tensor({6})}},
          {"last", {make.tensor({3, 4})}},
          {"first", {make.tensor({4, 3}), int64_t{0}}},
          {"middle", {make.tensor({2, 4, 3}), int64_t{-2}}},
          {"empty", {make.tensor({2, 0})}},
          {"inf and nan", {make.special()}, false},
          {"large", {make.tensor({201, 332})}, false}};
}
std::vector<Array> glu_reference(const Arguments& in) {
  Array x = in.array(0);
  int64_t dim = in.integer(1) < 0 ? in.integer(1) + x.rank() : in.integer(1);
  auto sizes = x.sizes;
  int64_t half = sizes[static_cast<size_t>(dim)] /= 2;
  auto part = [&](int64_t from) {
    return gathered(x, sizes, [&](const Index& at) {
      Index place = at;
      place[static_cast<size_t>(dim)] += from;
      return place;
    });
  };
  return {zipped(part(0), part(half), [](Complex a, Complex b) { return a.real() * sigmoid(b.real()); })};
}

}  // namespace

std::vector<OpCase> activation_cases() {
  std::vector<OpCase> cases;
  auto number = [](const Arguments& in, size_t i) { return in.number(i).real(); };
  cases.push_back(activation("leaky_relu",
                             with_numbers([=](double x, const Arguments& in) { return x > 0 ? x : x * number(in, 1); }),
                             wide_with({{Scalar(0.3)}, {Scalar(0.0)}, {Scalar(-0.2)}})));
  cases.push_back(activation("elu", with_numbers([=](double x, const Arguments& in) {
                               return elu(x, number(in, 1), number(in, 2), number(in, 3));
                             }),
                             wide_with({{Scalar(0.7)}, {Scalar(1.3), Scalar(2), Scalar(0.5)}})));
  cases.push_back(
      activation("selu", real_unary([](double x) { return elu(x, 1.6732632423543772848, 1.0507009873554804934, 1); })));
  cases.push_back(activation(
      "celu", with_numbers([=](double x, const Arguments& in) { return elu(x, number(in, 1), 1, 1 / number(in, 1)); }),
      wide_with({{Scalar(2)}})));
  cases.back().errors = {{"alpha",
                          [](Make& make) -> Values {
                            return {make.tensor({2}), Scalar(0)};
                          },
                          "celu: ZeroDivisionError: alpha cannot be 0 for CELU"}};
  // In place, the slope below zero is worked out from the result, since the input is overwritten.
  for (OpCase& c : cases)
    if (c.name == "elu" || c.name == "selu" || c.name == "celu") c.same_bits_in_place = false;
  cases.push_back(activation("softplus", with_numbers([=](double x, const Arguments& in) {
                               double z = x * number(in, 1);
                               return z > number(in, 2) || std::isnan(x) ? x : softplus(z) / number(in, 1);
                             }),
                             wide_with({{Scalar(2)}, {Scalar(0.5), Scalar(1)}})));
  cases.push_back(activation("log_sigmoid", real_unary([](double x) { return -softplus(-x); })));
  cases.push_back(activation("mish", real_unary([](double x) { return x * std::tanh(softplus(x)); })));
  cases.push_back(
      activation("softsign", real_unary([](double x) { return x / (1 + std::abs(x)); }), wide_samples, false));
  cases.push_back(activation("tanhshrink", real_unary([](double x) { return x - std::tanh(x); }), wide_samples, false));
  cases.push_back(activation("hardtanh", with_numbers([=](double x, const Arguments& in) {
                               return std::isnan(x) ? x : std::min(std::max(x, number(in, 1)), number(in, 2));
                             }),
                             wide_with({{Scalar(-2), Scalar(1)}})));
  cases.back().dtypes = without(numbers(), {kUInt8});
  cases.back().refused = {kUInt8, kBool, kComplex64, kComplex128};  // uint8: the lower limit is negative
  cases.push_back(
      activation("relu6", real_unary([](double x) { return std::isnan(x) ? x : std::min(std::max(x, 0.0), 6.0); })));
  cases.back().dtypes = numbers();
  cases.back().refused = not_real();
  cases.push_back(activation("hardsigmoid", real_unary(hard_sigmoid)));
  cases.push_back(activation("hardswish", real_unary([](double x) { return x * hard_sigmoid(x); })));
  cases.push_back(activation("hardshrink", with_numbers([=](double x, const Arguments& in) {
                               return x >= -number(in, 1) && x <= number(in, 1) ? 0.0 : x;
                             }),
                             wide_with({{Scalar(1.21)}})));
  cases.push_back(activation("softshrink", with_numbers([=](double x, const Arguments& in) {
                               double l = number(in, 1);
                               return x > l ? x - l : x < -l ? x + l : 0.0;
                             }),
                             wide_with({{Scalar(1.21)}})));
  cases.back().errors = {{"lambd",
                          [](Make& make) -> Values {
                            return {make.tensor({2}), Scalar(-1)};
                          },
                          "softshrink: lambda must be greater or equal to 0, but found to be -1"}};
  cases.push_back(activation(
      "threshold", with_numbers([=](double x, const Arguments& in) { return x <= number(in, 1) ? number(in, 2) : x; }),
      with_arguments({Scalar(1), Scalar(7)})));
  cases.back().dtypes = numbers();
  cases.back().refused = not_real();
  cases.push_back(activation("rrelu", with_numbers([=](double x, const Arguments& in) {
                               return x > 0 ? x : x * (number(in, 1) + number(in, 2)) / 2;
                             }),
                             wide_with({{Scalar(0.1), Scalar(0.4)}})));
  cases.push_back(activation("prelu", prelu_reference, prelu_samples));
  cases.back().errors = {
      {"channels",
       [](Make& make) -> Values {
         return {make.tensor({2, 3}), make.tensor({2})};
       },
       "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and"}};
  cases.push_back(activation("glu", glu_reference, glu_samples));
  cases.back().errors = {{"odd", [](Make& make) -> Values { return {make.tensor({3})}; },
                          "glu: Halving dimension must be even, but dimension 0 is size 3"}};
  return cases;
}

}  // namespace cresset::test
