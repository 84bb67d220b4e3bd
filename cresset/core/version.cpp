// The number comes from the project's line in CMakeLists.txt.
#include "cresset/core/version.h"

namespace cresset {

const char* version() { return CRESSET_VERSION; }

}  // namespace cresset
