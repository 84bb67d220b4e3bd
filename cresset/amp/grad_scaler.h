// GradScaler: keeps gradients of float16 from vanishing. The loss is scaled up before backward, the gradients down
// again before the step; a step whose gradients hold an inf or nan is left out and the scale halved, and after
// growth_interval good steps it is doubled. As PyTorch's, for tensors of any device.
//
//   scaler.scale(loss).backward();
//   scaler.unscale_(optimizer);  // only where the gradients are looked at: clip_grad_norm_
//   scaler.step(optimizer);
//   scaler.update();
#pragma once

#include <vector>

#include "cresset/core/arg.h"
#include "cresset/core/ivalue.h"

namespace cresset::amp {

struct CRESSET_API GradScalerOptions {
  CRESSET_ARG(double, init_scale) = 65536;
  CRESSET_ARG(double, growth_factor) = 2;
  CRESSET_ARG(double, backoff_factor) = 0.5;
  CRESSET_ARG(int64_t, growth_interval) = 2000;
  CRESSET_ARG(bool, enabled) = true;  // false: every call passes through
};

class CRESSET_API GradScaler {
 public:
  explicit GradScaler(GradScalerOptions options = {});

  Tensor scale(const Tensor& output) const;
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs) const;

  // Once an optimizer between two updates. The optimizer is anything with param_groups().
  template <class Optimizer>
  void unscale_(Optimizer& optimizer) {
    if (options_.enabled()) unscale(&optimizer, params_of(optimizer), "unscale_");
  }
  // Returns what the optimizer's step does, or an undefined tensor where it is left out.
  template <class Optimizer>
  Tensor step(Optimizer& optimizer) {
    if (!options_.enabled()) return optimizer.step();
    return begin_step(&optimizer, params_of(optimizer)) ? optimizer.step() : Tensor();
  }
  // After the steps of all optimizers: the next scale, from what they found, or as given.
  void update();
  void update(double new_scale);

  double get_scale() const { return options_.enabled() ? scale_ : 1; }
  bool is_enabled() const { return options_.enabled(); }
  double get_growth_factor() const { return options_.growth_factor(); }
  double get_backoff_factor() const { return options_.backoff_factor(); }
  int64_t get_growth_interval() const { return options_.growth_interval(); }
  void set_growth_factor(double factor);
  void set_backoff_factor(double factor);
  void set_growth_interval(int64_t interval);

  IValue state_dict() const;  // PyTorch's; empty where it is not enabled
  void load_state_dict(const IValue& dict);

 private:
  enum class Stage { unscaled, stepped };
  struct Seen {
    const void* optimizer;
    Stage stage;
    bool found_inf;
  };

  template <class Optimizer>
  static std::vector<Tensor> params_of(Optimizer& optimizer) {
    std::vector<Tensor> params;
    for (auto& group : optimizer.param_groups())
      for (const Tensor& param : group.params()) params.push_back(param);
    return params;
  }
  Seen* seen(const void* optimizer);
  Seen& unscale(const void* optimizer, const std::vector<Tensor>& params, const char* caller);
  bool begin_step(const void* optimizer, const std::vector<Tensor>& params);

  GradScalerOptions options_;
  double scale_;
  int64_t growth_tracker_ = 0;  // good steps since the scale last changed
  std::vector<Seen> seen_;      // since the last update
};

}  // namespace cresset::amp
