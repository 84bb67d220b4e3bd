// The aliases, in the order of PyTorch's documentation.
#include "cresset/ops/alias_table.h"

namespace cresset {

const std::vector<OpAlias>& op_aliases() {
  static const std::vector<OpAlias> table = {
      {"negative", "neg"},
      {"subtract", "sub"},
      {"multiply", "mul"},
      {"divide", "div"},
      {"true_divide", "div"},
      {"clip", "clamp"},
      {"greater", "gt"},
      {"greater_equal", "ge"},
      {"less", "lt"},
      {"less_equal", "le"},
      {"not_equal", "ne"},
      {"arctan2", "atan2"},
      {"special::xlogy", "xlogy"},
      {"special::xlog1py", "special_xlog1py"},
      {"logsigmoid", "log_sigmoid"},
  };
  return table;
}

}  // namespace cresset
