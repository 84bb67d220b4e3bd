// Transforms of an example's data: TensorTransform, a function as one, Normalize, Compose.
#pragma once

#include "cresset/data/transforms/base.h"
#include "cresset/data/transforms/functional.h"

namespace cresset::data::transforms {

template <typename Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;

  virtual Tensor operator()(Tensor input) = 0;

  E apply(E input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }

  // True if a stack of such rows may be transformed in one call, to the same result.
  virtual bool batchable(const Tensor& /* row */) const { return false; }

  std::vector<E> apply_batch(std::vector<E> examples) override {
    if (examples.empty() || !examples[0].data.defined() || !batchable(examples[0].data))
      return Transform<E, E>::apply_batch(std::move(examples));
    std::vector<Tensor> rows;
    rows.reserve(examples.size());
    for (const E& example : examples) rows.push_back(example.data);
    const Tensor whole = data::detail::whole_of(rows);
    if (!whole.defined()) return Transform<E, E>::apply_batch(std::move(examples));
    rows = data::detail::rows_of((*this)(whole));
    for (size_t i = 0; i < examples.size(); i++) examples[i].data = std::move(rows[i]);
    return examples;
  }
};

template <typename Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;
  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

// (x - mean) / stddev, for each channel of [C, H, W].
template <typename Target = Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(ArrayRef<double> means, ArrayRef<double> stddevs)
      : mean(functional::per_channel(means)), stddev(functional::per_channel(stddevs)) {}
  Tensor operator()(Tensor input) override { return functional::normalize(input, mean, stddev); }
  bool batchable(const Tensor& row) const override { return row.dim() >= 3; }

  Tensor mean, stddev;
};

// Several in a row: transforms of this library, or functions from tensor to tensor. In braces, Compose<>{ToTensor<>(),
// CenterCrop<>(28)}: a variable made with parentheses of nothing but default-made steps would declare a function.
template <typename Target = Tensor>
class Compose : public TensorTransform<Target> {
 public:
  template <typename... Steps>
  requires(sizeof...(Steps) > 0) explicit Compose(Steps... steps) { (add(std::move(steps)), ...); }

  Tensor operator()(Tensor input) override {
    for (const Step& step : steps_) input = step.function(std::move(input));
    return input;
  }
  bool batchable(const Tensor& row) const override {
    for (const Step& step : steps_)
      if (!step.batchable || !step.batchable(row)) return false;
    return true;
  }

 private:
  struct Step {
    std::function<Tensor(Tensor)> function;
    std::function<bool(const Tensor&)> batchable;
  };
  template <typename F>
  void add(F step) {
    Step made{step, nullptr};
    if constexpr (requires(const F& f, const Tensor& row) { f.batchable(row); })
      made.batchable = [step](const Tensor& row) { return step.batchable(row); };
    steps_.push_back(std::move(made));
  }
  std::vector<Step> steps_;
};

}  // namespace cresset::data::transforms
