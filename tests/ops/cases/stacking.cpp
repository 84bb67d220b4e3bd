// Cases of ops/stacking, ops/pad and ops/fold.
#include <algorithm>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

using List = std::vector<Tensor>;

Array between(const Array& x, size_t d, int64_t start, int64_t end) {
  int64_t n = x.sizes[d];
  auto clamped = [n](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n); };
  start = clamped(start), end = std::max(start, clamped(end));
  Ints sizes = x.sizes;
  sizes[d] = end - start;
  return gathered(x, sizes, [&](Index at) {
    at[d] += start;
    return at;
  });
}
std::vector<Array> cut_at(const Array& x, size_t d, const Ints& places) {
  std::vector<Array> parts;
  int64_t start = 0;
  for (int64_t place : places) {
    parts.push_back(between(x, d, start, place));
    start = place;
  }
  parts.push_back(between(x, d, start, x.sizes[d]));
  return parts;
}
std::vector<Array> cut_into(const Array& x, size_t d, int64_t sections) {
  Ints places;
  int64_t at = 0;
  for (int64_t i = 0; i + 1 < sections; i++) {
    at += x.sizes[d] / sections + (i < x.sizes[d] % sections ? 1 : 0);
    places.push_back(at);
  }
  return cut_at(x, d, places);
}
Array joined(const std::vector<Array>& parts, size_t d) {
  Ints sizes = parts[0].sizes;
  sizes[d] = 0;
  for (const Array& part : parts) sizes[d] += part.sizes[d];
  Array y = Array::filled(sizes);
  int64_t start = 0;
  for (const Array& part : parts) {
    for_each_index(part.sizes, [&](const Index& at) {
      Index to = at;
      to[d] += start;
      y[to] = part[at];
    });
    start += part.sizes[d];
  }
  return y;
}
Array raised(Array x, size_t rank) {
  if (x.sizes.empty()) x.sizes = {1};
  if (rank >= 2 && x.sizes.size() == 1) x.sizes.insert(x.sizes.begin(), 1);
  if (rank >= 3 && x.sizes.size() == 2) x.sizes.push_back(1);
  return x;
}
std::vector<Array> all_raised(std::vector<Array> list, size_t rank) {
  for (Array& x : list) x = raised(x, rank);
  return list;
}
std::vector<Array> grid(std::vector<Array> axes, bool swapped) {
  Ints shape;
  for (const Array& axis : axes) shape.push_back(axis.numel());
  if (swapped) std::swap(shape[0], shape[1]);
  std::vector<Array> out;
  for (size_t i = 0; i < axes.size(); i++) {
    size_t along = swapped && i < 2 ? 1 - i : i;
    Array y = Array::filled(shape);
    for_each_index(shape, [&](const Index& at) { y[at] = axes[i].values[static_cast<size_t>(at[along])]; });
    out.push_back(y);
  }
  return out;
}

std::vector<Sample> list_samples(Make& m, const std::vector<std::vector<Ints>>& shapes) {
  std::vector<Sample> samples;
  for (const auto& list : shapes) {
    List tensors;
    for (const Ints& sizes : list) tensors.push_back(m.tensor(sizes));
    samples.push_back({"of " + std::to_string(list[0].size()) + " dimensions", {tensors}});
  }
  return samples;
}
OpCase split_case(const char* name, bool indices, std::vector<Ints> shapes, std::function<size_t(const Array&)> dim) {
  return {.name = name,
          .overload = indices ? "indices" : "",
          .torch = std::string(name) + (indices ? ".array" : ".int"),
          .samples =
              [=](Make& m) {
                std::vector<Sample> samples;
                for (const Ints& sizes : shapes) {
                  Value how = indices ? Value(Ints{1, 3}) : Value(int64_t{2});
                  samples.push_back({"of " + std::to_string(sizes.size()) + " dimensions", {m.tensor(sizes), how}});
                }
                return samples;
              },
          .reference =
              [=](const Arguments& in) {
                Array x = in.array(0);
                return indices ? cut_at(x, dim(x), in.integers(1)) : cut_into(x, dim(x), in.integer(1));
              },
          .errors = {refused(
              "number",
              [=](Make& m) -> Values {
                return {m.tensor({}), indices ? Value(Ints{1}) : Value(int64_t{1})};
              },
              std::string(name) + ": requires a tensor with at least")}};
}
OpCase stack_case(const char* name, std::vector<std::vector<Ints>> shapes,
                  std::function<Array(const std::vector<Array>&)> f) {
  return {.name = name,
          .torch = name,
          .samples = [=](Make& m) { return list_samples(m, shapes); },
          .reference = single([=](const Arguments& in) { return f(in.arrays(0)); }),
          .errors = {refused(
              "none", [](Make&) -> Values { return {List{}}; }, "expects a non-empty TensorList")}};
}
std::vector<OpCase> atleast_cases() {
  std::vector<OpCase> cases;
  for (size_t rank = 1; rank <= 3; rank++) {
    std::string name = "atleast_" + std::to_string(rank) + "d";
    cases.push_back({.name = name,
                     .torch = name,
                     .samples = [](Make& m) -> std::vector<Sample> {
                       return {{"3-d", {m.tensor({2, 3, 2})}},
                               {"0-d", {m.tensor({})}},
                               {"1-d", {m.tensor({3})}},
                               {"2-d", {m.tensor({2, 3})}}};
                     },
                     .reference = single([rank](const Arguments& in) { return raised(in.array(0), rank); })});
    cases.push_back({.name = name,
                     .overload = "Sequence",
                     .torch = name + ".Sequence",
                     .samples = [](Make& m) -> std::vector<Sample> {
                       return {{"list", {List{m.tensor({3}), m.tensor({}), m.tensor({2, 3})}}}};
                     },
                     .reference = [rank](const Arguments& in) { return all_raised(in.arrays(0), rank); }});
  }
  return cases;
}

// ---- pads
int64_t source_place(int64_t at, int64_t n, const std::string& mode) {
  if (mode == "replicate") return std::clamp<int64_t>(at, 0, n - 1);
  if (mode == "circular") return (at % n + n) % n;
  if (at < 0) at = -at;
  return at >= n ? 2 * (n - 1) - at : at;
}
Array padded(const Array& x, const Ints& pad, const std::string& mode, Complex value) {
  Ints sizes = x.sizes, before(sizes.size());
  for (size_t i = 0; 2 * i < pad.size(); i++) {
    size_t d = sizes.size() - 1 - i;
    sizes[d] += pad[2 * i] + pad[2 * i + 1];
    before[d] = pad[2 * i];
  }
  Array y = Array::filled(sizes, value);
  for_each_index(sizes, [&](const Index& at) {
    Index from = at;
    bool inside = true;
    for (size_t d = 0; d < at.size(); d++) {
      from[d] -= before[d];
      if (mode == "constant")
        inside = inside && from[d] >= 0 && from[d] < x.sizes[d];
      else
        from[d] = source_place(from[d], x.sizes[d], mode);
    }
    if (inside) y[at] = x[from];
  });
  return y;
}
OpCase pad_case(std::string name, std::string mode, int dims) {
  return {.name = name,
          .torch = name,
          .samples =
              [=](Make& m) {
                Ints sizes{2}, pads;
                for (int i = 0; i < dims; i++) {
                  sizes.push_back(3 + i);
                  pads.push_back(1);
                  pads.push_back(i % 2 ? 1 : 2);
                }
                Ints batch = sizes, cut = pads, large = sizes;
                batch.insert(batch.begin(), 2);
                cut[0] = -1;
                large[0] = 300;
                large.back() = 40;
                return std::vector<Sample>{{"channels", {m.tensor(sizes), pads}},
                                           {"batch", {m.tensor(batch), pads}},
                                           {"cut", {m.tensor(batch), cut}},
                                           {"large", {m.tensor(large), pads}, false}};
              },
          .reference = single([mode](const Arguments& in) { return padded(in.array(0), in.integers(1), mode, 0); }),
          .errors = {refused(
              "rank",
              [=](Make& m) -> Values {
                return {m.tensor({4}), Ints(static_cast<size_t>(2 * dims), 1)};
              },
              name + ": Expected " + std::to_string(dims + 1) + "D or " + std::to_string(dims + 2) + "D")}};
}

// ---- fold
struct Blocks {
  Ints kernel, dilation, padding, stride;
  // Calls f(column index, block, pixel row, pixel column) wherever the window lies inside the image.
  void each(int64_t channels, int64_t height, int64_t width,
            const std::function<void(int64_t, int64_t, int64_t, int64_t, int64_t)>& f) const {
    int64_t high = count(height, 0), wide = count(width, 1);
    for (int64_t c = 0; c < channels; c++)
      for (int64_t k = 0; k < kernel[0] * kernel[1]; k++)
        for (int64_t b = 0; b < high * wide; b++) {
          int64_t y = b / wide * stride[0] - padding[0] + k / kernel[1] * dilation[0];
          int64_t x = b % wide * stride[1] - padding[1] + k % kernel[1] * dilation[1];
          if (y >= 0 && y < height && x >= 0 && x < width) f(c, c * kernel[0] * kernel[1] + k, b, y, x);
        }
  }
  int64_t count(int64_t size, size_t side) const {
    return (size + 2 * padding[side] - dilation[side] * (kernel[side] - 1) - 1) / stride[side] + 1;
  }
};
Blocks blocks_at(const Arguments& in, size_t i) {
  return {in.integers(i), in.integers(i + 1), in.integers(i + 2), in.integers(i + 3)};
}

std::vector<OpCase> pad_cases() {
  std::vector<OpCase> cases = {
      {.name = "constant_pad_nd",
       .torch = "constant_pad_nd",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"last", {m.tensor({2, 3}), Ints{1, 2}, Scalar(3)}},
                 {"two", {m.tensor({2, 3}), Ints{1, 0, 2, 1}}},
                 {"cut", {m.tensor({3, 4}), Ints{-1, 2, 1, -1}}},
                 {"none", {m.tensor({2, 3}), Ints{}}},
                 {"empty", {m.tensor({0, 3}), Ints{1, 1}}},
                 {"large", {m.tensor({201, 133}), Ints{3, 5}, Scalar(1)}, false}};
       },
       .reference = single([](const Arguments& in) {
         return padded(in.array(0), in.integers(1), "constant", stored_as(in.number(2), in.dtype));
       }),
       .errors = {refused(
                      "odd",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), Ints{1}};
                      },
                      "constant_pad_nd: Length of pad must be even but instead it equals 1"),
                  refused(
                      "negative",
                      [](Make& m) -> Values {
                        return {m.tensor({2, 3}), Ints{-2, -2}};
                      },
                      "resulted in a negative output size")}},
      {.name = "pad",
       .torch = "pad",
       .samples =
           [](Make& m) {
             std::vector<Sample> samples = {
                 {"constant", {m.tensor({2, 3}), Ints{1, 2}}},
                 {"circular 1d", {m.tensor({1, 2, 3}), Ints{1, 2}, std::string("circular")}},
                 {"circular 2d", {m.tensor({1, 2, 3, 3}), Ints{1, 3, 2, 0}, std::string("circular")}}};
             if (m.dtype == kFloat || m.dtype == kDouble) {
               samples.push_back({"value", {m.tensor({2, 3}), Ints{1, 2}, std::string("constant"), 1.5}});
               samples.push_back({"reflect", {m.tensor({2, 3}), Ints{1, 2}, std::string("reflect")}});
               samples.push_back({"replicate", {m.tensor({2, 3, 2}), Ints{1, 2, 4, 0}, std::string("replicate")}});
             }
             return samples;
           },
       .reference = single([](const Arguments& in) {
         return padded(in.array(0), in.integers(1), std::get<std::string>(in[2]), in.given(3) ? in.number(3) : 0);
       }),
       .errors = {
           refused(
               "mode",
               [](Make& m) -> Values {
                 return {m.tensor({2, 3}), Ints{1, 1}, std::string("mirror")};
               },
               "pad: Unrecognised padding mode mirror"),
           refused(
               "reflect",
               [](Make& m) -> Values {
                 return {m.tensor({2, 3}), Ints{3, 1}, std::string("reflect")};
               },
               "pad: Padding size should be less than the corresponding input dimension, but got: padding (3, 1)"),
           refused(
               "circular",
               [](Make& m) -> Values {
                 return {m.tensor({1, 2, 3}), Ints{4, 1}, std::string("circular")};
               },
               "pad: Padding value causes wrapping around more than once")}}};
  for (int dims = 1; dims <= 3; dims++)
    for (const char* mode : {"reflect", "replicate"}) {
      std::string name =
          std::string(mode[2] == 'f' ? "reflection" : "replication") + "_pad" + std::to_string(dims) + "d";
      cases.push_back(pad_case(name, mode, dims));
    }
  return cases;
}

std::vector<OpCase> fold_cases() {
  return {{.name = "im2col",
           .torch = "im2col",
           .samples = [](Make& m) -> std::vector<Sample> {
             return {{"batch", {m.tensor({2, 2, 4, 5}), Ints{2, 3}, Ints{1, 1}, Ints{0, 1}, Ints{1, 2}}},
                     {"image", {m.tensor({2, 5, 4}), Ints{2, 2}, Ints{2, 1}, Ints{1, 0}, Ints{2, 1}}},
                     {"large", {m.tensor({2, 8, 30, 30}), Ints{3, 3}, Ints{1, 1}, Ints{1, 1}, Ints{1, 1}}, false}};
           },
           .reference = single([](const Arguments& in) {
             Array x = in.array(0);
             bool single = x.rank() == 3;
             if (single) x.sizes.insert(x.sizes.begin(), 1);
             Blocks blocks = blocks_at(in, 1);
             int64_t c = x.sizes[1], h = x.sizes[2], w = x.sizes[3];
             Array y = Array::filled(
                 {x.sizes[0], c * blocks.kernel[0] * blocks.kernel[1], blocks.count(h, 0) * blocks.count(w, 1)});
             for (int64_t n = 0; n < x.sizes[0]; n++)
               blocks.each(c, h, w, [&](int64_t channel, int64_t row, int64_t block, int64_t i, int64_t j) {
                 y[{n, row, block}] = x[{n, channel, i, j}];
               });
             if (single) y.sizes.erase(y.sizes.begin());
             return y;
           }),
           .errors = {refused(
               "small",
               [](Make& m) -> Values {
                 return {m.tensor({1, 2, 2}), Ints{3, 3}, Ints{1, 1}, Ints{0, 0}, Ints{1, 1}};
               },
               "im2col: Given input with spatial size (2, 2), kernel_size=[3, 3]")}},
          {.name = "col2im",
           .torch = "col2im",
           .samples = [](Make& m) -> std::vector<Sample> {
             return {{"batch", {m.tensor({2, 12, 9}), Ints{4, 5}, Ints{2, 3}, Ints{1, 1}, Ints{0, 1}, Ints{1, 2}}},
                     {"image", {m.tensor({8, 9}), Ints{5, 4}, Ints{2, 2}, Ints{2, 1}, Ints{1, 0}, Ints{2, 1}}}};
           },
           .reference = single([](const Arguments& in) {
             Array x = in.array(0);
             bool single = x.rank() == 2;
             if (single) x.sizes.insert(x.sizes.begin(), 1);
             Blocks blocks = blocks_at(in, 2);
             Ints size = in.integers(1);
             int64_t c = x.sizes[1] / blocks.kernel[0] / blocks.kernel[1];
             Array y = Array::filled({x.sizes[0], c, size[0], size[1]});
             for (int64_t n = 0; n < x.sizes[0]; n++)
               blocks.each(c, size[0], size[1], [&](int64_t channel, int64_t row, int64_t block, int64_t i, int64_t j) {
                 y[{n, channel, i, j}] += x[{n, row, block}];
               });
             if (single) y.sizes.erase(y.sizes.begin());
             if (in.dtype == kBool)
               for (Complex& value : y.values) value = value != 0.0;
             return y;
           }),
           .tolerance = 6,
           .errors = {refused(
               "blocks",
               [](Make& m) -> Values {
                 return {m.tensor({4, 5}), Ints{3, 3}, Ints{2, 2}, Ints{1, 1}, Ints{0, 0}, Ints{1, 1}};
               },
               "expected size of input's dimension 2 to match the calculated number of sliding blocks 2 * 2 = 4")}}};
}

std::vector<OpCase> index_list_cases() {
  auto triangle = [](bool lower) {
    return single([lower](const Arguments& in) {
      Array y;
      std::vector<Complex> columns;
      for (int64_t i = 0; i < in.integer(0); i++)
        for (int64_t j = 0; j < in.integer(1); j++)
          if (lower ? j - i <= in.integer(2) : j - i >= in.integer(2)) {
            y.values.emplace_back(static_cast<double>(i));
            columns.emplace_back(static_cast<double>(j));
          }
      y.sizes = {2, y.numel()};
      y.values.insert(y.values.end(), columns.begin(), columns.end());
      y.dtype = kInt64;
      return y;
    });
  };
  auto sizes = [](Make&) -> std::vector<Sample> {
    const TensorOptions options(kInt64);
    return {{"square", {int64_t{3}, int64_t{3}, int64_t{0}, options}},
            {"above", {int64_t{3}, int64_t{4}, int64_t{1}, options}},
            {"below", {int64_t{4}, int64_t{2}, int64_t{-1}, options}},
            {"all", {int64_t{2}, int64_t{2}, int64_t{9}, options}},
            {"none", {int64_t{2}, int64_t{2}, int64_t{-9}, options}},
            {"empty", {int64_t{0}, int64_t{2}, int64_t{0}, options}}};
  };
  std::vector<std::pair<DType, std::string>> integers_only;
  for (DType dtype : without(all_dtypes, {kInt64})) integers_only.emplace_back(dtype, "takes no tensor");
  return {{.name = "tril_indices",
           .torch = "tril_indices",
           .samples = sizes,
           .reference = triangle(true),
           .dtypes = {kInt64},
           .gradient = false,
           .errors = {refused(
               "negative",
               [](Make&) -> Values {
                 return {int64_t{-1}, int64_t{2}};
               },
               "tril_indices: row and col must be non-negative, got -1 and 2")},
           .untested = integers_only},
          {.name = "triu_indices",
           .torch = "triu_indices",
           .samples = sizes,
           .reference = triangle(false),
           .dtypes = {kInt64},
           .gradient = false,
           .untested = integers_only},
          {.name = "logspace",
           .torch = "logspace",
           .samples = [](Make& m) -> std::vector<Sample> {
             TensorOptions options(m.dtype);
             return {{"three", {Scalar(0), Scalar(2), int64_t{3}, 10.0, options}},
                     {"down", {Scalar(3), Scalar(0), int64_t{4}, 2.0, options}},
                     {"one", {Scalar(1), Scalar(5), int64_t{1}, 2.0, options}},
                     {"none", {Scalar(1), Scalar(5), int64_t{0}, 2.0, options}}};
           },
           .reference = single([](const Arguments& in) {
             int64_t steps = in.integer(2);
             Array y = Array::filled({steps});
             for (int64_t i = 0; i < steps; i++) {
               double step = steps > 1 ? (in.number(1) - in.number(0)).real() / static_cast<double>(steps - 1) : 0;
               y.values[static_cast<size_t>(i)] =
                   std::pow(in.number(3).real(), in.number(0).real() + step * static_cast<double>(i));
             }
             return y;
           }),
           .dtypes = without(all_dtypes, {kBool}),
           .refused = {kBool},
           .tolerance = 4,
           .gradient = false}};
}

}  // namespace

std::vector<OpCase> stacking_cases() {
  auto first = [](const Array& x) { return static_cast<size_t>(x.rank() == 1 ? 0 : 1); };
  std::vector<OpCase> cases = {
      {.name = "tensor_split",
       .torch = "tensor_split.sections",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"uneven", {m.tensor({5, 2}), int64_t{3}}},
                 {"columns", {m.tensor({2, 5}), int64_t{2}, int64_t{-1}}},
                 {"more than there are", {m.tensor({2}), int64_t{3}}}};
       },
       .reference =
           [](const Arguments& in) {
             return cut_into(in.array(0), static_cast<size_t>(in.integer(2) < 0 ? 1 : 0), in.integer(1));
           },
       .errors = {refused(
           "none",
           [](Make& m) -> Values {
             return {m.tensor({2}), int64_t{0}};
           },
           "tensor_split: number of sections must be larger than 0, got 0")}},
      {.name = "tensor_split",
       .overload = "indices",
       .torch = "tensor_split.indices",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"two", {m.tensor({5, 2}), Ints{1, 3}}},
                 {"backwards and beyond", {m.tensor({5}), Ints{3, 1, -1, 9}}},
                 {"none", {m.tensor({5}), Ints{}}}};
       },
       .reference = [](const Arguments& in) { return cut_at(in.array(0), 0, in.integers(1)); },
       .errors = {refused(
           "number",
           [](Make& m) -> Values {
             return {m.tensor({}), Ints{1}};
           },
           "tensor_split: expected at least a 1-dimensional tensor")}},
      {.name = "tensor_split",
       .overload = "tensor_indices_or_sections",
       .torch = "tensor_split.tensor_indices_or_sections",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"places", {m.tensor({5, 2}), tensor_of({{2}, {1, 3}}, kInt64)}, true, true},
                 {"sections", {m.tensor({5}), tensor_of({{}, {2}}, kInt64)}, true, true}};
       },
       .reference =
           [](const Arguments& in) {
             Array how = in.array(1);
             if (how.sizes.empty()) return cut_into(in.array(0), 0, in.integer(1));
             Ints places;
             for (Complex value : how.values) places.push_back(static_cast<int64_t>(value.real()));
             return cut_at(in.array(0), 0, places);
           },
       .mixes_devices = true,
       .no_mock = "the places are read on the CPU"},
      split_case("hsplit", false, {{4}, {2, 4}}, first),
      split_case("hsplit", true, {{4}, {2, 4}}, first),
      split_case("vsplit", false, {{4, 2}}, [](const Array&) { return size_t{0}; }),
      split_case("vsplit", true, {{4, 2}}, [](const Array&) { return size_t{0}; }),
      split_case("dsplit", false, {{2, 2, 4}}, [](const Array&) { return size_t{2}; }),
      split_case("dsplit", true, {{2, 2, 4}}, [](const Array&) { return size_t{2}; }),
      {.name = "split_with_sizes",
       .torch = "split_with_sizes",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"uneven", {m.tensor({5, 2}), Ints{1, 4}}}};
       },
       .reference = [](const Arguments& in) { return cut_at(in.array(0), 0, {1}); },
       .errors = {refused(
           "sum",
           [](Make& m) -> Values {
             return {m.tensor({5}), Ints{1, 3}};
           },
           "split_with_sizes: split_sizes [1, 3] sum to 4 (expected 5")}},
      stack_case(
          "hstack", {{{2}, {3}}, {{2, 1}, {2, 3}}, {{}, {}}},
          [=](const std::vector<Array>& list) { return joined(all_raised(list, 1), first(raised(list[0], 1))); }),
      stack_case("vstack", {{{3}, {3}}, {{1, 3}, {2, 3}}, {{}, {}}},
                 [](const std::vector<Array>& list) { return joined(all_raised(list, 2), 0); }),
      stack_case("dstack", {{{3}, {3}}, {{2, 3}, {2, 3}}, {{}, {}}},
                 [](const std::vector<Array>& list) { return joined(all_raised(list, 3), 2); }),
      stack_case("column_stack", {{{3}, {3}}, {{2, 1}, {2, 3}}, {{}, {}}},
                 [](std::vector<Array> list) {
                   for (Array& x : list)
                     if (x.rank() <= 1) x.sizes = {x.numel(), 1};
                   return joined(list, 1);
                 }),
      {.name = "block_diag",
       .torch = "block_diag",
       .samples =
           [](Make& m) {
             return list_samples(m, {{{2, 3}, {3}, {}, {1, 2}}, {{2}}});
           },
       .reference = single([](const Arguments& in) {
         std::vector<Array> blocks = all_raised(in.arrays(0), 2);
         int64_t rows = 0, columns = 0;
         for (const Array& b : blocks) rows += b.sizes[0], columns += b.sizes[1];
         Array y = Array::filled({rows, columns});
         rows = columns = 0;
         for (const Array& b : blocks) {
           for_each_index(b.sizes, [&](const Index& at) { y[{at[0] + rows, at[1] + columns}] = b[at]; });
           rows += b.sizes[0], columns += b.sizes[1];
         }
         return y;
       }),
       .errors = {refused(
           "rank",
           [](Make& m) -> Values {
             return {List{m.tensor({1, 1, 1})}};
           },
           "block_diag: Input tensors must have 2 or fewer dimensions")}},
      {.name = "meshgrid",
       .torch = "meshgrid",
       .samples =
           [](Make& m) {
             return list_samples(m, {{{2}, {3}}, {{2}, {}, {3}}});
           },
       .reference = [](const Arguments& in) { return grid(in.arrays(0), false); },
       .errors = {refused(
           "rank",
           [](Make& m) -> Values {
             return {List{m.tensor({1, 1})}};
           },
           "meshgrid: Expected 0D or 1D tensor in the tensor list but got shape [1, 1]")}},
      {.name = "meshgrid",
       .overload = "indexing",
       .torch = "meshgrid.indexing",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"ij", {List{m.tensor({2}), m.tensor({3})}, std::string("ij")}},
                 {"xy", {List{m.tensor({2}), m.tensor({3}), m.tensor({2})}, std::string("xy")}}};
       },
       .reference = [](const Arguments& in) { return grid(in.arrays(0), std::get<std::string>(in[1]) == "xy"); },
       .errors = {refused(
           "indexing",
           [](Make& m) -> Values {
             return {List{m.tensor({2})}, std::string("yx")};
           },
           "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: yx")}},
      {.name = "cartesian_prod",
       .torch = "cartesian_prod",
       .samples =
           [](Make& m) {
             return list_samples(m, {{{2}, {3}}, {{3}}});
           },
       .reference = single([](const Arguments& in) {
         std::vector<Array> axes = in.arrays(0), columns = grid(axes, false);
         if (axes.size() == 1) return axes[0];
         for (Array& column : columns) column.sizes = {column.numel(), 1};
         return joined(columns, 1);
       }),
       .errors = {refused(
           "rank",
           [](Make& m) -> Values {
             return {List{m.tensor({1, 1})}};
           },
           "cartesian_prod: Expect a 1D vector, but got shape [1, 1]")}},
      {.name = "combinations",
       .torch = "combinations",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"pairs", {m.tensor({4})}},
                 {"triples", {m.tensor({4}), int64_t{3}}},
                 {"again", {m.tensor({3}), int64_t{2}, true}},
                 {"too many", {m.tensor({2}), int64_t{3}}}};
       },
       .reference = single([](const Arguments& in) {
         Array x = in.array(0), y;
         int64_t r = in.integer(1), found = 0;
         for_each_index(Ints(static_cast<size_t>(r), x.numel()), [&](const Index& at) {
           for (size_t i = 1; i < at.size(); i++)
             if (in.flag(2) ? at[i] < at[i - 1] : at[i] <= at[i - 1]) return;
           for (int64_t i : at) y.values.push_back(x.values[static_cast<size_t>(i)]);
           found++;
         });
         y.sizes = {found, r};
         return y;
       }),
       .errors = {refused(
           "rank",
           [](Make& m) -> Values {
             return {m.tensor({1, 1})};
           },
           "combinations: Expect a 1D vector, but got shape [1, 1]")}},
  };
  for (auto make : {atleast_cases, pad_cases, fold_cases, index_list_cases})
    for (OpCase& c : make()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace cresset::test
