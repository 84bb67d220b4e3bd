// A plot in characters: points and a curve over the same axes.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

struct Points {
  std::vector<float> x, y;
};

class Plot {
 public:
  Plot(int columns, int rows) : columns_(columns), rows_(rows) {}
  void points(Points data, char mark) { layers_.push_back({std::move(data), mark, false}); }
  void curve(Points data, char mark) { layers_.push_back({std::move(data), mark, true}); }
  // With colour, each mark has its own; without, the text holds no control codes.
  void print(std::ostream& out, bool colour) const;

 private:
  struct Layer {
    Points data;
    char mark;
    bool joined;  // neighbouring points are joined by vertical strokes
  };
  struct Range {
    float low, high;
    float at(float value) const { return (value - low) / (high - low); }
  };
  Range range(std::vector<float> Points::*axis) const;
  void draw(std::vector<std::string>& canvas, const Layer& layer, Range x, Range y) const;

  int columns_, rows_;
  std::vector<Layer> layers_;
};
