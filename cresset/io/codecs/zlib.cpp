// gzip and DEFLATE through zlib. The output grows with what was really inflated: nothing is asked for on the word of a
// header.
#include <zlib.h>

#include <algorithm>

#include "cresset/core/error.h"
#include "cresset/io/codecs.h"

namespace cresset::io {
namespace {

constexpr size_t kChunk = size_t{1} << 18;
constexpr size_t kMost = size_t{1} << 30;  // zlib counts in 32 bits

// The largest window; what is around the data is told by adding 16 (gzip's header) or by the sign (none).
constexpr int kWindow = 15;

struct Inflate {
  z_stream stream{};
  explicit Inflate(int window) {
    CRESSET_CHECK_AS(IoError, inflateInit2(&stream, window) == Z_OK, "inflate: zlib does not start");
  }
  ~Inflate() { inflateEnd(&stream); }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;
};

std::vector<uint8_t> gunzip(Bytes bytes, size_t limit, const std::string& name) {
  Inflate state(kWindow + 16);
  z_stream& stream = state.stream;
  std::vector<uint8_t> out;
  size_t taken = 0;
  while (out.size() < limit) {
    const size_t before = out.size();
    const size_t room = std::min({limit - before, std::max(kChunk, before), kMost});
    const size_t given = std::min(bytes.size() - taken, kMost);
    out.resize(before + room);
    stream.next_in = const_cast<Bytef*>(bytes.data() + taken);
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = out.data() + before;
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    taken += given - stream.avail_in;
    out.resize(before + room - stream.avail_out);
    if (status == Z_STREAM_END) {
      if (taken == bytes.size()) return out;
      CRESSET_CHECK_AS(IoError, inflateReset(&stream) == Z_OK, "gunzip: ", name, ": zlib does not start again");
      continue;
    }
    CRESSET_CHECK_AS(IoError, status == Z_OK || status == Z_BUF_ERROR, "gunzip: ", name, ": ",
                     stream.msg ? stream.msg : "not a gzip stream", " at byte ", taken, " of ", bytes.size());
    const bool stuck = out.size() == before && given == stream.avail_in;
    CRESSET_CHECK_AS(IoError, taken < bytes.size() || !stuck, "gunzip: ", name, ": the file ends at byte ",
                     bytes.size(), " in the middle of the stream (expected more; it is truncated)");
    CRESSET_CHECK_AS(IoError, !stuck, "gunzip: ", name, ": no progress at byte ", taken, " of ", bytes.size());
  }
  return out;
}

std::vector<uint8_t> gzip(Bytes bytes) {
  CRESSET_CHECK_AS(ValueError, bytes.size() <= kMost, "gzip: found ", bytes.size(), " bytes (expected at most ", kMost,
                   ")");
  z_stream stream{};
  CRESSET_CHECK_AS(IoError, deflateInit2(&stream, 6, Z_DEFLATED, kWindow + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                   "gzip: zlib does not start");
  std::vector<uint8_t> out(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  CRESSET_CHECK_AS(IoError, status == Z_STREAM_END, "gzip: zlib ended with status ", status);
  return out;
}

const char* inflate_bare(Bytes bytes, void* out, size_t out_size) {
  Inflate state(-kWindow);
  z_stream& stream = state.stream;
  uint8_t past_the_end;  // more data than the size says would come here
  size_t taken = 0, made = 0;
  for (;;) {
    const size_t given = std::min(bytes.size() - taken, kMost);
    const size_t room = made < out_size ? std::min(out_size - made, kMost) : 1;
    stream.next_in = const_cast<Bytef*>(bytes.data() + taken);
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = made < out_size ? static_cast<Bytef*>(out) + made : &past_the_end;
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    taken += given - stream.avail_in;
    made += room - stream.avail_out;
    if (made > out_size) return "the compressed data is longer than its size says";
    if (status == Z_STREAM_END) return made == out_size ? nullptr : "the compressed data is shorter than its size says";
    if (status != Z_OK && status != Z_BUF_ERROR) return stream.msg ? stream.msg : "the compressed data is damaged";
    if (taken == bytes.size() && stream.avail_out > 0) return "the compressed data ends too early";
  }
}

[[maybe_unused]] const bool registered = [] {
  codecs.gunzip = gunzip;
  codecs.gzip = gzip;
  codecs.inflate = inflate_bare;
  return true;
}();

}  // namespace
}  // namespace cresset::io
