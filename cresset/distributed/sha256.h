// SHA-256 (FIPS 180-4) and HMAC (RFC 2104): enough to prove that one knows a token without sending it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "cresset/core/export.h"

namespace cresset::distributed {

using Digest = std::array<uint8_t, 32>;

CRESSET_API Digest sha256(std::string_view message);
CRESSET_API Digest hmac_sha256(std::string_view key, std::string_view message);
// Takes as long for a wrong digest as for the right one, wherever they differ.
CRESSET_API bool equal_in_constant_time(std::string_view a, std::string_view b);

inline std::string_view view_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace cresset::distributed
