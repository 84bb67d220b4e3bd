// Pools by the p-norm of a window: powers, their sum by way of the mean pool, and the root.
#include "cresset/ops/lp_pool.h"

#include "cresset/ops/pointwise.h"
#include "cresset/ops/pool.h"
#include "cresset/ops/pool_shape.h"
#include "cresset/ops/power.h"

namespace cresset {
namespace {

void check_norm(const char* op, const Tensor& self, const Scalar& norm_type) {
  CRESSET_CHECK_AS(TypeError, is_floating_point(self.dtype()), op, ": not implemented for '", toString(self.dtype()),
                   "'");
  CRESSET_CHECK_AS(ValueError, norm_type.toDouble() != 0, op, ": found norm_type 0 (expected another number)");
}

}  // namespace

static const Op& lp_pool1d_op =
    define_op("lp_pool1d", &lp_pool1d, "self, norm_type, kernel_size, stride={}, ceil_mode=false",
              "The p-norm of each window, p being norm_type.", {.where = Where::function});
Tensor lp_pool1d(const Tensor& self, const Scalar& norm_type, IntArrayRef kernel_size, IntArrayRef stride,
                 bool ceil_mode) try {
  CRESSET_INTERCEPT(lp_pool1d, , Tensor, self, norm_type, kernel_size, stride, ceil_mode);
  check_norm("lp_pool1d", self, norm_type);
  const double p = norm_type.toDouble();
  Tensor mean = avg_pool1d(pow(self, p), kernel_size, stride, 0, ceil_mode);
  return pow(mul(mean, kernel_size[0]), 1 / p);
}
CRESSET_ERRORS_OF(lp_pool1d, , self, norm_type, kernel_size, stride, ceil_mode)

static const Op& lp_pool2d_op =
    define_op("lp_pool2d", &lp_pool2d, "self, norm_type, kernel_size, stride={}, ceil_mode=false",
              "The p-norm of each window, p being norm_type.", {.where = Where::function});
Tensor lp_pool2d(const Tensor& self, const Scalar& norm_type, IntArrayRef kernel_size, IntArrayRef stride,
                 bool ceil_mode) try {
  CRESSET_INTERCEPT(lp_pool2d, , Tensor, self, norm_type, kernel_size, stride, ceil_mode);
  check_norm("lp_pool2d", self, norm_type);
  const double p = norm_type.toDouble();
  Tensor mean = avg_pool2d(pow(self, p), kernel_size, stride, 0, ceil_mode);
  return pow(mul(mean, kernel_size.front() * kernel_size.back()), 1 / p);
}
CRESSET_ERRORS_OF(lp_pool2d, , self, norm_type, kernel_size, stride, ceil_mode)

}  // namespace cresset
