#include "cresset/distributed/sync_batch_norm.h"

#include <mutex>
#include <unordered_set>

#include "cresset/autograd/function.h"
#include "cresset/distributed/called_as.h"
#include "cresset/distributed/throw_together.h"
#include "cresset/distributed/world.h"
#include "cresset/nn/layers/norm.h"
#include "cresset/ops/all.h"

namespace cresset::distributed {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;

std::vector<int64_t> all_but_channels(const Tensor& x) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < x.dim(); d++)
    if (d != 1) dims.push_back(d);
  return dims;
}

// [channels] in the shape in which it spreads over x.
Tensor along_channels(const Tensor& values, const Tensor& x) {
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[1] = -1;
  return values.to(x.dtype()).reshape(shape);
}

// What backward keeps of a group: a number, as plain values are all that a node can save.
struct GroupNumbers {
  std::mutex mutex;
  std::vector<std::weak_ptr<ProcessGroup>> groups;

  int64_t number_of(const Group& group) {
    const std::lock_guard lock(mutex);
    size_t i = 0;
    while (i < groups.size() && groups[i].lock() != group) i++;
    if (i == groups.size()) groups.push_back(group);
    return static_cast<int64_t>(i);
  }
  Group group_of(int64_t number) {
    const std::lock_guard lock(mutex);
    Group group = groups[static_cast<size_t>(number)].lock();
    CRESSET_CHECK_AS(DistributedError, group, "SyncBatchNorm: the group of this forward was destroyed before backward");
    return group;
  }
};

GroupNumbers& group_numbers() {
  static auto* all = new GroupNumbers;
  return *all;
}

struct Statistics {
  Tensor mean, variance;  // in double
  double count = 0;       // of values for each channel
};

// Sums of squares of differences are put together from each rank's own: (count, mean, variance) of all.
Statistics statistics_of_all(const Tensor& x, const Group& group) {
  const int64_t channels = x.size(1), count = channels ? x.numel() / channels : 0;
  Tensor mine = zeros({2 * channels + 1}, TensorOptions(kDouble));
  mine[2 * channels].fill_(static_cast<double>(count));
  if (count > 0) {
    auto [variance, mean] = var_mean(x.to(x.dtype() == kDouble ? kDouble : kFloat), all_but_channels(x), false);
    mine.slice(0, 0, channels).copy_(mean);
    mine.slice(0, channels, 2 * channels).copy_(variance);
  }
  std::vector<Tensor> all;
  all.reserve(static_cast<size_t>(group->size()));
  for (int r = 0; r < group->size(); r++) all.push_back(empty_like(mine));
  const CalledAs called("SyncBatchNorm");
  all_gather(all, mine, group);

  Statistics total{zeros({channels}, TensorOptions(kDouble)), zeros({channels}, TensorOptions(kDouble)), 0};
  for (const Tensor& part : all) total.count += part[2 * channels].item<double>();
  if (total.count <= 1)
    throw_together<ValueError>(
        *group, message_of("SyncBatchNorm: Expected more than 1 value per channel when training, got ", total.count,
                           " over all ranks (this one's input has shape ", text_of(x.sizes()), ")"));
  for (const Tensor& part : all)
    total.mean.add_(part.slice(0, 0, channels), part[2 * channels].item<double>() / total.count);
  for (const Tensor& part : all) {
    const double share = part[2 * channels].item<double>() / total.count;
    const Tensor apart = part.slice(0, 0, channels) - total.mean;
    total.variance.add_(part.slice(0, channels, 2 * channels) + apart * apart, share);
  }
  return total;
}

struct SyncBatchNormBackward : autograd::Function<SyncBatchNormBackward> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const Tensor& mean, const Tensor& rstd, double count, int64_t group) {
    ctx->save_for_backward({x, weight, mean, rstd});
    ctx->saved_data["count"] = count;
    ctx->saved_data["group"] = group;
    ctx->saved_data["has_bias"] = bias.defined();
    Tensor scale = weight.defined() ? rstd * weight.to(kDouble) : rstd;
    Tensor shift = -mean * scale;
    if (bias.defined()) shift = shift + bias.to(kDouble);
    const DType type = x.dtype() == kDouble ? kDouble : kFloat;
    const Tensor wide = x.to(type);
    return (wide * along_channels(scale, wide) + along_channels(shift, wide)).to(x.dtype());
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    CRESSET_CHECK_AS(AutogradError, !thread_state.grad_enabled,
                     "SyncBatchNorm: has no second derivatives (found create_graph)");
    const auto saved = ctx->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &rstd = saved[3];
    const DType type = x.dtype() == kDouble ? kDouble : kFloat;
    const int64_t channels = x.size(1);
    const Tensor g = grads[0].to(type), wide = x.to(type);
    const Tensor hat = (wide - along_channels(mean, wide)) * along_channels(rstd, wide);
    const Tensor sum_g = g.sum(all_but_channels(x)), sum_g_hat = (g * hat).sum(all_but_channels(x));
    Tensor sums = cat({sum_g, sum_g_hat}).to(kDouble);
    {
      const CalledAs called("SyncBatchNorm");
      all_reduce(sums, group_numbers().group_of(ctx->saved_data["group"].toInt()));
    }
    sums.div_(ctx->saved_data["count"].toDouble());
    Tensor scale = weight.defined() ? rstd * weight.to(kDouble) : rstd;
    Tensor dx = (g - along_channels(sums.slice(0, 0, channels), wide) -
                 hat * along_channels(sums.slice(0, channels, 2 * channels), wide)) *
                along_channels(scale, wide);
    const Tensor dw = weight.defined() ? sum_g_hat : Tensor();
    const Tensor db = ctx->saved_data["has_bias"].toBool() ? sum_g : Tensor();
    return {dx.to(x.dtype()), dw, db, Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

// nn::SyncBatchNorm knows it from the moment this library is there.
[[maybe_unused]] const bool ready = install_sync_batch_norm();

template <class BatchNorm>
bool synchronised_as(nn::Module& module, const Group& group) {
  auto* batch_norm = module.as<BatchNorm>();
  if (!batch_norm) return false;
  batch_norm->synchronise();
  batch_norm->options.process_group(group);
  return true;
}

}  // namespace

Tensor sync_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                       const Tensor& running_var, double momentum, double eps, const Group& given) {
  if (!is_initialized() || get_world_size(given) == 1)
    return batch_norm(input, weight, bias, running_mean, running_var, true, momentum, eps);
  CRESSET_CHECK_AS(ShapeError, input.dim() >= 2, "SyncBatchNorm: expected at least 2D input (got ", input.dim(),
                   "D input)");
  const Group group = group_for("SyncBatchNorm", given);
  Tensor mean, rstd;
  double count = 0;
  {
    NoGradGuard no_grad;
    const Statistics all = statistics_of_all(input.detach(), group);
    mean = all.mean;
    count = all.count;
    rstd = (all.variance + eps).rsqrt();
    if (running_mean.defined()) running_mean.mul_(1 - momentum).add_(mean.to(running_mean.dtype()), momentum);
    if (running_var.defined())
      running_var.mul_(1 - momentum).add_((all.variance * (count / (count - 1))).to(running_var.dtype()), momentum);
  }
  return SyncBatchNormBackward::apply(input, weight, bias, mean, rstd, count, group_numbers().number_of(group));
}

bool install_sync_batch_norm() {
  nn::sync_batch_norm_function = &sync_batch_norm;
  return true;
}

size_t convert_sync_batchnorm(nn::Module& module, const Group& group) {
  std::unordered_set<const nn::Module*> converted;  // one that is reached by two names counts once
  module.apply([&](nn::Module& part) {
    if (synchronised_as<nn::BatchNorm1dImpl>(part, group) || synchronised_as<nn::BatchNorm2dImpl>(part, group) ||
        synchronised_as<nn::BatchNorm3dImpl>(part, group))
      converted.insert(&part);
  });
  return converted.size();
}
size_t convert_sync_batchnorm(const std::shared_ptr<nn::Module>& module, const Group& group) {
  CRESSET_CHECK_AS(ValueError, module, "convert_sync_batchnorm: found an empty module");
  return convert_sync_batchnorm(*module, group);
}

}  // namespace cresset::distributed
