// {"step_buffers/size": 2, "step_buffers/0": …, "exp_average_buffers/size": 2, …} becomes {"state": {0: {"step": …,
// "exp_avg": …}, …}, "param_groups": […]}. LBFGS has one state, whose fields stand by themselves.
#include "cresset/optim/old_archives.h"

#include <algorithm>
#include <map>

#include "cresset/core/warning.h"
#include "cresset/ops/all.h"

namespace cresset::optim::detail {
namespace {

struct OldName {
  const char* before;
  const char* now;
};
constexpr OldName kLists[] = {{"step_buffers", "step"},
                              {"exp_average_buffers", "exp_avg"},
                              {"exp_average_sq_buffers", "exp_avg_sq"},
                              {"max_exp_average_sq_buffers", "max_exp_avg_sq"},
                              {"sum_buffers", "sum"},
                              {"square_average_buffers", "square_avg"},
                              {"momentum_buffers", "momentum_buffer"},
                              {"grad_average_buffers", "grad_avg"}};
constexpr const char* kOfLbfgs[] = {"d", "t", "H_diag", "prev_flat_grad", "prev_loss"};

bool has_list(const IValue::Dict& archive, const std::string& name) { return archive.contains(name + "/size"); }

std::vector<Tensor> list_in(const IValue::Dict& archive, const std::string& name) {
  std::vector<Tensor> items;
  if (!has_list(archive, name)) return items;
  const int64_t count = archive.at(name + "/size").toTensor().item<int64_t>();
  for (int64_t i = 0; i < count; i++) items.push_back(archive.at(message_of(name, "/", i)).toTensor());
  return items;
}

// How often the closure was called and the steps were not saved: the history counts as begun, so that it is used.
IValue::Dict state_of_lbfgs(const IValue::Dict& archive) {
  IValue::Dict state;
  for (const char* name : kOfLbfgs)
    if (const IValue* value = archive.find(name)) state[name] = *value;
  const std::vector<Tensor> directions = list_in(archive, "old_dirs"), steps = list_in(archive, "old_stps");
  CRESSET_CHECK_AS(ValueError, directions.size() == steps.size(), "LBFGS: load: found ", directions.size(),
                   " old_dirs and ", steps.size(), " old_stps (expected as many)");
  std::vector<Tensor> ro;
  for (size_t i = 0; i < steps.size(); i++) ro.push_back(directions[i].dot(steps[i]).reciprocal());
  state["func_evals"] = static_cast<int64_t>(steps.size()) + 1;
  state["n_iter"] = static_cast<int64_t>(steps.size()) + 1;
  state["old_dirs"] = directions;
  state["old_stps"] = steps;
  state["ro"] = ro;
  return state;
}

IValue::Dict states_in(const IValue::Dict& archive) {
  std::map<int64_t, IValue::Dict> by_parameter;
  for (const auto& [before, now] : kLists) {
    const std::vector<Tensor> items = list_in(archive, before);
    for (size_t i = 0; i < items.size(); i++) by_parameter[static_cast<int64_t>(i)][now] = items[i];
  }
  if (has_list(archive, "square_average_buffers"))  // RMSprop did not save how often it stepped
    for (auto& [id, state] : by_parameter) state["step"] = int64_t{0};
  if (has_list(archive, "old_dirs")) by_parameter[0] = state_of_lbfgs(archive);
  IValue::Dict states;
  for (auto& [id, state] : by_parameter) states.items.emplace_back(id, std::move(state));
  return states;
}

}  // namespace

bool is_old_archive(const IValue::Dict& archive) {
  if (archive.contains("param_groups")) return false;
  return has_list(archive, "old_dirs") || std::any_of(std::begin(kLists), std::end(kLists), [&](const OldName& name) {
           return has_list(archive, name.before);
         });
}

IValue from_old_archive(const std::string& optimizer, const IValue::Dict& archive, const IValue& current) {
  CRESSET_WARN("Your serialized ", optimizer,
               " optimizer is still using the old serialization format. You should re-save your ", optimizer,
               " optimizer to use the new serialization format.");
  NoGradGuard no_grad;
  IValue::Dict whole;
  whole["state"] = states_in(archive);
  whole["param_groups"] = current.toDict().at("param_groups");
  return whole;
}

}  // namespace cresset::optim::detail
