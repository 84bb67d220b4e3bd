// The stacks of modes of each thread, and calling through them.
#include "cresset/core/modes.h"

#include "cresset/core/kernel.h"

namespace cresset::modes {
namespace {
// Few modes are ever on at once; plain arrays need no destructor at thread exit.
constexpr int kMost = 32;
constinit thread_local AboveMode* above_modes[kMost] = {};
constinit thread_local BelowMode* below_modes[kMost] = {};

void check_room(int depth) { CRESSET_CHECK(depth < kMost, "modes: more than ", kMost, " modes are on"); }
}  // namespace

AboveScope::AboveScope(AboveMode& mode) {
  check_room(thread_state.modes_above);
  above_modes[thread_state.modes_above++] = &mode;
}
AboveScope::~AboveScope() { thread_state.modes_above--; }
BelowScope::BelowScope(BelowMode& mode) {
  check_room(thread_state.modes_below);
  below_modes[thread_state.modes_below++] = &mode;
}
BelowScope::~BelowScope() { thread_state.modes_below--; }

Value intercept(const Op& op, Values& arguments) {
  struct Off {  // the topmost mode is off while it handles a call; modes it switches on itself take its place meanwhile
    AboveMode* mode = above_modes[--thread_state.modes_above];
    ~Off() { above_modes[thread_state.modes_above++] = mode; }
  } off;
  return off.mode->call(op, arguments);
}

void kernel_called(const KernelBase& kernel, Replay replay, const Values& arguments) {
  for (int i = thread_state.modes_below; i-- > 0;) below_modes[i]->kernel(kernel, replay, arguments);
}
void view_made(const Tensor& view, const Tensor& of) {
  for (int i = thread_state.modes_below; i-- > 0;) below_modes[i]->view(view, of);
}

}  // namespace cresset::modes
