// Roots of unity to more than double precision: exp(-2 pi i k / n) as the product of two tables' entries. Angles are
// brought into the first octant by whole numbers, so that multiples of a quarter are exact and the rest symmetric.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace cresset::cpu {

class FftRoots {
 public:
  struct Root {
    long double re, im;
  };

  explicit FftRoots(int64_t n) : n_(n) {
    while (int64_t{1} << (2 * shift_) <= n / 2) shift_++;
    const int64_t step = int64_t{1} << shift_;
    for (int64_t u = 0; u < step; u++) fine_.push_back(first_octant(u));
    for (int64_t u = 0; u <= n / 2; u += step) coarse_.push_back(first_octant(u));
  }

  // k from 0 to n - 1. Angles are in units of 1 / (4 n) of a turn, of which a quarter has n.
  Root operator()(int64_t k) const {
    int64_t u = 4 * k;
    const bool below = u > 2 * n_;
    if (below) u = 4 * n_ - u;
    const bool left = u > n_;
    if (left) u = 2 * n_ - u;
    const bool steep = 2 * u > n_;
    if (steep) u = n_ - u;
    const Root &a = coarse_[static_cast<size_t>(u >> shift_)],
               &b = fine_[static_cast<size_t>(u & ((int64_t{1} << shift_) - 1))];
    Root root{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    if (steep) std::swap(root.re, root.im);
    return {left ? -root.re : root.re, below ? root.im : -root.im};
  }

 private:
  Root first_octant(int64_t u) const {
    const long double angle = std::numbers::pi_v<long double> * static_cast<long double>(u) / (2.0L * n_);
    return {std::cos(angle), std::sin(angle)};
  }

  int64_t n_;
  int shift_ = 0;
  std::vector<Root> fine_, coarse_;
};

}  // namespace cresset::cpu
