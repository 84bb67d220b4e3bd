// Random numbers and dropout. Element i, counted in row-major order, gets its number from (seed, offset, i) alone, so
// that results depend neither on the thread count nor on strides.
#pragma once

#include "cresset/core/generator.h"
#include "cresset/core/kernel_table.h"

namespace cresset {

// `at` are the counters that the op has reserved: capture can replace them and backward can use them again. Elements of
// 32 random bits take a quarter of a counter, those of 64 bits half of one (core/generator.h).
CRESSET_KERNEL(Kernel<void(const Tensor& out, double from, double to, PhiloxCursor at)>, uniform_kernel, "uniform_");
CRESSET_KERNEL(Kernel<void(const Tensor& out, double mean, double std, PhiloxCursor at)>, normal_kernel, "normal_");
// Integers from `from` on, `range` many (0: 2^64), converted to out's dtype.
CRESSET_KERNEL(Kernel<void(const Tensor& out, int64_t from, int64_t range, PhiloxCursor at)>, random_kernel, "random_");
CRESSET_KERNEL(Kernel<void(const Tensor& out, double p, PhiloxCursor at)>, bernoulli_kernel, "bernoulli_");
// p has out's shape (maybe stride 0); its values are checked before anything is written.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& p, PhiloxCursor at)>, bernoulli_tensor_kernel, "bernoulli");
CRESSET_KERNEL(Kernel<void(const Tensor& out, PhiloxCursor at)>, randperm_kernel, "randperm");
// x / (1 - p), or zero with probability p.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, double p, PhiloxCursor at)>, dropout_kernel, "dropout");

CRESSET_API Tensor& uniform_(const Tensor& self, double from = 0, double to = 1,
                             std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& normal_(const Tensor& self, double mean = 0, double std = 1,
                            std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& random_(const Tensor& self, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& random_(const Tensor& self, int64_t to, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& random_(const Tensor& self, int64_t from, std::optional<int64_t> to,
                            std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& bernoulli_(const Tensor& self, double p = 0.5, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& bernoulli_(const Tensor& self, const Tensor& p, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor bernoulli(const Tensor& self, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& bernoulli_out(Tensor& out, const Tensor& self, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor bernoulli(const Tensor& self, double p, std::optional<Generator> generator = std::nullopt);

CRESSET_API Tensor rand(IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor rand(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options = {});
CRESSET_API Tensor randn(IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor randn(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options = {});
CRESSET_API Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor randint(int64_t high, IntArrayRef size, std::optional<Generator> generator,
                           const TensorOptions& options = {});
CRESSET_API Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor randint(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator,
                           const TensorOptions& options = {});
CRESSET_API Tensor randperm(int64_t n, const TensorOptions& options = {});
CRESSET_API Tensor randperm(int64_t n, std::optional<Generator> generator, const TensorOptions& options = {});
CRESSET_API Tensor& rand_out(Tensor& out, IntArrayRef size);
CRESSET_API Tensor& rand_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator);
CRESSET_API Tensor& randn_out(Tensor& out, IntArrayRef size);
CRESSET_API Tensor& randn_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator);
CRESSET_API Tensor& randint_out(Tensor& out, int64_t high, IntArrayRef size);
CRESSET_API Tensor& randint_out(Tensor& out, int64_t high, IntArrayRef size, std::optional<Generator> generator);
CRESSET_API Tensor& randint_out(Tensor& out, int64_t low, int64_t high, IntArrayRef size);
CRESSET_API Tensor& randint_out(Tensor& out, int64_t low, int64_t high, IntArrayRef size,
                                std::optional<Generator> generator);
CRESSET_API Tensor& randperm_out(Tensor& out, int64_t n);
CRESSET_API Tensor& randperm_out(Tensor& out, int64_t n, std::optional<Generator> generator);
CRESSET_API Tensor rand_like(const Tensor& self, const TensorOptions& options = {},
                             std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor randn_like(const Tensor& self, const TensorOptions& options = {},
                              std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {},
                                std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options = {},
                                std::optional<MemoryFormat> memory_format = std::nullopt);

// Zeroes elements with probability p and divides the others by 1 - p. The mask is not kept: backward draws it again.
CRESSET_API Tensor dropout(const Tensor& input, double p, bool train);
CRESSET_API Tensor& dropout_(const Tensor& input, double p, bool train);

}  // namespace cresset
