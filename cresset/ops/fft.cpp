// Fourier transforms from three linear primitives, each of which has another as its gradient. What is real-valued in
// several dimensions is real along the last and complex along the others.
#include "cresset/ops/fft.h"

#include <cmath>

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/fft_forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

enum class Direction : uint8_t { forward, inverse };

// The factor of a transform over n elements.
double factor(const char* op, const FftNorm& norm, Direction direction, int64_t n) {
  std::string_view mode = norm.value_or("backward");
  double count = static_cast<double>(n);
  if (mode == "ortho") return 1 / std::sqrt(count);
  CRESSET_CHECK_AS(ValueError, mode == "backward" || mode == "forward", op, ": Invalid normalization mode: \"", mode,
                   "\" (expected \"backward\", \"forward\" or \"ortho\")");
  return (mode == "forward") == (direction == Direction::forward) ? 1 / count : 1;
}

void scale_result(const Tensor& y, double scale) {
  if (scale != 1) mul_kernel(y, y, wrapped_number(scale), y.dtype());
}

// ---- primitives
Tensor c2c(const Tensor& x, IntArrayRef dims, Direction direction, double scale) {
  Tensor y = empty_contiguous(x.sizes(), x.dtype(), x.device());
  fft_c2c_kernel(y, x, dims, direction == Direction::inverse);
  scale_result(y, scale);
  return differentiable("FftC2CBackward0", y, inputs(x), saved(),
                        [dims = KeptDims(dims), direction, scale](const Tensor& g, Wants) {
                          Direction back = direction == Direction::forward ? Direction::inverse : Direction::forward;
                          return grads(c2c(g, dims, back, scale));
                        });
}

// Along dim: 1 at frequency 0 (and n / 2), `inside` between. How often each element of the half stands in the whole.
Tensor weights_of_half(const Tensor& like, int64_t dim, int64_t n, double inside) {
  int64_t half = n / 2 + 1;
  Tensor weights = full({half}, inside, TensorOptions(to_real(like.dtype())).device(like.device()));
  fill_(narrow(weights, 0, 0, 1), 1);
  if (n % 2 == 0) fill_(narrow(weights, 0, half - 1, 1), 1);
  Dims sizes = Dims::filled(static_cast<int>(like.dim()), 1);
  sizes[static_cast<int>(dim)] = half;
  return reshape(weights, sizes);
}

Tensor c2r(const Tensor& x, int64_t dim, int64_t n, double scale);

Tensor r2c(const Tensor& x, int64_t dim, double scale) {
  Dims sizes = x.sizes();
  int64_t n = x.size(dim);
  sizes[static_cast<int>(dim)] = n / 2 + 1;
  Tensor y = empty_contiguous(sizes, to_complex(x.dtype()), x.device());
  fft_r2c_kernel(y, x, dim);
  scale_result(y, scale);
  return differentiable("FftR2CBackward0", y, inputs(x), saved(), [dim, n, scale](const Tensor& g, Wants) {
    return grads(c2r(mul(g, weights_of_half(g, dim, n, 0.5)), dim, n, scale));
  });
}
Tensor c2r(const Tensor& x, int64_t dim, int64_t n, double scale) {
  Dims sizes = x.sizes();
  sizes[static_cast<int>(dim)] = n;
  Tensor y = empty_contiguous(sizes, to_real(x.dtype()), x.device());
  fft_c2r_kernel(y, x, dim);
  scale_result(y, scale);
  return differentiable("FftC2RBackward0", y, inputs(x), saved(), [dim, n, scale](const Tensor& g, Wants) {
    Tensor half = r2c(g, dim, scale);
    return grads(mul(half, weights_of_half(half, dim, n, 2)));
  });
}

// ---- arguments
// Integers become the default dtype.
Tensor promoted(const char* op, const Tensor& x, bool to_complex_type) {
  DType type = is_integral(x.dtype(), true) ? default_dtype() : x.dtype();
  CRESSET_CHECK_AS(TypeError, type != kHalf && type != kBFloat16, op, ": Unsupported dtype ", toString(type),
                   " (expected float, double or a complex type)");
  if (to_complex_type) type = to_complex(type);
  return x.to(type);
}
Tensor real_input(const char* op, const Tensor& x) {
  CRESSET_CHECK_AS(TypeError, !x.is_complex(), op, ": expects a real input tensor, but got ", toString(x.dtype()));
  return promoted(op, x, false);
}

// Cut, or filled with zeros, to n elements.
Tensor resized(const Tensor& x, int64_t dim, int64_t n) {
  int64_t have = x.size(dim);
  if (n == have) return x;
  if (n < have) return narrow(x, dim, 0, n);
  Dims sizes = x.sizes();
  sizes[static_cast<int>(dim)] = n - have;
  return cat({x, new_zeros(x, sizes)}, dim);
}
int64_t checked_dim(const char* op, int64_t dim, const Tensor& x) {
  CRESSET_CHECK_AS(IndexError, x.dim() > 0, op, ": Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(op, dim, x);
}
void check_points(const char* op, int64_t n) {
  CRESSET_CHECK_AS(ValueError, n >= 1, op, ": Invalid number of data points (", n, ") specified");
}

// ---- along one dimension
Tensor one_c2c(const char* op, const Tensor& self, std::optional<int64_t> n, int64_t dim, const FftNorm& norm,
               Direction direction) {
  Tensor x = promoted(op, self, true);
  dim = checked_dim(op, dim, x);
  int64_t points = n.value_or(x.size(dim));
  check_points(op, points);
  return c2c(resized(x, dim, points), {dim}, direction, factor(op, norm, direction, points));
}
Tensor one_r2c(const char* op, const Tensor& self, std::optional<int64_t> n, int64_t dim, const FftNorm& norm,
               Direction direction) {
  Tensor x = real_input(op, self);
  dim = checked_dim(op, dim, x);
  int64_t points = n.value_or(x.size(dim));
  check_points(op, points);
  Tensor y = r2c(resized(x, dim, points), dim, factor(op, norm, direction, points));
  return direction == Direction::inverse ? conj(y) : y;
}
Tensor one_c2r(const char* op, const Tensor& self, std::optional<int64_t> n, int64_t dim, const FftNorm& norm,
               Direction direction) {
  Tensor x = promoted(op, self, true);
  dim = checked_dim(op, dim, x);
  int64_t points = n.value_or(2 * (x.size(dim) - 1));
  check_points(op, points);
  x = resized(x, dim, points / 2 + 1);
  return c2r(direction == Direction::forward ? conj(x) : x, dim, points, factor(op, norm, direction, points));
}

// ---- over several
struct Shape {
  Dims dims, sizes;  // as they will be transformed
  int64_t count() const { return sizes.product(); }
};
// `half`: self is the complex side of a real transform, whose last size is about twice that.
Shape shape_of(const char* op, const Tensor& x, const FftSizes& s, const FftSizes& dim, bool half) {
  Shape shape;
  int rank = static_cast<int>(x.dim());
  if (dim) {
    uint64_t seen = 0;
    for (int64_t d : *dim) {
      int wrapped = static_cast<int>(checked_dim(op, d, x));
      CRESSET_CHECK_AS(ShapeError, !(seen >> wrapped & 1), op, ": FFT dims must be unique, found ", text_of(*dim));
      seen |= uint64_t{1} << wrapped;
      shape.dims.push_back(wrapped);
    }
    CRESSET_CHECK_AS(ShapeError, !s || s->size() == dim->size(), op,
                     ": When given, dim and shape arguments must have the same length, found ", text_of(*dim), " and ",
                     text_of(s.value_or(IntArrayRef())));
  } else {
    int count = s ? static_cast<int>(s->size()) : rank;
    CRESSET_CHECK_AS(ShapeError, count <= rank, op, ": Got shape with ", count, " values but input tensor only has ",
                     rank, " dimensions.");
    for (int i = rank - count; i < rank; i++) shape.dims.push_back(i);
  }
  for (int i = 0; i < shape.dims.rank(); i++) {
    int64_t n = s ? (*s)[static_cast<size_t>(i)] : -1, have = x.size(shape.dims[i]);
    bool last = i + 1 == shape.dims.rank();
    if (n == -1) n = half && last ? 2 * (have - 1) : have;
    check_points(op, n);
    shape.sizes.push_back(n);
  }
  return shape;
}
Tensor resized_all(Tensor x, const Shape& shape, bool half) {
  for (int i = 0; i < shape.dims.rank(); i++) {
    bool last = i + 1 == shape.dims.rank();
    x = resized(x, shape.dims[i], half && last ? shape.sizes[i] / 2 + 1 : shape.sizes[i]);
  }
  return x;
}
IntArrayRef but_last(const Dims& dims) { return IntArrayRef(dims).slice(0, static_cast<size_t>(dims.rank()) - 1); }
void check_some(const char* op, const Shape& shape) {
  CRESSET_CHECK_AS(ShapeError, !shape.dims.empty(), op, ": must transform at least one axis");
}

Tensor many_c2c(const char* op, const Tensor& self, const FftSizes& s, const FftSizes& dim, const FftNorm& norm,
                Direction direction) {
  Tensor x = promoted(op, self, true);
  Shape shape = shape_of(op, x, s, dim, false);
  double scale = factor(op, norm, direction, shape.count());
  if (shape.dims.empty()) return clone(x);
  return c2c(resized_all(x, shape, false), shape.dims, direction, scale);
}
// Inverse: ihfftn, whose complex dimensions are transformed with the other sign.
Tensor many_r2c(const char* op, const Tensor& self, const FftSizes& s, const FftSizes& dim, const FftNorm& norm,
                Direction direction) {
  Tensor x = real_input(op, self);
  Shape shape = shape_of(op, x, s, dim, false);
  check_some(op, shape);
  Tensor y = r2c(resized_all(x, shape, false), shape.dims.back(), factor(op, norm, direction, shape.count()));
  if (direction == Direction::inverse) y = conj(y);
  return shape.dims.rank() == 1 ? y : c2c(y, but_last(shape.dims), direction, 1);
}
Tensor many_c2r(const char* op, const Tensor& self, const FftSizes& s, const FftSizes& dim, const FftNorm& norm,
                Direction direction) {
  Tensor x = promoted(op, self, true);
  Shape shape = shape_of(op, x, s, dim, true);
  check_some(op, shape);
  x = resized_all(x, shape, true);
  if (shape.dims.rank() > 1) x = c2c(x, but_last(shape.dims), direction, 1);
  if (direction == Direction::forward) x = conj(x);
  return c2r(x, shape.dims.back(), shape.sizes.back(), factor(op, norm, direction, shape.count()));
}

}  // namespace

// ---- the ops
#define CRESSET_FFT_ONE(name, kind, direction, doc)                                                    \
  static Tensor name##_made(const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm) { \
    return one_##kind(#name, self, n, dim, norm, Direction::direction);                                \
  }                                                                                                    \
  CRESSET_FFT_FORMS(name, (const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm),   \
                    (self, n, dim, norm), "self, n=std::nullopt, dim=-1, norm=std::nullopt", doc)
CRESSET_FFT_ONE(fft_fft, c2c, forward, "The discrete Fourier transform along dim.")
CRESSET_FFT_ONE(fft_ifft, c2c, inverse, "The inverse discrete Fourier transform along dim.")
CRESSET_FFT_ONE(fft_rfft, r2c, forward, "The Fourier transform of real numbers: frequencies from 0 to n / 2.")
CRESSET_FFT_ONE(fft_irfft, c2r, inverse, "The inverse of rfft: n real numbers.")
CRESSET_FFT_ONE(fft_hfft, c2r, forward, "The real Fourier transform of a Hermitian signal, given by its half.")
CRESSET_FFT_ONE(fft_ihfft, r2c, inverse, "The inverse of hfft.")

#define CRESSET_FFT_MANY(one, base, kind, direction, doc)                                                           \
  static Tensor base##n_made(const Tensor& self, FftSizes s, FftSizes dim, FftNorm norm) {                          \
    return many_##kind(one "n", self, s, dim, norm, Direction::direction);                                          \
  }                                                                                                                 \
  CRESSET_FFT_FORMS(base##n, (const Tensor& self, FftSizes s, FftSizes dim, FftNorm norm), (self, s, dim, norm),    \
                    "self, s=std::nullopt, dim=std::nullopt, norm=std::nullopt", doc " over several dimensions.")   \
  static Tensor base##2_made(const Tensor& self, FftSizes s, IntArrayRef dim, FftNorm norm) {                       \
    return many_##kind(one "2", self, s, dim, norm, Direction::direction);                                          \
  }                                                                                                                 \
  CRESSET_FFT_FORMS(base##2, (const Tensor& self, FftSizes s, IntArrayRef dim, FftNorm norm), (self, s, dim, norm), \
                    "self, s=std::nullopt, dim={-2, -1}, norm=std::nullopt", doc " over two dimensions.")
CRESSET_FFT_MANY("fft_fft", fft_fft, c2c, forward, "The discrete Fourier transform")
CRESSET_FFT_MANY("fft_ifft", fft_ifft, c2c, inverse, "The inverse discrete Fourier transform")
CRESSET_FFT_MANY("fft_rfft", fft_rfft, r2c, forward, "The Fourier transform of real numbers")
CRESSET_FFT_MANY("fft_irfft", fft_irfft, c2r, inverse, "The inverse Fourier transform to real numbers")
CRESSET_FFT_MANY("fft_hfft", fft_hfft, c2r, forward, "The real Fourier transform of a Hermitian signal")
CRESSET_FFT_MANY("fft_ihfft", fft_ihfft, r2c, inverse, "The inverse of hfft")

// ---- frequencies
static TensorOptions frequency_options(const char* op, const TensorOptions& options) {
  CRESSET_CHECK_AS(TypeError, is_differentiable(options.dtype()), op, ": requires a floating point or complex dtype, ",
                   "found ", name_of(options.dtype()));
  return options;
}
static const Op& fft_fftfreq_op = define_op("fft_fftfreq", &fft_fftfreq, "n, d=1.0, options={}",
                                            "The frequencies of fft's elements, the negative ones last.",
                                            {.gradient = Gradient::none, .where = Where::function});
Tensor fft_fftfreq(int64_t n, double d, const TensorOptions& options) try {
  CRESSET_INTERCEPT(fft_fftfreq, , Tensor, n, d, options);
  TensorOptions made = frequency_options("fft_fftfreq", options).requires_grad(false);
  NoGradGuard constant;
  Tensor bins = cat({arange(0, (n + 1) / 2, made), arange(-(n / 2), 0, made)});
  Tensor y = mul(bins, 1.0 / (static_cast<double>(n) * d));
  return options.requires_grad() ? y.requires_grad_() : y;
}
CRESSET_ERRORS_OF(fft_fftfreq, , n, d, options)
static Tensor fft_fftfreq_into(const Into& into, int64_t n, double d, DType dtype, Device device) {
  return copied_into("fft_fftfreq", into, fft_fftfreq(n, d, TensorOptions(dtype).device(device)), {});
}
CRESSET_CREATION_OUT(fft_fftfreq, , (int64_t n, double d), (n, d), "n, d=1.0",
                     "The frequencies of fft's elements, the negative ones last.", n, d)
static const Op& fft_rfftfreq_op =
    define_op("fft_rfftfreq", &fft_rfftfreq, "n, d=1.0, options={}", "The frequencies of rfft's elements.",
              {.gradient = Gradient::none, .where = Where::function});
Tensor fft_rfftfreq(int64_t n, double d, const TensorOptions& options) try {
  CRESSET_INTERCEPT(fft_rfftfreq, , Tensor, n, d, options);
  TensorOptions made = frequency_options("fft_rfftfreq", options).requires_grad(false);
  NoGradGuard constant;
  Tensor y = mul(arange(0, n / 2 + 1, made), 1.0 / (static_cast<double>(n) * d));
  return options.requires_grad() ? y.requires_grad_() : y;
}
CRESSET_ERRORS_OF(fft_rfftfreq, , n, d, options)
static Tensor fft_rfftfreq_into(const Into& into, int64_t n, double d, DType dtype, Device device) {
  return copied_into("fft_rfftfreq", into, fft_rfftfreq(n, d, TensorOptions(dtype).device(device)), {});
}
CRESSET_CREATION_OUT(fft_rfftfreq, , (int64_t n, double d), (n, d), "n, d=1.0", "The frequencies of rfft's elements.",
                     n, d)

// The first `shift(n)` elements of each dimension come behind the others.
template <class Shift>
static Tensor rotated(const char* op, const Tensor& self, const FftSizes& dim, const Shift& shift) {
  Tensor y = self;
  Dims dims;
  if (dim)
    for (int64_t d : *dim) dims.push_back(checked_dim(op, d, self));
  else
    for (int i = 0; i < self.dim(); i++) dims.push_back(i);
  for (int64_t d : dims) {
    int64_t n = y.size(d), first = shift(n);
    y = cat({narrow(y, d, first, n - first), narrow(y, d, 0, first)}, d);
  }
  return y.is_same(self) ? clone(self) : y;
}
static const Op& fft_fftshift_op =
    define_op("fft_fftshift", &fft_fftshift, "self, dim=std::nullopt", "Brings frequency 0 into the middle.",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor fft_fftshift(const Tensor& self, FftSizes dim) try {
  CRESSET_INTERCEPT(fft_fftshift, , Tensor, self, dim);
  return rotated("fft_fftshift", self, dim, [](int64_t n) { return (n + 1) / 2; });
}
CRESSET_ERRORS_OF(fft_fftshift, , self, dim)
static const Op& fft_ifftshift_op =
    define_op("fft_ifftshift", &fft_ifftshift, "self, dim=std::nullopt", "The inverse of fftshift.",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor fft_ifftshift(const Tensor& self, FftSizes dim) try {
  CRESSET_INTERCEPT(fft_ifftshift, , Tensor, self, dim);
  return rotated("fft_ifftshift", self, dim, [](int64_t n) { return n / 2; });
}
CRESSET_ERRORS_OF(fft_ifftshift, , self, dim)

}  // namespace cresset
