// conv2d against a naive double reference over dtypes, layouts, groups, strides and dilations, and its derivatives.
#include "cresset/ops/conv.h"

#include <limits>

#include "tests/ops/matrix_reference.h"

namespace cresset::conv_test {
namespace {

using namespace cresset::testing;

struct Geometry {
  std::vector<int64_t> input{2, 4, 7, 6}, weight{6, 4, 3, 3};
  int64_t stride[2] = {1, 1}, padding[2] = {0, 0}, dilation[2] = {1, 1}, groups = 1;
};

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> all{
      {},
      {.stride = {2, 1}, .padding = {1, 2}},
      {.padding = {2, 2}, .dilation = {2, 2}},
      {.weight = {6, 2, 3, 2}, .padding = {1, 1}, .groups = 2},
      {.weight = {4, 1, 3, 3}, .stride = {2, 2}, .padding = {1, 0}, .groups = 4},
      {.weight = {5, 4, 1, 1}},
      {.input = {1, 4, 7, 6}, .weight = {1, 4, 7, 6}},
      {.input = {2, 3, 5, 40}, .weight = {20, 3, 2, 5}, .stride = {1, 3}, .padding = {1, 4}, .dilation = {2, 1}},
  };
  return all;
}

Numbers naive_conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const Geometry& at, IntArrayRef sizes) {
  const Numbers input = values_of(x), weight = values_of(w), added = bias.defined() ? values_of(bias) : Numbers();
  const int64_t outputs = sizes[1] / at.groups, channels = w.size(1);
  Numbers y;
  for (int64_t n = 0; n < sizes[0]; n++)
    for (int64_t o = 0; o < sizes[1]; o++)
      for (int64_t i = 0; i < sizes[2]; i++)
        for (int64_t j = 0; j < sizes[3]; j++) {
          Complex sum = bias.defined() ? added[static_cast<size_t>(o)] : 0;
          for (int64_t c = 0; c < channels; c++)
            for (int64_t k = 0; k < w.size(2); k++)
              for (int64_t l = 0; l < w.size(3); l++) {
                const int64_t row = i * at.stride[0] + k * at.dilation[0] - at.padding[0];
                const int64_t col = j * at.stride[1] + l * at.dilation[1] - at.padding[1];
                if (row < 0 || row >= x.size(2) || col < 0 || col >= x.size(3)) continue;
                const int64_t channel = o / outputs * channels + c;
                sum += input[static_cast<size_t>(((n * x.size(1) + channel) * x.size(2) + row) * x.size(3) + col)] *
                       weight[static_cast<size_t>(((o * channels + c) * w.size(2) + k) * w.size(3) + l)];
              }
          y.push_back(sum);
        }
  return y;
}

Tensor run(const Tensor& x, const Tensor& w, const Tensor& bias, const Geometry& at) {
  return conv2d(x, w, bias, at.stride, at.padding, at.dilation, at.groups);
}

Tensor channels_last(const Tensor& x) { return x.contiguous(MemoryFormat::ChannelsLast); }
Tensor spaced(const Tensor& x) {  // no stride is one
  Tensor wide = zeros({x.size(0), x.size(1), x.size(2), x.size(3), 2}, x.options());
  Tensor view = wide.select(4, 1);
  view.copy_(x);
  return view;
}

TEST(Conv2d, EqualsTheNaiveSumForEveryTypeLayoutAndGeometry) {
  for (DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt32, kInt64, kComplexFloat, kComplexDouble}) {
    for (size_t i = 0; i < geometries().size(); i++) {
      const Geometry& at = geometries()[i];
      const std::string what = std::string(name_of(dtype)) + ", geometry " + std::to_string(i);
      const Tensor x = numbers(at.input, dtype, 1), w = numbers(at.weight, dtype, 2),
                   bias = numbers({at.weight[0]}, dtype, 3);
      const Tensor y = run(x, w, bias, at);
      const Numbers wanted = naive_conv2d(x, w, bias, at, y.sizes());
      const double close = tolerance(dtype);
      EXPECT_TRUE(y.is_contiguous()) << what;
      expect_close(y, wanted, close, what);
      expect_close(run(channels_last(x), w, bias, at), wanted, close, what + ", channels last");
      expect_close(run(x, channels_last(w), bias, at), wanted, close, what + ", weights channels last");
      expect_close(run(spaced(x), spaced(w), bias, at), wanted, close, what + ", spaced");
      expect_close(run(x, w, {}, at), naive_conv2d(x, w, {}, at, y.sizes()), close, what + ", no bias");
    }
  }
}

TEST(Conv2d, ReadsExpandedImagesAsTheyStand) {
  const Geometry at;
  const Tensor one = numbers({1, 4, 7, 6}, kFloat, 1), w = numbers(at.weight, kFloat, 2), x = one.expand({2, 4, 7, 6});
  expect_close(run(x, w, {}, at), run(x.contiguous(), w, {}, at), 1e-5);
}

TEST(Conv2d, ResultIsChannelsLastOnlyIfAnInputIs) {
  const Geometry at;
  const Tensor x = numbers(at.input, kFloat, 1), w = numbers(at.weight, kFloat, 2);
  EXPECT_TRUE(run(x, w, {}, at).is_contiguous());
  EXPECT_TRUE(run(channels_last(x), w, {}, at).is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_TRUE(run(x, channels_last(w), {}, at).is_contiguous(MemoryFormat::ChannelsLast));
}

TEST(Conv2d, OneImageNeedsNoBatchAndNoImagesGiveNone) {
  const Tensor w = numbers({6, 4, 3, 3}, kFloat, 2), x = numbers({1, 4, 7, 6}, kFloat, 1);
  expect_close(conv2d(x.select(0, 0), w), conv2d(x, w).select(0, 0), 0);
  const Tensor none = conv2d(zeros({0, 4, 7, 6}).requires_grad_(), w.requires_grad_());
  EXPECT_TRUE(none.sizes() == IntArrayRef({0, 6, 5, 4}));
  const Tensor g = autograd::grad({none}, {w}, {zeros_like(none)})[0];
  expect_close(g, Numbers(6 * 4 * 9), 0);
}

TEST(Conv2d, PaddingByName) {
  const Tensor x = numbers({1, 2, 5, 6}, kDouble, 1), w = numbers({3, 2, 3, 2}, kDouble, 2);
  expect_close(conv2d(x, w, {}, 1, "valid"), conv2d(x, w), 0);
  const Tensor same = conv2d(x, w, {}, 1, "same");  // one column more behind than before
  ASSERT_TRUE(same.sizes() == IntArrayRef({1, 3, 5, 6}));
  expect_close(same, conv2d(x, w, {}, {1, 1}, {1, 1}).slice(3, 1, 7), 1e-12);
  check_derivatives([](auto& x) { return conv2d(x[0], x[1], {}, 1, std::string("same")); }, {x, w}, "same");
  expect_error<ValueError>([&] { conv2d(x, w, {}, 1, "full"); }, "Invalid padding string: 'full'");
  expect_error<ValueError>([&] { conv2d(x, w, {}, 2, "same"); },
                           "padding='same' is not supported for strided convolutions");
}

TEST(Conv2d, ZerosInBracesAreNumbers) {
  const Tensor x = numbers({1, 2, 5, 6}, kDouble, 1), w = numbers({3, 2, 3, 2}, kDouble, 2);
  expect_close(conv2d(x, w, {}, {1, 1}, {0, 0}), conv2d(x, w, {}, 1, 0), 0);
}

TEST(Conv2d, MetaTensorsGetTheShapeAlone) {
  const TensorOptions meta(kMeta);
  EXPECT_TRUE(conv2d(empty({2, 3, 8, 8}, meta), empty({4, 3, 3, 3}, meta), {}, 2).sizes() == IntArrayRef({2, 4, 3, 3}));
}

TEST(Conv2d, RefusesWhatDoesNotFit) {
  const Tensor x = ones({1, 3, 5, 5}), w = ones({4, 3, 3, 3});
  expect_error<ShapeError>(
      [&] {
        conv2d(x, ones({4, 2, 3, 3}));
      },
      "Given groups=1, weight of size [4, 2, 3, 3], expected input[1, 3, 5, 5] to have 2 "
      "channels, but got 3 channels instead");
  expect_error<ShapeError>(
      [&] {
        conv2d(x, ones({4, 3, 7, 7}));
      },
      "Calculated padded input size per channel: (5 x 5). Kernel size: (7 x 7). Kernel size "
      "can't be greater than actual input size");
  expect_error<ShapeError>([&] { conv2d(x, w, ones({5})); },
                           "Given weight of size [4, 3, 3, 3], expected bias to be 1-dimensional with 4 elements, but "
                           "got bias of size [5] instead");
  expect_error<ShapeError>(
      [&] {
        conv2d(ones({5, 5}), w);
      },
      "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [5, 5]");
  expect_error<ShapeError>([&] { conv2d(x, w, {}, {1, 2, 3}); }, "list of 2 values");
  expect_error<ShapeError>(
      [&] {
        conv2d(x, ones({4, 1, 3, 3}), {}, 1, 0, 1, 3);
      },
      "Given groups=3, expected weight to be divisible by 3 at dimension 0");
  expect_error<ValueError>([&] { conv2d(x, w, {}, 0); }, "non-positive stride is not supported");
  expect_error<ValueError>([&] { conv2d(x, w, {}, 1, -1); }, "negative padding is not supported");
  const int64_t huge = std::numeric_limits<int64_t>::max() / 2 + 1;
  const std::string shape = text_of(x.sizes()), wanted = "overflows (expected sizes up to 9223372036854775807)";
  expect_error<ShapeError>(
      [&] {
        conv2d(x, w, {}, 1, {huge, 1});
      },
      "found padding=" + text_of({huge, 1}) + " for an input of size " + shape + ", which " + wanted);
  expect_error<ShapeError>([&] { conv2d(x, w, {}, 1, 0, std::numeric_limits<int64_t>::max()); }, wanted);
  expect_error<ValueError>([&] { conv2d(x, w, {}, 1, 0, 0); }, "dilation should be greater than zero");
  expect_error<ValueError>([&] { conv2d(x, w, {}, 1, 0, 1, 0); }, "non-positive groups is not supported");
  expect_error<TypeError>([&] { conv2d(x, w.to(kDouble)); }, "expected scalar type Float but found Double");
  expect_error<TypeError>([&] { conv2d(x, w, ones({4}).to(kDouble)); },
                          "Input type (float32) and bias type (float64) should be the same");
  expect_error<TypeError>([&] { conv2d(x.to(kBool), w.to(kBool)); }, "not implemented for 'Bool'");
}

TEST(Conv2dDerivatives, FirstAndSecondEqualFiniteDifferences) {
  for (size_t i : {0u, 1u, 2u, 3u, 4u}) {
    Geometry at = geometries()[i];
    at.input = {2, at.weight[1] * at.groups, 5, 4};
    at.weight = {2 * at.groups, at.weight[1], 3, at.weight[3]};
    for (DType dtype : {kDouble, kComplexDouble}) {
      if (dtype == kComplexDouble && i != 3) continue;
      check_derivatives([&](auto& x) { return run(x[0], x[1], {}, at); },
                        {numbers(at.input, dtype, 1), numbers(at.weight, dtype, 2)},
                        std::string(name_of(dtype)) + " geometry " + std::to_string(i));
    }
  }
}

TEST(Conv2dDerivatives, BiasGetsTheSumOverImagesAndPositions) {
  const Geometry at{.input = {2, 2, 4, 4}, .weight = {3, 2, 3, 3}};
  check_derivatives([&](auto& x) { return run(x[0], x[1], x[2], at); },
                    {numbers(at.input, kDouble, 1), numbers(at.weight, kDouble, 2), numbers({3}, kDouble, 3)}, "bias");
}

// The library's adjoints against this repository's own, in float.
TEST(Conv2dDerivatives, FloatEqualsDoubleInEveryLayout) {
  for (size_t i = 0; i < geometries().size(); i++) {
    const Geometry& at = geometries()[i];
    auto gradients = [&](DType dtype, bool last) {
      Tensor x = numbers(at.input, dtype, 1), w = numbers(at.weight, dtype, 2);
      if (last) x = channels_last(x);
      x.requires_grad_();
      w.requires_grad_();
      const Tensor y = run(x, w, {}, at);
      return autograd::grad({y}, {x, w}, {numbers(y.sizes(), dtype, 4)});
    };
    const auto wanted = gradients(kDouble, false);
    for (bool last : {false, true}) {
      const auto found = gradients(kFloat, last);
      for (size_t j : {0u, 1u}) expect_close(found[j], wanted[j], 1e-5, "geometry " + std::to_string(i));
    }
  }
}

// Large enough for Winograd's algorithm: its result and both gradients beside the direct sums in double.
TEST(Conv2dDerivatives, ManyChannelsStayCloseToDouble) {
  const Geometry at{.input = {2, 40, 13, 18}, .weight = {48, 40, 3, 3}, .padding = {1, 1}};
  auto all = [&](DType dtype) {
    Tensor x = numbers(at.input, dtype, 1).requires_grad_(), w = numbers(at.weight, dtype, 2).requires_grad_();
    const Tensor y = run(x, w, {}, at);
    auto list = autograd::grad({y}, {x, w}, {numbers(y.sizes(), dtype, 4)});
    list.push_back(y);
    return list;
  };
  const auto found = all(kFloat), wanted = all(kDouble);
  for (size_t i = 0; i < found.size(); i++) expect_close(found[i], wanted[i], 1e-4, std::to_string(i));
}

// Depthwise, and few channels: the repository's own kernels.
TEST(Conv2dDerivatives, OwnKernelsGiveTheSameBitsOnAnyNumberOfThreads) {
  const int before = get_num_threads();
  const Geometry list[] = {
      {.input = {5, 6, 20, 37}, .weight = {12, 1, 3, 3}, .stride = {2, 1}, .padding = {1, 1}, .groups = 6},
      {.input = {37, 3, 17, 33}, .weight = {10, 3, 3, 5}, .padding = {1, 2}}};
  for (const Geometry& at : list) {
    auto all = [&](int threads) {
      set_num_threads(threads);
      Tensor x = numbers(at.input, kFloat, 1).requires_grad_(), w = numbers(at.weight, kFloat, 2).requires_grad_();
      const Tensor y = run(x, w, {}, at);
      auto results = autograd::grad({y}, {x, w}, {numbers(y.sizes(), kFloat, 4)});
      results.push_back(y);
      return results;
    };
    const auto one = all(1), two = all(2), three = all(3);
    for (size_t i = 0; i < one.size(); i++) {
      expect_close(two[i], one[i], 0, std::to_string(i));
      expect_close(three[i], one[i], 0, std::to_string(i));
    }
  }
  set_num_threads(before);
}

TEST(ConvTranspose2d, IsTheAdjointOfConv2d) {
  const Tensor x = numbers({2, 4, 7, 6}, kDouble, 1), w = numbers({6, 2, 3, 3}, kDouble, 2);
  const Tensor y = conv2d(x, w, {}, 2, 1, 1, 2), z = numbers(y.sizes(), kDouble, 3);
  const Tensor back = conv_transpose2d(z, w, {}, 2, 1, {0, 1}, 2);
  ASSERT_TRUE(back.sizes() == x.sizes());
  expect_close(sum(mul(y, z)), sum(mul(x, back)), 1e-10);
}

TEST(Conv2d, ResultsOnOneAndTwoThreadsAreClose) {
  const int before = get_num_threads();
  for (DType dtype : {kFloat, kDouble, kBFloat16}) {
    auto all = [&] {
      const Tensor x = numbers({4, 8, 20, 20}, dtype, 1).requires_grad_(), w = numbers({16, 8, 3, 3}, dtype, 2);
      w.requires_grad_();
      const Tensor y = conv2d(x, w, {}, 1, 1);
      auto list = autograd::grad({y}, {x, w}, {numbers(y.sizes(), dtype, 3)});
      list.push_back(y);
      return list;
    };
    set_num_threads(1);
    const auto one = all();
    set_num_threads(2);
    const auto two = all();
    for (size_t i = 0; i < one.size(); i++) expect_close(two[i], one[i], tolerance(dtype), name_of(dtype));
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace cresset::conv_test
