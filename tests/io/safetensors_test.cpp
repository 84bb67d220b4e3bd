// safetensors: round trips, the mapping, headers that lie, and files of the Python package.
#include "cresset/io/safetensors.h"

#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/io/support.h"

namespace cresset::io {
namespace {

using test::TempFolder;

Source file_of(const std::string& header, size_t data) {
  std::string bytes(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  bytes += header + std::string(data, '\1');
  return Source::own({bytes.begin(), bytes.end()}, "x.safetensors");
}
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

StateDict all_dtypes() {
  StateDict state;
  for (int i = 0; i < kDTypes; i++)
    if (static_cast<DType>(i) != kComplexDouble)
      state.insert(name_of(static_cast<DType>(i)), tensor({{0., 1.}, {2., 100.}}).to(static_cast<DType>(i)));
  return state;
}

TEST(Safetensors, EveryDtypeComesBackWithMetadata) {
  TempFolder folder;
  StateDict state = all_dtypes();
  state.insert("strided", arange(6.).view({2, 3}).t());
  state.insert("scalar", tensor(2.5));
  state.insert("empty", empty({0, 4}));
  save_safetensors(folder / "a.safetensors", state, Metadata({{"format", "pt"}, {"note", "ü \"x\""}}));
  const Safetensors held = read_safetensors(folder / "a.safetensors");
  EXPECT_EQ(held.tensors.size(), state.size());
  for (const auto& [name, tensor] : state) {
    EXPECT_EQ(held.tensors[name].dtype(), tensor.dtype());
    EXPECT_TRUE(equal(held.tensors[name], tensor)) << name;
  }
  EXPECT_EQ(held.metadata["note"], "ü \"x\"");
  EXPECT_EQ(load_safetensors(folder / "a.safetensors").size(), state.size());
}

TEST(Safetensors, TensorsShareTheMappingAndWritingChangesNoFile) {
  TempFolder folder;
  StateDict state;
  state.insert("w", ones({1000}));
  state.insert("v", zeros({1000}));
  save_safetensors(folder / "a", state);
  const std::string before = test::contents_of(folder / "a");
  Tensor w;
  {
    StateDict held = load_safetensors(folder / "a", {.map = true});
    w = held["w"];
    EXPECT_EQ(static_cast<char*>(held["v"].data_ptr()) - static_cast<char*>(w.data_ptr()), 4000);
  }
  w.fill_(7);  // the mapping is still there
  EXPECT_EQ(w.sum().item<double>(), 7000);
  EXPECT_EQ(test::contents_of(folder / "a"), before);
  std::filesystem::remove(folder / "a");
  EXPECT_EQ(w.sum().item<double>(), 7000);
}

TEST(Safetensors, WhatWasReadStaysWhenTheFileIsTruncated) {
  TempFolder folder;
  StateDict state;
  state.insert("w", ones({100'000}));
  save_safetensors(folder / "a", state);
  const StateDict held = load_safetensors(folder / "a");
  const Safetensors with_metadata = read_safetensors(folder / "a");
  std::filesystem::resize_file(folder / "a", 0);
  EXPECT_EQ(held["w"].sum().item<double>(), 100'000);
  EXPECT_EQ(with_metadata.tensors["w"].sum().item<double>(), 100'000);
  EXPECT_ERROR(IoError, load_safetensors(folder / "a"), "cut off: 0 bytes");
}

TEST(ReadFile, AFileThatGetsShorterMeanwhileIsAnError) {
  TempFolder folder;
  test::write_contents(folder / "a", std::string(10'000, 'x'));
  const ReadFile file(folder / "a", "test");
  std::filesystem::resize_file(folder / "a", 300);
  char out[1000];
  EXPECT_NO_THROW(file.read(0, out, 300));
  EXPECT_ERROR(
      IoError, file.read(0, out, 1000),
      "test: " + (folder / "a") + ": ends at byte 300 (expected 10000 bytes: it was cut off while it was read)");
}

// By size, not by the clock: when each name was looked up among all others, this took a quarter of an hour and more.
TEST(Safetensors, TimeGrowsWithTheNumberOfTensorsOnly) {
  constexpr int64_t kTensors = 300'000;
  StateDict state;
  state.reserve(kTensors);
  const Tensor one = ones({1}, kByte);
  for (int64_t i = 0; i < kTensors; i++) state.insert("t" + std::to_string(i), one);
  Metadata metadata;
  for (int64_t i = 0; i < 1000; i++) metadata.insert("m" + std::to_string(i), "x");
  std::vector<char> bytes;
  MemorySink sink(bytes);
  save_safetensors(sink, state, metadata);
  const Safetensors held = read_safetensors(Source::own(std::move(bytes), "many"));
  EXPECT_EQ(static_cast<int64_t>(held.tensors.size()), kTensors);
  EXPECT_EQ(held.tensors.items()[12345].key(), "t12345");
  EXPECT_EQ(held.metadata.items()[99].key(), "m99");
}

TEST(Safetensors, UnalignedDataIsCopied) {
  const std::string header = "{" + entry("b", "U8", "[1]", "[0,1]") + "," + entry("f", "F32", "[1]", "[1,5]") + "}";
  const Safetensors held = read_safetensors(file_of(header, 5));
  EXPECT_EQ(held.tensors["f"].view(kInt).item<int>(), 0x01010101);
}

TEST(Safetensors, HeadersThatLieAreNamed) {
  auto read = [](const std::string& header, size_t data) { return read_safetensors(file_of(header, data)); };
  EXPECT_ERROR(IoError, read_safetensors(Source::own({}, "x")), "cut off: 0 bytes");
  EXPECT_ERROR(IoError, read_safetensors(Source::own(std::vector<char>(100, '\xFF'), "x")), "the header would have");
  EXPECT_ERROR(IoError, read("[]", 0), "does not begin with {");
  EXPECT_ERROR(IoError, read("{\"a\":", 0), "no JSON");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F32", "[2]", "[0,8]") + "}", 7), "does not lie inside");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F32", "[2]", "[0,8]") + "}", 9), "has 9 bytes of data (expected 8)");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F32", "[3]", "[0,8]") + "}", 8), "has 8 bytes (expected 12");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F32", "[2]", "[8,0]") + "}", 8), "does not lie inside");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F32", "[-2]", "[0,8]") + "}", 8), "its shape is no whole number");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F32", "[2.0]", "[0,8]") + "}", 8), "its shape is no whole number");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F32", "[4611686018427387904,4]", "[0,8]") + "}", 8),
               "more elements than memory");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F32", "[18446744073709551615]", "[0,8]") + "}", 8),
               "more elements than memory");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F32", "[4294967296,4294967296,0]", "[0,0]") + "}", 0),
               "more elements than memory");
  EXPECT_ERROR(IoError, read("{" + entry("a", "F8_E4M3", "[8]", "[0,8]") + "}", 8), "tensor 'a' has dtype F8_E4M3");
  EXPECT_ERROR(IoError, read("{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("b", "U8", "[4]", "[2,6]") + "}", 6),
               "may not overlap");
  EXPECT_ERROR(IoError, read("{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("b", "U8", "[4]", "[5,9]") + "}", 9),
               "no holes");
  EXPECT_ERROR(IoError, read("{" + entry("a", "U8", "[1]", "[0,1]") + "," + entry("a", "U8", "[1]", "[1,2]") + "}", 2),
               "'a' is there twice");
  EXPECT_ERROR(IoError, read("{\"a\":{\"dtype\":\"U8\"}}", 0), "lacks its dtype, shape or data_offsets");
  EXPECT_ERROR(IoError, read("{\"__metadata__\":{\"a\":1}}", 0), "is no text");
  EXPECT_ERROR(IoError, read("{\"a\":" + std::string(100000, '['), 0), "nested deeper");
}

TEST(Safetensors, WhatTheFormatLacksIsRefused) {
  TempFolder folder;
  StateDict state;
  state.insert("c", zeros({2}, kComplexDouble));
  EXPECT_ERROR(IoError, save_safetensors(folder / "a", state), "tensor 'c' has dtype complex128");
  StateDict undefined;
  undefined.insert("u", Tensor());
  EXPECT_ERROR(IoError, save_safetensors(folder / "a", undefined), "'u' is undefined");
  StateDict badly_named;
  badly_named.insert("\xFF", ones({1}));
  EXPECT_ERROR(IoError, save_safetensors(folder / "a", badly_named), "not UTF-8");
  EXPECT_EQ(folder.count(), 0u);
}

TEST(SafetensorsExchange, BothWays) {
  TempFolder folder;
  StateDict state = all_dtypes();
  state.insert("empty", empty({0, 4}));
  save_safetensors(folder / "ours.safetensors", state, Metadata({{"who", "ü"}}));
  auto ran = test::run_script("io/exchange.py", "check safetensors " + folder.path());
  SKIP_OR_EXPECT_SUCCESS(ran, "safetensors for Python");
  ran = test::run_script("io/exchange.py", "write safetensors " + folder.path());
  SKIP_OR_EXPECT_SUCCESS(ran, "safetensors for Python");
  const Safetensors held = read_safetensors(folder / "theirs.safetensors");
  EXPECT_EQ(held.metadata["who"], "ü");
  EXPECT_EQ(held.tensors.size(), 12u);
  for (const auto& [name, tensor] : all_dtypes()) {
    if (name == "bfloat16") continue;  // NumPy has none
    EXPECT_TRUE(equal(held.tensors[name], tensor)) << name;
  }
  EXPECT_EQ(held.tensors["scalar"].dim(), 0);
}

}  // namespace
}  // namespace cresset::io
