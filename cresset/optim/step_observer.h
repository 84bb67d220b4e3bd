// One function that hears of every step of every optimizer: zero_grad calls it before it does anything, once in each
// round of nearly every training loop. The distributed library watches there for parameters that drift apart.
#pragma once

#include "cresset/optim/optimizer.h"

namespace cresset::optim {

using StepObserver = void (*)(Optimizer& optimizer);
// Null takes it away. Returns the one that was there.
CRESSET_API StepObserver set_step_observer(StepObserver observer);

}  // namespace cresset::optim
