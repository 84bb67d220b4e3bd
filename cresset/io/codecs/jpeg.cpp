// JPEG through libjpeg. Its errors leave by longjmp, so nothing with a destructor is made between setjmp and the calls;
// a file that ends early is an error here, where libjpeg would fill up with gray.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include <jerror.h>

#include "cresset/core/error.h"
#include "cresset/io/codecs.h"

namespace cresset::io {
namespace {

// Every 8 x 8 block of an image costs at least a bit, which is 512 pixels a byte; more is a lie in the header.
constexpr uint64_t kMostPixelsPerByte = 4096;
// Of a progressive image. Each costs a pass over all of it, and an empty one a dozen bytes; encoders write about ten.
constexpr int kMostScans = 500;

struct Failure {
  jpeg_error_mgr base;  // first: libjpeg hands its address back
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void fail(j_common_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  info->err->format_message(info, failure->message);
  std::longjmp(failure->jump, 1);
}

void note(j_common_ptr info, int level) {
  if (level >= 0) return;  // a trace
  const int code = info->err->msg_code;
  // Data that went on differently than announced; harmless oddities (stray bytes between markers) are let through.
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE) fail(info);
  ++info->err->num_warnings;
}

void print_nothing(j_common_ptr) {}

void set_up(jpeg_error_mgr*& slot, Failure& failure) {
  slot = jpeg_std_error(&failure.base);
  failure.base.error_exit = fail;
  failure.base.emit_message = note;
  failure.base.output_message = print_nothing;
  failure.message[0] = 0;
}

// Filled outside the function with the setjmp, so that a jump loses nothing.
struct Decoder {
  jpeg_decompress_struct info{};
  Failure failure{};
  jpeg_progress_mgr progress{};
  uint64_t most = 0;  // bytes
  uint64_t wanted = 0;
  bool lie = false;
  ~Decoder() { jpeg_destroy_decompress(&info); }
};

void count_scans(j_common_ptr info) {
  auto* image = reinterpret_cast<jpeg_decompress_struct*>(info);
  if (image->input_scan_number <= kMostScans) return;
  auto* failure = reinterpret_cast<Failure*>(info->err);
  std::snprintf(failure->message, sizeof failure->message, "more than %d scans", kMostScans);
  std::longjmp(failure->jump, 1);
}

bool decode(Decoder& decoder, Bytes bytes, int64_t channels, RawImage& out) {
  jpeg_decompress_struct& info = decoder.info;
  if (setjmp(decoder.failure.jump)) return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes.data(), bytes.size());
  jpeg_read_header(&info, TRUE);
  out.height = info.image_height;
  out.width = info.image_width;
  decoder.lie = uint64_t{info.image_width} * info.image_height > kMostPixelsPerByte * bytes.size();
  if (decoder.lie) return false;
  if (channels == 0) channels = info.num_components == 1 ? 1 : 3;
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK) info.out_color_space = JCS_CMYK;
  out.channels = info.out_color_space == JCS_CMYK ? 4 : info.out_color_space == JCS_GRAYSCALE ? 1 : 3;
  decoder.wanted = uint64_t{info.image_width} * info.image_height * static_cast<uint64_t>(out.channels);
  if (decoder.wanted > decoder.most) return false;
  decoder.progress.progress_monitor = count_scans;
  info.progress = &decoder.progress;
  jpeg_start_decompress(&info);
  out.channels = info.output_components;
  const size_t row = static_cast<size_t>(info.output_width) * info.output_components;
  // Row by row: what is asked for follows what was decoded.
  while (info.output_scanline < info.output_height) {
    const size_t done = row * info.output_scanline;
    if (out.pixels.size() < done + row) out.pixels.resize(done + row);
    JSAMPROW line = out.pixels.data() + done;
    jpeg_read_scanlines(&info, &line, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

// Pictures for print (CMYK) as RGB or gray. Files hold how much of each ink is missing, black last, so that the light
// of a colour is a product.
RawImage without_inks(const RawImage& inks, int64_t channels) {
  RawImage out{inks.height, inks.width, channels, {}};
  out.pixels.reserve(inks.pixels.size() / 4 * static_cast<size_t>(channels));
  for (size_t i = 0; i < inks.pixels.size(); i += 4) {
    const auto light = [&](size_t ink) { return (inks.pixels[i + ink] * inks.pixels[i + 3] + 127) / 255; };
    const int red = light(0), green = light(1), blue = light(2);
    if (channels == 1)
      out.pixels.push_back(static_cast<uint8_t>((299 * red + 587 * green + 114 * blue + 500) / 1000));
    else
      for (int value : {red, green, blue}) out.pixels.push_back(static_cast<uint8_t>(value));
  }
  return out;
}

RawImage decode_jpeg(Bytes bytes, int64_t channels, const std::string& name, const UnpackLimits& limits) {
  RawImage out;
  Decoder decoder;
  decoder.most = limits.of(bytes.size());
  set_up(decoder.info.err, decoder.failure);
  const bool alpha = channels == 2 || channels == 4;
  const int64_t wanted = alpha ? channels - 1 : channels;
  if (!decode(decoder, bytes, wanted, out)) {
    CRESSET_CHECK_AS(IoError, !decoder.lie, "decode_jpeg: ", name, ": the header says ", out.width, " x ", out.height,
                     " pixels, but ", bytes.size(), " bytes cannot hold them");
    CRESSET_CHECK_AS(IoError, decoder.wanted <= decoder.most, "decode_jpeg: ", name, ": found ", out.width, " x ",
                     out.height, " pixels of ", out.channels, " channels, ", decoder.wanted, " bytes ",
                     limits.text(bytes.size()));
    throw IoError(message_of("decode_jpeg: ", name, ": ", decoder.failure.message, " (the file has ", bytes.size(),
                             " bytes; truncated or damaged)"));
  }
  if (out.channels == 4) out = without_inks(out, wanted == 1 ? 1 : 3);
  if (!alpha) return out;
  RawImage with{out.height, out.width, channels, {}};
  with.pixels.reserve(out.pixels.size() / static_cast<size_t>(out.channels) * static_cast<size_t>(channels));
  for (size_t i = 0; i < out.pixels.size(); i += static_cast<size_t>(out.channels)) {
    with.pixels.insert(with.pixels.end(), out.pixels.begin() + static_cast<int64_t>(i),
                       out.pixels.begin() + static_cast<int64_t>(i) + out.channels);
    with.pixels.push_back(255);
  }
  return with;
}

struct Encoder {
  jpeg_compress_struct info{};
  Failure failure{};
  unsigned char* buffer = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  ~Encoder() {
    jpeg_destroy_compress(&info);
    std::free(buffer);
  }
};

bool encode(Encoder& encoder, const RawImage& image, int quality) {
  jpeg_compress_struct& info = encoder.info;
  if (setjmp(encoder.failure.jump)) return false;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &encoder.buffer, &encoder.size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = static_cast<int>(image.channels);
  info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  const size_t row = static_cast<size_t>(image.width * image.channels);
  while (info.next_scanline < info.image_height) {
    auto* line = const_cast<JSAMPROW>(image.pixels.data() + row * info.next_scanline);
    jpeg_write_scanlines(&info, &line, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

std::vector<uint8_t> encode_jpeg(const RawImage& image, int quality) {
  CRESSET_CHECK_AS(ValueError, image.channels == 1 || image.channels == 3, "encode_jpeg: found ", image.channels,
                   " channels (expected 1 or 3)");
  Encoder encoder;
  set_up(encoder.info.err, encoder.failure);
  CRESSET_CHECK_AS(IoError, encode(encoder, image, quality), "encode_jpeg: ", encoder.failure.message);
  return {encoder.buffer, encoder.buffer + encoder.size};
}

[[maybe_unused]] const bool registered = [] {
  codecs.decode_jpeg = decode_jpeg;
  codecs.encode_jpeg = encode_jpeg;
  return true;
}();

}  // namespace
}  // namespace cresset::io
