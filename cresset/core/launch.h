// launch: runs a function on a thread of a small pool, as libtorch's at::launch does. Nobody waits for it: whoever
// wants its result passes a promise. The function sees the caller's gradient mode and inference mode.
#pragma once

#include <functional>

#include "cresset/core/export.h"

namespace cresset {

CRESSET_API void launch(std::function<void()> task);

}  // namespace cresset
