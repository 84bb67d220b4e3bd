// What happens to a bucket of gradients between backward and the optimizer: usually an all-reduce, or what a user's
// hook does instead (compression, averaging among some ranks only).
//
// A hook starts collectives and returns at once. Where more is to be done with the result, `then` does it on the
// training thread at the end of backward; it may start further collectives and return them in its turn. All buckets
// finish one stage before the next begins, in the order of the buckets: collectives run in the same order on every
// rank, and the second stage of one bucket travels while the next bucket is being worked on. State between steps (error
// feedback) lives in the hook, by the bucket's index or its parameters.
#pragma once

#include <functional>

#include "cresset/distributed/process_group.h"

namespace cresset::distributed {

class CRESSET_API GradBucket {
 public:
  GradBucket(size_t index, bool is_last, Tensor buffer, std::vector<Tensor> parameters);

  size_t index() const { return index_; }
  bool is_last() const { return is_last_; }
  // All its gradients in a row, in memory of its own.
  const Tensor& buffer() const { return buffer_; }
  // Views of the buffer, in the order and shape of the parameters.
  std::vector<Tensor> gradients() const;
  const std::vector<Tensor>& parameters() const { return parameters_; }
  // Another buffer of as many elements for this step, of any dtype: a hook that wraps another one compresses so. What
  // the last stage leaves in it becomes the gradients.
  void set_buffer(Tensor buffer);
  // The elements that a parameter takes up in a buffer: each begins on a cache line of its own.
  static int64_t room(const Tensor& parameter) { return (parameter.numel() + 15) / 16 * 16; }

 private:
  friend class Reducer;
  size_t index_;
  bool is_last_;
  Tensor buffer_;
  std::vector<Tensor> parameters_;
};

struct BucketWork {
  Work work;
  std::function<BucketWork(GradBucket& bucket)> then;  // empty: the bucket's buffer holds the result

  BucketWork() = default;
  BucketWork(Work work_, std::function<BucketWork(GradBucket&)> then_ = {})  // NOLINT: return group->all_reduce(…)
      : work(std::move(work_)), then(std::move(then_)) {}
};
using CommHook = std::function<BucketWork(GradBucket& bucket)>;

// The average over the group; what DistributedDataParallel does without a hook. Null: the default group.
CRESSET_API CommHook all_reduce_hook(const Group& group = nullptr);
inline CommHook allreduce_hook(const Group& group = nullptr) { return all_reduce_hook(group); }  // PyTorch's spelling
// The same in half the bytes. Each rank's share is divided before it is rounded, so that the sum stays in range.
CRESSET_API CommHook fp16_compress_hook(const Group& group = nullptr);
CRESSET_API CommHook bf16_compress_hook(const Group& group = nullptr);
// Another hook on a buffer of 16-bit numbers: fp16_compress_wrapper(power_sgd_hook).
CRESSET_API CommHook fp16_compress_wrapper(CommHook hook);
CRESSET_API CommHook bf16_compress_wrapper(CommHook hook);

}  // namespace cresset::distributed
