#include "cresset/nn/functional/dropout.h"

#include "cresset/ops/dropout.h"
#include "cresset/ops/random.h"
#include "cresset/ops/shape.h"

namespace cresset::nn::functional {
namespace {

void check_probability(const char* op, double p) {
  CRESSET_CHECK_AS(ValueError, p >= 0 && p <= 1, op, ": dropout probability has to be between 0 and 1, but got ", p);
}

// In place the op wants a batch, which a view adds.
Tensor channels(const char* op, int64_t rank, Tensor& input, const DropoutFuncOptions& o,
                Tensor (*apart)(const Tensor&, double, bool)) {
  check_probability(op, o.p());
  if (!o.inplace()) return apart(input, o.p(), o.training());
  CRESSET_CHECK_AS(ShapeError, input.dim() == rank + 1 || input.dim() == rank + 2, op, ": found input of shape ",
                   text_of(input.sizes()), " (expected ", rank + 1, " or ", rank + 2, " dimensions)");
  if (input.dim() == rank + 2) return cresset::feature_dropout_(input, o.p(), o.training());
  cresset::feature_dropout_(cresset::unsqueeze(input, 0), o.p(), o.training());
  return input;
}

}  // namespace

Tensor dropout(Tensor input, const DropoutFuncOptions& o) {
  check_probability("dropout", o.p());
  return o.inplace() ? cresset::dropout_(input, o.p(), o.training()) : cresset::dropout(input, o.p(), o.training());
}
Tensor dropout1d(Tensor input, const Dropout1dFuncOptions& o) {
  return channels("dropout1d", 1, input, o, cresset::dropout1d);
}
Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& o) {
  return channels("dropout2d", 2, input, o, cresset::dropout2d);
}
Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& o) {
  return channels("dropout3d", 3, input, o, cresset::dropout3d);
}
Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& o) {
  check_probability("alpha_dropout", o.p());
  return o.inplace() ? cresset::alpha_dropout_(input, o.p(), o.training())
                     : cresset::alpha_dropout(input, o.p(), o.training());
}
Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& o) {
  check_probability("feature_alpha_dropout", o.p());
  return o.inplace() ? cresset::feature_alpha_dropout_(input, o.p(), o.training())
                     : cresset::feature_alpha_dropout(input, o.p(), o.training());
}

}  // namespace cresset::nn::functional
