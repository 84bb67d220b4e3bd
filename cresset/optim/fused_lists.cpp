#include "cresset/optim/fused_lists.h"

#include "cresset/autograd/differentiable.h"

namespace cresset::optim::detail {

bool FusedLists::fits(const Tensor& param, const Tensor& other) {
  const TensorImpl &p = *param.impl(), &o = *other.impl();
  if (p.dtype != o.dtype || p.device != o.device || !is_floating_point(p.dtype)) return false;
  if (IntArrayRef(p.sizes) != IntArrayRef(o.sizes)) return false;
  if (p.contiguous && o.contiguous) return true;
  return param.is_non_overlapping_and_dense() && param.strides() == other.strides();
}

void FusedLists::put(std::vector<Tensor>& list, size_t at, const Tensor& tensor) {
  if (at == list.size())
    list.push_back(tensor);
  else if (!list[at].is_same(tensor))
    list[at] = tensor;
}

void FusedLists::add(const Tensor& param, const Tensor& grad, std::initializer_list<const Tensor*> states) {
  put(params_, count_, param);
  put(grads_, count_, grad);
  state_count_ = 0;
  for (const Tensor* state : states) put(states_[state_count_++], count_, *state);
  count_++;
}

void FusedLists::finish() {
  for (size_t i = 0; i < count_; i++) {
    autograd::bump_version(params_[i]);
    for (size_t s = 0; s < state_count_; s++) autograd::bump_version(states_[s][i]);
    grads_[i].reset();
  }
  count_ = 0;
}

}  // namespace cresset::optim::detail
