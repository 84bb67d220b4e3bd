// How Cresset speaks to the threads of libraries (OpenMP's), whose runtime libcresset.so itself does not load: the
// library that calls them registers these functions when it is loaded.
#pragma once

#include "cresset/core/export.h"

namespace cresset::detail {

struct LibraryThreads {
  int (*get)();      // how many the calling thread's next library call may use
  void (*set)(int);  // only sets a number: safe in a forked child too
  bool (*in_region)();
  int (*number)();  // of the calling thread in its region
};
CRESSET_API void register_library_threads(const LibraryThreads* threads);

// While one lives, libraries that this thread calls use no other. Afterwards they get what they had, which may be the
// program's own setting.
class CRESSET_API SerialLibraries {
 public:
  SerialLibraries();
  ~SerialLibraries();
  SerialLibraries(const SerialLibraries&) = delete;
  SerialLibraries& operator=(const SerialLibraries&) = delete;

 private:
  int told_;
  int before_ = 0;  // 0: nothing to give back
};

}  // namespace cresset::detail
