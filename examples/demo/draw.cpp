#include "draw.h"

#include <algorithm>

namespace {

// The upper pixel in the character's colour, the lower one in its background's.
std::string shaded(float upper, float lower) {
  auto gray = [](float value) { return std::to_string(232 + static_cast<int>(std::clamp(value, 0.0F, 1.0F) * 23)); };
  return "\033[38;5;" + gray(upper) + ";48;5;" + gray(lower) + "m\u2580";
}

const char* block(float upper, float lower) {
  constexpr float kInk = 0.4F;
  if (upper > kInk) return lower > kInk ? "\u2588" : "\u2580";
  return lower > kInk ? "\u2584" : " ";
}

}  // namespace

std::string draw(const std::vector<Picture>& pictures, size_t columns, bool colour) {
  if (pictures.empty()) return "";
  const int64_t height = pictures[0].pixels.size(0), width = pictures[0].pixels.size(1);
  const size_t cell = static_cast<size_t>(width) + 2, per_row = std::max<size_t>(1, columns / cell);
  std::string text;
  for (size_t first = 0; first < pictures.size(); first += per_row) {
    const size_t last = std::min(first + per_row, pictures.size());
    for (int64_t y = 0; y < height; y += 2) {
      for (size_t i = first; i < last; i++) {
        auto pixel = pictures[i].pixels.accessor<float, 2>();
        for (int64_t x = 0; x < width; x++) {
          const float upper = pixel[y][x], lower = y + 1 < height ? pixel[y + 1][x] : 0;
          text += colour ? shaded(upper, lower) : block(upper, lower);
        }
        text += colour ? "\033[0m  " : "  ";
      }
      text += "\n";
    }
    for (size_t i = first; i < last; i++) {
      std::string caption = pictures[i].caption.substr(0, cell - 1);
      caption.resize(cell, ' ');
      text += colour && pictures[i].marked ? "\033[1;31m" + caption + "\033[0m" : caption;
    }
    text += "\n\n";
  }
  return text;
}
