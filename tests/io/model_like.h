// Objects that look to io as modules, holders and optimizers do, without being any.
#pragma once

#include <cmath>
#include <memory>

#include "cresset/core/ivalue.h"
#include "cresset/core/ordered_dict.h"
#include "cresset/ops/all.h"

namespace cresset::test {

struct LineImpl {
  Tensor weight = zeros({3}), bias = zeros({});
  OrderedDict<std::string, Tensor> state_dict() const { return {{"weight", weight}, {"bias", bias}}; }
  void load_state_dict(const OrderedDict<std::string, Tensor>& state, bool strict = true) {
    CRESSET_CHECK(!strict || state.contains("weight"), "load_state_dict: missing 'weight'");
    weight.copy_(state["weight"]);
    bias.copy_(state["bias"]);
  }
};

// As libtorch's module holders: a handle with operator->.
struct Line {
  std::shared_ptr<LineImpl> impl = std::make_shared<LineImpl>();
  LineImpl* operator->() const { return impl.get(); }
  LineImpl& operator*() const { return *impl; }
};

// Momentum, with the state as PyTorch lays it out.
struct Momentum {
  std::vector<Tensor> params, buffers;
  double lr = 0.1;
  void step(const std::vector<Tensor>& grads) {
    for (size_t i = 0; i < params.size(); i++) {
      if (buffers.size() <= i) buffers.push_back(zeros(params[i].sizes()));
      buffers[i].mul_(0.9).add_(grads[i]);
      params[i].sub_(buffers[i] * lr);
    }
  }
  IValue state_dict() const {
    IValue::Dict states, group, whole;
    for (size_t i = 0; i < buffers.size(); i++) {
      IValue::Dict state;
      state["momentum_buffer"] = buffers[i];
      states.items.emplace_back(static_cast<int64_t>(i), state);
    }
    group["lr"] = lr;
    whole["state"] = states;
    whole["param_groups"] = IValue::List{{group}};
    return whole;
  }
  void load_state_dict(const IValue& value) {
    buffers.clear();
    for (const auto& item : value.toDict().at("state").toDict())
      buffers.push_back(item.second.toDict().at("momentum_buffer").toTensor().clone());
    lr = value.toDict().at("param_groups").elements()[0].toDict().at("lr").toDouble();
  }
};

}  // namespace cresset::test
