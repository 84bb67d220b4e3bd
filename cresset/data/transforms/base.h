// Transforms of batches and of single examples; functions as transforms; collation. libtorch's classes.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "cresset/data/example.h"
#include "cresset/data/random.h"

namespace cresset::data::transforms {

template <typename InputBatch, typename OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;

  virtual ~BatchTransform() = default;
  virtual OutputBatch apply_batch(InputBatch input_batch) = 0;
};

// Works on one example at a time, each with its own random numbers.
template <typename Input, typename Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;

  virtual OutputType apply(InputType input) = 0;

  std::vector<Output> apply_batch(std::vector<Input> input_batch) override {
    std::vector<Output> output_batch;
    output_batch.reserve(input_batch.size());
    for (size_t i = 0; i < input_batch.size(); i++) {
      const data::detail::SampleScope sample(i);
      output_batch.push_back(apply(std::move(input_batch[i])));
    }
    return output_batch;
  }
};

template <typename Input, typename Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  explicit BatchLambda(FunctionType function) : function_(std::move(function)) {}
  Output apply_batch(Input input_batch) override { return function_(std::move(input_batch)); }

 private:
  FunctionType function_;
};

template <typename Input, typename Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  explicit Lambda(FunctionType function) : function_(std::move(function)) {}
  Output apply(Input input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

// A collation makes one thing of a batch: Stack, or a function of the user's.
template <typename T, typename BatchType = std::vector<T>>
using Collation = BatchTransform<BatchType, T>;
template <typename T, typename BatchType = std::vector<T>>
using Collate = BatchLambda<BatchType, T>;

namespace detail {
// The rows stacked; without a copy if they were gathered together. An error names the first sample that is unlike the
// one at the start; `what` is what the rows are of it.
CRESSET_API Tensor stacked(const std::vector<Tensor>& rows, const char* what);
}  // namespace detail

template <typename T = Example<>>
struct Stack;

template <>
struct CRESSET_API Stack<Example<>> : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};

template <>
struct CRESSET_API Stack<TensorExample> : public Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

}  // namespace cresset::data::transforms
