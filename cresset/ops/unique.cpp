// Different values. All three ops number the groups of equal rows, in order or as they stand; the rest follows.
#include "cresset/ops/forms.h"
#include "cresset/ops/index.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/reduce_rule.h"
#include "cresset/ops/search.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/sort.h"

namespace cresset {

namespace {
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

struct Wanted {
  bool inverse, counts;
};

void check_has_values(const char* op, const Tensor& self) {
  CRESSET_CHECK_AS(NotImplementedError, !self.is_meta(), op,
                   ": the result's shape depends on values, which a meta tensor of shape ", text_of(self.sizes()),
                   " does not have");
}

// rows: [n, m]; order: the places of the rows in order, or undefined.
struct Groups {
  Tensor first, counts, inverse;

  Groups(const Tensor& rows, const Tensor& order) {
    int64_t n = rows.size(0), count = 0;
    Tensor groups = empty_contiguous(n, kLong, rows.device());
    if (n > 0) {
      row_groups_kernel(groups, rows, order);
      count = select(groups, 0, n - 1).item<int64_t>() + 1;
    }
    first = empty_contiguous(count, kLong, rows.device());
    counts = empty_contiguous(count, kLong, rows.device());
    inverse = empty_contiguous(n, kLong, rows.device());
    if (n > 0) group_members_kernel(first, counts, inverse, groups, order);
  }
  Tensor or_nothing(bool wanted, const Tensor& x) const {
    return wanted ? x : empty_contiguous({0}, kLong, x.device());
  }
};

ThreeTensors of_slices(const char* op, const Tensor& self, int64_t dim, bool ordered, Wanted wanted) {
  check_has_values(op, self);
  check_ordered(op, self);
  dim = wrap_dim(op, dim, self);
  Tensor x = self.detach();
  CRESSET_CHECK_AS(ShapeError, self.numel() > 0 || self.size(dim) == 0, op,
                   ": There are 0 sized dimensions, and they aren't selected, so unique cannot be applied: shape ",
                   text_of(self.sizes()));
  Tensor slices = transpose(x, 0, dim), rows = reshape(slices, {self.size(dim), self.numel() ? -1 : 0});
  Tensor order;
  if (ordered) {
    order = empty_contiguous(rows.size(0), kLong, x.device());
    if (rows.numel() > 0) row_order_kernel(order, rows);
  }
  Groups groups(rows, order);
  return {transpose(index(slices, {groups.first}), 0, dim), groups.or_nothing(wanted.inverse, groups.inverse),
          groups.or_nothing(wanted.counts, groups.counts)};
}
}  // namespace

CRESSET_OP(unique, , ThreeTensors, (const Tensor& self, bool sorted, bool return_inverse, bool return_counts),
           "self, sorted=true, return_inverse=false, return_counts=false", Gradient::none,
           "The different elements in order; which of them each element is; how often each stands there.")
ThreeTensors unique(const Tensor& self, bool sorted, bool return_inverse, bool return_counts) try {
  CRESSET_INTERCEPT(unique, , ThreeTensors, self, sorted, return_inverse, return_counts);
  check_has_values("unique", self);
  check_ordered("unique", self);
  Tensor flat = reshape(self.detach(), {-1});
  Groups groups(unsqueeze(flat, 1), argsort(flat));
  Tensor inverse = groups.or_nothing(return_inverse, groups.inverse);
  return {index(flat, {groups.first}), return_inverse ? view(inverse, self.sizes()) : inverse,
          groups.or_nothing(return_counts, groups.counts)};
}
CRESSET_ERRORS_OF(unique, , self, sorted, return_inverse, return_counts)

CRESSET_OP(unique_dim, , ThreeTensors,
           (const Tensor& self, int64_t dim, bool sorted, bool return_inverse, bool return_counts),
           "self, dim, sorted=true, return_inverse=false, return_counts=false", Gradient::none,
           "The different slices along a dimension in order; which of them each slice is; how often each stands there.")
ThreeTensors unique_dim(const Tensor& self, int64_t dim, bool sorted, bool return_inverse, bool return_counts) try {
  CRESSET_INTERCEPT(unique_dim, , ThreeTensors, self, dim, sorted, return_inverse, return_counts);
  return of_slices("unique_dim", self, dim, true, {return_inverse, return_counts});
}
CRESSET_ERRORS_OF(unique_dim, , self, dim, sorted, return_inverse, return_counts)

CRESSET_OP(unique_consecutive, , ThreeTensors,
           (const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim),
           "self, return_inverse=false, return_counts=false, dim=std::nullopt", Gradient::none,
           "The first of each run of equal elements (or slices along a dimension); the run of each; their lengths.")
ThreeTensors unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                                std::optional<int64_t> dim) try {
  CRESSET_INTERCEPT(unique_consecutive, , ThreeTensors, self, return_inverse, return_counts, dim);
  if (dim) return of_slices("unique_consecutive", self, *dim, false, {return_inverse, return_counts});
  auto [values, inverse, counts] =
      of_slices("unique_consecutive", reshape(self.detach(), {-1}), 0, false, {return_inverse, return_counts});
  return {values, return_inverse ? view(inverse, self.sizes()) : inverse, counts};
}
CRESSET_ERRORS_OF(unique_consecutive, , self, return_inverse, return_counts, dim)

}  // namespace cresset
