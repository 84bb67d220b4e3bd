// More distributions, drawn from the same counters as ops/random.h: element i's numbers depend on (seed, offset, i)
// alone.
#pragma once

#include "cresset/core/generator.h"
#include "cresset/core/kernel_table.h"

namespace cresset {

enum class Distribution : int64_t { exponential, geometric, cauchy, log_normal };
// Fills out; a and b are the distribution's numbers. Half a counter for each element.
CRESSET_KERNEL(Kernel<void(const Tensor& out, int64_t distribution, double a, double b, PhiloxCursor at)>,
               distribution_kernel, "distribution");
// out = out * std + mean; refuses std below 0 before anything is written.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& mean, const Tensor& std)>, spread_kernel, "normal");
// One counter for each element, with as many numbers below it as it takes.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& rate, PhiloxCursor at)>, poisson_kernel, "poisson");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& count, const Tensor& prob, PhiloxCursor at)>,
               binomial_kernel, "binomial");
// Rows [N, C] of weights; out is [N, samples]. Half a counter for each of max(C, samples) numbers of a row.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& weights, bool replacement, PhiloxCursor at)>,
               multinomial_kernel, "multinomial");

CRESSET_API Tensor& exponential_(const Tensor& self, double lambd = 1,
                                 std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& geometric_(const Tensor& self, double p, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& cauchy_(const Tensor& self, double median = 0, double sigma = 1,
                            std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& log_normal_(const Tensor& self, double mean = 1, double std = 2,
                                std::optional<Generator> generator = std::nullopt);

CRESSET_API Tensor normal(const Tensor& mean, double std = 1, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor normal(double mean, const Tensor& std, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor normal(const Tensor& mean, const Tensor& std, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor normal(double mean, double std, IntArrayRef size, std::optional<Generator> generator = std::nullopt,
                          const TensorOptions& options = {});
CRESSET_API Tensor& normal_out(Tensor& out, const Tensor& mean, double std = 1,
                               std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& normal_out(Tensor& out, double mean, const Tensor& std,
                               std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& normal_out(Tensor& out, const Tensor& mean, const Tensor& std,
                               std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& normal_out(Tensor& out, double mean, double std, IntArrayRef size,
                               std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor poisson(const Tensor& self, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor binomial(const Tensor& count, const Tensor& prob, std::optional<Generator> generator = std::nullopt);
// Indices drawn by weight, each row apart; without replacement no index comes twice.
CRESSET_API Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false,
                               std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& multinomial_out(Tensor& out, const Tensor& self, int64_t num_samples, bool replacement = false,
                                    std::optional<Generator> generator = std::nullopt);

}  // namespace cresset
