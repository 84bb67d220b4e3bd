// Losses where the samples of the cases do not reach: integers, wide rows, weights with gradients, derivatives that do
// not exist.
#include <gtest/gtest.h>

#include <cmath>

#include "cresset/autograd/autograd.h"
#include "cresset/autograd/gradcheck.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/all.h"

namespace cresset {
namespace {

TEST(Losses, L1OfIntegersIsSummedAsIntegers) {
  Tensor a = tensor({1, -5, 9}), b = tensor({4, 2, -1});
  Tensor each = l1_loss(a, b, Reduction::None);
  EXPECT_EQ(each.dtype(), kLong);
  EXPECT_EQ(each[1].item<int64_t>(), 7);
  EXPECT_EQ(l1_loss(a, b, Reduction::Sum).item<int64_t>(), 20);
  EXPECT_THROW(l1_loss(a, b), TypeError);
}

TEST(Losses, MixedDtypesPromote) {
  Tensor x = tensor({1.5, 2.5}).to(kFloat), t = tensor({1, 2});
  EXPECT_EQ(mse_loss(x, t).dtype(), kFloat);
  EXPECT_EQ(mse_loss(x, t.to(kDouble)).dtype(), kDouble);
  EXPECT_FLOAT_EQ(mse_loss(x, t).item<float>(), 0.25f);
  x.requires_grad_();
  mse_loss(x, t.to(kDouble)).backward();
  EXPECT_EQ(x.grad().dtype(), kFloat);
}

// As PyTorch's: each computes in the wider dtype, and delivers that of one argument.
TEST(Losses, SomeHaveTheDtypeOfOneArgument) {
  Tensor x = tensor({0.5f, -1.f}), t = tensor({1.0, -1.0}, kDouble), rows = ones({2, 2});
  for (int64_t reduction : {Reduction::None, Reduction::Mean}) {
    EXPECT_EQ(huber_loss(x, t, reduction).dtype(), kFloat);
    EXPECT_EQ(soft_margin_loss(x, t, reduction).dtype(), kFloat);
    EXPECT_EQ(hinge_embedding_loss(x, t, 1.0, reduction).dtype(), kFloat);
    EXPECT_EQ(cosine_embedding_loss(rows, rows, t, 0.0, reduction).dtype(), kFloat);
    EXPECT_EQ(binary_cross_entropy_with_logits(x, t, {}, {}, reduction).dtype(), kDouble);
    EXPECT_EQ(binary_cross_entropy_with_logits(t, x, {}, {}, reduction).dtype(), kFloat);
    EXPECT_EQ(binary_cross_entropy_with_logits(x, x, t, t, reduction).dtype(), kFloat);
    EXPECT_EQ(binary_cross_entropy_with_logits(x, t.to(kLong), {}, {}, reduction).dtype(), kFloat);
  }
  t.requires_grad_();
  huber_loss(x, t).backward();
  EXPECT_TRUE(t.grad().equal(tensor({0.25, 0.0}, kDouble)));
}

TEST(Losses, GoIntoAnOutOfAnyDtypeThatHoldsThem) {
  Tensor x = tensor({0.5f, -1.f}), t = tensor({1.f, 1.f});
  for (int64_t reduction : {Reduction::None, Reduction::Mean, Reduction::Sum})
    for (DType dtype : {kDouble, kBFloat16, kComplexFloat}) {
      Tensor squares = empty({0}, dtype), smooth = empty({0}, dtype), huber = empty({0}, dtype);
      EXPECT_TRUE(mse_loss_out(squares, x, t, reduction).equal(mse_loss(x, t, reduction).to(dtype)));
      EXPECT_TRUE(smooth_l1_loss_out(smooth, x, t, reduction).equal(smooth_l1_loss(x, t, reduction).to(dtype)));
      EXPECT_TRUE(huber_loss_out(huber, x, t, reduction).equal(huber_loss(x, t, reduction).to(dtype)));
    }
  Tensor whole = empty({0}, kLong);
  EXPECT_THROW(mse_loss_out(whole, x, t), TypeError);
}

TEST(Losses, LargeMeansDoNotDependOnThreads) {
  manual_seed(1);
  Tensor x = randn({1000003}), t = randn({1000003});
  std::vector<float> found;
  int before = get_num_threads();
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    found.push_back(mse_loss(x, t).item<float>());
  }
  set_num_threads(before);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  EXPECT_NEAR(found[0], 2, 0.02);
}

// libtorch's is whatever its memory held.
TEST(Losses, TheSumOfNoMarginsIsZero) {
  Tensor none = multi_margin_loss(ones({0, 3}), ones({0}, kLong), 2, 1, {}, Reduction::Sum);
  EXPECT_EQ(none.item<float>(), 0);
}

TEST(Losses, CrossEntropyOfNoClassesNamesThem) {
  try {
    cross_entropy(empty({2, 0}), tensor({0, 0}));
    FAIL();
  } catch (const IndexError& error) {
    EXPECT_NE(std::string(error.what()).find("Target 0 is out of bounds (there are 0 classes"), std::string::npos)
        << error.what();
  }
}

TEST(Losses, WeightsOfClassesHaveGradients) {
  manual_seed(2);
  Tensor x = randn({5, 3}, kDouble), target = tensor({0, 2, 1, -100, 2}), weight = rand({3}, kDouble);
  for (int64_t reduction : {Reduction::None, Reduction::Mean, Reduction::Sum}) {
    Tensor plain = cross_entropy(x, target, weight, reduction), logs = log_softmax(x, 1);
    Tensor w = weight.clone().requires_grad_();
    for (bool nll : {false, true}) {
      Tensor with = nll ? nll_loss(logs, target, w, reduction) : cross_entropy(x, target, w, reduction);
      Tensor d = sub(with, plain).detach();
      for (int64_t i = 0; i < d.numel(); i++) EXPECT_NEAR(d.data_ptr<double>()[i], 0, 1e-12);
      EXPECT_TRUE(autograd::gradcheck(
          [&](const std::vector<Tensor>& in) {
            return std::vector<Tensor>{nll ? nll_loss(logs, target, in[0], reduction)
                                           : cross_entropy(x, target, in[0], reduction, -100, nll ? 0 : 0.2)};
          },
          {w}));
    }
  }
}

TEST(Losses, SecondDerivativeOfCtcIsRefusedByName) {
  Tensor x = log_softmax(rand({4, 1, 3}, kDouble), 2).requires_grad_();
  Tensor loss = ctc_loss(x, tensor({{1, 2}}), IntArrayRef({4}), IntArrayRef({2}));
  Tensor g = autograd::grad({loss}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  try {
    autograd::grad({sum(mul(g, g))}, {x});
    FAIL();
  } catch (const AutogradError& error) {
    EXPECT_NE(std::string(error.what()).find("ctc_loss: its second derivative is not implemented"), std::string::npos);
  }
}

TEST(Losses, ClassesMayBeBytes) {
  Tensor x = randn({4, 3}), classes = tensor({0, 2, 1, 255}, kLong), bytes = classes.to(kByte);
  EXPECT_TRUE(equal(nll_loss(x, bytes, {}, Reduction::Mean, 255), nll_loss(x, classes, {}, Reduction::Mean, 255)));
  EXPECT_TRUE(
      equal(cross_entropy(x, bytes, {}, Reduction::None, 255), cross_entropy(x, classes, {}, Reduction::None, 255)));
  EXPECT_TRUE(cross_entropy(x.to(kHalf), softmax(x, 1)).dtype() == kFloat);
}

TEST(Losses, TripletWithADistanceOfOnesOwn) {
  manual_seed(3);
  Tensor a = randn({4, 5}, kDouble), p = randn({4, 5}, kDouble), n = randn({4, 5}, kDouble);
  auto squared = [](const Tensor& x, const Tensor& y) { return sum(mul(sub(x, y), sub(x, y)), 1); };
  Tensor each = triplet_margin_with_distance_loss(a, p, n, squared, 1.0, false, Reduction::None);
  Tensor wanted = relu(add(sub(squared(a, p), squared(a, n)), 1));
  for (int64_t i = 0; i < 4; i++) EXPECT_NEAR(each.data_ptr<double>()[i], wanted.data_ptr<double>()[i], 1e-12);
  EXPECT_NEAR(triplet_margin_with_distance_loss(a, p, n).item<double>(), triplet_margin_loss(a, p, n).item<double>(),
              1e-12);
}

}  // namespace
}  // namespace cresset
