// Whole files in memory, plain or gzip alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cresset/io/codecs.h"
#include "cresset/io/unpack_limits.h"

namespace cresset::io {

CRESSET_API bool is_gzip(Bytes bytes);

// What a gzip stream holds; more than the limits allow is an error. Memory grows with what was really inflated.
CRESSET_API std::vector<uint8_t> gunzip(Bytes bytes, const UnpackLimits& limits = {},
                                        const std::string& name = "<memory>");
// At most its first `most` bytes.
CRESSET_API std::vector<uint8_t> gunzip_start(Bytes bytes, size_t most, const std::string& name = "<memory>");
CRESSET_API std::vector<uint8_t> gzip(Bytes bytes);

// The bytes of a regular file, as they are. Errors name the function that wants them.
CRESSET_API std::vector<uint8_t> read_file(const std::string& path, const char* function = "read_file");
// The same, unpacked if they are a gzip stream.
CRESSET_API std::vector<uint8_t> read_maybe_gzip(const std::string& path, const char* function = "read_file",
                                                 const UnpackLimits& limits = {});

CRESSET_API bool file_exists(const std::string& path);
// Whole or not at all, as AtomicFile writes.
CRESSET_API void write_file(const std::string& path, Bytes bytes);

}  // namespace cresset::io
