// Windows for short-time transforms.
#include "cresset/ops/forms.h"
#include "cresset/ops/stft.h"

namespace cresset {
namespace {

enum Kind : int64_t { cosines, triangle, kaiser };

Tensor window(const char* op, int64_t length, bool periodic, const TensorOptions& options, Kind kind, double a,
              double b = 0, double c = 0) {
  DType dtype = options.dtype();
  CRESSET_CHECK_AS(TypeError, is_floating_point(dtype), op, ": expects floating point dtypes, got: ", toString(dtype));
  CRESSET_CHECK_AS(ValueError, length >= 0, op, ": requires non-negative window_length, got window_length=", length);
  Tensor y = empty_contiguous({length}, dtype, options.device());
  // One step more, which is not shown, for a periodic window; a single element is 1.
  window_kernel(y, kind, length == 1 ? 0 : periodic ? length : length - 1, a, b, c);
  return options.requires_grad() ? y.requires_grad_() : y;
}

}  // namespace

#define CRESSET_WINDOW(name, overload_name, parameters, arguments, text, doc, ...)                   \
  static const Op& name##overload_name##_op =                                                        \
      define_op(#name, static_cast<Tensor(*) parameters>(&name), text, doc,                          \
                {.overload = #overload_name, .gradient = Gradient::none, .where = Where::function}); \
  Tensor name parameters try {                                                                       \
    CRESSET_INTERCEPT(name, overload_name, Tensor, CRESSET_EXPAND arguments);                        \
    return window(#name, window_length, __VA_ARGS__);                                                \
  }                                                                                                  \
  CRESSET_ERRORS_OF(name, overload_name, CRESSET_EXPAND arguments)
#define CRESSET_TWO_WINDOWS(name, doc, ...)                                                                         \
  CRESSET_WINDOW(name, , (int64_t window_length, const TensorOptions& options), (window_length, options),           \
                 "window_length, options={}", doc, true, options, __VA_ARGS__)                                      \
  CRESSET_WINDOW(name, periodic, (int64_t window_length, bool periodic, const TensorOptions& options),              \
                 (window_length, periodic, options), "window_length, periodic, options={}", doc, periodic, options, \
                 __VA_ARGS__)

CRESSET_TWO_WINDOWS(hann_window, "Hann's window, a raised cosine.", cosines, 0.5, 0.5)
CRESSET_TWO_WINDOWS(hamming_window, "Hamming's window, a cosine raised a little higher.", cosines, 0.54, 0.46)
CRESSET_WINDOW(hamming_window, periodic_alpha,
               (int64_t window_length, bool periodic, double alpha, const TensorOptions& options),
               (window_length, periodic, alpha, options), "window_length, periodic, alpha, options={}",
               "Hamming's window with a mean of one's own.", periodic, options, cosines, alpha, 0.46)
CRESSET_WINDOW(hamming_window, periodic_alpha_beta,
               (int64_t window_length, bool periodic, double alpha, double beta, const TensorOptions& options),
               (window_length, periodic, alpha, beta, options), "window_length, periodic, alpha, beta, options={}",
               "Hamming's window with a mean and a height of one's own.", periodic, options, cosines, alpha, beta)
CRESSET_TWO_WINDOWS(blackman_window, "Blackman's window, of two cosines.", cosines, 0.42, 0.5, 0.08)
CRESSET_TWO_WINDOWS(bartlett_window, "Bartlett's window, a triangle.", triangle, 0)
CRESSET_TWO_WINDOWS(kaiser_window, "Kaiser's window with beta 12.", kaiser, 12)
CRESSET_WINDOW(kaiser_window, beta, (int64_t window_length, bool periodic, double beta, const TensorOptions& options),
               (window_length, periodic, beta, options), "window_length, periodic, beta, options={}",
               "Kaiser's window.", periodic, options, kaiser, beta)

}  // namespace cresset
