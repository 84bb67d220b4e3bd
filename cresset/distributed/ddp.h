// DistributedDataParallel: one model on many processes. Each process works on its own part of the batch; the gradients
// are averaged while backward still runs, so that all take the same step.
//
//   distributed::init_process_group();
//   nn::Sequential net(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 10));
//   distributed::DistributedDataParallel model(net);
//   optim::Adam optimizer(model.parameters(), 1e-3);
//   for (…) { optimizer.zero_grad(); loss_of(model(x), y).backward(); optimizer.step(); }
//
// It is a Module whose one submodule, "module", is the model: state_dict() has PyTorch's names ("module.0.weight").
#pragma once

#include "cresset/core/arg.h"
#include "cresset/distributed/join.h"
#include "cresset/distributed/reducer.h"
#include "cresset/distributed/results.h"
#include "cresset/nn/module.h"

namespace cresset::distributed {

class DDPOptions {
  CRESSET_ARG(Group, group) = nullptr;          // null: the default group
  CRESSET_ARG(bool, broadcast_buffers) = true;  // rank 0's, before each forward in training
  CRESSET_ARG(double, bucket_cap_mb) = 25;
  CRESSET_ARG(double, first_bucket_mb) = 1;
  CRESSET_ARG(bool, find_unused_parameters) = false;
  CRESSET_ARG(bool, static_graph) = false;  // every step uses the parameters that the first one used
  CRESSET_ARG(bool, gradient_as_bucket_view) = true;
  CRESSET_ARG(int64_t, check_parameters_every) = 100;  // steps; 0: never. The first step is checked, too
};

// What does not depend on the type of the model.
class CRESSET_API DataParallelBase : public nn::Module {
 public:
  ~DataParallelBase() override;
  DataParallelBase(const DataParallelBase&) = delete;
  DataParallelBase& operator=(const DataParallelBase&) = delete;

  // While it lives, backward adds up gradients on this rank only. The first backward after it averages the sums.
  class CRESSET_API NoSync {
   public:
    explicit NoSync(DataParallelBase& model);
    ~NoSync();
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DataParallelBase& model_;
    bool before_;
  };
  [[nodiscard]] NoSync no_sync() { return NoSync(*this); }

  // Runs the loop, then keeps the others company until they have run out, too.
  void join(const std::function<void()>& loop, JoinOptions options = {});
  // In place of the all-reduce. Once, before the first backward.
  void register_comm_hook(CommHook hook);

  // Which gradients travel together: part of what a checkpoint holds, so that a run that goes on adds in the same
  // order.
  IValue plan_state() const;
  void load_plan_state(const IValue& state);
  // {"module": …, "plan": …}: what Checkpoint keeps. Loading also takes a module's own state_dict, with or without
  // "module.".
  IValue checkpoint_state() const;
  void load_checkpoint_state(const IValue& state);
  nn::IncompatibleKeys load_state_dict(const nn::StateDict& state, bool strict = true);

  const Group& group() const { return group_; }
  const BucketPlan& bucket_plan() const;
  int64_t steps() const;  // backwards that averaged

 protected:
  DataParallelBase(std::shared_ptr<nn::Module> module, DDPOptions options);
  void before_forward();
  void after_forward(const ResultTensors& results);

 private:
  friend class Join;
  enum class Event : int64_t { out_of_inputs, buffers, round };

  void check_same_model() const;
  void share_values(int root);
  void make_reducer();
  void follow_requires_grad();
  void begin_join(const JoinOptions& options);
  void shadow_others();
  std::vector<Event> announce(Event event);
  void send_buffers(int root);
  void end_of_round(int64_t round);

  std::shared_ptr<nn::Module> wrapped_;
  DDPOptions options_;
  Group group_;
  std::vector<std::string> names_;
  std::vector<Tensor> parameters_;  // of names_, frozen ones too
  std::vector<bool> trainable_;
  std::vector<Tensor> buffers_;
  std::shared_ptr<Reducer> reducer_;
  CommHook hook_;
  JoinOptions join_options_;
  bool joining_ = false;
  bool shadowing_ = false;
  int authority_ = 0;
  int64_t steps_before_ = 0;  // of reducers that were replaced
};

template <class M>
class DistributedDataParallel : public DataParallelBase {
 public:
  explicit DistributedDataParallel(std::shared_ptr<M> module, DDPOptions options = {})
      : DataParallelBase(module, std::move(options)), holder_(std::move(module)) {}
  template <class Holder>
  requires(nn::detail::is_module_holder_v<Holder>) explicit DistributedDataParallel(const Holder& holder,
                                                                                    DDPOptions options = {})
      : DistributedDataParallel(std::shared_ptr<M>(holder.ptr()), std::move(options)) {}

  // The model's own forward, with its arguments and result.
  template <class... Args>
  auto forward(Args&&... args) -> decltype(std::declval<M&>().forward(std::forward<Args>(args)...)) {
    before_forward();
    if constexpr (std::is_void_v<decltype(std::declval<M&>().forward(std::forward<Args>(args)...))>) {
      holder_(std::forward<Args>(args)...);
      after_forward({});
    } else {
      decltype(auto) result = holder_(std::forward<Args>(args)...);
      after_forward(tensors_in(result));
      return result;
    }
  }
  template <class... Args>
  auto operator()(Args&&... args) -> decltype(std::declval<M&>().forward(std::forward<Args>(args)...)) {
    return forward(std::forward<Args>(args)...);
  }
  // In a Sequential, and where types are not known.
  nn::AnyValue any_forward(nn::AnyValues& arguments) {
    before_forward();
    nn::AnyValue result = holder_->call(arguments);
    after_forward(tensors_in(result));
    return result;
  }

  // Written as for a holder: model->forward(x), model->train().
  DistributedDataParallel* operator->() { return this; }
  const DistributedDataParallel* operator->() const { return this; }
  M& module() { return *holder_; }
  const M& module() const { return *holder_; }
  std::shared_ptr<M> module_ptr() const { return holder_.ptr(); }

 private:
  nn::ModuleHolder<M> holder_;
};
template <class M>
DistributedDataParallel(std::shared_ptr<M>, DDPOptions = {}) -> DistributedDataParallel<M>;
template <class Holder>
requires(nn::detail::is_module_holder_v<Holder>) DistributedDataParallel(const Holder&, DDPOptions = {})
->DistributedDataParallel<typename Holder::ContainedType>;

// Found by Checkpoint::add and save: a checkpoint holds the bucket plan beside the values.
template <class M>
IValue state_of(const DistributedDataParallel<M>& model) {
  return model.checkpoint_state();
}
template <class M>
void set_state(DistributedDataParallel<M>& model, const IValue& state) {
  model.load_checkpoint_state(state);
}

}  // namespace cresset::distributed
