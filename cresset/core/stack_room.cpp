#include "cresset/core/stack_room.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cresset/core/error.h"

namespace cresset {
namespace {

struct StackBounds {
  uintptr_t low = 0;  // 0: not asked for yet
  size_t size = 0;
  uintptr_t least = 0;  // below it the stack is short
};
constinit thread_local StackBounds stack_bounds;

void find_bounds() noexcept {
  stack_bounds = {1, 0, 0};  // where nobody can say, nothing is ever short
#ifdef __linux__
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  size_t size = 0, guard = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  constexpr size_t kMargin = size_t{256} << 10;
  const auto first = reinterpret_cast<uintptr_t>(low) + guard;
  stack_bounds = {first, size - guard, first + std::min(kMargin, size / 4)};
#endif
}

uintptr_t here() noexcept { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

}  // namespace

bool stack_is_short() noexcept {
  if (CRESSET_UNLIKELY(stack_bounds.low == 0)) find_bounds();
  // An address outside belongs to a stack of the program's own making (fibers), of which nothing is known.
  return here() < stack_bounds.least && here() >= stack_bounds.low;
}

std::string stack_text() {
  if (stack_bounds.low == 0) find_bounds();
  return message_of((here() - stack_bounds.low) >> 10, " KiB of this thread's stack of ", stack_bounds.size >> 10,
                    " KiB are left (expected at least ", (stack_bounds.least - stack_bounds.low) >> 10,
                    "; ulimit -s or the thread's attributes give it more)");
}

}  // namespace cresset
