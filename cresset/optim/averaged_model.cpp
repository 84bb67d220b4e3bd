#include "cresset/optim/averaged_model.h"

#include "cresset/nn/layers/norm.h"
#include "cresset/ops/all.h"

namespace cresset::optim {

AverageFunction get_swa_avg_fn() {
  return [](const Tensor& averaged, const Tensor& current, int64_t num_averaged) {
    return averaged + (current - averaged) / (num_averaged + 1);
  };
}
AverageFunction get_ema_avg_fn(double decay) {
  CRESSET_CHECK_AS(ValueError, decay >= 0 && decay <= 1, "get_ema_avg_fn: Invalid decay value ", decay,
                   " provided (expected 0 to 1)");
  return [decay](const Tensor& averaged, const Tensor& current, int64_t) {
    return decay * averaged + (1 - decay) * current;
  };
}
MultiAverageFunction get_swa_multi_avg_fn() {
  return [](const std::vector<Tensor>& averaged, const std::vector<Tensor>& current, int64_t num_averaged) {
    for (size_t i = 0; i < averaged.size(); i++)
      averaged[i].lerp_(current[i], 1.0 / static_cast<double>(num_averaged + 1));
  };
}
MultiAverageFunction get_ema_multi_avg_fn(double decay) {
  CRESSET_CHECK_AS(ValueError, decay >= 0 && decay <= 1, "get_ema_multi_avg_fn: Invalid decay value ", decay,
                   " provided (expected 0 to 1)");
  return [decay](const std::vector<Tensor>& averaged, const std::vector<Tensor>& current, int64_t) {
    for (size_t i = 0; i < averaged.size(); i++) averaged[i].lerp_(current[i], 1 - decay);
  };
}

AveragedModel::AveragedModel(const nn::Module& model, nn::CallFunction function, AveragedModelOptions options)
    : nn::Module("AveragedModel"), module_(model.clone(options.device())), options_(std::move(options)) {
  CRESSET_CHECK_AS(ValueError, !options_.avg_fn() || !options_.multi_avg_fn(),
                   "AveragedModel: found both avg_fn and multi_avg_fn (expected one of them)");
  CRESSET_CHECK_AS(ValueError, !model.parameters().empty() || !model.buffers().empty(),
                   "AveragedModel: ", nn::short_name(model),
                   " has neither parameters nor buffers to average (expected some; layers that were not given to "
                   "register_module are not among them)");
  if (!options_.avg_fn() && !options_.multi_avg_fn()) options_.avg_fn(get_swa_avg_fn());
  if (function) nn::detail::learn_call(*module_, function);
  register_module("module", module_);
  n_averaged_ = register_buffer("n_averaged", zeros({}, TensorOptions(kLong).device(options_.device().value_or(kCPU))));
}

void AveragedModel::update_parameters(const nn::Module& model) {
  NoGradGuard no_grad;
  std::vector<Tensor> averaged = module_->parameters(), current = model.parameters();
  const std::vector<Tensor> own_buffers = module_->buffers(), buffers = model.buffers();
  if (options_.use_buffers()) {
    averaged.insert(averaged.end(), own_buffers.begin(), own_buffers.end());
    current.insert(current.end(), buffers.begin(), buffers.end());
  }
  CRESSET_CHECK_AS(ValueError, averaged.size() == current.size() && own_buffers.size() == buffers.size(),
                   "AveragedModel::update_parameters: found a model of ", current.size(), " tensors (expected ",
                   averaged.size(), ", as the one that was copied)");
  const int64_t count = n_averaged();
  std::vector<Tensor> own, theirs;  // to be averaged
  for (size_t i = 0; i < averaged.size(); i++) {
    const Tensor value = current[i].detach().to(averaged[i].device());
    // Counters have no average.
    if (count == 0 || !(averaged[i].is_floating_point() || averaged[i].is_complex())) {
      averaged[i].copy_(value);
      continue;
    }
    own.push_back(averaged[i].detach());
    theirs.push_back(value);
  }
  if (!own.empty() && options_.multi_avg_fn()) options_.multi_avg_fn()(own, theirs, count);
  if (options_.avg_fn())
    for (size_t i = 0; i < own.size(); i++) own[i].copy_(options_.avg_fn()(own[i], theirs[i], count));
  if (!options_.use_buffers())
    for (size_t i = 0; i < buffers.size(); i++) own_buffers[i].copy_(buffers[i]);
  n_averaged_.add_(1);
}

Tensor AveragedModel::forward(const Tensor& input) {
  nn::AnyValues arguments;
  arguments.emplace_back(input);
  return module_->call(std::move(arguments)).get<Tensor>();
}

namespace detail {
namespace {

template <class... Norms>
std::optional<double>* momentum_in(nn::Module& module) {
  std::optional<double>* found = nullptr;
  auto look = [&](auto* norm) {
    if (!norm || !norm->running_mean.defined()) return;
    norm->reset_running_stats();
    found = &norm->options.momentum();
  };
  (look(module.as<Norms>()), ...);
  return found;
}

}  // namespace

FreshStatistics::FreshStatistics(nn::Module& model) : model_(model), was_training_(model.is_training()) {
  model.apply([&](nn::Module& module) {
    std::optional<double>* momentum =
        momentum_in<nn::BatchNorm1dImpl, nn::BatchNorm2dImpl, nn::BatchNorm3dImpl, nn::SyncBatchNormImpl>(module);
    if (momentum) momenta_.emplace_back(momentum, std::exchange(*momentum, std::nullopt));
  });
  if (!empty()) model_.train();
}
FreshStatistics::~FreshStatistics() {
  for (auto& [place, momentum] : momenta_) *place = momentum;
  if (!empty()) model_.train(was_training_);
}

}  // namespace detail
}  // namespace cresset::optim
