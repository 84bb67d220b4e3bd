// .pt files, and the pickles inside them without the zip around them, whose checksums few mutations would pass. A first
// byte of 'P' makes the input a file.
// sources: cresset/io/pt.cpp cresset/io/pickle_reader.cpp cresset/io/pickle_objects.cpp
// sources: cresset/io/zip.cpp cresset/io/checksum.cpp cresset/io/npy.cpp cresset/io/bytes.cpp
// sources: cresset/io/codecs.cpp cresset/io/codecs/zlib.cpp
// libraries: z
#include "cresset/io/pt.h"

#include "cresset/io/npy.h"
#include "cresset/io/pickle.h"
#include "cresset/io/serialize.h"
#include "cresset/io/zip.h"
#include "cresset/ops/all.h"
#include "tests/fuzz/seeds.h"

using namespace cresset;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  IValue::Dict dict;
  const Tensor x = ones({2, 3});
  dict["x"] = x;
  dict["t"] = x.t();
  dict["wants"] = zeros({1}).requires_grad_();
  dict["plain"] = IValue::List{{1, 2.5, "text", true, IValue(), IValue::Tuple{{1 << 20, -1}}}};
  std::vector<std::string> seeds;
  for (const IValue& value : {IValue(dict), IValue(x), IValue(5)}) {
    const std::vector<char> file = pickle_save(value);
    seeds.emplace_back(file.begin(), file.end());
    seeds.push_back(io::write_pickle(value, [](const Tensor&) { return io::StoragePlace{"0", 6, 0}; }));
  }
  std::vector<char> npz;
  io::MemorySink sink(npz);
  io::StateDict arrays;
  arrays.insert("a", arange(4));
  io::save_npz(sink, arrays);
  seeds.emplace_back(npz.begin(), npz.end());
  // Names that our own writer does not use.
  using namespace std::string_literals;
  seeds.push_back(
      "\x80\x02"
      "ctorch._utils\n_rebuild_parameter\nq\x01]q\x02"
      "ctorch\nSize\n(K\x01K\x02t\x85Rh\x02"
      "a."s);
  seeds.push_back(
      "\x80\x04\x95\0\0\0\0\0\0\0\0\x8C\x0b"
      "collections\x94\x8C\x0bOrderedDict\x94\x93\x94)R\x94\x8f(K\x01K\x02\x90."s);
  fuzz::write_seeds(*argc, *argv, seeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const io::Source source = io::Source::borrow(data, size, "input");
  const bool file = size > 0 && data[0] == 'P';
  fuzz::survive([&] {
    IValue value;
    if (file) {
      value = io::load_pt(source);
    } else {
      value = io::read_pickle(
          "load_pt", source,
          [](const io::StorageKey& key) {
            if (key.numel > 6) throw IoError("too much");
            Ref<StorageImpl> storage = StorageImpl::make(key.numel * element_size(key.dtype), kCPU);
            std::memset(storage->data, 0, storage->bytes);
            return storage;
          },
          kCPU);
    }
    if (value.isTensor() && value.toTensor().numel() < 1000) value.toTensor().clone();
  });
  if (file) fuzz::survive([&] { io::load_npz(source); });
  return 0;
}
