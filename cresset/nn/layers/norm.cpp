#include "cresset/nn/layers/norm.h"

#include <ostream>

#include "cresset/nn/functional/norm.h"
#include "cresset/nn/layers/describe.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

using detail::print_line;
using detail::written;
namespace F = functional;

SyncBatchNormFunction sync_batch_norm_function = nullptr;

namespace {

std::string momentum_text(double momentum) { return written(momentum); }
std::string momentum_text(const std::optional<double>& momentum) { return momentum ? written(*momentum) : "None"; }

void set_ones(const Tensor& x) {
  NoGradGuard no_grad;
  if (x.defined()) fill_(x, 1);
}
void set_zeros(const Tensor& x) {
  NoGradGuard no_grad;
  if (x.defined()) zero_(x);
}

}  // namespace

template <size_t D, class Derived, class Options>
NormImplBase<D, Derived, Options>::NormImplBase(const Options& options_) : options(options_) {
  NormImplBase::reset();
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset() {
  const int64_t features = options.num_features();
  CRESSET_CHECK_AS(ValueError, features >= 0, detail::layer_name(typeid(Derived)), ": found num_features ", features,
                   " (expected no negative number)");
  auto parameter = [&](const char* name) {
    return this->register_parameter(name, options.affine() ? empty({features}) : Tensor(), options.affine());
  };
  weight = parameter("weight");
  bias = parameter("bias");
  const bool track = options.track_running_stats();
  running_mean = this->register_buffer("running_mean", track ? zeros({features}) : Tensor());
  running_var = this->register_buffer("running_var", track ? ones({features}) : Tensor());
  num_batches_tracked =
      this->register_buffer("num_batches_tracked", track ? zeros({}, TensorOptions(kLong)) : Tensor());
  reset_parameters();
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset_running_stats() {
  set_zeros(running_mean);
  set_ones(running_var);
  set_zeros(num_batches_tracked);
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::reset_parameters() {
  reset_running_stats();
  set_ones(weight);
  set_zeros(bias);
}

template <size_t D, class Derived, class Options>
void NormImplBase<D, Derived, Options>::pretty_print(std::ostream& stream) const {
  const std::string text = std::to_string(options.num_features()) + ", eps=" + written(options.eps()) +
                           ", momentum=" + momentum_text(options.momentum()) + ", affine=" + written(options.affine()) +
                           ", track_running_stats=" + written(options.track_running_stats());
  if constexpr (requires(const Derived& norm) { norm.is_synchronised(); })
    if (static_cast<const Derived&>(*this).is_synchronised()) {
      stream << detail::either("", "torch::nn::") << "SyncBatchNorm(" << text << ')';
      return;
    }
  print_line(stream, *this, text);
}

template <size_t D, class Derived>
void BatchNormImplBase<D, Derived>::_check_input_dim(const Tensor& input) {
  const int64_t dims = input.dim();
  if constexpr (D == 0)
    CRESSET_CHECK_AS(ShapeError, dims >= 2, "SyncBatchNorm: expected at least 2D input (got ", dims, "D input)");
  else if constexpr (D == 1)
    CRESSET_CHECK_AS(ShapeError, dims == 2 || dims == 3, "BatchNorm1d: expected 2D or 3D input (got ", dims,
                     "D input)");
  else
    CRESSET_CHECK_AS(ShapeError, dims == static_cast<int64_t>(D) + 2, "BatchNorm", D, "d: expected ", D + 2,
                     "D input (got ", dims, "D input)");
}

template <size_t D, class Derived>
double BatchNormImplBase<D, Derived>::count_batch() {
  const auto& momentum = this->options.momentum();
  if (this->is_training() && this->num_batches_tracked.defined()) {
    add_(this->num_batches_tracked, 1);
    if (!momentum) return 1.0 / static_cast<double>(this->num_batches_tracked.template item<int64_t>());
  }
  return momentum.value_or(0.0);
}

template <size_t D, class Derived>
Tensor BatchNormImplBase<D, Derived>::forward(const Tensor& input) {
  _check_input_dim(input);
  const double factor = count_batch();
  const bool by_batch = this->is_training() || !this->running_mean.defined();
  if (by_batch && sync_batch_norm_function && synchronised_)
    return sync_batch_norm_function(input, this->weight, this->bias, this->running_mean, this->running_var, factor,
                                    this->options.eps(), this->options.process_group());
  if (by_batch) F::detail::check_batch_statistics(input);
  return batch_norm(input, this->weight, this->bias, this->running_mean, this->running_var, by_batch, factor,
                    this->options.eps());
}

// One sample without batch is taken as a batch of one.
template <size_t D, class Derived>
Tensor InstanceNormImplBase<D, Derived>::forward(const Tensor& input) {
  constexpr int64_t alone = static_cast<int64_t>(D) + 1;
  CRESSET_CHECK_AS(ShapeError, input.dim() == alone || input.dim() == alone + 1, "InstanceNorm", D, "d: expected ",
                   alone, "D or ", alone + 1, "D input (got ", input.dim(), "D input)");
  const auto& o = this->options;
  const auto settings = F::InstanceNormFuncOptions()
                            .running_mean(this->running_mean)
                            .running_var(this->running_var)
                            .weight(this->weight)
                            .bias(this->bias)
                            .use_input_stats(this->is_training() || !o.track_running_stats())
                            .momentum(o.momentum())
                            .eps(o.eps());
  if (input.dim() == alone) return squeeze(F::instance_norm(unsqueeze(input, 0), settings), 0);
  return F::instance_norm(input, settings);
}

#define CRESSET_NORM_LAYERS(rank)                                                                                 \
  template class NormImplBase<rank, BatchNorm##rank##dImpl, BatchNormOptions>;                                    \
  template class BatchNormImplBase<rank, BatchNorm##rank##dImpl>;                                                 \
  template class NormImplBase<rank, InstanceNorm##rank##dImpl, InstanceNormOptions>;                              \
  template class InstanceNormImplBase<rank, InstanceNorm##rank##dImpl>;                                           \
  BatchNorm##rank##dImpl::BatchNorm##rank##dImpl(const BatchNormOptions& options) : BatchNormImplBase(options) {} \
  BatchNorm##rank##dImpl::BatchNorm##rank##dImpl(int64_t num_features) : BatchNormImplBase(num_features) {}       \
  InstanceNorm##rank##dImpl::InstanceNorm##rank##dImpl(const InstanceNormOptions& options)                        \
      : InstanceNormImplBase(options) {}                                                                          \
  InstanceNorm##rank##dImpl::InstanceNorm##rank##dImpl(int64_t num_features) : InstanceNormImplBase(num_features) {}
CRESSET_NORM_LAYERS(1)
CRESSET_NORM_LAYERS(2)
CRESSET_NORM_LAYERS(3)
#undef CRESSET_NORM_LAYERS

template class NormImplBase<0, SyncBatchNormImpl, BatchNormOptions>;
template class BatchNormImplBase<0, SyncBatchNormImpl>;
SyncBatchNormImpl::SyncBatchNormImpl(const SyncBatchNormOptions& options) : BatchNormImplBase(options) {}
SyncBatchNormImpl::SyncBatchNormImpl(int64_t num_features) : BatchNormImplBase(num_features) {}
Tensor SyncBatchNormImpl::forward(const Tensor& input) {
  const bool by_batch = is_training() || !running_mean.defined();
  if (!by_batch || !sync_batch_norm_function) return BatchNormImplBase::forward(input);
  _check_input_dim(input);
  return sync_batch_norm_function(input, weight, bias, running_mean, running_var, count_batch(), options.eps(),
                                  options.process_group());
}

LayerNormImpl::LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) { LayerNormImpl::reset(); }
void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine(), with_bias = affine && options.bias();
  weight = register_parameter("weight", affine ? cresset::empty(options.normalized_shape()) : Tensor(), affine);
  bias = register_parameter("bias", with_bias ? cresset::empty(options.normalized_shape()) : Tensor(), with_bias);
  reset_parameters();
}
void LayerNormImpl::reset_parameters() {
  set_ones(weight);
  set_zeros(bias);
}
Tensor LayerNormImpl::forward(const Tensor& input) {
  return layer_norm(input, options.normalized_shape(), weight, bias, options.eps());
}
void LayerNormImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             detail::listed(options.normalized_shape()) + ", eps=" + written(options.eps()) +
                 ", elementwise_affine=" + written(options.elementwise_affine()));
}

RMSNormImpl::RMSNormImpl(RMSNormOptions options_) : options(std::move(options_)) { RMSNormImpl::reset(); }
void RMSNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight", affine ? cresset::empty(options.normalized_shape()) : Tensor(), affine);
  reset_parameters();
}
void RMSNormImpl::reset_parameters() { set_ones(weight); }
Tensor RMSNormImpl::forward(const Tensor& input) {
  return rms_norm(input, options.normalized_shape(), weight, options.eps());
}
void RMSNormImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             detail::listed(options.normalized_shape()) + ", eps=" + momentum_text(options.eps()) +
                 ", elementwise_affine=" + written(options.elementwise_affine()));
}

GroupNormImpl::GroupNormImpl(const GroupNormOptions& options_) : options(options_) { GroupNormImpl::reset(); }
void GroupNormImpl::reset() {
  CRESSET_CHECK_AS(ValueError, options.num_groups() > 0 && options.num_channels() % options.num_groups() == 0,
                   "GroupNorm: num_channels must be divisible by num_groups, found ", options.num_channels(), " and ",
                   options.num_groups());
  const bool affine = options.affine();
  weight = register_parameter("weight", affine ? empty({options.num_channels()}) : Tensor(), affine);
  bias = register_parameter("bias", affine ? empty({options.num_channels()}) : Tensor(), affine);
  reset_parameters();
}
void GroupNormImpl::reset_parameters() {
  set_ones(weight);
  set_zeros(bias);
}
Tensor GroupNormImpl::forward(const Tensor& input) {
  return group_norm(input, options.num_groups(), weight, bias, options.eps());
}
void GroupNormImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             std::to_string(options.num_groups()) + ", " + std::to_string(options.num_channels()) +
                 ", eps=" + written(options.eps()) + ", affine=" + written(options.affine()));
}

LocalResponseNormImpl::LocalResponseNormImpl(const LocalResponseNormOptions& options) : Stateless(options) {}
Tensor LocalResponseNormImpl::forward(const Tensor& input) { return F::local_response_norm(input, options); }
void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             std::to_string(options.size()) + ", alpha=" + written(options.alpha()) +
                 ", beta=" + written(options.beta()) + ", k=" + written(options.k()));
}

CrossMapLRN2dImpl::CrossMapLRN2dImpl(const CrossMapLRN2dOptions& options) : Stateless(options) {}
Tensor CrossMapLRN2dImpl::forward(const Tensor& input) { return F::cross_map_lrn2d(input, options); }
void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             std::to_string(options.size()) + ", alpha=" + written(options.alpha()) +
                 ", beta=" + written(options.beta()) + ", k=" + written(options.k()));
}

}  // namespace cresset::nn
