// The wish for results that are the same on every run. Ops that cannot promise it ask before they start; on the CPU
// none of Cresset's own has to (docs/determinism.md).
#pragma once

#include "cresset/core/export.h"

namespace cresset {

// With warn_only, an op that is not deterministic warns (core/warning.h) and runs.
CRESSET_API void use_deterministic_algorithms(bool mode, bool warn_only = false);
CRESSET_API bool are_deterministic_algorithms_enabled();
CRESSET_API bool is_deterministic_algorithms_warn_only_enabled();

// For ops without a deterministic algorithm: throws if one is wished for.
CRESSET_API void alert_not_deterministic(const char* op);

}  // namespace cresset
