// For tests: puts another clock and another kernel under the watch over parallel_for's threads.
#pragma once

#include "cresset/core/busy_watch.h"

namespace cresset::detail {

// Returns the probe that was there, and forgets what was measured with it. No loop may be under way.
CRESSET_API BusyProbe set_busy_probe(const BusyProbe& probe);

}  // namespace cresset::detail
