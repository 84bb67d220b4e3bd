// Sampling along grids, with slopes. Each axis has an order: how many times the weights are differentiated by the
// grid's coordinate along it. With them the three functions here are closed under differentiation, to any order; the
// op grid_sampler is the first with all orders zero.
#pragma once

#include <array>

#include "cresset/core/kernel_table.h"

namespace cresset {

// x [N, C, (D,) H, W], grid [N, .., 2 or 3] with x first, from -1 to 1. how: interpolation (0 bilinear, 1 nearest, 2
// bicubic), padding (0 zeros, 1 border, 2 reflection), whether corners are aligned, then the orders, x first.
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, const Tensor& grid, IntArrayRef how)>, grid_sampler_kernel,
               "grid_sampler");
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& grid, IntArrayRef how)>,
               grid_sampler_input_kernel, "grid_sampler_backward_input");
CRESSET_KERNEL(Kernel<void(const Tensor& dgrid, const Tensor& g, const Tensor& x, const Tensor& grid, IntArrayRef how)>,
               grid_sampler_grid_kernel, "grid_sampler_backward_grid");

// How a grid is sampled, as the kernels want it.
struct GridSampling {
  std::array<int64_t, 6> values{};

  GridSampling(int64_t interpolation, int64_t padding, bool align_corners)
      : values{interpolation, padding, align_corners ? 1 : 0, 0, 0, 0} {}
  explicit GridSampling(IntArrayRef how) { std::copy(how.begin(), how.end(), values.begin()); }
  operator IntArrayRef() const { return {values.data(), values.size()}; }
  int64_t interpolation() const { return values[0]; }
  int64_t padding() const { return values[1]; }
  bool align_corners() const { return values[2] != 0; }
  int64_t order(int axis) const { return values[3 + static_cast<size_t>(axis)]; }
  GridSampling slope_along(int axis) const {
    GridSampling more = *this;
    more.values[3 + static_cast<size_t>(axis)]++;
    return more;
  }
};

// For formulas: the samples, and the gradients of their sum with g by the input and by the grid.
Tensor grid_samples(const Tensor& x, const Tensor& grid, const GridSampling& how);
Tensor grid_sampler_input_gradient(const Tensor& g, const Tensor& grid, IntArrayRef sizes, const GridSampling& how);
Tensor grid_sampler_grid_gradient(const Tensor& g, const Tensor& x, const Tensor& grid, const GridSampling& how);

}  // namespace cresset
