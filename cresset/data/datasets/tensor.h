// Data sets over tensors in memory. A batch is gathered by one index_select, not example by example.
#pragma once

#include "cresset/data/datasets/base.h"

namespace cresset::data::datasets {

namespace detail {
// The rows of `data` at these indices, in fresh memory. `who` is for the error.
CRESSET_API Tensor gather_rows(const char* who, const Tensor& data, ArrayRef<size_t> indices);
CRESSET_API void check_index(const char* who, size_t index, size_t size);
// Examples out of two wholes of one length.
CRESSET_API std::vector<Example<>> examples_of(const Tensor& data, const Tensor& target);
}  // namespace detail

// libtorch's: examples without a target, the slices of one tensor.
struct CRESSET_API TensorDataset : public Dataset<TensorDataset, TensorExample> {
  explicit TensorDataset(const std::vector<Tensor>& tensors);  // stacked
  explicit TensorDataset(Tensor tensor);

  TensorExample get(size_t index) override;
  std::vector<TensorExample> get_batch(ArrayRef<size_t> indices) override;
  std::optional<size_t> size() const override;

  Tensor tensor;
};

// Data and targets: what Python writes as TensorDataset(x, y).
struct CRESSET_API PairDataset : public Dataset<PairDataset> {
  PairDataset(Tensor data, Tensor target);

  Example<> get(size_t index) override;
  std::vector<Example<>> get_batch(ArrayRef<size_t> indices) override;
  std::optional<size_t> size() const override;

  Tensor data, target;
};

}  // namespace cresset::data::datasets
