#include "cresset/amp/grad_scaler.h"

#include <cmath>

#include "cresset/ops/all.h"

namespace cresset::amp {
namespace {

void check_factors(const GradScalerOptions& o) {
  CRESSET_CHECK_AS(ValueError, o.init_scale() > 0 && std::isfinite(o.init_scale()), "GradScaler: init_scale is ",
                   o.init_scale(), " (expected more than 0)");
  CRESSET_CHECK_AS(ValueError, o.growth_factor() > 1, "GradScaler: growth_factor is ", o.growth_factor(),
                   " (the growth factor must be > 1.0)");
  CRESSET_CHECK_AS(ValueError, o.backoff_factor() > 0 && o.backoff_factor() < 1, "GradScaler: backoff_factor is ",
                   o.backoff_factor(), " (the backoff factor must be < 1.0, and more than 0)");
  CRESSET_CHECK_AS(ValueError, o.growth_interval() > 0, "GradScaler: growth_interval is ", o.growth_interval(),
                   " (expected 1 or more)");
}

}  // namespace

GradScaler::GradScaler(GradScalerOptions options) : options_(std::move(options)), scale_(options_.init_scale()) {
  if (options_.enabled()) check_factors(options_);
}

Tensor GradScaler::scale(const Tensor& output) const { return options_.enabled() ? mul(output, scale_) : output; }
std::vector<Tensor> GradScaler::scale(const std::vector<Tensor>& outputs) const {
  std::vector<Tensor> scaled;
  for (const Tensor& output : outputs) scaled.push_back(scale(output));
  return scaled;
}

GradScaler::Seen* GradScaler::seen(const void* optimizer) {
  for (Seen& entry : seen_)
    if (entry.optimizer == optimizer) return &entry;
  return nullptr;
}

GradScaler::Seen& GradScaler::unscale(const void* optimizer, const std::vector<Tensor>& params, const char* caller) {
  if (const Seen* before = seen(optimizer))
    throw ValueError(
        before->stage == Stage::unscaled
            ? "GradScaler: unscale_() has already been called on this optimizer since the last update()"
            : "GradScaler: unscale_() is being called after step() (expected it before, or after update())");
  NoGradGuard no_grad;
  std::vector<Tensor> grads;
  for (const Tensor& param : params) {
    const Tensor grad = param.grad();
    if (!grad.defined()) continue;
    CRESSET_CHECK_AS(TypeError, grad.dtype() != kHalf, "GradScaler.", caller,
                     ": attempting to unscale FP16 gradients, of a parameter of shape ", text_of(param.sizes()),
                     " (expected parameters of float32 under Autocast)");
    grads.push_back(grad);
  }
  CRESSET_CHECK_AS(ValueError, !grads.empty(), "GradScaler.", caller,
                   ": no inf checks were recorded for this optimizer: none of its ", params.size(),
                   " parameters has a gradient (expected a backward before)");
  // One look at the result: each would make the program wait for the device.
  Tensor finite;
  for (Tensor& grad : grads) {
    const Tensor fine = all(isfinite(grad));
    finite = finite.defined() ? logical_and(finite, fine.to(finite.device())) : fine;
    mul_(grad, 1 / scale_);
  }
  seen_.push_back({optimizer, Stage::unscaled, !finite.item<bool>()});
  return seen_.back();
}

bool GradScaler::begin_step(const void* optimizer, const std::vector<Tensor>& params) {
  Seen* entry = seen(optimizer);
  CRESSET_CHECK_AS(ValueError, !entry || entry->stage != Stage::stepped,
                   "GradScaler: step() has already been called since the last update()");
  if (!entry) entry = &unscale(optimizer, params, "step");
  entry->stage = Stage::stepped;
  return !entry->found_inf;
}

void GradScaler::update() {
  if (!options_.enabled()) return;
  CRESSET_CHECK_AS(ValueError, !seen_.empty(),
                   "GradScaler: no inf checks were recorded prior to update() (expected a step or unscale_ before)");
  bool found_inf = false;
  for (const Seen& entry : seen_) found_inf |= entry.found_inf;
  if (found_inf) {
    scale_ *= options_.backoff_factor();
    growth_tracker_ = 0;
  } else if (++growth_tracker_ == options_.growth_interval()) {
    // Beyond float32 the scaled loss would be inf for ever.
    const double larger = scale_ * options_.growth_factor();
    if (std::isfinite(static_cast<float>(larger))) scale_ = larger;
    growth_tracker_ = 0;
  }
  seen_.clear();
}

void GradScaler::update(double new_scale) {
  if (!options_.enabled()) return;
  CRESSET_CHECK_AS(ValueError, new_scale > 0 && std::isfinite(new_scale), "GradScaler.update: new_scale is ", new_scale,
                   " (expected more than 0)");
  scale_ = new_scale;
  seen_.clear();
}

void GradScaler::set_growth_factor(double factor) {
  check_factors(GradScalerOptions(options_).growth_factor(factor));
  options_.growth_factor(factor);
}
void GradScaler::set_backoff_factor(double factor) {
  check_factors(GradScalerOptions(options_).backoff_factor(factor));
  options_.backoff_factor(factor);
}
void GradScaler::set_growth_interval(int64_t interval) {
  check_factors(GradScalerOptions(options_).growth_interval(interval));
  options_.growth_interval(interval);
}

IValue GradScaler::state_dict() const {
  IValue::Dict dict;
  if (!options_.enabled()) return dict;
  dict["scale"] = scale_;
  dict["growth_factor"] = options_.growth_factor();
  dict["backoff_factor"] = options_.backoff_factor();
  dict["growth_interval"] = options_.growth_interval();
  dict["_growth_tracker"] = growth_tracker_;
  return dict;
}

void GradScaler::load_state_dict(const IValue& value) {
  if (!options_.enabled()) return;
  const IValue::Dict& dict = value.toDict();
  CRESSET_CHECK_AS(ValueError, dict.size() != 0,
                   "GradScaler.load_state_dict: the source state dict is empty, possibly because it was saved from a "
                   "disabled instance of GradScaler");
  GradScalerOptions loaded = options_;
  loaded.init_scale(dict.at("scale").toDouble())
      .growth_factor(dict.at("growth_factor").toDouble())
      .backoff_factor(dict.at("backoff_factor").toDouble())
      .growth_interval(dict.at("growth_interval").toInt());
  check_factors(loaded);
  growth_tracker_ = dict.at("_growth_tracker").toInt();
  scale_ = loaded.init_scale();
  options_ = loaded.init_scale(options_.init_scale());
}

}  // namespace cresset::amp
