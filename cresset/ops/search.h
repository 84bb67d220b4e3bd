// Finding and counting values: sorted sequences, bins, sets.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// Lines along the last dimension: for each value the first place in the sequence that is not below it (right: that is
// above it). sorter, if defined, holds the places of the sequence in order. All have values' leading dimensions.
CRESSET_KERNEL(
    Kernel<void(const Tensor& out, const Tensor& values, const Tensor& sequence, const Tensor& sorter, bool right)>,
    searchsorted_kernel, "searchsorted");
// tests are sorted, in one dimension and of elements' dtype.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& elements, const Tensor& tests, bool invert)>, isin_kernel,
               "isin");
// Equal bins from min to max; from the data's own ends if those are equal.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, double min, double max)>, histc_kernel, "histc");
// Bins between edges that go up, the last with both of its ends: how many elements, or their weights (if defined, of
// x's shape), each holds. out and edges are contiguous; all have one dtype, float or double.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const Tensor& edges, const Tensor& weight)>,
               histogram_kernel, "histogram");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const Tensor& weights)>, bincount_kernel, "bincount");
// Rows of x [n, m] in lexicographic order; the number of each row's group in that order (if none is given, as they
// stand), counted up where a row differs from the one before; and what follows from the groups.
CRESSET_KERNEL(Kernel<void(const Tensor& order, const Tensor& x)>, row_order_kernel, "row_order");
CRESSET_KERNEL(Kernel<void(const Tensor& groups, const Tensor& x, const Tensor& order)>, row_groups_kernel,
               "row_groups");
CRESSET_KERNEL(Kernel<void(const Tensor& first, const Tensor& counts, const Tensor& inverse, const Tensor& groups,
                           const Tensor& order)>,
               group_members_kernel, "group_members", 3);

CRESSET_API Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32 = false,
                                bool right = false, std::string_view side = "", const Tensor& sorter = {});
CRESSET_API Tensor& searchsorted_out(Tensor& out, const Tensor& sorted_sequence, const Tensor& self,
                                     bool out_int32 = false, bool right = false, std::string_view side = "",
                                     const Tensor& sorter = {});
CRESSET_API Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32 = false,
                                bool right = false, std::string_view side = "", const Tensor& sorter = {});
CRESSET_API Tensor& searchsorted_out(Tensor& out, const Tensor& sorted_sequence, const Scalar& self,
                                     bool out_int32 = false, bool right = false, std::string_view side = "",
                                     const Tensor& sorter = {});
CRESSET_API Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false);
CRESSET_API Tensor& bucketize_out(Tensor& out, const Tensor& self, const Tensor& boundaries, bool out_int32 = false,
                                  bool right = false);
CRESSET_API Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32 = false, bool right = false);
CRESSET_API Tensor& bucketize_out(Tensor& out, const Scalar& self, const Tensor& boundaries, bool out_int32 = false,
                                  bool right = false);

CRESSET_API Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false,
                        bool invert = false);
CRESSET_API Tensor& isin_out(Tensor& out, const Tensor& elements, const Tensor& test_elements,
                             bool assume_unique = false, bool invert = false);
CRESSET_API Tensor isin(const Tensor& elements, const Scalar& test_element, bool assume_unique = false,
                        bool invert = false);
CRESSET_API Tensor& isin_out(Tensor& out, const Tensor& elements, const Scalar& test_element,
                             bool assume_unique = false, bool invert = false);
CRESSET_API Tensor isin(const Scalar& element, const Tensor& test_elements, bool assume_unique = false,
                        bool invert = false);
CRESSET_API Tensor& isin_out(Tensor& out, const Scalar& element, const Tensor& test_elements,
                             bool assume_unique = false, bool invert = false);

CRESSET_API Tensor histc(const Tensor& self, int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0);
CRESSET_API Tensor& histc_out(Tensor& out, const Tensor& self, int64_t bins = 100, const Scalar& min = 0,
                              const Scalar& max = 0);
CRESSET_API Tensor bincount(const Tensor& self, const Tensor& weights = {}, int64_t minlength = 0);
// The count of each bin (its weights; with density, such that the bars have area 1), and the edges of the bins.
CRESSET_API std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins = 100,
                                                 std::optional<ArrayRef<double>> range = std::nullopt,
                                                 const Tensor& weight = {}, bool density = false);
CRESSET_API std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins, const Tensor& weight = {},
                                                 bool density = false);
CRESSET_API std::tuple<Tensor&, Tensor&> histogram_out(Tensor& hist, Tensor& bin_edges, const Tensor& self,
                                                       int64_t bins = 100,
                                                       std::optional<ArrayRef<double>> range = std::nullopt,
                                                       const Tensor& weight = {}, bool density = false);
CRESSET_API std::tuple<Tensor&, Tensor&> histogram_out(Tensor& hist, Tensor& bin_edges, const Tensor& self,
                                                       const Tensor& bins, const Tensor& weight = {},
                                                       bool density = false);

// Different values in order, for each element which of them it is, and how often each stands there. What is not asked
// for comes back empty.
CRESSET_API std::tuple<Tensor, Tensor, Tensor> unique(const Tensor& self, bool sorted = true,
                                                      bool return_inverse = false, bool return_counts = false);
CRESSET_API std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool sorted = true,
                                                          bool return_inverse = false, bool return_counts = false);
CRESSET_API std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool return_inverse = false,
                                                                  bool return_counts = false,
                                                                  std::optional<int64_t> dim = std::nullopt);

}  // namespace cresset
