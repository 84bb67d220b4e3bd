// SPIKE. The user's op: shape rule, kernel call, gradient and registration on one screen.
#include "cubed.h"

#include <cresset/ops/forms.h>
#include <cresset/ops/pointwise.h>

namespace user {

using namespace cresset;

static Tensor cubed_into(const Into& into, const Tensor& self) {
  CRESSET_CHECK_AS(TypeError, self.dtype() == kFloat || self.dtype() == kDouble, "cubed: found dtype ",
                   name_of(self.dtype()), " (expected float32 or float64)");
  Tensor y = pointwise_result("cubed", into, {&self}, self.dtype(), self.dtype());
  Tensor kept = preserved(into, self, self.requires_grad());
  cubed_kernel(y, self);
  return differentiable("CubedBackward", into, y, inputs(self), saved(kept),
                        [](const Tensor& g, Wants, const Tensor& x) { return grads(mul(g, mul(mul(x, x), 3))); });
}
CRESSET_FORMS(cubed, , (const Tensor& self), (self), "self", "The third power of each element.")

}  // namespace user
