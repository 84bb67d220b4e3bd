// Parameters that share their options.
#pragma once

#include "cresset/optim/options.h"

namespace cresset::optim {

class CRESSET_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr), extra_(other.extra_) {}
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other) { return *this = OptimizerParamGroup(other); }
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) = default;
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  // OptimizerParamGroup(params, SGDOptions(0.1))
  template <class Options>
  requires std::is_base_of_v<OptimizerOptions, Options> OptimizerParamGroup(std::vector<Tensor> params,
                                                                            const Options& options)
      : params_(std::move(params)), options_(std::make_unique<Options>(options)) {}

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

  double get_lr() const { return options().get_lr(); }
  void set_lr(double lr) { options().set_lr(lr); }

  // What schedulers keep with a group (initial_lr), and what a loaded dict holds beyond the options.
  IValue::Dict& extra() { return extra_; }
  const IValue::Dict& extra() const { return extra_; }

 protected:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
  IValue::Dict extra_;
};

}  // namespace cresset::optim
