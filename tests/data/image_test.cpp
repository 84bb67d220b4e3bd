// PNG, JPEG, and folders of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cresset/data/data.h"
#include "cresset/io/checksum.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/data/temporary_folder.h"

namespace cresset::data::datasets {
namespace {

using io::ImageReadMode;
using testing::TemporaryFolder;

Tensor noise(IntArrayRef sizes) { return randint(0, 256, sizes, Generator(3), kLong).to(kByte); }
// Smooth, so that JPEG changes little.
Tensor slope(int64_t channels, int64_t height, int64_t width) {
  return arange(height)
      .unsqueeze(1)
      .mul(3)
      .add(arange(width).mul(2))
      .expand({channels, height, width})
      .clamp(0, 255)
      .to(kByte);
}

std::vector<uint8_t> shortened(std::vector<uint8_t> bytes, size_t size) {
  bytes.resize(size);
  return bytes;
}

TEST(Images, PngKeepsEveryPixel) {
  for (int64_t channels : {1, 2, 3, 4}) {
    const Tensor x = noise({channels, 13, 29});
    EXPECT_TRUE(equal(io::decode_image(io::encode_png(x)), x)) << channels << " channels";
  }
  EXPECT_TRUE(equal(io::decode_image(io::encode_png(noise({5, 7}))), noise({5, 7}).unsqueeze(0)));
  const Tensor strided = noise({8, 6, 3}).permute({2, 0, 1});
  EXPECT_TRUE(equal(io::decode_image(io::encode_png(strided)), strided));
  const Tensor floats = tensor({{0.0, 0.5, 1.0, 2.0, -1.0}}, kFloat);
  EXPECT_TRUE(equal(io::decode_image(io::encode_png(floats)), tensor({{{0, 128, 255, 255, 0}}}, kByte)));
}

TEST(Images, ModesChooseChannels) {
  const auto rgb = io::encode_png(noise({3, 4, 5})), gray = io::encode_png(noise({1, 4, 5}));
  EXPECT_EQ(io::decode_image(rgb, ImageReadMode::GRAY).size(0), 1);
  EXPECT_TRUE(equal(io::decode_image(gray, ImageReadMode::RGB), noise({1, 4, 5}).expand({3, 4, 5})));
  EXPECT_TRUE(equal(io::decode_image(rgb, ImageReadMode::RGB_ALPHA)[3], full({4, 5}, 255, kByte)));
  const auto jpeg = io::encode_jpeg(slope(3, 16, 16));
  EXPECT_EQ(io::decode_image(jpeg, ImageReadMode::GRAY).size(0), 1);
  EXPECT_EQ(io::decode_image(jpeg, ImageReadMode::GRAY_ALPHA).size(0), 2);
  EXPECT_TRUE(equal(io::decode_image(jpeg, ImageReadMode::RGB_ALPHA)[3], full({16, 16}, 255, kByte)));
}

std::vector<uint8_t> from_hex(std::string_view digits) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  return bytes;
}

TEST(Images, AlphaThatIsNotWantedIsLeftOut) {
  const Tensor rgba = noise({4, 6, 7}), gray_alpha = noise({2, 6, 7});
  EXPECT_TRUE(equal(io::decode_image(io::encode_png(rgba), ImageReadMode::RGB), rgba.narrow(0, 0, 3)));
  EXPECT_TRUE(equal(io::decode_image(io::encode_png(gray_alpha), ImageReadMode::GRAY), gray_alpha.narrow(0, 0, 1)));
}

TEST(Images, GrayOfColoursIsLumaAsInJpeg) {
  const Tensor x = noise({3, 6, 7});
  const Tensor luma = x.to(kFloat).mul(tensor({0.299, 0.587, 0.114}, kFloat).reshape({3, 1, 1})).sum({0}, true);
  const Tensor gray = io::decode_image(io::encode_png(x), ImageReadMode::GRAY);
  EXPECT_LE(gray.to(kFloat).sub(luma).abs().max().item<double>(), 1.0);
}

TEST(Images, SixteenBitsAreScaledAndGammaIsIgnored) {
  const auto png = from_hex(
      "89504e470d0a1a0a0000000d49484452000000030000000110000000006e1b972b0000000467414d410000b18f0bfc61050000000f494441"
      "54789c6368686064fcff1f00088b0301239b2a430000000049454e44ae426082");  // 0x8080, 0x0101, 0xFFFF
  EXPECT_TRUE(equal(io::decode_image(png), tensor({{{128, 1, 255}}}, kByte)));
}

TEST(Images, JpegsForPrintBecomeColours) {
  const auto jpeg = from_hex(  // 8 x 8 of one colour in CMYK, which Pillow turns into 161, 82, 49
      "ffd8ffee000e41646f626500640000000000ffdb0043001b12141714111b1716171e1c1b2028422b28252528513a3d3042605565645f555d"
      "5b6a7899816a7190735b5d85b586909ea3abadab6780bcc9baa6c799a8aba4ffc000140800080008044311004d11005911004b1100ffc400"
      "1500010100000000000000000000000000000504ffc40014100100000000000000000000000000000000ffda000e0443004d0059004b0000"
      "3f005538b2efffd9");
  const Tensor colour = tensor({161, 82, 49}, kByte).reshape({3, 1, 1}).expand({3, 8, 8});
  EXPECT_TRUE(equal(io::decode_image(jpeg), colour));
  EXPECT_TRUE(equal(io::decode_image(jpeg, ImageReadMode::RGB_ALPHA).narrow(0, 0, 3), colour));
  EXPECT_TRUE(equal(io::decode_image(jpeg, ImageReadMode::GRAY), full({1, 8, 8}, 102, kByte)));
}

TEST(Images, JpegComesClose) {
  for (int64_t channels : {1, 3}) {
    const Tensor x = slope(channels, 40, 33);
    const Tensor y = io::decode_image(io::encode_jpeg(x, 95));
    ASSERT_EQ(y.sizes(), x.sizes());
    EXPECT_LT(y.to(kInt).sub(x.to(kInt)).abs().max().item<int64_t>(), 6);
  }
  EXPECT_ERROR(ValueError, io::encode_jpeg(slope(4, 8, 8)), "4 channels (expected 1 or 3)");
  EXPECT_ERROR(ValueError, io::encode_jpeg(slope(3, 8, 8), 0), "quality 0");
}

TEST(Images, WhatIsNoImageIsNotWritten) {
  EXPECT_ERROR(ShapeError, io::encode_png(noise({5, 4, 4})), "1 to 4 channels");
  EXPECT_ERROR(ShapeError, io::encode_png(ones({4})), "found shape [4]");
  EXPECT_ERROR(ShapeError, io::encode_png(ones({3, 0, 4})), "at least one pixel");
  EXPECT_ERROR(TypeError, io::encode_png(ones({3, 4, 4}, kLong)), "encode_png");
  EXPECT_ERROR(IoError, io::write_png("/nowhere/a.png", noise({3, 4, 4})), "/nowhere/a.png");
}

TEST(Images, PixelsAreLimited) {
  const auto png = io::encode_png(noise({3, 8, 9})), jpeg = io::encode_jpeg(slope(3, 8, 9));
  const auto decode = [](const std::vector<uint8_t>& bytes, ImageReadMode mode, uint64_t most) {
    return io::decode_image(bytes, mode, "big", {.bytes = most}).numel();
  };
  for (const auto& [file, name] : {std::pair{png, "png"}, std::pair{jpeg, "jpeg"}}) {
    const std::string start = std::string("decode_") + name + ": big: found 9 x 8 pixels of ";
    EXPECT_EQ(decode(file, ImageReadMode::UNCHANGED, 216), 216);
    EXPECT_ERROR(IoError, decode(file, ImageReadMode::UNCHANGED, 215),
                 start + "3 channels, 216 bytes (at most 215 for ");
    EXPECT_EQ(decode(file, ImageReadMode::GRAY, 215), 72);
  }
  EXPECT_ERROR(IoError, decode(png, ImageReadMode::RGB_ALPHA, 216), "of 4 channels, 288 bytes (at most 216 for ");
}

// 17000 x 17000 pixels of one bit are 36 MB, which 40 KB can hold, and 867 MB as RGB.
TEST(Images, AFewKilobytesDoNotBecomeGigabytes) {
  std::vector<uint8_t> png = {0x89, 'P', 'N', 'G',  '\r', '\n', 0x1A, '\n', 0,    0, 0, 13, 'I', 'H', 'D',
                              'R',  0,   0,   0x42, 0x68, 0,    0,    0x42, 0x68, 1, 0, 0,  0,   0};
  const uint32_t crc = io::crc32(png.data() + 12, 17);
  for (int shift : {24, 16, 8, 0}) png.push_back(static_cast<uint8_t>(crc >> shift));
  const std::vector<uint8_t> data_chunk = {0, 0, 0x80, 0, 'I', 'D', 'A', 'T'};
  png.insert(png.end(), data_chunk.begin(), data_chunk.end());
  png.resize(40'000);
  EXPECT_ERROR(IoError, io::decode_image(png, ImageReadMode::RGB, "bomb.png"),
               "decode_png: bomb.png: found 17000 x 17000 pixels of 3 channels, 867000000 bytes (at most 268435456 for "
               "40000 packed bytes; UnpackLimits raises that)");
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a");
  io::write_png(folder / "a/1.png", noise({3, 8, 9}));
  ImageFolder images(folder.path());
  EXPECT_EQ(images.get(0).data.numel(), 216);
  EXPECT_ERROR(IoError, images.limits({.bytes = 100}).get(0), "1.png: found 9 x 8 pixels of 3 channels, 216 bytes");
}

// A progressive image may repeat a scan of a dozen bytes for ever, and each costs a pass over all pixels.
TEST(Images, ScansAreLimited) {
  std::vector<uint8_t> jpeg = io::encode_jpeg(full({1, 8, 8}, 90, kByte));
  const auto find = [&](uint8_t marker) {
    const uint8_t bytes[] = {0xFF, marker};
    return std::search(jpeg.begin(), jpeg.end(), bytes, bytes + 2);
  };
  *(find(0xC0) + 1) = 0xC2;                            // progressive
  const auto scan = find(0xDA), end = jpeg.end() - 2;  // EOI
  *(scan + 2 + 2 + 1 + 2 + 1) = 0;                     // the scan is of the first coefficient alone
  const auto with_scans = [&](int count) {
    std::vector<uint8_t> all(jpeg.begin(), scan);
    for (int i = 0; i < count; i++) all.insert(all.end(), scan, end);
    all.insert(all.end(), end, jpeg.end());
    return all;
  };
  EXPECT_TRUE(equal(io::decode_image(with_scans(1)), full({1, 8, 8}, 90, kByte)));
  EXPECT_NO_THROW(io::decode_image(with_scans(400)));
  EXPECT_ERROR(IoError, io::decode_image(with_scans(600)), "more than 500 scans");
}

TEST(Images, CutAnywhereIsAnErrorWithTheName) {
  for (const auto& whole : {io::encode_png(noise({3, 16, 16})), io::encode_png(slope(1, 8, 8))})
    for (size_t size = 0; size + 12 < whole.size(); size += 1 + size / 40)  // the last 12 bytes are IEND
      EXPECT_ERROR(IoError, io::decode_image(shortened(whole, size), ImageReadMode::UNCHANGED, "cut.png"), "cut.png");
  const auto jpeg = io::encode_jpeg(slope(3, 64, 64), 90);
  for (size_t size = 0; size + 2 < jpeg.size(); size += 1 + size / 40)
    EXPECT_ERROR(IoError, io::decode_image(shortened(jpeg, size), ImageReadMode::UNCHANGED, "cut.jpg"), "cut.jpg");
}

TEST(Images, SizesThatTheFileCannotHoldAreNotBelieved) {
  auto png = io::encode_png(slope(3, 8, 8));
  // Width and height of IHDR, and its checksum, by a table-free CRC.
  for (size_t at : {16, 20}) {
    png[at] = 0;
    png[at + 1] = 0;
    png[at + 2] = 0xF0;
    png[at + 3] = 0;
  }
  uint32_t crc = ~0U;
  for (size_t i = 12; i < 29; i++) {
    crc ^= png[i];
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) ? 0xEDB88320U : 0U);
  }
  crc = ~crc;
  for (size_t i = 0; i < 4; i++) png[29 + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
  EXPECT_ERROR(IoError, io::decode_image(png), "the header says 61440 x 61440 pixels");

  auto jpeg = io::encode_jpeg(slope(1, 8, 8));
  for (size_t i = 0; i + 8 < jpeg.size(); i++)
    if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xC0) {
      jpeg[i + 5] = jpeg[i + 7] = 0xFF;
      jpeg[i + 6] = jpeg[i + 8] = 0x00;
    }
  EXPECT_ERROR(IoError, io::decode_image(jpeg), "the header says 65280 x 65280 pixels");
}

TEST(Images, DamageNeverCrashes) {
  for (const auto& whole : {io::encode_png(noise({3, 12, 12})), io::encode_jpeg(slope(3, 24, 24))})
    for (size_t i = 0; i < whole.size(); i++) {
      auto damaged = whole;
      damaged[i] ^= static_cast<uint8_t>(1 + i % 255);
      try {
        io::decode_image(damaged);
      } catch (const IoError&) {
      }
    }
  EXPECT_ERROR(IoError, io::decode_image(std::vector<uint8_t>{'G', 'I', 'F'}), "neither PNG nor JPEG");
  EXPECT_ERROR(IoError, io::decode_image({}), "neither PNG nor JPEG");
}

TEST(ImageFolders, ClassesAreFoldersSorted) {
  const TemporaryFolder folder;
  folder.folder("zebra/more");
  folder.folder("ant");
  io::write_png(folder / "zebra/2.png", noise({3, 6, 7}));
  io::write_png(folder / "zebra/more/1.PNG", slope(1, 5, 5));
  io::write_jpeg(folder / "ant/a.jpeg", slope(3, 9, 8));
  folder.write("ant/notes.txt", std::string("not an image"));
  ImageFolder images(folder.path());
  EXPECT_EQ(images.classes(), (std::vector<std::string>{"ant", "zebra"}));
  EXPECT_EQ(images.size(), 3U);
  EXPECT_EQ(images.get(0).target.item<int64_t>(), 0);
  EXPECT_EQ(images.get(0).data.sizes(), (IntArrayRef{3, 9, 8}));
  EXPECT_EQ(images.get(1).target.item<int64_t>(), 1);
  EXPECT_TRUE(equal(images.get(1).data, noise({3, 6, 7}).to(kFloat).div(255)));
  EXPECT_EQ(images.get(2).data.sizes(), (IntArrayRef{3, 5, 5})) << "gray becomes RGB";
  EXPECT_TRUE(equal(ImageFolder(folder.path()).raw().get(1).data, noise({3, 6, 7})));

  auto loader = make_data_loader<samplers::RandomSampler>(
      images
          .map(transforms::Compose<>(transforms::Resize<>({8, 8}), transforms::RandomCrop<>(6),
                                     transforms::RandomHorizontalFlip<>()))
          .map(transforms::Stack<>()),
      DataLoaderOptions(3).workers(2));
  for (auto& batch : *loader) EXPECT_EQ(batch.data.sizes(), (IntArrayRef{3, 3, 6, 6}));
}

TEST(ImageFolders, WrongFoldersAndFilesAreNamed) {
  const TemporaryFolder folder;
  EXPECT_ERROR(IoError, ImageFolder("/nowhere"), "/nowhere is not a folder");
  EXPECT_ERROR(IoError, ImageFolder(folder.path()), "has no folders");
  folder.folder("empty");
  EXPECT_ERROR(IoError, ImageFolder(folder.path()), "found no .png, .jpg or .jpeg in the folders empty");
  folder.write("empty/fake.png", std::string("text, not pixels"));
  folder.folder("more");
  EXPECT_ERROR(IoError, ImageFolder(folder.path()), "in the folders more (expected at least one for each class)");
  folder.write("more/fake.png", std::string("text, not pixels"));
  ImageFolder images(folder.path());
  EXPECT_ERROR(IoError, images.get(0), "fake.png: neither PNG nor JPEG");
  auto loader = make_data_loader<samplers::SequentialSampler>(images, DataLoaderOptions(1).workers(1));
  EXPECT_ERROR(WorkerException, *loader->begin(),
               "index 0: Caught exception in DataLoader worker thread. Original message: read_image");
}

}  // namespace
}  // namespace cresset::data::datasets
