// parallel_for: the one way kernels use several threads. The pool is Cresset's own; libraries are called on one thread
// for each part, and the few calls that use OpenMP's threads get the same count, which is one for the whole process.
#pragma once

#include <cstdint>

#include "cresset/core/export.h"

namespace cresset {

CRESSET_API int get_num_threads();  // 1 in a forked child, where the pool does not exist
CRESSET_API void set_num_threads(int count);

// True inside the body of a parallel_for that was split, and inside an OpenMP region of the program's own.
CRESSET_API bool in_parallel_region();

// Which part of a split parallel_for this thread runs, or its number in the program's own region; 0 outside.
CRESSET_API int get_thread_num();

// Call before a library that starts OpenMP regions of its own: gives it this thread's count.
CRESSET_API void align_library_threads();

// While one lives, parallel_for and aligned libraries run serially on this thread. For loader, communication and hook
// threads, which would otherwise fight the training thread for the cores.
class CRESSET_API SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;
};

namespace detail {

using RangeBody = void (*)(const void* context, int64_t begin, int64_t end);
CRESSET_API void run_parallel(int64_t begin, int64_t end, int64_t grain, RangeBody body, const void* context);

}  // namespace detail

// Calls f(first, last) on consecutive parts of [begin, end), at most one per thread and none shorter than `grain`
// unless it is the whole. The first exception thrown by f reaches the caller once all parts have ended.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  if (begin >= end) return;
  if (end - begin <= grain) return f(begin, end);
  detail::run_parallel(
      begin, end, grain,
      [](const void* context, int64_t first, int64_t last) { (*static_cast<const F*>(context))(first, last); }, &f);
}

}  // namespace cresset
