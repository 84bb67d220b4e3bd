#include "tests/support/paths.h"

namespace cresset::test {

std::string source_path(const std::string& name) { return CRESSET_SOURCE_DIR "/" + name; }

}  // namespace cresset::test
