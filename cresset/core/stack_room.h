// How much of the calling thread's stack is left: what recurses as deep as a program nests things asks before it goes
// on, and throws an error where it would otherwise run over the end.
#pragma once

#include <string>

#include "cresset/core/export.h"

namespace cresset {

// Less than 256 KiB are left, or than a quarter of a small stack.
CRESSET_API bool stack_is_short() noexcept;
// "200 KiB of the thread's stack of 8192 KiB are left (expected at least 256; ulimit -s or a thread's attributes give
// it more)"
CRESSET_API std::string stack_text();

}  // namespace cresset
