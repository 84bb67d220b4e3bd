// Cases of ops/loss_pointwise: each reference is the term's formula in double, then the reduction.
#include <cmath>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/loss_reductions.h"

namespace cresset::test {
namespace {

using Term = std::function<double(double, double)>;

std::vector<Array> reduced_by(const Array& each, int64_t reduction) {
  if (reduction == none) return {each};
  Complex total = 0;
  for (Complex value : each.values) total += value;
  return {Array::number(reduction == mean ? total / static_cast<double>(each.numel()) : total)};
}

// f(values) of the dtype, from a grid over (-1, 1) that is as long as the tensor.
Tensor mapped_tensor(Make& m, const Ints& sizes, const std::function<double(double)>& f) {
  Array array = read(m.tensor(sizes, kDouble));
  for (Complex& value : array.values) value = f(value.real() / 2.6);
  return tensor_of(array, m.dtype);
}
using Domain = std::function<Tensor(Make&, const Ints&)>;
Tensor anything(Make& m, const Ints& sizes) { return m.tensor(sizes); }
// Off the grid of `anything`, so that no difference is zero.
Tensor off_grid(Make& m, const Ints& sizes) {
  Array array = read(m.tensor(sizes));
  for (Complex& value : array.values) value = value * 0.73 + Complex(0.0917, is_complex(m.dtype) ? 0.041 : 0);
  return tensor_of(array, m.dtype);
}
Tensor fractions(Make& m, const Ints& sizes) {
  return mapped_tensor(m, sizes, [](double v) { return 0.5 + 0.48 * v; });
}
Tensor positive_numbers(Make& m, const Ints& sizes) {
  return mapped_tensor(m, sizes, [](double v) { return 1.7 + 1.45 * v; });
}
Tensor signs(Make& m, const Ints& sizes) {
  return mapped_tensor(m, sizes, [](double v) { return v > 0 ? 1 : -1; });
}

// x, t and a place for the reduction among what follows.
Samples pair_samples(Domain x, Domain t, std::function<Values(int64_t)> rest) {
  return [=](Make& m) {
    auto sample = [&](std::string label, const Ints& left, const Ints& right, int64_t reduction, bool small = true) {
      Values values{x(m, left), t(m, right)};
      for (Value& more : rest(reduction)) values.push_back(std::move(more));
      return Sample{std::move(label), std::move(values), small};
    };
    std::vector<Sample> list{
        sample("mean", {3, 4}, {3, 4}, mean),       sample("each", {3, 4}, {3, 4}, none),
        sample("sum", {3, 4}, {3, 4}, sum),         sample("0-d", {}, {}, mean),
        sample("0-d each", {}, {}, none),           sample("empty", {0, 3}, {0, 3}, sum),
        sample("empty each", {0, 3}, {0, 3}, none), sample("3-d", {2, 3, 5}, {2, 3, 5}, mean),
        sample("long row", {37}, {37}, mean),       sample("large each", {201, 333}, {201, 333}, none, false)};
    // libtorch adds up in the type itself, and float16 overflows.
    if (m.dtype != kFloat16) list.push_back(sample("large", {201, 333}, {201, 333}, mean, false));
    return list;
  };
}
Samples with_broadcasting(Samples samples, Domain x, Domain t, std::function<Values(int64_t)> rest) {
  return [=](Make& m) {
    std::vector<Sample> list = samples(m);
    for (int64_t reduction : {none, mean}) {
      Values values{x(m, {2, 3, 4}), t(m, {3, 1})};
      for (Value& more : rest(reduction)) values.push_back(std::move(more));
      // libtorch divides the gradient of a mean by the number of the input's elements, not of the terms.
      list.push_back({"broadcast, reduction " + std::to_string(reduction), std::move(values), reduction == none});
    }
    return list;
  };
}

Reference pair_reference(const Term& term, size_t reduction_at) {
  return [=](const Arguments& in) {
    Array each = zipped(in.array(0), in.array(1), [&](Complex x, Complex t) { return term(x.real(), t.real()); });
    return reduced_by(each, in.given(reduction_at) ? in.integer(reduction_at) : mean);
  };
}

// A function: lists of cases are made before the constants of other files.
std::vector<DType> not_real() { return without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}); }

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
Values only_reduction(int64_t reduction) { return {reduction}; }

OpCase pair_case(std::string name, Term term, Domain x = anything, Domain t = off_grid) {
  return {.name = name,
          .torch = name,
          .samples = with_broadcasting(pair_samples(x, t, only_reduction), x, t, only_reduction),
          .reference = pair_reference(term, 2),
          .dtypes = real_floats,
          .refused = not_real(),
          .tolerance = 4,
          .errors = {{"shapes",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), m.tensor({2, 4})};
                      },
                      name + ": shapes [2, 3] and [2, 4] do not broadcast"},
                     {"reduction",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), m.tensor({2, 3}), int64_t{3}};
                      },
                      name + ": reduction 3 is not a valid value", name == "mse_loss"}},
          .same_bits_strided = false};
}

// ---- losses with weights, and of three tensors
std::vector<Array> weighted_entropy(const Arguments& in, const Term& term) {
  Array each = zipped(in.array(0), in.array(1), [&](Complex x, Complex t) { return term(x.real(), t.real()); });
  if (in.given(2) && std::get<Tensor>(in[2]).defined())
    each = zipped(each, in.array(2), [](Complex a, Complex b) { return a * b; });
  return reduced_by(each, in.integer(3));
}
std::vector<Array> logit_entropy(const Arguments& in) {
  Array x = in.array(0), t = in.array(1), positive = Array::number(1);
  if (in.given(3) && std::get<Tensor>(in[3]).defined()) positive = in.array(3);
  Array yes = zipped(x, t, [](Complex x, Complex t) { return t.real() * softplus(-x.real()); });
  Array no = zipped(x, t, [](Complex x, Complex t) { return (1 - t.real()) * softplus(x.real()); });
  Array each = zipped(zipped(yes, positive, std::multiplies<>()), no, std::plus<>());
  if (in.given(2) && std::get<Tensor>(in[2]).defined()) each = zipped(each, in.array(2), std::multiplies<>());
  return reduced_by(each, in.integer(4));
}

std::vector<Sample> entropy_samples(Make& m) {
  std::vector<Sample> list = pair_samples(fractions, fractions, [](int64_t r) { return Values{Value(), r}; })(m);
  list.push_back({"weights", {fractions(m, {3, 4}), fractions(m, {3, 4}), positive_numbers(m, {4}), mean}});
  list.push_back({"weights, each", {fractions(m, {3, 4}), fractions(m, {3, 4}), positive_numbers(m, {3, 4}), none}});
  list.push_back({"at the ends",
                  {tensor_of({{4}, {0, 1, 0, 1}}, m.dtype), tensor_of({{4}, {0, 0, 1, 1}}, m.dtype), Value(), none},
                  false});
  return list;
}
std::vector<Sample> logit_samples(Make& m) {
  auto rest = [](int64_t r) { return Values{Value(), Value(), r}; };
  std::vector<Sample> list = pair_samples(anything, fractions, rest)(m);
  Tensor x = m.tensor({3, 4}), t = fractions(m, {3, 4}), weight = positive_numbers(m, {4}),
         positive = positive_numbers(m, {4});
  list.push_back({"weights", {x, t, weight, Value(), mean}});
  list.push_back({"positive weights", {x, t, Value(), positive, mean}});
  list.push_back({"both", {x, t, positive_numbers(m, {3, 1}), positive, none}});
  list.push_back({"far out",
                  {tensor_of({{6}, {-300, 300, 80, -80, 20, -20}}, m.dtype),
                   tensor_of({{6}, {0, 1, 0.5, 0.5, 1, 0}}, m.dtype), Value(), Value(), none},
                  false});
  return list;
}

std::vector<Array> ranking(const Arguments& in) {
  Array d = zipped(in.array(0), in.array(1), std::minus<>());
  double margin = in.number(3).real();
  if (is_integral(in.dtype, false)) {  // integers wrap around
    Array z = zipped(d, in.array(2), [&](Complex a, Complex t) { return stored_as(-a * t, in.dtype); });
    return reduced_by(
        zipped(z, Array::number(margin), [](Complex a, Complex m) { return std::max(0.0, a.real() + m.real()); }),
        in.integer(4));
  }
  return reduced_by(
      zipped(d, in.array(2), [&](Complex d, Complex t) { return std::max(0.0, margin - t.real() * d.real()); }),
      in.integer(4));
}
std::vector<Array> cosine_embedding(const Arguments& in) {
  Array a = in.array(0), b = in.array(1), target = in.array(2), each = target;
  double margin = in.number(3).real();
  int64_t n = a.sizes.back();
  for (size_t i = 0; i < each.values.size(); i++) {
    double ab = 0, aa = 1e-12, bb = 1e-12;
    for (int64_t k = 0; k < n; k++) {
      double x = a.values[i * static_cast<size_t>(n) + static_cast<size_t>(k)].real(),
             y = b.values[i * static_cast<size_t>(n) + static_cast<size_t>(k)].real();
      ab += x * y, aa += x * x, bb += y * y;
    }
    double cosine = ab / std::sqrt(aa * bb), t = target.values[i].real();
    each.values[i] = t == 1 ? 1 - cosine : t == -1 ? std::max(0.0, cosine - margin) : 0;
  }
  return reduced_by(each, in.integer(4));
}
std::vector<Array> gaussian(const Arguments& in) {
  Array d = zipped(in.array(0), in.array(1), std::minus<>()), v = in.array(2);
  if (v.rank() < d.rank()) v.sizes.push_back(1);
  double eps = in.number(4).real(), constant = in.flag(3) ? 0.5 * std::log(2 * M_PI) : 0;
  return reduced_by(zipped(d, v,
                           [&](Complex d, Complex v) {
                             double spread = std::max(v.real(), eps);
                             return 0.5 * (std::log(spread) + d.real() * d.real() / spread) + constant;
                           }),
                    in.integer(5));
}
std::vector<Array> poisson(const Arguments& in) {
  bool log_input = in.flag(2), full = in.flag(3);
  double eps = in.number(4).real();
  return reduced_by(zipped(in.array(0), in.array(1),
                           [&](Complex input, Complex target) {
                             double x = input.real(), t = target.real();
                             double loss = log_input ? std::exp(x) - t * x : x - t * std::log(x + eps);
                             return full && t > 1 ? loss + t * std::log(t) - t + 0.5 * std::log(2 * M_PI * t) : loss;
                           }),
                    in.integer(5));
}
std::vector<Array> l1(const Arguments& in) {
  Array each = zipped(in.array(0), in.array(1), [](Complex x, Complex t) { return std::abs(x - t); });
  each.dtype = to_real(in.dtype);
  std::vector<Array> found = reduced_by(each, in.integer(2));
  found[0].dtype = each.dtype;
  return found;
}

}  // namespace

std::vector<OpCase> loss_pointwise_cases() {
  auto beta = [](double value) { return [=](int64_t r) { return Values{r, value}; }; };
  auto two_betas = [&](Make& m) {
    std::vector<Sample> list = pair_samples(anything, off_grid, beta(1.0))(m);
    for (Sample& more : pair_samples(anything, off_grid, beta(0.3))(m)) {
      more.label = "0.3: " + more.label;
      list.push_back(more);
    }
    return list;
  };
  auto kl_samples = [](Make& m) {
    std::vector<Sample> list = pair_samples(anything, positive_numbers, [](int64_t r) { return Values{r, false}; })(m);
    list.push_back({"log target", {m.tensor({3, 4}), m.tensor({3, 4}), mean, true}});
    list.push_back({"log target, each", {m.tensor({3, 4}), m.tensor({3, 4}), none, true}});
    list.push_back({"zeros", {m.tensor({3}), tensor_of({{3}, {0, 1, 0}}, m.dtype), sum, false}, false});
    return list;
  };
  auto counts = [](Make& m, const Ints& sizes) {
    return mapped_tensor(m, sizes, [](double v) { return 3 + 2.9 * v; });
  };
  auto poisson_samples = [=](Make& m) {
    auto rest = [](bool log_input, bool full) { return [=](int64_t r) { return Values{log_input, full, 1e-8, r}; }; };
    std::vector<Sample> list = pair_samples(anything, counts, rest(true, false))(m);
    for (Sample& more : pair_samples(positive_numbers, counts, rest(false, true))(m)) {
      more.label = "full: " + more.label;
      list.push_back(more);
    }
    return list;
  };
  auto triple = [](Domain target, double constant) {
    return [=](Make& m) {
      auto values = [&](const Ints& sizes, int64_t r) {
        return Values{m.tensor(sizes), off_grid(m, sizes), target(m, sizes), constant, r};
      };
      return std::vector<Sample>{{"mean", values({3, 4}, mean)}, {"each", values({3, 4}, none)},
                                 {"sum", values({7}, sum)},      {"0-d", values({}, mean)},
                                 {"empty", values({0}, sum)},    {"large", values({203, 31}, mean), false}};
    };
  };
  auto cosine_samples = [](Make& m) {
    auto values = [&](const Ints& sizes, int64_t r) {
      Ints targets = sizes;
      targets.pop_back();
      return Values{m.tensor(sizes), off_grid(m, sizes), signs(m, targets), 0.1, r};
    };
    return std::vector<Sample>{{"mean", values({4, 5}, mean)},
                               {"each", values({4, 5}, none)},
                               {"one", values({6}, sum)},
                               {"large", values({203, 31}, mean), false}};
  };
  auto gaussian_samples = [](Make& m) {
    return std::vector<Sample>{
        {"mean", {m.tensor({3, 4}), off_grid(m, {3, 4}), positive_numbers(m, {3, 4})}},
        {"each, full", {m.tensor({3, 4}), off_grid(m, {3, 4}), positive_numbers(m, {3, 4}), true, 1e-6, none}},
        {"one variance a row", {m.tensor({3, 4}), off_grid(m, {3, 4}), positive_numbers(m, {3, 1}), false, 1e-6, sum}},
        {"without the dimension", {m.tensor({3, 4}), off_grid(m, {3, 4}), positive_numbers(m, {3}), false, 1e-6, sum}},
        {"large", {m.tensor({203, 31}), off_grid(m, {203, 31}), positive_numbers(m, {203, 31})}, false}};
  };
  OpCase l1_case = pair_case("l1_loss", nullptr);
  l1_case.reference = l1;
  l1_case.dtypes = floats;
  l1_case.refused = {kBool};
  l1_case.result_dtype = to_real;
  for (DType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64})
    l1_case.untested.emplace_back(dtype, "the mean is refused; tests/ops/loss_test.cpp takes the sum");

  OpCase mse = pair_case("mse_loss", [](double x, double t) { return (x - t) * (x - t); });
  mse.samples = [base = mse.samples](Make& m) {
    std::vector<Sample> list = base(m);
    list.push_back({"both broadcast", {m.tensor({2, 1, 4}), off_grid(m, {3, 1}), none}});
    return list;
  };
  OpCase smooth = pair_case("smooth_l1_loss", nullptr), huber = pair_case("huber_loss", nullptr);
  smooth.samples = huber.samples = two_betas;
  smooth.reference = [](const Arguments& in) {
    double b = in.number(3).real();
    return reduced_by(zipped(in.array(0), in.array(1),
                             [&](Complex x, Complex t) {
                               double z = std::abs(x - t);
                               return z < b ? z * z / 2 / b : z - b / 2;
                             }),
                      in.integer(2));
  };
  huber.reference = [](const Arguments& in) {
    double b = in.number(3).real();
    return reduced_by(zipped(in.array(0), in.array(1),
                             [&](Complex x, Complex t) {
                               double z = std::abs(x - t);
                               return z <= b ? z * z / 2 : b * (z - b / 2);
                             }),
                      in.integer(2));
  };
  smooth.errors = {{"beta",
                    [](Make& m) -> Values {
                      return {m.tensor({2}), m.tensor({2}), mean, -1.0};
                    },
                    "smooth_l1_loss: does not support negative values for beta, found -1"}};
  huber.errors = {{"delta",
                   [](Make& m) -> Values {
                     return {m.tensor({2}), m.tensor({2}), mean, 0.0};
                   },
                   "huber_loss: does not support non-positive values for delta, found 0"}};

  OpCase soft = pair_case(
      "soft_margin_loss", [](double x, double t) { return softplus(-x * t); }, anything, signs);
  soft.constants = {1};
  soft.refused = without(soft.refused, {kComplex64, kComplex128});
  soft.untested = {{kComplex64, "libtorch computes it, but there is nothing to minimise"},
                   {kComplex128, "as complex64"}};
  soft.errors.clear();

  return {
      mse,
      l1_case,
      smooth,
      huber,
      soft,
      {.name = "binary_cross_entropy",
       .torch = "binary_cross_entropy",
       .samples = entropy_samples,
       .reference =
           [](const Arguments& in) {
             return weighted_entropy(in, [](double x, double t) {
               return -t * std::max(std::log(x), -100.0) - (1 - t) * std::max(std::log1p(-x), -100.0);
             });
           },
       .dtypes = real_floats,
       .refused = not_real(),
       .tolerance = 4,
       .errors = {{"sizes",
                   [](Make& m) -> Values {
                     return {fractions(m, {2, 3}), fractions(m, {3})};
                   },
                   "binary_cross_entropy: Using a target size ([3]) that is different to the input size ([2, 3])"},
                  {"range",
                   [](Make& m) -> Values {
                     return {tensor_of({{2}, {0.5, 1.5}}, m.dtype), fractions(m, {2})};
                   },
                   "binary_cross_entropy: all elements of input should be between 0 and 1, found 1.5"}},
       .same_bits_strided = false,
       .constants = {2}},
      {.name = "binary_cross_entropy_with_logits",
       .torch = "binary_cross_entropy_with_logits",
       .samples = logit_samples,
       .reference = logit_entropy,
       .dtypes = real_floats,
       .refused = not_real(),
       .tolerance = 4,
       .same_bits_strided = false,
       .constants = {2, 3}},
      {.name = "kl_div",
       .torch = "kl_div",
       .samples = kl_samples,
       .reference =
           [](const Arguments& in) {
             bool logs = in.flag(3);
             return reduced_by(zipped(in.array(0), in.array(1),
                                      [&](Complex input, Complex target) {
                                        double x = input.real(), t = target.real();
                                        if (logs) return std::exp(t) * (t - x);
                                        return (t == 0 ? 0 : t * std::log(t)) - t * x;
                                      }),
                               in.integer(2));
           },
       .dtypes = real_floats,
       .refused = not_real(),
       .tolerance = 4,
       .same_bits_strided = false},
      {.name = "poisson_nll_loss",
       .torch = "poisson_nll_loss",
       .samples = poisson_samples,
       .reference = poisson,
       .dtypes = without(all_dtypes, {kBool, kComplex64, kComplex128}),
       .refused = {kBool, kComplex64, kComplex128},
       .result_dtype = floating,
       .tolerance = 4,
       .same_bits_strided = false},
      {.name = "gaussian_nll_loss",
       .not_in_torch = "PyTorch has it in Python only",
       .samples = gaussian_samples,
       .reference = gaussian,
       .dtypes = real_floats,
       .refused = not_real(),
       .tolerance = 8,
       .errors = {{"variance",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), m.tensor({2, 3}), positive_numbers(m, {4})};
                   },
                   "gaussian_nll_loss: var is of incorrect size: found [4] for input [2, 3]"}},
       .same_bits_strided = false},
      {.name = "hinge_embedding_loss",
       .torch = "hinge_embedding_loss",
       .samples = pair_samples(anything, signs,
                               [](int64_t r) {
                                 return Values{0.7, r};
                               }),
       .reference =
           [](const Arguments& in) {
             double margin = in.number(2).real();
             return reduced_by(zipped(in.array(0), in.array(1),
                                      [&](Complex x, Complex t) {
                                        return t.real() == 1 ? x.real() : std::max(0.0, margin - x.real());
                                      }),
                               in.integer(3));
           },
       .dtypes = real_floats,
       .refused = not_real(),
       .tolerance = 4,
       .same_bits_strided = false,
       .constants = {1}},
      {.name = "margin_ranking_loss",
       .torch = "margin_ranking_loss",
       .samples = triple(signs, 0.2),
       .reference = ranking,
       .dtypes = without(all_dtypes, {kBool, kComplex64, kComplex128}),
       .refused = {kBool, kComplex64, kComplex128},
       .result_dtype = floating,
       .tolerance = 8,
       .same_bits_strided = false},
      {.name = "cosine_embedding_loss",
       .torch = "cosine_embedding_loss",
       .samples = cosine_samples,
       .reference = cosine_embedding,
       .dtypes = without(all_dtypes, {kComplex64, kComplex128, kUInt8, kBool}),
       .refused = {kComplex64, kComplex128},
       .result_dtype = floating,
       .tolerance = 16,
       .errors = {{"target",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 3}), m.tensor({2, 3}), m.tensor({2, 3})};
                   },
                   "cosine_embedding_loss: 0D or 1D target tensor expected"}},
       .same_bits_strided = false,
       .constants = {2},
       .untested = {{kUInt8, "has no -1 to be a target"}, {kBool, "as uint8"}}},
  };
}

}  // namespace cresset::test
