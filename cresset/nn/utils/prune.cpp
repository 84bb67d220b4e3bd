#include "cresset/nn/utils/prune.h"

#include <cmath>
#include <functional>

#include "cresset/ops/all.h"

namespace cresset::nn::utils::prune {

namespace {

constexpr const char* kPruned = "prune";

// What is left of `mask` after pruning among `scores`; both have the same shape.
using Rule = std::function<Tensor(const Tensor& scores, const Tensor& mask)>;

struct Target {
  Tensor original, mask;
};

Target target_of(Module& module, const std::string& name) {
  OrderedDict<std::string, Tensor> parameters = module.named_parameters(/*recurse=*/false);
  if (module.computed_kind(name) == kPruned)
    return {parameters[name + "_orig"], module.named_buffers(false)[name + "_mask"]};
  CRESSET_CHECK_AS(ValueError, parameters.contains(name), "prune: ", short_name(module), " has no parameter '", name,
                   "'");
  return {parameters[name], ones_like(parameters[name].detach())};
}

void recompute(Module& module, const std::string& name) {
  Target target = target_of(module, name);
  module.set_computed(name, target.mask * target.original);
}

// The first time, the parameter moves to name_orig; later only the mask changes.
void set_mask(Module& module, const std::string& name, const Tensor& mask) {
  if (module.computed_kind(name) == kPruned) {
    NoGradGuard no_grad;
    target_of(module, name).mask.copy_(mask);
  } else {
    Tensor original = target_of(module, name).original;
    bool requires_grad = original.requires_grad();
    Tensor values = original.detach().clone();
    module.register_computed(name, kPruned, {name + "_orig", name + "_mask"},
                             [name](Module& self, AnyValues&) { recompute(self, name); });
    module.register_parameter(name + "_orig", values, requires_grad);
    module.register_buffer(name + "_mask", mask.clone());
  }
  AutoGradMode tracked(true);  // the weight that a bare forward reads has its place in the graph, too
  recompute(module, name);
}

Tensor checked_scores(const Target& target, const Tensor& scores) {
  if (!scores.defined()) return target.mask * target.original.detach();
  CRESSET_CHECK_AS(ShapeError, scores.sizes() == target.original.sizes(),
                   "prune: importance_scores should have the same shape as the parameter, found ",
                   text_of(scores.sizes()), " and ", text_of(target.original.sizes()));
  return scores;
}

// Elements that are left compete; those pruned before stay pruned.
Tensor among_kept_elements(const Tensor& scores, const Tensor& mask, const Rule& rule) {
  Tensor kept = mask.ne(0);
  Tensor left = rule(scores.masked_select(kept), mask.masked_select(kept));
  return mask.masked_scatter(kept, left);
}

Tensor among_kept_channels(const Tensor& scores, const Tensor& mask, int64_t dim, const Rule& rule) {
  Tensor per_channel = mask.movedim(dim, 0).flatten(1).sum(1);
  Tensor kept = per_channel.ne(0).nonzero().flatten();
  Tensor left = rule(scores.index_select(dim, kept), mask.index_select(dim, kept));
  return mask.index_copy(dim, kept, left);
}

Tensor prune_elements(const Tensor& ranks, const Tensor& mask, int64_t count, bool largest) {
  if (count == 0) return mask;
  Tensor indices = std::get<1>(topk(ranks, count, 0, largest));
  return mask.index_fill(0, indices, 0);
}

Rule element_rule(Method method, Amount amount) {
  return [method, amount](const Tensor& scores, const Tensor& mask) {
    int64_t count = amount.of(scores.numel());
    if (method == Method::random_unstructured) return prune_elements(rand_like(scores), mask, count, true);
    return prune_elements(scores.abs(), mask, count, false);
  };
}

int64_t channel_dim(const Tensor& tensor, int64_t dim) {
  CRESSET_CHECK_AS(ShapeError, tensor.dim() > 1,
                   "prune: Structured pruning can only be applied to multidimensional tensors. Found tensor with ",
                   tensor.dim(), " dims");
  CRESSET_CHECK_AS(IndexError, dim >= -tensor.dim() && dim < tensor.dim(), "prune: Invalid dim ", dim,
                   " for tensor of size ", text_of(tensor.sizes()));
  return dim < 0 ? dim + tensor.dim() : dim;
}

// 0 for the channels that go.
Tensor with_channels(const Tensor& mask, const Tensor& indices, int64_t dim) {
  return mask.index_fill(dim, indices, 0);
}

}  // namespace

int64_t Amount::of(int64_t size) const {
  if (is_count_) {
    CRESSET_CHECK_AS(ValueError, count_ >= 0, "prune: amount=", count_,
                     " should be a non-negative integer or a float in the range [0, 1]");
    CRESSET_CHECK_AS(ValueError, count_ <= size, "prune: amount=", count_,
                     " should be smaller than the number of parameters to prune=", size);
    return count_;
  }
  CRESSET_CHECK_AS(ValueError, fraction_ >= 0 && fraction_ <= 1, "prune: amount=", fraction_,
                   " should be a non-negative integer or a float in the range [0, 1]");
  return static_cast<int64_t>(std::nearbyint(fraction_ * static_cast<double>(size)));
}

void identity(ModuleRef module, const std::string& name) { set_mask(*module, name, target_of(*module, name).mask); }

void random_unstructured(ModuleRef module, const std::string& name, Amount amount) {
  NoGradGuard no_grad;
  Target target = target_of(*module, name);
  set_mask(
      *module, name,
      among_kept_elements(target.original.detach(), target.mask, element_rule(Method::random_unstructured, amount)));
}

void l1_unstructured(ModuleRef module, const std::string& name, Amount amount, const Tensor& importance_scores) {
  NoGradGuard no_grad;
  Target target = target_of(*module, name);
  set_mask(*module, name,
           among_kept_elements(checked_scores(target, importance_scores), target.mask,
                               element_rule(Method::l1_unstructured, amount)));
}

void random_structured(ModuleRef module, const std::string& name, Amount amount, int64_t dim) {
  NoGradGuard no_grad;
  Target target = target_of(*module, name);
  dim = channel_dim(target.original, dim);
  set_mask(*module, name,
           among_kept_channels(target.original.detach(), target.mask, dim, [&](const Tensor& t, const Tensor& mask) {
             int64_t count = amount.of(t.size(dim));
             Tensor order = randperm(t.size(dim), TensorOptions(kLong).device(t.device()));
             return with_channels(mask, order.slice(0, 0, count), dim);
           }));
}

void ln_structured(ModuleRef module, const std::string& name, Amount amount, double n, int64_t dim,
                   const Tensor& importance_scores) {
  NoGradGuard no_grad;
  Target target = target_of(*module, name);
  dim = channel_dim(target.original, dim);
  set_mask(*module, name,
           among_kept_channels(checked_scores(target, importance_scores), target.mask, dim,
                               [&](const Tensor& t, const Tensor& mask) {
                                 int64_t count = amount.of(t.size(dim));
                                 Tensor norms = norm(t.movedim(dim, 0).flatten(1), Scalar(n), {1});
                                 Tensor indices = std::get<1>(topk(norms, count, 0, /*largest=*/false));
                                 return with_channels(mask, indices, dim);
                               }));
}

void custom_from_mask(ModuleRef module, const std::string& name, const Tensor& mask) {
  NoGradGuard no_grad;
  Target target = target_of(*module, name);
  CRESSET_CHECK_AS(ShapeError, mask.sizes() == target.original.sizes(),
                   "prune.custom_from_mask: found a mask of shape ", text_of(mask.sizes()), " (expected that of '",
                   name, "', ", text_of(target.original.sizes()), ")");
  set_mask(*module, name, target.mask * mask.to(target.mask.dtype()));
}

void global_unstructured(const std::vector<std::pair<ModuleRef, std::string>>& parameters, Method method,
                         Amount amount) {
  CRESSET_CHECK_AS(ValueError, !parameters.empty(), "prune.global_unstructured: found no parameters");
  NoGradGuard no_grad;
  std::vector<Tensor> scores, masks;
  for (const auto& [module, name] : parameters) {
    Target target = target_of(*module, name);
    scores.push_back(target.original.detach().flatten());
    masks.push_back(target.mask.flatten());
  }
  Tensor mask = among_kept_elements(cat(scores), cat(masks), element_rule(method, amount));
  int64_t at = 0;
  for (const auto& [module, name] : parameters) {
    Tensor original = target_of(*module, name).original;
    custom_from_mask(module, name, mask.slice(0, at, at + original.numel()).reshape(original.sizes()));
    at += original.numel();
  }
}

void remove(ModuleRef module, const std::string& name) {
  CRESSET_CHECK_AS(ValueError, module->computed_kind(name) == kPruned, "prune.remove: Parameter '", name,
                   "' of module ", short_name(*module), " has to be pruned before pruning can be removed");
  NoGradGuard no_grad;
  Target target = target_of(*module, name);
  module->unregister_computed(name, target.mask * target.original);
}

bool is_pruned(ModuleRef module) {
  bool found = false;
  std::as_const(*module).apply(Module::ConstModuleApplyFunction([&](const Module& each) {
    for (const std::string& name : each.computed_names()) found = found || each.computed_kind(name) == kPruned;
  }));
  return found;
}

}  // namespace cresset::nn::utils::prune
