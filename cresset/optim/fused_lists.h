// The tensors that one call of a fused kernel updates. The lists stay with the optimizer from step to step: parameters
// and states are the same each time, so that a step allocates nothing and touches no reference count but the
// gradients'.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset::optim::detail {

class CRESSET_API FusedLists {
 public:
  static constexpr size_t kStates = 3;

  // May these go into one flat loop? All dense, of one floating dtype, shape, order of strides and device.
  static bool fits(const Tensor& param, const Tensor& other);

  bool empty() const { return count_ == 0; }
  // True if the tensor may stand in one call with those that are in.
  bool goes_with(const Tensor& param) const {
    return count_ == 0 || (params_[0].dtype() == param.dtype() && params_[0].device() == param.device());
  }
  void add(const Tensor& param, const Tensor& grad, std::initializer_list<const Tensor*> states);

  const Tensor& first() const { return params_[0]; }
  TensorList params() const { return {params_.data(), count_}; }
  TensorList grads() const { return {grads_.data(), count_}; }
  TensorList state(size_t which) const { return {states_[which].data(), which < state_count_ ? count_ : 0}; }
  // After the kernel: advances the versions of what was written, lets the gradients go, and begins anew.
  void finish();

 private:
  static void put(std::vector<Tensor>& list, size_t at, const Tensor& tensor);
  std::vector<Tensor> params_, grads_, states_[kStates];
  size_t count_ = 0, state_count_ = 0;
};

}  // namespace cresset::optim::detail
