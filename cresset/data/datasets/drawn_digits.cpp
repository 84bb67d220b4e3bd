// The strokes, and the pen. A digit is one of a few ways to write it; its points are moved at random, the whole is
// slanted, turned, scaled and shifted, and then drawn with a round pen and soft edges.
#include "cresset/data/datasets/drawn_digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "cresset/core/parallel.h"
#include "cresset/data/datasets/pixels.h"
#include "cresset/data/datasets/tensor.h"
#include "cresset/ops/all.h"

namespace cresset::data::datasets {
namespace {

struct Point {
  float x, y;  // in a box from 0 to 1, y downwards
};

enum class Line { kStraight, kSmooth, kClosed };

struct Stroke {
  Line line;
  std::vector<Point> points;
};

using Style = std::vector<Stroke>;

Stroke straight(std::vector<Point> points) { return {Line::kStraight, std::move(points)}; }
Stroke smooth(std::vector<Point> points) { return {Line::kSmooth, std::move(points)}; }
Stroke oval(Point centre, float rx, float ry) {
  std::vector<Point> points;
  for (int i = 0; i < 8; i++) {
    const float angle = static_cast<float>(i) * std::numbers::pi_v<float> / 4;
    points.push_back({centre.x + rx * std::sin(angle), centre.y - ry * std::cos(angle)});
  }
  return {Line::kClosed, std::move(points)};
}

std::array<std::vector<Style>, 10> make_styles() {
  std::array<std::vector<Style>, 10> s;
  s[0] = {{oval({.50F, .50F}, .24F, .38F)}, {oval({.50F, .50F}, .30F, .36F)}};
  s[1] = {{straight({{.50F, .12F}, {.50F, .88F}})},
          {straight({{.36F, .28F}, {.53F, .12F}, {.53F, .88F}})},
          {straight({{.36F, .28F}, {.52F, .12F}, {.52F, .88F}}), straight({{.34F, .88F}, {.70F, .88F}})}};
  s[2] = {{smooth({{.27F, .32F}, {.35F, .16F}, {.52F, .11F}, {.68F, .20F}, {.69F, .37F}, {.55F, .56F}, {.27F, .87F}}),
           straight({{.27F, .87F}, {.75F, .87F}})},
          {smooth({{.27F, .30F},
                   {.38F, .14F},
                   {.60F, .13F},
                   {.70F, .30F},
                   {.58F, .54F},
                   {.38F, .80F},
                   {.26F, .86F},
                   {.25F, .74F},
                   {.40F, .72F},
                   {.56F, .84F},
                   {.76F, .84F}})}};
  s[3] = {{smooth({{.28F, .19F}, {.48F, .11F}, {.67F, .21F}, {.65F, .38F}, {.46F, .47F}}),
           smooth({{.46F, .47F}, {.68F, .55F}, {.73F, .72F}, {.56F, .89F}, {.26F, .82F}})},
          {straight({{.28F, .13F}, {.70F, .13F}, {.45F, .43F}}),
           smooth({{.45F, .43F}, {.68F, .49F}, {.73F, .69F}, {.56F, .88F}, {.27F, .84F}})}};
  s[4] = {{straight({{.36F, .12F}, {.26F, .56F}, {.77F, .56F}}), straight({{.63F, .30F}, {.60F, .90F}})},
          {straight({{.62F, .12F}, {.23F, .62F}, {.79F, .62F}}), straight({{.62F, .12F}, {.61F, .90F}})}};
  s[5] = {{straight({{.71F, .13F}, {.35F, .13F}, {.31F, .45F}}),
           smooth({{.31F, .45F}, {.51F, .39F}, {.70F, .49F}, {.72F, .70F}, {.55F, .88F}, {.27F, .83F}})}};
  s[6] = {{smooth({{.65F, .12F},
                   {.42F, .27F},
                   {.29F, .53F},
                   {.30F, .77F},
                   {.48F, .90F},
                   {.68F, .80F},
                   {.69F, .62F},
                   {.52F, .52F},
                   {.31F, .65F}})},
          {smooth({{.40F, .10F},
                   {.31F, .40F},
                   {.28F, .70F},
                   {.40F, .89F},
                   {.62F, .87F},
                   {.70F, .70F},
                   {.58F, .56F},
                   {.40F, .58F},
                   {.29F, .72F}})}};
  s[7] = {{straight({{.26F, .14F}, {.74F, .14F}, {.44F, .90F}})},
          {straight({{.26F, .15F}, {.74F, .14F}, {.44F, .90F}}), straight({{.38F, .52F}, {.70F, .52F}})},
          {straight({{.26F, .26F}, {.27F, .14F}, {.74F, .14F}}), smooth({{.74F, .14F}, {.58F, .46F}, {.50F, .90F}})}};
  s[8] = {{smooth({{.68F, .20F},
                   {.50F, .11F},
                   {.33F, .20F},
                   {.36F, .37F},
                   {.64F, .60F},
                   {.71F, .77F},
                   {.50F, .90F},
                   {.29F, .77F},
                   {.36F, .60F},
                   {.66F, .36F},
                   {.68F, .20F}})},
          {oval({.50F, .30F}, .17F, .19F), oval({.50F, .69F}, .22F, .20F)}};
  s[9] = {{oval({.50F, .32F}, .19F, .20F), straight({{.69F, .30F}, {.66F, .60F}, {.60F, .90F}})},
          {oval({.49F, .32F}, .20F, .20F), smooth({{.69F, .30F}, {.70F, .58F}, {.60F, .82F}, {.36F, .88F}})}};
  return s;
}

const std::array<std::vector<Style>, 10>& styles() {
  static const auto* made = new std::array<std::vector<Style>, 10>(make_styles());
  return *made;
}

// Numbers of one image, a stream of its own.
class Dice {
 public:
  explicit Dice(uint64_t key) : key_(key) {}
  uint32_t bits() {
    if (at_ == 4) {
      block_ = philox(key_, counter_++);
      at_ = 0;
    }
    return block_[static_cast<size_t>(at_++)];
  }
  float uniform(float low, float high) { return low + (high - low) * uniform_float(bits()); }
  size_t pick(size_t count) { return static_cast<size_t>((uint64_t{bits()} * count) >> 32); }
  // About normal, from the four bytes of one number: spread 1, at most 3.5 from 0.
  float noise() {
    const uint32_t b = bits();
    const auto sum = static_cast<float>((b & 255) + ((b >> 8) & 255) + ((b >> 16) & 255) + (b >> 24));
    return (sum - 510.0F) / 147.8F;
  }

 private:
  uint64_t key_;
  uint64_t counter_ = 0;
  PhiloxBlock block_{};
  int at_ = 4;
};

// Catmull and Rom's curve through the points, as short lines.
std::vector<Point> flattened(Line line, const std::vector<Point>& p) {
  if (line == Line::kStraight) return p;
  constexpr int kSteps = 6;
  const auto n = static_cast<int>(p.size());
  const bool closed = line == Line::kClosed;
  const auto at = [&](int i) { return p[static_cast<size_t>(closed ? (i + n) % n : std::clamp(i, 0, n - 1))]; };
  std::vector<Point> out;
  for (int i = 0; i < (closed ? n : n - 1); i++) {
    const Point a = at(i - 1), b = at(i), c = at(i + 1), d = at(i + 2);
    for (int step = 0; step < kSteps; step++) {
      const float t = static_cast<float>(step) / kSteps;
      const auto mix = [t](float a, float b, float c, float d) {
        return 0.5F * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t);
      };
      out.push_back({mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y)});
    }
  }
  out.push_back(at(closed ? 0 : n - 1));
  return out;
}

class Canvas {
 public:
  static constexpr int kSide = DrawnDigits::kSide;
  std::array<float, static_cast<size_t>(kSide) * kSide> ink{};

  // One stretch of the pen, in pixels. The edge is a pixel wide.
  void stretch(Point a, Point b, float radius) {
    const float reach = radius + 1;
    const int left = bound(std::min(a.x, b.x) - reach), right = bound(std::max(a.x, b.x) + reach);
    const int top = bound(std::min(a.y, b.y) - reach), bottom = bound(std::max(a.y, b.y) + reach);
    const float dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    for (int y = top; y <= bottom; y++)
      for (int x = left; x <= right; x++) {
        const float px = static_cast<float>(x) + 0.5F - a.x, py = static_cast<float>(y) + 0.5F - a.y;
        const float t = length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0F, 1.0F) : 0.0F;
        const float ex = px - t * dx, ey = py - t * dy;
        const float cover = std::clamp(radius + 0.5F - std::sqrt(ex * ex + ey * ey), 0.0F, 1.0F);
        float& here = ink[static_cast<size_t>(y) * kSide + static_cast<size_t>(x)];
        here = std::max(here, cover);
      }
  }

 private:
  static int bound(float value) { return std::clamp(static_cast<int>(std::floor(value)), 0, kSide - 1); }
};

// Slant, turn, scale and shift, from the box into pixels.
class Placement {
 public:
  explicit Placement(Dice& dice) {
    const float angle = dice.uniform(-0.26F, 0.26F), shear = dice.uniform(-0.35F, 0.35F);
    const float sx = dice.uniform(15, 24), sy = dice.uniform(18, 25);
    const float c = std::cos(angle), s = std::sin(angle);
    xx_ = c * sx;
    xy_ = c * shear * sy - s * sy;
    yx_ = s * sx;
    yy_ = s * shear * sy + c * sy;
    x_ = 14 + dice.uniform(-2, 2);
    y_ = 14 + dice.uniform(-2, 2);
  }
  Point operator()(Point p) const {
    const float u = p.x - 0.5F, v = p.y - 0.5F;
    return {x_ + xx_ * u + xy_ * v, y_ + yx_ * u + yy_ * v};
  }

 private:
  float xx_, xy_, yx_, yy_, x_, y_;
};

}  // namespace

int64_t DrawnDigits::digit(uint64_t seed, size_t index) {
  return static_cast<int64_t>(Dice(data::detail::mixed_seed(seed, 0, index, 1)).pick(10));
}

void DrawnDigits::draw(uint64_t seed, size_t index, uint8_t* pixels) {
  Dice dice(data::detail::mixed_seed(seed, 0, index, 2));
  const std::vector<Style>& ways = styles()[static_cast<size_t>(digit(seed, index))];
  const Style& style = ways[dice.pick(ways.size())];
  const Placement place(dice);
  const float radius = dice.uniform(0.7F, 1.9F), wobble = dice.uniform(0.005F, 0.025F);
  const float brightness = dice.uniform(180, 255), grain = dice.uniform(0, 22);
  Canvas canvas;
  for (const Stroke& stroke : style) {
    std::vector<Point> points = stroke.points;
    for (Point& p : points) p = {p.x + wobble * dice.noise(), p.y + wobble * dice.noise()};
    const std::vector<Point> line = flattened(stroke.line, points);
    for (size_t i = 0; i + 1 < line.size(); i++) canvas.stretch(place(line[i]), place(line[i + 1]), radius);
  }
  for (size_t i = 0; i < canvas.ink.size(); i++)
    pixels[i] = static_cast<uint8_t>(std::clamp(canvas.ink[i] * brightness + grain * dice.noise(), 0.0F, 255.0F));
}

DrawnDigits::DrawnDigits(size_t size, uint64_t seed) {
  const auto count = static_cast<int64_t>(size);
  images_ = empty_contiguous({count, 1, kSide, kSide}, kByte, kCPU);
  targets_ = empty_contiguous({count}, kLong, kCPU);
  if (count == 0) return;
  auto* pixels = images_.data_ptr<uint8_t>();
  auto* digits = targets_.data_ptr<int64_t>();
  parallel_for(0, count, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      digits[i] = digit(seed, static_cast<size_t>(i));
      draw(seed, static_cast<size_t>(i), pixels + i * kSide * kSide);
    }
  });
}

Example<> DrawnDigits::get(size_t index) {
  detail::check_index("DrawnDigits", index, *size());
  const auto i = static_cast<int64_t>(index);
  return {floats(images_[i]), targets_[i]};
}

std::vector<Example<>> DrawnDigits::get_batch(ArrayRef<size_t> indices) {
  return detail::examples_of(floats(detail::gather_rows("DrawnDigits", images_, indices)),
                             detail::gather_rows("DrawnDigits", targets_, indices));
}

std::optional<size_t> DrawnDigits::size() const { return static_cast<size_t>(images_.size(0)); }

}  // namespace cresset::data::datasets
