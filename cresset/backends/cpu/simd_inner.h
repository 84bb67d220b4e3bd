// The end of a file of vector functions in float and double: `name_inner<T>()` gives the struct of function pointers
// that `find_name<T>()` makes, of the best instruction set that the machine has. Include after <hwy/highway.h>.
#pragma once

#include "cresset/backends/cpu/pointwise_simd.h"

// In the namespace of the instruction set.
#define CRESSET_FIND_INNER(Inner, name)                                      \
  const Inner<float>& find_##name##_float() { return find_##name<float>(); } \
  const Inner<double>& find_##name##_double() { return find_##name<double>(); }

// Within #if HWY_ONCE, in cresset::cpu.
#define CRESSET_EXPORT_INNER(Inner, name)                \
  HWY_EXPORT(find_##name##_float);                       \
  HWY_EXPORT(find_##name##_double);                      \
  template <>                                            \
  const Inner<float>& name##_inner<float>() {            \
    choose_simd_target();                                \
    return HWY_DYNAMIC_DISPATCH(find_##name##_float)();  \
  }                                                      \
  template <>                                            \
  const Inner<double>& name##_inner<double>() {          \
    choose_simd_target();                                \
    return HWY_DYNAMIC_DISPATCH(find_##name##_double)(); \
  }
