// Cases of ops/vision and ops/dropout.
#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

struct Sampling {
  int64_t interpolation, padding;
  bool align;
};
double reflected(double x, double low, double high) {
  if (low == high) return 0;
  while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
  return x;
}
double padded(double x, int64_t size, const Sampling& s) {
  double most = static_cast<double>(size - 1);
  if (s.padding == 0) return x;
  if (s.padding == 2) x = s.align ? reflected(x, 0, most) : reflected(x, -0.5, most + 0.5);
  return std::clamp(x, 0.0, most);
}
double cubic(double x) {
  const double a = -0.75;
  x = std::abs(x);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}
// Which places along an axis, with what weights.
std::vector<std::pair<int64_t, double>> places(double coordinate, int64_t size, const Sampling& s) {
  double x = s.align ? (coordinate + 1) / 2 * static_cast<double>(size - 1)
                     : ((coordinate + 1) * static_cast<double>(size) - 1) / 2;
  std::vector<std::pair<int64_t, double>> all, inside;
  if (s.interpolation == 2) {
    double below = std::floor(x);
    for (int i = -1; i <= 2; i++)
      all.push_back({static_cast<int64_t>(std::nearbyint(padded(below + i, size, s))), cubic(x - below - i)});
  } else {
    x = padded(x, size, s);
    double below = std::floor(x);
    if (s.interpolation == 1)
      all = {{static_cast<int64_t>(std::nearbyint(x)), 1}};
    else
      all = {{static_cast<int64_t>(below), 1 - (x - below)}, {static_cast<int64_t>(below) + 1, x - below}};
  }
  for (auto [at, w] : all)
    if (at >= 0 && at < size) inside.push_back({at, w});
  return inside;
}
Array sampled(const Array& x, const Array& grid, const Sampling& s) {
  Ints sizes{x.sizes[0], x.sizes[1]};
  sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
  size_t rank = x.sizes.size() - 2;
  Array y = Array::filled(sizes);
  for_each_index(sizes, [&](const Index& at) {
    Index in_grid{at[0]};
    in_grid.insert(in_grid.end(), at.begin() + 2, at.end());
    std::vector<std::vector<std::pair<int64_t, double>>> axes;
    for (size_t i = 0; i < rank; i++) {
      Index one = in_grid;
      one.push_back(static_cast<int64_t>(rank - 1 - i));
      axes.push_back(places(grid[one].real(), x.sizes[2 + i], s));
    }
    if (rank == 2) axes.insert(axes.begin(), {{0, 1.0}});
    for (auto [d, wd] : axes[0])
      for (auto [h, wh] : axes[1])
        for (auto [w, ww] : axes[2]) {
          Index from{at[0], at[1]};
          if (rank == 3) from.push_back(d);
          from.insert(from.end(), {h, w});
          y[at] += x[from] * wd * wh * ww;
        }
  });
  return y;
}

// Positions that are safely between the places where slopes jump.
Tensor grid_of(Make& m, const Ints& sizes) {
  Array grid = Array::filled(sizes);
  for (Complex& value : grid.values) value = static_cast<double>(m.between(-12, 12)) / 10 + 0.037;
  return tensor_of(grid, m.dtype);
}
std::vector<Sample> sampler_samples(Make& m) {
  std::vector<Sample> samples;
  for (int64_t interpolation : {0, 1, 2})
    for (int64_t padding : {0, 1, 2})
      for (bool align : {false, true})
        samples.push_back({message_of("mode ", interpolation, ", padding ", padding, align ? ", aligned" : ""),
                           {m.tensor({1, 2, 3, 4}), grid_of(m, {1, 2, 3, 2}), interpolation, padding, align}});
  for (int64_t interpolation : {0, 1})
    for (int64_t padding : {0, 1, 2})
      samples.push_back({message_of("volume, mode ", interpolation, ", padding ", padding),
                         {m.tensor({2, 1, 2, 3, 3}), grid_of(m, {2, 1, 2, 2, 3}), interpolation, padding, false}});
  samples.push_back(
      {"large", {m.tensor({2, 3, 17, 19}), grid_of(m, {2, 23, 29, 2}), int64_t{0}, int64_t{0}, false}, false});
  return samples;
}

Array shuffled(const Array& x, int64_t r, bool up) {
  Ints sizes = x.sizes;
  size_t c = sizes.size() - 3;
  sizes[c] = up ? sizes[c] / (r * r) : sizes[c] * r * r;
  for (size_t i : {c + 1, c + 2}) sizes[i] = up ? sizes[i] * r : sizes[i] / r;
  return gathered(x, sizes, [&](const Index& at) {
    Index from = at;
    if (up) {
      from[c] = at[c] * r * r + at[c + 1] % r * r + at[c + 2] % r;
      from[c + 1] = at[c + 1] / r;
      from[c + 2] = at[c + 2] / r;
    } else {
      from[c] = at[c] / (r * r);
      from[c + 1] = at[c + 1] * r + at[c] / r % r;
      from[c + 2] = at[c + 2] * r + at[c] % r;
    }
    return from;
  });
}

std::vector<Sample> dropout_samples(Make& m) {
  return {{"channels", {m.tensor({2, 3, 4}), 0.25, true}},
          {"matrix", {m.tensor({5, 7}), 0.25, true}},
          {"all", {m.tensor({2, 3}), 1.0, true}},
          {"large", {m.tensor({20, 33, 41}), 0.5, true}, false}};
}
Samples spatial_samples(int64_t rank) {
  return [rank](Make& m) -> std::vector<Sample> {
    Ints with(static_cast<size_t>(rank + 2), 2), without(static_cast<size_t>(rank + 1), 3);
    return {{"batch", {m.tensor(with), 0.25, true}}, {"one", {m.tensor(without), 0.25, true}}};
  };
}
Reference shaped_like_self() {
  return [](const Arguments& in) { return std::vector{Array::filled(in.array(0).sizes)}; };
}

}  // namespace

std::vector<OpCase> vision_cases() {
  const std::vector<DType> others = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble});
  std::vector<OpCase> cases = {
      {.name = "grid_sampler",
       .torch = "grid_sampler",
       .samples = sampler_samples,
       .reference =
           [](const Arguments& in) {
             return std::vector{sampled(in.array(0), in.array(1), {in.integer(2), in.integer(3), in.flag(4)})};
           },
       .dtypes = real_floats,
       .refused = others,
       .tolerance = 10,
       .gradient_tolerance = 1e-4,
       .errors = {{"batch",
                   [](Make& m) -> Values {
                     return {m.tensor({2, 1, 2, 2}), m.tensor({1, 2, 2, 2}), int64_t{0}, int64_t{0}, false};
                   },
                   "grid_sampler: expected grid and input to have same batch size"},
                  {"last",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 1, 2, 2}), m.tensor({1, 2, 2, 3}), int64_t{0}, int64_t{0}, false};
                   },
                   "grid_sampler: expected grid to have size 2 in last dimension"}}},
      {.name = "grid_sample",
       .not_in_torch = "a function of nn in libtorch; grid_sampler is the op",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"plain", {m.tensor({1, 2, 3, 4}), grid_of(m, {1, 2, 3, 2})}},
                 {"named",
                  {m.tensor({1, 2, 3, 4}), grid_of(m, {1, 2, 3, 2}), std::string("bicubic"), std::string("border")}},
                 {"reflection",
                  {m.tensor({1, 1, 3, 4}), grid_of(m, {1, 2, 3, 2}), std::string("nearest"), std::string("reflection"),
                   true}}};
       },
       .reference =
           [](const Arguments& in) {
             std::string mode = std::get<std::string>(in[2]), padding = std::get<std::string>(in[3]);
             return std::vector{sampled(in.array(0), in.array(1),
                                        {mode == "bilinear"  ? 0
                                         : mode == "nearest" ? 1
                                                             : 2,
                                         padding == "zeros"    ? 0
                                         : padding == "border" ? 1
                                                               : 2,
                                         in.flag(4)})};
           },
       .dtypes = real_floats,
       .refused = others,
       .tolerance = 10,
       .gradient_tolerance = 1e-4,
       .errors = {{"mode",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 1, 2, 2}), m.tensor({1, 2, 2, 2}), std::string("cubic")};
                   },
                   "grid_sample: expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: 'cubic'"}}},
      {.name = "affine_grid_generator",
       .torch = "affine_grid_generator",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"plain", {m.tensor({2, 2, 3}), Ints{2, 1, 3, 4}, false}},
                 {"aligned", {m.tensor({1, 2, 3}), Ints{1, 1, 3, 1}, true}},
                 {"volume", {m.tensor({1, 3, 4}), Ints{1, 1, 2, 3, 2}, false}}};
       },
       .reference =
           [](const Arguments& in) {
             Array theta = in.array(0);
             Ints size = in.integers(1), sizes{size[0]};
             sizes.insert(sizes.end(), size.begin() + 2, size.end());
             auto rank = static_cast<int64_t>(size.size()) - 2;
             sizes.push_back(rank);
             Array y = Array::filled(sizes);
             for_each_index(sizes, [&](const Index& at) {
               for (int64_t j = 0; j <= rank; j++) {
                 double x = 1;
                 if (j < rank) {
                   int64_t n = size[static_cast<size_t>(size.size() - 1 - static_cast<size_t>(j))];
                   int64_t i = at[at.size() - 2 - static_cast<size_t>(j)];
                   x = n <= 1 ? 0 : -1 + 2 * static_cast<double>(i) / static_cast<double>(n - 1);
                   if (!in.flag(2)) x *= static_cast<double>(n - 1) / static_cast<double>(n);
                 }
                 y[at] += theta[{at[0], at.back(), j}] * x;
               }
             });
             return std::vector{y};
           },
       .dtypes = real_floats,
       .refused = {},
       .tolerance = 10,
       .errors = {{"theta",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 2, 2}), Ints{1, 1, 3, 4}, false};
                   },
                   "affine_grid_generator: Expected a batch of 2D affine matrices of shape [1, 2, 3]"}},
       .same_bits_threads = false},
      {.name = "pixel_shuffle",
       .torch = "pixel_shuffle",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"batch", {m.tensor({2, 8, 2, 3}), int64_t{2}}},
                 {"one", {m.tensor({9, 2, 2}), int64_t{3}}},
                 {"by one", {m.tensor({2, 2, 2}), int64_t{1}}}};
       },
       .reference = [](const Arguments& in) { return std::vector{shuffled(in.array(0), in.integer(1), true)}; },
       .errors = {{"channels",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 3, 2, 2}), int64_t{2}};
                   },
                   "pixel_shuffle: pixel_shuffle expects its input's 'channel' dimension to be divisible"}}},
      {.name = "pixel_unshuffle",
       .torch = "pixel_unshuffle",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"batch", {m.tensor({2, 2, 4, 6}), int64_t{2}}}, {"one", {m.tensor({1, 3, 6}), int64_t{3}}}};
       },
       .reference = [](const Arguments& in) { return std::vector{shuffled(in.array(0), in.integer(1), false)}; },
       .errors = {{"size",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 3, 3, 2}), int64_t{2}};
                   },
                   "pixel_unshuffle: pixel_unshuffle expects height and width to be divisible by downscale_factor"}}},
      {.name = "channel_shuffle",
       .torch = "channel_shuffle",
       .samples = [](Make& m) -> std::vector<Sample> {
         return {{"image", {m.tensor({2, 6, 2, 3}), int64_t{2}}}, {"line", {m.tensor({1, 6, 2}), int64_t{3}}}};
       },
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0);
             int64_t groups = in.integer(1), each = x.sizes[1] / groups;
             return std::vector{gathered(x, x.sizes, [&](const Index& at) {
               Index from = at;
               from[1] = at[1] % groups * each + at[1] / groups;
               return from;
             })};
           },
       .complex_gradient = false,  // libtorch has none
       .errors = {{"channels",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 3, 2, 2}), int64_t{2}};
                   },
                   "channel_shuffle: Number of channels must be divisible by groups. Got 3 channels and 2 groups."}}},
  };
  auto drops = [&](const char* name, Samples samples, bool in_torch) {
    OpCase c{.name = name, .samples = samples, .reference = shaped_like_self(), .dtypes = floats};
    if (in_torch)
      c.torch = name;
    else
      c.not_in_torch = "a function of nn in libtorch";
    c.values_known = false;
    for (DType dtype : {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool})
      c.untested.push_back({dtype, "refused only if there is something to drop"});
    c.errors = {{"p",
                 [samples](Make& m) -> Values {
                   Values values = samples(m).at(0).arguments;
                   values[1] = 1.5;
                   return values;
                 },
                 std::string(name) + ": dropout probability has to be between 0 and 1, but got 1.5"}};
    cases.push_back(c);
  };
  for (OpCase& one : cases)
    if (one.name == "affine_grid_generator")
      for (DType dtype : others) one.untested.push_back({dtype, "refused; libtorch rounds the grid to 0 and 1"});
  drops("feature_dropout", dropout_samples, true);
  drops("alpha_dropout", dropout_samples, true);
  drops("feature_alpha_dropout", dropout_samples, true);
  drops("dropout1d", spatial_samples(1), false);
  drops("dropout2d", spatial_samples(2), false);
  drops("dropout3d", spatial_samples(3), false);
  cases.push_back({.name = "gumbel_softmax",
                   .not_in_torch = "a function of nn in libtorch",
                   .samples = [](Make& m) -> std::vector<Sample> {
                     return {{"soft", {m.tensor({3, 4})}},
                             {"columns", {m.tensor({3, 4}), 0.5, false, int64_t{0}}},
                             {"large", {m.tensor({201, 33}), 1.0, true}, false}};
                   },
                   .reference = shaped_like_self(),
                   .dtypes = real_floats,
                   .refused = others,
                   .errors = {{"dim",
                               [](Make& m) -> Values {
                                 return {m.tensor({3, 4}), 1.0, false, int64_t{2}};
                               },
                               "gumbel_softmax: dim 2 is out of range for shape [3, 4]"}},
                   .same_bits_strided = false,
                   .values_known = false});
  return cases;
}

}  // namespace cresset::test
