// Reads files whole, and calls zlib for those that are packed.
#include "cresset/io/gzip.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cresset/core/error.h"
#include "cresset/io/atomic_file.h"

namespace cresset::io {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

}  // namespace

bool is_gzip(Bytes bytes) { return bytes.size() >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B; }

std::vector<uint8_t> gunzip_start(Bytes bytes, size_t most, const std::string& name) {
  CRESSET_CHECK_AS(IoError, is_gzip(bytes), "gunzip: ", name, ": not a gzip file (it begins with ", bytes.size(),
                   " bytes that are not 1f 8b)");
  return codec(&Codecs::gunzip, "gunzip", name, "zlib")(bytes, most, name);
}

std::vector<uint8_t> gunzip(Bytes bytes, const UnpackLimits& limits, const std::string& name) {
  const uint64_t most = limits.of(bytes.size());
  std::vector<uint8_t> out = gunzip_start(bytes, most < SIZE_MAX ? most + 1 : SIZE_MAX, name);
  CRESSET_CHECK_AS(IoError, out.size() <= most, "gunzip: ", name, ": found more than ", most, " bytes ",
                   limits.text(bytes.size()));
  return out;
}

std::vector<uint8_t> gzip(Bytes bytes) { return codec(&Codecs::gzip, "gzip", "<memory>", "zlib")(bytes); }

bool file_exists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::vector<uint8_t> read_file(const std::string& path, const char* function) {
  struct stat info {};
  CRESSET_CHECK_AS(IoError, stat(path.c_str(), &info) == 0, function, ": ", path, ": ", std::strerror(errno));
  // Before it is opened: a pipe would wait for its writer.
  CRESSET_CHECK_AS(IoError, S_ISREG(info.st_mode), function, ": ", path, ": not a regular file");
  File file(std::fopen(path.c_str(), "rb"));
  CRESSET_CHECK_AS(IoError, file, function, ": ", path, ": ", std::strerror(errno));
  std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
  const size_t got = bytes.empty() ? 0 : std::fread(bytes.data(), 1, bytes.size(), file.get());
  CRESSET_CHECK_AS(IoError, got == bytes.size(), function, ": ", path, ": got ", got, " of ", bytes.size(), " bytes");
  return bytes;
}

std::vector<uint8_t> read_maybe_gzip(const std::string& path, const char* function, const UnpackLimits& limits) {
  std::vector<uint8_t> bytes = read_file(path, function);
  return is_gzip(bytes) ? gunzip(bytes, limits, path) : bytes;
}

void write_file(const std::string& path, Bytes bytes) {
  write_text_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace cresset::io
