#include "cresset/nn/functional/pool.h"

#include "cresset/ops/all.h"

namespace cresset::nn::functional {
namespace {

// Sizes left open are the input's own.
template <size_t D>
Dims sizes_of(const char* op, const Tensor& input, const ExpandingArrayWithOptionalElem<D>& wanted) {
  CRESSET_CHECK_AS(ShapeError, input.dim() >= static_cast<int64_t>(D), op, ": found input of shape ",
                   text_of(input.sizes()), " (expected at least ", D, " dimensions)");
  Dims sizes;
  for (size_t i = 0; i < D; i++)
    sizes.push_back(wanted->at(i).value_or(input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D))));
  return sizes;
}
template <size_t D>
IntArrayRef sizes_of(const char*, const Tensor&, const ExpandingArray<D>& wanted) {
  return wanted;
}

// The size that was pooled, as far as the pooled size tells; one near it may be asked for.
template <size_t D>
Dims unpooled_size(const char* op, const Tensor& input, const MaxUnpoolFuncOptions<D>& o) {
  const int64_t rank = static_cast<int64_t>(D);
  CRESSET_CHECK_AS(ShapeError, input.dim() == rank + 1 || input.dim() == rank + 2, op, ": found input of shape ",
                   text_of(input.sizes()), " (expected ", rank + 1, " or ", rank + 2, " dimensions)");
  Dims usual;
  for (size_t i = 0; i < D; i++)
    usual.push_back((input.size(static_cast<int64_t>(i) - rank) - 1) * o.stride()->at(i) + o.kernel_size()->at(i) -
                    2 * o.padding()->at(i));
  if (!o.output_size()) return usual;
  const std::vector<int64_t>& given = *o.output_size();
  CRESSET_CHECK_AS(ValueError, given.size() == D || given.size() == D + 2, op,
                   ": output_size should be a sequence containing ", D, " or ", D + 2,
                   " elements, but it has a length of ", given.size());
  Dims wanted(IntArrayRef(given).slice(given.size() - D));
  for (int i = 0; i < static_cast<int>(D); i++) {
    const int64_t step = o.stride()->at(static_cast<size_t>(i));
    CRESSET_CHECK_AS(ValueError, usual[i] - step < wanted[i] && wanted[i] < usual[i] + step, op,
                     ": invalid output_size ", text_of(wanted), " (dim ", i, " must be between ", usual[i] - step,
                     " and ", usual[i] + step, ")");
  }
  return wanted;
}

template <size_t D>
Dims fractional_size(const char* op, const Tensor& input, const FractionalMaxPoolOptions<D>& o) {
  CRESSET_CHECK_AS(ValueError, o.output_size() || o.output_ratio(), op,
                   ": requires specifying either an output_size or an output_ratio");
  CRESSET_CHECK_AS(ShapeError, input.dim() > static_cast<int64_t>(D), op, ": found input of shape ",
                   text_of(input.sizes()), " (expected ", D + 1, " or ", D + 2, " dimensions)");
  if (o.output_size()) return Dims(IntArrayRef(*o.output_size()));
  Dims size;
  for (size_t i = 0; i < D; i++) {
    const int64_t whole = input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D));
    size.push_back(static_cast<int64_t>(static_cast<double>(whole) * (*o.output_ratio())->at(i)));
  }
  return size;
}

template <size_t D>
Tensor fractional_samples(const Tensor& input, const FractionalMaxPoolOptions<D>& o) {
  if (o._random_samples().defined()) return o._random_samples();
  const int64_t rank = static_cast<int64_t>(D);
  const int64_t batch = input.dim() == rank + 1 ? 1 : input.size(0);
  return cresset::rand({batch, input.size(-rank - 1), rank}, input.options());
}

}  // namespace

Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& o) {
  return cresset::avg_pool1d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad());
}
Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& o) {
  return cresset::avg_pool2d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                             o.divisor_override());
}
Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& o) {
  return cresset::avg_pool3d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                             o.divisor_override());
}

#define CRESSET_POOLS(rank)                                                                                          \
  Tensor max_pool##rank##d(const Tensor& input, const MaxPool##rank##dFuncOptions& o) {                              \
    return cresset::max_pool##rank##d(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode()); \
  }                                                                                                                  \
  std::tuple<Tensor, Tensor> max_pool##rank##d_with_indices(const Tensor& input,                                     \
                                                            const MaxPool##rank##dFuncOptions& o) {                  \
    return cresset::max_pool##rank##d_with_indices(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(),    \
                                                   o.ceil_mode());                                                   \
  }                                                                                                                  \
  Tensor adaptive_avg_pool##rank##d(const Tensor& input, const AdaptiveAvgPool##rank##dFuncOptions& o) {             \
    return cresset::adaptive_avg_pool##rank##d(input,                                                                \
                                               sizes_of("adaptive_avg_pool" #rank "d", input, o.output_size()));     \
  }                                                                                                                  \
  std::tuple<Tensor, Tensor> adaptive_max_pool##rank##d_with_indices(const Tensor& input,                            \
                                                                     const AdaptiveMaxPool##rank##dFuncOptions& o) { \
    return cresset::adaptive_max_pool##rank##d(input,                                                                \
                                               sizes_of("adaptive_max_pool" #rank "d", input, o.output_size()));     \
  }                                                                                                                  \
  Tensor adaptive_max_pool##rank##d(const Tensor& input, const AdaptiveMaxPool##rank##dFuncOptions& o) {             \
    return std::get<0>(adaptive_max_pool##rank##d_with_indices(input, o));                                           \
  }
CRESSET_POOLS(1)
CRESSET_POOLS(2)
CRESSET_POOLS(3)
#undef CRESSET_POOLS

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& o) {
  return cresset::max_unpool1d(input, indices, unpooled_size("max_unpool1d", input, o));
}
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& o) {
  return cresset::max_unpool2d(input, indices, unpooled_size("max_unpool2d", input, o));
}
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& o) {
  return cresset::max_unpool3d(input, indices, unpooled_size("max_unpool3d", input, o), o.stride(), o.padding());
}

std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& input,
                                                              const FractionalMaxPool2dFuncOptions& o) {
  const Dims size = fractional_size("fractional_max_pool2d", input, o);
  return cresset::fractional_max_pool2d(input, o.kernel_size(), size, fractional_samples(input, o));
}
std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input,
                                                              const FractionalMaxPool3dFuncOptions& o) {
  const Dims size = fractional_size("fractional_max_pool3d", input, o);
  return cresset::fractional_max_pool3d(input, o.kernel_size(), size, fractional_samples(input, o));
}
Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& o) {
  return std::get<0>(fractional_max_pool2d_with_indices(input, o));
}
Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& o) {
  return std::get<0>(fractional_max_pool3d_with_indices(input, o));
}

Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& o) {
  return cresset::lp_pool1d(input, o.norm_type(), o.kernel_size(), o.stride(), o.ceil_mode());
}
Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& o) {
  return cresset::lp_pool2d(input, o.norm_type(), o.kernel_size(), o.stride(), o.ceil_mode());
}
// There is no op of this name: the mean pool of powers, times the window's size.
Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& o) {
  CRESSET_CHECK_AS(ValueError, o.norm_type() != 0, "lp_pool3d: found norm_type 0 (expected another number)");
  const auto& window = *o.kernel_size();
  Tensor mean = cresset::avg_pool3d(cresset::pow(input, o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode());
  return cresset::pow(cresset::mul(mean, window[0] * window[1] * window[2]), 1 / o.norm_type());
}

}  // namespace cresset::nn::functional
