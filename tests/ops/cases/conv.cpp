// Cases of ops/conv and ops/bilinear. A library does the work, so bits may depend on layouts and threads.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

Ints expanded(Ints list, int64_t rank) {
  if (list.size() == 1) list.assign(static_cast<size_t>(rank), list[0]);
  return list;
}

struct Window {
  Ints stride, before, after, dilation;
  int64_t groups;
};

// x [n, c, positions...], w [o, c / groups, window...]
Array convolved(const Array& x, const Array& w, const Window& window) {
  const size_t rank = window.stride.size();
  Ints sizes{x.sizes[0], w.sizes[0]}, taps{w.sizes[1]};
  for (size_t d = 0; d < rank; d++) {
    int64_t padded = x.sizes[d + 2] + window.before[d] + window.after[d];
    sizes.push_back((padded - window.dilation[d] * (w.sizes[d + 2] - 1) - 1) / window.stride[d] + 1);
    taps.push_back(w.sizes[d + 2]);
  }
  Array y = Array::filled(sizes);
  int64_t outputs_per_group = w.sizes[0] / window.groups;
  for_each_index(y.sizes, [&](const Index& at) {
    Complex sum = 0;
    for_each_index(taps, [&](const Index& k) {
      Index from{at[0], at[1] / outputs_per_group * w.sizes[1] + k[0]}, tap{at[1]};
      tap.insert(tap.end(), k.begin(), k.end());
      for (size_t d = 0; d < rank; d++) {
        from.push_back(at[d + 2] * window.stride[d] + k[d + 1] * window.dilation[d] - window.before[d]);
        if (from.back() < 0 || from.back() >= x.sizes[d + 2]) return;
      }
      sum += x[from] * w[tap];
    });
    y[at] = sum;
  });
  return y;
}

// The same the other way round: every input goes to the results that its window reaches.
Array transposed(const Array& x, const Array& w, const Window& window, const Ints& output_padding) {
  const size_t rank = window.stride.size();
  Ints sizes{x.sizes[0], w.sizes[1] * window.groups}, taps{w.sizes[1]};
  for (size_t d = 0; d < rank; d++) {
    sizes.push_back((x.sizes[d + 2] - 1) * window.stride[d] - 2 * window.before[d] +
                    window.dilation[d] * (w.sizes[d + 2] - 1) + output_padding[d] + 1);
    taps.push_back(w.sizes[d + 2]);
  }
  Array y = Array::filled(sizes);
  int64_t channels_per_group = w.sizes[0] / window.groups;
  for_each_index(x.sizes, [&](const Index& at) {
    for_each_index(taps, [&](const Index& k) {
      Index to{at[0], at[1] / channels_per_group * w.sizes[1] + k[0]}, tap{at[1]};
      tap.insert(tap.end(), k.begin(), k.end());
      for (size_t d = 0; d < rank; d++) {
        to.push_back(at[d + 2] * window.stride[d] + k[d + 1] * window.dilation[d] - window.before[d]);
        if (to.back() < 0 || to.back() >= y.sizes[d + 2]) return;
      }
      y[to] += x[at] * w[tap];
    });
  });
  return y;
}

// An image without a batch, and the bias.
std::vector<Array> completed(const Arguments& in, int64_t rank, const std::function<Array(const Array&)>& f) {
  Array x = in.array(0);
  bool single = x.rank() == rank + 1;
  if (single) x.sizes.insert(x.sizes.begin(), 1);
  Array y = f(x);
  if (in.given(2) && std::get<Tensor>(in[2]).defined()) {
    Array bias = in.array(2);
    bias.sizes.resize(static_cast<size_t>(rank) + 1, 1);
    y = zipped(y, bias, [](Complex a, Complex b) { return a + b; });
  }
  if (single) y.sizes.erase(y.sizes.begin());
  return {y};
}

Reference by_number(int64_t rank) {
  return [rank](const Arguments& in) {
    Ints around = expanded(in.integers(4), rank);
    Window window{expanded(in.integers(3), rank), around, around, expanded(in.integers(5), rank), in.integer(6)};
    return completed(in, rank, [&](const Array& x) { return convolved(x, in.array(1), window); });
  };
}
Reference by_name(int64_t rank) {
  return [rank](const Arguments& in) {
    Ints none(static_cast<size_t>(rank));
    Window window{expanded(in.integers(3), rank), none, none, expanded(in.integers(5), rank), in.integer(6)};
    if (std::get<std::string>(in[4]) == "same")
      for (size_t d = 0; d < static_cast<size_t>(rank); d++) {
        int64_t total = window.dilation[d] * (in.array(1).sizes[d + 2] - 1);
        window.before[d] = total / 2;
        window.after[d] = total - total / 2;
      }
    return completed(in, rank, [&](const Array& x) { return convolved(x, in.array(1), window); });
  };
}
Reference by_transposing(int64_t rank) {
  return [rank](const Arguments& in) {
    Ints around = expanded(in.integers(4), rank), behind = expanded(in.integers(5), rank);
    Window window{expanded(in.integers(3), rank), around, around, expanded(in.integers(7), rank), in.integer(6)};
    return completed(in, rank, [&](const Array& x) { return transposed(x, in.array(1), window, behind); });
  };
}
std::vector<Array> either(const Arguments& in) {
  const int64_t rank = in.array(1).rank() - 2;
  Ints around = expanded(in.integers(4), rank), behind = expanded(in.integers(7), rank);
  Window window{expanded(in.integers(3), rank), around, around, expanded(in.integers(5), rank), in.integer(8)};
  return completed(in, rank, [&](const Array& x) {
    return in.flag(6) ? transposed(x, in.array(1), window, behind) : convolved(x, in.array(1), window);
  });
}
std::vector<Array> by_time(const Arguments& in) {
  Array x = in.array(0), w = in.array(1), bias = in.array(2);
  int64_t pad = in.integer(3);
  x = gathered(x, {x.sizes[1], x.sizes[2], x.sizes[0]}, [](const Index& i) { return Index{i[2], i[0], i[1]}; });
  w = gathered(w, {w.sizes[2], w.sizes[1], w.sizes[0]}, [](const Index& i) { return Index{i[2], i[1], i[0]}; });
  Array y = convolved(x, w, {{1}, {pad}, {pad}, {1}, 1});
  bias.sizes = {bias.sizes[0], 1};
  y = zipped(y, bias, [](Complex a, Complex b) { return a + b; });
  return {gathered(y, {y.sizes[2], y.sizes[0], y.sizes[1]}, [](const Index& i) { return Index{i[1], i[2], i[0]}; })};
}

Tensor channels_last(const Tensor& x) {
  Tensor last = empty_strided(x.sizes(), channels_last_strides(x.sizes()), x.options());
  write(last, read(x));
  return last;
}

const int64_t one = 1, two = 2, none = 0;

std::vector<Sample> samples_1d(Make& m) {
  return {{"plain", {m.tensor({1, 2, 5}), m.tensor({2, 2, 3}), m.tensor({2})}},
          {"without bias", {m.tensor({2, 1, 4}), m.tensor({2, 1, 2})}},
          {"one line", {m.tensor({2, 5}), m.tensor({2, 2, 3}), m.tensor({2})}},
          {"stride and padding", {m.tensor({1, 2, 6}), m.tensor({2, 2, 3}), m.tensor({2}), two, one}},
          {"dilation and groups", {m.tensor({1, 4, 6}), m.tensor({2, 2, 2}), m.tensor({2}), one, one, two, two}},
          {"depthwise", {m.tensor({2, 2, 7}), m.tensor({4, 1, 3}), m.tensor({4}), two, two, one, two}},
          {"empty batch", {m.tensor({0, 2, 5}), m.tensor({2, 2, 3}), m.tensor({2})}, false},
          {"large", {m.tensor({3, 8, 200}), m.tensor({16, 8, 3}), m.tensor({16}), one, one}, false}};
}
std::vector<Sample> samples_2d(Make& m) {
  return {
      {"plain", {m.tensor({1, 2, 4, 3}), m.tensor({2, 2, 2, 2}), m.tensor({2})}},
      {"without bias", {m.tensor({2, 1, 3, 3}), m.tensor({2, 1, 2, 2})}},
      {"one image", {m.tensor({2, 4, 3}), m.tensor({2, 2, 2, 2}), m.tensor({2})}},
      {"stride and padding", {m.tensor({1, 1, 4, 5}), m.tensor({2, 1, 3, 2}), m.tensor({2}), Ints{2, 1}, Ints{1, 0}}},
      {"dilation", {m.tensor({1, 1, 5, 5}), m.tensor({1, 1, 2, 2}), m.tensor({1}), one, one, two}},
      {"many channels", {m.tensor({1, 5, 3, 4}), m.tensor({3, 5, 2, 2}), m.tensor({3}), Ints{1, 2}, one}},
      {"groups", {m.tensor({1, 4, 3, 3}), m.tensor({4, 2, 2, 2}), m.tensor({4}), one, none, one, two}},
      {"depthwise", {m.tensor({2, 3, 4, 5}), m.tensor({3, 1, 3, 3}), m.tensor({3}), one, one, one, int64_t{3}}},
      {"depthwise, twice",
       {m.tensor({1, 2, 5, 6}), m.tensor({4, 1, 3, 2}), m.tensor({4}), Ints{2, 3}, Ints{1, 2}, two, two}},
      {"1x1", {m.tensor({2, 3, 2, 2}), m.tensor({2, 3, 1, 1}), m.tensor({2})}},
      {"padding beyond the window", {m.tensor({1, 1, 3, 3}), m.tensor({1, 1, 2, 2}), m.tensor({1}), two, Ints{3, 4}}},
      {"channels last", {channels_last(m.tensor({2, 3, 4, 5})), m.tensor({2, 3, 2, 2}), m.tensor({2})}, false},
      {"empty batch", {m.tensor({0, 2, 4, 3}), m.tensor({2, 2, 2, 2}), m.tensor({2})}, false},
      {"large", {m.tensor({2, 3, 20, 21}), m.tensor({8, 3, 3, 3}), m.tensor({8}), one, one}, false},
      {"large, depthwise",
       {m.tensor({3, 6, 20, 37}), m.tensor({6, 1, 3, 3}), m.tensor({6}), two, one, one, int64_t{6}},
       false}};
}
std::vector<Sample> samples_3d(Make& m) {
  return {
      {"plain", {m.tensor({1, 2, 3, 4, 3}), m.tensor({2, 2, 2, 2, 2}), m.tensor({2})}},
      {"without bias", {m.tensor({1, 1, 2, 3, 3}), m.tensor({2, 1, 1, 2, 2})}},
      {"one body", {m.tensor({2, 3, 3, 2}), m.tensor({2, 2, 2, 2, 2}), m.tensor({2})}},
      {"stride and padding",
       {m.tensor({1, 1, 3, 4, 3}), m.tensor({2, 1, 2, 3, 2}), m.tensor({2}), Ints{1, 2, 1}, Ints{1, 1, 0}}},
      {"dilation and groups",
       {m.tensor({1, 2, 3, 3, 4}), m.tensor({2, 1, 2, 2, 2}), m.tensor({2}), one, Ints{0, 1, 0}, Ints{1, 2, 1}, two}},
      {"channels last", {channels_last(m.tensor({2, 3, 3, 4, 3})), m.tensor({2, 3, 2, 2, 2}), m.tensor({2})}, false},
      {"large", {m.tensor({2, 3, 6, 9, 11}), m.tensor({5, 3, 3, 3, 3}), m.tensor({5}), one, one}, false}};
}
std::vector<Sample> transposed_1d(Make& m) {
  return {{"plain", {m.tensor({1, 2, 4}), m.tensor({2, 3, 3}), m.tensor({3})}},
          {"without bias", {m.tensor({2, 1, 4}), m.tensor({1, 2, 2})}},
          {"one line", {m.tensor({2, 4}), m.tensor({2, 2, 3}), m.tensor({2})}},
          {"stride, padding, more behind", {m.tensor({1, 2, 4}), m.tensor({2, 1, 3}), m.tensor({1}), two, one, one}},
          {"groups and dilation", {m.tensor({1, 4, 3}), m.tensor({4, 1, 2}), m.tensor({2}), one, one, none, two, two}},
          {"large", {m.tensor({3, 8, 100}), m.tensor({8, 4, 3}), m.tensor({4}), two}, false}};
}
std::vector<Sample> transposed_2d(Make& m) {
  return {{"plain", {m.tensor({1, 2, 3, 2}), m.tensor({2, 2, 2, 2}), m.tensor({2})}},
          {"without bias", {m.tensor({2, 1, 2, 3}), m.tensor({1, 2, 2, 2})}},
          {"one image", {m.tensor({2, 3, 2}), m.tensor({2, 2, 2, 2}), m.tensor({2})}},
          {"stride, padding, more behind",
           {m.tensor({1, 2, 3, 2}), m.tensor({2, 1, 3, 2}), m.tensor({1}), two, Ints{1, 0}, Ints{0, 1}}},
          {"groups and dilation",
           {m.tensor({1, 4, 2, 2}), m.tensor({4, 1, 2, 2}), m.tensor({2}), one, one, none, two, two}},
          {"a stride behind and more",
           {m.tensor({1, 2, 2, 3}), m.tensor({2, 1, 2, 2}), m.tensor({1}), Ints{1, 2}, Ints{1, 0}, Ints{1, 2}, one,
            Ints{2, 3}}},
          {"many channels", {m.tensor({1, 5, 3, 2}), m.tensor({5, 6, 2, 3}), m.tensor({6}), Ints{1, 2}, one}},
          {"channels last", {channels_last(m.tensor({2, 3, 4, 5})), m.tensor({3, 2, 2, 2}), m.tensor({2})}, false},
          {"large", {m.tensor({2, 8, 9, 11}), m.tensor({8, 5, 3, 3}), m.tensor({5}), two, one, one}, false}};
}
std::vector<Sample> transposed_3d(Make& m) {
  return {{"plain", {m.tensor({1, 2, 2, 3, 2}), m.tensor({2, 2, 2, 1, 2}), m.tensor({2})}},
          {"one body", {m.tensor({2, 2, 2, 2}), m.tensor({2, 1, 2, 2, 2}), m.tensor({1})}},
          {"stride, padding, more behind",
           {m.tensor({1, 1, 2, 2, 3}), m.tensor({1, 1, 3, 2, 2}), m.tensor({1}), two, Ints{1, 0, 0}, Ints{0, 1, 0}}},
          {"groups and dilation",
           {m.tensor({1, 2, 2, 2, 2}), m.tensor({2, 1, 2, 2, 1}), m.tensor({2}), one, Ints{1, 0, 0}, none, two, two}},
          {"large", {m.tensor({2, 5, 4, 5, 6}), m.tensor({5, 4, 3, 3, 3}), m.tensor({4}), two, one}, false}};
}
std::vector<Sample> either_samples(Make& m) {
  return {{"one dimension",
           {m.tensor({1, 2, 5}), m.tensor({2, 2, 3}), m.tensor({2}), Ints{1}, Ints{1}, Ints{1}, false, Ints{0}, one}},
          {"two dimensions",
           {m.tensor({1, 2, 4, 3}), m.tensor({2, 2, 2, 2}), m.tensor({2}), Ints{2, 1}, Ints{0, 1}, Ints{1, 1}, false,
            Ints{0, 0}, one}},
          {"transposed",
           {m.tensor({1, 2, 3, 2}), m.tensor({2, 2, 2, 2}), Value(), Ints{2, 2}, Ints{0, 0}, Ints{1, 1}, true,
            Ints{1, 0}, one}}};
}
std::vector<Sample> named(Make& m, Ints x, Ints w) {
  auto args = [&](const char* mode, Values more = {}) {
    Values all{m.tensor(x), m.tensor(w), m.tensor({w[0]}), one, std::string(mode)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  return {{"same", args("same")}, {"valid", args("valid")}, {"same, dilated", args("same", {two})}};
}

std::vector<Array> bilinear_form(const Arguments& in) {
  Array a = in.array(0), b = in.array(1), w = in.array(2);
  Ints sizes = a.sizes;
  sizes.back() = w.sizes[0];
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) {
    Complex sum = in.given(3) ? in.array(3)[{at.back()}] : 0;
    for_each_index({w.sizes[1], w.sizes[2]}, [&](const Index& k) {
      Index i = at, j = at;
      i.back() = k[0];
      j.back() = k[1];
      sum += a[i] * w[{at.back(), k[0], k[1]}] * b[j];
    });
    y[at] = sum;
  });
  return {y};
}

OpCase numbered_case(const char* name, int64_t rank, Samples samples) {
  return {.name = name, .torch = name, .samples = std::move(samples), .reference = by_number(rank)};
}
OpCase named_case(const char* name, int64_t rank, Ints x, Ints w) {
  return {.name = name,
          .overload = "padding",
          .torch = std::string(name) + ".padding",
          .samples = [x, w](Make& m) { return named(m, x, w); },
          .reference = by_name(rank),
          .errors = {refused(
                         "name",
                         [x, w](Make& m) -> Values {
                           return {m.tensor(x), m.tensor(w), Value(), one, std::string("full")};
                         },
                         std::string(name) + ": Invalid padding string: 'full'"),
                     refused(
                         "strided",
                         [x, w](Make& m) -> Values {
                           return {m.tensor(x), m.tensor(w), Value(), two, std::string("same")};
                         },
                         std::string(name) + ": padding='same' is not supported for strided convolutions")},
          .may_be_undefined = {2}};
}
OpCase transposed_case(const char* name, const char* torch, int64_t rank, Samples samples) {
  return {.name = name, .torch = torch, .samples = std::move(samples), .reference = by_transposing(rank)};
}

}  // namespace

std::vector<OpCase> conv_cases() {
  std::vector<OpCase> cases = {
      numbered_case("conv1d", 1, samples_1d),
      named_case("conv1d", 1, {1, 2, 5}, {2, 2, 3}),
      numbered_case("conv2d", 2, samples_2d),
      named_case("conv2d", 2, {1, 2, 4, 3}, {2, 2, 3, 2}),
      numbered_case("conv3d", 3, samples_3d),
      named_case("conv3d", 3, {1, 1, 3, 3, 2}, {2, 1, 2, 3, 1}),
      transposed_case("conv_transpose1d", "conv_transpose1d", 1, transposed_1d),
      transposed_case("conv_transpose2d", "conv_transpose2d.input", 2, transposed_2d),
      transposed_case("conv_transpose3d", "conv_transpose3d.input", 3, transposed_3d),
      {.name = "convolution",
       .torch = "convolution",
       .samples = either_samples,
       .reference = either,
       .may_be_undefined = {2}},
      {.name = "conv_tbc",
       .torch = "conv_tbc",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"plain", {m.tensor({5, 2, 3}), m.tensor({3, 3, 2}), m.tensor({2})}},
                 {"padded", {m.tensor({4, 1, 2}), m.tensor({2, 2, 3}), m.tensor({3}), one}}};
       },
       .reference = by_time,
       .any_layout = false},  // libtorch wants to view its tensors
      {.name = "bilinear",
       .torch = "bilinear",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"plain", {m.tensor({2, 3}), m.tensor({2, 4}), m.tensor({2, 3, 4}), m.tensor({2})}},
                 {"without bias", {m.tensor({2, 3}), m.tensor({2, 2}), m.tensor({3, 3, 2})}},
                 {"vectors", {m.tensor({3}), m.tensor({2}), m.tensor({2, 3, 2}), m.tensor({2})}},
                 {"more dimensions", {m.tensor({2, 2, 2}), m.tensor({2, 2, 3}), m.tensor({1, 2, 3}), m.tensor({1})}},
                 {"large", {m.tensor({40, 20}), m.tensor({40, 30}), m.tensor({10, 20, 30}), m.tensor({10})}, false}};
       },
       .reference = bilinear_form,
       .errors = {refused(
                      "inner",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), m.tensor({2, 4}), m.tensor({2, 2, 4})};
                      },
                      "bilinear(): input1 size does not match weight size: got 3 but expected 2"),
                  refused(
                      "batch",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), m.tensor({3, 4}), m.tensor({2, 3, 4})};
                      },
                      "bilinear(): input batch dimensions do not match at dim 0: got 2 and 3")}},
  };
  cases[0].errors = {refused(
                         "stride",
                         [](Make& m) -> Values {
                           return {m.tensor({1, 1, 4}), m.tensor({1, 1, 2}), Value(), none};
                         },
                         "conv1d: non-positive stride is not supported"),
                     refused(
                         "rank",
                         [](Make& m) -> Values {
                           return {m.tensor({1, 1, 4, 4}), m.tensor({1, 1, 2})};
                         },
                         "conv1d: Expected 2D (unbatched) or 3D (batched) input to conv1d")};
  cases[2].errors = {
      refused(
          "channels",
          [](Make& m) -> Values {
            return {m.tensor({1, 3, 4, 4}), m.tensor({2, 2, 2, 2})};
          },
          "conv2d: Given groups=1, weight of size [2, 2, 2, 2], expected input[1, 3, 4, 4] to have 2 channels"),
      refused(
          "too_small",
          [](Make& m) -> Values {
            return {m.tensor({1, 1, 2, 2}), m.tensor({1, 1, 3, 3})};
          },
          "conv2d: Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3)"),
      refused(
          "rank",
          [](Make& m) -> Values {
            return {m.tensor({2, 2}), m.tensor({1, 1, 2, 2})};
          },
          "conv2d: Expected 3D (unbatched) or 4D (batched) input to conv2d"),
      refused(
          "stride",
          [](Make& m) -> Values {
            return {m.tensor({1, 1, 4, 4}), m.tensor({1, 1, 2, 2}), Value(), none};
          },
          "conv2d: non-positive stride is not supported")};
  cases[7].errors = {refused(
                         "channels",
                         [](Make& m) -> Values {
                           return {m.tensor({1, 3, 4, 4}), m.tensor({2, 2, 2, 2})};
                         },
                         "conv_transpose2d: Given transposed=1, weight of size [2, 2, 2, 2], expected input[1, 3, "
                         "4, 4] to have 2 channels"),
                     refused(
                         "output_padding",
                         [](Make& m) -> Values {
                           return {m.tensor({1, 2, 4, 4}), m.tensor({2, 2, 2, 2}), Value(), one, none, one};
                         },
                         "conv_transpose2d: output padding must be smaller than either stride or dilation"),
                     refused(
                         "too_small",
                         [](Make& m) -> Values {
                           return {m.tensor({1, 1, 1, 1}), m.tensor({1, 1, 2, 2}), Value(), one, one};
                         },
                         "conv_transpose2d: Given input size per channel: (1 x 1). Calculated output size per "
                         "channel: (0 x 0). Output size is too small")};
  for (OpCase& one : cases) {
    one.dtypes = without(all_dtypes, {kBool});
    one.refused = {kBool};
    one.tolerance = 10;
    one.same_bits_strided = one.same_bits_threads = false;
  }
  return cases;
}

}  // namespace cresset::test
