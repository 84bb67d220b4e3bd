// Linear maps, Identity, Flatten and Unflatten.
#pragma once

#include "cresset/nn/cloneable.h"
#include "cresset/nn/options/linear.h"

namespace cresset::nn {

// Takes any arguments in Python; here the one input.
struct CRESSET_API IdentityImpl : Cloneable<IdentityImpl> {
  void reset() override {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Identity);

// y = x weight^T + bias. Both start evenly between ±1 / sqrt(in_features).
struct CRESSET_API LinearImpl : Cloneable<LinearImpl> {
  CRESSET_IF_CALLED LinearImpl(int64_t in_features, int64_t out_features)
      : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
  LinearOptions options;
  Tensor weight, bias;
};
CRESSET_LAYER(Linear);

struct CRESSET_API BilinearImpl : Cloneable<BilinearImpl> {
  CRESSET_IF_CALLED BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(const BilinearOptions& options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& input1, const Tensor& input2);
  void pretty_print(std::ostream& stream) const override;
  BilinearOptions options;
  Tensor weight, bias;
};
CRESSET_LAYER(Bilinear);

struct CRESSET_API FlattenImpl : Cloneable<FlattenImpl> {
  explicit FlattenImpl(const FlattenOptions& options_ = {});
  void reset() override {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
  FlattenOptions options;
};
CRESSET_LAYER(Flatten);

struct CRESSET_API UnflattenImpl : Cloneable<UnflattenImpl> {
  CRESSET_IF_CALLED UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
      : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  CRESSET_IF_CALLED UnflattenImpl(const std::string& dimname, const UnflattenOptions::namedshape_t& namedshape)
      : UnflattenImpl(UnflattenOptions(dimname, namedshape)) {}
  explicit UnflattenImpl(UnflattenOptions options_);
  void reset() override {}
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
  UnflattenOptions options;
};
CRESSET_LAYER(Unflatten);

namespace detail {
// How most layers start: evenly between ±1 / sqrt(fan_in), which is what kaiming_uniform_ with a = sqrt(5) comes to.
CRESSET_API void start_by_fan_in(const Tensor& weight, const Tensor& bias, int64_t fan_in);
}  // namespace detail

}  // namespace cresset::nn
