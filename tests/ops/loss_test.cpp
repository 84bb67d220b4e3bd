// Cross entropy: the fused kernel against the composed path, ignored targets, errors.
#include "cresset/ops/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cresset/autograd/autograd.h"
#include "cresset/ops/all.h"

namespace cresset::loss_test {
namespace {

Tensor logits(std::vector<int64_t> sizes) {
  Tensor x = cresset::empty(sizes, kDouble);
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<double>()[i] = 3 * std::sin(static_cast<double>(i * i));
  return x;
}
Tensor classes(std::vector<int64_t> values) {
  Tensor t = empty({static_cast<int64_t>(values.size())}, kLong);
  std::copy(values.begin(), values.end(), t.data_ptr<int64_t>());
  return t;
}
void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes().vec(), b.sizes().vec());
  Tensor x = a.contiguous(), y = b.contiguous();
  for (int64_t i = 0; i < x.numel(); i++) EXPECT_NEAR(x.data_ptr<double>()[i], y.data_ptr<double>()[i], 1e-12) << i;
}

TEST(CrossEntropy, FusedAndComposedAgreeUpToTheSecondDerivative) {
  Tensor target = classes({1, 3, 0, 3, 2});
  for (int64_t reduction : {Reduction::None, Reduction::Mean, Reduction::Sum})
    for (int64_t ignored : {-100, 3}) {
      auto run = [&](auto loss) {
        Tensor x = logits({4, 5}).t().requires_grad_();  // strided
        Tensor y = loss(x), w = logits({5, 4});
        Tensor first = autograd::grad({sum(mul(y, y))}, {x}, {}, std::nullopt, true)[0];
        return std::vector<Tensor>{y.detach(), first.detach(), autograd::grad({sum(mul(first, w))}, {x})[0]};
      };
      auto fused = run([&](const Tensor& x) { return cross_entropy(x, target, {}, reduction, ignored); });
      auto composed =
          run([&](const Tensor& x) { return detail::cross_entropy_composed(x, target, {}, reduction, ignored, 0); });
      for (size_t i = 0; i < fused.size(); i++) expect_close(fused[i], composed[i]);
    }
}

TEST(CrossEntropy, OfOneHotProbabilitiesIsThatOfClasses) {
  Tensor x = logits({2, 3}), onehot = zeros({2, 3}, kDouble);
  onehot.data_ptr<double>()[1] = onehot.data_ptr<double>()[3] = 1;
  expect_close(cross_entropy(x, onehot), cross_entropy(x, classes({1, 0})));
}

TEST(CrossEntropy, OfClassIndicesKeepsDifferencesOfLargeLogits) {
  Tensor x = empty_contiguous({1, 2}, kFloat, kCPU);
  x.data_ptr<float>()[0] = 1e7f, x.data_ptr<float>()[1] = 1e7f + 1;
  x.requires_grad_();
  Tensor loss = cross_entropy(x, zeros({1}, kLong));
  EXPECT_NEAR(loss.item<float>(), 1.3132617, 1e-6);  // log(1 + e)
  loss.backward();
  EXPECT_NEAR(x.grad().data_ptr<float>()[1], 0.7310586, 1e-6);  // e / (1 + e)
}

TEST(CrossEntropy, OfProbabilitiesKeepsDifferencesOfLargeLogits) {
  Tensor x = zeros({1, 2}), onehot = zeros({1, 2});
  x.data_ptr<float>()[0] = 1e7f, x.data_ptr<float>()[1] = 1e7f + 1;
  onehot.data_ptr<float>()[0] = 1;
  EXPECT_NEAR(cross_entropy(x, onehot).item<float>(), 1 + std::log1p(std::exp(-1.0)), 1e-5);
}

TEST(CrossEntropy, WithEverythingIgnoredIsNanButHasNoGradient) {
  Tensor x = logits({2, 3}).requires_grad_();
  Tensor loss = cross_entropy(x, classes({-100, -100}));
  EXPECT_TRUE(std::isnan(loss.item<double>()));
  loss.backward();
  expect_close(x.grad(), zeros({2, 3}, kDouble));
}

TEST(CrossEntropy, IgnoredRowsMayHoldInfinities) {
  Tensor x = zeros({2, 3}, kDouble);
  for (int i = 0; i < 3; i++) x.data_ptr<double>()[i] = -INFINITY;
  Tensor target = classes({-100, 1});
  EXPECT_NEAR(cross_entropy(x, target).item<double>(), std::log(3.0), 1e-12);
  EXPECT_NEAR(cross_entropy(x, target, ones({3}, kDouble)).item<double>(), std::log(3.0), 1e-12);
}

template <class E, class F>
void expect_error(const char* text, F f) {
  try {
    f();
    ADD_FAILURE() << "no error: " << text;
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

TEST(CrossEntropy, NamesWhatIsWrong) {
  Tensor x = logits({2, 3});
  expect_error<IndexError>("Target 3 is out of bounds", [&] { cross_entropy(x, classes({0, 3})); });
  expect_error<IndexError>("Target -1 is out of bounds", [&] {
    cross_entropy(x.unsqueeze(2), classes({0, -1}).view({2, 1}));
  });
  expect_error<ShapeError>("Expected input batch_size (2) to match target batch_size (3)", [&] {
    cross_entropy(x, classes({0, 1, 2}));
  });
  expect_error<TypeError>("expected scalar type Long but found Int", [&] {
    cross_entropy(x, classes({0, 1}).to(kInt));
  });
  expect_error<ShapeError>("weight tensor should be defined either for all 3 classes", [&] {
    cross_entropy(x, classes({0, 1}), ones({2}, kDouble));
  });
  expect_error<ValueError>("label_smoothing must be between 0.0 and 1.0", [&] {
    cross_entropy(x, classes({0, 1}), {}, Reduction::Mean, -100, 1.5);
  });
}

}  // namespace
}  // namespace cresset::loss_test
