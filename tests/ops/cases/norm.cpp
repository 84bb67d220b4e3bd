// Cases of ops/norm.
#include <algorithm>
#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

// Elements that share statistics have one key; `weight` gives each element's place in weight and bias.
struct Grouping {
  std::function<int64_t(const Index&)> key, weight;
};
Array normalized(const Array& x, const Grouping& grouping, double eps, bool centred, const Array* w, const Array* b) {
  std::vector<std::vector<double>> groups;
  auto group = [&](const Index& at) -> std::vector<double>& {
    auto key = static_cast<size_t>(grouping.key(at));
    if (groups.size() <= key) groups.resize(key + 1);
    return groups[key];
  };
  for_each_index(x.sizes, [&](const Index& at) { group(at).push_back(x[at].real()); });
  std::vector<double> means, scales;
  for (const std::vector<double>& values : groups) {
    double sum = 0, squares = 0, n = static_cast<double>(values.size());
    for (double value : values) sum += value;
    means.push_back(centred ? sum / n : 0);
    for (double value : values) squares += (value - means.back()) * (value - means.back());
    scales.push_back(1 / std::sqrt(squares / n + eps));
  }
  Array y = Array::filled(x.sizes);
  for_each_index(x.sizes, [&](const Index& at) {
    auto key = static_cast<size_t>(grouping.key(at)), place = static_cast<size_t>(grouping.weight(at));
    y[at] = (x[at].real() - means[key]) * scales[key] * (w ? w->values[place].real() : 1) +
            (b ? b->values[place].real() : 0);
  });
  return y;
}

int64_t flat(const Index& at, const Ints& sizes, size_t from, size_t to) {
  int64_t place = 0;
  for (size_t i = from; i < to; i++) place = place * sizes[i] + at[i];
  return place;
}
Grouping last_dims(const Ints& sizes, size_t count) {
  size_t lead = sizes.size() - count;
  return {[=](const Index& at) { return flat(at, sizes, 0, lead); },
          [=](const Index& at) { return flat(at, sizes, lead, sizes.size()); }};
}
Grouping channel_groups(const Ints& sizes, int64_t groups) {
  return {[=](const Index& at) { return at[0] * groups + at[1] / (sizes[1] / groups); },
          [](const Index& at) { return at[1]; }};
}

std::vector<Array> layer_norm_of(const Arguments& in) {
  Array x = in.array(0), w, b;
  if (has(in, 2)) w = in.array(2);
  if (has(in, 3)) b = in.array(3);
  return {normalized(x, last_dims(x.sizes, in.integers(1).size()), in.number(4).real(), true, has(in, 2) ? &w : nullptr,
                     has(in, 3) ? &b : nullptr)};
}
double step_of(DType dtype) {
  return dtype == kDouble ? 0x1p-52 : dtype == kHalf ? 0x1p-10 : dtype == kBFloat16 ? 0x1p-7 : 0x1p-23;
}
std::vector<Array> rms_norm_of(const Arguments& in) {
  Array x = in.array(0), w;
  if (has(in, 2)) w = in.array(2);
  double eps = in.given(3) ? in.number(3).real() : step_of(in.dtype);
  return {normalized(x, last_dims(x.sizes, in.integers(1).size()), eps, false, has(in, 2) ? &w : nullptr, nullptr)};
}
std::vector<Array> group_norm_of(const Arguments& in) {
  Array x = in.array(0), w, b;
  if (has(in, 2)) w = in.array(2);
  if (has(in, 3)) b = in.array(3);
  return {normalized(x, channel_groups(x.sizes, in.integer(1)), in.number(4).real(), true, has(in, 2) ? &w : nullptr,
                     has(in, 3) ? &b : nullptr)};
}
std::vector<Array> batch_or_instance(const Arguments& in, bool batch) {
  Array x = in.array(0), w, b, y;
  if (has(in, 1)) w = in.array(1);
  if (has(in, 2)) b = in.array(2);
  if (in.flag(5)) {
    Grouping grouping = channel_groups(x.sizes, x.sizes[1]);
    if (batch) grouping.key = [](const Index& at) { return at[1]; };
    return {normalized(x, grouping, in.number(7).real(), true, has(in, 1) ? &w : nullptr, has(in, 2) ? &b : nullptr)};
  }
  Array mean = in.array(3), variance = in.array(4);
  y = Array::filled(x.sizes);
  for_each_index(x.sizes, [&](const Index& at) {
    auto c = static_cast<size_t>(at[1]);
    double hat = (x[at].real() - mean.values[c].real()) / std::sqrt(variance.values[c].real() + in.number(7).real());
    y[at] = hat * (has(in, 1) ? w.values[c].real() : 1) + (has(in, 2) ? b.values[c].real() : 0);
  });
  return {y};
}

std::vector<Sample> layer_norm_samples(Make& m) {
  return {{"last", {m.tensor({3, 5}), Ints{5}, m.tensor({5}), m.tensor({5})}},
          {"plain", {m.tensor({3, 5}), Ints{5}}},
          {"weight only", {m.tensor({2, 3, 4}), Ints{4}, m.tensor({4})}},
          {"bias only", {m.tensor({2, 4}), Ints{4}, Value(), m.tensor({4})}},
          {"two dimensions", {m.tensor({2, 3, 4}), Ints{3, 4}, m.tensor({3, 4}), m.tensor({3, 4}), 1e-3}},
          {"all dimensions", {m.tensor({3, 4}), Ints{3, 4}, m.tensor({3, 4}), m.tensor({3, 4})}},
          {"long rows", {m.tensor({2, 37}), Ints{37}, m.tensor({37}), m.tensor({37})}},
          {"empty", {m.tensor({0, 3}), Ints{3}, m.tensor({3}), m.tensor({3})}},
          {"large", {m.tensor({201, 333}), Ints{333}, m.tensor({333}), m.tensor({333})}, false}};
}
std::vector<Sample> rms_norm_samples(Make& m) {
  return {{"last", {m.tensor({3, 5}), Ints{5}, m.tensor({5}), 1e-3}},
          {"plain", {m.tensor({3, 5}), Ints{5}}},
          {"two dimensions", {m.tensor({2, 3, 4}), Ints{3, 4}, m.tensor({3, 4}), 1e-3}},
          {"long rows", {m.tensor({2, 37}), Ints{37}, m.tensor({37})}},
          {"empty", {m.tensor({0, 3}), Ints{3}, m.tensor({3})}},
          {"large", {m.tensor({201, 333}), Ints{333}, m.tensor({333})}, false}};
}
std::vector<Sample> group_norm_samples(Make& m) {
  return {{"groups", {m.tensor({2, 6, 3}), int64_t{2}, m.tensor({6}), m.tensor({6})}},
          {"one group", {m.tensor({2, 4, 2, 2}), int64_t{1}, m.tensor({4}), m.tensor({4}), 1e-3}},
          {"a group per channel", {m.tensor({2, 3, 5}), int64_t{3}}},
          {"matrix", {m.tensor({3, 6}), int64_t{2}, m.tensor({6})}},
          {"large", {m.tensor({4, 12, 37, 41}), int64_t{3}, m.tensor({12}), m.tensor({12})}, false}};
}

Tensor variances(Make& m, int64_t channels) { return tensor_of(Array::filled({channels}, 0.75), m.dtype); }
Tensor channels_last(Make& m, Ints sizes) {
  Tensor last =
      empty_strided(sizes, {sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]}, TensorOptions(m.dtype));
  write(last, read(m.tensor(sizes)));
  return last;
}
// Running statistics are changed in training: the tests of that are in norm_test.cpp.
std::vector<Sample> batch_norm_samples(Make& m) {
  const double momentum = 0.1, eps = 1e-3;
  return {
      {"training", {m.tensor({3, 2, 4}), m.tensor({2}), m.tensor({2}), Value(), Value(), true, momentum, eps, true}},
      {"evaluation",
       {m.tensor({3, 2, 4}), m.tensor({2}), m.tensor({2}), m.tensor({2}), variances(m, 2), false, momentum, eps, true}},
      {"plain", {m.tensor({3, 2, 2, 2}), Value(), Value(), Value(), Value(), true, momentum, eps, true}},
      {"matrix", {m.tensor({5, 9}), m.tensor({9}), m.tensor({9}), Value(), Value(), true, momentum, eps, true}},
      {"matrix, evaluation",
       {m.tensor({2, 9}), m.tensor({9}), m.tensor({9}), m.tensor({9}), variances(m, 9), false, momentum, eps, true}},
      {"channels last",
       {channels_last(m, {2, 9, 2, 3}), m.tensor({9}), m.tensor({9}), Value(), Value(), true, momentum, eps, true}},
      {"large",
       {m.tensor({5, 12, 37, 21}), m.tensor({12}), m.tensor({12}), Value(), Value(), true, momentum, eps, true},
       false},
      {"large matrix",
       {m.tensor({501, 133}), m.tensor({133}), m.tensor({133}), Value(), Value(), true, momentum, eps, true},
       false}};
}
std::vector<Sample> instance_norm_samples(Make& m) {
  const double momentum = 0.1, eps = 1e-3;
  return {
      {"own statistics",
       {m.tensor({3, 2, 4}), m.tensor({2}), m.tensor({2}), Value(), Value(), true, momentum, eps, true}},
      {"running statistics",
       {m.tensor({3, 2, 4}), m.tensor({2}), m.tensor({2}), m.tensor({2}), variances(m, 2), false, momentum, eps, true}},
      {"plain", {m.tensor({2, 3, 2, 2}), Value(), Value(), Value(), Value(), true, momentum, eps, true}}};
}

}  // namespace

std::vector<OpCase> norm_cases() {
  const std::vector<DType> others = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble});
  std::vector<OpCase> cases = {
      {.name = "layer_norm",
       .torch = "layer_norm",
       .samples = layer_norm_samples,
       .reference = layer_norm_of,
       .errors =
           {{"shape",
             [](Make& m) -> Values {
               return {m.tensor({3, 5}), Ints{4}};
             },
             "layer_norm: Given normalized_shape=[4], expected input with shape [*, 4], but got input of "
             "size[3, 5]"},
            {"no_shape",
             [](Make& m) -> Values {
               return {m.tensor({3, 5}), Ints{}};
             },
             "layer_norm: Expected normalized_shape to be at least 1-dimensional"},
            {"weight",
             [](Make& m) -> Values {
               return {m.tensor({3, 5}), Ints{5}, m.tensor({4})};
             },
             "layer_norm: Expected weight to be of same shape as normalized_shape, but got weight of shape [4]"}}},
      {.name = "rms_norm",
       .not_in_torch = "newer than 1.13",
       .samples = rms_norm_samples,
       .reference = rms_norm_of,
       .errors = {{"shape",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 5}), Ints{4}};
                   },
                   "rms_norm: Given normalized_shape=[4]"}}},
      {.name = "group_norm",
       .torch = "group_norm",
       .samples = group_norm_samples,
       .reference = group_norm_of,
       .errors = {{"groups",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 5, 3}), int64_t{2}};
                   },
                   "group_norm: Expected number of channels in input to be divisible by num_groups, but got input of "
                   "shape [2, 5, 3] and num_groups=2"},
                  {"weight",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 4, 3}), int64_t{2}, m.tensor({3})};
                   },
                   "group_norm: Expected weight to be a vector of size equal to the number of channels in input"}}},
      {.name = "batch_norm",
       .torch = "batch_norm",
       .samples = batch_norm_samples,
       .reference = [](const Arguments& in) { return batch_or_instance(in, true); },
       .errors = {{"no_statistics",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 2}), Value(), Value(), Value(), Value(), false, 0.1, 1e-5, true};
                   },
                   "batch_norm: Expected running_mean and running_var to be defined when training=False"},
                  {"weight",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 2}), m.tensor({3}), Value(), Value(), Value(), true, 0.1, 1e-5, true};
                   },
                   "batch_norm: weight should contain 2 elements not 3"}},
       .may_be_undefined = {1, 2, 3, 4},
       .constants = {3, 4}},
      {.name = "instance_norm",
       .torch = "instance_norm",
       .samples = instance_norm_samples,
       .reference = [](const Arguments& in) { return batch_or_instance(in, false); },
       .errors = {{"no_statistics",
                   [](Make& m) -> Values {
                     return {m.tensor({3, 2, 2}), Value(), Value(), Value(), Value(), false, 0.1, 1e-5, true};
                   },
                   "instance_norm: Expected running_mean and running_var to be defined when use_input_stats is false"}},
       .may_be_undefined = {1, 2, 3, 4},
       .constants = {3, 4}},
  };
  for (OpCase& one : cases) {
    one.dtypes = real_floats;
    one.refused = others;
    one.tolerance = 20;
    one.same_bits_strided = false;
  }
  return cases;
}

}  // namespace cresset::test
