// What a thread has switched on: gradients, inference, modes. One small block, so that an op's fast path looks at one
// place.
#pragma once

#include <cstdint>

#include "cresset/core/export.h"

namespace cresset {

struct ThreadState {
  bool grad_enabled = true;
  bool inference = false;
  uint8_t modes_above = 0;  // how many modes listen above autograd
  uint8_t modes_below = 0;  // how many listen below it
  bool anomaly = false;
  bool saved_hooks = false;  // saved-tensor hooks are on
};

// initial-exec: no call to find it, also from other libraries.
extern constinit thread_local CRESSET_API ThreadState thread_state __attribute__((tls_model("initial-exec")));

struct GradMode {
  static bool is_enabled() { return thread_state.grad_enabled; }
  static void set_enabled(bool on) { thread_state.grad_enabled = on; }
};

class AutoGradMode {
 public:
  explicit AutoGradMode(bool on) : before_(thread_state.grad_enabled) { thread_state.grad_enabled = on; }
  ~AutoGradMode() { thread_state.grad_enabled = before_; }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};

class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

// Tensors made inside have no version and can never join a graph.
class InferenceMode {
 public:
  explicit InferenceMode(bool on = true) : before_(thread_state) {
    thread_state.inference = on;
    thread_state.grad_enabled = !on;
  }
  ~InferenceMode() {
    thread_state.inference = before_.inference;
    thread_state.grad_enabled = before_.grad_enabled;
  }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled() { return thread_state.inference; }

 private:
  ThreadState before_;
};

}  // namespace cresset
