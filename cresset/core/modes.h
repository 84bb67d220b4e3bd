// Modes: listeners around ops. Above autograd (autocast, profiler, interception) a mode sees whole ops by name and may
// change arguments; below it (capture) a mode sees each kernel call. With none on, an op pays one test of a
// thread-local byte.
#pragma once

#include "cresset/core/registry.h"
#include "cresset/core/value.h"

namespace cresset {

class KernelBase;

namespace modes {

class CRESSET_API AboveMode {
 public:
  virtual ~AboveMode() = default;
  // Goes on with op.call(arguments), and is off until that returns: the ops inside are not handled again. Or goes on
  // with modes::pass(op, arguments): leaves this op alone and listens to those inside it.
  virtual Value call(const Op& op, Values& arguments) = 0;
};

using Replay = void (*)(const KernelBase& kernel, const Values& arguments);

class CRESSET_API BelowMode {
 public:
  virtual ~BelowMode() = default;
  // Before the kernel runs. Outputs come first among the arguments.
  virtual void kernel(const KernelBase& kernel, Replay replay, const Values& arguments) = 0;
  virtual void view(const Tensor& view, const Tensor& of) {
    (void)view;
    (void)of;
  }
  // Somebody takes a tensor's value into the program (item): what follows may depend on it.
  virtual void value_read(const Tensor& tensor) { (void)tensor; }
};

// Switches a mode on for this thread while it lives.
class CRESSET_API AboveScope {
 public:
  explicit AboveScope(AboveMode& mode);
  ~AboveScope();
  AboveScope(const AboveScope&) = delete;
  AboveScope& operator=(const AboveScope&) = delete;
};
class CRESSET_API BelowScope {
 public:
  explicit BelowScope(BelowMode& mode);
  ~BelowScope();
  BelowScope(const BelowScope&) = delete;
  BelowScope& operator=(const BelowScope&) = delete;
};

CRESSET_API Value intercept(const Op& op, Values& arguments);
// For AboveMode::call: the op runs with every mode on, this one included, and the next mode is asked about it.
CRESSET_API Value pass(const Op& op, const Values& arguments);
// True if all modes have passed this call on, so that its body is to run.
CRESSET_API bool passed(const Op& op);
CRESSET_API void kernel_called(const KernelBase& kernel, Replay replay, const Values& arguments);
CRESSET_API void view_made(const Tensor& view, const Tensor& of);
CRESSET_API void value_read(const Tensor& tensor);

}  // namespace modes

// First line of an op: hands the call to the modes above autograd, if any. Empty (or false) when they pass it on: then
// the body runs, and they listen to the ops that it calls. Result is the op's return type.
template <class Result>
using Intercepted = std::conditional_t<std::is_void_v<Result>, bool, std::optional<Result>>;
template <class Result, class... Args>
[[nodiscard, gnu::noinline, gnu::cold]] Intercepted<Result> intercepted(const Op& op, const Args&... args) {
  if (modes::passed(op)) return {};
  Values values{Boxing<Bare<Args>>::pack(args)...};
  Value result = modes::intercept(op, values);
  if constexpr (std::is_void_v<Result>)
    return true;
  else
    return Boxing<Bare<Result>>::unpack(result);
}

// Called while an exception is on its way out of an op: the op that was called gives an Error its name, in place of an
// inner op's; what the standard library throws for want of memory becomes an OutOfMemoryError.
// undefined: the index of the first argument that is an undefined tensor, or -1.
CRESSET_API void name_error_of(const Op& op, int undefined);
template <class... Args>
[[gnu::noinline, gnu::cold]] void name_error(const Op& op, const Args&... args) {
  int undefined = -1, at = 0;
  auto look = [&](const auto& argument) {
    if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, Tensor>)
      if (undefined < 0 && !argument.defined()) undefined = at;
    at++;
  };
  (look(args), ...);
  name_error_of(op, undefined);
}

}  // namespace cresset
