#include "cresset/nn/layers/upsample.h"

#include "cresset/nn/functional/upsample.h"
#include "cresset/nn/layers/describe.h"

namespace cresset::nn {

UpsampleImpl::UpsampleImpl(const UpsampleOptions& options) : Stateless(options) {}

Tensor UpsampleImpl::forward(const Tensor& input) {
  const functional::InterpolateFuncOptions::mode_t mode = options.mode();
  // A scale given without a size for each direction holds for all of them.
  auto all = [&](auto list) {
    const size_t spatial = static_cast<size_t>(std::max<int64_t>(input.dim() - 2, 0));
    if (list && list->size() == 1) list->resize(spatial, list->front());
    return list;
  };
  return functional::interpolate(input, functional::InterpolateFuncOptions()
                                            .size(all(options.size()))
                                            .scale_factor(all(options.scale_factor()))
                                            .mode(mode)
                                            .align_corners(options.align_corners())
                                            .recompute_scale_factor(options.recompute_scale_factor()));
}

void UpsampleImpl::pretty_print(std::ostream& stream) const {
  constexpr const char* modes[] = {"nearest", "linear", "bilinear", "bicubic", "trilinear"};
  std::string text;
  if (detail::as_libtorch()) {
    if (options.scale_factor())
      for (double factor : *options.scale_factor())
        text += (text.empty() ? "scale_factor=[" : ", ") + detail::written(factor);
    else
      text = "size=" + detail::listed(options.size().value_or(std::vector<int64_t>()));
    detail::print_line(
        stream, *this,
        text + (options.scale_factor() ? "]" : "") + ", mode=" + enumtype::get_enum_name(options.mode()));
    return;
  }
  if (options.scale_factor()) {
    const std::vector<double>& list = *options.scale_factor();
    bool same = true;
    for (double factor : list) same = same && factor == list.front();
    if (same && !list.empty()) {
      text = "scale_factor=" + detail::written(list.front());
    } else {
      for (double factor : list) text += (text.empty() ? "scale_factor=(" : ", ") + detail::written(factor);
      text += ")";
    }
  } else if (options.size()) {
    text = "size=" + detail::one_or_tuple(*options.size());
  } else {
    text = "size=None";
  }
  detail::print_line(stream, *this, text + ", mode=" + modes[options.mode().index()]);
}

}  // namespace cresset::nn
