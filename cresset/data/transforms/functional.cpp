// Geometry of images: cropping, padding, resizing, flipping, turning. Colour is in color.cpp.
#include "cresset/data/transforms/functional.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cresset/data/random.h"
#include "cresset/ops/all.h"

namespace cresset::data::transforms::functional {
namespace {

void check_image(const char* who, const Tensor& image) {
  CRESSET_CHECK_AS(ShapeError, image.dim() >= 2 && image.size(-1) > 0 && image.size(-2) > 0, who, ": found shape ",
                   image.sizes(), " (expected [..., height, width])");
}

// Runs `f` on floating values [N, C, H, W]; uint8 is rounded back.
template <class F>
Tensor as_floats(const Tensor& image, const F& f) {
  const int64_t height = image.size(-2), width = image.size(-1);
  Tensor x = image.is_floating_point() ? image : image.to(kFloat);
  x = f(x.reshape({1, -1, height, width}));
  std::vector<int64_t> sizes = image.sizes().vec();
  sizes[sizes.size() - 2] = x.size(-2);
  sizes[sizes.size() - 1] = x.size(-1);
  x = x.reshape(sizes);
  if (image.is_floating_point()) return x;
  return (image.dtype() == kByte ? x.round().clamp(0, 255) : x.round()).to(image.dtype());
}

// The part of [start, start + length) that lies in [0, size), and what is missing before it.
struct Overlap {
  int64_t first, count, before;
};
Overlap overlap(int64_t start, int64_t length, int64_t size) {
  const int64_t first = std::clamp<int64_t>(start, 0, size), last = std::clamp<int64_t>(start + length, 0, size);
  return {first, last - first, std::clamp<int64_t>(-start, 0, length)};
}

// Beyond its edges the image goes on in its mirror image, the edge itself first.
Tensor mirrored(const Tensor& image, int64_t dim, int64_t before, int64_t after) {
  const int64_t n = image.size(dim);
  CRESSET_CHECK_AS(ValueError, before <= n && after <= n && n + before + after > 0, "pad: found ", before, " and ",
                   after, " to add to ", n, " elements (expected no more than there are, and some left)");
  std::vector<int64_t> from;
  for (int64_t i = -before; i < n + after; i++) from.push_back(i < 0 ? -1 - i : i < n ? i : 2 * n - 1 - i);
  return image.index_select(dim, tensor(from));
}

// Half to even, as Python rounds.
int64_t rounded(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

}  // namespace

Tensor to_tensor(const Tensor& image, ImageLayout layout) {
  CRESSET_CHECK_AS(ShapeError, image.dim() >= 2, "to_tensor: found shape ", image.sizes(),
                   " (expected [height, width] or three dimensions)");
  Tensor x = image.dim() == 2 ? image.unsqueeze(0) : image;
  if (layout == ImageLayout::kHWC && image.dim() >= 3) x = x.movedim(-1, -3).contiguous();
  return x.dtype() == kByte ? x.to(kFloat).div_(255) : x;
}

Tensor per_channel(ArrayRef<double> values) { return tensor(values, kFloat).reshape({-1, 1, 1}); }

Tensor normalize(const Tensor& image, const Tensor& mean, const Tensor& stddev) {
  for (const Tensor* numbers : {&mean, &stddev})
    CRESSET_CHECK_AS(ShapeError,
                     numbers->dim() != 3 || numbers->size(0) == 1 || image.dim() < 3 || image.size(-3) == 1 ||
                         image.size(-3) == numbers->size(0),
                     "normalize: found ", numbers->size(0), numbers == &mean ? " means" : " standard deviations",
                     " for an image of shape ", image.sizes(), " (expected 1, or one for each channel)");
  CRESSET_CHECK_AS(ValueError, stddev.ne(0).all().item<bool>(),
                   "normalize: a standard deviation is 0 (expected none: it would divide by it)");
  return image.sub(mean).div(stddev);
}

Tensor crop(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  check_image("crop", image);
  CRESSET_CHECK_AS(ShapeError, height > 0 && width > 0, "crop: found height ", height, " and width ", width,
                   " (expected both above 0)");
  const Overlap rows = overlap(top, height, image.size(-2)), columns = overlap(left, width, image.size(-1));
  Tensor inside = image.narrow(-2, rows.first, rows.count).narrow(-1, columns.first, columns.count);
  if (rows.count == height && columns.count == width) return inside;
  return cresset::pad(
      inside, {columns.before, width - columns.before - columns.count, rows.before, height - rows.before - rows.count});
}

Tensor center_crop(const Tensor& image, IntArrayRef size) {
  check_image("center_crop", image);
  const int64_t height = size.front(), width = size.back();
  const int64_t more_h = std::max<int64_t>(0, height - image.size(-2));
  const int64_t more_w = std::max<int64_t>(0, width - image.size(-1));
  const std::vector<int64_t> more = {more_w / 2, more_h / 2, (more_w + 1) / 2, (more_h + 1) / 2};
  const Tensor x = functional::pad(image, more, 0);
  const int64_t top = rounded(static_cast<double>(x.size(-2) - height) / 2);
  const int64_t left = rounded(static_cast<double>(x.size(-1) - width) / 2);
  return crop(x, top, left, height, width);
}

Tensor resize(const Tensor& image, IntArrayRef size, Interpolation interpolation) {
  check_image("resize", image);
  const int64_t h = image.size(-2), w = image.size(-1);
  std::vector<int64_t> to = size.vec();
  if (to.size() == 1) {
    const int64_t edge = to[0], longer = edge * std::max(h, w) / std::min(h, w);
    to = h <= w ? std::vector{edge, longer} : std::vector{longer, edge};
  }
  CRESSET_CHECK_AS(ValueError, to.size() == 2 && to[0] > 0 && to[1] > 0, "resize: found size ", size,
                   " (expected one or two numbers above 0)");
  if (to[0] == h && to[1] == w) return image;
  return as_floats(image, [&](const Tensor& x) {
    return interpolation == Interpolation::kNearest
               ? interpolate(x, IntArrayRef(to), std::optional<double>(), "nearest")
               : interpolate(x, IntArrayRef(to), std::optional<double>(), "bilinear", false);
  });
}

Tensor resized_crop(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width, IntArrayRef size,
                    Interpolation interpolation) {
  return resize(crop(image, top, left, height, width), size, interpolation);
}

Tensor hflip(const Tensor& image) {
  check_image("hflip", image);
  return image.flip({-1});
}

Tensor vflip(const Tensor& image) {
  check_image("vflip", image);
  return image.flip({-2});
}

Tensor pad(const Tensor& image, IntArrayRef padding, double fill, std::string_view mode) {
  check_image("pad", image);
  CRESSET_CHECK_AS(ValueError, padding.size() == 1 || padding.size() == 2 || padding.size() == 4, "pad: found padding ",
                   padding, " (expected one, two or four numbers)");
  const size_t n = padding.size();
  const int64_t left = padding[0], top = padding[n == 1 ? 0 : 1];
  const int64_t right = padding[n == 4 ? 2 : 0], bottom = n == 4 ? padding[3] : top;
  if (left == 0 && top == 0 && right == 0 && bottom == 0) return image;
  const std::vector<int64_t> sides = {left, right, top, bottom};
  if (mode == "constant") return cresset::pad(image, sides, "constant", fill);
  if (mode == "symmetric") return mirrored(mirrored(image, -2, top, bottom), -1, left, right);
  CRESSET_CHECK_AS(ValueError, mode == "edge" || mode == "reflect", "pad: found mode \"", mode,
                   "\" (expected constant, edge, reflect or symmetric)");
  return as_floats(image, [&](const Tensor& x) { return cresset::pad(x, sides, mode == "edge" ? "replicate" : mode); });
}

Tensor rotate(const Tensor& image, double degrees, Interpolation interpolation, double fill) {
  check_image("rotate", image);
  CRESSET_CHECK_AS(ValueError, std::isfinite(degrees), "rotate: found ", degrees,
                   " degrees (expected a finite number)");
  const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  const auto h = static_cast<double>(image.size(-2)), w = static_cast<double>(image.size(-1));
  // Where a pixel comes from, in coordinates from -1 to 1.
  const std::vector<double> rows = {c, -s * h / w, 0, s * w / h, c, 0};
  return as_floats(image, [&](const Tensor& x) {
    const Tensor theta = tensor(rows, x.dtype()).reshape({1, 2, 3});
    const Tensor grid = affine_grid_generator(theta, x.sizes(), false);
    const Tensor source = fill == 0 ? x : x.sub(fill);
    const Tensor y =
        grid_sample(source, grid, interpolation == Interpolation::kNearest ? "nearest" : "bilinear", "zeros", false);
    return fill == 0 ? y : y.add(fill);
  });
}

Box random_box(const Tensor& image, int64_t height, int64_t width) {
  check_image("RandomCrop", image);
  CRESSET_CHECK_AS(ShapeError, image.size(-2) >= height && image.size(-1) >= width,
                   "RandomCrop: found an image of shape ", image.sizes(), " with its padding (expected at least ",
                   height, " x ", width, ")");
  const int64_t top = random_integer(image.size(-2) - height + 1);
  return {top, random_integer(image.size(-1) - width + 1), height, width};
}

Box random_resized_box(const Tensor& image, std::pair<double, double> scale, std::pair<double, double> ratio) {
  check_image("RandomResizedCrop", image);
  const int64_t h = image.size(-2), w = image.size(-1);
  const auto area = static_cast<double>(h * w);
  for (int attempt = 0; attempt < 10; attempt++) {
    const double target = area * random_uniform(scale.first, scale.second);
    const double aspect = std::exp(random_uniform(std::log(ratio.first), std::log(ratio.second)));
    const int64_t width = rounded(std::sqrt(target * aspect)), height = rounded(std::sqrt(target / aspect));
    if (width > 0 && width <= w && height > 0 && height <= h) {
      const int64_t top = random_integer(h - height + 1);
      return {top, random_integer(w - width + 1), height, width};
    }
  }
  // The middle, with the nearest aspect that is allowed.
  const double aspect = static_cast<double>(w) / static_cast<double>(h);
  int64_t width = w, height = h;
  if (aspect < ratio.first) height = rounded(static_cast<double>(w) / ratio.first);
  if (aspect > ratio.second) width = rounded(static_cast<double>(h) * ratio.second);
  return {(h - height) / 2, (w - width) / 2, height, width};
}

void check_probability(const char* who, double p) {
  CRESSET_CHECK_AS(ValueError, p >= 0 && p <= 1, who, ": found probability ", p, " (expected 0 to 1)");
}

void check_interval(const char* who, const char* what, std::pair<double, double> interval,
                    std::pair<double, double> bounds) {
  const auto [low, high] = interval;
  CRESSET_CHECK_AS(ValueError, low > bounds.first && low <= high && high < bounds.second, who, ": found ", what, " ",
                   low, " to ", high, " (expected two numbers in order, between ", bounds.first, " and ", bounds.second,
                   ")");
}

}  // namespace cresset::data::transforms::functional
