// Stacks examples.
#include "cresset/data/transforms/base.h"
#include "cresset/ops/all.h"

namespace cresset::data::transforms {

Tensor detail::stacked(const std::vector<Tensor>& rows) {
  const Tensor whole = data::detail::whole_of(rows);
  return whole.defined() ? whole : stack(rows);
}

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<Tensor> data, targets;
  data.reserve(examples.size());
  targets.reserve(examples.size());
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {detail::stacked(data), detail::stacked(targets)};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<Tensor> data;
  data.reserve(examples.size());
  for (TensorExample& example : examples) data.push_back(std::move(example.data));
  return detail::stacked(data);
}

}  // namespace cresset::data::transforms
