#include "cresset/nn/layers/padding.h"

#include "cresset/nn/layers/describe.h"
#include "cresset/ops/pad.h"

namespace cresset::nn {

#define CRESSET_PAD_LAYER(Name, rank, padded)                                                             \
  Name##rank##dImpl::Name##rank##dImpl(ExpandingArray<2 * rank> padding) : Stateless(padding) {}          \
  Name##rank##dImpl::Name##rank##dImpl(const Name##rank##dOptions& options) : Stateless(options) {}       \
  Tensor Name##rank##dImpl::forward(const Tensor& input) { return padded; }                               \
  void Name##rank##dImpl::pretty_print(std::ostream& stream) const {                                      \
    detail::print_line(stream, *this, detail::either("", "padding=") + detail::tuple(options.padding())); \
  }
#define CRESSET_PAD_LAYERS(rank)                                                                                       \
  CRESSET_PAD_LAYER(ReflectionPad, rank, reflection_pad##rank##d(input, options.padding()))                            \
  CRESSET_PAD_LAYER(ReplicationPad, rank, replication_pad##rank##d(input, options.padding()))                          \
  CRESSET_PAD_LAYER(CircularPad, rank, pad(input, options.padding(), "circular"))                                      \
  CRESSET_PAD_LAYER(ZeroPad, rank, constant_pad_nd(input, options.padding()))                                          \
  ConstantPad##rank##dImpl::ConstantPad##rank##dImpl(ExpandingArray<2 * rank> padding, double value)                   \
      : Stateless(ConstantPad##rank##dOptions(padding, value)) {}                                                      \
  ConstantPad##rank##dImpl::ConstantPad##rank##dImpl(const ConstantPad##rank##dOptions& options)                       \
      : Stateless(options) {}                                                                                          \
  Tensor ConstantPad##rank##dImpl::forward(const Tensor& input) {                                                      \
    return constant_pad_nd(input, options.padding(), options.value());                                                 \
  }                                                                                                                    \
  void ConstantPad##rank##dImpl::pretty_print(std::ostream& stream) const {                                            \
    detail::print_line(stream, *this,                                                                                  \
                       "padding=" + detail::tuple(options.padding()) + ", value=" + detail::written(options.value())); \
  }
CRESSET_PAD_LAYERS(1)
CRESSET_PAD_LAYERS(2)
CRESSET_PAD_LAYERS(3)

}  // namespace cresset::nn
