// Gathers batches.
#include "cresset/data/datasets/tensor.h"

#include "cresset/ops/all.h"

namespace cresset::data::datasets {
namespace detail {

void check_index(const char* who, size_t index, size_t size) {
  CRESSET_CHECK_AS(IndexError, index < size, who, ": index ", index, " is out of range (expected less than ", size,
                   ")");
}

Tensor gather_rows(const char* who, const Tensor& data, ArrayRef<size_t> indices) {
  const auto size = static_cast<size_t>(data.size(0));
  const Tensor index = empty_contiguous({static_cast<int64_t>(indices.size())}, kLong, kCPU);
  for (size_t i = 0; i < indices.size(); i++) {
    check_index(who, indices[i], size);
    index.data_ptr<int64_t>()[i] = static_cast<int64_t>(indices[i]);
  }
  return data.index_select(0, data.is_cpu() ? index : index.to(data.device()));
}

std::vector<Example<>> examples_of(const Tensor& data, const Tensor& target) {
  std::vector<Tensor> inputs = data::detail::rows_of(data), targets = data::detail::rows_of(target);
  std::vector<Example<>> examples;
  examples.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); i++) examples.emplace_back(std::move(inputs[i]), std::move(targets[i]));
  return examples;
}

}  // namespace detail

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(stack(tensors)) {}

TensorDataset::TensorDataset(Tensor tensor) : tensor(std::move(tensor)) {
  CRESSET_CHECK_AS(ShapeError, this->tensor.dim() > 0, "TensorDataset: found a 0-d tensor (expected at least 1-d)");
}

TensorExample TensorDataset::get(size_t index) {
  detail::check_index("TensorDataset", index, *size());
  return tensor[static_cast<int64_t>(index)];
}

std::vector<TensorExample> TensorDataset::get_batch(ArrayRef<size_t> indices) {
  if (tensor.requires_grad()) return Dataset::get_batch(indices);  // rows keep their place in the graph
  std::vector<Tensor> rows = data::detail::rows_of(detail::gather_rows("TensorDataset", tensor, indices));
  return {std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end())};
}

std::optional<size_t> TensorDataset::size() const { return static_cast<size_t>(tensor.size(0)); }

PairDataset::PairDataset(Tensor data, Tensor target) : data(std::move(data)), target(std::move(target)) {
  CRESSET_CHECK_AS(ShapeError,
                   this->data.dim() > 0 && this->target.dim() > 0 && this->data.size(0) == this->target.size(0),
                   "PairDataset: found data of shape ", this->data.sizes(), " and targets of shape ",
                   this->target.sizes(), " (expected the same size in dimension 0)");
}

Example<> PairDataset::get(size_t index) {
  detail::check_index("PairDataset", index, *size());
  const auto i = static_cast<int64_t>(index);
  return {data[i], target[i]};
}

std::vector<Example<>> PairDataset::get_batch(ArrayRef<size_t> indices) {
  if (data.requires_grad() || target.requires_grad()) return Dataset::get_batch(indices);
  return detail::examples_of(detail::gather_rows("PairDataset", data, indices),
                             detail::gather_rows("PairDataset", target, indices));
}

std::optional<size_t> PairDataset::size() const { return static_cast<size_t>(data.size(0)); }

}  // namespace cresset::data::datasets
