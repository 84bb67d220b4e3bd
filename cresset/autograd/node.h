// Node: one differentiable step of the graph. Edges lead to the nodes that made its inputs. The engine hands it the
// gradients of its outputs and takes those of its inputs. Counters of a backward run live in the run, not here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cresset/core/tensor.h"

namespace cresset::autograd {

class Node;
class Run;

struct Edge {
  Ref<Node> function;
  uint32_t input_nr = 0;  // which output of `function` this is
  bool is_valid() const { return static_cast<bool>(function); }
};

// A short list of tensors, inline up to four: what nodes return. Only the places in use are made and destroyed.
class CRESSET_API Grads {
 public:
  Grads() : more_(nullptr) {}
  explicit Grads(size_t count) : count_(count) {
    if (CRESSET_UNLIKELY(count > kInline)) {
      more_ = new Tensor[count];
      return;
    }
    for (size_t i = 0; i < count; i++) new (&inline_[i]) Tensor;
  }
  Grads(Grads&& other) noexcept { take(other); }
  Grads& operator=(Grads&& other) noexcept {
    if (this == &other) return *this;
    clear();
    take(other);
    return *this;
  }
  ~Grads() { clear(); }
  size_t size() const { return count_; }
  Tensor& operator[](size_t i) { return begin()[i]; }
  const Tensor& operator[](size_t i) const { return CRESSET_UNLIKELY(count_ > kInline) ? more_[i] : inline_[i]; }
  Tensor* begin() { return CRESSET_UNLIKELY(count_ > kInline) ? more_ : inline_; }
  Tensor* end() { return begin() + count_; }

 private:
  static constexpr size_t kInline = 4;
  void clear() {
    if (CRESSET_UNLIKELY(count_ > kInline))
      delete[] more_;
    else
      for (size_t i = 0; i < count_; i++) inline_[i].~Tensor();
    count_ = 0;
  }
  void take(Grads& other) {
    count_ = other.count_;
    if (CRESSET_UNLIKELY(count_ > kInline)) {
      more_ = other.more_;
    } else {
      for (size_t i = 0; i < count_; i++) {
        new (&inline_[i]) Tensor(std::move(other.inline_[i]));
        other.inline_[i].~Tensor();
      }
    }
    other.count_ = 0;
  }

  size_t count_ = 0;
  union {
    Tensor inline_[kInline];
    Tensor* more_;
  };
};

// grads(a, b): the gradients of an op's inputs, in their order; an undefined one means zero.
template <class... Ts>
Grads grads(Ts&&... tensors) {
  Grads list(sizeof...(Ts));
  size_t i = 0;
  ((list[i++] = std::forward<Ts>(tensors)), ...);
  return list;
}

using variable_list = std::vector<Tensor>;
using edge_list = std::vector<Edge>;

// What few nodes have: hooks and what anomaly mode keeps (autograd/variable.h).
struct NodeExtras;
struct CRESSET_API NodeExtrasDeleter {
  void operator()(NodeExtras* extras) const;
};

class CRESSET_API Node : public NodeBase {
 public:
  virtual Grads apply(Tensor* gradients, size_t count) = 0;
  virtual void release_variables() {}
  virtual void call_leaf_hooks(Tensor& gradient) { (void)gradient; }
  virtual std::string name() const { return name_; }

  const char* raw_name() const { return name_; }
  uint64_t sequence_nr() const { return sequence_; }
  uint32_t num_outputs() const { return num_edges_; }   // PyTorch's word: how many gradients it returns
  uint32_t num_inputs() const { return num_results_; }  // how many gradients it takes: outputs of the forward op
  Edge* edges() { return edges_; }
  const Edge& next_edge(size_t i) const { return edges_[i]; }
  edge_list next_edges() const { return {edges_, edges_ + num_edges_}; }
  // Whether the gradient of input i serves anybody: grad() and backward(inputs) ask for some only.
  bool wants(size_t i) const {
    return edges_[i].is_valid() && (CRESSET_LIKELY(!partial_run) || serves_target(edges_[i]));
  }
  bool runs_on_nothing() const { return runs_without_gradients || (extras_ && has_node_hooks()); }

  unsigned add_tensor_hook(uint32_t output_nr, std::function<Tensor(const Tensor&)> hook);
  bool remove_tensor_hook(unsigned id);
  unsigned add_pre_hook(std::function<variable_list(const variable_list&)> hook);
  unsigned add_post_hook(std::function<variable_list(const variable_list&, const variable_list&)> hook);
  bool del_pre_hook(unsigned id);
  bool del_post_hook(unsigned id);
  NodeExtras& extras();  // made when asked for
  NodeExtras* extras_or_null() const { return extras_.get(); }

 protected:
  Node() = default;
  Node(const char* name, Edge* edges, uint32_t num_edges, uint32_t num_results)
      : name_(name), edges_(edges), num_edges_(num_edges), num_results_(num_results), sequence_(next_sequence()) {
    if (CRESSET_UNLIKELY(thread_state.anomaly)) note_call_site();
  }

  void note_call_site();
  static uint64_t next_sequence() { return ++sequence_counter; }
  static constinit thread_local uint64_t sequence_counter __attribute__((tls_model("initial-exec")));

  const char* name_ = "";
  Edge* edges_ = nullptr;
  uint32_t num_edges_ = 0;
  uint32_t num_results_ = 1;
  uint64_t sequence_ = 0;
  std::unique_ptr<NodeExtras, NodeExtrasDeleter> extras_;

 private:
  friend class Run;
  static bool serves_target(const Edge& edge);
  bool has_node_hooks() const;
  static constinit thread_local const Run* partial_run __attribute__((tls_model("initial-exec")));
  std::atomic<uint64_t> claim_{0};  // {run, slot} of the backward that is using it; 0: none
};

// Calls a tensor's hook; what it returns replaces the gradient.
void call_hook(const char* name, const std::function<Tensor(const Tensor&)>& hook, Tensor& gradient);

// Allocates a node of type N from the pool.
template <class N, class... Args>
Ref<N> make_node(Args&&... args);

// The edge by which a gradient reaches this tensor: its node, or for a leaf that wants one its accumulator.
CRESSET_API Edge gradient_edge(const Tensor& tensor);
// The leaf's accumulator, made when first asked for.
CRESSET_API Ref<Node> grad_accumulator(const Tensor& leaf);
// Gradients of `leaf` go into `destination` (same shape and dtype) from now on; undefined takes it back.
CRESSET_API void set_grad_destination(const Tensor& leaf, const Tensor& destination);

}  // namespace cresset::autograd

#include "cresset/core/allocator.h"

namespace cresset::autograd {

// Gives a node its place in the pool: class MulNode final : public Pooled<MulNode>.
template <class Derived, class Base = Node>
class Pooled : public Base {
 public:
  using Base::Base;
  void deallocate_self() override {
    auto* self = static_cast<Derived*>(this);
    self->~Derived();
    deallocate(self, sizeof(Derived));
  }
};

template <class N, class... Args>
Ref<N> make_node(Args&&... args) {
  void* memory = allocate(sizeof(N));
  try {
    return Ref<N>::adopt(new (memory) N(std::forward<Args>(args)...));
  } catch (...) {
    deallocate(memory, sizeof(N));
    throw;
  }
}

}  // namespace cresset::autograd
