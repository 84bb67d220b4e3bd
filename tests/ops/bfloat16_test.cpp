// bfloat16 as it stands in memory: what vectors convert and compute must be, bit for bit, what one number at a time
// gives, and convolutions and norms that have ways of their own for it must round only where the result is written.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "cresset/cresset.h"

namespace cresset::bfloat16_test {
namespace {

uint16_t bits_at(const Tensor& t, int64_t i) { return t.data_ptr<BFloat16>()[i].bits; }

// All 65,536 values, infinities and nans among them, and some more: vectors have a rest.
Tensor every_value() {
  Tensor all = empty({65536 + 7}, kBFloat16);
  for (int64_t i = 0; i < all.numel(); i++) all.data_ptr<BFloat16>()[i] = BFloat16::from_bits(static_cast<uint16_t>(i));
  return all;
}

void expect_rounded(const Tensor& found, const Tensor& exact, double more = 0) {
  ASSERT_EQ(found.scalar_type(), kBFloat16);
  const Tensor scale = exact.abs().clamp_min(exact.abs().mean().item<double>());
  const Tensor error = (found.to(kDouble) - exact).abs() / scale;
  EXPECT_LE(error.max().item<double>(), 0x1p-8 * (1 + more)) << found.sizes();
}

struct Window {
  std::vector<int64_t> input, filters;
  int64_t stride, padding, dilation;
};
std::vector<Tensor> convolve(const Window& window, const Tensor& x, const Tensor& w, const Tensor& g) {
  Tensor image = x.detach().requires_grad_(), filters = w.detach().requires_grad_();
  Tensor y = conv2d(image, filters, {}, window.stride, window.padding, window.dilation);
  std::vector<Tensor> all = autograd::grad({y}, {image, filters}, {g.reshape(y.sizes())});
  all.push_back(y.detach());
  return all;
}

std::vector<Tensor> normalize(const Tensor& x, const Tensor& weight, const Tensor& g) {
  Tensor image = x.detach().requires_grad_(), scale = weight.detach().requires_grad_();
  Tensor y = batch_norm(image, scale, {}, {}, {}, true, 0.1, 1e-5, false);
  std::vector<Tensor> all = autograd::grad({y}, {image, scale}, {g});
  all.push_back(y.detach());
  return all;
}

}  // namespace

TEST(BFloat16, every_value_becomes_its_float) {
  const Tensor all = every_value(), wide = all.to(kFloat);
  for (int64_t i = 0; i < all.numel(); i++)
    ASSERT_EQ(std::bit_cast<uint32_t>(wide.data_ptr<float>()[i]), static_cast<uint32_t>(bits_at(all, i)) << 16);
}

TEST(BFloat16, floats_between_two_values_round_to_the_nearest_and_ties_to_the_even_one) {
  for (uint32_t beyond : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
    Tensor wide = empty({65536 + 7}, kFloat);
    for (int64_t i = 0; i < wide.numel(); i++)
      wide.data_ptr<float>()[i] = std::bit_cast<float>((static_cast<uint32_t>(i & 0xffff) << 16) + beyond);
    const Tensor narrow = wide.to(kBFloat16);
    for (int64_t i = 0; i < wide.numel(); i++)
      ASSERT_EQ(bits_at(narrow, i), BFloat16(wide.data_ptr<float>()[i]).bits) << i << " and " << beyond;
  }
}

TEST(BFloat16, relu_keeps_nan_and_zeros_and_its_gradient_passes_above_zero) {
  Tensor x = every_value().requires_grad_();
  const Tensor y = relu(x), g = every_value().flip(0);
  const Tensor dx = autograd::grad({y}, {x}, {g})[0];
  for (int64_t i = 0; i < x.numel(); i++) {
    const float value = x.data_ptr<BFloat16>()[i];
    ASSERT_EQ(bits_at(y, i), value < 0 ? 0 : bits_at(x, i)) << value;
    ASSERT_EQ(bits_at(dx, i), bits_at(y, i) == 0 || value <= 0 ? 0 : bits_at(g, i)) << value;
  }
}

TEST(BFloat16, sums_and_products_are_float_s_rounded_once) {
  const Tensor a = every_value();
  for (uint16_t bits : {0x3f81, 0xbf7f, 0x0001, 0x7f7f, 0x7fc0}) {
    Tensor b = empty_like(a);
    b.fill_(static_cast<float>(BFloat16::from_bits(bits)));
    const Tensor sum = a + b, product = a * b;
    for (int64_t i = 0; i < a.numel(); i++) {
      const float left = a.data_ptr<BFloat16>()[i], right = b.data_ptr<BFloat16>()[i];
      ASSERT_EQ(bits_at(sum, i), BFloat16(left + right).bits) << left << " + " << right;
      ASSERT_EQ(bits_at(product, i), BFloat16(left * right).bits) << left << " * " << right;
    }
  }
}

TEST(BFloat16, convolutions_round_only_their_results) {
  manual_seed(1);
  // Weights that are many over few positions, at strides, past the edges and apart; and windows of 1x1.
  for (const Window& window : {Window{{3, 130, 7, 6}, {260, 130, 3, 3}, 2, 1, 1},
                               {{2, 128, 5, 9}, {230, 128, 3, 3}, 2, 2, 2},
                               {{4, 128, 4, 4}, {256, 128, 3, 3}, 1, 1, 1},
                               {{3, 512, 4, 5}, {520, 512, 1, 1}, 1, 0, 1},
                               {{3, 512, 9, 7}, {520, 512, 1, 1}, 2, 0, 1},
                               {{2, 128, 1, 2}, {256, 128, 3, 3}, 1, 1, 1},
                               {{2, 48, 13, 11}, {40, 48, 1, 1}, 1, 0, 1},
                               {{2, 48, 13, 11}, {40, 48, 1, 1}, 2, 0, 1}}) {
    const Tensor x = randn(window.input).to(kBFloat16), w = randn(window.filters).to(kBFloat16);
    const Tensor y = conv2d(x, w, {}, window.stride, window.padding, window.dilation);
    const Tensor g = randn(y.sizes()).to(kBFloat16);
    const auto found = convolve(window, x, w, g),
               wanted = convolve(window, x.to(kDouble), w.to(kDouble), g.to(kDouble));
    for (size_t i = 0; i < wanted.size(); i++) expect_rounded(found[i], wanted[i], 0.01);
  }
}

TEST(BFloat16, batch_norm_rounds_only_its_results_in_every_layout) {
  manual_seed(2);
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 40, 7, 7}, {6, 3, 9, 11}, {3, 64, 4, 4}, {70, 33}})
    for (bool last : {false, true}) {
      if (last && sizes.size() != 4) continue;
      Tensor x = randn(sizes).add(2).to(kBFloat16), g = randn(sizes).to(kBFloat16), w = randn({sizes[1]});
      if (last) x = x.contiguous(MemoryFormat::ChannelsLast);
      const auto found = normalize(x, w, g), wanted = normalize(x.to(kDouble), w.to(kDouble), g.to(kDouble));
      expect_rounded(found[0], wanted[0], 0.01);
      expect_rounded(found[2], wanted[2], 0.01);
      EXPECT_TRUE(allclose(found[1].to(kDouble), wanted[1], 1e-4, 1e-4)) << IntArrayRef(sizes);
    }
}

TEST(BFloat16, batch_norm_is_the_same_on_any_number_of_threads) {
  manual_seed(3);
  const int before = get_num_threads();
  for (int64_t channels : {2, 48}) {  // fewer than threads ask for, and more
    const Tensor x = randn({16, channels, 30, 31}).to(kBFloat16), g = randn(x.sizes()).to(kBFloat16);
    const Tensor w = randn({channels});
    set_num_threads(1);
    const auto wanted = normalize(x, w, g);
    set_num_threads(2);
    const auto found = normalize(x, w, g);
    set_num_threads(before);
    for (size_t i = 0; i < wanted.size(); i++) EXPECT_TRUE(equal(found[i], wanted[i])) << channels << " " << i;
  }
}

}  // namespace cresset::bfloat16_test
