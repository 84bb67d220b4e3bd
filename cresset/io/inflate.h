// Decompression of DEFLATE (RFC 1951), as zip entries hold it.
#pragma once

#include <cstddef>
#include <vector>

#include "cresset/core/export.h"

namespace cresset::io {

// Fills `out` exactly. Returns null, or what is wrong with the data.
CRESSET_API const char* inflate(const char* data, size_t size, char* out, size_t out_size);

}  // namespace cresset::io
