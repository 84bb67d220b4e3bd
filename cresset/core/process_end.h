// The moment at which exit() begins, while other threads may still compute. What Cresset itself keeps for the process
// is never destroyed; the libraries below it do destroy theirs (generated code, buffers), and must not be called any
// more.
#pragma once

#include "cresset/core/export.h"

namespace cresset {

// True once exit() has begun, on every thread but the one that ends the process.
CRESSET_API bool process_is_ending() noexcept;

// `call` runs on the ending thread when exit() begins, before the destructors of statics. One may be given.
CRESSET_API void when_process_ends(void (*call)());

// After a library may have made statics: what exit() was to call first would now come after their destructors, and is
// put in front again. Only an exit() on another thread than main needs it; each time costs a few bytes.
CRESSET_API void watch_process_end_anew();

}  // namespace cresset
