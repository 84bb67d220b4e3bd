// Image transforms for Dataset::map and Compose, by torchvision's names. RandomCrop<>(28, 4) or, where the target is a
// tensor, RandomCrop(28, 4).
#pragma once

#include <cmath>

#include "cresset/data/transforms/tensor.h"

namespace cresset::data::transforms {

// A square or a rectangle, one number or {height, width}.
class Size {
 public:
  Size(int64_t edge) : values_{edge} {}
  Size(std::initializer_list<int64_t> values) : values_(values) {
    CRESSET_CHECK_AS(ValueError, values_.size() == 1 || values_.size() == 2, "Size: found ", values_.size(),
                     " numbers (expected an edge, or height and width)");
  }
  int64_t height() const { return values_.front(); }
  int64_t width() const { return values_.back(); }
  IntArrayRef values() const { return values_; }
  std::vector<int64_t> both() const { return {height(), width()}; }

 private:
  std::vector<int64_t> values_;
};

// One, two or four numbers: all sides; left and right, top and bottom; left, top, right, bottom.
class Padding {
 public:
  Padding(int64_t all) : values_{all} {}
  Padding(std::initializer_list<int64_t> values) : values_(values) {}
  IntArrayRef values() const { return values_; }

 private:
  std::vector<int64_t> values_;
};

template <typename Target = Tensor>
class ToTensor : public TensorTransform<Target> {
 public:
  explicit ToTensor(ImageLayout layout = ImageLayout::kCHW) : layout_(layout) {}
  Tensor operator()(Tensor image) override { return functional::to_tensor(image, layout_); }
  bool batchable(const Tensor& row) const override { return layout_ == ImageLayout::kCHW && row.dim() >= 3; }

 private:
  ImageLayout layout_;
};

template <typename Target = Tensor>
class Resize : public TensorTransform<Target> {
 public:
  explicit Resize(Size size, Interpolation interpolation = Interpolation::kBilinear)
      : size_(std::move(size)), interpolation_(interpolation) {}
  Tensor operator()(Tensor image) override { return functional::resize(image, size_.values(), interpolation_); }

 private:
  Size size_;
  Interpolation interpolation_;
};

template <typename Target = Tensor>
class CenterCrop : public TensorTransform<Target> {
 public:
  explicit CenterCrop(Size size) : size_(std::move(size)) {}
  Tensor operator()(Tensor image) override { return functional::center_crop(image, size_.both()); }
  bool batchable(const Tensor&) const override { return true; }

 private:
  Size size_;
};

template <typename Target = Tensor>
class Pad : public TensorTransform<Target> {
 public:
  explicit Pad(Padding padding, double fill = 0, std::string mode = "constant")
      : padding_(std::move(padding)), fill_(fill), mode_(std::move(mode)) {}
  explicit Pad(std::initializer_list<int64_t> padding, double fill = 0, std::string mode = "constant")
      : Pad(Padding(padding), fill, std::move(mode)) {}
  Tensor operator()(Tensor image) override { return functional::pad(image, padding_.values(), fill_, mode_); }

 private:
  Padding padding_;
  double fill_;
  std::string mode_;
};

template <typename Target = Tensor>
class RandomCrop : public TensorTransform<Target> {
 public:
  explicit RandomCrop(Size size, Padding padding = 0, double fill = 0, std::string mode = "constant")
      : size_(std::move(size)), padding_(std::move(padding)), fill_(fill), mode_(std::move(mode)) {}
  explicit RandomCrop(std::initializer_list<int64_t> size, Padding padding = 0, double fill = 0,
                      std::string mode = "constant")
      : RandomCrop(Size(size), std::move(padding), fill, std::move(mode)) {}
  Tensor operator()(Tensor image) override {
    image = functional::pad(image, padding_.values(), fill_, mode_);
    const functional::Box box = functional::random_box(image, size_.height(), size_.width());
    return functional::crop(image, box.top, box.left, box.height, box.width);
  }

 private:
  Size size_;
  Padding padding_;
  double fill_;
  std::string mode_;
};

template <typename Target = Tensor>
class RandomResizedCrop : public TensorTransform<Target> {
 public:
  explicit RandomResizedCrop(Size size, std::pair<double, double> scale = {0.08, 1.0},
                             std::pair<double, double> ratio = {3.0 / 4, 4.0 / 3},
                             Interpolation interpolation = Interpolation::kBilinear)
      : size_(std::move(size)), scale_(scale), ratio_(ratio), interpolation_(interpolation) {
    functional::check_interval("RandomResizedCrop", "scale", scale, {0, INFINITY});
    functional::check_interval("RandomResizedCrop", "ratio", ratio, {0, INFINITY});
  }
  Tensor operator()(Tensor image) override {
    const functional::Box box = functional::random_resized_box(image, scale_, ratio_);
    return functional::resized_crop(image, box.top, box.left, box.height, box.width, size_.both(), interpolation_);
  }

 private:
  Size size_;
  std::pair<double, double> scale_, ratio_;
  Interpolation interpolation_;
};

template <typename Target = Tensor>
class RandomHorizontalFlip : public TensorTransform<Target> {
 public:
  explicit RandomHorizontalFlip(double p = 0.5) : p_(p) { functional::check_probability("RandomHorizontalFlip", p); }
  Tensor operator()(Tensor image) override { return random_uniform() < p_ ? functional::hflip(image) : image; }

 private:
  double p_;
};

template <typename Target = Tensor>
class RandomVerticalFlip : public TensorTransform<Target> {
 public:
  explicit RandomVerticalFlip(double p = 0.5) : p_(p) { functional::check_probability("RandomVerticalFlip", p); }
  Tensor operator()(Tensor image) override { return random_uniform() < p_ ? functional::vflip(image) : image; }

 private:
  double p_;
};

// By an angle between -degrees and degrees, or between two.
template <typename Target = Tensor>
class RandomRotation : public TensorTransform<Target> {
 public:
  explicit RandomRotation(double degrees, Interpolation interpolation = Interpolation::kNearest, double fill = 0)
      : RandomRotation(std::pair(-degrees, degrees), interpolation, fill) {}
  explicit RandomRotation(std::pair<double, double> degrees, Interpolation interpolation = Interpolation::kNearest,
                          double fill = 0)
      : degrees_(degrees), interpolation_(interpolation), fill_(fill) {
    functional::check_interval("RandomRotation", "degrees", degrees, {-INFINITY, INFINITY});
  }
  Tensor operator()(Tensor image) override {
    return functional::rotate(image, random_uniform(degrees_.first, degrees_.second), interpolation_, fill_);
  }

 private:
  std::pair<double, double> degrees_;
  Interpolation interpolation_;
  double fill_;
};

// Brightness, contrast and saturation by factors around 1, hue by a shift, in a random order.
template <typename Target = Tensor>
class ColorJitter : public TensorTransform<Target> {
 public:
  explicit ColorJitter(double brightness = 0, double contrast = 0, double saturation = 0, double hue = 0)
      : jitter_{brightness, contrast, saturation, hue} {
    functional::check_jitter("ColorJitter", jitter_);
  }
  Tensor operator()(Tensor image) override { return functional::color_jitter(image, jitter_); }

 private:
  functional::Jitter jitter_;
};

}  // namespace cresset::data::transforms
