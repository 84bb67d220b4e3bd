// The name under which collectives of this thread are known while one lives: what the user called, not what it is made
// of. The outermost wins.
#pragma once

#include "cresset/core/export.h"

namespace cresset::distributed {

class CRESSET_API CalledAs {
 public:
  explicit CalledAs(const char* name);  // a literal: it is kept
  ~CalledAs();
  CalledAs(const CalledAs&) = delete;
  CalledAs& operator=(const CalledAs&) = delete;
  static const char* now(const char* otherwise);

 private:
  const char* before_;
};

}  // namespace cresset::distributed
