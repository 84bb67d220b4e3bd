// One switch for the whole process, as in PyTorch.
#include "cresset/core/determinism.h"

#include <atomic>

#include "cresset/core/error.h"
#include "cresset/core/warning.h"

namespace cresset {
namespace {

enum class Wish : int { none, warn, refuse };
constinit std::atomic<Wish> wish{Wish::none};

std::string text(const char* op) {
  return message_of(op,
                    ": does not have a deterministic implementation, but you set "
                    "'use_deterministic_algorithms(true)'. You can turn off determinism just for this operation, or "
                    "use the 'warn_only=true' option");
}

}  // namespace

void use_deterministic_algorithms(bool mode, bool warn_only) {
  wish = !mode ? Wish::none : warn_only ? Wish::warn : Wish::refuse;
}
bool are_deterministic_algorithms_enabled() { return wish != Wish::none; }
bool is_deterministic_algorithms_warn_only_enabled() { return wish == Wish::warn; }

void alert_not_deterministic(const char* op) {
  if (wish == Wish::refuse) throw Error(text(op));
  if (wish == Wish::warn) warn(text(op));
}

}  // namespace cresset
