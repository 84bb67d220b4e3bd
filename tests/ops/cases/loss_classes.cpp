// Cases of ops/loss_classes and ops/loss_ctc.
#include <cmath>

#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/loss_reductions.h"

namespace cresset::test {
namespace {

bool defined(const Arguments& in, size_t i) { return in.given(i) && std::get<Tensor>(in[i]).defined(); }
std::vector<Array> total_of(const Array& each, int64_t reduction, double divisor) {
  if (reduction == none) return {each};
  Complex total = 0;
  for (Complex value : each.values) total += value;
  return {Array::number(reduction == mean ? total / divisor : total)};
}

// self, target, weight, reduction, ignore_index
std::vector<Array> nll(const Arguments& in) {
  Array x = in.array(0), target = in.array(1);
  size_t dim = x.rank() == 1 ? 0 : 1;
  Array each = Array::filled(target.sizes);
  double divisor = 0;
  for_each_index(target.sizes, [&](const Index& at) {
    auto c = static_cast<int64_t>(target[at].real());
    if (c == in.integer(4)) return;
    Index full = at;
    full.insert(full.begin() + static_cast<int64_t>(dim), c);
    double w = defined(in, 2) ? in.array(2)[{c}].real() : 1;
    each[at] = -w * x[full];
    divisor += w;
  });
  return total_of(each, in.integer(3), divisor);
}

std::vector<Sample> nll_samples(Make& m) {
  Tensor classes = m.integers({4}, 0, 3), some_ignored = tensor_of({{4}, {0, -100, 2, -100}}, kInt64);
  Tensor weight = tensor_of({{3}, {0.5, 1, 2}}, m.dtype);
  return {{"mean", {m.tensor({4, 3}), classes}},
          {"each", {m.tensor({4, 3}), classes, Value(), none}},
          {"sum", {m.tensor({4, 3}), classes, Value(), sum}},
          {"some ignored", {m.tensor({4, 3}), some_ignored}},
          {"some ignored, each", {m.tensor({4, 3}), some_ignored, Value(), none}},
          {"another ignored", {m.tensor({4, 3}), classes, Value(), sum, int64_t{1}}},
          {"one sample", {m.tensor({3}), tensor_of(Array::number(2), kInt64)}},
          {"weights", {m.tensor({4, 3}), classes, weight}},
          {"weights, each", {m.tensor({4, 3}), some_ignored, weight, none}},
          {"no samples, sum", {m.tensor({0, 3}), m.integers({0}, 0, 3), Value(), sum}},
          {"large", {m.tensor({20011, 5}), m.integers({20011}, 0, 5)}, false}};
}
std::vector<Sample> pixel_samples(Make& m) {
  Tensor weight = tensor_of({{3}, {0.5, 1, 2}}, m.dtype);
  return {{"mean", {m.tensor({2, 3, 2, 2}), m.integers({2, 2, 2}, 0, 3)}},
          {"each", {m.tensor({2, 3, 2, 2}), m.integers({2, 2, 2}, 0, 3), Value(), none}},
          {"weights", {m.tensor({2, 3, 2, 2}), m.integers({2, 2, 2}, 0, 3), weight, sum, int64_t{0}}},
          {"large", {m.tensor({3, 4, 61, 67}), m.integers({3, 61, 67}, 0, 4)}, false}};
}
std::vector<Sample> nd_samples(Make& m) {
  std::vector<Sample> list = pixel_samples(m);
  list.push_back({"matrix", {m.tensor({4, 3}), m.integers({4}, 0, 3)}});
  list.push_back({"one sample", {m.tensor({3}), tensor_of(Array::number(1), kInt64)}});
  list.push_back({"3-d", {m.tensor({2, 3, 5}), m.integers({2, 5}, 0, 3)}});
  list.push_back({"5-d", {m.tensor({2, 3, 2, 1, 2}), m.integers({2, 2, 1, 2}, 0, 3), Value(), none}});
  return list;
}
OpCase nll_case(std::string name, Samples samples) {
  return {.name = name,
          .torch = name,
          .samples = samples,
          .reference = nll,
          .dtypes = real_floats,
          .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
          .tolerance = 4,
          .errors = {{"class",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3, 1, 1}), m.integers({2, 1, 1}, 3, 4)};
                      },
                      name == "nll_loss" ? "nll_loss: input tensor should be 1D or 2D" : "Target 3 is out of bounds"},
                     {"target",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3, 1, 1}), m.tensor({2, 1, 1})};
                      },
                      name == "nll_loss" ? "nll_loss: input tensor" : "expected scalar type Long but found"}},
          .constants = {2}};
}

// self, target, p, margin, weight, reduction
std::vector<Array> multi_margin(const Arguments& in) {
  Array x = in.array(0), target = in.array(1);
  auto classes = static_cast<size_t>(x.rank() == 0 ? 1 : x.sizes.back());
  double p = in.number(2).real(), margin = in.number(3).real();
  Array each = Array::filled(target.sizes);
  for (size_t i = 0; i < each.values.size(); i++) {
    auto y = static_cast<size_t>(target.values[i].real());
    double loss = 0, w = defined(in, 4) ? in.array(4).values[y].real() : 1;
    for (size_t j = 0; j < classes; j++) {
      double z = margin - x.values[i * classes + y].real() + x.values[i * classes + j].real();
      if (j != y && z > 0) loss += w * std::pow(z, p);
    }
    each.values[i] = loss / static_cast<double>(classes);
  }
  return total_of(each, in.integer(5), static_cast<double>(each.numel()));
}
std::vector<Sample> multi_margin_samples(Make& m) {
  Tensor classes = m.integers({4}, 0, 3), weight = tensor_of({{3}, {0.5, 1, 2}}, m.dtype);
  Scalar one(1), two(2), margin(0.7);
  return {{"mean", {m.tensor({4, 3}), classes}},
          {"each", {m.tensor({4, 3}), classes, one, margin, Value(), none}},
          {"squares", {m.tensor({4, 3}), classes, two, margin, Value(), mean}},
          {"weights", {m.tensor({4, 3}), classes, two, one, weight, sum}},
          {"one sample", {m.tensor({3}), tensor_of(Array::number(2), kInt64), one, one, Value(), none}},
          {"one sample, 1-d target", {m.tensor({3}), tensor_of({{1}, {2}}, kInt64), one, one, Value(), none}},
          {"large", {m.tensor({301, 57}), m.integers({301}, 0, 57)}, false}};
}

// self, target, reduction
std::vector<Array> multilabel_margin(const Arguments& in) {
  Array x = in.array(0), target = in.array(1);
  auto classes = static_cast<size_t>(x.sizes.back());
  Ints sizes(x.sizes.begin(), x.sizes.end() - 1);
  Array each = Array::filled(sizes);
  for (size_t i = 0; i < each.values.size(); i++) {
    std::vector<size_t> listed;
    std::vector<bool> is_listed(classes);
    for (size_t j = 0; j < classes && target.values[i * classes + j].real() >= 0; j++) {
      listed.push_back(static_cast<size_t>(target.values[i * classes + j].real()));
      is_listed[listed.back()] = true;
    }
    double loss = 0;
    for (size_t y : listed)
      for (size_t j = 0; j < classes; j++)
        if (!is_listed[j])
          loss += std::max(0.0, 1 - x.values[i * classes + y].real() + x.values[i * classes + j].real());
    each.values[i] = loss / static_cast<double>(classes);
  }
  return total_of(each, in.integer(2), static_cast<double>(each.numel()));
}
std::vector<Sample> multilabel_samples(Make& m) {
  Tensor lists = tensor_of({{3, 4}, {0, 3, -1, 1, 2, -1, -1, -1, 3, 1, 0, 2}}, kInt64);
  return {{"mean", {m.tensor({3, 4}), lists}},
          {"each", {m.tensor({3, 4}), lists, none}},
          {"sum", {m.tensor({3, 4}), lists, sum}},
          {"one sample", {m.tensor({4}), tensor_of({{4}, {1, -1, 0, 0}}, kInt64), none}},
          {"large", {m.tensor({501, 31}), m.integers({501, 31}, -1, 31)}, false}};
}

std::vector<Array> multilabel_soft_margin(const Arguments& in) {
  Array each = zipped(in.array(0), in.array(1), [](Complex x, Complex t) {
    return t.real() * std::log1p(std::exp(-x.real())) + (1 - t.real()) * std::log1p(std::exp(x.real()));
  });
  if (defined(in, 2)) each = zipped(each, in.array(2), std::multiplies<>());
  Array rows = reduced(each, {each.rank() - 1}, false, [](const std::vector<Complex>& row) {
    Complex total = 0;
    for (Complex value : row) total += value;
    return total / static_cast<double>(row.size());
  });
  return total_of(rows, in.integer(3), static_cast<double>(rows.numel()));
}
std::vector<Sample> multilabel_soft_samples(Make& m) {
  Tensor target = tensor_of({{3, 4}, {1, 0, 0, 1, 0, 0, 1, 1, 0.5, 0, 1, 0}}, m.dtype);
  return {{"mean", {m.tensor({3, 4}), target}},
          {"each, weights", {m.tensor({3, 4}), target, tensor_of({{4}, {1, 2, 0.5, 1}}, m.dtype), none}},
          {"one sample", {m.tensor({4}), tensor_of({{4}, {1, 0, 1, 1}}, m.dtype), Value(), sum}}};
}

// anchor, positive, negative, margin, p, eps, swap, reduction
std::vector<Array> triplet(const Arguments& in) {
  double margin = in.number(3).real(), p = in.number(4).real(), eps = in.number(5).real();
  auto distance = [&](const Array& a, const Array& b) {
    Array d = zipped(a, b, [&](Complex x, Complex y) { return std::abs(stored_as(x - y, in.dtype) + eps); });
    return reduced(d, {d.rank() - 1}, false, [&](const std::vector<Complex>& row) -> Complex {
      double total = 0;
      for (Complex value : row)
        total = std::isinf(p) ? std::max(total, value.real()) : total + std::pow(value.real(), p);
      return std::isinf(p) ? total : std::pow(total, 1 / p);
    });
  };
  Array near = distance(in.array(0), in.array(1)), far = distance(in.array(0), in.array(2));
  if (in.flag(6))
    far = zipped(far, distance(in.array(1), in.array(2)),
                 [](Complex a, Complex b) { return std::min(a.real(), b.real()); });
  Array each = zipped(near, far, [&](Complex a, Complex b) { return std::max(0.0, margin + a.real() - b.real()); });
  return total_of(each, in.integer(7), static_cast<double>(each.numel()));
}
// Off the grid of other tensors: no differences of zero.
Tensor between(Make& m, const Ints& sizes, double scale, double shift) {
  if (is_integral(m.dtype, true)) return m.tensor(sizes);
  Array array = read(m.tensor(sizes));
  for (Complex& value : array.values) value = value * scale + shift;
  return tensor_of(array, m.dtype);
}
std::vector<Sample> triplet_samples(Make& m) {
  auto three = [&](Ints sizes, Values rest) {
    Values values{m.tensor(sizes), between(m, sizes, 0.83, 0.052), between(m, sizes, 0.61, -0.071)};
    for (Value& more : rest) values.push_back(more);
    return values;
  };
  return {{"mean", three({5, 4}, {2.0})},
          {"each", three({5, 4}, {2.0, 2.0, 1e-6, false, none})},
          {"swap", three({5, 4}, {2.0, 2.0, 1e-6, true, mean})},
          {"p = 1", three({5, 4}, {2.0, 1.0, 1e-6, false, mean})},
          {"p = 3", three({5, 4}, {2.0, 3.0, 1e-6, false, sum})},
          {"one", three({4}, {2.0})}};
}

// ---- ctc. Every alignment is written out: T is tiny.
double alignments(const Array& x, int64_t n, int64_t times, const Ints& wanted, int64_t blank) {
  int64_t classes = x.sizes[2];
  double total = 0;
  Ints path(static_cast<size_t>(times));
  int64_t count = 1;
  for (int64_t t = 0; t < times; t++) count *= classes;
  for (int64_t code = 0; code < count; code++) {
    int64_t rest = code;
    double log_probability = 0;
    Ints labels;
    int64_t before = -1;
    for (int64_t t = 0; t < times; t++) {
      int64_t c = rest % classes;
      rest /= classes;
      log_probability += x[{t, n, c}].real();
      if (c != before && c != blank) labels.push_back(c);
      before = c;
    }
    if (labels == wanted) total += std::exp(log_probability);
  }
  return -std::log(total);
}
std::vector<Array> ctc(const Arguments& in) {
  Array x = in.array(0), targets = in.array(1);
  bool batched = x.rank() == 3;
  if (!batched) x.sizes.insert(x.sizes.begin() + 1, 1);
  auto list = [&](size_t i) {
    if (!std::holds_alternative<Tensor>(in[i])) return in.integers(i);
    Ints values;
    for (Complex value : in.array(i).values) values.push_back(static_cast<int64_t>(value.real()));
    return values;
  };
  Ints times = list(2), lengths = list(3);
  Array each = Array::filled({x.sizes[1]});
  double total = 0;
  size_t start = 0;
  for (size_t n = 0; n < times.size(); n++) {
    if (targets.rank() == 2) start = n * static_cast<size_t>(targets.sizes[1]);
    Ints wanted;
    for (int64_t i = 0; i < lengths[n]; i++)
      wanted.push_back(static_cast<int64_t>(targets.values[start + static_cast<size_t>(i)].real()));
    start += static_cast<size_t>(lengths[n]);
    double loss = alignments(x, static_cast<int64_t>(n), times[n], wanted, in.integer(4));
    if (in.flag(6) && std::isinf(loss)) loss = 0;
    each.values[n] = loss;
    total += in.integer(5) == mean ? loss / static_cast<double>(std::max<int64_t>(lengths[n], 1)) : loss;
  }
  if (in.integer(5) == none) return {batched ? each : Array::number(each.values[0])};
  return {Array::number(in.integer(5) == mean ? total / static_cast<double>(times.size()) : total)};
}
std::vector<Sample> ctc_samples(Make& m, bool tensors) {
  auto lengths = [&](Ints list) -> Value {
    if (!tensors) return list;
    std::vector<Complex> values(list.begin(), list.end());
    return tensor_of({{static_cast<int64_t>(list.size())}, values}, kInt64);
  };
  Tensor targets = tensor_of({{3, 2}, {1, 2, 2, 2, 1, 0}}, kInt64), row = tensor_of({{5}, {1, 2, 2, 2, 1}}, kInt32);
  Value times = lengths({4, 5, 3}), sizes = lengths({2, 2, 1});
  const int64_t blank = 0;
  return {
      {"mean", {m.tensor({5, 3, 3}), targets, times, sizes}},
      {"each", {m.tensor({5, 3, 3}), targets, times, sizes, blank, none}},
      {"in a row, sum", {m.tensor({5, 3, 3}), row, times, sizes, blank, sum}},
      {"another blank",
       {m.tensor({5, 3, 3}), tensor_of({{3, 2}, {1, 0, 0, 0, 1, 1}}, kInt64), times, sizes, int64_t{2}, mean}},
      {"no target",
       {m.tensor({3, 2, 3}), tensor_of({{2, 2}, {1, 2, 2, 2}}, kInt64), lengths({3, 2}), lengths({0, 1}), blank, none}},
      {"impossible",
       {m.tensor({2, 2, 3}), tensor_of({{2, 2}, {1, 1, 1, 2}}, kInt64), lengths({2, 2}), lengths({2, 2}), blank, none,
        true}},
      {"one sample", {m.tensor({4, 3}), tensor_of({{2}, {2, 1}}, kInt64), lengths({4}), lengths({2}), blank, none}}};
}
OpCase ctc_case(std::string overload) {
  bool tensors = overload == "Tensor";
  return {.name = "ctc_loss",
          .overload = overload,
          .not_in_torch = "PyTorch's gradient is right behind log_softmax only: tests/parity/loss_test.cpp",
          .samples =
              [=](Make& m) {
                std::vector<Sample> samples = ctc_samples(m, tensors);
                if (!tensors) return samples;
                std::erase_if(samples, [](const Sample& s) { return s.label == "one sample"; });
                return samples;
              },
          .reference = ctc,
          .dtypes = real_floats,
          .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
          .tolerance = 8,
          .second_gradient = false,
          .errors = {{"input_length",
                      [=](Make& m) {
                        Values values = ctc_samples(m, tensors)[0].arguments;
                        values[2] = ctc_samples(m, tensors)[0].arguments[2];
                        if (tensors)
                          values[2] = tensor_of({{3}, {4, 6, 3}}, kInt64);
                        else
                          values[2] = Ints{4, 6, 3};
                        return values;
                      },
                      "ctc_loss: Expected input_lengths to have value at most 5, but got value 6"}}};
}

}  // namespace

std::vector<OpCase> loss_classes_cases() {
  const std::vector<DType> not_real = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble});
  return {
      nll_case("nll_loss", nll_samples),
      nll_case("nll_loss2d", pixel_samples),
      nll_case("nll_loss_nd", nd_samples),
      {.name = "multi_margin_loss",
       .torch = "multi_margin_loss",
       .samples = multi_margin_samples,
       .reference = multi_margin,
       .dtypes = real_floats,
       .refused = not_real,
       .tolerance = 32,
       .errors = {{"p",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), m.integers({4}, 0, 3), Scalar(3)};
                   },
                   "multi_margin_loss: only p == 1 and p == 2 supported, found 3"},
                  {"class",
                   [](Make& m) -> Values {
                     return {m.tensor({4, 3}), m.integers({4}, 3, 4)};
                   },
                   "multi_margin_loss: Target 3 is out of bounds"}},
       .same_bits_strided = false,
       .constants = {4}},
      {.name = "multilabel_margin_loss",
       .torch = "multilabel_margin_loss",
       .samples = multilabel_samples,
       .reference = multilabel_margin,
       .dtypes = real_floats,
       .refused = not_real,
       .tolerance = 16},
      {.name = "multilabel_soft_margin_loss",
       .not_in_torch = "PyTorch has it in Python only",
       .samples = multilabel_soft_samples,
       .reference = multilabel_soft_margin,
       .dtypes = real_floats,
       .refused = not_real,
       .tolerance = 8,
       .same_bits_strided = false},
      {.name = "triplet_margin_loss",
       .torch = "triplet_margin_loss",
       .samples = triplet_samples,
       .reference = triplet,
       .dtypes = without(all_dtypes, {kBool}),
       .refused = {kBool},
       .result_dtype = [](DType dtype) { return to_real(floating(dtype)); },
       .tolerance = 16,
       .same_bits_strided = false},
      ctc_case("IntList"),
      ctc_case("Tensor"),
  };
}

}  // namespace cresset::test
