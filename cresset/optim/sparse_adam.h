// Adam for embeddings: only the rows that have a gradient are updated, moments included.
// Gradients in Cresset are dense: a row counts as having one if any of its elements is not zero. (PyTorch's sparse
// gradients may name a row whose gradient happens to be zero.)
#pragma once

#include "cresset/optim/define_optimizer.h"

namespace cresset::optim {

struct CRESSET_API SparseAdamOptions : public OptimizerCloneableOptions<SparseAdamOptions> {
  SparseAdamOptions(double lr = 1e-3);
  typedef std::tuple<double, double> betas_t;
  CRESSET_ARG(double, lr) = 1e-3;
  CRESSET_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  CRESSET_ARG(double, eps) = 1e-8;
  CRESSET_ARG(bool, maximize) = false;

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API SparseAdamParamState : public OptimizerCloneableParamState<SparseAdamParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(Tensor, exp_avg);
  CRESSET_ARG(Tensor, exp_avg_sq);

 public:
  StateFields fields() override;
};

CRESSET_OPTIMIZER(SparseAdam);

}  // namespace cresset::optim
