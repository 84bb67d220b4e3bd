// Small pictures in the terminal: two pixels to a character, one above the other.
#pragma once

#include <cresset/cresset.h>

#include <string>
#include <vector>

struct Picture {
  cresset::Tensor pixels;  // [H, W], from 0 (background) to 1
  std::string caption;
  bool marked = false;  // the caption stands out
};

// Rows of pictures side by side, as many as fit. With colour in shades of gray, without in blocks that are full or
// empty.
std::string draw(const std::vector<Picture>& pictures, size_t columns, bool colour);
