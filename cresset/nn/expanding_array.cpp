#include "cresset/nn/expanding_array.h"

namespace cresset::detail {

void wrong_count(size_t found, size_t wanted) {
  throw ValueError(
      message_of("options: found ", found, " values (Expected ", wanted, " values, or one that stands for all)"));
}

}  // namespace cresset::detail
