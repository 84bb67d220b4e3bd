// PNG through libpng's simplified interface, which needs no setjmp. The size in the header is checked against the file
// before memory is asked for: deflate makes at most 1032 bytes of one.
#include <png.h>

#include <cstring>

#include "cresset/core/error.h"
#include "cresset/io/codecs.h"

namespace cresset::io {
namespace {

constexpr uint64_t kDeflateRatio = 1032;
constexpr uint64_t kMostBytes = uint64_t{1} << 32;

// What IHDR says one pixel takes, in bits.
uint64_t bits_per_pixel(Bytes bytes) {
  constexpr size_t kDepthAt = 24, kTypeAt = 25;  // 8 of signature, 8 of chunk header, width, height
  if (bytes.size() <= kTypeAt) return 1;
  uint64_t samples = 1;
  if (bytes[kTypeAt] == 2) samples = 3;
  if (bytes[kTypeAt] == 4) samples = 2;
  if (bytes[kTypeAt] == 6) samples = 4;
  return samples * bytes[kDepthAt];
}

png_uint_32 format_of(int64_t channels) {
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  return kFormats[channels - 1];
}

class Image {
 public:
  Image() {
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
  }
  ~Image() { png_image_free(&image); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  png_image image;
};

RawImage decode_png(Bytes bytes, int64_t channels, const std::string& name) {
  Image reader;
  png_image& image = reader.image;
  CRESSET_CHECK_AS(IoError, png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), "decode_png: ", name,
                   ": ", image.message, " (in the header; the file has ", bytes.size(), " bytes)");
  RawImage out;
  out.height = image.height;
  out.width = image.width;
  out.channels = channels;
  if (channels == 0) {
    out.channels = 1 + ((image.format & PNG_FORMAT_FLAG_ALPHA) != 0 ? 1 : 0);
    if ((image.format & PNG_FORMAT_FLAG_COLOR) != 0) out.channels += 2;
  }
  const uint64_t pixels = uint64_t{image.width} * image.height;
  CRESSET_CHECK_AS(IoError,
                   pixels <= kMostBytes / 4 && pixels * bits_per_pixel(bytes) / 8 <= kDeflateRatio * bytes.size(),
                   "decode_png: ", name, ": the header says ", image.width, " x ", image.height, " pixels, but ",
                   bytes.size(), " bytes cannot hold them");
  image.format = format_of(out.channels);
  out.pixels.resize(PNG_IMAGE_SIZE(image));
  const png_color black{0, 0, 0};  // what transparent pixels lie on when alpha is not wanted
  CRESSET_CHECK_AS(IoError, png_image_finish_read(&image, &black, out.pixels.data(), 0, nullptr), "decode_png: ", name,
                   ": ", image.message, " (", image.width, " x ", image.height, " pixels in ", bytes.size(),
                   " bytes; truncated or damaged)");
  return out;
}

std::vector<uint8_t> encode_png(const RawImage& source) {
  Image writer;
  png_image& image = writer.image;
  image.width = static_cast<png_uint_32>(source.width);
  image.height = static_cast<png_uint_32>(source.height);
  image.format = format_of(source.channels);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<uint8_t> out(size);
  CRESSET_CHECK_AS(IoError, png_image_write_to_memory(&image, out.data(), &size, 0, source.pixels.data(), 0, nullptr),
                   "encode_png: ", image.message);
  out.resize(size);
  return out;
}

[[maybe_unused]] const bool registered = [] {
  codecs.decode_png = decode_png;
  codecs.encode_png = encode_png;
  return true;
}();

}  // namespace
}  // namespace cresset::io
