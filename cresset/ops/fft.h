// Fourier transforms, in the namespace fft as well (fft::rfft is fft_rfft). norm is "backward" (the inverse is divided
// by n), "forward" (the transform is) or "ortho" (both by the root).
#pragma once

#include <string_view>

#include "cresset/core/kernel_table.h"

namespace cresset {

// Plain sums, without a factor. Any strides; x is left as it is. c2c goes over several dimensions, with exp(-i …) or,
// for the inverse, exp(+i …). r2c and c2r go along one, of which the complex side has n / 2 + 1 elements.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, IntArrayRef dims, bool inverse)>, fft_c2c_kernel,
               "fft_c2c");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, int64_t dim)>, fft_r2c_kernel, "fft_r2c");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, int64_t dim)>, fft_c2r_kernel, "fft_c2r");

using FftNorm = std::optional<std::string_view>;
using FftSizes = OptionalIntArrayRef;

// Along one dimension, which is cut or filled with zeros to n elements first.
#define CRESSET_FFT_ONE(name)                                                                              \
  CRESSET_API Tensor name(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,   \
                          FftNorm norm = std::nullopt);                                                    \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, std::optional<int64_t> n = std::nullopt, \
                                 int64_t dim = -1, FftNorm norm = std::nullopt);
CRESSET_FFT_ONE(fft_fft)
CRESSET_FFT_ONE(fft_ifft)
CRESSET_FFT_ONE(fft_rfft)
CRESSET_FFT_ONE(fft_irfft)
CRESSET_FFT_ONE(fft_hfft)
CRESSET_FFT_ONE(fft_ihfft)
#undef CRESSET_FFT_ONE

// Over the last two dimensions, or others.
#define CRESSET_FFT_TWO(name)                                                                        \
  CRESSET_API Tensor name(const Tensor& self, FftSizes s = std::nullopt, IntArrayRef dim = {-2, -1}, \
                          FftNorm norm = std::nullopt);                                              \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, FftSizes s = std::nullopt,         \
                                 IntArrayRef dim = {-2, -1}, FftNorm norm = std::nullopt);
CRESSET_FFT_TWO(fft_fft2)
CRESSET_FFT_TWO(fft_ifft2)
CRESSET_FFT_TWO(fft_rfft2)
CRESSET_FFT_TWO(fft_irfft2)
CRESSET_FFT_TWO(fft_hfft2)
CRESSET_FFT_TWO(fft_ihfft2)
#undef CRESSET_FFT_TWO

// Over all dimensions, or those that s or dim say.
#define CRESSET_FFT_MANY(name)                                                                        \
  CRESSET_API Tensor name(const Tensor& self, FftSizes s = std::nullopt, FftSizes dim = std::nullopt, \
                          FftNorm norm = std::nullopt);                                               \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, FftSizes s = std::nullopt,          \
                                 FftSizes dim = std::nullopt, FftNorm norm = std::nullopt);
CRESSET_FFT_MANY(fft_fftn)
CRESSET_FFT_MANY(fft_ifftn)
CRESSET_FFT_MANY(fft_rfftn)
CRESSET_FFT_MANY(fft_irfftn)
CRESSET_FFT_MANY(fft_hfftn)
CRESSET_FFT_MANY(fft_ihfftn)
#undef CRESSET_FFT_MANY

// The frequencies that the elements of a transform stand for, for samples d apart.
CRESSET_API Tensor fft_fftfreq(int64_t n, double d = 1.0, const TensorOptions& options = {});
CRESSET_API Tensor& fft_fftfreq_out(Tensor& out, int64_t n, double d = 1.0);
CRESSET_API Tensor fft_rfftfreq(int64_t n, double d = 1.0, const TensorOptions& options = {});
CRESSET_API Tensor& fft_rfftfreq_out(Tensor& out, int64_t n, double d = 1.0);
// Brings frequency 0 into the middle, and back.
CRESSET_API Tensor fft_fftshift(const Tensor& self, FftSizes dim = std::nullopt);
CRESSET_API Tensor fft_ifftshift(const Tensor& self, FftSizes dim = std::nullopt);

}  // namespace cresset
