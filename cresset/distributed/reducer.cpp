#include "cresset/distributed/reducer.h"

#include <unordered_set>

#include "cresset/autograd/engine.h"
#include "cresset/autograd/variable.h"
#include "cresset/distributed/called_as.h"
#include "cresset/distributed/collectives.h"
#include "cresset/ops/all.h"

namespace cresset::distributed {
namespace {

constexpr const char* kName = "DistributedDataParallel: ";

void wait_quietly(Work& work) {
  try {
    work.wait();
  } catch (const std::exception&) {  // of a round that was given up; the group repeats its own errors
  }
}

}  // namespace

// Held by the engine's list of callbacks: when backward ends without having called it, an exception went through.
class Reducer::RoundEnd {
 public:
  explicit RoundEnd(std::weak_ptr<Reducer> reducer) : reducer_(std::move(reducer)) {}
  RoundEnd(const RoundEnd&) = delete;
  RoundEnd& operator=(const RoundEnd&) = delete;
  ~RoundEnd() {
    if (finished_) return;
    if (auto reducer = reducer_.lock()) reducer->reset_round();
  }
  void finish() {
    auto reducer = reducer_.lock();
    if (reducer) reducer->finish_round();
    finished_ = true;
  }

 private:
  std::weak_ptr<Reducer> reducer_;
  bool finished_ = false;
};

std::shared_ptr<Reducer> Reducer::make(std::vector<std::string> names, std::vector<Tensor> parameters,
                                       ReducerOptions options) {
  std::shared_ptr<Reducer> reducer(new Reducer(std::move(names), std::move(parameters), std::move(options)));
  reducer->attach();
  return reducer;
}

Reducer::Reducer(std::vector<std::string> names, std::vector<Tensor> parameters, ReducerOptions options)
    : names_(std::move(names)), parameters_(std::move(parameters)), options_(std::move(options)) {
  slots_.resize(parameters_.size());
  never_here_.resize(parameters_.size());
  never_anywhere_.resize(parameters_.size());
  for (size_t i = 0; i < parameters_.size(); i++) index_of_.emplace(parameters_[i].impl(), i);
  install(plan_buckets(parameters_, reverse_order(parameters_.size()), options_.limits));
}

void Reducer::attach() {
  for (size_t i = 0; i < parameters_.size(); i++)
    slots_[i].hook = parameters_[i].register_post_accumulate_grad_hook([weak = weak_from_this(), i](const Tensor&) {
      if (auto self = weak.lock()) self->on_gradient(i);
    });
}

Reducer::~Reducer() {
  for (Bucket& bucket : buckets_)
    if (round_ == Round::reducing) wait_quietly(bucket.work.work);
  for (size_t i = 0; i < parameters_.size(); i++) {
    const Tensor& parameter = parameters_[i];
    try {
      if (parameter.requires_grad()) {
        if (options_.gradient_as_bucket_view) autograd::set_grad_destination(parameter, {});
        parameter.remove_hook(slots_[i].hook);
      }
    } catch (const std::exception&) {  // the user took the hook away
    }
  }
}

// Lays the buckets out anew; gradients that are there move along.
void Reducer::install(BucketPlan plan) {
  NoGradGuard no_grad;
  plan_ = std::move(plan);
  buckets_.clear();
  for (size_t b = 0; b < plan_.buckets.size(); b++) {
    const std::vector<size_t>& members = plan_.buckets[b];
    std::vector<Tensor> parameters;
    int64_t elements = 0;
    for (size_t index : members) {
      parameters.push_back(parameters_[index]);
      elements += GradBucket::room(parameters_[index]);
    }
    Tensor flat = zeros({elements}, parameters[0].detach().options());
    GradBucket shown(b, b + 1 == plan_.buckets.size(), flat, std::move(parameters));
    std::vector<Tensor> views = shown.gradients();
    for (size_t m = 0; m < members.size(); m++) {
      Slot& slot = slots_[members[m]];
      const Tensor& parameter = parameters_[members[m]];
      slot.bucket = b;
      slot.view = std::move(views[m]);
      if (options_.gradient_as_bucket_view) autograd::set_grad_destination(parameter, slot.view);
      if (parameter.grad().defined()) bring_into_bucket(slot, parameter);
    }
    buckets_.emplace_back(std::move(shown), std::move(flat), members);
  }
}

void Reducer::set_plan(BucketPlan plan) {
  const bool rebuilt = plan.rebuilt;
  if (plan.buckets != plan_.buckets) install(std::move(plan));
  plan_.rebuilt = rebuilt;
}

// ---- forward
void Reducer::begin_forward(bool reduces) {
  forward_reduces_ = reduces;
  wait_for_abandoned();
}

void Reducer::end_forward(const std::vector<Tensor>& outputs) {
  if (!options_.find_unused_parameters || graph_known_) return;
  if (!walked_) reachable_.assign(parameters_.size(), false);
  std::unordered_set<autograd::Node*> seen;
  std::vector<autograd::Node*> stack;
  const auto visit = [&](autograd::Node* node) {
    if (node && seen.insert(node).second) stack.push_back(node);
  };
  std::vector<autograd::Edge> roots;
  for (const Tensor& output : outputs) {
    if (!output.defined() || !output.requires_grad()) continue;
    roots.push_back(autograd::gradient_edge(output));
    visit(roots.back().function.get());
    // A backward that reaches none of our parameters must still take part in the round.
    if (!output.is_leaf())
      output.register_hook([weak = weak_from_this()](const Tensor&) {
        auto self = weak.lock();
        if (self && self->round_ == Round::none) self->begin_round();
      });
  }
  if (roots.empty()) return;
  while (!stack.empty()) {
    autograd::Node* node = stack.back();
    stack.pop_back();
    if (auto* leaf = dynamic_cast<autograd::AccumulateGrad*>(node)) {
      if (auto found = index_of_.find(leaf->leaf().impl()); found != index_of_.end()) reachable_[found->second] = true;
      continue;
    }
    for (uint32_t i = 0; i < node->num_outputs(); i++) visit(node->edges()[i].function.get());
  }
  walked_ = true;
}

// ---- a round
void Reducer::begin_round() {
  wait_for_abandoned();
  const bool reduces = forward_reduces_.value_or(!accumulating_);
  forward_reduces_.reset();
  round_ = reduces ? Round::reducing : Round::local;
  if (!shadowing_) {
    auto end = std::make_shared<RoundEnd>(weak_from_this());
    autograd::queue_callback([end] { end->finish(); });
  }
  if (!reduces) return;
  if (round_begin_ && !shadowing_) round_begin_();
  next_ = 0;
  arrival_.clear();
  for (Bucket& bucket : buckets_) {
    bucket.pending = bucket.members.size();
    bucket.shown.buffer_ = bucket.flat;
  }
  for (Slot& slot : slots_) slot.arrived = slot.unused = false;
  if (shadowing_) return;
  for (size_t i = 0; i < slots_.size(); i++)
    if (graph_known_ ? never_here_[i] : walked_ && !reachable_[i]) mark_unused(i);
  launch_ready();
}

void Reducer::on_gradient(size_t index) {
  Slot& slot = slots_[index];
  slot.used = true;
  if (round_ == Round::none) begin_round();
  if (round_ == Round::local) return;
  if (slot.arrived) {
    CRESSET_CHECK_AS(
        AutogradError, slot.unused && slot.bucket >= next_ && !graph_known_, kName, "parameter ", names_[index],
        graph_known_ ? " got a gradient, but got none in the first step (static_graph says that every step "
                       "uses the same parameters)"
                     : " got a gradient after its bucket was sent: backward reached it on a way that does not "
                       "lead through what forward returned, or twice");
    slot.unused = false;
    slot.kept.reset();
    bring_into_bucket(slot, parameters_[index]);
    return;
  }
  slot.arrived = true;
  if (!plan_.rebuilt) arrival_.push_back(index);
  bring_into_bucket(slot, parameters_[index]);
  if (--buckets_[slot.bucket].pending == 0) launch_ready();
}

// Usually the gradient was written there in the first place.
void Reducer::bring_into_bucket(Slot& slot, const Tensor& parameter) {
  Tensor& gradient = autograd::autograd_data(parameter).grad;
  if (gradient.is_same(slot.view)) return;
  NoGradGuard no_grad;
  slot.view.copy_(gradient);
  if (options_.gradient_as_bucket_view) gradient = slot.view;
}

void Reducer::mark_unused(size_t index) {
  Slot& slot = slots_[index];
  if (slot.arrived) return;
  NoGradGuard no_grad;
  slot.arrived = slot.unused = true;
  const Tensor& parameter = parameters_[index];
  if (parameter.grad().defined()) {
    slot.kept = parameter.grad().clone();
    bring_into_bucket(slot, parameter);
  } else {
    slot.view.zero_();
  }
  buckets_[slot.bucket].pending--;
}

void Reducer::launch_ready() {
  for (; next_ < buckets_.size() && buckets_[next_].pending == 0; next_++) launch(buckets_[next_]);
  if (next_ == buckets_.size()) start_exchange_of_used();
}

void Reducer::launch(Bucket& bucket) {
  const CalledAs called(hook_ ? "DistributedDataParallel's communication hook"
                              : "DistributedDataParallel's gradient all_reduce");
  if (hook_) {
    bucket.work = hook_(bucket.shown);
  } else if (divisor_ == 0) {
    bucket.work = options_.group->all_reduce({bucket.flat}, ReduceOp::AVG);
  } else {
    bucket.work = BucketWork(options_.group->all_reduce({bucket.flat}, ReduceOp::SUM),
                             [divisor = divisor_](GradBucket& done) -> BucketWork {
                               NoGradGuard no_grad;
                               done.buffer().div_(divisor);
                               return {};
                             });
  }
}

// Which parameters were used on any rank: the others keep the gradient that they have, or have none.
void Reducer::start_exchange_of_used() {
  used_by_any_.reset();
  const bool asked = options_.static_graph ? !graph_known_ : options_.find_unused_parameters;
  if (!asked) return;
  used_by_any_ = zeros({static_cast<int64_t>(slots_.size())}, TensorOptions(kInt));
  int32_t* used = used_by_any_.data_ptr<int32_t>();
  if (!shadowing_)
    for (size_t i = 0; i < slots_.size(); i++) used[i] = slots_[i].used;
  const CalledAs called("DistributedDataParallel's search for unused parameters");
  exchange_of_used_ = options_.group->all_reduce({used_by_any_}, ReduceOp::MAX);
}

void Reducer::handle_missing() {
  std::vector<size_t> missing;
  for (size_t i = 0; i < slots_.size(); i++)
    if (!slots_[i].arrived) missing.push_back(i);
  if (missing.empty()) return;
  if (!options_.find_unused_parameters && (!options_.static_graph || graph_known_)) missing_gradients(missing);
  for (size_t index : missing) mark_unused(index);
  launch_ready();
}

void Reducer::finish_round() {
  if (round_ == Round::none) return;
  if (round_ == Round::local) {
    round_ = Round::none;
    return;
  }
  handle_missing();
  complete_buckets();
  settle_unused();
  for (Slot& slot : slots_) slot.used = false;
  walked_ = false;
  round_ = Round::none;
  rounds_++;
  if (!plan_.rebuilt) rebuild();
  if (round_end_) round_end_(rounds_);
}

void Reducer::complete_buckets() {
  for (bool more = true; more;) {
    more = false;
    for (Bucket& bucket : buckets_) {
      bucket.work.work.wait();
      if (!bucket.work.then) {
        bucket.work = {};
        continue;
      }
      auto then = std::move(bucket.work.then);
      bucket.work = then(bucket.shown);
      more = true;
    }
  }
  NoGradGuard no_grad;
  for (Bucket& bucket : buckets_)
    if (!bucket.shown.buffer().is_same(bucket.flat)) bucket.flat.copy_(bucket.shown.buffer());
}

void Reducer::settle_unused() {
  if (used_by_any_.defined()) {
    exchange_of_used_.wait();
    exchange_of_used_ = {};
    const int32_t* used = used_by_any_.data_ptr<int32_t>();
    for (size_t i = 0; i < slots_.size(); i++) never_anywhere_[i] = used[i] == 0;
    if (options_.static_graph) {
      for (size_t i = 0; i < slots_.size(); i++) never_here_[i] = shadowing_ ? never_anywhere_[i] : slots_[i].unused;
      graph_known_ = true;
    }
  }
  NoGradGuard no_grad;
  for (size_t i = 0; i < slots_.size(); i++) {
    Slot& slot = slots_[i];
    Tensor& gradient = autograd::autograd_data(parameters_[i]).grad;
    if (slot.unused && never_anywhere_[i]) {
      if (slot.kept.defined()) gradient.copy_(slot.kept);
    } else if (shadowing_) {
      continue;
    } else if (!options_.gradient_as_bucket_view) {
      if (gradient.defined())
        gradient.copy_(slot.view);
      else
        gradient = slot.view.clone();
    } else if (!gradient.is_same(slot.view)) {
      gradient = slot.view;
    }
    slot.kept.reset();
  }
}

// Once, after the first round: the order in which gradients came on one rank becomes everybody's.
void Reducer::rebuild() {
  std::vector<bool> came(slots_.size(), false);
  for (size_t index : arrival_) came[index] = true;
  for (size_t index : plan_.order())
    if (!came[index]) arrival_.push_back(index);
  Tensor order = empty({static_cast<int64_t>(arrival_.size())}, TensorOptions(kLong));
  std::copy(arrival_.begin(), arrival_.end(), order.data_ptr<int64_t>());
  const CalledAs called("DistributedDataParallel's bucket order");
  broadcast(order, options_.group->global_rank(authority_), options_.group);
  const int64_t* values = order.data_ptr<int64_t>();
  BucketPlan plan = plan_buckets(parameters_, std::vector<size_t>(values, values + order.numel()), options_.limits);
  plan.rebuilt = true;
  set_plan(std::move(plan));
}

void Reducer::shadow_round() {
  NoGradGuard no_grad;
  shadowing_ = true;
  try {
    forward_reduces_ = true;
    begin_round();
    for (Bucket& bucket : buckets_) {
      bucket.flat.zero_();
      bucket.pending = 0;
    }
    for (Slot& slot : slots_) slot.arrived = true;
    launch_ready();
    finish_round();
  } catch (...) {
    shadowing_ = false;
    reset_round();
    throw;
  }
  shadowing_ = false;
}

void Reducer::reset_round() {
  if (round_ == Round::reducing) {
    for (size_t b = 0; b < next_ && b < buckets_.size(); b++) abandoned_.push_back(buckets_[b].work.work);
    if (used_by_any_.defined()) abandoned_.push_back(exchange_of_used_);
  }
  for (Bucket& bucket : buckets_) bucket.work = {};
  exchange_of_used_ = {};
  walked_ = false;
  forward_reduces_.reset();
  round_ = Round::none;
}

// Their buckets are written to until they are done. Not waited for when backward throws: the process may be about to
// end, and the others should hear of it at once.
void Reducer::wait_for_abandoned() {
  for (Work& work : abandoned_) wait_quietly(work);
  abandoned_.clear();
}

void Reducer::missing_gradients(const std::vector<size_t>& missing) const {
  constexpr size_t kListed = 10;
  std::string list;
  for (size_t i = 0; i < missing.size() && i < kListed; i++) list += (i ? ", " : "") + names_[missing[i]];
  if (missing.size() > kListed) list += message_of(" and ", missing.size() - kListed, " more");
  const int rank = options_.group->global_rank(options_.group->rank());
  if (graph_known_)
    throw DistributedError(
        message_of(kName, "on rank ", rank, " backward gave no gradient to ", list,
                   ", which had one in the first step (static_graph says that every step uses the same "
                   "parameters)"));
  throw DistributedError(message_of(kName, "on rank ", rank, " backward gave no gradient to ", list,
                                    ". The other ranks wait for them. If forward does not always use every parameter, "
                                    "or the loss not every result of "
                                    "forward, say so: DDPOptions().find_unused_parameters(true)"));
}

}  // namespace cresset::distributed
