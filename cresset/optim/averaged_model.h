// AveragedModel: a copy of a model whose parameters are averages of those that training went through: equal weights
// (stochastic weight averaging) or exponential ones (EMA).
#pragma once

#include "cresset/core/arg.h"
#include "cresset/nn/module.h"

namespace cresset::optim {

// The new average, from the one before, the model's value and how many values are in the average.
using AverageFunction = std::function<Tensor(const Tensor& averaged, const Tensor& current, int64_t num_averaged)>;
// The same for all tensors at once, in place.
using MultiAverageFunction =
    std::function<void(const std::vector<Tensor>& averaged, const std::vector<Tensor>& current, int64_t num_averaged)>;

CRESSET_API AverageFunction get_swa_avg_fn();
CRESSET_API AverageFunction get_ema_avg_fn(double decay = 0.999);
CRESSET_API MultiAverageFunction get_swa_multi_avg_fn();
CRESSET_API MultiAverageFunction get_ema_multi_avg_fn(double decay = 0.999);

struct CRESSET_API AveragedModelOptions {
  CRESSET_ARG(std::optional<Device>, device) = std::nullopt;  // of the copy
  CRESSET_ARG(AverageFunction, avg_fn) = nullptr;
  CRESSET_ARG(MultiAverageFunction, multi_avg_fn) = nullptr;  // without either: equal weights
  CRESSET_ARG(bool, use_buffers) = false;                     // average them too; otherwise they are copied
};

class CRESSET_API AveragedModel : public nn::Module {
 public:
  // The model must have a clone(): it and its submodules derive from nn::Cloneable.
  template <class M>
  explicit AveragedModel(const std::shared_ptr<M>& model, AveragedModelOptions options = {})
      : AveragedModel(*model, nn::detail::call_function<M>(), std::move(options)) {}
  template <class M>
  explicit AveragedModel(const nn::ModuleHolder<M>& model, AveragedModelOptions options = {})
      : AveragedModel(model.ptr(), std::move(options)) {}

  // The first time copies, then averages.
  void update_parameters(const nn::Module& model);
  template <class M>
  void update_parameters(const std::shared_ptr<M>& model) {
    update_parameters(static_cast<const nn::Module&>(*model));
  }
  template <class M>
  void update_parameters(const nn::ModuleHolder<M>& model) {
    update_parameters(static_cast<const nn::Module&>(*model));
  }

  // Runs the averaged model.
  Tensor forward(const Tensor& input);
  const std::shared_ptr<nn::Module>& module() const { return module_; }
  int64_t n_averaged() const { return n_averaged_.item<int64_t>(); }

 private:
  AveragedModel(const nn::Module& model, nn::CallFunction function, AveragedModelOptions options);
  std::shared_ptr<nn::Module> module_;
  Tensor n_averaged_;
  AveragedModelOptions options_;
};

namespace detail {

// While one lives, the batch norms of a model take the mean of all batches; at first their statistics are reset.
class CRESSET_API FreshStatistics {
 public:
  explicit FreshStatistics(nn::Module& model);
  ~FreshStatistics();
  FreshStatistics(const FreshStatistics&) = delete;
  FreshStatistics& operator=(const FreshStatistics&) = delete;
  bool empty() const { return momenta_.empty(); }

 private:
  nn::Module& model_;
  bool was_training_;
  std::vector<std::pair<std::optional<double>*, std::optional<double>>> momenta_;
};

// The input of a batch: the batch itself, its data (Example), or its first element (pair, tuple, vector).
template <class Batch>
const Tensor& input_of(const Batch& batch) {
  if constexpr (std::is_convertible_v<const Batch&, const Tensor&>)
    return batch;
  else if constexpr (requires { batch.data; })
    return batch.data;
  else if constexpr (requires { batch.front(); })
    return batch.front();
  else
    return std::get<0>(batch);
}

}  // namespace detail

// Runs the loader's batches through the model, to give its batch norms the statistics that belong to averaged weights.
template <class Loader, class Model>
void update_bn(Loader&& loader, Model& model, std::optional<Device> device = std::nullopt) {
  NoGradGuard no_grad;
  auto& module = [&]() -> auto& {
    if constexpr (requires { *model; })
      return *model;
    else
      return model;
  }
  ();
  detail::FreshStatistics fresh(module);
  if (fresh.empty()) return;
  for (auto&& batch : loader) {
    const Tensor& input = detail::input_of(batch);
    module.forward(device ? input.to(*device) : input);
  }
}

}  // namespace cresset::optim
