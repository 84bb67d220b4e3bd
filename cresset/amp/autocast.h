// Autocast: while a guard lives, ops that gain from it (linear, mm, conv2d) run in bfloat16 or float16, and those that
// lose too much (exp, softmax, sums, losses) in float32; all others take what comes. It is a mode above autograd: the
// casts are ordinary ops of the graph, so gradients come back in the parameters' own dtype.
//
//   { Autocast guard(kBFloat16); loss = cross_entropy(linear(x, w, b), y); }
//   loss.backward();
#pragma once

#include <memory>

#include "cresset/core/dtype.h"

namespace cresset::amp {

class CRESSET_API Autocast {
 public:
  explicit Autocast(DType dtype = kBFloat16, bool enabled = true);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

  // Of the innermost guard of this thread.
  static bool is_enabled();
  static DType dtype();

 private:
  class Mode;  // in the source: modes would cost every program that includes this
  std::unique_ptr<Mode> mode_;
};

}  // namespace cresset::amp
