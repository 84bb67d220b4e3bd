// Cases of ops/interpolate.
#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

enum class How { nearest, exact, linear, cubic, area, smooth_linear, smooth_cubic };

double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  if (x < 2) return a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a;
  return 0;
}

// The weights of all `from` positions in position o of the result.
std::vector<double> weights(How how, int64_t o, int64_t from, int64_t to, bool align, double factor) {
  std::vector<double> w(static_cast<size_t>(from));
  auto add = [&](int64_t at, double by) { w[static_cast<size_t>(std::clamp<int64_t>(at, 0, from - 1))] += by; };
  double step = factor > 0 ? 1 / factor : static_cast<double>(from) / static_cast<double>(to),
         at = static_cast<double>(o);
  if (align) step = to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0;
  double middle = align ? step * at : step * (at + 0.5) - 0.5;
  if (how == How::nearest) add(static_cast<int64_t>(std::floor(at * step)), 1);
  if (how == How::exact) add(static_cast<int64_t>(std::floor((at + 0.5) * step)), 1);
  if (how == How::linear) {
    middle = std::max(middle, 0.0);
    double below = std::floor(middle);
    add(static_cast<int64_t>(below), 1 - (middle - below));
    add(static_cast<int64_t>(below) + 1, middle - below);
  }
  if (how == How::cubic) {
    double below = std::floor(middle);
    for (int64_t i = -1; i <= 2; i++)
      add(static_cast<int64_t>(below) + i, cubic(middle - below - static_cast<double>(i), -0.75));
  }
  if (how == How::area) {
    int64_t first = o * from / to, last = ((o + 1) * from + to - 1) / to;
    for (int64_t i = first; i < last; i++) add(i, 1 / static_cast<double>(last - first));
  }
  if (how == How::smooth_linear || how == How::smooth_cubic) {
    double wide = std::max(step, 1.0), reach = (how == How::smooth_cubic ? 2 : 1) * wide, centre = step * (at + 0.5);
    double total = 0;
    auto first = std::max<int64_t>(static_cast<int64_t>(centre - reach + 0.5), 0);
    auto last = std::min<int64_t>(static_cast<int64_t>(centre + reach + 0.5), from);
    for (int64_t i = first; i < last; i++) {
      double x = (static_cast<double>(i) - centre + 0.5) / wide;
      add(i, how == How::smooth_cubic ? cubic(x, -0.5) : std::max(0.0, 1 - std::abs(x)));
    }
    for (double one : w) total += one;
    for (double& one : w) one /= total;
  }
  return w;
}

// Along one dimension after the other.
Array resized(Array x, How how, const Ints& sizes, bool align, const std::vector<double>& factors) {
  for (size_t d = 0; d < sizes.size(); d++) {
    Ints out = x.sizes;
    out[d + 2] = sizes[d];
    Array y = Array::filled(out);
    for_each_index(out, [&](const Index& at) {
      Index from = at;
      std::vector<double> w = weights(how, at[d + 2], x.sizes[d + 2], sizes[d], align, factors[d]);
      for (size_t i = 0; i < w.size(); i++) {
        from[d + 2] = static_cast<int64_t>(i);
        if (w[i] != 0) y[at] += x[from] * w[i];
      }
    });
    x = y;
  }
  return x;
}

// The arguments after the size: align_corners where there is one, then a factor for each dimension.
Reference resizing(How how, bool has_align) {
  return [=](const Arguments& in) {
    Ints size = in.integers(1);
    std::vector<double> factors;
    for (size_t i = 0; i < size.size(); i++) {
      size_t at = i + (has_align ? 3 : 2);
      factors.push_back(in.given(at) ? in.number(at).real() : 0);
    }
    return std::vector{resized(in.array(0), how, size, has_align && in.flag(2), factors)};
  };
}

Samples resizes(size_t rank, bool has_align) {
  return [=](Make& m) {
    auto sizes = [&](std::initializer_list<int64_t> list) {
      return Ints(list.end() - static_cast<int64_t>(rank), list.end());
    };
    auto input = [&](int64_t batch, int64_t channels, const Ints& space) {
      Ints all{batch, channels};
      all.insert(all.end(), space.begin(), space.end());
      return m.tensor(all);
    };
    std::vector<Sample> samples;
    auto add = [&](const char* label, const Tensor& x, const Ints& size, bool align, double factor,
                   bool differentiate) {
      Values arguments{x, size};
      if (has_align) arguments.push_back(align);
      if (factor > 0)
        for (size_t i = 0; i < rank; i++) arguments.push_back(factor);
      samples.push_back({label, arguments, differentiate});
    };
    add("larger", input(2, 2, sizes({2, 3, 4})), sizes({3, 5, 7}), false, 0, true);
    add("smaller", input(1, 2, sizes({3, 4, 5})), sizes({2, 3, 2}), false, 0, true);
    add("same", input(1, 1, sizes({2, 3, 4})), sizes({2, 3, 4}), false, 0, true);
    add("factor", input(1, 2, sizes({2, 3, 3})), sizes({3, 4, 4}), false, 1.5, true);
    add("to one", input(1, 2, sizes({2, 3, 3})), sizes({1, 1, 1}), false, 0, true);
    if (has_align) add("corners", input(2, 1, sizes({2, 3, 4})), sizes({3, 5, 7}), true, 0, true);
    add("empty batch", input(0, 2, sizes({2, 3, 4})), sizes({3, 5, 7}), false, 0, false);
    // PyTorch 1.13 finds the places of a bicubic in the tensor's own type, which is too coarse here.
    if (m.dtype != kBFloat16) add("large", input(3, 4, sizes({3, 13, 17})), sizes({4, 29, 41}), false, 0, false);
    return samples;
  };
}

OpCase resize_case(const char* name, size_t rank, How how) {
  bool copies = how == How::nearest || how == How::exact;
  std::string text = name;
  OpCase c{.name = name,
           .torch = name,
           .samples = resizes(rank, !copies),
           .reference = resizing(how, !copies),
           .errors = {{"size",
                       [=](Make& m) -> Values {
                         Values values{m.tensor(Ints(rank + 2, 2)), Ints(rank + 1, 2)};
                         if (!copies) values.push_back(false);
                         return values;
                       },
                       text + ": It is expected output_size equals to " + std::to_string(rank)},
                      {"zero",
                       [=](Make& m) -> Values {
                         Values values{m.tensor(Ints(rank + 2, 2)), Ints(rank, 0)};
                         if (!copies) values.push_back(false);
                         return values;
                       },
                       text + ": Input and output sizes should be greater than 0"}}};
  return c;
}

std::vector<Array> interpolate_of(const Arguments& in) {
  Array x = in.array(0);
  std::string mode = std::get<std::string>(in[3]);
  How how = mode == "nearest"         ? How::nearest
            : mode == "nearest-exact" ? How::exact
            : mode == "area"          ? How::area
            : mode == "bicubic"       ? How::cubic
                                      : How::linear;
  if (in.flag(6)) how = how == How::cubic ? How::smooth_cubic : How::smooth_linear;
  size_t rank = x.sizes.size() - 2;
  Ints size = in.integers(1);
  if (size.size() == 1) size = Ints(rank, size[0]);
  double factor = in.given(2) ? in.number(2).real() : 0;
  if (size.empty())
    for (size_t i = 0; i < rank; i++)
      size.push_back(static_cast<int64_t>(std::floor(static_cast<double>(x.sizes[i + 2]) * factor)));
  if (in.given(5) && in.flag(5)) factor = 0;
  return {resized(x, how, size, in.given(4) && in.flag(4), std::vector<double>(rank, how == How::area ? 0 : factor))};
}
std::vector<Sample> interpolate_samples(Make& m) {
  using namespace std::string_literals;
  const Value none = Value();
  return {{"nearest", {m.tensor({1, 2, 3, 2}), Ints{4, 5}}},
          {"one size", {m.tensor({1, 2, 3, 2}), Ints{4}}},
          {"factor", {m.tensor({1, 2, 3}), none, 2.0}},
          {"exact", {m.tensor({1, 2, 3}), Ints{5}, none, "nearest-exact"s}},
          {"area", {m.tensor({1, 2, 5, 3}), Ints{3, 2}, none, "area"s}},
          {"area, larger", {m.tensor({1, 2, 3}), none, 1.5, "area"s}},
          {"linear", {m.tensor({1, 2, 3}), Ints{5}, none, "linear"s, true}},
          {"bilinear", {m.tensor({1, 2, 3, 2}), none, 1.7, "bilinear"s}},
          {"bilinear, recomputed", {m.tensor({1, 2, 3, 2}), none, 1.7, "bilinear"s, none, true}},
          {"bicubic", {m.tensor({1, 1, 3, 4}), Ints{5, 6}, none, "bicubic"s}},
          {"trilinear", {m.tensor({1, 1, 2, 3, 2}), Ints{3, 2, 4}, none, "trilinear"s}},
          {"smoothed", {m.tensor({1, 1, 7, 6}), Ints{3, 4}, none, "bilinear"s, none, none, true}}};
}

}  // namespace

std::vector<OpCase> interpolate_cases() {
  const std::vector<DType> whole = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble, kUInt8});
  std::vector<OpCase> cases = {
      resize_case("upsample_nearest1d", 1, How::nearest),
      resize_case("upsample_nearest2d", 2, How::nearest),
      resize_case("upsample_nearest3d", 3, How::nearest),
      resize_case("_upsample_nearest_exact1d", 1, How::exact),
      resize_case("_upsample_nearest_exact2d", 2, How::exact),
      resize_case("_upsample_nearest_exact3d", 3, How::exact),
      resize_case("upsample_linear1d", 1, How::linear),
      resize_case("upsample_bilinear2d", 2, How::linear),
      resize_case("upsample_bicubic2d", 2, How::cubic),
      resize_case("upsample_trilinear3d", 3, How::linear),
      resize_case("_upsample_bilinear2d_aa", 2, How::smooth_linear),
      resize_case("_upsample_bicubic2d_aa", 2, How::smooth_cubic),
      {.name = "interpolate",
       .not_in_torch = "a function of nn in libtorch; the ops that it chooses from have cases of their own",
       .samples = interpolate_samples,
       .reference = interpolate_of,
       .errors = {{"mode",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 2, 3}), Ints{4}, Value(), std::string("bilinear")};
                   },
                   "interpolate: Got 3D input, but bilinear mode needs 4D input"},
                  {"neither",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 2, 3})};
                   },
                   "interpolate: either size or scale_factor should be defined"},
                  {"corners",
                   [](Make& m) -> Values {
                     return {m.tensor({1, 2, 3}), Ints{4}, Value(), std::string("nearest"), true};
                   },
                   "interpolate: align_corners option can only be set with the interpolating modes"}}}};
  for (OpCase& one : cases) {
    bool copies = one.name.find("nearest") != std::string::npos;
    one.dtypes = real_floats;
    if (copies) one.dtypes.push_back(kUInt8);
    one.refused = whole;
    if (one.name == "interpolate")
      one.untested.push_back({kUInt8, "goes with the mode"});
    else if (!copies)
      one.refused.push_back(kUInt8);
    if (one.name == "interpolate") one.refused = {kInt8, kInt16, kInt32, kInt64, kBool, kComplex64, kComplex128};
    one.tolerance = 8;
  }
  return cases;
}

}  // namespace cresset::test
