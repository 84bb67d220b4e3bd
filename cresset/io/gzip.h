// Whole files in memory, plain or gzip alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cresset/io/codecs.h"

namespace cresset::io {

CRESSET_API bool is_gzip(Bytes bytes);

// At most `limit` bytes of what a gzip stream holds. Memory grows with what was really inflated.
CRESSET_API std::vector<uint8_t> gunzip(Bytes bytes, size_t limit = SIZE_MAX, const std::string& name = "<memory>");
CRESSET_API std::vector<uint8_t> gzip(Bytes bytes);

// The bytes of a regular file, as they are. Errors name the function that wants them.
CRESSET_API std::vector<uint8_t> read_file(const std::string& path, const char* function = "read_file");
// The same, unpacked if they are a gzip stream.
CRESSET_API std::vector<uint8_t> read_maybe_gzip(const std::string& path, const char* function = "read_file");

CRESSET_API bool file_exists(const std::string& path);
// Whole or not at all, as AtomicFile writes.
CRESSET_API void write_file(const std::string& path, Bytes bytes);

}  // namespace cresset::io
