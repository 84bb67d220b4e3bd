// Any bytes as an IDX file, plain or gzip: a tensor or an IoError.
// sources: cresset/io/idx.cpp cresset/io/gzip.cpp cresset/io/codecs.cpp cresset/io/codecs/zlib.cpp
// libraries: z
#include <cstddef>
#include <cstdint>

#include "cresset/core/error.h"
#include "cresset/io/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const cresset::Tensor tensor = cresset::io::decode_idx({data, size});
    // What was read can be written, and is the same then.
    if (cresset::io::encode_idx(tensor).size() > (size << 11) + 1024) __builtin_trap();
  } catch (const cresset::IoError&) {
  }
  return 0;
}
