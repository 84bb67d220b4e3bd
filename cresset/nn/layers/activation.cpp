#include "cresset/nn/layers/activation.h"

#include "cresset/nn/functional/activation.h"
#include "cresset/nn/layers/describe.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

using detail::print_line;
using detail::written;
namespace F = functional;

namespace {
std::string inplace_text(bool inplace, const char* before = "") {
  return inplace ? std::string(before) + "inplace=" + written(true) : std::string();
}
}  // namespace

ELUImpl::ELUImpl(const ELUOptions& options) : Stateless(options) {}
Tensor ELUImpl::forward(Tensor input) { return F::elu(std::move(input), options); }
void ELUImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "alpha=" + written(options.alpha()) + inplace_text(options.inplace(), ", "));
}

SELUImpl::SELUImpl(const SELUOptions& options) : Stateless(options) {}
Tensor SELUImpl::forward(Tensor input) { return F::selu(std::move(input), options); }
void SELUImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this, inplace_text(options.inplace())); }

CELUImpl::CELUImpl(const CELUOptions& options) : Stateless(options) {}
Tensor CELUImpl::forward(Tensor input) { return F::celu(std::move(input), options); }
void CELUImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "alpha=" + written(options.alpha()) + inplace_text(options.inplace(), ", "));
}

GELUImpl::GELUImpl(GELUOptions options) : Stateless(options) {}
Tensor GELUImpl::forward(const Tensor& input) { return F::gelu(input, options); }
void GELUImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, detail::either("approximate='" + options.approximate() + "'", ""));
}

GLUImpl::GLUImpl(const GLUOptions& options) : Stateless(options) {}
Tensor GLUImpl::forward(const Tensor& input) { return F::glu(input, options); }
void GLUImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "dim=" + std::to_string(options.dim()));
}

HardshrinkImpl::HardshrinkImpl(const HardshrinkOptions& options) : Stateless(options) {}
Tensor HardshrinkImpl::forward(const Tensor& input) { return F::hardshrink(input, options); }
void HardshrinkImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this, written(options.lambda())); }

HardsigmoidImpl::HardsigmoidImpl(const HardsigmoidOptions& options) : Stateless(options) {}
Tensor HardsigmoidImpl::forward(Tensor input) { return F::hardsigmoid(std::move(input), options); }
void HardsigmoidImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }

HardswishImpl::HardswishImpl(const HardswishOptions& options) : Stateless(options) {}
Tensor HardswishImpl::forward(Tensor input) { return F::hardswish(std::move(input), options); }
void HardswishImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }

HardtanhImpl::HardtanhImpl(const HardtanhOptions& options_) : Stateless(options_) { HardtanhImpl::reset(); }
void HardtanhImpl::reset() {
  CRESSET_CHECK_AS(ValueError, options.max_val() > options.min_val(), "Hardtanh: found min_val ", options.min_val(),
                   " and max_val ", options.max_val(), " (max_val must be greater than min_val)");
}
Tensor HardtanhImpl::forward(Tensor input) { return F::hardtanh(std::move(input), options); }
void HardtanhImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             "min_val=" + written(options.min_val()) + ", max_val=" + written(options.max_val()) +
                 inplace_text(options.inplace(), ", "));
}

LeakyReLUImpl::LeakyReLUImpl(const LeakyReLUOptions& options) : Stateless(options) {}
Tensor LeakyReLUImpl::forward(Tensor input) { return F::leaky_relu(std::move(input), options); }
void LeakyReLUImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             "negative_slope=" + written(options.negative_slope()) + inplace_text(options.inplace(), ", "));
}

Tensor LogSigmoidImpl::forward(const Tensor& input) { return log_sigmoid(input); }
void LogSigmoidImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }

MishImpl::MishImpl(const MishOptions& options) : Stateless(options) {}
Tensor MishImpl::forward(Tensor input) { return F::mish(std::move(input), options); }
void MishImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this, inplace_text(options.inplace())); }

PReLUImpl::PReLUImpl(const PReLUOptions& options_) : options(options_) { PReLUImpl::reset(); }
void PReLUImpl::reset() {
  weight = register_parameter("weight", full({options.num_parameters()}, options.init(), kFloat));
}
Tensor PReLUImpl::forward(const Tensor& input) { return prelu(input, weight); }
void PReLUImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "num_parameters=" + std::to_string(options.num_parameters()));
}

ReLUImpl::ReLUImpl(const ReLUOptions& options) : Stateless(options) {}
Tensor ReLUImpl::forward(Tensor input) { return options.inplace() ? relu_(input) : relu(input); }
void ReLUImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this, inplace_text(options.inplace())); }

ReLU6Impl::ReLU6Impl(const ReLU6Options& options) : Stateless(options) {}
Tensor ReLU6Impl::forward(Tensor input) { return F::relu6(std::move(input), options); }
void ReLU6Impl::pretty_print(std::ostream& stream) const { print_line(stream, *this, inplace_text(options.inplace())); }

RReLUImpl::RReLUImpl(const RReLUOptions& options) : Stateless(options) {}
Tensor RReLUImpl::forward(Tensor input) {
  return options.inplace() ? rrelu_(input, options.lower(), options.upper(), is_training())
                           : rrelu(input, options.lower(), options.upper(), is_training());
}
void RReLUImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             "lower=" + written(options.lower()) + ", upper=" + written(options.upper()) +
                 inplace_text(options.inplace(), ", "));
}

Tensor SigmoidImpl::forward(const Tensor& input) { return sigmoid(input); }
void SigmoidImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }

SiLUImpl::SiLUImpl(const SiLUOptions& options) : Stateless(options) {}
Tensor SiLUImpl::forward(Tensor input) { return F::silu(std::move(input), options); }
void SiLUImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this, inplace_text(options.inplace())); }

SoftmaxImpl::SoftmaxImpl(const SoftmaxOptions& options) : Stateless(options) {}
Tensor SoftmaxImpl::forward(const Tensor& input) { return softmax(input, options.dim()); }
void SoftmaxImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "dim=" + std::to_string(options.dim()));
}

SoftminImpl::SoftminImpl(const SoftminOptions& options) : Stateless(options) {}
Tensor SoftminImpl::forward(const Tensor& input) { return softmin(input, options.dim()); }
void SoftminImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "dim=" + std::to_string(options.dim()));
}

LogSoftmaxImpl::LogSoftmaxImpl(const LogSoftmaxOptions& options) : Stateless(options) {}
Tensor LogSoftmaxImpl::forward(const Tensor& input) { return log_softmax(input, options.dim()); }
void LogSoftmaxImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "dim=" + std::to_string(options.dim()));
}

Tensor Softmax2dImpl::forward(const Tensor& input) {
  CRESSET_CHECK_AS(ShapeError, input.dim() == 4 || input.dim() == 3,
                   "Softmax2d requires a 3D or 4D tensor as input, found shape ", text_of(input.sizes()));
  return softmax(input, -3);
}
void Softmax2dImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }

SoftplusImpl::SoftplusImpl(const SoftplusOptions& options) : Stateless(options) {}
Tensor SoftplusImpl::forward(const Tensor& input) { return softplus(input, options.beta(), options.threshold()); }
void SoftplusImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "beta=" + written(options.beta()) + ", threshold=" + written(options.threshold()));
}

SoftshrinkImpl::SoftshrinkImpl(const SoftshrinkOptions& options) : Stateless(options) {}
Tensor SoftshrinkImpl::forward(const Tensor& input) { return softshrink(input, options.lambda()); }
void SoftshrinkImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this, written(options.lambda())); }

Tensor SoftsignImpl::forward(const Tensor& input) { return softsign(input); }
void SoftsignImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }

Tensor TanhImpl::forward(const Tensor& input) { return tanh(input); }
void TanhImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }

Tensor TanhshrinkImpl::forward(const Tensor& input) { return tanhshrink(input); }
void TanhshrinkImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }

ThresholdImpl::ThresholdImpl(const ThresholdOptions& options) : Stateless(options) {}
Tensor ThresholdImpl::forward(Tensor input) { return F::threshold(std::move(input), options); }
void ThresholdImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             "threshold=" + written(options.threshold()) + ", value=" + written(options.value()) +
                 inplace_text(options.inplace(), ", "));
}

}  // namespace cresset::nn
