// Grid sampling checks its arguments here, its formulas are in grid_sampler.cpp; the others are composed.
#include "cresset/ops/vision.h"

#include "cresset/core/checked.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/grid_sampler.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

void check_sampler(const char* op, const Tensor& x, const Tensor& grid, int64_t interpolation, int64_t padding) {
  check_same_device(op, x, grid);
  CRESSET_CHECK_AS(TypeError, x.is_floating_point(), op, ": not implemented for '", toString(x.dtype()),
                   "' (expected a floating point input)");
  CRESSET_CHECK_AS(TypeError, x.dtype() == grid.dtype(), op,
                   ": expected input and grid to have same dtype, but input has ", toString(x.dtype()),
                   " and grid has ", toString(grid.dtype()));
  CRESSET_CHECK_AS(ShapeError, (x.dim() == 4 || x.dim() == 5) && grid.dim() == x.dim(), op,
                   ": expected 4D or 5D input and grid with same number of dimensions, but got input with sizes ",
                   text_of(x.sizes()), " and grid with sizes ", text_of(grid.sizes()));
  CRESSET_CHECK_AS(ShapeError, x.size(0) == grid.size(0), op,
                   ": expected grid and input to have same batch size, but got input with sizes ", text_of(x.sizes()),
                   " and grid with sizes ", text_of(grid.sizes()));
  CRESSET_CHECK_AS(ShapeError, grid.size(-1) == x.dim() - 2, op, ": expected grid to have size ", x.dim() - 2,
                   " in last dimension, but got grid with sizes ", text_of(grid.sizes()));
  for (int64_t i = 2; i < x.dim(); i++)
    CRESSET_CHECK_AS(ShapeError, x.size(i) > 0, op,
                     ": expected input to have non-empty spatial dimensions, but input has sizes ", text_of(x.sizes()));
  CRESSET_CHECK_AS(ValueError, interpolation >= 0 && interpolation <= 2 && (x.dim() == 4 || interpolation != 2), op,
                   ": interpolation mode ", interpolation,
                   " (expected 0 bilinear, 1 nearest, or for 4D input 2 bicubic)");
  CRESSET_CHECK_AS(ValueError, padding >= 0 && padding <= 2, op, ": padding mode ", padding,
                   " (expected 0 zeros, 1 border or 2 reflection)");
}

}  // namespace

CRESSET_OP(grid_sampler, , Tensor,
           (const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
            bool align_corners),
           "input, grid, interpolation_mode, padding_mode, align_corners", Gradient::formula,
           "Samples the input at the grid's positions.")
Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation, int64_t padding,
                    bool align_corners) try {
  CRESSET_INTERCEPT(grid_sampler, , Tensor, input, grid, interpolation, padding, align_corners);
  check_sampler("grid_sampler", input, grid, interpolation, padding);
  return grid_samples(input, grid, GridSampling(interpolation, padding, align_corners));
}
CRESSET_ERRORS_OF(grid_sampler, , input, grid, interpolation, padding, align_corners)

CRESSET_OP(grid_sample, , Tensor,
           (const Tensor& input, const Tensor& grid, std::string_view mode, std::string_view padding_mode,
            bool align_corners),
           "input, grid, mode=\"bilinear\", padding_mode=\"zeros\", align_corners=false", Gradient::composed,
           "Samples the input at the grid's positions, from -1 to 1.")
Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode, std::string_view padding_mode,
                   bool align_corners) try {
  CRESSET_INTERCEPT(grid_sample, , Tensor, input, grid, mode, padding_mode, align_corners);
  const int64_t interpolation = mode == "bilinear" ? 0 : mode == "nearest" ? 1 : mode == "bicubic" ? 2 : -1;
  const int64_t padding = padding_mode == "zeros"        ? 0
                          : padding_mode == "border"     ? 1
                          : padding_mode == "reflection" ? 2
                                                         : -1;
  CRESSET_CHECK_AS(ValueError, interpolation >= 0, "grid_sample: expected mode to be 'bilinear', 'nearest' or ",
                   "'bicubic', but got: '", mode, "'");
  CRESSET_CHECK_AS(ValueError, padding >= 0, "grid_sample: expected padding_mode to be 'zeros', 'border', or ",
                   "'reflection', but got: '", padding_mode, "'");
  return grid_sampler(input, grid, interpolation, padding, align_corners);
}
CRESSET_ERRORS_OF(grid_sample, , input, grid, mode, padding_mode, align_corners)

// ---- affine grids
// From -1 to 1; without align_corners these are the ends of the outermost pixels, not their middles.
static Tensor positions(const Tensor& theta, int64_t n, bool align_corners) {
  if (n <= 1) return new_zeros(theta, n);
  Tensor all = linspace(-1, 1, n, theta.options());
  return align_corners ? all : mul(all, static_cast<double>(n - 1) / static_cast<double>(n));
}
CRESSET_OP(affine_grid_generator, , Tensor, (const Tensor& theta, IntArrayRef size, bool align_corners),
           "theta, size, align_corners", Gradient::composed, "The grid by which grid_sample applies affine maps.")
Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) try {
  CRESSET_INTERCEPT(affine_grid_generator, , Tensor, theta, size, align_corners);
  const int64_t rank = static_cast<int64_t>(size.size()) - 2;
  CRESSET_CHECK_AS(
      ShapeError, rank == 2 || rank == 3,
      "affine_grid_generator: AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs, found size ",
      text_of(size));
  CRESSET_CHECK_AS(TypeError, theta.is_floating_point(), "affine_grid_generator: not implemented for '",
                   toString(theta.dtype()), "' (expected floating point theta)");
  const Dims wanted{size[0], rank, rank + 1};
  CRESSET_CHECK_AS(ShapeError, theta.sizes() == IntArrayRef(wanted), "affine_grid_generator: Expected a batch of ",
                   rank == 2 ? "2D" : "3D", " affine matrices of shape ", text_of(wanted), " for size ", text_of(size),
                   ". Got ", text_of(theta.sizes()), ".");
  const Dims space(size.slice(2));
  std::vector<Tensor> parts;
  for (int64_t axis = rank - 1; axis >= 0; axis--) {
    Dims shape = Dims::filled(static_cast<int>(rank), 1);
    const int64_t n = space[static_cast<int>(axis)];
    shape[static_cast<int>(axis)] = n;
    parts.push_back(expand(reshape(positions(theta.detach(), n, align_corners), shape), space));
  }
  parts.push_back(expand(new_ones(theta.detach(), {}), space));
  Tensor base = reshape(stack(parts, -1), {1, space.product(), rank + 1});
  Tensor grid = bmm(expand(base, {size[0], space.product(), rank + 1}), transpose(theta, 1, 2));
  Dims sizes{size[0]};
  for (int64_t n : space) sizes.push_back(n);
  sizes.push_back(rank);
  return reshape(grid, sizes);
}
CRESSET_ERRORS_OF(affine_grid_generator, , theta, size, align_corners)

// ---- shuffles
// A permuted view made into a tensor of its own.
static Tensor copied(const Tensor& x, IntArrayRef sizes) { return reshape(clone(x, MemoryFormat::Contiguous), sizes); }
static Dims leading_sizes(const Tensor& x) { return Dims(x.sizes().slice(0, static_cast<size_t>(x.dim() - 3))); }

CRESSET_OP(pixel_shuffle, , Tensor, (const Tensor& self, int64_t upscale_factor), "input, upscale_factor",
           Gradient::composed, "Moves channels into space: [.., C * r * r, H, W] to [.., C, H * r, W * r].")
Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) try {
  CRESSET_INTERCEPT(pixel_shuffle, , Tensor, self, upscale_factor);
  const int64_t r = upscale_factor;
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 3,
                   "pixel_shuffle: pixel_shuffle expects input to have at least 3 dimensions, but got input with ",
                   self.dim(), " dimension(s)");
  CRESSET_CHECK_AS(ValueError, r > 0, "pixel_shuffle: pixel_shuffle expects a positive upscale_factor, but got ", r);
  const int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1);
  const int64_t square = checked_product("pixel_shuffle", {r, r});
  CRESSET_CHECK_AS(ShapeError, c % square == 0,
                   "pixel_shuffle: pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
                   "of upscale_factor, but input.size(-3)=",
                   c, " is not divisible by ", square);
  Dims lead = leading_sizes(self), order, apart = lead, together = lead;
  const int64_t n = lead.rank();
  for (int64_t i = 0; i < n; i++) order.push_back(i);
  for (int64_t i : {int64_t{0}, int64_t{3}, int64_t{1}, int64_t{4}, int64_t{2}}) order.push_back(n + i);
  for (int64_t size : {c / square, r, r, h, w}) apart.push_back(size);
  for (int64_t size : {c / square, checked_product("pixel_shuffle", {h, r}), checked_product("pixel_shuffle", {w, r})})
    together.push_back(size);
  return copied(permute(reshape(self, apart), order), together);
}
CRESSET_ERRORS_OF(pixel_shuffle, , self, upscale_factor)

CRESSET_OP(pixel_unshuffle, , Tensor, (const Tensor& self, int64_t downscale_factor), "input, downscale_factor",
           Gradient::composed, "Moves space into channels: [.., C, H * r, W * r] to [.., C * r * r, H, W].")
Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) try {
  CRESSET_INTERCEPT(pixel_unshuffle, , Tensor, self, downscale_factor);
  const int64_t r = downscale_factor;
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 3,
                   "pixel_unshuffle: pixel_unshuffle expects input to have at least 3 dimensions, but got input with ",
                   self.dim(), " dimension(s)");
  CRESSET_CHECK_AS(ValueError, r > 0, "pixel_unshuffle: pixel_unshuffle expects a positive downscale_factor, but got ",
                   r);
  const int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1);
  CRESSET_CHECK_AS(ShapeError, h % r == 0 && w % r == 0,
                   "pixel_unshuffle: pixel_unshuffle expects height and width to be divisible by downscale_factor, but "
                   "found ",
                   h, " x ", w, " and ", r);
  Dims lead = leading_sizes(self), order, apart = lead, together = lead;
  const int64_t n = lead.rank();
  for (int64_t i = 0; i < n; i++) order.push_back(i);
  for (int64_t i : {int64_t{0}, int64_t{2}, int64_t{4}, int64_t{1}, int64_t{3}}) order.push_back(n + i);
  for (int64_t size : {c, h / r, r, w / r, r}) apart.push_back(size);
  for (int64_t size : {checked_product("pixel_unshuffle", {c, r, r}), h / r, w / r}) together.push_back(size);
  return copied(permute(reshape(self, apart), order), together);
}
CRESSET_ERRORS_OF(pixel_unshuffle, , self, downscale_factor)

CRESSET_OP(channel_shuffle, , Tensor, (const Tensor& self, int64_t groups), "input, groups", Gradient::composed,
           "Deals the channels of each group out in turn.")
Tensor channel_shuffle(const Tensor& self, int64_t groups) try {
  CRESSET_INTERCEPT(channel_shuffle, , Tensor, self, groups);
  CRESSET_CHECK_AS(ShapeError, self.dim() > 2,
                   "channel_shuffle: channel_shuffle expects input with > 2 dims, but got input with sizes ",
                   text_of(self.sizes()));
  CRESSET_CHECK_AS(
      ValueError, groups > 0,
      "channel_shuffle: Number of groups to divide channels in must be positive. Value of groups:", groups);
  CRESSET_CHECK_AS(ShapeError, self.size(1) % groups == 0,
                   "channel_shuffle: Number of channels must be divisible by groups. Got ", self.size(1),
                   " channels and ", groups, " groups.");
  Dims apart{self.size(0), groups, self.size(1) / groups};
  for (int64_t i = 2; i < self.dim(); i++) apart.push_back(self.size(i));
  return copied(transpose(reshape(self, apart), 1, 2), self.sizes()).contiguous(self.suggest_memory_format());
}
CRESSET_ERRORS_OF(channel_shuffle, , self, groups)

}  // namespace cresset
