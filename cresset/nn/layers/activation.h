// Activations as layers. With inplace, forward writes into its input.
#pragma once

#include "cresset/nn/layers/stateless.h"
#include "cresset/nn/options/activation.h"

namespace cresset::nn {

struct CRESSET_API ELUImpl : Stateless<ELUImpl, ELUOptions> {
  explicit ELUImpl(const ELUOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(ELU);

struct CRESSET_API SELUImpl : Stateless<SELUImpl, SELUOptions> {
  explicit SELUImpl(const SELUOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(SELU);

struct CRESSET_API CELUImpl : Stateless<CELUImpl, CELUOptions> {
  explicit CELUImpl(const CELUOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(CELU);

struct CRESSET_API GELUImpl : Stateless<GELUImpl, GELUOptions> {
  explicit GELUImpl(GELUOptions options = {});
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(GELU);

struct CRESSET_API GLUImpl : Stateless<GLUImpl, GLUOptions> {
  explicit GLUImpl(const GLUOptions& options = {});
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(GLU);

struct CRESSET_API HardshrinkImpl : Stateless<HardshrinkImpl, HardshrinkOptions> {
  explicit HardshrinkImpl(const HardshrinkOptions& options = {});
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Hardshrink);

struct CRESSET_API HardsigmoidImpl : Stateless<HardsigmoidImpl, HardsigmoidOptions> {
  explicit HardsigmoidImpl(const HardsigmoidOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Hardsigmoid);

struct CRESSET_API HardswishImpl : Stateless<HardswishImpl, HardswishOptions> {
  explicit HardswishImpl(const HardswishOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Hardswish);

struct CRESSET_API HardtanhImpl : Stateless<HardtanhImpl, HardtanhOptions> {
  explicit HardtanhImpl(const HardtanhOptions& options = {});
  void reset() override;
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Hardtanh);

struct CRESSET_API LeakyReLUImpl : Stateless<LeakyReLUImpl, LeakyReLUOptions> {
  explicit LeakyReLUImpl(const LeakyReLUOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(LeakyReLU);

struct CRESSET_API LogSigmoidImpl : Stateless<LogSigmoidImpl, void> {
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(LogSigmoid);

struct CRESSET_API MishImpl : Stateless<MishImpl, MishOptions> {
  explicit MishImpl(const MishOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Mish);

// The slope below zero is learned: one, or one for each channel.
struct CRESSET_API PReLUImpl : Cloneable<PReLUImpl> {
  explicit PReLUImpl(const PReLUOptions& options_ = {});
  Tensor forward(const Tensor& input);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  PReLUOptions options;
  Tensor weight;
};
CRESSET_LAYER(PReLU);

struct CRESSET_API ReLUImpl : Stateless<ReLUImpl, ReLUOptions> {
  explicit ReLUImpl(const ReLUOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(ReLU);

struct CRESSET_API ReLU6Impl : Stateless<ReLU6Impl, ReLU6Options> {
  explicit ReLU6Impl(const ReLU6Options& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(ReLU6);

struct CRESSET_API RReLUImpl : Stateless<RReLUImpl, RReLUOptions> {
  explicit RReLUImpl(const RReLUOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(RReLU);

struct CRESSET_API SigmoidImpl : Stateless<SigmoidImpl, void> {
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Sigmoid);

struct CRESSET_API SiLUImpl : Stateless<SiLUImpl, SiLUOptions> {
  explicit SiLUImpl(const SiLUOptions& options = {});
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(SiLU);

struct CRESSET_API SoftmaxImpl : Stateless<SoftmaxImpl, SoftmaxOptions> {
  CRESSET_IF_CALLED explicit SoftmaxImpl(int64_t dim) : SoftmaxImpl(SoftmaxOptions(dim)) {}
  explicit SoftmaxImpl(const SoftmaxOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Softmax);

struct CRESSET_API SoftminImpl : Stateless<SoftminImpl, SoftminOptions> {
  CRESSET_IF_CALLED explicit SoftminImpl(int64_t dim) : SoftminImpl(SoftminOptions(dim)) {}
  explicit SoftminImpl(const SoftminOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Softmin);

struct CRESSET_API LogSoftmaxImpl : Stateless<LogSoftmaxImpl, LogSoftmaxOptions> {
  CRESSET_IF_CALLED explicit LogSoftmaxImpl(int64_t dim) : LogSoftmaxImpl(LogSoftmaxOptions(dim)) {}
  explicit LogSoftmaxImpl(const LogSoftmaxOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(LogSoftmax);

// Over the channels at each place of an image.
struct CRESSET_API Softmax2dImpl : Stateless<Softmax2dImpl, void> {
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Softmax2d);

struct CRESSET_API SoftplusImpl : Stateless<SoftplusImpl, SoftplusOptions> {
  explicit SoftplusImpl(const SoftplusOptions& options = {});
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Softplus);

struct CRESSET_API SoftshrinkImpl : Stateless<SoftshrinkImpl, SoftshrinkOptions> {
  explicit SoftshrinkImpl(const SoftshrinkOptions& options = {});
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Softshrink);

struct CRESSET_API SoftsignImpl : Stateless<SoftsignImpl, void> {
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Softsign);

struct CRESSET_API TanhImpl : Stateless<TanhImpl, void> {
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Tanh);

struct CRESSET_API TanhshrinkImpl : Stateless<TanhshrinkImpl, void> {
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Tanhshrink);

struct CRESSET_API ThresholdImpl : Stateless<ThresholdImpl, ThresholdOptions> {
  CRESSET_IF_CALLED ThresholdImpl(double threshold, double value) : ThresholdImpl(ThresholdOptions(threshold, value)) {}
  explicit ThresholdImpl(const ThresholdOptions& options);
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Threshold);

}  // namespace cresset::nn
