// The tables of kernels that the headers of ops declare, defined: constant-initialised, so that a backend may fill its
// slots before anything else has run.
#ifdef CRESSET_KERNEL
#error "ops/kernels.cpp found headers of ops included before it (expected to come first: they only declared the tables)"
#endif
#define CRESSET_KERNELS_DEFINED_HERE
#include "cresset/ops/all.h"
#include "cresset/ops/grid_sampler.h"
#include "cresset/ops/optim_step.h"
