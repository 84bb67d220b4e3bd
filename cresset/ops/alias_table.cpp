// The aliases, in the order of PyTorch's documentation.
#include "cresset/ops/alias_table.h"

namespace cresset {

const std::vector<OpAlias>& op_aliases() {
  static const std::vector<OpAlias> table = {
      {"affine_grid", "affine_grid_generator"},
      {"negative", "neg"},
      {"subtract", "sub"},
      {"multiply", "mul"},
      {"divide", "div"},
      {"true_divide", "div"},
  };
  return table;
}

}  // namespace cresset
