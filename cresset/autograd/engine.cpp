// One backward run: discovery, counting, execution. Nothing recurses over the graph.
#include "cresset/autograd/engine.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "cresset/autograd/anomaly.h"
#include "cresset/autograd/node_listener.h"
#include "cresset/autograd/part_node.h"
#include "cresset/autograd/variable.h"
#include "cresset/core/stack_room.h"
#include "cresset/core/warning.h"

namespace cresset::autograd {

// The lists of a run come from the caching allocator: a deep graph's would otherwise be mapped anew each time.
template <class T>
struct Cached {
  using value_type = T;
  Cached() = default;
  template <class U>
  Cached(const Cached<U>&) {}
  T* allocate(size_t count) { return static_cast<T*>(cresset::allocate(count * sizeof(T))); }
  void deallocate(T* block, size_t count) { cresset::deallocate(block, count * sizeof(T)); }
  bool operator==(const Cached&) const { return true; }
};
template <class T>
using CachedList = std::vector<T, Cached<T>>;

class Run {
 public:
  struct Options {
    bool retain_graph;
    bool create_graph;
    bool allow_unused;
  };

  explicit Run(Options options)
      : options_(options), id_(next_id()), outer_(current_run), outer_partial_(Node::partial_run) {
    // A backward that a node's own backward starts stands above it on the stack.
    CRESSET_CHECK_AS(AutogradError, !outer_ || !stack_is_short(),
                     "backward: calls inside each other are nested too deep for the stack: ", stack_text());
    current_run = this;
    Node::partial_run = nullptr;
  }
  ~Run() {
    current_run = outer_;
    Node::partial_run = outer_partial_;
    for (Slot& slot : slots_)
      if (slot.claimed) slot.node->claim_.store(0, std::memory_order_relaxed);
  }
  Run(const Run&) = delete;

  // What a gradient with respect to an input means here: the edge where it arrives, and whether it is returned or
  // accumulated.
  struct Target {
    Edge edge;
    bool accumulate;
    Tensor captured;
  };

  void execute(const std::vector<Edge>& roots, variable_list& gradients, std::vector<Target>& targets);
  // Whether the gradient that goes to `node` serves a target. A node that is not of this run (the op inside a
  // copy-slices) cannot be judged.
  bool serves_target(Node* node) const {
    int64_t slot = find(node);
    return slot < 0 || slots_[static_cast<size_t>(slot)].needed || slots_[static_cast<size_t>(slot)].target;
  }

  static thread_local Run* current_run;
  std::vector<std::function<void()>> callbacks;
  Node* running = nullptr;

 private:
  struct Slot {
    Node* node;
    uint32_t waiting;
    uint32_t first;  // of its gradients in gradients_
    bool claimed;
    bool needed;  // it must run
    bool target;  // the gradient that arrives here is asked for
  };

  static uint64_t next_id() {
    static std::atomic<uint32_t> counter{0};
    uint32_t id = ++counter;
    return id ? id : ++counter;  // zero means nobody
  }

  // The node's slot, or -1. The claim in the node finds it at once unless another run holds the node.
  int64_t find(Node* node) const {
    uint64_t claim = node->claim_.load(std::memory_order_relaxed);
    if ((claim >> 32) == id_) return static_cast<int64_t>(claim & 0xffffffff);
    if (others_.empty()) return -1;
    auto it = others_.find(node);
    return it == others_.end() ? -1 : static_cast<int64_t>(it->second);
  }
  // The slot, made if it is new.
  std::pair<uint32_t, bool> find_or_add(Node* node) {
    if (int64_t slot = find(node); slot >= 0) return {static_cast<uint32_t>(slot), false};
    uint32_t slot = static_cast<uint32_t>(slots_.size());
    uint64_t nobody = 0;
    bool claimed = node->claim_.compare_exchange_strong(nobody, (id_ << 32) | slot, std::memory_order_relaxed);
    if (!claimed) others_.emplace(node, slot);
    slots_.push_back({node, 0, static_cast<uint32_t>(gradients_.size()), claimed, true, false});
    gradients_.resize(gradients_.size() + node->num_inputs());
    return {slot, true};
  }

  void discover(const std::vector<Edge>& roots);
  void mark_needed(const std::vector<Target>& targets);
  template <class Around>
  void run_ready(std::vector<Target>& targets);
  template <class Around>
  void run_node(uint32_t slot, std::vector<Target>& targets);
  void deliver(Edge& edge, Tensor gradient);
  bool deliver_part(Node& node, const Tensor& gradient);
  void call_tensor_hooks(Slot& slot, NodeExtras& extras);
  bool capture(Slot& slot, std::vector<Target>& targets);
  void skip(Slot& slot);
  Grads call(Node& node, Tensor* gradients, size_t count, bool checked = false);
  void push_ready(uint32_t slot);
  uint32_t pop_ready();

  Options options_;
  uint64_t id_;
  Run* outer_;
  const Run* outer_partial_;
  bool partial_ = false;  // only some gradients are asked for
  CachedList<Slot> slots_;
  CachedList<Tensor> gradients_;
  CachedList<uint32_t> ready_;
  std::unordered_map<Node*, uint32_t> others_;
};

static constinit thread_local NodeListener* innermost_listener = nullptr;
NodeListener::NodeListener() : outer_(innermost_listener) { innermost_listener = this; }
NodeListener::~NodeListener() { innermost_listener = outer_; }

// Around a node's work, if it has any: in a run that somebody listens to, and in all others.
class HeardNode {
 public:
  HeardNode(bool works, const Node& node, const Tensor* gradients, size_t count) : open_(works) {
    if (works) begin(innermost_listener, node, gradients, count);
  }
  ~HeardNode() { end(); }
  HeardNode(const HeardNode&) = delete;
  void end() {
    if (!std::exchange(open_, false)) return;
    for (NodeListener* listener = innermost_listener; listener; listener = listener->outer_) listener->node_ended();
  }

 private:
  static void begin(NodeListener* listener, const Node& node, const Tensor* gradients, size_t count) {
    if (!listener) return;
    begin(listener->outer_, node, gradients, count);
    listener->node_begins(node, gradients, count);
  }
  bool open_;
};
struct UnheardNode {
  UnheardNode(bool, const Node&, const Tensor*, size_t) {}
  void end() {}
};

thread_local Run* Run::current_run = nullptr;
constinit thread_local const Run* Node::partial_run __attribute__((tls_model("initial-exec"))) = nullptr;
bool Node::serves_target(const Edge& edge) { return partial_run->serves_target(edge.function.get()); }

void call_hook(const char* name, const std::function<Tensor(const Tensor&)>& hook, Tensor& gradient) {
  Tensor changed = hook(gradient);
  if (!changed.defined()) return;
  CRESSET_CHECK_AS(AutogradError, changed.sizes() == gradient.sizes(), name, ": a hook returned a gradient of shape ",
                   text_of(changed.sizes()), " (expected ", text_of(gradient.sizes()), ")");
  gradient = changed.dtype() == gradient.dtype() ? std::move(changed) : changed.to(gradient.dtype());
}

void Run::discover(const std::vector<Edge>& roots) {
  CachedList<uint32_t> stack;
  for (const Edge& root : roots) {
    auto [slot, added] = find_or_add(root.function.get());
    if (added) stack.push_back(slot);
  }
  while (!stack.empty()) {
    Node* node = slots_[stack.back()].node;
    stack.pop_back();
    for (uint32_t i = 0; i < node->num_outputs(); i++) {
      Node* next = node->edges()[i].function.get();
      if (!next) continue;
      auto [slot, added] = find_or_add(next);
      slots_[slot].waiting++;
      if (added) stack.push_back(slot);
    }
  }
}

// With targets given, only nodes from which a target can be reached run.
void Run::mark_needed(const std::vector<Target>& targets) {
  partial_ = true;
  Node::partial_run = this;
  for (Slot& slot : slots_) slot.needed = false;
  // Who uses slot s: users[first[s]] to users[first[s + 1]].
  std::vector<uint32_t> first(slots_.size() + 1, 0);
  for (uint32_t s = 0; s < slots_.size(); s++) first[s + 1] = first[s] + slots_[s].waiting;
  std::vector<uint32_t> users(first.back()), filled(first.begin(), first.end() - 1);
  for (uint32_t s = 0; s < slots_.size(); s++)
    for (uint32_t i = 0; i < slots_[s].node->num_outputs(); i++)
      if (Node* next = slots_[s].node->edges()[i].function.get()) users[filled[static_cast<size_t>(find(next))]++] = s;
  std::vector<uint32_t> stack;
  auto push_users = [&](uint32_t s) {
    stack.insert(stack.end(), users.data() + first[s], users.data() + first[s + 1]);
  };
  for (const Target& target : targets) {
    int64_t slot = target.edge.function ? find(target.edge.function.get()) : -1;
    if (slot < 0) continue;
    slots_[static_cast<size_t>(slot)].target = true;
    push_users(static_cast<uint32_t>(slot));
  }
  while (!stack.empty()) {
    uint32_t slot = stack.back();
    stack.pop_back();
    if (slots_[slot].needed) continue;
    slots_[slot].needed = true;
    push_users(slot);
  }
}

void Run::push_ready(uint32_t slot) {
  ready_.push_back(slot);
  std::push_heap(ready_.begin(), ready_.end(),
                 [&](uint32_t a, uint32_t b) { return slots_[a].node->sequence_nr() < slots_[b].node->sequence_nr(); });
}
uint32_t Run::pop_ready() {
  std::pop_heap(ready_.begin(), ready_.end(),
                [&](uint32_t a, uint32_t b) { return slots_[a].node->sequence_nr() < slots_[b].node->sequence_nr(); });
  uint32_t slot = ready_.back();
  ready_.pop_back();
  return slot;
}

// Whether nobody else sees a gradient that is being added up.
static bool is_ours(const Tensor& into) { return !thread_state.grad_enabled && is_stealable(into); }

void Run::deliver(Edge& edge, Tensor gradient) {
  Slot& slot = slots_[static_cast<size_t>(find(edge.function.get()))];
  if (gradient.defined()) {
    Tensor& into = gradients_[slot.first + edge.input_nr];
    if (!into.defined())
      into = std::move(gradient);
    else if (is_ours(into) && into.dtype() == gradient.dtype() && into.sizes() == gradient.sizes())
      into.add_(gradient);
    else
      into = into.add(gradient);
  }
  if (--slot.waiting == 0) push_ready(static_cast<uint32_t>(&slot - slots_.data()));
}

// Adds the gradient of a part to what has arrived for the whole, if that is possible in place.
bool Run::deliver_part(Node& node, const Tensor& gradient) {
  Edge& edge = node.edges()[0];
  if (!gradient.defined() || !edge.is_valid() || node.extras_or_null() || thread_state.anomaly) return false;
  Slot& slot = slots_[static_cast<size_t>(find(edge.function.get()))];
  Tensor& into = gradients_[slot.first + edge.input_nr];
  if (!into.defined() || !is_ours(into) || into.dtype() != gradient.dtype()) return false;
  static_cast<PartNode&>(node).part(into).add_(gradient);
  deliver(edge, {});
  return true;
}

void Run::call_tensor_hooks(Slot& slot, NodeExtras& extras) {
  auto hooks = extras.tensor_hooks;
  for (auto& hook : hooks) {
    Tensor& gradient = gradients_[slot.first + hook.output_nr];
    if (gradient.defined()) call_hook(slot.node->raw_name(), *hook.call, gradient);
  }
  for (auto& [output_nr, keeper] : extras.retained)
    if (Tensor& gradient = gradients_[slot.first + output_nr]; gradient.defined()) keeper->keep(gradient);
}

Grads Run::call(Node& node, Tensor* gradients, size_t count, bool checked) {
  NodeExtras* extras = node.extras_or_null();
  if (CRESSET_UNLIKELY(thread_state.anomaly) && !checked)
    return call_with_anomaly_check(node, [&] { return call(node, gradients, count, /*checked=*/true); });
  if (CRESSET_LIKELY(!extras || !extras->has_node_hooks())) return node.apply(gradients, count);
  auto pre_hooks = extras->pre_hooks;
  auto post_hooks = extras->post_hooks;
  variable_list incoming(gradients, gradients + count);
  for (auto& [id, hook] : pre_hooks) {
    incoming = (*hook)(incoming);
    CRESSET_CHECK_AS(AutogradError, incoming.size() == count, node.name(), ": a pre-hook returned ", incoming.size(),
                     " gradients (expected ", count, ")");
  }
  variable_list given = incoming;
  Grads results = node.apply(incoming.data(), count);
  for (auto& [id, hook] : post_hooks) {
    variable_list outgoing(results.begin(), results.end());
    outgoing = (*hook)(outgoing, given);
    CRESSET_CHECK_AS(AutogradError, outgoing.size() == results.size(), node.name(), ": a post-hook returned ",
                     outgoing.size(), " gradients (expected ", results.size(), ")");
    for (size_t i = 0; i < outgoing.size(); i++) results[i] = outgoing[i];
  }
  return results;
}

// Returns whether the node itself runs.
bool Run::capture(Slot& slot, std::vector<Target>& targets) {
  bool runs = slot.needed;
  if (!slot.target) return runs;
  for (Target& target : targets) {
    if (target.edge.function.get() != slot.node) continue;
    if (!target.accumulate)
      target.captured = gradients_[slot.first + target.edge.input_nr];
    else if (slot.node->num_outputs() == 0)
      runs = true;
  }
  return runs;
}

void Run::skip(Slot& slot) {
  running = nullptr;
  for (uint32_t i = 0; i < slot.node->num_inputs(); i++) gradients_[slot.first + i].reset();
  for (uint32_t i = 0; i < slot.node->num_outputs(); i++)
    if (Edge& edge = slot.node->edges()[i]; edge.is_valid()) deliver(edge, {});
}

template <class Around>
void Run::run_node(uint32_t index, std::vector<Target>& targets) {
  Slot& slot = slots_[index];
  Node& node = *slot.node;
  if (CRESSET_UNLIKELY(partial_ && !slot.needed && !slot.target)) return skip(slot);
  size_t count = node.num_inputs();
  running = &node;
  if (auto* extras = node.extras_or_null()) call_tensor_hooks(slot, *extras);
  if (node.num_outputs() == 0) node.call_leaf_hooks(gradients_[slot.first]);
  if (CRESSET_UNLIKELY(partial_) && !capture(slot, targets)) return skip(slot);
  // Taken out of the run's list, so that they are freed as soon as the node has run.
  Grads incoming(count);
  bool any = node.runs_on_nothing();
  for (size_t i = 0; i < count; i++) {
    incoming[i] = std::move(gradients_[slot.first + i]);
    any = any || incoming[i].defined();
  }
  Around around(any, node, incoming.begin(), count);
  if (PartNode::is(node) && deliver_part(node, incoming[0])) {
    if (!options_.retain_graph) node.release_variables();
    running = nullptr;
    return;
  }
  Grads results = CRESSET_LIKELY(any) ? call(node, incoming.begin(), count) : Grads(node.num_outputs());
  CRESSET_CHECK_AS(AutogradError, results.size() == node.num_outputs(), node.name(), ": returned ", results.size(),
                   " gradients (expected ", node.num_outputs(), ")");
  if (!options_.retain_graph) node.release_variables();
  running = nullptr;
  around.end();
  for (uint32_t i = 0; i < node.num_outputs(); i++)
    if (Edge& edge = node.edges()[i]; edge.is_valid()) deliver(edge, std::move(results[i]));
}

template <class Around>
void Run::run_ready(std::vector<Target>& targets) {
  while (!ready_.empty()) {
    uint32_t slot = pop_ready();
    run_node<Around>(slot, targets);
    if (slots_[slot].claimed) {
      slots_[slot].claimed = false;
      slots_[slot].node->claim_.store(0, std::memory_order_relaxed);
    }
  }
}

void Run::execute(const std::vector<Edge>& roots, variable_list& gradients, std::vector<Target>& targets) {
  discover(roots);
  if (!targets.empty()) mark_needed(targets);
  AutoGradMode mode(options_.create_graph);
  for (size_t i = 0; i < roots.size(); i++) {
    Slot& slot = slots_[static_cast<size_t>(find(roots[i].function.get()))];
    Tensor& into = gradients_[slot.first + roots[i].input_nr];
    into = into.defined() ? into.add(gradients[i]) : std::move(gradients[i]);
  }
  for (uint32_t s = 0; s < slots_.size() && s < roots.size(); s++)
    if (slots_[s].waiting == 0) push_ready(s);
  if (CRESSET_UNLIKELY(innermost_listener != nullptr))
    run_ready<HeardNode>(targets);
  else
    run_ready<UnheardNode>(targets);
  for (size_t i = 0; i < callbacks.size(); i++) {
    auto callback = std::move(callbacks[i]);  // it may queue others, and the list may move
    callback();
  }
}

namespace {

Tensor root_gradient(const char* what, const Tensor& root, const Tensor& given) {
  if (!given.defined()) {
    CRESSET_CHECK_AS(AutogradError, root.numel() == 1, what,
                     ": grad can be implicitly created only for scalar outputs, found shape ", text_of(root.sizes()),
                     " (pass a gradient of that shape)");
    CRESSET_CHECK_AS(AutogradError, !root.is_complex(), what,
                     ": grad can be implicitly created only for real scalar outputs, found dtype ",
                     name_of(root.dtype()));
    return root.new_ones(root.sizes());
  }
  CRESSET_CHECK_AS(ShapeError, given.sizes() == root.sizes(), what, ": found a gradient of shape ",
                   text_of(given.sizes()), " (expected the output's, ", text_of(root.sizes()), ")");
  CRESSET_CHECK_AS(TypeError, given.is_complex() == root.is_complex(), what, ": found a gradient of dtype ",
                   name_of(given.dtype()), " for an output of ", name_of(root.dtype()));
  return given.dtype() == root.dtype() ? given : given.to(root.dtype());
}

void start(const char* what, const variable_list& outputs, const variable_list& given, std::vector<Edge>& roots,
           variable_list& gradients) {
  CRESSET_CHECK_AS(AutogradError, given.empty() || given.size() == outputs.size(), what, ": found ", given.size(),
                   " gradients (expected one for each of ", outputs.size(), " outputs)");
  for (size_t i = 0; i < outputs.size(); i++) {
    const Tensor& output = outputs[i];
    CRESSET_CHECK_AS(AutogradError, output.defined(), what, ": output ", i, " is undefined");
    CRESSET_CHECK_AS(AutogradError, output.requires_grad(), what, ": element ", i,
                     " of tensors does not require grad and does not have a grad_fn (shape ", text_of(output.sizes()),
                     ")");
    Edge edge = gradient_edge(output);
    CRESSET_CHECK_AS(AutogradError, edge.is_valid(), what, ": element ", i,
                     " of tensors does not require grad and does not have a grad_fn");
    roots.push_back(std::move(edge));
    gradients.push_back(root_gradient(what, output, given.empty() ? Tensor() : given[i]));
  }
}

}  // namespace

void backward(const variable_list& outputs, const variable_list& given, std::optional<bool> retain_graph,
              bool create_graph, const variable_list& inputs) {
  if (create_graph)
    CRESSET_WARN_ONCE(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
        "the cycle and avoid the leak.");
  std::vector<Edge> roots;
  variable_list gradients;
  start("backward", outputs, given, roots, gradients);
  std::vector<Run::Target> targets;
  for (const Tensor& input : inputs) {
    CRESSET_CHECK_AS(AutogradError, input.defined() && input.requires_grad(),
                     "backward: one of the inputs does not require grad");
    if (!input.is_leaf()) input.retain_grad();
    targets.push_back({gradient_edge(input), true, {}});
  }
  Run run({retain_graph.value_or(create_graph), create_graph, true});
  run.execute(roots, gradients, targets);
}

variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs,
                   std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  std::vector<Edge> roots;
  variable_list gradients;
  CRESSET_CHECK_AS(AutogradError, !inputs.empty(), "grad: requires non-empty inputs");
  start("grad", outputs, grad_outputs, roots, gradients);
  std::vector<Run::Target> targets;
  for (size_t i = 0; i < inputs.size(); i++) {
    CRESSET_CHECK_AS(AutogradError, inputs[i].defined() && inputs[i].requires_grad(), "grad: input ", i,
                     " does not require grad");
    targets.push_back({gradient_edge(inputs[i]), false, {}});
  }
  {
    Run run({retain_graph.value_or(create_graph), create_graph, allow_unused});
    run.execute(roots, gradients, targets);
  }
  variable_list results;
  for (size_t i = 0; i < inputs.size(); i++) {
    CRESSET_CHECK_AS(AutogradError, allow_unused || targets[i].captured.defined(),
                     "grad: One of the differentiated Tensors appears to not have been used in the graph. Set "
                     "allow_unused=True if this "
                     "is the desired behavior. (input ",
                     i, ", shape ", text_of(inputs[i].sizes()), ")");
    results.push_back(std::move(targets[i].captured));
  }
  return results;
}

void queue_callback(std::function<void()> callback) {
  CRESSET_CHECK_AS(AutogradError, Run::current_run,
                   "queue_callback: final callbacks can only be installed during backward");
  Run::current_run->callbacks.push_back(std::move(callback));
}

Node* current_node() { return Run::current_run ? Run::current_run->running : nullptr; }

}  // namespace cresset::autograd
