#include "cresset/optim/strong_wolfe.h"

#include <algorithm>
#include <cmath>

namespace cresset::optim::detail {
namespace {

constexpr double kSufficient = 1e-4, kFlatter = 0.9, kSmallest = 1e-9;
constexpr int kMostSteps = 25;

// The minimum of the cubic through two points with their slopes, within the bounds.
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double at = a.t <= b.t ? b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                               : a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  return std::min(std::max(at, low), high);
}
double cubic_minimum(const LinePoint& a, const LinePoint& b) {
  return cubic_minimum(a, b, std::min(a.t, b.t), std::max(a.t, b.t));
}

}  // namespace

LineSearch strong_wolfe(const std::function<LinePoint(double t)>& at, const LinePoint& start, double first_t,
                        double largest) {
  auto too_high = [&](const LinePoint& p) { return p.loss > start.loss + kSufficient * p.t * start.slope; };
  auto is_flat = [&](const LinePoint& p) { return std::abs(p.slope) <= -kFlatter * start.slope; };

  LinePoint before = start, now = at(first_t);
  int64_t evaluations = 1;
  int steps = 0;
  LinePoint low, high;
  bool bracketed = false;
  for (; steps < kMostSteps; steps++) {
    if (too_high(now) || (steps > 1 && now.loss >= before.loss) || (!is_flat(now) && now.slope >= 0)) {
      low = before;
      high = now;
      bracketed = true;
      break;
    }
    if (is_flat(now)) return {now, evaluations};
    const double t = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
    before = std::exchange(now, at(t));
    evaluations++;
  }
  if (!bracketed) {
    low = start;
    high = now;
  }
  if (high.loss < low.loss) std::swap(low, high);

  bool slow = false;  // the last point was near the bracket's end
  while (steps < kMostSteps) {
    const double least = std::min(low.t, high.t), most = std::max(low.t, high.t);
    if ((most - least) * largest < kSmallest) break;
    double t = cubic_minimum(low, high);
    // Near an end twice, or at it: a tenth of the bracket away from that end.
    const double margin = 0.1 * (most - least);
    if (std::min(most - t, t - least) < margin) {
      if (slow || t >= most || t <= least) {
        t = std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin;
        slow = false;
      } else {
        slow = true;
      }
    } else {
      slow = false;
    }
    now = at(t);
    evaluations++;
    steps++;
    if (too_high(now) || now.loss >= low.loss) {
      high = now;
      if (high.loss < low.loss) std::swap(low, high);
      continue;
    }
    const bool done = is_flat(now);
    if (!done && now.slope * (high.t - low.t) >= 0) high = low;
    low = now;
    if (done) break;
  }
  return {low, evaluations};
}

}  // namespace cresset::optim::detail
