// A tensor's place in the graph beyond its node: gradient, hooks and the accumulator of a leaf. For sources: programs
// reach all of it through Tensor and Node.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cresset/autograd/call_site.h"
#include "cresset/autograd/node.h"

namespace cresset::autograd {

class AccumulateGrad;

// Keeps the gradient of a tensor that is no leaf. The node and the tensor share it, so that either may go first.
class CRESSET_API GradKeeper {
 public:
  explicit GradKeeper(Tensor* into) : into_(into) {}
  void keep(const Tensor& gradient);
  void forget();  // the tensor is going, or is kept elsewhere now

 private:
  std::mutex mutex_;
  Tensor* into_;
};

// Lists of hooks are copied before they are called, since a hook may remove itself; the hook, with what it captured and
// changes, stays one object.
template <class Signature>
using SharedHook = std::shared_ptr<std::function<Signature>>;

// Anomaly mode: the node whose backward made a node of a second graph, and so on.
struct InducedBy {
  std::string name;
  CallSite made_at;
  std::shared_ptr<const InducedBy> before;
};

// What few nodes have: hooks and what anomaly mode keeps.
struct NodeExtras {
  struct TensorHook {
    unsigned id;
    uint32_t output_nr;
    SharedHook<Tensor(const Tensor&)> call;
  };
  unsigned next_id = 0;
  std::vector<TensorHook> tensor_hooks;  // on one output's gradient, in order
  std::vector<std::pair<unsigned, SharedHook<variable_list(const variable_list&)>>> pre_hooks;
  std::vector<std::pair<unsigned, SharedHook<variable_list(const variable_list&, const variable_list&)>>> post_hooks;
  std::vector<std::pair<uint32_t, std::shared_ptr<GradKeeper>>> retained;  // by output
  CallSite made_at;                                                        // anomaly mode: of the forward op
  std::shared_ptr<const InducedBy> induced_by;
  bool has_node_hooks() const { return !pre_hooks.empty() || !post_hooks.empty(); }
};

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
