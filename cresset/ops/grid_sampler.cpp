// With S_d the samples of x whose weights are differentiated d times, A_d their transpose and e_a one more slope along
// axis a:  grad of S_d by the grid is G_d = sum over channels of g S_{d+e_a}(x), and the gradients of A_d and G_d are
// S, A and G again.
#include "cresset/ops/grid_sampler.h"

#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"

namespace cresset {

Tensor grid_samples(const Tensor& x, const Tensor& grid, const GridSampling& how) {
  Dims sizes{x.size(0), x.size(1)};
  for (int64_t i = 1; i < grid.dim() - 1; i++) sizes.push_back(grid.size(i));
  Tensor y = empty_contiguous(sizes, x.dtype(), x.device());
  grid_sampler_kernel(y, x, grid, how);
  return differentiable(x.dim() == 4 ? "GridSampler2DBackward0" : "GridSampler3DBackward0", y, inputs(x, grid),
                        saved(x, grid), [how](const Tensor& g, Wants wants, const Tensor& x, const Tensor& grid) {
                          return grads(wants(0) ? grid_sampler_input_gradient(g, grid, x.sizes(), how) : Tensor(),
                                       wants(1) ? grid_sampler_grid_gradient(g, x, grid, how) : Tensor());
                        });
}

Tensor grid_sampler_input_gradient(const Tensor& g, const Tensor& grid, IntArrayRef sizes, const GridSampling& how) {
  Tensor dx = empty_contiguous(sizes, g.dtype(), g.device());
  grid_sampler_input_kernel(dx, g, grid, how);
  return differentiable("GridSamplerInputBackward0", dx, inputs(g, grid), saved(g, grid),
                        [how](const Tensor& h, Wants wants, const Tensor& g, const Tensor& grid) {
                          return grads(wants(0) ? grid_samples(h, grid, how) : Tensor(),
                                       wants(1) ? grid_sampler_grid_gradient(g, h, grid, how) : Tensor());
                        });
}

// h has a number per position and axis, which stands before the samples' slopes along that axis.
static Grads grid_gradient_backward(const Tensor& h, Wants wants, const Tensor& g, const Tensor& x, const Tensor& grid,
                                    const GridSampling& how) {
  Tensor dg, dx, dgrid;
  const auto sum = [](Tensor& into, const Tensor& term) { into = into.defined() ? add(into, term) : term; };
  for (int axis = 0; axis < static_cast<int>(x.dim()) - 2; axis++) {
    const GridSampling slope = how.slope_along(axis);
    const Tensor factor = unsqueeze(select(h, -1, axis), 1);
    if (wants(0)) sum(dg, mul(factor, grid_samples(x, grid, slope)));
    if (!wants(1) && !wants(2)) continue;
    const Tensor weighted = mul(factor, g);
    if (wants(1)) sum(dx, grid_sampler_input_gradient(weighted, grid, x.sizes(), slope));
    if (wants(2)) sum(dgrid, grid_sampler_grid_gradient(weighted, x, grid, slope));
  }
  return grads(dg, dx, dgrid);
}

Tensor grid_sampler_grid_gradient(const Tensor& g, const Tensor& x, const Tensor& grid, const GridSampling& how) {
  Tensor dgrid = empty_contiguous(grid.sizes(), grid.dtype(), grid.device());
  grid_sampler_grid_kernel(dgrid, g, x, grid, how);
  return differentiable("GridSamplerGridBackward0", dgrid, inputs(g, x, grid), saved(g, x, grid),
                        [how](const Tensor& h, Wants wants, const Tensor& g, const Tensor& x, const Tensor& grid) {
                          return grid_gradient_backward(h, wants, g, x, grid, how);
                        });
}

}  // namespace cresset
