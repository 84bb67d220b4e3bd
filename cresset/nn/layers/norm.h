// Norms. Batch and instance norms may keep running statistics, which evaluation then uses.
#pragma once

#include "cresset/nn/layers/stateless.h"
#include "cresset/nn/options/norm.h"

namespace cresset::nn {

// Parameters and statistics of batch and instance norms.
template <size_t D, class Derived, class DerivedOptions>
class CRESSET_API NormImplBase : public Cloneable<Derived> {
 public:
  NormImplBase(const DerivedOptions& options_);
  void reset() override;
  void reset_running_stats();
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  DerivedOptions options;
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
};

template <size_t D, class Derived>
class CRESSET_API BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions> {
 public:
  using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;
  Tensor forward(const Tensor& input);
  // Whether its statistics are those of all processes' batches. It stays the object that it is: a member of a user's
  // class could not be exchanged for a SyncBatchNorm from outside. Without the distributed library, or without a
  // process group, nothing changes. Which processes: options.process_group().
  void synchronise(bool on = true) { synchronised_ = on; }
  bool is_synchronised() const { return synchronised_; }

 protected:
  virtual void _check_input_dim(const Tensor& input);
  // Counts the batch and returns how far the running statistics move towards it.
  double count_batch();

 private:
  bool synchronised_ = false;
};

template <size_t D, class Derived>
class CRESSET_API InstanceNormImplBase : public NormImplBase<D, Derived, InstanceNormOptions> {
 public:
  using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;
  Tensor forward(const Tensor& input);
};

#define CRESSET_NORM_LAYERS(rank)                                                                        \
  struct CRESSET_API BatchNorm##rank##dImpl : BatchNormImplBase<rank, BatchNorm##rank##dImpl> {          \
    explicit BatchNorm##rank##dImpl(const BatchNormOptions& options);                                    \
    explicit BatchNorm##rank##dImpl(int64_t num_features);                                               \
  };                                                                                                     \
  extern template class NormImplBase<rank, BatchNorm##rank##dImpl, BatchNormOptions>;                    \
  extern template class BatchNormImplBase<rank, BatchNorm##rank##dImpl>;                                 \
  CRESSET_LAYER(BatchNorm##rank##d);                                                                     \
  struct CRESSET_API InstanceNorm##rank##dImpl : InstanceNormImplBase<rank, InstanceNorm##rank##dImpl> { \
    explicit InstanceNorm##rank##dImpl(const InstanceNormOptions& options);                              \
    explicit InstanceNorm##rank##dImpl(int64_t num_features);                                            \
  };                                                                                                     \
  extern template class NormImplBase<rank, InstanceNorm##rank##dImpl, InstanceNormOptions>;              \
  extern template class InstanceNormImplBase<rank, InstanceNorm##rank##dImpl>;                           \
  CRESSET_LAYER(InstanceNorm##rank##d)
CRESSET_NORM_LAYERS(1);
CRESSET_NORM_LAYERS(2);
CRESSET_NORM_LAYERS(3);
#undef CRESSET_NORM_LAYERS

// Batch norm over the batches of all processes of a group. What gathers their statistics is filled in by the
// distributed library when a process group exists; until then a process has only its own batch, and this is a batch
// norm of any rank.
using SyncBatchNormFunction = Tensor (*)(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                         const Tensor& running_mean, const Tensor& running_var, double momentum,
                                         double eps, const std::shared_ptr<distributed::ProcessGroup>& group);
extern CRESSET_API SyncBatchNormFunction sync_batch_norm_function;

struct CRESSET_API SyncBatchNormImpl : BatchNormImplBase<0, SyncBatchNormImpl> {
  explicit SyncBatchNormImpl(const SyncBatchNormOptions& options);
  explicit SyncBatchNormImpl(int64_t num_features);
  Tensor forward(const Tensor& input);
};
extern template class NormImplBase<0, SyncBatchNormImpl, BatchNormOptions>;
extern template class BatchNormImplBase<0, SyncBatchNormImpl>;
CRESSET_LAYER(SyncBatchNorm);

struct CRESSET_API LayerNormImpl : Cloneable<LayerNormImpl> {
  CRESSET_IF_CALLED explicit LayerNormImpl(std::vector<int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
  LayerNormOptions options;
  Tensor weight, bias;
};
CRESSET_LAYER(LayerNorm);

struct CRESSET_API RMSNormImpl : Cloneable<RMSNormImpl> {
  CRESSET_IF_CALLED explicit RMSNormImpl(std::vector<int64_t> normalized_shape)
      : RMSNormImpl(RMSNormOptions(std::move(normalized_shape))) {}
  explicit RMSNormImpl(RMSNormOptions options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
  RMSNormOptions options;
  Tensor weight;
};
CRESSET_LAYER(RMSNorm);

struct CRESSET_API GroupNormImpl : Cloneable<GroupNormImpl> {
  CRESSET_IF_CALLED GroupNormImpl(int64_t num_groups, int64_t num_channels)
      : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(const GroupNormOptions& options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
  GroupNormOptions options;
  Tensor weight, bias;
};
CRESSET_LAYER(GroupNorm);

struct CRESSET_API LocalResponseNormImpl : Stateless<LocalResponseNormImpl, LocalResponseNormOptions> {
  CRESSET_IF_CALLED explicit LocalResponseNormImpl(int64_t size)
      : LocalResponseNormImpl(LocalResponseNormOptions(size)) {}
  explicit LocalResponseNormImpl(const LocalResponseNormOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(LocalResponseNorm);

struct CRESSET_API CrossMapLRN2dImpl : Stateless<CrossMapLRN2dImpl, CrossMapLRN2dOptions> {
  explicit CrossMapLRN2dImpl(int64_t size) : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}
  explicit CrossMapLRN2dImpl(const CrossMapLRN2dOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(CrossMapLRN2d);

}  // namespace cresset::nn
