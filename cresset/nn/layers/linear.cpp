#include "cresset/nn/layers/linear.h"

#include <cmath>

#include "cresset/nn/layers/describe.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

using detail::print_line;
using detail::written;

namespace detail {
void start_by_fan_in(const Tensor& weight, const Tensor& bias, int64_t fan_in) {
  if (fan_in <= 0) return;  // no inputs, or not known yet
  NoGradGuard no_grad;
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  uniform_(weight, -bound, bound);
  if (bias.defined()) uniform_(bias, -bound, bound);
}
}  // namespace detail

Tensor IdentityImpl::forward(const Tensor& input) { return input; }
void IdentityImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }

LinearImpl::LinearImpl(const LinearOptions& options_) : options(options_) { LinearImpl::reset(); }

void LinearImpl::reset() {
  CRESSET_CHECK_AS(ValueError, options.in_features() >= 0 && options.out_features() >= 0, "Linear: found ",
                   options.in_features(), " input and ", options.out_features(),
                   " output features (expected no negative number)");
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = register_parameter("bias", options.bias() ? zeros({options.out_features()}) : Tensor(), options.bias());
  reset_parameters();
}

void LinearImpl::reset_parameters() { detail::start_by_fan_in(weight, bias, weight.size(1)); }

Tensor LinearImpl::forward(const Tensor& input) { return linear(input, weight, bias); }

void LinearImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             "in_features=" + std::to_string(options.in_features()) +
                 ", out_features=" + std::to_string(options.out_features()) + ", bias=" + written(options.bias()));
}

BilinearImpl::BilinearImpl(const BilinearOptions& options_) : options(options_) { BilinearImpl::reset(); }

void BilinearImpl::reset() {
  CRESSET_CHECK_AS(ValueError, options.in1_features() > 0 && options.in2_features() >= 0 && options.out_features() >= 0,
                   "Bilinear: found ", options.in1_features(), " and ", options.in2_features(), " input and ",
                   options.out_features(), " output features (in1_features must be > 0, the others not negative)");
  weight =
      register_parameter("weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  bias = register_parameter("bias", options.bias() ? zeros({options.out_features()}) : Tensor(), options.bias());
  reset_parameters();
}

void BilinearImpl::reset_parameters() { detail::start_by_fan_in(weight, bias, weight.size(1)); }

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return bilinear(input1, input2, weight, bias);
}

void BilinearImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             "in1_features=" + std::to_string(options.in1_features()) +
                 ", in2_features=" + std::to_string(options.in2_features()) +
                 ", out_features=" + std::to_string(options.out_features()) + ", bias=" + written(options.bias()));
}

FlattenImpl::FlattenImpl(const FlattenOptions& options_) : options(options_) {}
Tensor FlattenImpl::forward(const Tensor& input) { return flatten(input, options.start_dim(), options.end_dim()); }
void FlattenImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             "start_dim=" + std::to_string(options.start_dim()) + ", end_dim=" + std::to_string(options.end_dim()));
}

UnflattenOptions::UnflattenOptions(const std::string& dimname, const namedshape_t& namedshape) : dim_(0) {
  std::string sizes, names;
  for (const auto& [name, size] : namedshape) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    names += (names.empty() ? "'" : ", '") + name + "'";
  }
  throw NotImplementedError(message_of("Unflatten: found dimension '", dimname, "' with parts ", names,
                                       " (expected the dimension's number, as in UnflattenOptions(1, {", sizes,
                                       "}): dimensions have no names here)"));
}
UnflattenImpl::UnflattenImpl(UnflattenOptions options_) : options(std::move(options_)) {}
Tensor UnflattenImpl::forward(const Tensor& input) { return unflatten(input, options.dim(), options.sizes()); }
static std::string sizes_text(IntArrayRef sizes) {
  std::string text = text_of(sizes);
  text.front() = '{';
  text.back() = '}';
  return detail::either(detail::tuple(sizes), std::move(text));
}
void UnflattenImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this,
             "dim=" + std::to_string(options.dim()) + ", unflattened_size=" + sizes_text(options.sizes()));
}

}  // namespace cresset::nn
