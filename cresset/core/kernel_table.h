// Declares the tables of kernels in the headers of ops, without the cost of what calls them: a program that uses ops
// needs neither Kernel's calls nor the Values that modes see. Sources that call or fill a table include core/kernel.h.
//
//   CRESSET_KERNEL(BinaryKernel, hypot_kernel, "hypot");
//
// The arguments after the name are those of Kernel's constructor. ops/kernels.cpp reads the same lines as definitions.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset {
template <class Signature>
class Kernel;
}

// Exported: hidden, each library would fill a table of its own.
#ifdef CRESSET_KERNELS_DEFINED_HERE
#include "cresset/core/kernel.h"
#define CRESSET_KERNEL(type, name, ...) \
  extern CRESSET_API type name;         \
  constinit type name { __VA_ARGS__ }
#else
#define CRESSET_KERNEL(type, name, ...) extern CRESSET_API type name
#endif
