// The codecs that come from other libraries (libpng, libjpeg, zlib). They are in libcresset_image.so, which is loaded
// at the first file that needs it and fills this table; a slot that stays empty belongs to a library the build did not
// have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cresset/core/export.h"
#include "cresset/core/shape.h"
#include "cresset/io/unpack_limits.h"

namespace cresset::io {

using Bytes = ArrayRef<uint8_t>;

// Rows from the top, channels of a pixel side by side.
struct RawImage {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;  // 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha
  std::vector<uint8_t> pixels;
};

// `name` is the file's, for the errors. Decoders take 0 channels for "as they are", and the limits on what they make.
struct Codecs {
  RawImage (*decode_png)(Bytes bytes, int64_t channels, const std::string& name, const UnpackLimits& limits) = nullptr;
  std::vector<uint8_t> (*encode_png)(const RawImage& image) = nullptr;
  RawImage (*decode_jpeg)(Bytes bytes, int64_t channels, const std::string& name, const UnpackLimits& limits) = nullptr;
  std::vector<uint8_t> (*encode_jpeg)(const RawImage& image, int quality) = nullptr;
  // At most `limit` bytes of what is in a gzip file; all its members.
  std::vector<uint8_t> (*gunzip)(Bytes bytes, size_t limit, const std::string& name) = nullptr;
  std::vector<uint8_t> (*gzip)(Bytes bytes) = nullptr;
  // A bare DEFLATE stream, as zip entries hold it, into exactly `out_size` bytes. Returns null, or what is wrong.
  const char* (*inflate)(Bytes bytes, void* out, size_t out_size) = nullptr;
};

CRESSET_API extern constinit Codecs codecs;

// The table, after the library has been loaded. `slot` is one of its members; throws, with the words of `what`, when it
// is empty.
CRESSET_API void load_codecs();
[[noreturn]] CRESSET_API void missing_codec(const char* function, const std::string& name, const char* library);

template <class Slot>
Slot codec(Slot Codecs::*slot, const char* function, const std::string& name, const char* library) {
  load_codecs();
  if (!(codecs.*slot)) missing_codec(function, name, library);
  return codecs.*slot;
}

}  // namespace cresset::io
