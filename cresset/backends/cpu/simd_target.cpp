// Which SIMD target runs. CRESSET_CPU_TARGET forces a lower one, for tests.
#include <hwy/targets.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/core/error.h"

namespace cresset::cpu {

void choose_simd_target() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* wanted = std::getenv("CRESSET_CPU_TARGET");
    if (!wanted || !*wanted) return;
    struct Named {
      const char* name;
      int64_t bit;
    };
    for (Named target : {Named{"SSE4", HWY_SSE4}, Named{"AVX2", HWY_AVX2}, Named{"AVX3", HWY_AVX3}}) {
      if (std::strcmp(wanted, target.name) != 0) continue;
      CRESSET_CHECK_AS(DeviceError, hwy::SupportedTargets() & target.bit, "CRESSET_CPU_TARGET: found ", wanted,
                       ", which this CPU does not have");
      hwy::SetSupportedTargetsForTest(target.bit);
      return;
    }
    throw ValueError(message_of("CRESSET_CPU_TARGET: found ", wanted, " (expected SSE4, AVX2 or AVX3)"));
  });
}

const char* simd_target() {
  choose_simd_target();
  return hwy::TargetName(hwy::SupportedTargets() & -hwy::SupportedTargets());
}

}  // namespace cresset::cpu
