// Reductions beyond sums and maxima: products, truth values, counts, moments and norms. No dims (or none given): all.
#pragma once

#include <concepts>

#include "cresset/ops/reduce.h"

namespace cresset {

CRESSET_KERNEL(ReduceKernel, prod_kernel, "prod");
CRESSET_KERNEL(ReduceKernel, any_kernel, "any");
CRESSET_KERNEL(ReduceKernel, all_kernel, "all");
CRESSET_KERNEL(ReduceKernel, nansum_kernel, "nansum");
CRESSET_KERNEL(ReduceKernel, nonzero_counts_kernel, "count_nonzero");
CRESSET_KERNEL(ReduceKernel, logsumexp_kernel, "logsumexp");
// m2 / (count - correction), and its root if asked for.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, IntArrayRef dims, int64_t correction, bool root)>,
               var_kernel, "var");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, IntArrayRef dims, double p)>, norm_kernel, "norm");
CRESSET_KERNEL(Kernel<void(const Tensor& mask, const Tensor& x)>, not_nan_kernel, "not_nan");

CRESSET_API Tensor prod(const Tensor& self, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& prod_out(Tensor& out, const Tensor& self, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor prod(const Tensor& self, int64_t dim, bool keepdim = false,
                        std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& prod_out(Tensor& out, const Tensor& self, int64_t dim, bool keepdim = false,
                             std::optional<DType> dtype = std::nullopt);

// bool, but uint8 of uint8.
CRESSET_API Tensor any(const Tensor& self);
CRESSET_API Tensor& any_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor any(const Tensor& self, int64_t dim, bool keepdim = false);
CRESSET_API Tensor& any_out(Tensor& out, const Tensor& self, int64_t dim, bool keepdim = false);
CRESSET_API Tensor all(const Tensor& self);
CRESSET_API Tensor& all_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor all(const Tensor& self, int64_t dim, bool keepdim = false);
CRESSET_API Tensor& all_out(Tensor& out, const Tensor& self, int64_t dim, bool keepdim = false);

// unbiased: divided by one less than the count. correction (1 if not given): by that much less.
CRESSET_API Tensor var(const Tensor& self, bool unbiased = true);
CRESSET_API Tensor var(const Tensor& self, IntArrayRef dim, bool unbiased = true, bool keepdim = false);
CRESSET_API Tensor& var_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool unbiased = true,
                            bool keepdim = false);
CRESSET_API Tensor var(const Tensor& self, OptionalIntArrayRef dim, std::optional<int64_t> correction,
                       bool keepdim = false);
CRESSET_API Tensor& var_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim, std::optional<int64_t> correction,
                            bool keepdim = false);
CRESSET_API Tensor std(const Tensor& self, bool unbiased = true);
CRESSET_API Tensor std(const Tensor& self, IntArrayRef dim, bool unbiased = true, bool keepdim = false);
CRESSET_API Tensor& std_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool unbiased = true,
                            bool keepdim = false);
CRESSET_API Tensor std(const Tensor& self, OptionalIntArrayRef dim, std::optional<int64_t> correction,
                       bool keepdim = false);
CRESSET_API Tensor& std_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim, std::optional<int64_t> correction,
                            bool keepdim = false);
CRESSET_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, bool unbiased = true);
CRESSET_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, IntArrayRef dim, bool unbiased = true,
                                                bool keepdim = false);
CRESSET_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, OptionalIntArrayRef dim,
                                                std::optional<int64_t> correction, bool keepdim = false);
CRESSET_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, bool unbiased = true);
CRESSET_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, IntArrayRef dim, bool unbiased = true,
                                                bool keepdim = false);
CRESSET_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, OptionalIntArrayRef dim,
                                                std::optional<int64_t> correction, bool keepdim = false);

// A number is a dimension: without these, std(x, 0) would be std(x, /*unbiased=*/false).
template <std::integral Dim>
requires(!std::same_as<Dim, bool>) Tensor var(const Tensor& self, Dim dim) {
  return var(self, IntArrayRef{static_cast<int64_t>(dim)});
}
template <std::integral Dim>
requires(!std::same_as<Dim, bool>) Tensor std(const Tensor& self, Dim dim) {
  return std(self, IntArrayRef{static_cast<int64_t>(dim)});
}
template <std::integral Dim>
requires(!std::same_as<Dim, bool>) std::tuple<Tensor, Tensor> var_mean(const Tensor& self, Dim dim) {
  return var_mean(self, IntArrayRef{static_cast<int64_t>(dim)});
}
template <std::integral Dim>
requires(!std::same_as<Dim, bool>) std::tuple<Tensor, Tensor> std_mean(const Tensor& self, Dim dim) {
  return std_mean(self, IntArrayRef{static_cast<int64_t>(dim)});
}

// And so it is in braces: without these, {0} would be false too.
inline Tensor var(const Tensor& self, int dim) { return var(self, IntArrayRef{int64_t{dim}}); }
inline Tensor std(const Tensor& self, int dim) { return std(self, IntArrayRef{int64_t{dim}}); }
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, int dim) {
  return var_mean(self, IntArrayRef{int64_t{dim}});
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, int dim) {
  return std_mean(self, IntArrayRef{int64_t{dim}});
}

CRESSET_API Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim = false);
CRESSET_API Tensor& logsumexp_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim = false);

// nan counts as 0 in the sum, and not at all in the mean.
CRESSET_API Tensor nansum(const Tensor& self, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                          std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& nansum_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim = std::nullopt,
                               bool keepdim = false, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor nanmean(const Tensor& self, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false,
                           std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& nanmean_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim = std::nullopt,
                                bool keepdim = false, std::optional<DType> dtype = std::nullopt);

CRESSET_API Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim = std::nullopt);
CRESSET_API Tensor count_nonzero(const Tensor& self, IntArrayRef dim);

}  // namespace cresset
