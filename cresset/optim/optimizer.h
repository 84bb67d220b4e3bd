// Optimizer: parameter groups, their options, what is remembered about each parameter, and its exchange with PyTorch.
// Optimizers derive from it and override step().
#pragma once

#include <functional>

#include "cresset/optim/param_group.h"
#include "cresset/optim/param_state.h"

namespace cresset::optim {

class CRESSET_API Optimizer : public serialize::Archivable {
 public:
  using LossClosure = std::function<Tensor()>;

  Optimizer(std::vector<OptimizerParamGroup> param_groups, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  // Copies would share parameters and part with their state: state_dict and load_state_dict say what is meant.
  Optimizer(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;

  // Groups without options get the defaults. Refuses parameters that are in a group already, and warns of a group that
  // has none.
  void add_param_group(OptimizerParamGroup group);
  void add_parameters(const std::vector<Tensor>& parameters);

  // With a closure, calls it first, with gradients on, and returns its loss.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  void zero_grad(bool set_to_none = true);

  // The first group's.
  const std::vector<Tensor>& parameters() const noexcept { return param_groups_.at(0).params(); }
  std::vector<Tensor>& parameters() noexcept { return param_groups_.at(0).params(); }
  size_t size() const noexcept;  // the number of parameters in all groups
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  ParamStates& state() noexcept { return state_; }
  const ParamStates& state() const noexcept { return state_; }

  double get_lr() const;   // of the first group
  void set_lr(double lr);  // of all groups

  // PyTorch's layout: {"state": {0: {"step": …}}, "param_groups": [{"lr": …, "params": [0, 1]}]}. Tensors are shared.
  virtual IValue state_dict() const;
  // Copies what fits; otherwise changes nothing and its error lists all that does not.
  virtual void load_state_dict(const IValue& dict);
  // The same for an optimizer that does not override new_state(): libtorch's way names the type of the states.
  void load_states_of(std::unique_ptr<OptimizerParamState> (*new_state)(), const IValue& dict);
  // What save(optimizer, path) writes and load(optimizer, path) reads: the state_dict, unless overridden.
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

  // Whether step() was called, as far as it is known: by those that call their closure through call().
  bool has_stepped() const { return has_stepped_; }

 protected:
  // An empty state for load_state_dict to fill: optimizers with state override it.
  virtual std::unique_ptr<OptimizerParamState> new_state() const { return nullptr; }
  // What step() begins with: the closure's loss, or nothing without one.
  Tensor call(const LossClosure& closure);

  std::vector<OptimizerParamGroup> param_groups_;
  ParamStates state_;
  std::unique_ptr<OptimizerOptions> defaults_;

 private:
  void append_group(OptimizerParamGroup group);
  bool has_stepped_ = false;
};

}  // namespace cresset::optim
