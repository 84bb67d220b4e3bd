// Short-time Fourier transforms and the windows that go with them.
#pragma once

#include <string_view>

#include "cresset/core/kernel_table.h"

namespace cresset {

// frames[b, i, k] = x[b, i * hop + k], and its opposite, which adds frames up where they overlap. Both are [B, …].
CRESSET_KERNEL(Kernel<void(const Tensor& frames, const Tensor& x, int64_t hop)>, frames_kernel, "frames");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& frames, int64_t hop)>, overlap_add_kernel, "overlap_add");
// out[k] of a window over `length` steps: a - b cos(2 pi k / length) + c cos(4 pi k / length); a triangle (kind 1); or
// Kaiser's with beta a (kind 2).
CRESSET_KERNEL(Kernel<void(const Tensor& out, int64_t kind, int64_t length, double a, double b, double c)>,
               window_kernel, "window");

// Frames of n_fft samples, hop_length apart, each times the window and transformed: [B, frequencies, frames].
CRESSET_API Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = std::nullopt,
                        std::optional<int64_t> win_length = std::nullopt, const Tensor& window = {}, bool center = true,
                        std::string_view pad_mode = "reflect", bool normalized = false,
                        std::optional<bool> onesided = std::nullopt, std::optional<bool> return_complex = std::nullopt);
CRESSET_API Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = std::nullopt,
                         std::optional<int64_t> win_length = std::nullopt, const Tensor& window = {},
                         bool center = true, bool normalized = false, std::optional<bool> onesided = std::nullopt,
                         std::optional<int64_t> length = std::nullopt, bool return_complex = false);

// A periodic window is one of length + 1 without its last element.
CRESSET_API Tensor hann_window(int64_t window_length, const TensorOptions& options = {});
CRESSET_API Tensor hann_window(int64_t window_length, bool periodic, const TensorOptions& options = {});
CRESSET_API Tensor hamming_window(int64_t window_length, const TensorOptions& options = {});
CRESSET_API Tensor hamming_window(int64_t window_length, bool periodic, const TensorOptions& options = {});
CRESSET_API Tensor hamming_window(int64_t window_length, bool periodic, double alpha,
                                  const TensorOptions& options = {});
CRESSET_API Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta,
                                  const TensorOptions& options = {});
CRESSET_API Tensor blackman_window(int64_t window_length, const TensorOptions& options = {});
CRESSET_API Tensor blackman_window(int64_t window_length, bool periodic, const TensorOptions& options = {});
CRESSET_API Tensor bartlett_window(int64_t window_length, const TensorOptions& options = {});
CRESSET_API Tensor bartlett_window(int64_t window_length, bool periodic, const TensorOptions& options = {});
CRESSET_API Tensor kaiser_window(int64_t window_length, const TensorOptions& options = {});
CRESSET_API Tensor kaiser_window(int64_t window_length, bool periodic, const TensorOptions& options = {});
CRESSET_API Tensor kaiser_window(int64_t window_length, bool periodic, double beta, const TensorOptions& options = {});

}  // namespace cresset
