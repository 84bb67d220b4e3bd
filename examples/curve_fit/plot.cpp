#include "plot.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <ostream>

Plot::Range Plot::range(std::vector<float> Points::*axis) const {
  Range range{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
  for (const Layer& layer : layers_)
    for (float value : layer.data.*axis) range = {std::min(range.low, value), std::max(range.high, value)};
  return range;
}

void Plot::draw(std::vector<std::string>& canvas, const Layer& layer, Range x, Range y) const {
  auto row_of = [&](float value) { return static_cast<int>(std::lround((1 - y.at(value)) * float(rows_ - 1))); };
  int previous = -1;
  for (size_t i = 0; i < layer.data.x.size(); i++) {
    auto column = static_cast<size_t>(std::lround(x.at(layer.data.x[i]) * float(columns_ - 1)));
    int row = row_of(layer.data.y[i]);
    canvas[static_cast<size_t>(row)][column] = layer.mark;
    if (layer.joined && previous >= 0)
      for (int between = std::min(row, previous) + 1; between < std::max(row, previous); between++)
        canvas[static_cast<size_t>(between)][column] = layer.mark;
    previous = row;
  }
}

void Plot::print(std::ostream& out, bool colour) const {
  const Range x = range(&Points::x), y = range(&Points::y);
  std::vector<std::string> canvas(static_cast<size_t>(rows_), std::string(static_cast<size_t>(columns_), ' '));
  for (const Layer& layer : layers_) draw(canvas, layer, x, y);

  constexpr const char* kColours[] = {"\033[36m", "\033[1;33m"};
  out << std::fixed << std::setprecision(1);
  for (int row = 0; row < rows_; row++) {
    if (row % 7 == 0)
      out << std::setw(6) << y.high - (y.high - y.low) * float(row) / float(rows_ - 1) << " |";
    else
      out << "       |";
    for (char mark : canvas[static_cast<size_t>(row)]) {
      auto layer = std::find_if(layers_.begin(), layers_.end(), [&](const Layer& l) { return l.mark == mark; });
      if (colour && layer != layers_.end())
        out << kColours[(layer - layers_.begin()) % 2] << mark << "\033[0m";
      else
        out << mark;
    }
    out << "\n";
  }
  out << "       +" << std::string(static_cast<size_t>(columns_), '-') << "\n";
}
