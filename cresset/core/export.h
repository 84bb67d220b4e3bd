// CRESSET_API marks what the shared library exports; everything else is hidden.
#pragma once

#define CRESSET_API __attribute__((visibility("default")))
#define CRESSET_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define CRESSET_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
