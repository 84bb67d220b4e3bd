// A line search for the strong Wolfe conditions: a point that is lower in proportion to the slope, and flatter than the
// start. Brackets an interval that has one, then narrows it by cubic interpolation. Internal to LBFGS.
#pragma once

#include <functional>

#include "cresset/core/tensor.h"

namespace cresset::optim::detail {

struct LinePoint {
  double t = 0, loss = 0;
  Tensor gradient;
  double slope = 0;  // along the direction
};

struct LineSearch {
  LinePoint found;
  int64_t evaluations = 0;
};

// at(t): loss and gradient at t along the direction. `largest` is the largest element of the direction.
LineSearch strong_wolfe(const std::function<LinePoint(double t)>& at, const LinePoint& start, double first_t,
                        double largest);

}  // namespace cresset::optim::detail
