// The layers that layers_reference.py runs with PyTorch, built here under the same names.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cresset/cresset.h"
#include "cresset/nn/nn.h"

namespace cresset::testing {

struct BuiltLayer {
  std::shared_ptr<nn::Module> module;
  std::function<std::vector<Tensor>(nn::Module&, const std::vector<Tensor>&)> run;
};

struct LayerCase {
  std::string name;
  std::function<BuiltLayer()> build;
};

const std::vector<LayerCase>& layer_cases();

}  // namespace cresset::testing
