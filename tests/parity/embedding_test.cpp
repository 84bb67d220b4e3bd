// embedding_bag beside libtorch's. Only its first result and the gradients are compared: libtorch leaves the others
// empty or unset on some paths. Gradients scaled by frequency have a test of their own: libtorch 1.13 divides by the
// count of another index.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cresset/ops/all.h"
#include "tests/parity/torch_twin.h"

namespace cresset {
namespace {

using parity::torch_twin;

struct Bags {
  const char* name;
  int64_t mode;
  bool scaled = false, last_offset = false, by_frequency = false;
  int64_t padding_idx = -1;
};

void expect_close(const Tensor& ours, const at::Tensor& theirs, double tolerance) {
  ASSERT_TRUE(theirs.defined());
  EXPECT_TRUE(at::allclose(torch_twin(ours), theirs, tolerance, tolerance)) << torch_twin(ours) << "\nlibtorch:\n"
                                                                            << theirs;
}

void compare(const Bags& bags, const Tensor& indices, const Tensor& offsets, DType dtype, double tolerance) {
  Tensor weight = randn({9, 5}, dtype), scales = randn({indices.numel()}, dtype);
  const int64_t count = offsets.numel() - (bags.last_offset ? 1 : 0);
  Tensor g = randn({count, 5}, dtype);
  at::Tensor their_weight = torch_twin(weight).clone().requires_grad_();
  at::Tensor their_scales = bags.scaled ? torch_twin(scales).clone().requires_grad_() : at::Tensor();
  weight.requires_grad_();
  scales.requires_grad_();
  Tensor y = std::get<0>(embedding_bag(weight, indices, offsets, bags.by_frequency, bags.mode, false,
                                       bags.scaled ? scales : Tensor(), bags.last_offset, bags.padding_idx));
  // There -1 is the last row, and none at all is no padding.
  const c10::optional<int64_t> padding = bags.padding_idx < 0 ? c10::nullopt : c10::optional<int64_t>(bags.padding_idx);
  at::Tensor theirs =
      std::get<0>(at::embedding_bag(their_weight, torch_twin(indices), torch_twin(offsets), bags.by_frequency,
                                    bags.mode, false, their_scales, bags.last_offset, padding));
  expect_close(y.detach(), theirs.detach(), tolerance);
  y.backward(g);
  theirs.backward(torch_twin(g));
  expect_close(weight.grad(), their_weight.grad(), tolerance);
  if (bags.scaled) expect_close(scales.grad(), their_scales.grad(), tolerance);
}

TEST(EmbeddingBagParity, ModesOffsetsScalesAndPadding) {
  manual_seed(6);
  const Bags all[] = {{"sum", 0},
                      {"mean", 1},
                      {"max", 2},
                      {"scaled", 0, true},
                      {"sum, last offset", 0, false, true},
                      {"mean, last offset", 1, false, true},
                      {"max, last offset", 2, false, true},
                      {"scaled, last offset", 0, true, true},
                      {"sum, padding", 0, false, false, false, 2},
                      {"mean, padding", 1, false, false, false, 0},
                      {"max, padding", 2, false, false, false, 2},
                      {"scaled, padding", 0, true, false, false, 2},
                      {"mean, padding, last offset", 1, false, true, false, 2}};
  for (DType dtype : {kFloat, kDouble})
    for (const Bags& bags : all) {
      SCOPED_TRACE(std::string(bags.name) + ", " + name_of(dtype));
      // A bag without indices is among them, and one that holds nothing but padding.
      const Tensor indices = tensor({3, 2, 2, 8, 0, 2, 2, 5, 1}), starts = tensor({0, 3, 3, 5, 7}),
                   with_end = tensor({0, 3, 3, 5, 7, 9});
      compare(bags, indices, bags.last_offset ? with_end : starts, dtype, dtype == kFloat ? 1e-5 : 1e-12);
      const Tensor many = randint(0, 9, {300}, kLong), three = tensor({0, 100, 300});
      compare(bags, many, three, dtype, dtype == kFloat ? 1e-4 : 1e-11);
    }
}

TEST(EmbeddingBagParity, Refusals) {
  const Tensor weight = randn({4, 3}), indices = tensor({0, 1, 2}), offsets = tensor({0, 2}), scales = randn({3});
  EXPECT_THROW(embedding_bag(weight, indices, offsets, false, 1, false, scales), Error);
  EXPECT_ANY_THROW(at::embedding_bag(torch_twin(weight), torch_twin(indices), torch_twin(offsets), false, 1, false,
                                     torch_twin(scales)));
  const Tensor late = tensor({1, 2});
  EXPECT_THROW(embedding_bag(weight, indices, late), Error);
  EXPECT_ANY_THROW(at::embedding_bag(torch_twin(weight), torch_twin(indices), torch_twin(late)));
}

// libtorch takes, for the n-th distinct index in order, the count of the n-th of all sorted indices; the two agree only
// where no index comes twice. Here every row's gradient is divided by how often that row was named.
TEST(EmbeddingBagParity, GradientsByFrequencyFollowTheDefinition) {
  manual_seed(7);
  const std::vector<int64_t> rows = {1, 1, 1, 3, 3, 5, 0, 0, 6}, starts = {0, 4, 6};
  Tensor indices = tensor(rows), offsets = tensor(starts), g = randn({3, 5}, kDouble);
  Tensor weight = randn({9, 5}, kDouble).requires_grad_(), expected = zeros({9, 5}, kDouble);
  std::get<0>(embedding_bag(weight, indices, offsets, true)).backward(g);
  for (size_t i = 0; i < rows.size(); i++) {
    const int64_t bag = i < 4 ? 0 : i < 6 ? 1 : 2;
    expected[rows[i]].add_(g[bag] / static_cast<double>(std::count(rows.begin(), rows.end(), rows[i])));
  }
  EXPECT_TRUE(allclose(weight.grad(), expected, 1e-12, 1e-12)) << weight.grad() << expected;
  const std::vector<int64_t> once = {4, 0, 7, 2};
  compare({"no index twice", 0, false, false, true}, tensor(once), tensor({0, 1, 3}), kDouble, 1e-12);
}

}  // namespace
}  // namespace cresset
