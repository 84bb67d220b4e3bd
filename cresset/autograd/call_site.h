// Where a piece of code was called from: return addresses now, names of functions only when somebody asks.
#pragma once

#include <string>
#include <vector>

namespace cresset::autograd {

class CallSite {
 public:
  // The callers of this thread's running code that lie outside the library.
  static CallSite here();
  // One line for each, with a newline and four blanks before it.
  std::string text() const;
  bool empty() const { return frames_.empty(); }

 private:
  std::vector<void*> frames_;
};

}  // namespace cresset::autograd
