// Any bytes as an IDX file, plain or gzip: a tensor or an IoError.
// sources: cresset/io/idx.cpp cresset/io/gzip.cpp cresset/io/codecs.cpp cresset/io/codecs/zlib.cpp
// libraries: z
#include <cstddef>
#include <cstdint>

#include "cresset/core/error.h"
#include "cresset/io/gzip.h"
#include "cresset/io/idx.h"
#include "cresset/ops/all.h"
#include "tests/fuzz/seeds.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace cresset;
  std::vector<std::string> seeds;
  for (DType dtype : {kByte, kChar, kShort, kInt, kFloat, kDouble}) {
    const std::vector<uint8_t> plain = io::encode_idx(arange(12).reshape({2, 3, 2}).to(dtype));
    seeds.emplace_back(plain.begin(), plain.end());
    const std::vector<uint8_t> packed = io::gzip(plain);
    seeds.emplace_back(packed.begin(), packed.end());
  }
  fuzz::write_seeds(*argc, *argv, seeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const cresset::Tensor tensor = cresset::io::decode_idx({data, size});
    // What was read can be written, and is the same then.
    if (cresset::io::encode_idx(tensor).size() > (size << 11) + 1024) __builtin_trap();
  } catch (const cresset::IoError&) {
  }
  return 0;
}
