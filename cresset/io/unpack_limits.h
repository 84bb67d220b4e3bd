// UnpackLimits: how large a compressed file may become. A few hundred kilobytes of DEFLATE, PNG or gzip can hold
// gigabytes, and a reader that believes them takes the program down; whoever knows a file may raise the limits.
//
//   io::read_csv("counts.csv.gz", io::CsvOptions().limits({.bytes = 20'000'000'000, .ratio = 1000}));
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "cresset/core/error.h"

namespace cresset::io {

struct UnpackLimits {
  uint64_t bytes = uint64_t{4} << 30;    // never more than this
  uint64_t ratio = 200;                  // nor more than so many times the packed size,
  uint64_t always = uint64_t{64} << 20;  // unless it is no more than this

  static constexpr UnpackLimits none() { return {UINT64_MAX, UINT64_MAX, UINT64_MAX}; }

  // What `packed` bytes may become.
  constexpr uint64_t of(uint64_t packed) const {
    uint64_t grown = 0;
    if (__builtin_mul_overflow(packed, ratio, &grown)) grown = UINT64_MAX;
    return std::min(bytes, std::max(grown, always));
  }
  // "(at most 67108864 for 2000 packed bytes; UnpackLimits raises that)"
  std::string text(uint64_t packed) const {
    return message_of("(at most ", of(packed), " for ", packed, " packed bytes; UnpackLimits raises that)");
  }
};

// Drawings and scans are mostly one colour: 89 million pixels of RGB pass whatever their file's size.
constexpr UnpackLimits kImageLimits{uint64_t{4} << 30, 200, uint64_t{256} << 20};

}  // namespace cresset::io
