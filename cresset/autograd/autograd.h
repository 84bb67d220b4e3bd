// Everything a user of autograd needs.
#pragma once

#include "cresset/autograd/anomaly.h"
#include "cresset/autograd/checkpoint.h"
#include "cresset/autograd/engine.h"
#include "cresset/autograd/function.h"
#include "cresset/autograd/functional.h"
#include "cresset/autograd/gradcheck.h"
#include "cresset/autograd/graph.h"
#include "cresset/autograd/saved.h"
#include "cresset/autograd/saved_tensors_hooks.h"

namespace cresset::autograd {
using cresset::AutoGradMode;
using cresset::InferenceMode;
using cresset::NoGradGuard;
}  // namespace cresset::autograd
