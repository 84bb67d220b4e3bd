// The stacks of modes of each thread, and calling through them.
#include "cresset/core/modes.h"

#include <new>
#include <stdexcept>

#include <algorithm>

#include "cresset/core/kernel.h"

namespace cresset::modes {
namespace {
// Few modes are ever on at once; plain arrays need no destructor at thread exit.
constexpr int kMost = 32;
constinit thread_local AboveMode* above_modes[kMost] = {};
constinit thread_local BelowMode* below_modes[kMost] = {};

// The modes that are on, to be put back later.
struct Stack {
  AboveMode* modes[kMost];
  uint8_t depth;
  static Stack now() {
    Stack stack;
    std::copy_n(above_modes, kMost, stack.modes);
    stack.depth = thread_state.modes_above;
    return stack;
  }
  void restore() const {
    std::copy_n(modes, kMost, above_modes);
    thread_state.modes_above = depth;
  }
};

// A call that the mode at `level` (counted from 1) is handling: that mode and those above it are off meanwhile.
struct Handling {
  static constinit thread_local Handling* innermost;
  int level;
  Stack whole = Stack::now();
  Handling* outer = innermost;
  explicit Handling(int at) : level(at) {
    innermost = this;
    thread_state.modes_above = static_cast<uint8_t>(level - 1);
  }
  ~Handling() {
    whole.restore();
    innermost = outer;
  }
  Handling(const Handling&) = delete;
};
constinit thread_local Handling* Handling::innermost = nullptr;

// The call that is on its way from one mode to the next: `level` modes have not been asked yet.
struct Passing {
  const Op* op = nullptr;
  int level = 0;
};
constinit thread_local Passing passing;

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
  int level = passing.op == &op ? passing.level : thread_state.modes_above;
  passing = {};
  AboveMode* mode = above_modes[level - 1];
  Handling handling(level);
  return mode->call(op, arguments);
}

Value pass(const Op& op, const Values& arguments) {
  CRESSET_CHECK(Handling::innermost, "modes::pass: called outside AboveMode::call");
  struct Awake {
    Handling* handling = Handling::innermost;
    Passing before = passing;
    Stack stack = Stack::now();
    ~Awake() {
      stack.restore();
      passing = before;
      Handling::innermost = handling;
    }
  } awake;
  awake.handling->whole.restore();
  passing = {&op, awake.handling->level - 1};
  Handling::innermost = awake.handling->outer;
  return op.call(arguments);
}

bool passed(const Op& op) {
  if (passing.op != &op || passing.level != 0) return false;
  passing = {};
  return true;
}

void kernel_called(const KernelBase& kernel, Replay replay, const Values& arguments) {
  for (int i = thread_state.modes_below; i-- > 0;) below_modes[i]->kernel(kernel, replay, arguments);
}
void view_made(const Tensor& view, const Tensor& of) {
  for (int i = thread_state.modes_below; i-- > 0;) below_modes[i]->view(view, of);
}

void value_read(const Tensor& tensor) {
  for (int i = thread_state.modes_below; i-- > 0;) below_modes[i]->value_read(tensor);
}

}  // namespace cresset::modes

namespace cresset {

static void rename(Error& error, const Op& op, int undefined) {
  const std::string& found = error.msg();
  size_t end = found.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
  bool of_an_op = end != std::string::npos && end > 0 && found.compare(end, 2, ": ") == 0;
  // An inner op has its own names for the same tensor.
  bool about_undefined = found.starts_with(kUndefinedTensor) ||
                         found.find(": found an undefined tensor") != std::string::npos ||
                         found.find(" is undefined (expected") != std::string::npos;
  if (undefined >= 0 && about_undefined)
    error.set_message(message_of(op.name, ": found an undefined tensor for ",
                                 op.parsed_arguments()[static_cast<size_t>(undefined)].name,
                                 " (expected a defined one)"));
  else if (found.starts_with("Tensor: ") || found.starts_with("Scalar: "))
    error.set_message(op.name + found.substr(6));
  else if (of_an_op && found.compare(0, end, op.name) != 0)
    error.set_message(op.name + found.substr(end));
}

void name_error_of(const Op& op, int undefined) {
  try {
    throw;
  } catch (Error& error) {
    rename(error, op, undefined);
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError(message_of(op.name, ": out of memory for the op's own lists"));
  } catch (const std::length_error&) {
    throw OutOfMemoryError(message_of(op.name, ": out of memory for the op's own lists"));
  } catch (...) {  // not ours to name
  }
}

}  // namespace cresset
