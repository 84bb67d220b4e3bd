// Checks, promotion, broadcasting, result allocation and overlap.
#include "cresset/ops/shape_rule.h"

#include <algorithm>

#include "cresset/core/memory_overlap.h"
#include "cresset/ops/shape.h"

namespace cresset {

int wrap_dim(const char* op, int64_t dim, int64_t rank) {
  int64_t range = rank > 0 ? rank : 1;
  CRESSET_CHECK_AS(IndexError, dim >= -range && dim < range, op,
                   ": Dimension out of range (expected to be in range of [", -range, ", ", range - 1, "], but got ",
                   dim, ")");
  return static_cast<int>(dim < 0 ? dim + range : dim);
}
int wrap_dim(const char* op, int64_t dim, const Tensor& x) {
  int64_t rank = x.dim(), range = rank > 0 ? rank : 1;
  CRESSET_CHECK_AS(IndexError, dim >= -range && dim < range, op, ": dim ", dim, " is out of range for shape ",
                   text_of(x.sizes()), " (expected ", -range, " to ", range - 1, ")");
  return static_cast<int>(dim < 0 ? dim + range : dim);
}

DType result_type(ArrayRef<const Tensor*> tensors) {
  DType kinds[3] = {DType::Undefined, DType::Undefined, DType::Undefined};  // with dimensions, 0-d, numbers
  for (const Tensor* t : tensors) {
    if (!t->defined()) continue;
    DType dtype = t->dtype();
    TensorImpl* impl = t->impl();
    if (impl->wrapped_number && is_floating_point(dtype)) dtype = default_dtype();
    if (impl->wrapped_number && is_complex(dtype)) dtype = to_complex(default_dtype());
    DType& kind = kinds[impl->wrapped_number ? 2 : impl->sizes.rank() == 0 ? 1 : 0];
    kind = promote_types(kind, dtype);
  }
  // A lower kind counts only if it is of a higher category: integers before bool, floats before integers, complex
  // before floats.
  auto category = [](DType t) {
    return t == DType::Undefined ? -1 : is_complex(t) ? 3 : is_floating_point(t) ? 2 : t == kBool ? 0 : 1;
  };
  DType type = kinds[0];
  for (int i = 1; i < 3; i++) {
    if (category(kinds[i]) <= category(type)) continue;
    if (is_complex(kinds[i]) && is_floating_point(type))
      type = to_complex(type);  // the width stays
    else
      type = type == DType::Undefined ? kinds[i] : promote_types(type, kinds[i]);
  }
  return type;
}
DType result_type(const Tensor& a, const Tensor& b) {
  if (CRESSET_LIKELY(a.dtype() == b.dtype() && !a.impl()->wrapped_number && !b.impl()->wrapped_number))
    return a.dtype();
  return result_type({&a, &b});
}

Dims broadcast_shapes(const char* op, IntArrayRef a, IntArrayRef b) {
  size_t rank = std::max(a.size(), b.size());
  Dims shape;
  shape.resize(static_cast<int>(rank));
  for (size_t i = 0; i < rank; i++) {
    int64_t x = i + a.size() >= rank ? a[i + a.size() - rank] : 1;
    int64_t y = i + b.size() >= rank ? b[i + b.size() - rank] : 1;
    CRESSET_CHECK_AS(ShapeError, x == y || x == 1 || y == 1, op, ": shapes ", text_of(a), " and ", text_of(b),
                     " do not broadcast: The size of tensor a (", x, ") must match the size of tensor b (", y,
                     ") at non-singleton dimension ", i);
    shape[static_cast<int>(i)] = x == 1 ? y : x;
  }
  return shape;
}

void check_defined(const char* op, const char* argument, const Tensor& x) {
  CRESSET_CHECK(x.defined(), op, ": ", argument, " is undefined (expected a tensor)");
}
void check_same_device(const char* op, const Tensor& a, const Tensor& b) {
  if (CRESSET_LIKELY(a.device() == b.device())) return;
  if ((a.dim() == 0 && a.is_cpu()) || (b.dim() == 0 && b.is_cpu())) return;  // a number may come from the CPU
  throw DeviceError(message_of(op, ": Expected all tensors to be on the same device, but found at least two devices, ",
                               a.device().str(), " and ", b.device().str()));
}
void check_dtype(const char* op, const char* argument, const Tensor& x, DType wanted) {
  CRESSET_CHECK_AS(TypeError, x.dtype() == wanted, op, ": ", argument, " has dtype ", name_of(x.dtype()), " (expected ",
                   name_of(wanted), ")");
}

bool repeats_memory(const Tensor& x) { return !x.is_contiguous() && repeats_addresses(x.sizes(), x.strides()); }
void check_no_repeats(const char* op, const Tensor& written) {
  CRESSET_CHECK(!repeats_memory(written), op,
                ": unsupported operation: more than one element of the written-to tensor refers to a single memory "
                "location (shape ",
                text_of(written.sizes()), ", strides ", text_of(written.strides()),
                "). Please clone() the tensor before performing the operation");
}

namespace {

[[noreturn]] void refuse_overlap(const char* op) {
  throw Error(message_of(op,
                         ": unsupported operation: some elements of the input tensor and the written-to tensor refer "
                         "to a single memory location. Please "
                         "clone() the tensor before performing the operation"));
}

void check_written(const char* op, const Into& into, DType compute) {
  const Tensor& y = *into.tensor;
  if (into.out() && CRESSET_UNLIKELY(y.impl()->inference)) autograd::check_inplace(op, y, false);
  CRESSET_CHECK_AS(TypeError, can_cast(compute, y.dtype()), op, ": result type ", toString(compute),
                   " can't be cast to the desired output type ", toString(y.dtype()));
  check_no_repeats(op, y);
}

void resize_out(const char* op, const Tensor& out, IntArrayRef sizes, IntArrayRef strides) {
  if (out.sizes() == sizes) return;
  TensorImpl* impl = out.impl();
  CRESSET_CHECK_AS(ShapeError, impl->storage->resizable && !impl->differentiable_view && impl->offset == 0, op,
                   ": out has shape ", text_of(out.sizes()), " (expected ", text_of(sizes),
                   ") and is a view or borrowed memory, which cannot be resized");
  Tensor fresh = empty_strided(sizes, strides, out.options());
  impl->storage = fresh.impl()->storage;
  impl->set_geometry(sizes, strides);
}

// PyTorch's rule for the strides of a pointwise result: the order of dimensions follows the inputs' strides.
Dims result_strides(IntArrayRef sizes, std::initializer_list<const Tensor*> inputs) {
  int rank = static_cast<int>(sizes.size());
  Dims order;  // fastest last to first: order[0] is the fastest dimension
  for (int i = rank - 1; i >= 0; i--) order.push_back(i);
  auto stride_of = [&](const Tensor& t, int64_t dim) -> int64_t {
    int64_t at = dim - (rank - t.dim());
    if (at < 0 || (t.impl()->sizes[static_cast<int>(at)] == 1 && sizes[static_cast<size_t>(dim)] != 1)) return 0;
    return t.impl()->strides[static_cast<int>(at)];
  };
  // 1: a belongs after b (slower); -1: before; 0: the inputs do not say
  auto compare = [&](int64_t a, int64_t b) {
    for (const Tensor* t : inputs) {
      int64_t x = stride_of(*t, a), y = stride_of(*t, b);
      if (x == 0 || y == 0) continue;
      if (x != y) return x < y ? -1 : 1;
      if (sizes[static_cast<size_t>(a)] > sizes[static_cast<size_t>(b)]) return 1;
    }
    return 0;
  };
  for (int i = 1; i < rank; i++) {  // insertion sort that leaves undecided pairs as they stand
    int at = i;
    for (int j = i - 1; j >= 0; j--) {
      int c = compare(order[j], order[at]);
      if (c > 0) {
        std::swap(order[j], order[at]);
        at = j;
      } else if (c < 0) {
        break;
      }
    }
  }
  Dims strides = Dims::filled(rank, 0);
  int64_t step = 1;
  for (int64_t dim : order) {
    strides[static_cast<int>(dim)] = step;
    step *= std::max<int64_t>(sizes[static_cast<size_t>(dim)], 1);
  }
  return strides;
}

// A dense first input of the full shape gives its own strides; sizes of 1 leave a choice, which the rule above makes.
bool decides_strides(const Tensor& first) {
  for (int64_t n : first.sizes())
    if (n <= 1) return false;
  return is_dense(first.sizes(), first.strides());
}

// A fresh tensor laid out as x, which decides_strides: its geometry has been checked when it was made, so that only the
// bytes of another dtype can be too many.
Tensor laid_out_as(const Tensor& x, DType dtype, Device device) {
  const TensorImpl* from = x.impl();
  int64_t bytes = 0;
  if (CRESSET_UNLIKELY(__builtin_mul_overflow(from->numel, static_cast<int64_t>(element_size(dtype)), &bytes)))
    return empty_strided(x.sizes(), x.strides(), dtype, device);  // which says so
  auto storage = StorageImpl::make(static_cast<size_t>(bytes), device);
  auto owned = Ref<TensorImpl>::adopt(TensorImpl::make());
  TensorImpl* impl = owned.get();
  impl->dtype = dtype;
  impl->device = device;
  impl->inference = thread_state.inference;
  impl->storage = std::move(storage);
  int rank = from->sizes.rank();
  impl->sizes.resize(rank);
  impl->strides.resize(rank);
  for (int i = 0; i < rank; i++) {
    impl->sizes[i] = from->sizes[i];
    impl->strides[i] = from->strides[i];
  }
  impl->numel = from->numel;
  impl->contiguous = from->contiguous;
  return Tensor(std::move(owned));
}

}  // namespace

void check_no_overlap(const char* op, const Tensor& written, const Tensor& read) {
  if (memory_overlap(written, read) != MemoryOverlap::none) refuse_overlap(op);
}

Tensor result(const char* op, const Into& into, IntArrayRef sizes, DType dtype, Device device,
              std::initializer_list<const Tensor*> reads) {
  if (CRESSET_LIKELY(into.fresh())) return empty_contiguous(sizes, dtype, device);
  const Tensor& y = *into.tensor;
  check_defined(op, into.out() ? "out" : "self", y);
  check_written(op, into, dtype);
  CRESSET_CHECK_AS(DeviceError, y.device() == device, op, ": out is on ", y.device().str(), " (expected ", device.str(),
                   ")");
  CRESSET_CHECK_AS(TypeError, y.dtype() == dtype, op, ": out has dtype ", name_of(y.dtype()), " (expected ",
                   name_of(dtype), ")");
  bool others = false;
  for (const Tensor* t : reads) others = others || (t->defined() && t->requires_grad());
  if (into.in_place()) {
    autograd::check_inplace(op, y, others);
    CRESSET_CHECK_AS(ShapeError, y.sizes() == sizes, op, ": output with shape ", text_of(y.sizes()),
                     " doesn't match the result's shape ", text_of(sizes));
    return y;
  }
  if (thread_state.grad_enabled && (others || y.requires_grad())) autograd::out_form_with_grad(op);
  for (const Tensor* t : reads)
    if (t->defined() && t->impl() == y.impl()) refuse_overlap(op);  // before it is resized
  resize_out(op, y, sizes, contiguous_strides(sizes));
  for (const Tensor* t : reads)
    if (t->defined() && memory_overlap(y, *t) != MemoryOverlap::none) refuse_overlap(op);
  return y;
}

namespace {
// What the inputs of a pointwise op have in common.
struct Common {
  Device device;
  bool same_sizes = true;
  bool contiguous = true;
};
Common common_of(const char* op, std::initializer_list<const Tensor*> inputs) {
  const Tensor& first = **inputs.begin();
  Common common{first.device()};
  for (const Tensor* t : inputs) {
    Device device = t->device();  // refuses an undefined tensor
    TensorImpl* impl = t->impl();
    common.same_sizes = common.same_sizes && impl->sizes == first.impl()->sizes;
    common.contiguous = common.contiguous && impl->contiguous;
    if (CRESSET_LIKELY(device == common.device)) continue;
    if (common.device.is_cpu() && first.dim() == 0)
      common.device = device;
    else if (!(device.is_cpu() && impl->sizes.rank() == 0))
      check_same_device(op, first, *t);
  }
  return common;
}

Dims broadcast_all(const char* op, std::initializer_list<const Tensor*> inputs) {
  Dims shape = (**inputs.begin()).impl()->sizes;
  for (const Tensor* t : inputs) {
    const Dims& other = t->impl()->sizes;
    if (other == shape || (t->impl()->numel == 1 && other.rank() <= shape.rank())) continue;
    shape = broadcast_shapes(op, shape, other);
  }
  return shape;
}

Tensor given_result(const char* op, const Into& into, std::initializer_list<const Tensor*> inputs, DType compute,
                    IntArrayRef sizes, Device device) {
  const Tensor& y = *into.tensor;
  check_defined(op, into.out() ? "out" : "self", y);
  check_written(op, into, compute);
  CRESSET_CHECK_AS(DeviceError, y.device() == device || device.is_cpu(), op, ": out is on ", y.device().str(),
                   " (expected ", device.str(), ")");
  bool others = false;
  for (const Tensor* t : inputs) others = others || t->requires_grad();
  if (into.in_place()) {
    autograd::check_inplace(op, y, others);
    CRESSET_CHECK_AS(ShapeError, y.sizes() == sizes, op, ": output with shape ", text_of(y.sizes()),
                     " doesn't match the broadcast shape ", text_of(sizes));
  } else {
    if (thread_state.grad_enabled && (others || y.requires_grad())) autograd::out_form_with_grad(op);
    if (!(y.sizes() == sizes)) {
      for (const Tensor* t : inputs)
        CRESSET_CHECK_AS(ShapeError, t->impl() != y.impl(), op, ": output with shape ", text_of(y.sizes()),
                         " doesn't match the broadcast shape ", text_of(sizes), ", and is an input");
      resize_out(op, y, sizes, result_strides(sizes, inputs));
    }
  }
  for (const Tensor* t : inputs)
    if (t->impl() != y.impl() && memory_overlap(y, *t) == MemoryOverlap::partial) refuse_overlap(op);
  return y;
}
}  // namespace

Tensor pointwise_result(const char* op, const Into& into, std::initializer_list<const Tensor*> inputs, DType compute,
                        DType dtype) {
  const Tensor& first = **inputs.begin();
  Common common = common_of(op, inputs);
  if (CRESSET_LIKELY(common.same_sizes)) {
    const Dims& sizes = first.impl()->sizes;
    if (!into.fresh()) return given_result(op, into, inputs, compute, sizes, common.device);
    if (common.contiguous) return empty_contiguous(sizes, dtype, common.device);
    if (decides_strides(first)) return laid_out_as(first, dtype, common.device);
    return empty_strided(sizes, result_strides(sizes, inputs), dtype, common.device);
  }
  Dims sizes = broadcast_all(op, inputs);
  if (!into.fresh()) return given_result(op, into, inputs, compute, sizes, common.device);
  if (common.contiguous) return empty_contiguous(sizes, dtype, common.device);
  return empty_strided(sizes, result_strides(sizes, inputs), dtype, common.device);
}

Tensor preserved(const Into& into, const Tensor& x, bool needed) {
  if (into.fresh() || !needed || !into.tensor->is_alias_of(x)) return x;
  Tensor copy = x.detach().clone();
  if (!x.requires_grad()) return copy;
  // Keeps x's place in the graph as it is now, for second derivatives.
  autograd::Edge edge = autograd::gradient_edge(x);
  if (edge.is_valid()) {
    copy.impl()->node = edge.function;
    copy.impl()->output_nr = edge.input_nr;
    copy.impl()->requires_grad = true;
  }
  return copy;
}

namespace {
Tensor sum_dims(const Tensor& gradient, const Dims& dims, int lead) {
  Tensor summed = dims.empty() ? gradient : gradient.sum(dims, /*keepdim=*/true);
  return lead > 0 ? summed.reshape(summed.sizes().slice(static_cast<size_t>(lead))) : summed;
}
}  // namespace

Tensor summed_to(const Tensor& gradient, IntArrayRef sizes) {
  if (CRESSET_LIKELY(gradient.sizes() == sizes)) return gradient;
  int lead = static_cast<int>(gradient.dim()) - static_cast<int>(sizes.size());
  Dims dims;
  for (int i = 0; i < gradient.dim(); i++)
    if (i < lead || (sizes[static_cast<size_t>(i - lead)] == 1 && gradient.impl()->sizes[i] != 1)) dims.push_back(i);
  return sum_dims(gradient, dims, lead);
}

void Broadcast::compare(const Dims& from, const Dims& to) {
  CRESSET_CHECK_AS(ShapeError, to.rank() <= kMost, "broadcast: found ", to.rank(), " dimensions (expected at most ",
                   kMost, ")");
  int lead = to.rank() - from.rank();
  uint64_t mask = 0;
  lead_ = static_cast<uint8_t>(lead);
  for (int i = 0; i < to.rank(); i++)
    if (i < lead || (from[i - lead] == 1 && to[i] != 1)) mask |= uint64_t{1} << i;
  ones_ = mask & ((uint64_t{1} << kMost) - 1);
}

Tensor Broadcast::reduce(Tensor g) const {
  if (CRESSET_UNLIKELY(ones_ != 0 || lead_ != 0)) {
    Dims dims;
    for (int i = 0; i < g.dim(); i++)
      if (ones_ >> i & 1) dims.push_back(i);
    g = sum_dims(g, dims, lead_);
  }
  if (CRESSET_UNLIKELY(g.dtype() != dtype_))
    return g.to(dtype_);  // for a real input of a complex result: the real part
  return g;
}

}  // namespace cresset
