// Running sums, products and maxima along a dimension.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// x has out's shape and dtype, and may be out itself. reverse: from the end.
using ScanKernel = Kernel<void(const Tensor& out, const Tensor& x, int64_t dim, bool reverse)>;
CRESSET_KERNEL(ScanKernel, cumsum_kernel, "cumsum");
CRESSET_KERNEL(ScanKernel, cumprod_kernel, "cumprod");
CRESSET_KERNEL(ScanKernel, logcumsumexp_kernel, "logcumsumexp");
CRESSET_KERNEL(Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim, bool smallest)>,
               cummax_kernel, "cummax", 2);
// out[k] = b[k] + a[k] * out[k-1], where the first a is not read.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b, int64_t dim, bool reverse)>,
               linear_scan_kernel, "linear_scan");

// Integers and bool become int64 unless a dtype is given.
CRESSET_API Tensor cumsum(const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& cumsum_(const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& cumsum_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor cumprod(const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& cumprod_(const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& cumprod_out(Tensor& out, const Tensor& self, int64_t dim,
                                std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor logcumsumexp(const Tensor& self, int64_t dim);
CRESSET_API Tensor& logcumsumexp_out(Tensor& out, const Tensor& self, int64_t dim);
// Of equals the last; nan wins and stays.
CRESSET_API std::tuple<Tensor, Tensor> cummax(const Tensor& self, int64_t dim);
CRESSET_API std::tuple<Tensor&, Tensor&> cummax_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim);
CRESSET_API std::tuple<Tensor, Tensor> cummin(const Tensor& self, int64_t dim);
CRESSET_API std::tuple<Tensor&, Tensor&> cummin_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim);

// Differences of neighbours, n times; prepend and append are put to self's ends first.
CRESSET_API Tensor diff(const Tensor& self, int64_t n = 1, int64_t dim = -1, const Tensor& prepend = {},
                        const Tensor& append = {});
CRESSET_API Tensor& diff_out(Tensor& out, const Tensor& self, int64_t n = 1, int64_t dim = -1,
                             const Tensor& prepend = {}, const Tensor& append = {});
// The integral by the trapezoidal rule, over places x or with steps dx; and as it grows.
CRESSET_API Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);
CRESSET_API Tensor trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1);
CRESSET_API Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);
CRESSET_API Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1);

// For formulas, differentiable: the recurrence above, and the products of all elements before (or behind) each.
CRESSET_API Tensor linear_scan(const Tensor& a, const Tensor& b, int64_t dim, bool reverse);
CRESSET_API Tensor exclusive_prod(const Tensor& x, int64_t dim, bool reverse);

}  // namespace cresset
