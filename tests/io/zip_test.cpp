// Zip archives, checksums and DEFLATE against Python's own, and archives that lie.
#include "cresset/io/zip.h"

#include "cresset/io/atomic_file.h"
#include "cresset/io/checksum.h"
#include "cresset/io/codecs.h"
#include "cresset/io/npy.h"
#include "cresset/io/pt.h"
#include "tests/core/expect_error.h"
#include "tests/io/support.h"

namespace cresset::io {
namespace {

using test::TempFolder;

std::string text_of(const std::vector<char>& bytes) { return {bytes.begin(), bytes.end()}; }

std::string small_archive(uint64_t limit = 0xFFFFFFFE) {
  std::vector<char> bytes;
  MemorySink sink(bytes);
  ZipWriter zip(sink, limit);
  zip.add_text("a/one", "hello", 64);
  zip.add_text("a/two", std::string(300, 'y'), 64);
  zip.finish();
  return text_of(bytes);
}

ZipReader reader_of(const std::string& bytes) {
  return ZipReader("test", Source::own({bytes.begin(), bytes.end()}, "memory"));
}

TEST(Checksum, KnownValues) {
  EXPECT_EQ(crc32("123456789", 9), 0xCBF43926u);
  EXPECT_EQ(crc32c("123456789", 9), 0xE3069283u);
  EXPECT_EQ(crc32("56789", 5, crc32("1234", 4)), 0xCBF43926u);
  EXPECT_EQ(Digest().value(), 0xEF46DB3751D8E999u);
  Digest abc;
  abc.add("abc", 3);
  EXPECT_EQ(abc.value(), 0x44BC2CF5AD770999u);
}

TEST(Checksum, PiecesOfAnyLengthGiveTheSameDigest) {
  std::string text;
  for (int i = 0; i < 1000; i++) text += static_cast<char>(i * 37);
  Digest whole;
  whole.add(text.data(), text.size());
  for (size_t piece : {1u, 7u, 31u, 32u, 33u, 100u}) {
    Digest pieces;
    for (size_t at = 0; at < text.size(); at += piece) pieces.add(text.data() + at, std::min(piece, text.size() - at));
    EXPECT_EQ(pieces.value(), whole.value()) << piece;
  }
}

TEST(Zip, EntriesAreAlignedAndReadBack) {
  for (uint64_t limit : {uint64_t{0xFFFFFFFE}, uint64_t{10}}) {  // the second makes everything zip64
    ZipReader zip = reader_of(small_archive(limit));
    ASSERT_EQ(zip.entries().size(), 2u);
    EXPECT_EQ(zip.at("a/one").offset % 64, 0u);
    EXPECT_EQ(zip.at("a/two").offset % 64, 0u);
    EXPECT_EQ(text_of(zip.read(zip.at("a/one"))), "hello");
    EXPECT_EQ(text_of(zip.read(zip.at("a/two"))), std::string(300, 'y'));
    EXPECT_ERROR(IoError, zip.at("b"), "there is no entry 'b'");
  }
}

TEST(Zip, PythonReadsPlainAndWideArchives) {
  TempFolder folder;
  test::write_contents(folder / "plain.zip", small_archive());
  test::write_contents(folder / "wide.zip", small_archive(10));
  auto ran = test::run(test::python() +
                       " -c 'import sys, zipfile\nfor path in sys.argv[1:]:\n  z = zipfile.ZipFile(path)\n"
                       "  assert z.testzip() is None\n  assert z.read(\"a/one\") == b\"hello\"\n"
                       "  assert z.read(\"a/two\") == b\"y\" * 300' " +
                       folder / "plain.zip" + " " + folder / "wide.zip");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST(Zip, ReadsWhatPythonDeflated) {
  TempFolder folder;
  auto ran = test::run(test::python() +
                       " -c 'import sys, zipfile, zlib, random\nz = zipfile.ZipFile(sys.argv[1], \"w\")\n"
                       "random.seed(1)\n"
                       "text = bytes(random.choice(b\"abcdefgh   \") for _ in range(50000))\n"
                       "z.writestr(\"text\", text, zipfile.ZIP_DEFLATED, 9)\n"
                       "z.writestr(\"crc\", str(zlib.crc32(text)))\n"
                       "z.writestr(\"zeros\", bytes(1000000), zipfile.ZIP_DEFLATED)\n"
                       "z.writestr(\"short\", b\"abc\", zipfile.ZIP_DEFLATED)\n"
                       "z.writestr(\"noise\", random.randbytes(70000), zipfile.ZIP_DEFLATED, 1)\n"
                       "z.writestr(\"empty\", b\"\", zipfile.ZIP_DEFLATED)\nz.close()' " +
                       folder / "p.zip");
  ASSERT_EQ(ran.status, 0) << ran.output;
  ZipReader zip("test", Source::map(folder / "p.zip"));
  const std::string text = text_of(zip.read(zip.at("text")));  // reading checks the CRC of each
  EXPECT_EQ(std::to_string(crc32(text.data(), text.size())), text_of(zip.read(zip.at("crc"))));
  EXPECT_TRUE(zip.at("text").deflated);
  EXPECT_EQ(zip.read(zip.at("zeros")), std::vector<char>(1'000'000));
  EXPECT_EQ(text_of(zip.read(zip.at("short"))), "abc");
  EXPECT_EQ(zip.read(zip.at("noise")).size(), 70'000u);
  EXPECT_EQ(zip.read(zip.at("empty")).size(), 0u);
}

TEST(Zip, EveryTruncationIsAnError) {
  const std::string whole = small_archive();
  for (size_t length = 0; length < whole.size(); length++)
    EXPECT_THROW(reader_of(whole.substr(0, length)), IoError) << length;
}

TEST(Zip, LiesAreNamed) {
  const std::string whole = small_archive();
  const size_t central = whole.find("PK\x01\x02"), end = whole.find("PK\x05\x06");
  auto with = [&](size_t at, std::string_view bytes) {
    std::string changed = whole;
    changed.replace(at, bytes.size(), bytes);
    return changed;
  };
  EXPECT_ERROR(IoError, reader_of(with(0, "XX")), "not a zip archive");
  EXPECT_ERROR(IoError, reader_of(with(end + 16, "\xFF\xFF\xFF\x7F")), "does not lie inside the file");
  EXPECT_ERROR(IoError, reader_of(with(end + 10, "\xFF\xFF")), "entries, which do not fit");
  EXPECT_ERROR(IoError, reader_of(with(central + 20, "\xFF\xFF\xFF\x7F")), "does not lie inside the file");
  EXPECT_ERROR(IoError, reader_of(with(central + 24, "\x07")), "two sizes");
  EXPECT_ERROR(IoError, reader_of(with(central + 10, "\x0C")), "method 12");
  EXPECT_ERROR(IoError, reader_of(with(central + 8, "\x01")), "encrypted");
  EXPECT_ERROR(IoError, reader_of(with(central + 42, "\x02")), "does not lie where the directory says");
  EXPECT_ERROR(IoError, reader_of(with(whole.rfind("a/two"), "a/one")), "'a/one' is there twice");
  std::string bomb = with(central + 10, "\x08");
  bomb.replace(central + 24, 4, "\xFF\xFF\xFF\x7F");
  EXPECT_ERROR(IoError, reader_of(bomb), "5 bytes grow to 2147483647");
  ZipReader damaged = reader_of(with(whole.find("hello"), "hexxo"));
  EXPECT_ERROR(IoError, damaged.read(damaged.at("a/one")), "is damaged: its CRC");
}

TEST(Zip, DeflatedEntriesAreLimitedTogether) {
  // Stored deflate blocks: one entry of 100 bytes, twice.
  const std::string block = std::string("\x01\x64\x00\x9B\xFF", 5) + std::string(100, 'x');
  std::vector<char> bytes;
  MemorySink sink(bytes);
  ZipWriter writer(sink);
  writer.add_text("archive/data.pkl", block);
  writer.add_text("b", block);
  writer.finish();
  std::string archive(bytes.begin(), bytes.end());
  const uint32_t crc = crc32(block.data() + 5, 100), size = 100;
  for (size_t at = archive.find("PK\x01\x02"); at != std::string::npos; at = archive.find("PK\x01\x02", at + 1)) {
    archive[at + 10] = 8;  // deflated
    std::memcpy(archive.data() + at + 16, &crc, 4);
    std::memcpy(archive.data() + at + 24, &size, 4);
  }
  const auto open = [&](const UnpackLimits& limits) {
    return ZipReader("test", Source::own({archive.begin(), archive.end()}, "memory"), limits);
  };
  ZipReader wide = open({.bytes = 200});
  EXPECT_EQ(text_of(wide.read(wide.at("archive/data.pkl"))), std::string(100, 'x'));
  EXPECT_EQ(text_of(wide.read(wide.at("b"))), std::string(100, 'x'));
  ZipReader narrow = open({.bytes = 199});
  EXPECT_EQ(narrow.read(narrow.at("archive/data.pkl")).size(), 100u);
  EXPECT_ERROR(IoError, narrow.read(narrow.at("b")),
               "test: memory: entry 'b': found 100 bytes, with those before it 200 (at most 199 for " +
                   std::to_string(archive.size()) + " packed bytes");
  const Source source = Source::own({archive.begin(), archive.end()}, "memory");
  EXPECT_ERROR(IoError, load_npz(source, {.bytes = 99}), "load_npz: memory: entry 'archive/data.pkl': found 100 bytes");
  EXPECT_ERROR(IoError, load_pt(source, kCPU, {.bytes = 99}), "load_pt: memory: entry 'archive/data.pkl': found 100");
}

// The default: 400 KB may not become 400 MB. The size stands in the directory, and nothing is unpacked.
TEST(Zip, ByDefaultAnArchiveMayGrowToTwoHundredTimesItsSize) {
  std::vector<char> bytes;
  MemorySink sink(bytes);
  ZipWriter writer(sink);
  writer.add_text("a.npy", std::string(400'000, 'x'));
  writer.finish();
  const std::string start(bytes.begin(), bytes.end());
  const size_t central = start.find("PK\x01\x02");
  const uint32_t size = 400'000'000;
  bytes[central + 10] = 8;
  std::memcpy(bytes.data() + central + 24, &size, 4);
  const std::string most = std::to_string(200 * bytes.size());
  EXPECT_ERROR(IoError, load_npz(Source::own(bytes, "memory")),
               "entry 'a.npy': found 400000000 bytes, with those before it 400000000 (at most " + most);
}

TEST(Zip, EntriesMayNotShareData) {
  std::string whole = small_archive();
  // The second entry of the directory is pointed to the first one's header.
  const size_t second = whole.find("PK\x01\x02", whole.find("PK\x01\x02") + 1);
  whole.replace(second + 42, 4, std::string(4, '\0'));
  EXPECT_ERROR(IoError, reader_of(whole), "share their data");
}

TEST(Inflate, DamagedStreamsAreErrors) {
  char out[16];
  const auto inflate = [&](std::string_view data, size_t size) {
    const auto unpack = codec(&Codecs::inflate, "inflate", "test", "zlib");
    return unpack({reinterpret_cast<const uint8_t*>(data.data()), data.size()}, out, size);
  };
  using namespace std::string_view_literals;
  const auto hello = "\x01\x05\x00\xFA\xFFhello"sv;
  EXPECT_STREQ(inflate(""sv, 16), "the compressed data ends too early");
  EXPECT_STREQ(inflate("\x07"sv, 16), "invalid block type");
  EXPECT_STREQ(inflate("\x01\x05\x00\x00\x00hello"sv, 16), "invalid stored block lengths");
  EXPECT_EQ(inflate(hello, 5), nullptr);
  EXPECT_EQ(std::string(out, 5), "hello");
  EXPECT_STREQ(inflate(hello, 4), "the compressed data is longer than its size says");
  EXPECT_STREQ(inflate(hello, 6), "the compressed data is shorter than its size says");
  EXPECT_STREQ(inflate(hello.substr(0, 8), 5), "the compressed data ends too early");
  uint32_t state = 1;
  for (int i = 0; i < 20'000; i++) {  // noise never crashes
    char noise[40];
    for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    noise[0] = static_cast<char>((noise[0] & ~7) | 4 | (i & 1));
    inflate({noise, sizeof noise}, 16);
  }
}

}  // namespace
}  // namespace cresset::io
