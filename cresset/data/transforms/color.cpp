// Colour of images: mixing with black, with the mean, with gray, and turning the hue.
#include <array>
#include <cmath>
#include <utility>

#include "cresset/data/random.h"
#include "cresset/data/transforms/functional.h"
#include "cresset/ops/all.h"

namespace cresset::data::transforms::functional {
namespace {

void check_color(const char* who, const Tensor& image) {
  CRESSET_CHECK_AS(ShapeError, image.dim() >= 3 && image.size(-3) == 3, who, ": found shape ", image.sizes(),
                   " (expected [..., 3, height, width])");
}

double top_of(const Tensor& image) { return image.is_floating_point() ? 1.0 : 255.0; }
Tensor floats(const Tensor& image) { return image.is_floating_point() ? image : image.to(kFloat); }

// factor * a + (1 - factor) * b, in range and in a's type.
Tensor blended(const Tensor& a, const Tensor& b, double factor) {
  const Tensor mixed = floats(a).mul(factor).add(b.mul(1 - factor)).clamp(0, top_of(a));
  return a.is_floating_point() ? mixed : mixed.to(a.dtype());
}

Tensor gray_of(const Tensor& image) {
  const Tensor x = floats(image);
  const Tensor gray =
      x.narrow(-3, 0, 1).mul(0.2989).add(x.narrow(-3, 1, 1).mul(0.587)).add(x.narrow(-3, 2, 1).mul(0.114));
  return image.is_floating_point() ? gray : gray.floor();
}

}  // namespace

Tensor rgb_to_grayscale(const Tensor& image) {
  check_color("rgb_to_grayscale", image);
  return gray_of(image).to(image.dtype());
}

Tensor adjust_brightness(const Tensor& image, double factor) {
  CRESSET_CHECK_AS(ValueError, factor >= 0, "adjust_brightness: found factor ", factor, " (expected 0 or more)");
  return blended(image, zeros_like(floats(image)), factor);
}

Tensor adjust_contrast(const Tensor& image, double factor) {
  CRESSET_CHECK_AS(ValueError, factor >= 0, "adjust_contrast: found factor ", factor, " (expected 0 or more)");
  const bool color = image.dim() >= 3 && image.size(-3) == 3;
  const Tensor gray = color ? gray_of(image) : floats(image);
  const std::vector<int64_t> dims = gray.dim() >= 3 ? std::vector<int64_t>{-3, -2, -1} : std::vector<int64_t>{-2, -1};
  return blended(image, gray.mean(dims, true), factor);
}

Tensor adjust_saturation(const Tensor& image, double factor) {
  CRESSET_CHECK_AS(ValueError, factor >= 0, "adjust_saturation: found factor ", factor, " (expected 0 or more)");
  if (image.dim() >= 3 && image.size(-3) == 1) return image;  // gray already
  check_color("adjust_saturation", image);
  return blended(image, gray_of(image), factor);
}

// Through hue, saturation and value. The hue is where the largest channel lies on the circle, and by how much the other
// two differ.
Tensor adjust_hue(const Tensor& image, double shift) {
  CRESSET_CHECK_AS(ValueError, shift >= -0.5 && shift <= 0.5, "adjust_hue: found shift ", shift,
                   " (expected -0.5 to 0.5)");
  if (image.dim() >= 3 && image.size(-3) == 1) return image;
  check_color("adjust_hue", image);
  const Tensor x = floats(image).div(top_of(image));
  const Tensor r = x.select(-3, 0), g = x.select(-3, 1), b = x.select(-3, 2);
  const Tensor most = x.amax({-3}), least = x.amin({-3});
  const Tensor range = most.sub(least), flat = range.eq(0);
  const Tensor safe = range.masked_fill(flat, 1);
  const Tensor saturation = where(most.eq(0), zeros_like(most), range.div(most.masked_fill(most.eq(0), 1)));
  const Tensor from_r = g.sub(b).div(safe), from_g = b.sub(r).div(safe).add(2), from_b = r.sub(g).div(safe).add(4);
  Tensor hue = where(most.eq(r), from_r, where(most.eq(g), from_g, from_b));
  hue = hue.masked_fill(flat, 0).div(6).add(shift);
  hue = hue.sub(hue.floor()).mul(6);
  // Channel n is v - v s max(0, min(k, 4 - k, 1)) with k = (n + h) mod 6, for n = 5, 3, 1.
  std::vector<Tensor> channels;
  for (double n : {5.0, 3.0, 1.0}) {
    const Tensor k = hue.add(n).remainder(6.0);
    const Tensor part = minimum(k, k.neg().add(4)).clamp(0, 1);
    channels.push_back(most.sub(most.mul(saturation).mul(part)));
  }
  const Tensor y = stack(channels, -3).mul(top_of(image));
  return image.is_floating_point() ? y : y.round().clamp(0, 255).to(image.dtype());
}

void check_jitter(const char* who, const Jitter& jitter) {
  const std::pair<const char*, double> factors[] = {
      {"brightness", jitter.brightness}, {"contrast", jitter.contrast}, {"saturation", jitter.saturation}};
  for (const auto& [what, amount] : factors)
    CRESSET_CHECK_AS(ValueError, amount >= 0 && std::isfinite(amount), who, ": found ", what, " ", amount,
                     " (expected 0 or more)");
  CRESSET_CHECK_AS(ValueError, jitter.hue >= 0 && jitter.hue <= 0.5, who, ": found hue ", jitter.hue,
                   " (expected 0 to 0.5)");
}

Tensor color_jitter(const Tensor& image, const Jitter& jitter) {
  std::array<int, 4> order = {0, 1, 2, 3};
  for (int i = 3; i > 0; i--)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(random_integer(i + 1))]);
  Tensor x = image;
  for (int what : order) {
    // Drawn also when unused, so that one option does not change the numbers of another.
    const double u = random_uniform(-1, 1);
    const auto factor = [&](double amount) {
      const double low = std::max(0.0, 1 - amount);
      return low + (1 + amount - low) * (u + 1) / 2;
    };
    if (what == 0 && jitter.brightness > 0) x = adjust_brightness(x, factor(jitter.brightness));
    if (what == 1 && jitter.contrast > 0) x = adjust_contrast(x, factor(jitter.contrast));
    if (what == 2 && jitter.saturation > 0) x = adjust_saturation(x, factor(jitter.saturation));
    if (what == 3 && jitter.hue > 0) x = adjust_hue(x, jitter.hue * u);
  }
  return x;
}

}  // namespace cresset::data::transforms::functional
