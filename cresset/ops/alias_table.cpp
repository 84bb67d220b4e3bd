// The aliases, in the order of PyTorch's documentation.
#include "cresset/ops/alias_table.h"

namespace cresset {

const std::vector<OpAlias>& op_aliases() {
  static const std::vector<OpAlias> table = {
      {"negative", "neg"},     {"subtract", "sub"},     {"multiply", "mul"},       {"divide", "div"},
      {"true_divide", "div"},  {"moveaxis", "movedim"}, {"swapaxes", "transpose"}, {"swapdims", "transpose"},
      {"row_stack", "vstack"}, {"concat", "cat"},       {"concatenate", "cat"},
  };
  return table;
}

}  // namespace cresset
