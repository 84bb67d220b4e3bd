// Other names of ops. One line in alias_table.cpp gives every form and overload of an op a second name, as a function
// and as a method; cresset-oplist writes them (ops/aliases.h, tensor_methods). "linalg::inv" stands in a namespace.
#pragma once

#include <utility>
#include <vector>

#include "cresset/core/export.h"

namespace cresset {

struct OpAlias {
  const char* alias;
  const char* op;
};
CRESSET_API const std::vector<OpAlias>& op_aliases();

}  // namespace cresset
