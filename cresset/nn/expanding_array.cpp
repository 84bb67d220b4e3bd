#include "cresset/nn/expanding_array.h"

namespace cresset::detail {

void wrong_count(size_t found, size_t wanted) {
  throw ValueError(
      message_of("options: Expected ", wanted, " values, but instead got ", found, " (or one that stands for all)"));
}

}  // namespace cresset::detail
