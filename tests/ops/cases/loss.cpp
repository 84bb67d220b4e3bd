// Cases of ops/loss.
#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

Array log_softmax(const Array& x, size_t dim) {
  Array y = x;
  Ints outer = x.sizes;
  outer[dim] = 1;
  for_each_index(outer, [&](Index at) {
    double top = -INFINITY, sum = 0;
    for (at[dim] = 0; at[dim] < x.sizes[dim]; at[dim]++) top = std::max(top, x[at].real());
    for (at[dim] = 0; at[dim] < x.sizes[dim]; at[dim]++) sum += std::exp(x[at].real() - top);
    for (at[dim] = 0; at[dim] < x.sizes[dim]; at[dim]++) y[at] = x[at].real() - top - std::log(sum);
  });
  return y;
}

// self, target, weight, reduction, ignore_index, label_smoothing
std::vector<Array> cross_entropy_of(const Arguments& in) {
  Array x = in.array(0), target = in.array(1);
  size_t dim = x.rank() == 1 ? 0 : 1;
  int64_t classes = x.sizes[dim];
  Array logs = log_softmax(x, dim);
  bool probabilities = target.sizes == x.sizes;
  bool weighted = in.given(2) && std::get<Tensor>(in[2]).defined();
  double smoothing = in.number(5).real();
  auto weight = [&](int64_t c) { return weighted ? in.array(2)[{c}].real() : 1.0; };
  Ints sizes = x.sizes;
  sizes.erase(sizes.begin() + static_cast<int64_t>(dim));
  Array losses = Array::filled(sizes);
  double divisor = 0, total = 0;
  for_each_index(sizes, [&](const Index& at) {
    Index full = at;
    full.insert(full.begin() + static_cast<int64_t>(dim), 0);
    double loss = 0;
    bool ignored = !probabilities && target[at].real() == in.number(4).real();
    for (int64_t c = 0; c < classes && !ignored; c++) {
      full[dim] = c;
      double wanted = probabilities ? target[full].real() : target[at].real() == static_cast<double>(c) ? 1 : 0;
      wanted = wanted * (1 - smoothing) + smoothing / static_cast<double>(classes);
      if (wanted != 0) loss -= wanted * weight(c) * logs[full].real();
    }
    if (!ignored) divisor += probabilities ? 1 : weight(static_cast<int64_t>(target[at].real()));
    losses[at] = loss;
    total += loss;
  });
  if (in.integer(3) == 0) return {losses};
  return {Array::number(in.integer(3) == 1 ? total / divisor : total)};
}

std::vector<Sample> cross_entropy_samples(Make& m) {
  Tensor classes = m.integers({4}, 0, 3), some_ignored = tensor_of({{4}, {0, -100, 2, -100}}, kInt64);
  Tensor probabilities = tensor_of({{4, 3}, {.2, .3, .5, 1, 0, 0, .1, .8, .1, .4, .4, .2}}, m.dtype);
  Tensor weight = tensor_of({{3}, {0.5, 1, 2}}, m.dtype);
  const int64_t none = 0, mean = 1, sum = 2, ignored = -100;
  return {{"mean", {m.tensor({4, 3}), classes}},
          {"each", {m.tensor({4, 3}), classes, Value(), none}},
          {"sum", {m.tensor({4, 3}), classes, Value(), sum}},
          {"some ignored", {m.tensor({4, 3}), some_ignored}},
          {"one sample", {m.tensor({3}), tensor_of(Array::number(2), kInt64)}},
          {"weights", {m.tensor({4, 3}), classes, weight}},
          {"weights, each", {m.tensor({4, 3}), some_ignored, weight, none}},
          {"smoothing", {m.tensor({4, 3}), classes, Value(), mean, ignored, 0.3}},
          {"smoothing and weights", {m.tensor({4, 3}), some_ignored, weight, sum, ignored, 0.3}},
          {"pixels", {m.tensor({2, 3, 2, 2}), m.integers({2, 2, 2}, 0, 3)}},
          {"probabilities", {m.tensor({4, 3}), probabilities}},
          {"probabilities, smoothing, each", {m.tensor({4, 3}), probabilities, Value(), none, ignored, 0.2}},
          {"no samples, sum", {m.tensor({0, 3}), m.integers({0}, 0, 3), Value(), sum}},
          {"large", {m.tensor({301, 200}), m.integers({301}, 0, 200)}, false}};
}

}  // namespace

std::vector<OpCase> loss_cases() {
  return {
      {.name = "cross_entropy",
       .torch = "cross_entropy_loss",
       .samples = cross_entropy_samples,
       .reference = cross_entropy_of,
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 8,
       .errors = {{"batch",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), m.integers({5}, 0, 3)};
                   },
                   "cross_entropy: Expected input batch_size (4) to match target batch_size (5)"},
                  {"class",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), m.integers({4}, 3, 4)};
                   },
                   "Target 3 is out of bounds"},
                  {"weight",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), m.integers({4}, 0, 3), m.tensor({2})};
                   },
                   "cross_entropy: weight tensor should be defined either for all 3 classes"},
                  {"smoothing",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), m.integers({4}, 0, 3), Value(), int64_t{1}, int64_t{-100}, 1.5};
                   },
                   "cross_entropy: label_smoothing must be between 0.0 and 1.0. Got: 1.5"}},
       .constants = {2}},
  };
}

}  // namespace cresset::test
