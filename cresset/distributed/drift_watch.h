// The watch over training loops without DistributedDataParallel. Whoever reduces the loss over the ranks but not the
// gradients trains as many models as there are ranks, and nothing fails. Each optimizer's parameters leave a digest in
// the store at steps 0, 1, 2, 4, …, 64 and every 100th; no rank waits for another. It is an error when
//   - all ranks have parameters of the same shapes, and they were equal at the first step,
//   - they are so no longer, and
//   - what the ranks exchanged meanwhile were a few numbers at a time: losses, not gradients, parameters or
//   activations.
// Equal shapes that were different from the start are only warned of: they may be meant.
// Model parallelism, parameter servers and local steps between averages exchange more; independent trainings nothing.
// CRESSET_DRIFT_WATCH=0 switches it off.
#pragma once

#include "cresset/nn/module.h"

namespace cresset::distributed {

// Gives the error of the watch names for these parameters.
CRESSET_API void watch(const nn::Module& module);
template <class Contained>
void watch(const nn::ModuleHolder<Contained>& module) {
  watch(*module);
}

namespace drift_watch {

CRESSET_API void set_enabled(bool on);
// Begins at the start of the program; named here so that a linker of static libraries keeps it.
CRESSET_API bool install();
[[maybe_unused]] inline const bool installed = install();
// Parameters that somebody else looks after.
void exempt(const std::vector<Tensor>& parameters);
bool is_exempt(const Tensor& parameter);
void end_exemption(const std::vector<Tensor>& parameters);

}  // namespace drift_watch
}  // namespace cresset::distributed
