// Ops that order elements along a dimension.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

CRESSET_KERNEL(Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t k, int64_t dim,
                           bool largest, bool sorted)>,
               topk_kernel, "topk", 2);

// Stable, always; nan is above all. values and indices have x's shape.
CRESSET_KERNEL(Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim, bool descending)>,
               sort_kernel, "sort", 2);
// One element of each line by its rank, or by how often it stands there. values and indices have size 1 along dim.
enum class Pick : int64_t { kth, median, nanmedian, mode };
CRESSET_KERNEL(
    Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim, int64_t pick, int64_t k)>,
    pick_kernel, "pick", 2);
// Where in each sorted line (along the last dim) the quantiles q lie: between two places, with a weight for the second.
CRESSET_KERNEL(Kernel<void(const Tensor& below, const Tensor& above, const Tensor& weight, const Tensor& q,
                           const Tensor& sorted, int64_t rounding, bool skip_nan)>,
               quantile_places_kernel, "quantile_places", 3);

// The k largest (or smallest) elements along a dimension and where they stood. nan is above all; of equals the first
// comes first.
CRESSET_API std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true,
                                            bool sorted = true);
CRESSET_API std::tuple<Tensor&, Tensor&> topk_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t k,
                                                  int64_t dim = -1, bool largest = true, bool sorted = true);

// Equals keep their order, whether it is asked for or not.
CRESSET_API std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim = -1, bool descending = false);
CRESSET_API std::tuple<Tensor&, Tensor&> sort_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim = -1,
                                                  bool descending = false);
CRESSET_API std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool> stable, int64_t dim = -1,
                                            bool descending = false);
CRESSET_API std::tuple<Tensor&, Tensor&> sort_out(Tensor& values, Tensor& indices, const Tensor& self,
                                                  std::optional<bool> stable, int64_t dim = -1,
                                                  bool descending = false);
CRESSET_API Tensor argsort(const Tensor& self, int64_t dim = -1, bool descending = false);
CRESSET_API Tensor argsort(const Tensor& self, bool stable, int64_t dim = -1, bool descending = false);
CRESSET_API Tensor msort(const Tensor& self);
CRESSET_API Tensor& msort_out(Tensor& out, const Tensor& self);

// The k-th smallest along a dimension (from 1), and where it stood.
CRESSET_API std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim = -1, bool keepdim = false);
CRESSET_API std::tuple<Tensor&, Tensor&> kthvalue_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t k,
                                                      int64_t dim = -1, bool keepdim = false);
// The lower of two in the middle. A nan is the median of all; nanmedian leaves nan out.
CRESSET_API Tensor median(const Tensor& self);
CRESSET_API Tensor& median_out(Tensor& out, const Tensor& self);
CRESSET_API std::tuple<Tensor, Tensor> median(const Tensor& self, int64_t dim, bool keepdim = false);
CRESSET_API std::tuple<Tensor&, Tensor&> median_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                                                    bool keepdim = false);
CRESSET_API Tensor nanmedian(const Tensor& self);
CRESSET_API Tensor& nanmedian_out(Tensor& out, const Tensor& self);
CRESSET_API std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, int64_t dim, bool keepdim = false);
CRESSET_API std::tuple<Tensor&, Tensor&> nanmedian_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim,
                                                       bool keepdim = false);
// The most frequent element, of several the smallest, and its last place.
CRESSET_API std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim = -1, bool keepdim = false);
CRESSET_API std::tuple<Tensor&, Tensor&> mode_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim = -1,
                                                  bool keepdim = false);

// interpolation: linear, lower, higher, midpoint or nearest. Several q make a new first dimension.
CRESSET_API Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim = std::nullopt,
                            bool keepdim = false, std::string_view interpolation = "linear");
CRESSET_API Tensor quantile(const Tensor& self, double q, std::optional<int64_t> dim = std::nullopt,
                            bool keepdim = false, std::string_view interpolation = "linear");
CRESSET_API Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim = std::nullopt,
                               bool keepdim = false, std::string_view interpolation = "linear");
CRESSET_API Tensor nanquantile(const Tensor& self, double q, std::optional<int64_t> dim = std::nullopt,
                               bool keepdim = false, std::string_view interpolation = "linear");
CRESSET_API Tensor& quantile_out(Tensor& out, const Tensor& self, const Tensor& q,
                                 std::optional<int64_t> dim = std::nullopt, bool keepdim = false,
                                 std::string_view interpolation = "linear");
CRESSET_API Tensor& quantile_out(Tensor& out, const Tensor& self, double q, std::optional<int64_t> dim = std::nullopt,
                                 bool keepdim = false, std::string_view interpolation = "linear");
CRESSET_API Tensor& nanquantile_out(Tensor& out, const Tensor& self, const Tensor& q,
                                    std::optional<int64_t> dim = std::nullopt, bool keepdim = false,
                                    std::string_view interpolation = "linear");
CRESSET_API Tensor& nanquantile_out(Tensor& out, const Tensor& self, double q,
                                    std::optional<int64_t> dim = std::nullopt, bool keepdim = false,
                                    std::string_view interpolation = "linear");

}  // namespace cresset
