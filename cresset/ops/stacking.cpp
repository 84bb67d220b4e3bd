// Joining and cutting under numpy's names, and grids of coordinates. All composed, but for the lists of indices, which
// have kernels.
#include "cresset/ops/stacking.h"

#include "cresset/core/checked.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/gather.h"
#include "cresset/ops/pad.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

using Parts = std::vector<Tensor>;

Parts cut_at(const Tensor& self, int d, IntArrayRef indices) {
  Parts parts;
  int64_t start = 0;
  for (int64_t end : indices) {
    parts.push_back(slice(self, d, start, end));
    start = end;
  }
  parts.push_back(slice(self, d, start));
  return parts;
}
Parts cut_into(const Tensor& self, int d, int64_t sections) {
  CRESSET_CHECK_AS(ValueError, sections > 0, "tensor_split: number of sections must be larger than 0, got ", sections);
  int64_t n = self.size(d), size = n / sections, longer = n % sections, start = 0;
  Parts parts;
  for (int64_t i = 0; i < sections; i++) {
    int64_t length = size + (i < longer ? 1 : 0);
    parts.push_back(slice(self, d, start, start + length));
    start += length;
  }
  return parts;
}
int split_dim(const Tensor& self, int64_t dim) {
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0,
                   "tensor_split: expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  return wrap_dim("tensor_split", dim, self);
}
// hsplit and its relatives divide evenly, or not at all.
Parts even_parts(const char* op, const Tensor& self, int64_t dim, int64_t sections) {
  CRESSET_CHECK_AS(ShapeError, sections != 0 && self.size(dim) % sections == 0, op,
                   ": attempting to split along dimension ", dim, ", but the size of the dimension ", self.size(dim),
                   " is not divisible by the split_size ", sections, "!");
  return tensor_split(self, sections, dim);
}
void check_rank(const char* op, const Tensor& self, int64_t least) {
  CRESSET_CHECK_AS(ShapeError, self.dim() >= least, op, ": requires a tensor with at least ", least, " dimension",
                   least > 1 ? "s" : "", ", but got a tensor with ", self.dim(), " dimensions!");
}

}  // namespace

CRESSET_OP(tensor_split, , Parts, (const Tensor& self, int64_t sections, int64_t dim), "self, sections, dim=0",
           Gradient::composed, "Views of that many parts along dim, the first ones longer by one where it is not even.")
Parts tensor_split(const Tensor& self, int64_t sections, int64_t dim) try {
  CRESSET_INTERCEPT(tensor_split, , Parts, self, sections, dim);
  return cut_into(self, split_dim(self, dim), sections);
}
CRESSET_ERRORS_OF(tensor_split, , self, sections, dim)
CRESSET_OP(tensor_split, indices, Parts, (const Tensor& self, IntArrayRef indices, int64_t dim), "self, indices, dim=0",
           Gradient::composed, "Views of the parts between the given places along dim.")
Parts tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim) try {
  CRESSET_INTERCEPT(tensor_split, indices, Parts, self, indices, dim);
  return cut_at(self, split_dim(self, dim), indices);
}
CRESSET_ERRORS_OF(tensor_split, indices, self, indices, dim)
CRESSET_OP(tensor_split, tensor_indices_or_sections, Parts,
           (const Tensor& self, const Tensor& tensor_indices_or_sections, int64_t dim),
           "self, tensor_indices_or_sections, dim=0", Gradient::composed,
           "tensor_split by a number of sections (0-d) or by places (1-d) that stand in a tensor on the CPU.")
Parts tensor_split(const Tensor& self, const Tensor& tensor_indices_or_sections, int64_t dim) try {
  CRESSET_INTERCEPT(tensor_split, tensor_indices_or_sections, Parts, self, tensor_indices_or_sections, dim);
  const Tensor& given = tensor_indices_or_sections;
  int d = split_dim(self, dim);
  CRESSET_CHECK_AS(TypeError, given.dtype() == kLong,
                   "tensor_split: expected tensor_indices_or_sections to have dtype of long, but got ",
                   toString(given.dtype()));
  CRESSET_CHECK_AS(DeviceError, given.is_cpu(),
                   "tensor_split: expected tensor_indices_or_sections to be on cpu, but it's on ",
                   given.device().str());
  CRESSET_CHECK_AS(ShapeError, given.dim() <= 1,
                   "tensor_split: expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
                   "tensor, but got a tensor with ",
                   given.dim(), " dims");
  if (given.dim() == 0) return cut_into(self, d, given.item<int64_t>());
  Dims indices;
  for (int64_t i = 0; i < given.numel(); i++) indices.push_back(select(given, 0, i).item<int64_t>());
  return cut_at(self, d, indices);
}
CRESSET_ERRORS_OF(tensor_split, tensor_indices_or_sections, self, tensor_indices_or_sections, dim)

#define CRESSET_SPLIT(name, least, axis, doc)                                                                      \
  CRESSET_OP(name, , Parts, (const Tensor& self, int64_t sections), "self, sections", Gradient::composed, doc)     \
  Parts name(const Tensor& self, int64_t sections) try {                                                           \
    CRESSET_INTERCEPT(name, , Parts, self, sections);                                                              \
    check_rank(#name, self, least);                                                                                \
    return even_parts(#name, self, axis, sections);                                                                \
  }                                                                                                                \
  CRESSET_ERRORS_OF(name, , self, sections)                                                                        \
  CRESSET_OP(name, indices, Parts, (const Tensor& self, IntArrayRef indices), "self, indices", Gradient::composed, \
             doc)                                                                                                  \
  Parts name(const Tensor& self, IntArrayRef indices) try {                                                        \
    CRESSET_INTERCEPT(name, indices, Parts, self, indices);                                                        \
    check_rank(#name, self, least);                                                                                \
    return tensor_split(self, indices, axis);                                                                      \
  }                                                                                                                \
  CRESSET_ERRORS_OF(name, indices, self, indices)
CRESSET_SPLIT(hsplit, 1, (self.dim() == 1 ? 0 : 1), "tensor_split along columns: dimension 1, or 0 of a vector.")
CRESSET_SPLIT(vsplit, 2, 0, "tensor_split along rows: dimension 0.")
CRESSET_SPLIT(dsplit, 3, 2, "tensor_split along depth: dimension 2.")
#undef CRESSET_SPLIT

CRESSET_OP(split_with_sizes, , Parts, (const Tensor& self, IntArrayRef split_sizes, int64_t dim),
           "self, split_sizes, dim=0", Gradient::composed, "split into parts of the given sizes.")
Parts split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) try {
  CRESSET_INTERCEPT(split_with_sizes, , Parts, self, split_sizes, dim);
  return split(self, split_sizes, dim);
}
CRESSET_ERRORS_OF(split_with_sizes, , self, split_sizes, dim)

// ---- at least so many dimensions
namespace {
Tensor raised(const Tensor& x, int64_t rank) {
  if (x.dim() >= rank) return x;
  if (x.dim() == 0) return reshape(x, Dims::filled(static_cast<int>(rank), 1));
  Tensor wide = x.dim() == 1 ? unsqueeze(x, 0) : x;
  return rank == 3 ? unsqueeze(wide, -1) : wide;
}
Parts all_raised(TensorList tensors, int64_t rank) {
  Parts out;
  for (const Tensor& t : tensors) out.push_back(raised(t, rank));
  return out;
}
}  // namespace
#define CRESSET_ATLEAST(name, rank)                                                                  \
  CRESSET_OP(name, , Tensor, (const Tensor& self), "self", Gradient::composed,                       \
             "self, as a view with at least " #rank " dimensions.")                                  \
  Tensor name(const Tensor& self) try {                                                              \
    CRESSET_INTERCEPT(name, , Tensor, self);                                                         \
    return raised(self, rank);                                                                       \
  }                                                                                                  \
  CRESSET_ERRORS_OF(name, , self)                                                                    \
  static const Op& name##Sequence_op =                                                               \
      define_op(#name, static_cast<Parts (*)(TensorList)>(&name), "tensors",                         \
                "The tensors, as views with at least " #rank " dimensions.",                         \
                {.overload = "Sequence", .gradient = Gradient::composed, .where = Where::function}); \
  Parts name(TensorList tensors) try {                                                               \
    CRESSET_INTERCEPT(name, Sequence, Parts, tensors);                                               \
    return all_raised(tensors, rank);                                                                \
  }                                                                                                  \
  CRESSET_ERRORS_OF(name, Sequence, tensors)
CRESSET_ATLEAST(atleast_1d, 1)
CRESSET_ATLEAST(atleast_2d, 2)
CRESSET_ATLEAST(atleast_3d, 3)
#undef CRESSET_ATLEAST

// ---- joining
static void check_list(const char* op, TensorList tensors) {
  CRESSET_CHECK_AS(ShapeError, !tensors.empty(), op, ": ", op, " expects a non-empty TensorList");
}
static Tensor joined(const Into& into, const Parts& parts, int64_t dim) {
  if (into.fresh()) return cat(parts, dim);
  Tensor y = *into.tensor;
  return cat_out(y, parts, dim);
}
static Tensor hstack_into(const Into& into, TensorList tensors) {
  check_list("hstack", tensors);
  Parts parts = all_raised(tensors, 1);
  return joined(into, parts, parts[0].dim() == 1 ? 0 : 1);
}
static Tensor vstack_into(const Into& into, TensorList tensors) {
  check_list("vstack", tensors);
  return joined(into, all_raised(tensors, 2), 0);
}
static Tensor dstack_into(const Into& into, TensorList tensors) {
  check_list("dstack", tensors);
  return joined(into, all_raised(tensors, 3), 2);
}
static Tensor column_stack_into(const Into& into, TensorList tensors) {
  check_list("column_stack", tensors);
  Parts parts;
  for (const Tensor& t : tensors) parts.push_back(t.dim() <= 1 ? reshape(t, {t.numel(), 1}) : t);
  return hstack_into(into, parts);
}
CRESSET_FORMS_OUT(hstack, , (TensorList tensors), (tensors), "tensors",
                  "The tensors side by side: along dimension 1, or 0 of vectors.", .gradient = Gradient::composed)
CRESSET_FORMS_OUT(vstack, , (TensorList tensors), (tensors), "tensors",
                  "The tensors on top of each other: along dimension 0, vectors as rows.",
                  .gradient = Gradient::composed)
CRESSET_FORMS_OUT(dstack, , (TensorList tensors), (tensors), "tensors",
                  "The tensors behind each other: along dimension 2.", .gradient = Gradient::composed)
CRESSET_FORMS_OUT(column_stack, , (TensorList tensors), (tensors), "tensors", "hstack with vectors taken as columns.",
                  .gradient = Gradient::composed)

CRESSET_OP(block_diag, , Tensor, (TensorList tensors), "tensors", Gradient::composed,
           "A matrix of zeros with the tensors along its diagonal.")
Tensor block_diag(TensorList tensors) try {
  CRESSET_INTERCEPT(block_diag, , Tensor, tensors);
  if (tensors.empty()) return empty_contiguous({1, 0}, default_dtype(), kCPU);
  int64_t columns = 0, before = 0;
  std::vector<const Tensor*> all;
  for (const Tensor& t : tensors) {
    CRESSET_CHECK_AS(ShapeError, t.dim() <= 2, "block_diag: Input tensors must have 2 or fewer dimensions. Input has ",
                     t.dim(), " dimensions (shape ", text_of(t.sizes()), ")");
    columns += t.dim() ? t.size(-1) : 1;
    all.push_back(&t);
  }
  const DType dtype = result_type(all);
  Parts rows;
  for (const Tensor& t : tensors) {
    Tensor block = raised(t, 2).to(dtype);
    rows.push_back(constant_pad_nd(block, {before, columns - before - block.size(1)}));
    before += block.size(1);
  }
  return cat(rows, 0);
}
CRESSET_ERRORS_OF(block_diag, , tensors)

// ---- grids
static Parts grid(TensorList tensors, bool swapped) {
  CRESSET_CHECK_AS(ShapeError, !tensors.empty(), "meshgrid: expects a non-empty TensorList");
  Parts list = tensors.vec();
  for (const Tensor& t : list) {
    CRESSET_CHECK_AS(ShapeError, t.dim() <= 1, "meshgrid: Expected 0D or 1D tensor in the tensor list but got shape ",
                     text_of(t.sizes()));
    CRESSET_CHECK_AS(TypeError, t.dtype() == list[0].dtype(),
                     "meshgrid: meshgrid expects all tensors to have the same dtype, found ", name_of(list[0].dtype()),
                     " and ", name_of(t.dtype()));
    CRESSET_CHECK_AS(DeviceError, t.device() == list[0].device(),
                     "meshgrid: meshgrid expects all tensors to have the same device, found ", list[0].device().str(),
                     " and ", t.device().str());
  }
  swapped = swapped && list.size() >= 2;
  if (swapped) std::swap(list[0], list[1]);
  Dims shape;
  for (const Tensor& t : list) shape.push_back(t.numel());
  Parts grids;
  for (size_t i = 0; i < list.size(); i++) {
    Dims one = Dims::filled(shape.rank(), 1);
    one[static_cast<int>(i)] = -1;
    grids.push_back(expand(view(list[i], one), shape));
  }
  if (swapped) std::swap(grids[0], grids[1]);
  return grids;
}
CRESSET_OP(meshgrid, , Parts, (TensorList tensors), "tensors", Gradient::composed,
           "The coordinates of the grid that the vectors span, one tensor for each.")
Parts meshgrid(TensorList tensors) try {
  CRESSET_INTERCEPT(meshgrid, , Parts, tensors);
  return grid(tensors, false);
}
CRESSET_ERRORS_OF(meshgrid, , tensors)
CRESSET_OP(meshgrid, indexing, Parts, (TensorList tensors, std::string_view indexing), "tensors, indexing",
           Gradient::composed, "meshgrid with the first two dimensions in order (\"ij\") or exchanged (\"xy\").")
Parts meshgrid(TensorList tensors, std::string_view indexing) try {
  CRESSET_INTERCEPT(meshgrid, indexing, Parts, tensors, indexing);
  CRESSET_CHECK_AS(ValueError, indexing == "ij" || indexing == "xy",
                   "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  return grid(tensors, indexing == "xy");
}
CRESSET_ERRORS_OF(meshgrid, indexing, tensors, indexing)

CRESSET_OP(cartesian_prod, , Tensor, (TensorList tensors), "tensors", Gradient::composed,
           "All tuples of one element from each vector, one per row.")
Tensor cartesian_prod(TensorList tensors) try {
  CRESSET_INTERCEPT(cartesian_prod, , Tensor, tensors);
  check_list("cartesian_prod", tensors);
  for (const Tensor& t : tensors)
    CRESSET_CHECK_AS(ShapeError, t.dim() == 1, "cartesian_prod: Expect a 1D vector, but got shape ",
                     text_of(t.sizes()));
  if (tensors.size() == 1) return tensors[0];
  Parts columns;
  for (const Tensor& axis : grid(tensors, false)) columns.push_back(reshape(axis, {-1}));
  return stack(columns, 1);
}
CRESSET_ERRORS_OF(cartesian_prod, , tensors)

static int64_t count_combinations(int64_t n, int64_t r, bool with_replacement) {
  if (with_replacement && n > 0) n = checked_sum("combinations", {n, r, -1});
  if (r > n) return 0;
  const int64_t fewer = std::min(r, n - r);  // as many ways to choose as to leave
  __int128 count = 1;
  for (int64_t i = 1; i <= fewer; i++) {
    count = count * (n - fewer + i) / i;
    CRESSET_CHECK_AS(ValueError, count <= INT64_MAX, "combinations: there are more than an int64 can count");
  }
  return static_cast<int64_t>(count);
}
CRESSET_OP(combinations, , Tensor, (const Tensor& self, int64_t r, bool with_replacement),
           "self, r=2, with_replacement=false", Gradient::composed,
           "All combinations of r elements of a vector, one per row, in the order of their places.")
Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) try {
  CRESSET_INTERCEPT(combinations, , Tensor, self, r, with_replacement);
  CRESSET_CHECK_AS(ShapeError, self.dim() == 1, "combinations: Expect a 1D vector, but got shape ",
                   text_of(self.sizes()));
  CRESSET_CHECK_AS(ValueError, r >= 0, "combinations: Expect a non-negative number, but got ", r);
  if (r == 0) return empty_contiguous({0}, self.dtype(), self.device());
  int64_t count = count_combinations(self.size(0), r, with_replacement);
  Tensor places = empty_contiguous({count, r}, kLong, self.device());
  if (count > 0) combinations_kernel(places, self.size(0), with_replacement);
  return view(index_select(self, 0, view(places, {count * r})), {count, r});
}
CRESSET_ERRORS_OF(combinations, , self, r, with_replacement)

// ---- indices of triangles, logspace
static Tensor triangle(const char* op, int64_t row, int64_t col, int64_t offset, const TensorOptions& options,
                       bool lower) {
  CRESSET_CHECK_AS(ShapeError, row >= 0 && col >= 0, op, ": row and col must be non-negative, got ", row, " and ", col);
  // Row i has i + first places on or below the diagonal, as far as that lies between 0 and col: none, then one more per
  // row, then all.
  const __int128 first = static_cast<__int128>(offset) + (lower ? 1 : 0), rows = row, columns = col;
  const __int128 none = std::clamp<__int128>(-first, 0, rows),
                 partly = std::clamp<__int128>(columns - first, none, rows);
  __int128 count = (partly - none) * (none + partly - 1 + 2 * first) / 2 + (rows - partly) * columns;
  if (!lower) count = rows * columns - count;
  CRESSET_CHECK_AS(ShapeError, count <= INT64_MAX, op, ": more places than an int64 can count");
  Tensor y = empty_contiguous({2, static_cast<int64_t>(count)}, options.dtype_opt().value_or(kLong), options.device());
  if (count > 0) triangle_indices_kernel(y, row, col, offset, lower);
  return y;
}
CRESSET_OP(tril_indices, , Tensor, (int64_t row, int64_t col, int64_t offset, const TensorOptions& options),
           "row, col, offset=0, options={}", Gradient::none,
           "The places of a matrix on and below a diagonal: their rows and their columns.")
Tensor tril_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) try {
  CRESSET_INTERCEPT(tril_indices, , Tensor, row, col, offset, options);
  return triangle("tril_indices", row, col, offset, options, true);
}
CRESSET_ERRORS_OF(tril_indices, , row, col, offset, options)
CRESSET_OP(triu_indices, , Tensor, (int64_t row, int64_t col, int64_t offset, const TensorOptions& options),
           "row, col, offset=0, options={}", Gradient::none,
           "The places of a matrix on and above a diagonal: their rows and their columns.")
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, const TensorOptions& options) try {
  CRESSET_INTERCEPT(triu_indices, , Tensor, row, col, offset, options);
  return triangle("triu_indices", row, col, offset, options, false);
}
CRESSET_ERRORS_OF(triu_indices, , row, col, offset, options)

static Tensor logspace_into(const Into& into, const Scalar& start, const Scalar& end, int64_t steps, double base,
                            DType dtype, Device device) {
  CRESSET_CHECK_AS(ValueError, steps >= 0, "logspace: number of steps must be non-negative; found ", steps);
  CRESSET_CHECK_AS(TypeError, is_complex(dtype) || (!start.isComplex() && !end.isComplex()),
                   "logspace: found complex bounds for dtype ", name_of(dtype), " (expected a complex dtype)");
  CRESSET_CHECK_AS(TypeError, dtype != kBool, "logspace: found dtype bool (expected a number type)");
  Tensor y = result("logspace", into, {steps}, dtype, device);
  if (steps > 0) logspace_kernel(y, start, end, base);
  if (into.out()) not_differentiable(into, y);
  return y;
}
CRESSET_OP(logspace, , Tensor,
           (const Scalar& start, const Scalar& end, int64_t steps, double base, const TensorOptions& options),
           "start, end, steps, base=10.0, options={}", Gradient::none,
           "steps numbers from base to the power of start to base to the power of end, evenly spaced in the power.")
Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, const TensorOptions& options) try {
  CRESSET_INTERCEPT(logspace, , Tensor, start, end, steps, base, options);
  DType natural = start.isComplex() || end.isComplex() ? to_complex(default_dtype()) : default_dtype();
  Tensor y = logspace_into(Into{}, start, end, steps, base, options.dtype_opt().value_or(natural), options.device());
  if (options.requires_grad()) y.requires_grad_();
  return y;
}
CRESSET_ERRORS_OF(logspace, , start, end, steps, base, options)
static const Op& logspace_out_op =
    define_op("logspace_out", &logspace_out, "out, start, end, steps, base=10.0",
              "steps numbers from base to the power of start to base to the power of end.",
              {.gradient = Gradient::none, .where = Where::function, .functional = &logspace_op});
Tensor& logspace_out(Tensor& out, const Scalar& start, const Scalar& end, int64_t steps, double base) try {
  if (CRESSET_LIKELY(thread_state.modes_above == 0) ||
      !intercepted<void>(logspace_out_op, out, start, end, steps, base))
    logspace_into(into_out(out), start, end, steps, base, out.dtype(), out.device());
  return out;
}
CRESSET_ERRORS_OF(logspace_out, , out, start, end, steps, base)

}  // namespace cresset
