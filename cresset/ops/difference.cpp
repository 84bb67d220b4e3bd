// Differences of neighbours and integrals over them, composed of slices.
#include "cresset/ops/cat.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/scan.h"
#include "cresset/ops/shape.h"

namespace cresset {

// ---- diff
static Tensor neighbours(const Tensor& x, int64_t dim) {
  int64_t n = x.size(dim) - 1;
  Tensor right = narrow(x, dim, 1, n), left = narrow(x, dim, 0, n);
  if (x.dtype() != kBool) return sub(right, left);
  return sub(right.to(kChar), left.to(kChar)).to(kBool);  // whether they differ
}
static Tensor diff_of(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 1,
                   "diff expects input to be at least one-dimensional, found a 0-d tensor");
  CRESSET_CHECK(n >= 0, "diff: order must be non-negative but got ", n);
  dim = wrap_dim("diff", dim, self);
  Tensor x = self;
  for (const Tensor* more : {&prepend, &append}) {
    if (!more->defined()) continue;
    CRESSET_CHECK_AS(ShapeError, more->dim() == self.dim(),
                     "diff expects prepend or append to be the same dimension as input, found shapes ",
                     text_of(more->sizes()), " and ", text_of(self.sizes()));
    for (int64_t i = 0; i < self.dim(); i++)
      CRESSET_CHECK_AS(ShapeError, i == dim || more->size(i) == self.size(i),
                       "diff expects the shape of tensor to prepend or append to match that of input except along the "
                       "differencing dimension, found ",
                       text_of(more->sizes()), " and ", text_of(self.sizes()));
  }
  if (n == 0) return clone(self, MemoryFormat::Contiguous);  // without what would be put before and after
  if (prepend.defined() && append.defined())
    x = cat({prepend, self, append}, dim);
  else if (prepend.defined() || append.defined())
    x = prepend.defined() ? cat({prepend, self}, dim) : cat({self, append}, dim);
  n = std::min(n, x.size(dim));
  for (int64_t i = 0; i < n; i++) x = neighbours(x, dim);
  return x;
}
static Tensor diff_into(const Into& into, const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend,
                        const Tensor& append) {
  Tensor y = diff_of(self, n, dim, prepend, append);
  if (into.fresh()) return y;
  Tensor out = result("diff", into, y.sizes(), y.dtype(), y.device(), {&self});
  return copy_(out, y);
}
CRESSET_FORMS_OUT_OF(Gradient::composed, diff, ,
                     (const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append),
                     (self, n, dim, prepend, append), "self, n=1, dim=-1, prepend={}, append={}",
                     "The differences of neighbours along a dimension, n times.")

// ---- trapezoid, cumulative_trapezoid
namespace {
void check_numbers(const char* op, const Tensor& y) {
  CRESSET_CHECK_AS(TypeError, y.dtype() != kBool, op,
                   ": received a bool input for `x` or `y`, but bool is not supported");
}
Tensor between(const Tensor& y, int64_t dim) {  // sums of neighbours
  int64_t n = y.size(dim) - 1;
  return add(narrow(y, dim, 0, n), narrow(y, dim, 1, n));
}
// The distances of the places x, in a shape that goes with y.
Tensor steps(const char* op, const Tensor& x, const Tensor& y, int64_t dim) {
  Tensor places = x;
  int64_t along = dim - (y.dim() - x.dim());
  if (x.dim() == 1) {
    CRESSET_CHECK_AS(ShapeError, x.size(0) == y.size(dim), op,
                     ": There must be one `x` value for each sample point, found ", x.size(0), " for ", y.size(dim));
    Dims sizes = Dims::filled(static_cast<int>(y.dim()), 1);
    sizes[static_cast<int>(dim)] = x.size(0);
    places = reshape(x, sizes);
    along = dim;
  } else {
    CRESSET_CHECK_AS(ShapeError, along >= 0, op, ": x of shape ", text_of(x.sizes()), " has no dimension ", dim,
                     " of y's shape ", text_of(y.sizes()));
  }
  int64_t n = places.size(along) - 1;
  return sub(narrow(places, along, 1, n), narrow(places, along, 0, n));
}
Tensor nothing_along(const Tensor& y, int64_t dim) {
  Dims sizes;
  for (int i = 0; i < y.dim(); i++)
    if (i != dim) sizes.push_back(y.size(i));
  return y.new_zeros(sizes);
}
void check_step(const char* op, const Scalar& dx) {
  CRESSET_CHECK_AS(TypeError, !dx.isComplex() && !dx.isBoolean(), op,
                   ": Currently, we only support dx as a real number.");
}
}  // namespace

CRESSET_OP(trapezoid, x, Tensor, (const Tensor& y, const Tensor& x, int64_t dim), "y, x, dim=-1", Gradient::composed,
           "The integral of y over x along a dimension, by the trapezoidal rule.")
Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) try {
  CRESSET_INTERCEPT(trapezoid, x, Tensor, y, x, dim);
  check_numbers("trapezoid", y), check_numbers("trapezoid", x), check_same_device("trapezoid", y, x);
  dim = wrap_dim("trapezoid", dim, y);
  if (y.size(dim) == 0) return nothing_along(y, dim);
  return div(sum(mul(steps("trapezoid", x, y, dim), between(y, dim)), dim), 2.0);
}
CRESSET_ERRORS_OF(trapezoid, x, y, x, dim)
CRESSET_OP(trapezoid, dx, Tensor, (const Tensor& y, const Scalar& dx, int64_t dim), "y, dx=1, dim=-1",
           Gradient::composed, "The integral of y along a dimension, by the trapezoidal rule with steps dx.")
Tensor trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) try {
  CRESSET_INTERCEPT(trapezoid, dx, Tensor, y, dx, dim);
  check_numbers("trapezoid", y), check_step("trapezoid", dx);
  dim = wrap_dim("trapezoid", dim, y);
  if (y.size(dim) == 0) return nothing_along(y, dim);
  Tensor ends = add(select(y, dim, 0), select(y, dim, -1));
  return mul(sub(sum(y, dim), mul(ends, 0.5)), dx.toDouble());
}
CRESSET_ERRORS_OF(trapezoid, dx, y, dx, dim)

CRESSET_OP(cumulative_trapezoid, x, Tensor, (const Tensor& y, const Tensor& x, int64_t dim), "y, x, dim=-1",
           Gradient::composed, "The integral of y over x up to each place, by the trapezoidal rule.")
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) try {
  CRESSET_INTERCEPT(cumulative_trapezoid, x, Tensor, y, x, dim);
  check_numbers("cumulative_trapezoid", y), check_numbers("cumulative_trapezoid", x);
  check_same_device("cumulative_trapezoid", y, x);
  dim = wrap_dim("cumulative_trapezoid", dim, y);
  return div(cumsum(mul(steps("cumulative_trapezoid", x, y, dim), between(y, dim)), dim), 2.0);
}
CRESSET_ERRORS_OF(cumulative_trapezoid, x, y, x, dim)
CRESSET_OP(cumulative_trapezoid, dx, Tensor, (const Tensor& y, const Scalar& dx, int64_t dim), "y, dx=1, dim=-1",
           Gradient::composed, "The integral of y up to each place, by the trapezoidal rule with steps dx.")
Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) try {
  CRESSET_INTERCEPT(cumulative_trapezoid, dx, Tensor, y, dx, dim);
  check_numbers("cumulative_trapezoid", y), check_step("cumulative_trapezoid", dx);
  dim = wrap_dim("cumulative_trapezoid", dim, y);
  return cumsum(mul(between(y, dim), dx.toDouble() / 2), dim);
}
CRESSET_ERRORS_OF(cumulative_trapezoid, dx, y, dx, dim)

}  // namespace cresset
