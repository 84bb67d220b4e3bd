// Checksums of file formats: CRC-32 (zip, PNG), CRC-32C (event files) and XXH64 (checkpoints: quick, so that checking a
// gigabyte costs a fraction of reading it).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cresset/core/export.h"

namespace cresset::io {

// Goes on from `before`, the checksum of what came first.
CRESSET_API uint32_t crc32(const void* data, size_t size, uint32_t before = 0);
CRESSET_API uint32_t crc32c(const void* data, size_t size, uint32_t before = 0);

// Y. Collet's XXH64 with seed 0, piece by piece.
class CRESSET_API Digest {
 public:
  void add(const void* data, size_t size);
  uint64_t value() const;

 private:
  void block(const unsigned char* at);

  uint64_t lanes_[4] = {0x60EA27EEADC0B5D6, 0xC2B2AE3D27D4EB4F, 0, 0x61C8864E7A143579};
  unsigned char rest_[32] = {};
  size_t held_ = 0;
  uint64_t total_ = 0;
};

}  // namespace cresset::io
