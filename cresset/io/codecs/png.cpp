// PNG through libpng. Its errors leave by longjmp, so nothing with a destructor is made between setjmp and the calls.
// The size in the header is checked against the file before memory is asked for: deflate makes at most 1032 bytes of
// one.
#include <png.h>

#include <cstdio>
#include <cstring>

#include "cresset/core/error.h"
#include "cresset/io/codecs.h"

namespace cresset::io {
namespace {

constexpr uint64_t kDeflateRatio = 1032;
constexpr uint64_t kMostBytes = uint64_t{1} << 32;
// What says how samples relate to light: libpng would let it change the gray of a colour. And what only takes memory:
// libpng keeps up to a thousand packed texts of 8 MB each.
constexpr png_byte kIgnored[] = "gAMA\0cHRM\0sRGB\0iCCP\0tEXt\0zTXt\0iTXt\0sPLT\0eXIf";

// Filled outside the function with the setjmp, so that a jump loses nothing.
struct Decoder {
  explicit Decoder(Bytes bytes) : left(bytes) {}
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  png_structp png = nullptr;
  png_infop info = nullptr;
  Bytes left;
  std::vector<png_bytep> rows;
  char message[128] = "out of memory";
  uint64_t most = 0;  // bytes
  uint64_t wanted = 0;
  bool lie = false;
};

[[noreturn]] void fail(png_structp png, png_const_charp message) {
  auto& decoder = *static_cast<Decoder*>(png_get_error_ptr(png));
  std::snprintf(decoder.message, sizeof decoder.message, "%s", message);
  png_longjmp(png, 1);
}

void print_nothing(png_structp, png_const_charp) {}

void take(png_structp png, png_bytep out, size_t size) {
  Bytes& left = static_cast<Decoder*>(png_get_io_ptr(png))->left;
  if (size > left.size()) png_error(png, "read beyond end of data");
  std::memcpy(out, left.data(), size);
  left = left.slice(size);
}

// What the file holds, with palettes and transparent colours resolved.
int64_t channels_of(png_structp png, png_infop info) {
  const int type = png_get_color_type(png, info);
  const bool alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  return ((type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1) + (alpha ? 1 : 0);
}

// Every kind of PNG to 8 bits and these channels, as Pillow and torchvision do it: samples are taken as they stand, and
// alpha that is not wanted is left out, not painted over a background.
void convert(png_structp png, png_infop info, int64_t channels) {
  const bool color = (png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR) != 0;
  png_set_expand(png);
  png_set_scale_16(png);
  if (channels >= 3 && !color) png_set_gray_to_rgb(png);
  if (channels < 3 && color) png_set_rgb_to_gray_fixed(png, PNG_ERROR_ACTION_NONE, 29900, 58700);
  if (channels % 2 == 1)
    png_set_strip_alpha(png);
  else
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

bool decode(Decoder& decoder, Bytes bytes, int64_t channels, RawImage& out) {
  decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, fail, print_nothing);
  if (!decoder.png) return false;
  png_structp png = decoder.png;
  if (setjmp(png_jmpbuf(png))) return false;
  decoder.info = png_create_info_struct(png);
  png_infop info = decoder.info;
  png_set_read_fn(png, &decoder, take);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kIgnored, sizeof kIgnored / 5);
  png_read_info(png, info);
  out.height = png_get_image_height(png, info);
  out.width = png_get_image_width(png, info);
  const uint64_t pixels = uint64_t{png_get_image_height(png, info)} * png_get_image_width(png, info);
  const uint64_t bits = uint64_t{png_get_channels(png, info)} * png_get_bit_depth(png, info);
  decoder.lie = pixels > kMostBytes / 4 || pixels * bits / 8 > kDeflateRatio * bytes.size();
  if (decoder.lie) return false;
  out.channels = channels == 0 ? channels_of(png, info) : channels;
  decoder.wanted = pixels * static_cast<uint64_t>(out.channels);
  if (decoder.wanted > decoder.most) return false;
  convert(png, info, out.channels);
  const size_t row = png_get_rowbytes(png, info);
  out.pixels.resize(row * out.height);
  decoder.rows.resize(out.height);
  for (size_t i = 0; i < decoder.rows.size(); i++) decoder.rows[i] = out.pixels.data() + i * row;
  png_read_image(png, decoder.rows.data());
  return true;
}

RawImage decode_png(Bytes bytes, int64_t channels, const std::string& name, const UnpackLimits& limits) {
  RawImage out;
  Decoder decoder(bytes);
  decoder.most = limits.of(bytes.size());
  if (decode(decoder, bytes, channels, out)) return out;
  CRESSET_CHECK_AS(IoError, !decoder.lie, "decode_png: ", name, ": the header says ", out.width, " x ", out.height,
                   " pixels, but ", bytes.size(), " bytes cannot hold them");
  CRESSET_CHECK_AS(IoError, decoder.wanted <= decoder.most, "decode_png: ", name, ": found ", out.width, " x ",
                   out.height, " pixels of ", out.channels, " channels, ", decoder.wanted, " bytes ",
                   limits.text(bytes.size()));
  throw IoError(message_of("decode_png: ", name, ": ", decoder.message, " (the file has ", bytes.size(),
                           " bytes; truncated or damaged)"));
}

png_uint_32 format_of(int64_t channels) {
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  return kFormats[channels - 1];
}

std::vector<uint8_t> encode_png(const RawImage& source) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
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
