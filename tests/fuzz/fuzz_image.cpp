// Any bytes as a picture: a tensor or an IoError. The first byte chooses the mode; a signature is put in front of
// what has none, because the fuzzer would take long to find one.
// sources: cresset/io/image.cpp cresset/io/gzip.cpp cresset/io/codecs.cpp
// sources: cresset/io/codecs/png.cpp cresset/io/codecs/jpeg.cpp
// libraries: png jpeg
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cresset/core/error.h"
#include "cresset/io/image.h"
#include "cresset/ops/all.h"
#include "tests/fuzz/seeds.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace cresset;
  std::vector<std::string> seeds;
  for (int64_t channels : {1, 2, 3, 4}) {
    const Tensor image = arange(channels * 99).reshape({channels, 9, 11}).remainder(256).to(kByte);
    std::vector<std::vector<uint8_t>> files = {io::encode_png(image)};
    if (channels == 1 || channels == 3) files.push_back(io::encode_jpeg(image));
    for (const auto& file : files) {
      seeds.push_back("\x80" + std::string(file.begin(), file.end()));
      seeds.push_back("\x83" + std::string(file.begin(), file.end()));
    }
  }
  fuzz::write_seeds(*argc, *argv, seeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto mode = static_cast<cresset::io::ImageReadMode>(data[0] % 5);
  const bool whole = (data[0] & 0x80) != 0;  // as it is
  std::vector<uint8_t> bytes;
  if (!whole && (data[0] & 0x40) != 0) bytes = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  if (!whole && (data[0] & 0x40) == 0) bytes = {0xFF, 0xD8, 0xFF};
  bytes.insert(bytes.end(), data + 1, data + size);
  try {
    cresset::io::decode_image(bytes, mode);
  } catch (const cresset::IoError&) {
  }
  return 0;
}
