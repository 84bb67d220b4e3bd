// Which Cresset this is.
#pragma once

#include "cresset/core/export.h"

namespace cresset {

CRESSET_API const char* version();  // "0.1.0"

}  // namespace cresset
