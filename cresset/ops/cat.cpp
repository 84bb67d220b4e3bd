// cat, stack, chunk. The gradient of cat is a node of its own, because a formula cannot capture a list of sizes.
#include "cresset/ops/cat.h"

#include "cresset/ops/forms.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

// Before empty tensors had shapes, [0] meant nothing at all, and code still starts lists with it: PyTorch skips it.
bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; }

class CatNode final : public autograd::Pooled<CatNode> {
 public:
  CatNode(TensorList tensors, int dim)
      : Pooled("CatBackward0", nullptr, static_cast<uint32_t>(tensors.size()), 1),
        edges_of_(tensors.size()),
        dim_(dim) {
    edges_ = edges_of_.data();
    for (size_t i = 0; i < tensors.size(); i++) {
      const Tensor& t = tensors[i];
      if (t.requires_grad()) edges_[i] = autograd::gradient_edge(t);
      parts_.push_back({is_skipped(t) ? 0 : t.size(dim), t.dtype(), is_skipped(t)});
    }
  }

  Grads apply(Tensor* gradients, size_t) override {
    Grads result(num_edges_);
    const Tensor& g = gradients[0];
    if (!g.defined()) return result;
    int64_t start = 0;
    for (size_t i = 0; i < parts_.size(); i++) {
      const Part& part = parts_[i];
      if (wants(i))
        result[i] = part.skipped ? g.new_zeros({0}, part.dtype) : narrow(g, dim_, start, part.size).to(part.dtype);
      start += part.size;
    }
    return result;
  }

 private:
  struct Part {
    int64_t size;
    DType dtype;
    bool skipped;
  };
  std::vector<autograd::Edge> edges_of_;
  std::vector<Part> parts_;
  int dim_;
};

// The first tensor that has a shape, or the first of all.
const Tensor& shaped_one(TensorList tensors) {
  for (const Tensor& t : tensors)
    if (!is_skipped(t)) return t;
  return tensors[0];
}

void check_list(TensorList tensors) {
  CRESSET_CHECK_AS(ShapeError, !tensors.empty(), "cat: expected a non-empty list of Tensors, found none");
  for (size_t i = 0; i < tensors.size(); i++) {
    CRESSET_CHECK(tensors[i].defined(), "cat: tensor ", i, " of the list is undefined (expected a tensor)");
    CRESSET_CHECK_AS(ShapeError, tensors[i].dim() > 0, "cat: zero-dimensional tensor (at position ", i,
                     ") cannot be concatenated");
    CRESSET_CHECK_AS(DeviceError, tensors[i].device() == tensors[0].device(),
                     "cat: Expected all tensors to be on the same device, but found at least two devices, ",
                     tensors[0].device().str(), " and ", tensors[i].device().str());
  }
}

Dims joined_sizes(TensorList tensors, int dim) {
  Dims sizes(shaped_one(tensors).sizes());
  sizes[dim] = 0;
  for (size_t i = 0; i < tensors.size(); i++) {
    const Tensor& t = tensors[i];
    if (is_skipped(t)) continue;
    CRESSET_CHECK_AS(ShapeError, t.dim() == sizes.rank(), "cat: Tensors must have same number of dimensions: got ",
                     sizes.rank(), " and ", t.dim());
    for (int d = 0; d < sizes.rank(); d++)
      CRESSET_CHECK_AS(ShapeError, d == dim || t.size(d) == sizes[d],
                       "cat: Sizes of tensors must match except in dimension ", dim, ". Expected size ", sizes[d],
                       " but got size ", t.size(d), " for tensor number ", i, " in the list");
    CRESSET_CHECK_AS(ShapeError, !__builtin_add_overflow(sizes[dim], t.size(dim), &sizes[dim]),
                     "cat: the sizes along dimension ", dim, " add up to more than an int64 can count");
  }
  return sizes;
}

// Channels-last only if every input is.
MemoryFormat joined_format(TensorList tensors) {
  MemoryFormat format = tensors[0].suggest_memory_format();
  for (const Tensor& t : tensors)
    if (t.suggest_memory_format() != format) return MemoryFormat::Contiguous;
  return format;
}

Tensor joined_result(const Into& into, TensorList tensors, IntArrayRef sizes, DType dtype) {
  Device device = tensors[0].device();
  if (into.fresh()) {
    MemoryFormat format = joined_format(tensors);
    if (format == MemoryFormat::Contiguous) return empty_contiguous(sizes, dtype, device);
    return empty_strided(sizes, channels_last_strides(sizes), TensorOptions(dtype).device(device));
  }
  const Tensor& out = *into.tensor;
  check_defined("cat", "out", out);
  CRESSET_CHECK_AS(TypeError, can_cast(dtype, out.dtype()), "cat: result type ", toString(dtype),
                   " can't be cast to the desired output type ", toString(out.dtype()));
  if (any_requires_grad(inputs(tensors))) autograd::out_form_with_grad("cat");
  Tensor y = result("cat", into, sizes, out.dtype(), device);
  for (const Tensor& t : tensors) check_no_overlap("cat", y, t);
  return y;
}

}  // namespace

static Tensor cat_into(const Into& into, TensorList tensors, int64_t dim) {
  check_list(tensors);
  const Tensor& shaped = shaped_one(tensors);
  int d = is_skipped(shaped) ? 0 : wrap_dim("cat", dim, shaped);
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = promote_types(dtype, t.dtype());
  Tensor y = joined_result(into, tensors, joined_sizes(tensors, d), dtype);
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors)
    if (t.numel() > 0) parts.push_back(t);
  if (!parts.empty()) cat_kernel(y, parts, d);
  if (!into.fresh()) autograd::bump_version(y);
  if (CRESSET_LIKELY(!any_requires_grad(inputs(tensors)))) return y;
  autograd::set_history(into, y, autograd::make_node<CatNode>(tensors, d));
  return y;
}
CRESSET_FUNCTION_FORM(cat, , (TensorList tensors, int64_t dim), (tensors, dim), "tensors, dim=0",
                      "The tensors one after the other along dim, with type promotion.")
CRESSET_OUT_FORM(cat, , (TensorList tensors, int64_t dim), (tensors, dim), "tensors, dim=0",
                 "The tensors one after the other along dim, with type promotion.")

static Tensor stack_into(const Into& into, TensorList tensors, int64_t dim) {
  CRESSET_CHECK_AS(ShapeError, !tensors.empty(), "stack: stack expects a non-empty TensorList");
  std::vector<Tensor> layers;
  for (size_t i = 0; i < tensors.size(); i++) {
    CRESSET_CHECK(tensors[i].defined(), "stack: tensor ", i, " of the list is undefined (expected a tensor)");
    CRESSET_CHECK_AS(ShapeError, tensors[i].sizes() == tensors[0].sizes(),
                     "stack: stack expects each tensor to be equal size, but got ", text_of(tensors[0].sizes()),
                     " at entry 0 and ", text_of(tensors[i].sizes()), " at entry ", i);
    layers.push_back(unsqueeze(tensors[i], wrap_dim("stack", dim, tensors[0].dim() + 1)));
  }
  const int along = wrap_dim("stack", dim, tensors[0].dim() + 1);
  if (into.fresh()) return cat(layers, along);
  Tensor y = *into.tensor;
  return cat_out(y, layers, along);
}
CRESSET_FORMS_OUT(stack, , (TensorList tensors, int64_t dim), (tensors, dim), "tensors, dim=0",
                  "The tensors one after the other along a new dimension.", .gradient = Gradient::composed)

CRESSET_OP(chunk, , std::vector<Tensor>, (const Tensor& self, int64_t chunks, int64_t dim), "self, chunks, dim=0",
           Gradient::composed, "Views of at most that many equal parts along dim, the last one maybe smaller.")
std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) try {
  CRESSET_INTERCEPT(chunk, , std::vector<Tensor>, self, chunks, dim);
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0, "chunk: chunk expects at least a 1-dimensional tensor");
  CRESSET_CHECK_AS(ValueError, chunks > 0, "chunk: chunk expects `chunks` to be greater than 0, got: ", chunks);
  int64_t n = self.size(wrap_dim("chunk", dim, self));
  CRESSET_CHECK_AS(ValueError, n > 0 || chunks <= INT32_MAX, "chunk: found ", chunks,
                   " chunks of an empty dimension (expected at most ", INT32_MAX, ")");
  if (n == 0) return split(self, Dims::filled(static_cast<int>(chunks), 0), dim);
  return split(self, (n - 1) / chunks + 1, dim);
}
CRESSET_ERRORS_OF(chunk, , self, chunks, dim)

}  // namespace cresset
