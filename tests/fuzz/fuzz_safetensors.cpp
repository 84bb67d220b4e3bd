// safetensors headers and data. Whatever is read can be written and read again.
// sources: cresset/io/safetensors.cpp cresset/io/bytes.cpp
#include "cresset/io/safetensors.h"
#include "cresset/ops/all.h"
#include "tests/fuzz/seeds.h"

using namespace cresset;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::vector<std::string> seeds;
  auto add = [&](const io::StateDict& state, const io::Metadata& metadata) {
    std::vector<char> bytes;
    io::MemorySink sink(bytes);
    io::save_safetensors(sink, state, metadata);
    seeds.emplace_back(bytes.begin(), bytes.end());
  };
  io::StateDict state;
  add(state, io::Metadata());
  state.insert("weight", ones({2, 3}));
  state.insert("bias", zeros({3}, kHalf));
  state.insert("flag", zeros({2}, kBool));
  state.insert("empty", zeros({0, 7}, kLong));
  add(state, io::Metadata({{"format", "pt"}}));
  fuzz::write_seeds(*argc, *argv, seeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::survive([&] {
    const io::Safetensors held = io::read_safetensors(io::Source::borrow(data, size, "input"));
    std::vector<char> bytes;
    io::MemorySink sink(bytes);
    io::save_safetensors(sink, held.tensors, held.metadata);
    if (io::read_safetensors(io::Source::own(std::move(bytes), "again")).tensors.size() != held.tensors.size())
      std::abort();
  });
  return 0;
}
