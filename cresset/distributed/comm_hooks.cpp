#include "cresset/distributed/comm_hooks.h"

#include "cresset/distributed/collectives.h"
#include "cresset/ops/all.h"

namespace cresset::distributed {

GradBucket::GradBucket(size_t index, bool is_last, Tensor buffer, std::vector<Tensor> parameters)
    : index_(index), is_last_(is_last), buffer_(std::move(buffer)), parameters_(std::move(parameters)) {}

std::vector<Tensor> GradBucket::gradients() const {
  std::vector<Tensor> views;
  int64_t offset = buffer_.storage_offset();
  for (const Tensor& parameter : parameters_) {
    const bool dense = parameter.is_non_overlapping_and_dense();
    Tensor view = dense ? alias(buffer_, parameter.sizes(), parameter.strides(), offset)
                        : alias(buffer_, parameter.sizes(),
                                empty_contiguous(parameter.sizes(), buffer_.dtype(), Device(kMeta)).strides(), offset);
    views.push_back(std::move(view));
    offset += room(parameter);
  }
  return views;
}

void GradBucket::set_buffer(Tensor buffer) {
  CRESSET_CHECK_AS(ShapeError, buffer.defined() && buffer.dim() == 1 && buffer.numel() == buffer_.numel(),
                   "GradBucket::set_buffer: found shape ", buffer.defined() ? text_of(buffer.sizes()) : "(undefined)",
                   " (expected ", text_of(buffer_.sizes()), ", as the bucket's)");
  buffer_ = std::move(buffer);
}

namespace {

Group group_or_default(const Group& group) { return group ? group : default_group(); }

CommHook compress_hook(DType dtype, const Group& group) {
  return [dtype, group](GradBucket& bucket) -> BucketWork {
    NoGradGuard no_grad;
    const Group among = group_or_default(group);
    Tensor small = bucket.buffer().div(among->size()).to(dtype);
    return {among->all_reduce({small}, ReduceOp::SUM), [small](GradBucket& done) -> BucketWork {
              NoGradGuard off;
              done.buffer().copy_(small);
              return {};
            }};
  };
}

// Puts the wide buffer back behind the inner hook's last stage.
BucketWork then_widen(BucketWork inner, const Tensor& wide) {
  auto next = std::move(inner.then);
  return {inner.work, [next, wide](GradBucket& bucket) -> BucketWork {
            if (next) {
              BucketWork more = next(bucket);
              return then_widen(std::move(more), wide);
            }
            NoGradGuard no_grad;
            wide.copy_(bucket.buffer());
            bucket.set_buffer(wide);
            return {};
          }};
}

CommHook compress_wrapper(DType dtype, CommHook hook) {
  CRESSET_CHECK_AS(ValueError, hook, "compress_wrapper: found an empty hook (expected one that can be called)");
  return [dtype, hook = std::move(hook)](GradBucket& bucket) -> BucketWork {
    NoGradGuard no_grad;
    Tensor wide = bucket.buffer();
    bucket.set_buffer(wide.to(dtype));
    return then_widen(hook(bucket), wide);
  };
}

}  // namespace

CommHook all_reduce_hook(const Group& group) {
  return [group](GradBucket& bucket) -> BucketWork {
    return group_or_default(group)->all_reduce({bucket.buffer()}, ReduceOp::AVG);
  };
}
CommHook fp16_compress_hook(const Group& group) { return compress_hook(kHalf, group); }
CommHook bf16_compress_hook(const Group& group) { return compress_hook(kBFloat16, group); }
CommHook fp16_compress_wrapper(CommHook hook) { return compress_wrapper(kHalf, std::move(hook)); }
CommHook bf16_compress_wrapper(CommHook hook) { return compress_wrapper(kBFloat16, std::move(hook)); }

}  // namespace cresset::distributed
