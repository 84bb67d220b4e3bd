// L-BFGS: Newton's method with an estimate of the curvature from the last gradients. Takes a closure that computes the
// loss anew, and calls it several times a step.
#pragma once

#include <deque>

#include "cresset/optim/optimizer.h"

namespace cresset::optim {

struct CRESSET_API LBFGSOptions : public OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1);
  CRESSET_ARG(double, lr) = 1;
  CRESSET_ARG(int64_t, max_iter) = 20;
  CRESSET_ARG(std::optional<int64_t>, max_eval) = std::nullopt;  // 5/4 of max_iter
  CRESSET_ARG(double, tolerance_grad) = 1e-7;
  CRESSET_ARG(double, tolerance_change) = 1e-9;
  CRESSET_ARG(int64_t, history_size) = 100;
  CRESSET_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;  // or "strong_wolfe"

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

// One for all parameters, kept with the first.
struct CRESSET_API LBFGSParamState : public OptimizerCloneableParamState<LBFGSParamState> {
  CRESSET_ARG(int64_t, func_evals) = 0;
  CRESSET_ARG(int64_t, n_iter) = 0;
  CRESSET_ARG(double, t) = 0;
  CRESSET_ARG(double, prev_loss) = 0;
  CRESSET_ARG(Tensor, d);
  CRESSET_ARG(Tensor, H_diag);
  CRESSET_ARG(Tensor, prev_flat_grad);
  CRESSET_ARG(std::deque<Tensor>, old_dirs);
  CRESSET_ARG(std::deque<Tensor>, old_stps);
  CRESSET_ARG(std::deque<Tensor>, ro);

 public:
  StateFields fields() override;
};

class CRESSET_API LBFGS : public Optimizer {
 public:
  explicit LBFGS(std::vector<OptimizerParamGroup> param_groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {});
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;

 private:
  void finish_options();
  Tensor flat_grad() const;
  void move(double by, const Tensor& direction);
  // Loss and gradient at the point `by` along the direction; the parameters are put back.
  std::pair<double, Tensor> look_ahead(const LossClosure& closure, const std::vector<Tensor>& start, double by,
                                       const Tensor& direction);
  Tensor direction(LBFGSParamState& state, const Tensor& gradient, int64_t history_size);
};

}  // namespace cresset::optim
