// arange, linspace and eye: tensors whose values follow from their index.
#include <cmath>

#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"

namespace cresset {
namespace {

DType range_dtype(std::initializer_list<const Scalar*> numbers, const TensorOptions& options) {
  if (options.has_dtype()) return options.dtype();
  for (const Scalar* number : numbers)
    if (!number->isIntegral(true)) return default_dtype();
  return kLong;
}

// In the result's own arithmetic: int64 is exact where doubles are not.
int64_t arange_length(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype) {
  const double first = start.toDouble(), last = end.toDouble(), stride = step.toDouble();
  CRESSET_CHECK_AS(ValueError, std::isfinite(first) && std::isfinite(last), "arange: unsupported range: ", first,
                   " -> ", last, " (expected finite numbers)");
  const bool moves = is_integral(dtype, false) ? step.toLong() != 0 : stride > 0 || stride < 0;
  CRESSET_CHECK_AS(ValueError, moves, "arange: step must be nonzero; found ", step, " for dtype ", name_of(dtype));
  CRESSET_CHECK_AS(ValueError, stride > 0 ? last >= first : last <= first, "arange: found start ", start, ", end ", end,
                   " and step ", step, ": upper bound and larger bound inconsistent with step sign");
  if (dtype == kLong) {
    const __int128 by = step.toLong(), distance = static_cast<__int128>(end.toLong()) - start.toLong();
    const __int128 count = (distance + by - (by > 0 ? 1 : -1)) / by;
    CRESSET_CHECK_AS(ShapeError, count <= INT64_MAX, "arange: invalid size, possible overflow: found start ", start,
                     ", end ", end, " and step ", step);
    return static_cast<int64_t>(count);
  }
  const double count = std::ceil((last - first) / stride);
  CRESSET_CHECK_AS(ShapeError, count >= 0 && count < 9.2e18, "arange: invalid size, possible overflow: ", count,
                   " elements");
  return static_cast<int64_t>(count);
}

Tensor arange_into(const Into& into, const Scalar& start, const Scalar& end, const Scalar& step, DType dtype,
                   Device device) {
  CRESSET_CHECK_AS(TypeError, dtype != kBool && !is_complex(dtype), "arange: found dtype ", name_of(dtype),
                   " (expected a real number type)");
  CRESSET_CHECK_AS(TypeError, !start.isComplex() && !end.isComplex() && !step.isComplex(),
                   "arange: found a complex number (expected real ones)");
  Tensor y = result("arange", into, {arange_length(start, end, step, dtype)}, dtype, device);
  arange_kernel(y, start, step);
  return not_differentiable(into, y);
}

Tensor linspace_into(const Into& into, const Scalar& start, const Scalar& end, int64_t steps, DType dtype,
                     Device device) {
  CRESSET_CHECK_AS(ValueError, steps >= 0, "linspace: number of steps must be non-negative; found ", steps);
  CRESSET_CHECK_AS(TypeError, is_complex(dtype) || (!start.isComplex() && !end.isComplex()),
                   "linspace: found complex bounds for dtype ", name_of(dtype), " (expected a complex dtype)");
  CRESSET_CHECK_AS(TypeError, dtype != kBool, "linspace: found dtype bool (expected a number type)");
  Tensor y = result("linspace", into, {steps}, dtype, device);
  linspace_kernel(y, start, end);
  return not_differentiable(into, y);
}

Tensor eye_into(const Into& into, int64_t n, int64_t m, DType dtype, Device device) {
  CRESSET_CHECK_AS(ShapeError, n >= 0 && m >= 0, "eye: n must be greater or equal to 0, and m too; found ", n, " and ",
                   m);
  Tensor y = result("eye", into, {n, m}, dtype, device);
  eye_kernel(y);
  return not_differentiable(into, y);
}

Tensor finished(Tensor y, const TensorOptions& options) {
  check_strided("creation", options);
  if (options.requires_grad()) y.requires_grad_();
  return y;
}

}  // namespace

CRESSET_OP(arange, , Tensor, (const Scalar& end, const TensorOptions& options), "end, options={}", Gradient::none,
           "0, 1, 2, … below end.")
Tensor arange(const Scalar& end, const TensorOptions& options) try {
  CRESSET_INTERCEPT(arange, , Tensor, end, options);
  return finished(arange_into(Into{}, 0, end, 1, range_dtype({&end}, options), options.device()), options);
}
CRESSET_ERRORS_OF(arange, , end, options)
CRESSET_OP(arange, start, Tensor, (const Scalar& start, const Scalar& end, const TensorOptions& options),
           "start, end, options={}", Gradient::none, "start, start + 1, … below end.")
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) try {
  CRESSET_INTERCEPT(arange, start, Tensor, start, end, options);
  return finished(arange_into(Into{}, start, end, 1, range_dtype({&start, &end}, options), options.device()), options);
}
CRESSET_ERRORS_OF(arange, start, start, end, options)
CRESSET_OP(arange, start_step, Tensor,
           (const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options),
           "start, end, step, options={}", Gradient::none, "start, start + step, … before end.")
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options) try {
  CRESSET_INTERCEPT(arange, start_step, Tensor, start, end, step, options);
  DType dtype = range_dtype({&start, &end, &step}, options);
  return finished(arange_into(Into{}, start, end, step, dtype, options.device()), options);
}
CRESSET_ERRORS_OF(arange, start_step, start, end, step, options)

CRESSET_OP(linspace, , Tensor, (const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options),
           "start, end, steps, options={}", Gradient::none,
           "steps numbers evenly spaced from start to end, both included.")
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options) try {
  CRESSET_INTERCEPT(linspace, , Tensor, start, end, steps, options);
  DType natural = start.isComplex() || end.isComplex() ? to_complex(default_dtype()) : default_dtype();
  return finished(linspace_into(Into{}, start, end, steps, options.dtype_opt().value_or(natural), options.device()),
                  options);
}
CRESSET_ERRORS_OF(linspace, , start, end, steps, options)

CRESSET_OP(eye, , Tensor, (int64_t n, const TensorOptions& options), "n, options={}", Gradient::none,
           "The identity matrix of n rows.")
Tensor eye(int64_t n, const TensorOptions& options) try {
  CRESSET_INTERCEPT(eye, , Tensor, n, options);
  return finished(eye_into(Into{}, n, n, options.dtype(), options.device()), options);
}
CRESSET_ERRORS_OF(eye, , n, options)
CRESSET_OP(eye, m, Tensor, (int64_t n, int64_t m, const TensorOptions& options), "n, m, options={}", Gradient::none,
           "n rows and m columns of zeros with ones on the diagonal.")
Tensor eye(int64_t n, int64_t m, const TensorOptions& options) try {
  CRESSET_INTERCEPT(eye, m, Tensor, n, m, options);
  return finished(eye_into(Into{}, n, m, options.dtype(), options.device()), options);
}
CRESSET_ERRORS_OF(eye, m, n, m, options)

// ---- out forms: out's dtype and device decide
CRESSET_CREATION_OUT(arange, , (const Scalar& end), (end), "end", "0, 1, 2, … below end.", 0, end, 1)
CRESSET_CREATION_OUT(arange, start_step, (const Scalar& start, const Scalar& end, const Scalar& step),
                     (start, end, step), "start, end, step=1", "start, start + step, … before end.", start, end, step)
CRESSET_CREATION_OUT(linspace, , (const Scalar& start, const Scalar& end, int64_t steps), (start, end, steps),
                     "start, end, steps", "steps numbers evenly spaced from start to end, both included.", start, end,
                     steps)
CRESSET_CREATION_OUT(eye, , (int64_t n), (n), "n", "The identity matrix of n rows.", n, n)
CRESSET_CREATION_OUT(eye, m, (int64_t n, int64_t m), (n, m), "n, m",
                     "n rows and m columns of zeros with ones on the diagonal.", n, m)

}  // namespace cresset
