// Without compression, and so without a library: zlib's format lets data be stored as it is.
#include "cresset/monitor/png.h"

#include <algorithm>

#include "cresset/io/checksum.h"
#include "cresset/ops/shape.h"

namespace cresset::monitor {
namespace {

std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

void add_chunk(std::string& png, const char* kind, const std::string& data) {
  const std::string checked = kind + data;
  png += big_endian(static_cast<uint32_t>(data.size())) + checked;
  png += big_endian(io::crc32(checked.data(), checked.size()));
}

std::string stored_zlib(const std::string& data) {
  constexpr size_t block = 65535;
  std::string out = "\x78\x01";
  for (size_t at = 0; at < data.size() || at == 0; at += block) {
    const auto length = static_cast<uint16_t>(std::min(block, data.size() - at));
    const auto inverse = static_cast<uint16_t>(~length);
    out += static_cast<char>(at + block >= data.size());
    out.append(reinterpret_cast<const char*>(&length), 2).append(reinterpret_cast<const char*>(&inverse), 2);
    out.append(data, at, length);
  }
  uint32_t a = 1, b = 0;
  for (unsigned char byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return out + big_endian(b << 16 | a);
}

}  // namespace

std::string png_of(const Tensor& image) {
  constexpr char kinds[] = {0, 4, 2, 6};
  const int64_t channels = image.size(0), height = image.size(1), width = image.size(2);
  const std::vector<uint8_t> pixels = image.permute({1, 2, 0}).tolist<uint8_t>();
  const auto line = static_cast<size_t>(width * channels);
  std::string rows;
  for (int64_t y = 0; y < height; y++) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(pixels.data()) + static_cast<size_t>(y) * line, line);
  }
  std::string header = big_endian(static_cast<uint32_t>(width)) + big_endian(static_cast<uint32_t>(height));
  header += '\x08';
  header += kinds[channels - 1];
  header.append(3, '\0');
  std::string png = "\x89PNG\r\n\x1A\n";
  add_chunk(png, "IHDR", header);
  add_chunk(png, "IDAT", stored_zlib(rows));
  add_chunk(png, "IEND", "");
  return png;
}

}  // namespace cresset::monitor
