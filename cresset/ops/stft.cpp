// stft and istft from frames, windows and Fourier transforms. Cutting into frames and adding them up are each other's
// gradient.
#include "cresset/ops/stft.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/checked.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/complex.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/fft.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/index.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/tensor_literal.h"

namespace cresset {
namespace {

Tensor overlap_add(const Tensor& frames, int64_t length, int64_t hop);

Tensor framed(const Tensor& x, int64_t count, int64_t size, int64_t hop) {
  Tensor y = empty_contiguous({x.size(0), count, size}, x.dtype(), x.device());
  frames_kernel(y, x, hop);
  return differentiable("UnfoldBackward0", y, inputs(x), saved(), [length = x.size(1), hop](const Tensor& g, Wants) {
    return grads(overlap_add(g, length, hop));
  });
}
Tensor overlap_add(const Tensor& frames, int64_t length, int64_t hop) {
  Tensor y = empty_contiguous({frames.size(0), length}, frames.dtype(), frames.device());
  overlap_add_kernel(y, frames, hop);
  return differentiable("OverlapAddBackward0", y, inputs(frames), saved(),
                        [count = frames.size(1), size = frames.size(2), hop](const Tensor& g, Wants) {
                          return grads(framed(g, count, size, hop));
                        });
}

// [B, L] with `by` elements more at each end.
Tensor padded(const Tensor& x, int64_t by, std::string_view mode) {
  int64_t n = x.size(1);
  if (mode == "constant") return cat({new_zeros(x, {x.size(0), by}), x, new_zeros(x, {x.size(0), by})}, 1);
  bool reflect = mode == "reflect", circular = mode == "circular";
  CRESSET_CHECK_AS(ValueError, reflect || circular || mode == "replicate", "stft: found pad_mode \"", mode,
                   "\" (expected \"constant\", \"reflect\", \"replicate\" or \"circular\")");
  CRESSET_CHECK_AS(ShapeError,
                   reflect    ? by < n
                   : circular ? by <= n
                              : n > 0,
                   "stft: Padding size should be less than the corresponding input dimension, but got: padding (", by,
                   ", ", by, ") at dimension 1 of input ", text_of(x.sizes()));
  std::vector<int64_t> from;
  for (int64_t i = -by; i < n + by; i++) {
    int64_t inside = i < 0 ? (reflect ? -i : circular ? i + n : 0) : i;
    if (i >= n) inside = reflect ? 2 * n - 2 - i : circular ? i - n : n - 1;
    from.push_back(inside);
  }
  return index(x, {Tensor(), tensor(from).to(x.device())});
}

// The window, in the middle of n_fft elements; ones where none is given.
Tensor wide_window(const char* op, const Tensor& window, int64_t win_length, int64_t n_fft, const Tensor& like) {
  Tensor y = window;
  if (!y.defined()) y = new_ones(like, {win_length}, TensorOptions(to_real(like.dtype())));
  CRESSET_CHECK_AS(ShapeError, y.dim() == 1 && y.size(0) == win_length, op,
                   ": expected a 1D window tensor of size equal to win_length=", win_length,
                   ", but got window with size ", text_of(y.sizes()));
  check_same_device(op, like, y);
  int64_t left = (n_fft - win_length) / 2, right = n_fft - win_length - left;
  return win_length == n_fft ? y : cat({new_zeros(y, {left}), y, new_zeros(y, {right})});
}

struct Lengths {
  int64_t hop, window;
};
Lengths checked_lengths(const char* op, int64_t n_fft, std::optional<int64_t> hop_length,
                        std::optional<int64_t> win_length) {
  Lengths lengths{hop_length.value_or(n_fft / 4), win_length.value_or(n_fft)};
  CRESSET_CHECK_AS(ValueError, lengths.hop > 0, op, ": expected hop_length > 0, but got hop_length=", lengths.hop);
  CRESSET_CHECK_AS(ValueError, lengths.window > 0 && lengths.window <= n_fft, op,
                   ": expected 0 < win_length <= n_fft, but got win_length=", lengths.window);
  return lengths;
}

}  // namespace

static const Op& stft_op = define_op(
    "stft", &stft,
    "self, n_fft, hop_length=std::nullopt, win_length=std::nullopt, window={}, center=true, pad_mode=\"reflect\", "
    "normalized=false, onesided=std::nullopt, return_complex=std::nullopt",
    "The short-time Fourier transform: frequencies of overlapping frames.", {.gradient = Gradient::composed});
Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
            const Tensor& window, bool center, std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
            std::optional<bool> return_complex) try {
  CRESSET_INTERCEPT(stft, , Tensor, self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
                    return_complex);
  Lengths lengths = checked_lengths("stft", n_fft, hop_length, win_length);
  bool complex_input = self.is_complex() || (window.defined() && window.is_complex());
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()),
                   "stft: expected a tensor of floating point or complex "
                   "values, found ",
                   name_of(self.dtype()));
  CRESSET_CHECK_AS(ShapeError, self.dim() == 1 || self.dim() == 2, "stft: expected a 1D or 2D tensor, but got ",
                   self.dim(), "D");
  Tensor x = self.dim() == 1 ? unsqueeze(self, 0) : self;
  if (center) x = padded(x, n_fft / 2, pad_mode);
  int64_t n = x.size(1);
  CRESSET_CHECK_AS(ValueError, n_fft > 0 && n_fft <= n, "stft: expected 0 < n_fft <= ", n, ", but got n_fft=", n_fft);
  Tensor frames = framed(x, 1 + (n - n_fft) / lengths.hop, n_fft, lengths.hop);
  if (window.defined() || lengths.window < n_fft)
    frames = mul(frames, wide_window("stft", window, lengths.window, n_fft, x));
  FftNorm norm = normalized ? FftNorm("ortho") : std::nullopt;
  bool half = onesided.value_or(!complex_input);
  CRESSET_CHECK_AS(ValueError, !half || !frames.is_complex(),
                   "stft: Cannot have onesided output if window or input is complex");
  Tensor y = transpose(half ? fft_rfft(frames, std::nullopt, -1, norm) : fft_fft(frames, std::nullopt, -1, norm), 1, 2);
  if (self.dim() == 1) y = select(y, 0, 0);
  return return_complex.value_or(complex_input) ? y : view_as_real(y);
}
CRESSET_ERRORS_OF(stft, , self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
                  return_complex)

static const Op& istft_op = define_op(
    "istft", &istft,
    "self, n_fft, hop_length=std::nullopt, win_length=std::nullopt, window={}, center=true, normalized=false, "
    "onesided=std::nullopt, length=std::nullopt, return_complex=false",
    "The signal of which self is the short-time Fourier transform.", {.gradient = Gradient::composed});
Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
             const Tensor& window, bool center, bool normalized, std::optional<bool> onesided,
             std::optional<int64_t> length, bool return_complex) try {
  CRESSET_INTERCEPT(istft, , Tensor, self, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
                    return_complex);
  Tensor x = self.is_complex() ? self : view_as_complex(self.contiguous());
  Lengths lengths = checked_lengths("istft", n_fft, hop_length, win_length);
  CRESSET_CHECK_AS(ShapeError, x.numel() > 0 && (x.dim() == 2 || x.dim() == 3),
                   "istft: expected a tensor of [B, frequencies, frames], not empty, found shape ",
                   text_of(self.sizes()));
  int64_t bins = x.size(-2), count = x.size(-1);
  bool half = onesided.value_or(bins != n_fft);
  CRESSET_CHECK_AS(ShapeError, bins == (half ? n_fft / 2 + 1 : n_fft),
                   "istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft ",
                   half ? "/ 2 + 1 when onesided=True" : "when onesided=False", ", but got ", bins);
  CRESSET_CHECK_AS(ValueError, !return_complex || !half,
                   "istft: Cannot have onesided output if window or input is complex");
  Tensor spectrum = transpose(x.dim() == 2 ? unsqueeze(x, 0) : x, 1, 2);
  FftNorm norm = normalized ? FftNorm("ortho") : std::nullopt;
  Tensor frames;
  if (return_complex)
    frames = fft_ifft(spectrum, std::nullopt, -1, norm);
  else
    frames = fft_irfft(half ? spectrum : narrow(spectrum, -1, 0, n_fft / 2 + 1), n_fft, -1, norm);
  Tensor shape = wide_window("istft", window, lengths.window, n_fft, frames);
  int64_t whole = checked_size("istft", Wide{n_fft} + Wide{lengths.hop} * (count - 1)), start = center ? n_fft / 2 : 0;
  Tensor sum = overlap_add(mul(frames, shape), whole, lengths.hop);
  Tensor squares = expand(mul(shape, shape), {1, count, n_fft});
  Tensor envelope = overlap_add(squares, whole, lengths.hop);
  int64_t end = length ? std::min(checked_sum("istft", {start, *length}), whole) : center ? whole - n_fft / 2 : whole;
  Tensor y = div(slice(sum, 1, start, end), slice(envelope, 1, start, end));
  if (length && end - start < *length) y = cat({y, new_zeros(y, {y.size(0), *length - (end - start)})}, 1);
  return x.dim() == 2 ? select(y, 0, 0) : y;
}
CRESSET_ERRORS_OF(istft, , self, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
                  return_complex)

}  // namespace cresset
