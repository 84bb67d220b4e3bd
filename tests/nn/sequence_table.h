// The layers that sequence_test.cpp compares, by the names of sequence_reference.py.
#pragma once

#include <functional>
#include <map>

#include "cresset/cresset.h"

namespace cresset::testing {

struct BuiltSequence {
  std::shared_ptr<nn::Module> module;
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> call;
};

const std::map<std::string, std::function<BuiltSequence()>>& sequence_cases();

}  // namespace cresset::testing
