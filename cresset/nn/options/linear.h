// Options of linear maps, and of Flatten and Unflatten.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cresset/core/arg.h"
#include "cresset/core/shape.h"

namespace cresset::nn {

struct CRESSET_API LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features) : in_features_(in_features), out_features_(out_features) {}
  CRESSET_ARG(int64_t, in_features);
  CRESSET_ARG(int64_t, out_features);
  CRESSET_ARG(bool, bias) = true;
};

// The number of input features is found by the first forward.
struct CRESSET_API LazyLinearOptions : LinearOptions {
  LazyLinearOptions(int64_t out_features) : LinearOptions(0, out_features) {}
  LazyLinearOptions(const LinearOptions& options) : LinearOptions(options) {}
};

struct CRESSET_API BilinearOptions {
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  CRESSET_ARG(int64_t, in1_features);
  CRESSET_ARG(int64_t, in2_features);
  CRESSET_ARG(int64_t, out_features);
  CRESSET_ARG(bool, bias) = true;
};

struct CRESSET_API FlattenOptions {
  CRESSET_ARG(int64_t, start_dim) = 1;
  CRESSET_ARG(int64_t, end_dim) = -1;
};

struct CRESSET_API UnflattenOptions {
  using namedshape_t = std::vector<std::pair<std::string, int64_t>>;
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  // libtorch's, for dimensions by name. Tensors have no names here: it throws and says what to write instead.
  UnflattenOptions(const std::string& dimname, const namedshape_t& namedshape);
  CRESSET_ARG(int64_t, dim);
  CRESSET_ARG(std::vector<int64_t>, sizes);
};

}  // namespace cresset::nn
