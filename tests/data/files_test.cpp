// IDX, gzip and the data sets made of files: what is read, and what is said of files that are cut short, lie or are
// something else.
#include <gtest/gtest.h>

#include <cstring>

#include "cresset/data/data.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/data/temporary_folder.h"
#include "tests/support/paths.h"

namespace cresset::data::datasets {
namespace {

using testing::TemporaryFolder;

std::vector<uint8_t> cut(std::vector<uint8_t> bytes, size_t size) {
  bytes.resize(size);
  return bytes;
}

std::vector<uint8_t> idx_header(uint8_t type, const std::vector<uint32_t>& sizes) {
  std::vector<uint8_t> bytes = {0, 0, type, static_cast<uint8_t>(sizes.size())};
  for (uint32_t size : sizes)
    for (int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<uint8_t>(size >> shift));
  return bytes;
}

TEST(Idx, EveryTypeGoesThroughAFile) {
  const TemporaryFolder folder;
  const Tensor numbers = arange(24).reshape({2, 3, 4}).sub(9);
  for (DType dtype : {kByte, kChar, kShort, kInt, kFloat, kDouble})
    for (const char* name : {"a.idx", "a.idx.gz"}) {
      const Tensor x = dtype == kByte ? numbers.add(9).to(dtype) : numbers.to(dtype);
      io::write_idx(folder / name, x);
      const Tensor y = io::read_idx(folder / name);
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_TRUE(equal(x, y)) << toString(dtype) << " " << name;
    }
  EXPECT_TRUE(equal(io::decode_idx(io::encode_idx(zeros({0, 5}, kByte))), zeros({0, 5}, kByte)));
  EXPECT_ERROR(TypeError, io::encode_idx(ones({2}, kLong)), "encode_idx");
}

TEST(Idx, BigEndianAsTheFormatSays) {
  std::vector<uint8_t> bytes = idx_header(0x0C, {2});
  bytes.insert(bytes.end(), {0, 0, 1, 2, 0xFF, 0xFF, 0xFF, 0xFE});
  EXPECT_TRUE(equal(io::decode_idx(bytes), tensor({258, -2}, kInt)));
}

TEST(Idx, CutAnywhereItNamesFileFoundAndWanted) {
  const TemporaryFolder folder;
  const std::vector<uint8_t> whole = io::encode_idx(ones({3, 5}, kShort));
  for (size_t size = 0; size < whole.size(); size++) {
    const std::string path = folder.write("cut", cut(whole, size));
    try {
      io::read_idx(path);
      ADD_FAILURE() << size << " bytes were accepted";
    } catch (const IoError& error) {
      const std::string words = error.what();
      EXPECT_NE(words.find(path), std::string::npos) << words;
      EXPECT_NE(words.find("found " + std::to_string(size < 12 ? size : size - 12)), std::string::npos) << words;
      EXPECT_NE(words.find("expected"), std::string::npos) << words;
    }
  }
}

TEST(Idx, LiesAndStrangersAreRefused) {
  EXPECT_ERROR(IoError, io::decode_idx(std::vector<uint8_t>{'P', 'K', 3, 4}),
               "not an IDX file: it begins with 0x50 0x4b");
  EXPECT_ERROR(IoError, io::decode_idx(idx_header(0x0A, {1})), "unknown element type 0x0a");
  EXPECT_ERROR(IoError, io::decode_idx(idx_header(0x08, {1U << 31, 1U << 30})),
               "found 0 bytes of values (expected 2305843009213693952");
  EXPECT_ERROR(IoError, io::decode_idx(idx_header(0x0E, {UINT32_MAX, UINT32_MAX, UINT32_MAX})),
               "which no file can hold");
  EXPECT_ERROR(IoError, io::decode_idx(idx_header(0x08, std::vector<uint32_t>(64, 2))), "which no file can hold");
  EXPECT_ERROR(IoError, io::decode_idx(idx_header(0x08, std::vector<uint32_t>(255, 1))),
               "found 255 dimensions (expected at most 64)");
  EXPECT_ERROR(IoError, io::decode_idx(idx_header(0x08, {0, UINT32_MAX, UINT32_MAX, UINT32_MAX})),
               "which no file can hold");
  auto longer = io::encode_idx(ones({3}, kByte));
  longer.push_back(0);
  EXPECT_ERROR(IoError, io::decode_idx(longer), "found 4 bytes of values (expected 3");
  EXPECT_ERROR(IoError, io::decode_idx(io::encode_idx(ones({3}, kByte)), "x", {2, kByte}),
               "found 1 dimensions (expected 2)");
  EXPECT_ERROR(IoError, io::decode_idx(io::encode_idx(ones({3}, kInt)), "x", {1, kByte}), "found elements of");
  EXPECT_ERROR(IoError, io::read_idx("/nowhere/at/all"), "/nowhere/at/all");
  EXPECT_ERROR(IoError, io::read_idx("/tmp"), "/tmp");
}

TEST(Gzip, GoesThereAndBack) {
  std::vector<uint8_t> bytes(100000);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<uint8_t>(i * i >> 7);
  const auto packed = io::gzip(bytes);
  EXPECT_TRUE(io::is_gzip(packed));
  EXPECT_EQ(io::gunzip(packed), bytes);
  EXPECT_EQ(io::gunzip_start(packed, 10).size(), 10U);
  auto two = packed;  // two members, one after the other
  two.insert(two.end(), packed.begin(), packed.end());
  EXPECT_EQ(io::gunzip(two).size(), 2 * bytes.size());
  EXPECT_TRUE(io::gunzip(io::gzip(std::vector<uint8_t>{})).empty());
}

TEST(Gzip, DamageIsNamed) {
  std::vector<uint8_t> bytes(5000);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<uint8_t>(i * i >> 5);
  const auto packed = io::gzip(bytes);
  for (size_t size = 2; size < packed.size(); size += size < 40 ? 1 : 97)
    EXPECT_ERROR(IoError, io::gunzip(cut(packed, size), {}, "some.gz"), "some.gz");
  EXPECT_ERROR(IoError, io::gunzip(cut(packed, packed.size() - 1), {}, "some.gz"), "truncated");
  auto broken = packed;
  broken[packed.size() / 2] ^= 0x55;
  EXPECT_ERROR(IoError, io::gunzip(broken), "gunzip");
  auto sum = packed;
  sum[sum.size() - 6] ^= 1;  // the checksum
  EXPECT_ERROR(IoError, io::gunzip(sum), "incorrect data check");
  EXPECT_ERROR(IoError, io::gunzip(bytes), "not a gzip file");
}

// ---- What small files may become

TEST(UnpackLimits, GrowWithThePackedSizeUpToTheirMost) {
  const io::UnpackLimits limits{.bytes = 1000, .ratio = 10, .always = 50};
  EXPECT_EQ(limits.of(0), 50U);
  EXPECT_EQ(limits.of(5), 50U);
  EXPECT_EQ(limits.of(20), 200U);
  EXPECT_EQ(limits.of(500), 1000U);
  EXPECT_EQ(limits.of(UINT64_MAX), 1000U);
  EXPECT_EQ(io::UnpackLimits::none().of(3), UINT64_MAX);
}

TEST(UnpackLimits, GzipStopsAtThem) {
  const auto packed = io::gzip(std::vector<uint8_t>(1'000'000));
  ASSERT_LT(packed.size(), 2000U);
  EXPECT_EQ(io::gunzip(packed).size(), 1'000'000U);  // less than what is always allowed
  const std::string count = std::to_string(packed.size());
  EXPECT_ERROR(IoError, io::gunzip(packed, {.always = 5000}, "bomb.gz"),
               "gunzip: bomb.gz: found more than " + std::to_string(200 * packed.size()) + " bytes (at most " +
                   std::to_string(200 * packed.size()) + " for " + count + " packed bytes; UnpackLimits raises that)");
  EXPECT_ERROR(IoError, io::gunzip(packed, {.bytes = 999'999}, "bomb.gz"), "found more than 999999 bytes");
  EXPECT_EQ(io::gunzip(packed, {.bytes = 1'000'000}).size(), 1'000'000U);
  EXPECT_EQ(io::gunzip(packed, io::UnpackLimits::none()).size(), 1'000'000U);
}

// 70 MB of a digit and a comma, in 70 KB: as cells that were 5 bytes of memory for each byte.
TEST(UnpackLimits, TextAndTablesHaveThemUnlessSaid) {
  const TemporaryFolder folder;
  std::vector<uint8_t> text(70'000'000, ',');
  for (size_t i = 0; i < text.size(); i += 100) text[i] = '\n';
  io::write_file(folder / "bomb.csv.gz", io::gzip(text));
  EXPECT_ERROR(IoError, io::read_csv(folder / "bomb.csv.gz"),
               (folder / "bomb.csv.gz") + ": found more than 67108864 bytes (at most 67108864 for ");
  EXPECT_ERROR(IoError, read_text(folder / "bomb.csv.gz"), "found more than 67108864 bytes");
  EXPECT_EQ(read_text(folder / "bomb.csv.gz", {.ratio = 2000}).size(), text.size());
  EXPECT_ERROR(IoError, io::read_csv(folder / "bomb.csv.gz", io::CsvOptions().limits({.bytes = 1000})),
               "found more than 1000 bytes");
}

TEST(UnpackLimits, AnIdxHeaderIsHeldAgainstThem) {
  std::vector<uint8_t> start = {0, 0, 0x08, 2, 0, 0, 0x40, 0, 0, 0, 0x40, 0};  // 16384 x 16384 bytes
  start.resize(2000);
  const auto packed = io::gzip(start);
  EXPECT_ERROR(IoError, io::decode_idx(packed, "bomb.gz"),
               "read_idx: bomb.gz: found [16384, 16384] of Byte, 268435456 bytes (at most 67108864 for");
  EXPECT_ERROR(IoError, io::decode_idx(packed, "bomb.gz", {.limits = io::UnpackLimits::none()}), "it is truncated");
  EXPECT_ERROR(IoError, io::decode_idx(io::gzip(io::encode_idx(ones({100}, kByte))), "x", {.limits = {.bytes = 99}}),
               "found [100] of Byte, 100 bytes (at most 99 for");
}

// ---- MNIST

void write_mnist(const std::string& folder, const std::string& which, int64_t count, const char* ending = "") {
  io::write_idx(folder + "/" + which + "-images-idx3-ubyte" + ending,
                arange(count * 784).remainder(256).to(kByte).reshape({count, 28, 28}));
  io::write_idx(folder + "/" + which + "-labels-idx1-ubyte" + ending, arange(count).remainder(10).to(kByte));
}

TEST(MnistFiles, PlainOrPackedFlatOrInFolders) {
  const TemporaryFolder folder;
  write_mnist(folder.folder("MNIST/raw"), "train", 12);
  write_mnist(folder.folder("MNIST/raw"), "t10k", 5, ".gz");
  MNIST train(folder.path()), test(folder.path(), MNIST::Mode::kTest);
  EXPECT_EQ(train.size(), 12U);
  EXPECT_EQ(test.size(), 5U);
  EXPECT_TRUE(train.is_train());
  EXPECT_FALSE(test.is_train());
  const Tensor wanted = arange(12 * 784).remainder(256).to(kFloat).reshape({12, 1, 28, 28}).div(255);
  EXPECT_TRUE(equal(train.images(), wanted));
  EXPECT_TRUE(equal(train.get(3).data, wanted[3]));
  EXPECT_EQ(train.get(11).target.item<int64_t>(), 1);
  EXPECT_EQ(train.targets().dtype(), kLong);
  const auto batch = train.get_batch({7, 2});
  EXPECT_TRUE(equal(batch[1].data, wanted[2]));
  EXPECT_EQ(batch[0].target.item<int64_t>(), 7);
  EXPECT_ERROR(IndexError, train.get(12), "MNIST: index 12");

  const TemporaryFolder flat;
  write_mnist(flat.path(), "train", 3);
  EXPECT_EQ(MNIST(flat.path()).size(), 3U);
  EXPECT_EQ(FashionMNIST(flat.path()).size(), 3U);
  EXPECT_ERROR(IoError, MNIST(flat.path(), MNIST::Mode::kTest), "t10k-images-idx3-ubyte was not found");
  EXPECT_ERROR(IoError, FashionMNIST("/nowhere"), "/nowhere/FashionMNIST/raw/train-images-idx3-ubyte.gz");
}

TEST(MnistFiles, FilesThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  write_mnist(folder.path(), "train", 4);
  io::write_idx(folder / "train-labels-idx1-ubyte", zeros({3}, kByte));
  EXPECT_ERROR(IoError, MNIST(folder.path()), "found 4 images");
  io::write_idx(folder / "train-labels-idx1-ubyte", full({4}, 10, kByte));
  EXPECT_ERROR(IoError, MNIST(folder.path()), "found label 10 at 0 (expected 0 to 9)");
  io::write_idx(folder / "train-images-idx3-ubyte", zeros({4, 28, 27}, kByte));
  EXPECT_ERROR(IoError, MNIST(folder.path()), "28 x 27 (expected 28 x 28)");
  io::write_idx(folder / "train-images-idx3-ubyte", zeros({4}, kByte));
  EXPECT_ERROR(IoError, MNIST(folder.path()), "found 1 dimensions (expected 3)");
}

TEST(MnistFiles, TheRealOne) {
  const std::string root = test::source_path("../shared/data/mnist10k");
  const std::string image_file = root + "/MNIST/raw/train-images-idx3-ubyte";
  if (!io::file_exists(image_file)) GTEST_SKIP() << "skipped: no shared data";
  MNIST train(root), test(root, MNIST::Mode::kTest);
  EXPECT_EQ(train.size(), 8000U);
  EXPECT_EQ(test.size(), 2000U);
  EXPECT_NEAR(train.images().mean().item<double>(), 0.13, 0.01);
  EXPECT_EQ(train.targets().max().item<int64_t>(), 9);
  EXPECT_EQ(train.targets().min().item<int64_t>(), 0);
  auto loader = make_data_loader<samplers::RandomSampler>(
      train.map(transforms::Normalize<>(0.1307, 0.3081)).map(transforms::Stack<>()), DataLoaderOptions(64).workers(2));
  double sum = 0;
  for (auto& batch : *loader) sum += batch.data.sum().item<double>();
  const double wanted = train.images().sub(0.1307).div(0.3081).sum().item<double>();
  EXPECT_NEAR(sum / wanted, 1, 1e-3);
}

// ---- CIFAR

std::vector<uint8_t> cifar_records(size_t count, size_t label_bytes, uint8_t first_label) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < count; i++) {
    if (label_bytes == 2) bytes.push_back(19);
    bytes.push_back(static_cast<uint8_t>(first_label + i));
    for (size_t p = 0; p < 3072; p++) bytes.push_back(static_cast<uint8_t>(p + i));
  }
  return bytes;
}

TEST(CifarFiles, TenAndHundred) {
  const TemporaryFolder folder;
  folder.folder("cifar-10-batches-bin");
  for (int i = 1; i <= 5; i++)
    folder.write("cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin",
                 cifar_records(2, 1, static_cast<uint8_t>(i)));
  CIFAR10 ten(folder.path());
  EXPECT_EQ(ten.size(), 10U);
  EXPECT_EQ(ten.get(8).target.item<int64_t>(), 5);
  EXPECT_EQ(ten.get(9).data.sizes(), (IntArrayRef{3, 32, 32}));
  EXPECT_FLOAT_EQ(ten.get(9).data[0][0][1].item<float>(), 2 / 255.0F);
  EXPECT_FLOAT_EQ(ten.get_batch({9})[0].data[2][31][31].item<float>(), (3071 + 1) % 256 / 255.0F);
  EXPECT_EQ(CIFAR10::classes()[3], "cat");

  folder.write("test.bin", cifar_records(3, 2, 97));
  CIFAR100 hundred(folder.path(), CIFAR100::Mode::kTest);
  EXPECT_EQ(hundred.size(), 3U);
  EXPECT_EQ(hundred.get(2).target.item<int64_t>(), 99);
  EXPECT_ERROR(IoError, CIFAR100(folder.path()), "train.bin was not found");
}

TEST(CifarFiles, CutOrStrangeFilesAreRefused) {
  const TemporaryFolder folder;
  const auto whole = cifar_records(2, 1, 0);
  for (size_t size : {size_t{0}, size_t{1}, size_t{3072}, size_t{3074}, whole.size() - 1}) {
    folder.write("test_batch.bin", cut(whole, size));
    EXPECT_ERROR(IoError, CIFAR10(folder.path(), CIFAR10::Mode::kTest),
                 "found " + std::to_string(size) + " bytes (expected a multiple of 3073");
  }
  folder.write("test_batch.bin", cifar_records(1, 1, 10));
  EXPECT_ERROR(IoError, CIFAR10(folder.path(), CIFAR10::Mode::kTest), "found label 10 in record 0 (expected 0 to 9)");
}

}  // namespace
}  // namespace cresset::data::datasets
