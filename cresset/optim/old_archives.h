// Optimizers as libtorch saved them before its version 1.5: a list for each kind of buffer, without groups and options.
#pragma once

#include "cresset/core/ivalue.h"

namespace cresset::optim::detail {

bool is_old_archive(const IValue::Dict& archive);
// The same as a state_dict, with the groups of the optimizer that loads it (`current`). Warns that the file is old.
IValue from_old_archive(const std::string& optimizer, const IValue::Dict& archive, const IValue& current);

}  // namespace cresset::optim::detail
