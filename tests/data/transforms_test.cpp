// Transforms of images: torchvision's meanings, on floats and on bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cresset/data/data.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset::data::transforms {
namespace {

namespace F = functional;

Tensor ramp(int64_t channels, int64_t height, int64_t width) {
  return arange(channels * height * width).reshape({channels, height, width}).to(kFloat);
}

TEST(Transforms, ToTensorScalesBytes) {
  const Tensor bytes = tensor({{0, 51}, {102, 255}}, kByte);
  const Tensor y = ToTensor()(bytes);
  EXPECT_TRUE(allclose(y, tensor({{{0.0, 0.2}, {0.4, 1.0}}}, kFloat)));
  EXPECT_EQ(y.sizes(), (IntArrayRef{1, 2, 2}));
  const Tensor rows = randint(0, 256, {4, 5, 3}, kLong).to(kByte);
  EXPECT_TRUE(equal(ToTensor(ImageLayout::kHWC)(rows), rows.permute({2, 0, 1}).to(kFloat).div(255)));
  EXPECT_TRUE(equal(ToTensor()(ramp(3, 2, 2)), ramp(3, 2, 2))) << "floats stay";
  EXPECT_ERROR(ShapeError, ToTensor()(ones({3})), "to_tensor");
}

TEST(Transforms, NormalizeByChannel) {
  const Tensor y = Normalize<>({1.0, 2.0}, {2.0, 4.0})(ramp(2, 1, 2));
  EXPECT_TRUE(allclose(y, tensor({{{-0.5, 0.0}}, {{0.0, 0.25}}}, kFloat)));
  EXPECT_TRUE(allclose(Normalize<>(0.5, 0.25)(ones({1, 2, 2})), full({1, 2, 2}, 2.0)));
}

TEST(Transforms, CropsAndFlips) {
  const Tensor x = ramp(1, 4, 5);
  EXPECT_TRUE(equal(F::crop(x, 1, 2, 2, 3), x.narrow(1, 1, 2).narrow(2, 2, 3)));
  EXPECT_TRUE(equal(CenterCrop(2)(x), x.narrow(1, 1, 2).narrow(2, 2, 2))) << "1.5 rounds to even";
  EXPECT_EQ(CenterCrop({6, 8})(x).sizes(), (IntArrayRef{1, 6, 8}));
  EXPECT_EQ(CenterCrop({6, 8})(x)[0][1][1].item<float>(), 0.0F);
  EXPECT_EQ(CenterCrop({6, 8})(x)[0][1][2].item<float>(), 1.0F);
  EXPECT_TRUE(equal(F::hflip(x), x.flip({2})));
  EXPECT_TRUE(equal(F::vflip(x), x.flip({1})));
  EXPECT_TRUE(equal(RandomHorizontalFlip(1.0)(x), x.flip({2})));
  EXPECT_TRUE(equal(RandomVerticalFlip(0.0)(x), x));
  EXPECT_ERROR(ShapeError, F::crop(x, 0, 0, 0, 2), "crop: found height 0 and width 2");
  EXPECT_ERROR(ValueError, RandomHorizontalFlip(1.5), "probability 1.5");
}

TEST(Transforms, RangesThatAreNoneAreRefused) {
  EXPECT_ERROR(ValueError, ColorJitter<>(-0.5), "ColorJitter: found brightness -0.5 (expected 0 or more)");
  EXPECT_ERROR(ValueError, ColorJitter<>(0, 0, 0, 0.7), "ColorJitter: found hue 0.7 (expected 0 to 0.5)");
  EXPECT_ERROR(ValueError, RandomRotation<>(-5),
               "RandomRotation: found degrees 5 to -5 (expected two numbers in order");
  EXPECT_ERROR(ValueError, RandomResizedCrop<>(4, std::pair(0.0, 1.0)), "RandomResizedCrop: found scale 0 to 1");
  EXPECT_ERROR(ValueError, RandomResizedCrop<>(4, std::pair(0.5, 1.0), std::pair(2.0, 1.0)), "found ratio 2 to 1");
  EXPECT_ERROR(ValueError, F::rotate(ramp(1, 4, 4), NAN), "rotate: found nan degrees");
}

TEST(Transforms, ACropOutsideTheImageIsZeroThere) {
  const Tensor x = tensor({1, 2, 3, 4}, kByte).reshape({1, 2, 2});
  EXPECT_TRUE(equal(F::crop(x, -1, 1, 2, 3), tensor({0, 0, 0, 2, 0, 0}, kByte).reshape({1, 2, 3})));
  EXPECT_TRUE(equal(F::crop(x, 1, -1, 2, 2), tensor({0, 3, 0, 0}, kByte).reshape({1, 2, 2})));
  for (int64_t far : {-9, -2, 2, 9}) EXPECT_TRUE(equal(F::crop(x, far, 0, 2, 2), zeros({1, 2, 2}, kByte))) << far;
}

TEST(Transforms, PaddingByOneTwoOrFour) {
  const Tensor x = ramp(1, 2, 2).add(1);
  EXPECT_EQ(Pad(1)(x).sizes(), (IntArrayRef{1, 4, 4}));
  EXPECT_EQ(Pad({1, 2})(x).sizes(), (IntArrayRef{1, 6, 4}));
  const Tensor y = Pad({1, 2, 3, 4}, 9)(x);
  EXPECT_EQ(y.sizes(), (IntArrayRef{1, 8, 6}));
  EXPECT_EQ(y[0][2][1].item<float>(), 1.0F);
  EXPECT_EQ(y[0][0][0].item<float>(), 9.0F);
  const Tensor bytes = x.to(kByte);
  EXPECT_EQ(Pad(1)(bytes).dtype(), kByte);
  EXPECT_TRUE(equal(Pad(1, 0, "edge")(bytes)[0][0], tensor({1, 1, 2, 2}, kByte)));
  EXPECT_TRUE(equal(Pad(1, 0, "reflect")(x)[0][0], tensor({4.0, 3.0, 4.0, 3.0}, kFloat)));
  const Tensor row = tensor({1, 2, 3}, kByte).reshape({1, 1, 3});
  EXPECT_TRUE(equal(Pad({2, 0}, 0, "symmetric")(row)[0][0], tensor({2, 1, 1, 2, 3, 3, 2}, kByte)));
  EXPECT_TRUE(equal(Pad({-1, 0, 3, 0}, 0, "symmetric")(row)[0][0], tensor({2, 3, 3, 2, 1}, kByte)));
  EXPECT_TRUE(equal(Pad({0, 1}, 0, "symmetric")(x)[0], stack({x[0][0], x[0][0], x[0][1], x[0][1]})));
  EXPECT_ERROR(ValueError, Pad({4, 0}, 0, "symmetric")(row), "pad: found 4 and 4 to add to 3 elements");
  EXPECT_ERROR(ValueError, Pad({1, 2, 3})(x), "one, two or four numbers");
  EXPECT_ERROR(ValueError, Pad(1, 0, "mirror")(x), "mode \"mirror\"");
}

TEST(Transforms, ResizeKeepsTheAspectOfOneNumber) {
  EXPECT_EQ(Resize(8)(ramp(3, 16, 24)).sizes(), (IntArrayRef{3, 8, 12}));
  EXPECT_EQ(Resize(8)(ramp(3, 24, 16)).sizes(), (IntArrayRef{3, 12, 8}));
  EXPECT_EQ(Resize({5, 7})(ramp(3, 24, 16)).sizes(), (IntArrayRef{3, 5, 7}));
  const Tensor x = tensor({{{0.0, 2.0}, {4.0, 6.0}}}, kFloat);
  EXPECT_TRUE(allclose(Resize(1)(x), full({1, 1, 1}, 3.0))) << "the middle of four pixels";
  const Tensor bytes = tensor({{{0, 255}}}, kByte);
  EXPECT_TRUE(equal(Resize({1, 4})(bytes), tensor({{{0, 64, 191, 255}}}, kByte)));
  EXPECT_TRUE(equal(Resize({1, 4}, Interpolation::kNearest)(bytes), tensor({{{0, 0, 255, 255}}}, kByte)));
}

TEST(Transforms, RandomCropStaysInsideAndReachesEveryCorner) {
  const Tensor x = ramp(1, 6, 6);
  manual_seed(1);
  std::vector<float> corners;
  for (int i = 0; i < 300; i++) {
    const Tensor y = RandomCrop(4)(x);
    EXPECT_EQ(y.sizes(), (IntArrayRef{1, 4, 4}));
    corners.push_back(y[0][0][0].item<float>());
    EXPECT_TRUE(
        equal(y, F::crop(x, static_cast<int64_t>(corners.back()) / 6, static_cast<int64_t>(corners.back()) % 6, 4, 4)));
  }
  std::sort(corners.begin(), corners.end());
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  EXPECT_EQ(corners.size(), 9U);
  EXPECT_EQ(RandomCrop(6, 2)(x).sizes(), (IntArrayRef{1, 6, 6}));
  EXPECT_EQ(RandomCrop({2, 3})(x).sizes(), (IntArrayRef{1, 2, 3}));
  EXPECT_ERROR(ShapeError, RandomCrop(7)(x), "expected at least 7 x 7");
}

TEST(Transforms, RandomResizedCropTakesItsShareOfTheArea) {
  const Tensor x = ramp(3, 40, 60);
  manual_seed(2);
  double least = 1, most = 0;
  for (int i = 0; i < 300; i++) {
    const F::Box box = F::random_resized_box(x, {0.2, 0.6}, {0.75, 1.34});
    const double share = static_cast<double>(box.height * box.width) / 2400,
                 aspect = static_cast<double>(box.width) / static_cast<double>(box.height);
    least = std::min(least, share);
    most = std::max(most, share);
    EXPECT_GT(aspect, 0.68);
    EXPECT_LT(aspect, 1.45);
    EXPECT_LE(box.top + box.height, 40);
    EXPECT_LE(box.left + box.width, 60);
  }
  EXPECT_LT(least, 0.25);
  EXPECT_GT(most, 0.55);
  EXPECT_EQ(RandomResizedCrop({10, 12})(x).sizes(), (IntArrayRef{3, 10, 12}));
  const F::Box middle = F::random_resized_box(ramp(1, 10, 100), {1.0, 1.0}, {0.75, 1.25});
  EXPECT_EQ(middle.height, 10);
  EXPECT_EQ(middle.width, 12);
  EXPECT_EQ(middle.left, 44);
}

TEST(Transforms, RotationIsCounterClockwise) {
  const Tensor x = ramp(2, 5, 5);
  EXPECT_TRUE(equal(F::rotate(x, 90), x.rot90(1, {1, 2})));
  EXPECT_TRUE(equal(F::rotate(x, 180), x.rot90(2, {1, 2})));
  EXPECT_TRUE(equal(F::rotate(x.to(kByte), -90), x.to(kByte).rot90(-1, {1, 2})));
  EXPECT_TRUE(allclose(F::rotate(x, 90, Interpolation::kBilinear), x.rot90(1, {1, 2}), 1e-4, 1e-4));
  EXPECT_TRUE(equal(F::rotate(ramp(1, 4, 6), 180), ramp(1, 4, 6).flip({1, 2})));
  EXPECT_EQ(F::rotate(ones({1, 9, 9}), 45, Interpolation::kNearest, 5)[0][0][0].item<float>(), 5.0F)
      << "corners are filled";
  EXPECT_TRUE(equal(RandomRotation(std::pair(90.0, 90.0))(x), x.rot90(1, {1, 2})));
  EXPECT_TRUE(equal(RandomRotation(0.0)(x), x));
}

TEST(Transforms, Colours) {
  const Tensor rgb = tensor({{{0.2, 1.0}}, {{0.4, 0.0}}, {{0.6, 0.0}}}, kFloat);
  EXPECT_TRUE(allclose(F::adjust_brightness(rgb, 2), tensor({{{0.4, 1.0}}, {{0.8, 0.0}}, {{1.0, 0.0}}}, kFloat)));
  const double gray0 = 0.2 * 0.2989 + 0.4 * 0.587 + 0.6 * 0.114, gray1 = 0.2989;
  EXPECT_TRUE(allclose(F::rgb_to_grayscale(rgb), tensor({{{gray0, gray1}}}, kFloat)));
  EXPECT_TRUE(allclose(F::adjust_saturation(rgb, 0), F::rgb_to_grayscale(rgb).expand({3, 1, 2})));
  EXPECT_TRUE(allclose(F::adjust_contrast(rgb, 0), full({3, 1, 2}, (gray0 + gray1) / 2)));
  EXPECT_TRUE(equal(F::adjust_contrast(rgb, 1), rgb));
  const Tensor red = tensor({{{1.0}}, {{0.0}}, {{0.0}}}, kFloat);
  EXPECT_TRUE(allclose(F::adjust_hue(red, 1.0 / 3), tensor({{{0.0}}, {{1.0}}, {{0.0}}}, kFloat), 1e-5, 1e-5))
      << "red to green";
  EXPECT_TRUE(allclose(F::adjust_hue(red, -1.0 / 3), tensor({{{0.0}}, {{0.0}}, {{1.0}}}, kFloat), 1e-5, 1e-5))
      << "red to blue";
  const Tensor any = rand({3, 6, 6});
  EXPECT_TRUE(allclose(F::adjust_hue(any, 0), any, 1e-5, 1e-5));
  EXPECT_TRUE(allclose(F::adjust_hue(F::adjust_hue(any, 0.3), -0.3), any, 1e-4, 1e-4));
  const Tensor bytes = any.mul(255).to(kByte);
  EXPECT_EQ(F::adjust_hue(bytes, 0.1).dtype(), kByte);
  EXPECT_LE(F::adjust_hue(bytes, 0).to(kInt).sub(bytes.to(kInt)).abs().max().item<int64_t>(), 1);
  EXPECT_EQ(F::adjust_brightness(bytes, 0.5).dtype(), kByte);
  EXPECT_TRUE(equal(ColorJitter()(any), any));
  const Tensor jittered = ColorJitter(0.4, 0.4, 0.4, 0.1)(any);
  EXPECT_FALSE(allclose(jittered, any));
  EXPECT_GE(jittered.min().item<float>(), 0);
  EXPECT_LE(jittered.max().item<float>(), 1.00001);
  EXPECT_TRUE(ColorJitter(0.4, 0.4, 0.4, 0.1)(rand({1, 4, 4})).defined()) << "gray images too";
  EXPECT_ERROR(ValueError, F::adjust_brightness(any, -1), "factor -1");
  EXPECT_ERROR(ValueError, F::adjust_hue(any, 0.6), "shift 0.6");
  EXPECT_ERROR(ShapeError, F::adjust_saturation(rand({2, 4, 4}), 0.5), "expected [..., 3, height, width]");
}

TEST(Transforms, ComposeTakesTransformsAndFunctions) {
  Compose<> steps(
      Pad<>(1), [](Tensor x) { return x * 2; }, CenterCrop<>(2));
  EXPECT_TRUE(equal(steps(ramp(1, 2, 2)), ramp(1, 2, 2) * 2));
  EXPECT_FALSE(steps.batchable(ramp(1, 2, 2)));
  EXPECT_TRUE((Compose<>(ToTensor<>(), Normalize<>(0.5, 0.5)).batchable(ramp(1, 2, 2))));
  Compose<> of_defaults{ToTensor<>(), RandomHorizontalFlip<>()};  // with parentheses this would declare a function
  EXPECT_EQ(of_defaults(ramp(1, 2, 2)).sizes(), (IntArrayRef{1, 2, 2}));
  auto dataset = datasets::PairDataset(rand({4, 1, 6, 6}), arange(4))
                     .map(TensorLambda<>([](Tensor x) { return x.neg(); }))
                     .map(Compose<>(RandomCrop<>(4), RandomVerticalFlip<>(), ColorJitter<>(0.1)))
                     .map(Stack<>());
  EXPECT_EQ(dataset.get_batch({0, 1, 2}).data.sizes(), (IntArrayRef{3, 1, 4, 4}));
}

// A target of another type than Tensor.
TEST(Transforms, AnyTarget) {
  using E = Example<Tensor, std::string>;
  RandomCrop<std::string> crop(2);
  EXPECT_EQ(crop.apply(E(ramp(1, 3, 3), "seven")).target, "seven");
}

TEST(Transforms, NormalizeNamesChannelsThatDoNotFit) {
  EXPECT_ERROR(ShapeError, (Normalize<>({0.5, 0.5}, {1.0, 1.0})(ones({3, 2, 2}))),
               "normalize: found 2 means for an image of shape [3, 2, 2] (expected 1, or one for each channel)");
  EXPECT_ERROR(ValueError, functional::normalize(ones({3, 2, 2}), zeros({1, 1, 1}), zeros({1, 1, 1})),
               "normalize: a standard deviation is 0");
}

}  // namespace
}  // namespace cresset::data::transforms
