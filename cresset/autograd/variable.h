// A tensor's place in the graph beyond its node: gradient, hooks and the accumulator of a leaf.
#pragma once

#include <mutex>

#include "cresset/autograd/node.h"

namespace cresset::autograd {

class AccumulateGrad;

struct CRESSET_API AutogradData : AutogradDataBase {
  Tensor grad;
  Tensor destination;  // gradients are written into it (a view of a flat buffer), also after grad was reset
  AccumulateGrad* accumulator = nullptr;      // weak: the graph owns it, it owns nothing of ours but the leaf
  std::mutex mutex;                           // of the accumulation into grad, and of accumulator
  std::vector<NodeExtras::TensorHook> hooks;  // of a leaf: they outlive its accumulator
  std::vector<std::pair<unsigned, SharedHook<void(const Tensor&)>>> post_accumulate_hooks;
  unsigned next_id = 0;
  std::shared_ptr<GradKeeper> keeper;  // of a tensor that is no leaf and keeps its gradient
  std::string name;
  ~AutogradData() override {
    if (keeper) keeper->forget();
  }
};

CRESSET_API AutogradData& autograd_data(const Tensor& tensor);  // made when asked for
CRESSET_API AutogradData* autograd_data_or_null(const Tensor& tensor);

// Gradients of `leaf` go into `destination` (same shape and dtype) from now on; undefined takes it back.
CRESSET_API void set_grad_destination(const Tensor& leaf, const Tensor& destination);

// Adds the gradient into the leaf. It holds the leaf, so a graph keeps its leaves alive.
class CRESSET_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf);
  void deallocate_self() override;
  Grads apply(Tensor* gradients, size_t count) override;
  void call_leaf_hooks(Tensor& gradient) override;
  const Tensor& leaf() const { return leaf_; }

 private:
  void accumulate(AutogradData& data, Tensor gradient);
  Tensor leaf_;
};

// A tensor that keeps its gradient goes on keeping it at its new node.
void move_retained(const Tensor& y);

// A gradient whose handle and memory nobody else holds may be taken over or added to.
bool is_stealable(const Tensor& gradient);

}  // namespace cresset::autograd
