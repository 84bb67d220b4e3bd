// The one header most users include.
#pragma once

#include "cresset/autograd/autograd.h"
#include "cresset/core/allocator.h"
#include "cresset/core/cuda.h"
#include "cresset/core/determinism.h"
#include "cresset/core/from_blob.h"
#include "cresset/core/generator.h"
#include "cresset/core/parallel.h"
#include "cresset/core/print.h"
#include "cresset/core/version.h"
#include "cresset/data/data.h"
#include "cresset/io/io.h"
#include "cresset/monitor/monitor.h"
#include "cresset/nn/nn.h"
#include "cresset/ops/aliases.h"
#include "cresset/optim/optim.h"
