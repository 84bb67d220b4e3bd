// Between tensors [C, H, W] and the interleaved rows that the codecs know.
#include "cresset/io/image.h"

#include <cstring>

#include "cresset/io/gzip.h"
#include "cresset/ops/all.h"

namespace cresset::io {
namespace {

constexpr uint8_t kPng[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

bool is_png(Bytes bytes) { return bytes.size() >= sizeof kPng && std::memcmp(bytes.data(), kPng, sizeof kPng) == 0; }
bool is_jpeg(Bytes bytes) { return bytes.size() >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF; }

Tensor tensor_of(const RawImage& image) {
  const Tensor rows = empty_contiguous({image.height, image.width, image.channels}, kByte, kCPU);
  std::memcpy(rows.data_ptr(), image.pixels.data(), image.pixels.size());
  return rows.permute({2, 0, 1}).contiguous();
}

RawImage raw_of(const char* function, const Tensor& image) {
  CRESSET_CHECK_AS(ShapeError, image.dim() == 2 || image.dim() == 3, function, ": found shape ", image.sizes(),
                   " (expected [channels, height, width] or [height, width])");
  Tensor x = image.detach().to(Device(kCPU));
  if (x.dim() == 2) x = x.unsqueeze(0);
  CRESSET_CHECK_AS(ShapeError, x.size(0) >= 1 && x.size(0) <= 4 && x.size(1) > 0 && x.size(2) > 0, function,
                   ": found shape ", image.sizes(), " (expected 1 to 4 channels and at least one pixel)");
  if (x.is_floating_point()) x = x.to(kFloat).mul(255).add(0.5).clamp(0, 255).to(kByte);
  CRESSET_CHECK_AS(TypeError, x.dtype() == kByte, function, ": found ", toString(image.dtype()),
                   " (expected uint8, or floating values from 0 to 1)");
  x = x.permute({1, 2, 0}).contiguous();
  RawImage raw{x.size(0), x.size(1), x.size(2), std::vector<uint8_t>(static_cast<size_t>(x.numel()))};
  std::memcpy(raw.pixels.data(), x.data_ptr(), raw.pixels.size());
  return raw;
}

}  // namespace

Tensor decode_image(Bytes bytes, ImageReadMode mode, const std::string& name, const UnpackLimits& limits) {
  const auto channels = static_cast<int64_t>(mode);
  if (is_png(bytes))
    return tensor_of(codec(&Codecs::decode_png, "read_image", name, "libpng")(bytes, channels, name, limits));
  if (is_jpeg(bytes))
    return tensor_of(codec(&Codecs::decode_jpeg, "read_image", name, "libjpeg")(bytes, channels, name, limits));
  throw IoError(
      message_of("read_image: ", name, ": neither PNG nor JPEG by its first bytes (it has ", bytes.size(), " bytes)"));
}

Tensor read_image(const std::string& path, ImageReadMode mode, const UnpackLimits& limits) {
  return decode_image(read_file(path, "read_image"), mode, path, limits);
}

std::vector<uint8_t> encode_png(const Tensor& image) {
  return codec(&Codecs::encode_png, "encode_png", "<memory>", "libpng")(raw_of("encode_png", image));
}

std::vector<uint8_t> encode_jpeg(const Tensor& image, int quality) {
  CRESSET_CHECK_AS(ValueError, quality >= 1 && quality <= 100, "encode_jpeg: found quality ", quality,
                   " (expected 1 to 100)");
  return codec(&Codecs::encode_jpeg, "encode_jpeg", "<memory>", "libjpeg")(raw_of("encode_jpeg", image), quality);
}

void write_png(const std::string& path, const Tensor& image) { write_file(path, encode_png(image)); }

void write_jpeg(const std::string& path, const Tensor& image, int quality) {
  write_file(path, encode_jpeg(image, quality));
}

}  // namespace cresset::io
