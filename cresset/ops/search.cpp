// Finding and counting. Results are places and counts, which have no gradient.
#include "cresset/ops/search.h"

#include <cmath>

#include "cresset/core/checked.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/reduce_rule.h"
#include "cresset/ops/scan.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/sort.h"

namespace cresset {

// ---- searchsorted, bucketize
// x seen with leading dimensions like `sizes`, if it has but one.
static Tensor like_lines(const Tensor& x, IntArrayRef sizes) {
  if (x.dim() != 1 || sizes.size() <= 1) return x;
  Dims wide = sizes, strides = Dims::filled(static_cast<int>(sizes.size()), 0);
  wide[wide.rank() - 1] = x.size(0);
  strides[strides.rank() - 1] = x.stride(0);
  return alias(x, wide, strides, x.storage_offset());
}
static void check_sequence(const char* op, const Tensor& sequence, const Tensor& values, const Tensor& sorter) {
  check_same_device(op, sequence, values);
  CRESSET_CHECK_AS(ShapeError, sequence.dim() > 0, op,
                   "(): boundaries tensor should have positive dimension, but got 0 dimension");
  bool fits = sequence.dim() == 1 || sequence.dim() == values.dim();
  for (int64_t i = 0; fits && sequence.dim() > 1 && i + 1 < values.dim(); i++)
    fits = sequence.size(i) == values.size(i);
  CRESSET_CHECK_AS(ShapeError, fits, op,
                   "(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and "
                   "input value tensor must match, but we got boundaries tensor ",
                   text_of(sequence.sizes()), " and input value tensor ", text_of(values.sizes()));
  if (!sorter.defined()) return;
  check_same_device(op, sequence, sorter);
  CRESSET_CHECK_AS(ShapeError, sorter.sizes() == sequence.sizes(), op,
                   "(): boundary and sorter must have the same size, but got boundary tensor ",
                   text_of(sequence.sizes()), " and got sorter tensor ", text_of(sorter.sizes()));
  check_dtype(op, "sorter", sorter, kLong);
}
static Tensor search(const char* op, const Into& into, const Tensor& sequence, const Tensor& values, bool out_int32,
                     bool right, std::string_view side, const Tensor& sorter) {
  check_ordered(op, sequence);
  check_ordered(op, values);
  CRESSET_CHECK(side.empty() || side == "left" || side == "right", op,
                "(): side can only be 'left' or 'right' but got ", side);
  CRESSET_CHECK(!(side == "left" && right), op,
                "(): side and right can't be set to opposites, got side of left while right was True");
  check_sequence(op, sequence, values, sorter);
  bool number = values.impl()->wrapped_number;
  Tensor y = result(op, into, values.sizes(), out_int32 ? kInt : kLong, number ? sequence.device() : values.device(),
                    {&values, &sequence});
  if (y.numel() == 0) return not_differentiable(into, y);
  DType type = result_type(sequence, values);
  Tensor wanted = values.detach().to(sequence.device()).to(type), places = y;
  if (values.dim() == 0)
    wanted = alias(wanted, {1}, {1}, wanted.storage_offset()), places = alias(y, {1}, {1}, y.storage_offset());
  Tensor lines = like_lines(sequence.detach().to(type), wanted.sizes());
  searchsorted_kernel(places, wanted, lines, sorter.defined() ? like_lines(sorter, wanted.sizes()) : sorter,
                      right || side == "right");
  return not_differentiable(into, y);
}
static Tensor searchsorted_into(const Into& into, const Tensor& sorted_sequence, const Tensor& self, bool out_int32,
                                bool right, std::string_view side, const Tensor& sorter) {
  return search("searchsorted", into, sorted_sequence, self, out_int32, right, side, sorter);
}
static Tensor searchsorted_into(const Into& into, const Tensor& sorted_sequence, const Scalar& self, bool out_int32,
                                bool right, std::string_view side, const Tensor& sorter) {
  return search("searchsorted", into, sorted_sequence, wrapped_number(self), out_int32, right, side, sorter);
}
CRESSET_FORMS_OUT_OF(Gradient::none, searchsorted, ,
                     (const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                      std::string_view side, const Tensor& sorter),
                     (sorted_sequence, self, out_int32, right, side, sorter),
                     "sorted_sequence, self, out_int32=false, right=false, side=\"\", sorter={}",
                     "Where each value of self would be put into the sorted sequences, to keep them in order.")
CRESSET_FORMS_OUT_OF(Gradient::none, searchsorted, Scalar,
                     (const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                      std::string_view side, const Tensor& sorter),
                     (sorted_sequence, self, out_int32, right, side, sorter),
                     "sorted_sequence, self, out_int32=false, right=false, side=\"\", sorter={}",
                     "Where a number would be put into the sorted sequence, to keep it in order.")

static Tensor bucketize_into(const Into& into, const Tensor& self, const Tensor& boundaries, bool out_int32,
                             bool right) {
  CRESSET_CHECK_AS(ShapeError, boundaries.dim() == 1, "bucketize: boundaries tensor must be 1 dimension, but got dim(",
                   boundaries.dim(), ")");
  return search("bucketize", into, boundaries, self, out_int32, right, "", Tensor());
}
static Tensor bucketize_into(const Into& into, const Scalar& self, const Tensor& boundaries, bool out_int32,
                             bool right) {
  return bucketize_into(into, wrapped_number(self), boundaries, out_int32, right);
}
CRESSET_FORMS_OUT_OF(Gradient::none, bucketize, ,
                     (const Tensor& self, const Tensor& boundaries, bool out_int32, bool right),
                     (self, boundaries, out_int32, right), "self, boundaries, out_int32=false, right=false",
                     "The number of the bucket, between sorted boundaries, that each element belongs to.")
CRESSET_FORMS_OUT_OF(Gradient::none, bucketize, Scalar,
                     (const Scalar& self, const Tensor& boundaries, bool out_int32, bool right),
                     (self, boundaries, out_int32, right), "self, boundaries, out_int32=false, right=false",
                     "The number of the bucket, between sorted boundaries, that a number belongs to.")

// ---- isin
static Tensor isin_into(const Into& into, const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  check_same_device("isin", elements, test_elements);
  check_ordered("isin", elements);
  check_ordered("isin", test_elements);
  Device device = elements.impl()->wrapped_number ? test_elements.device() : elements.device();
  Tensor y = result("isin", into, elements.sizes(), kBool, device, {&elements, &test_elements});
  DType type = result_type(elements, test_elements);
  Tensor tests = reshape(test_elements.detach().to(device).to(type), {-1});
  isin_kernel(y, elements.detach().to(device).to(type), std::get<0>(sort(tests)), invert);
  return not_differentiable(into, y);
}
static Tensor isin_into(const Into& into, const Tensor& elements, const Scalar& test_element, bool assume_unique,
                        bool invert) {
  return isin_into(into, elements, wrapped_number(test_element), assume_unique, invert);
}
static Tensor isin_into(const Into& into, const Scalar& element, const Tensor& test_elements, bool assume_unique,
                        bool invert) {
  return isin_into(into, wrapped_number(element), test_elements, assume_unique, invert);
}
CRESSET_FORMS_OUT_OF(Gradient::none, isin, ,
                     (const Tensor& elements, const Tensor& test_elements, bool assume_unique, bool invert),
                     (elements, test_elements, assume_unique, invert),
                     "elements, test_elements, assume_unique=false, invert=false",
                     "Whether each element is among the test elements.")
CRESSET_FORMS_OUT_OF(Gradient::none, isin, Tensor_Scalar,
                     (const Tensor& elements, const Scalar& test_element, bool assume_unique, bool invert),
                     (elements, test_element, assume_unique, invert),
                     "elements, test_element, assume_unique=false, invert=false",
                     "Whether each element is the test element.")
CRESSET_FORMS_OUT_OF(Gradient::none, isin, Scalar_Tensor,
                     (const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert),
                     (element, test_elements, assume_unique, invert),
                     "element, test_elements, assume_unique=false, invert=false",
                     "Whether a number is among the test elements.")

// ---- histc, bincount
static Tensor histc_into(const Into& into, const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  CRESSET_CHECK_AS(TypeError, self.is_floating_point(), "histc: not implemented for '", toString(self.dtype()),
                   "' (expected a real floating-point type)");
  CRESSET_CHECK_AS(IndexError, bins > 0, "histc(): bins must be > 0, but got ", bins);
  CRESSET_CHECK(min.toDouble() <= max.toDouble(), "histc: max must be larger than min, found ", min.toDouble(), " and ",
                max.toDouble());
  Tensor y = result("histc", into, bins, self.dtype(), self.device(), {&self});
  histc_kernel(y, self, min.toDouble(), max.toDouble());
  return not_differentiable(into, y);
}
CRESSET_FORMS_OUT_OF(Gradient::none, histc, , (const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max),
                     (self, bins, min, max), "self, bins=100, min=0, max=0",
                     "How many elements lie in each of `bins` equal parts from min to max (both 0: of the data).")

// ---- histogram
static void check_histogram(const Tensor& self, const Tensor& weight) {
  CRESSET_CHECK_AS(TypeError, self.is_floating_point(), "histogram: not implemented for '", toString(self.dtype()),
                   "' (expected a floating point input)");
  if (!weight.defined()) return;
  check_same_device("histogram", self, weight);
  check_dtype("histogram", "weight", weight, self.dtype());
  CRESSET_CHECK_AS(ShapeError, weight.sizes() == self.sizes(), "histogram: weight has shape ", text_of(weight.sizes()),
                   " (expected the input's, ", text_of(self.sizes()), ")");
}
static std::tuple<Tensor, Tensor> histogram_of(const Tensor& self, const Tensor& edges, const Tensor& weight,
                                               bool density) {
  Tensor y = empty_contiguous({edges.numel() - 1}, self.dtype(), self.device());
  histogram_kernel(y, self.detach(), edges, weight.defined() ? weight.detach() : weight);
  if (density) y = div(div(y, sum(y)), diff(edges));
  return {y, edges};
}
// Where the outermost edges lie: as asked for, or at the data's own ends; never in the same place.
static std::pair<double, double> outer_edges(const Tensor& self, std::optional<double> min, std::optional<double> max) {
  double low = min.value_or(0), high = max.value_or(1);  // without data, from 0 to 1
  if (min) {
    CRESSET_CHECK_AS(ValueError, low <= high, "histogram: min should not exceed max, found range [", low, ", ", high,
                     "]");
  } else if (self.numel() > 0) {
    CRESSET_CHECK_AS(NotImplementedError, !self.is_meta(),
                     "histogram: without a range the edges depend on values, which a meta tensor does not have");
    auto [least, most] = aminmax(self.detach());
    low = least.item<double>(), high = most.item<double>();
  }
  CRESSET_CHECK_AS(ValueError, std::isfinite(low) && std::isfinite(high), "histogram: range of [", low, ", ", high,
                   "] is not finite");
  if (low == high) low -= 0.5, high += 0.5;
  return {low, high};
}
// A list of numbers is nothing that the registry knows: there the range is two numbers.
using OptionalNumber = std::optional<double>;
using Range = std::optional<ArrayRef<double>>;
static std::pair<OptionalNumber, OptionalNumber> ends_of(const Range& range) {
  if (!range) return {};
  CRESSET_CHECK_AS(ValueError, range->size() == 2, "histogram: range should have 2 elements, found ", range->size());
  return {(*range)[0], (*range)[1]};
}
static detail::TwoTensors histogram_between(const Tensor& self, int64_t bins, OptionalNumber min, OptionalNumber max,
                                            const Tensor& weight, bool density) {
  CRESSET_CHECK_AS(ValueError, min.has_value() == max.has_value(),
                   "histogram: found one end of the range (expected both or none)");
  if (!min) return histogram(self, bins, std::nullopt, weight, density);
  const double range[] = {*min, *max};
  return histogram(self, bins, range, weight, density);
}
static detail::TwoTensorRefs histogram_between_out(Tensor& hist, Tensor& bin_edges, const Tensor& self, int64_t bins,
                                                   OptionalNumber min, OptionalNumber max, const Tensor& weight,
                                                   bool density) {
  const auto [made, edges] = histogram_between(self, bins, min, max, weight, density);
  copied_into("histogram", into_out(hist), made, {&self, &weight});
  copied_into("histogram", into_out(bin_edges), edges, {&self, &weight});
  return {hist, bin_edges};
}
static const Op& histogrambin_ct_op = define_op(
    "histogram", &histogram_between, "self, bins=100, min=std::nullopt, max=std::nullopt, weight={}, density=false",
    "How many elements (or what weights) lie in each of `bins` equal bins, and the edges of the bins.",
    {.overload = "bin_ct", .gradient = Gradient::none, .where = Where::function});
static const Op& histogrambin_ct_out_op = define_op(
    "histogram_out", &histogram_between_out,
    "hist, bin_edges, self, bins=100, min=std::nullopt, max=std::nullopt, weight={}, density=false",
    "How many elements lie in each of `bins` equal bins, and the edges of the bins.",
    {.overload = "bin_ct", .gradient = Gradient::none, .where = Where::function, .functional = &histogrambin_ct_op});
std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins, Range range, const Tensor& weight,
                                     bool density) try {
  const auto [min, max] = ends_of(range);
  CRESSET_INTERCEPT(histogram, bin_ct, detail::TwoTensors, self, bins, min, max, weight, density);
  check_histogram(self, weight);
  CRESSET_CHECK_AS(ValueError, bins > 0, "histogram: bins must be > 0, but got ", bins);
  auto [low, high] = outer_edges(self, min, max);
  return histogram_of(self, linspace(low, high, bins + 1, TensorOptions(self.dtype()).device(self.device())), weight,
                      density);
}
CRESSET_ERRORS_OF(histogram, bin_ct, self, bins, weight, density)
std::tuple<Tensor&, Tensor&> histogram_out(Tensor& hist, Tensor& bin_edges, const Tensor& self, int64_t bins,
                                           Range range, const Tensor& weight, bool density) try {
  const auto [min, max] = ends_of(range);
  if (CRESSET_LIKELY(thread_state.modes_above == 0) ||
      !intercepted<void>(histogrambin_ct_out_op, hist, bin_edges, self, bins, min, max, weight, density))
    histogram_between_out(hist, bin_edges, self, bins, min, max, weight, density);
  return {hist, bin_edges};
}
CRESSET_ERRORS_OF(histogram, bin_ct_out, hist, bin_edges, self, bins, weight, density)
std::tuple<Tensor, Tensor> Tensor::histogram(int64_t bins, Range range, const Tensor& weight, bool density) const {
  return cresset::histogram(*this, bins, range, weight, density);
}
CRESSET_OP(histogram, bins_tensor, detail::TwoTensors,
           (const Tensor& self, const Tensor& bins, const Tensor& weight, bool density),
           "self, bins, weight={}, density=false", Gradient::none,
           "How many elements (or what weights) lie in each bin between the edges that `bins` holds, and the edges.")
std::tuple<Tensor, Tensor> histogram(const Tensor& self, const Tensor& bins, const Tensor& weight, bool density) try {
  CRESSET_INTERCEPT(histogram, bins_tensor, detail::TwoTensors, self, bins, weight, density);
  check_histogram(self, weight);
  check_same_device("histogram", self, bins);
  check_dtype("histogram", "bins", bins, self.dtype());
  CRESSET_CHECK_AS(ShapeError, bins.dim() == 1 && bins.numel() > 1, "histogram: bins has shape ", text_of(bins.sizes()),
                   " (expected one dimension with at least two edges)");
  return histogram_of(self, clone(bins.detach(), MemoryFormat::Contiguous), weight, density);
}
CRESSET_ERRORS_OF(histogram, bins_tensor, self, bins, weight, density)
CRESSET_COPIED_OUTS_OF(histogram, bins_tensor, hist, bin_edges,
                       (const Tensor& self, const Tensor& bins, const Tensor& weight, bool density),
                       (self, bins, weight, density), (&self, &bins, &weight), "self, bins, weight={}, density=false",
                       "How many elements lie in each bin between the edges that `bins` holds, and the edges.")

CRESSET_OP(bincount, , Tensor, (const Tensor& self, const Tensor& weights, int64_t minlength),
           "self, weights={}, minlength=0", Gradient::none,
           "How often each number from 0 on stands in a vector of integers, or the sum of its weights.")
Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) try {
  CRESSET_INTERCEPT(bincount, , Tensor, self, weights, minlength);
  CRESSET_CHECK(minlength >= 0, "bincount: minlength should be >= 0, found ", minlength);
  CRESSET_CHECK_AS(TypeError, is_integral(self.dtype(), false) && self.dim() == 1,
                   "bincount only supports 1-d non-negative integral inputs, found ", name_of(self.dtype()),
                   text_of(self.sizes()));
  CRESSET_CHECK_AS(NotImplementedError, !self.is_meta(),
                   "bincount: the result's shape depends on values, which a meta "
                   "tensor does not have");
  DType type = kLong;
  if (weights.defined()) {
    check_same_device("bincount", self, weights);
    CRESSET_CHECK_AS(TypeError, !weights.is_complex(), "bincount: found weights of ", name_of(weights.dtype()),
                     " (expected a real dtype)");
    CRESSET_CHECK_AS(ShapeError, weights.dim() == 1 && weights.size(0) == self.size(0),
                     "bincount: weights should be 1-d and have the same length as input, found ",
                     text_of(weights.sizes()), " and ", text_of(self.sizes()));
    type = weights.dtype() == kFloat ? kFloat : kDouble;
  }
  int64_t bins = minlength;
  if (self.numel() > 0) {
    auto [low, high] = aminmax(self);
    CRESSET_CHECK(low.item<int64_t>() >= 0, "bincount only supports 1-d non-negative integral inputs, found ",
                  low.item<int64_t>());
    bins = std::max(minlength, checked_sum("bincount", {high.item<int64_t>(), 1}));
  } else {
    type = kLong;
  }
  Tensor y = zeros(bins, TensorOptions(type).device(self.device()));
  if (self.numel() > 0) bincount_kernel(y, self, weights.defined() ? weights.detach() : weights);
  return not_differentiable(Into{}, y);
}
CRESSET_ERRORS_OF(bincount, , self, minlength)

}  // namespace cresset
