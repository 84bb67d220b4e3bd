// Autocast: while a guard lives, ops that gain from it (linear, mm, conv2d) run in bfloat16 or float16, and those that
// lose too much (exp, softmax, sums, losses) in float32; all others take what comes. It is a mode above autograd: the
// casts are ordinary ops of the graph, so gradients come back in the parameters' own dtype.
//
//   { Autocast guard(kBFloat16); loss = cross_entropy(linear(x, w, b), y); }
//   loss.backward();
#pragma once

#include <unordered_map>

#include "cresset/core/modes.h"

namespace cresset::amp {

class CRESSET_API Autocast : modes::AboveMode {
 public:
  explicit Autocast(DType dtype = kBFloat16, bool enabled = true);
  ~Autocast() override;
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

  // Of the innermost guard of this thread.
  static bool is_enabled();
  static DType dtype();

 private:
  Value call(const Op& op, Values& arguments) override;
  Tensor lowered(const Tensor& x);
  void cast(Values& arguments, DType to);

  // The lower copy of a parameter, made once however often it is used inside the guard.
  struct Copy {
    Tensor of, lower;
    uint32_t version;
  };
  DType dtype_;
  bool enabled_;
  Autocast* outer_;
  std::unordered_map<TensorImpl*, Copy> copies_;
  modes::AboveScope scope_;
};

}  // namespace cresset::amp
