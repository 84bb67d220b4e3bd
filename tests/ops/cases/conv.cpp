// Cases of ops/conv. A library does the work, so bits may depend on layouts and threads.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

using Ints = std::vector<int64_t>;
using Pair = std::array<int64_t, 2>;

Pair pair_of(const Ints& list) { return {list.front(), list.back()}; }

struct Window {
  Pair stride, before, after, dilation;
  int64_t groups;
};

// x [n, c, h, w], w [o, c / groups, kh, kw]
Array convolved(const Array& x, const Array& w, const Window& window) {
  Pair out;
  for (size_t d = 0; d < 2; d++) {
    int64_t padded = x.sizes[d + 2] + window.before[d] + window.after[d];
    out[d] = (padded - window.dilation[d] * (w.sizes[d + 2] - 1) - 1) / window.stride[d] + 1;
  }
  Array y = Array::filled({x.sizes[0], w.sizes[0], out[0], out[1]});
  int64_t outputs_per_group = w.sizes[0] / window.groups;
  for_each_index(y.sizes, [&](const Index& at) {
    Complex sum = 0;
    for_each_index({w.sizes[1], w.sizes[2], w.sizes[3]}, [&](const Index& k) {
      int64_t row = at[2] * window.stride[0] + k[1] * window.dilation[0] - window.before[0];
      int64_t column = at[3] * window.stride[1] + k[2] * window.dilation[1] - window.before[1];
      if (row < 0 || row >= x.sizes[2] || column < 0 || column >= x.sizes[3]) return;
      sum += x[{at[0], at[1] / outputs_per_group * w.sizes[1] + k[0], row, column}] * w[{at[1], k[0], k[1], k[2]}];
    });
    y[at] = sum;
  });
  return y;
}

// An image without a batch, and the bias.
std::vector<Array> completed(const Arguments& in, const Window& window) {
  Array x = in.array(0);
  bool single = x.rank() == 3;
  if (single) x.sizes.insert(x.sizes.begin(), 1);
  Array y = convolved(x, in.array(1), window);
  if (in.given(2) && std::get<Tensor>(in[2]).defined()) {
    Array bias = in.array(2);
    bias.sizes = {bias.sizes[0], 1, 1};
    y = zipped(y, bias, [](Complex a, Complex b) { return a + b; });
  }
  if (single) y.sizes.erase(y.sizes.begin());
  return {y};
}

std::vector<Array> by_number(const Arguments& in) {
  Pair around = pair_of(in.integers(4));
  return completed(in, {pair_of(in.integers(3)), around, around, pair_of(in.integers(5)), in.integer(6)});
}
std::vector<Array> by_name(const Arguments& in) {
  Window window{pair_of(in.integers(3)), {0, 0}, {0, 0}, pair_of(in.integers(5)), in.integer(6)};
  if (std::get<std::string>(in[4]) == "same")
    for (size_t d = 0; d < 2; d++) {
      int64_t total = window.dilation[d] * (in.array(1).sizes[d + 2] - 1);
      window.before[d] = total / 2;
      window.after[d] = total - total / 2;
    }
  return completed(in, window);
}

std::vector<Sample> conv_samples(Make& m) {
  Tensor plain = m.tensor({2, 3, 4, 5}), last = empty_strided({2, 3, 4, 5}, {60, 1, 15, 3}, TensorOptions(m.dtype));
  write(last, read(plain));
  const int64_t one = 1, two = 2;
  return {
      {"plain", {m.tensor({1, 2, 4, 3}), m.tensor({2, 2, 2, 2}), m.tensor({2})}},
      {"without bias", {m.tensor({2, 1, 3, 3}), m.tensor({2, 1, 2, 2})}},
      {"one image", {m.tensor({2, 4, 3}), m.tensor({2, 2, 2, 2}), m.tensor({2})}},
      {"stride and padding", {m.tensor({1, 1, 4, 5}), m.tensor({2, 1, 3, 2}), m.tensor({2}), Ints{2, 1}, Ints{1, 0}}},
      {"dilation", {m.tensor({1, 1, 5, 5}), m.tensor({1, 1, 2, 2}), m.tensor({1}), one, one, two}},
      {"groups", {m.tensor({1, 4, 3, 3}), m.tensor({4, 2, 2, 2}), m.tensor({4}), one, int64_t{0}, one, two}},
      {"1x1", {m.tensor({2, 3, 2, 2}), m.tensor({2, 3, 1, 1}), m.tensor({2})}},
      {"channels last", {last, m.tensor({2, 3, 2, 2}), m.tensor({2})}, false},
      {"empty batch", {m.tensor({0, 2, 4, 3}), m.tensor({2, 2, 2, 2}), m.tensor({2})}, false},
      {"large", {m.tensor({2, 3, 20, 21}), m.tensor({8, 3, 3, 3}), m.tensor({8}), one, one}, false}};
}
std::vector<Sample> named_samples(Make& m) {
  const int64_t one = 1;
  return {{"same", {m.tensor({1, 2, 4, 3}), m.tensor({2, 2, 3, 2}), m.tensor({2}), one, std::string("same")}},
          {"valid", {m.tensor({1, 2, 4, 3}), m.tensor({2, 2, 3, 2}), m.tensor({2}), one, std::string("valid")}},
          {"same, dilated",
           {m.tensor({1, 1, 4, 3}), m.tensor({1, 1, 2, 2}), m.tensor({1}), one, std::string("same"), Ints{1, 2}}}};
}

}  // namespace

std::vector<OpCase> conv_cases() {
  std::vector<OpCase> cases = {
      {.name = "conv2d",
       .torch = "conv2d",
       .samples = conv_samples,
       .reference = by_number,
       .errors =
           {{"channels",
             [](Make& m) -> Values {
               return {m.tensor({1, 3, 4, 4}), m.tensor({2, 2, 2, 2})};
             },
             "conv2d: Given groups=1, weight of size [2, 2, 2, 2], expected input[1, 3, 4, 4] to have 2 channels"},
            {"too_small",
             [](Make& m) -> Values {
               return {m.tensor({1, 1, 2, 2}), m.tensor({1, 1, 3, 3})};
             },
             "conv2d: Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3)"},
            {"rank",
             [](Make& m) -> Values {
               return {m.tensor({2, 2}), m.tensor({1, 1, 2, 2})};
             },
             "conv2d: Expected 3D (unbatched) or 4D (batched) input to conv2d"},
            {"stride",
             [](Make& m) -> Values {
               return {m.tensor({1, 1, 4, 4}), m.tensor({1, 1, 2, 2}), Value(), int64_t{0}};
             },
             "conv2d: non-positive stride is not supported"}}},
      {.name = "conv2d",
       .overload = "padding",
       .torch = "conv2d.padding",
       .samples = named_samples,
       .reference = by_name,
       .errors = {{"name",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 1, 4, 4}), m.tensor({1, 1, 2, 2}), Value(), int64_t{1}, std::string("full")};
                   },
                   "conv2d: Invalid padding string: 'full'"},
                  {"strided",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 1, 4, 4}), m.tensor({1, 1, 2, 2}), Value(), int64_t{2}, std::string("same")};
                   },
                   "conv2d: padding='same' is not supported for strided convolutions"}},
       .may_be_undefined = {2}},
  };
  for (OpCase& one : cases) {
    one.dtypes = without(all_dtypes, {kBool});
    one.refused = {kBool};
    one.tolerance = 10;
    one.same_bits_strided = one.same_bits_threads = false;
  }
  return cases;
}

}  // namespace cresset::test
