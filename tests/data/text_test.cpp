// Tokenizers and windows of text.
#include <gtest/gtest.h>

#include "cresset/data/data.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/data/temporary_folder.h"
#include "tests/support/paths.h"

namespace cresset::data {
namespace {

using testing::TemporaryFolder;

const std::string kText =
    "the cat sat on the mat, the cat ate the rat.\n  And then the mat sat on the cat?\tNo: the rat's hat -- that "
    "sat.\n";

TEST(Characters, EncodeAndDecode) {
  const CharTokenizer tokenizer("hello, world");
  EXPECT_EQ(tokenizer.vocab_size(), 9U);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("low hole")), "low hole");
  EXPECT_EQ(tokenizer.encode(" "), (std::vector<int64_t>{0})) << "ids follow the bytes' order";
  EXPECT_ERROR(ValueError,
               tokenizer.encode("held"
                                "x"),
               "found byte 120 at 4");
  EXPECT_ERROR(IndexError, tokenizer.decode({9}), "found id 9");
  const TemporaryFolder folder;
  tokenizer.save(folder / "chars.txt");
  EXPECT_EQ(CharTokenizer::load(folder / "chars.txt").encode("world"), tokenizer.encode("world"));
  EXPECT_ERROR(IoError, CharTokenizer::load(folder.write("bad", std::string("something\n"))),
               "found the first line \"something\"");
  EXPECT_ERROR(IoError, CharTokenizer::load(folder.write("bad", std::string("cresset characters 1\n300\n"))),
               "line 2: found [300] (expected one number from 0 to 255)");
  EXPECT_ERROR(IoError, CharTokenizer::load(folder.write("bad", std::string(""))), "empty file");
}

TEST(BytePairs, GoBackToTheSameText) {
  const BpeTokenizer tokenizer = BpeTokenizer::train(kText, 290);
  EXPECT_GE(tokenizer.vocab_size(), 270U);
  std::string every;
  for (int byte = 0; byte < 256; byte++) every += static_cast<char>(byte);
  for (const std::string& text :
       {kText, std::string("the hat"), std::string(""), std::string("   a  b\n\n c "), every, every + every})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  EXPECT_LT(tokenizer.encode(kText).size(), kText.size() / 2);
}

TEST(BytePairs, LearnTheMostFrequentPairFirst) {
  const BpeTokenizer tokenizer = BpeTokenizer::train("abab abab abab cdcd", 258);
  ASSERT_EQ(tokenizer.vocab_size(), 258U);
  EXPECT_EQ(tokenizer.token(256), "ab");
  EXPECT_EQ(tokenizer.token(257), "abab");
  EXPECT_EQ(tokenizer.encode("abab"), (std::vector<int64_t>{257}));
  EXPECT_EQ(tokenizer.encode("ba"), (std::vector<int64_t>{'b', 'a'}));
  EXPECT_EQ(BpeTokenizer::train("abc", 400).vocab_size(), 256U) << "no pair comes twice";
  EXPECT_ERROR(ValueError, BpeTokenizer::train("abc", 255), "vocab_size 255");
}

TEST(BytePairs, SavedAndLoaded) {
  const TemporaryFolder folder;
  const BpeTokenizer tokenizer = BpeTokenizer::train(kText, 280);
  tokenizer.save(folder / "pairs.txt");
  const BpeTokenizer again = BpeTokenizer::load(folder / "pairs.txt");
  EXPECT_EQ(again.vocab_size(), tokenizer.vocab_size());
  EXPECT_EQ(again.encode(kText), tokenizer.encode(kText));
  const auto load = [&](const std::string& body) {
    return BpeTokenizer::load(folder.write("bad", "cresset byte pairs 1\n" + body));
  };
  EXPECT_ERROR(IoError, load("97 98\n257 1\n"), "line 3");
  EXPECT_ERROR(IoError, load("97\n"), "BpeTokenizer::load: ");
  EXPECT_ERROR(IoError, load("97 300\n"), "line 2: found [97, 300] (expected two ids from 0 to 255)");
  EXPECT_ERROR(IoError, load("97 x\n"), "line 2: found \"x\" (expected a number)");
  EXPECT_ERROR(IoError, load("-1 5\n"), "line 2");
  std::string doubling = "97 97\n";
  for (int i = 256; i < 300; i++) doubling += std::to_string(i) + " " + std::to_string(i) + "\n";
  EXPECT_ERROR(IoError, load(doubling), "a token of more than 65536 bytes");
}

TEST(BytePairs, ShakespeareGoesThroughInGoodTime) {
  const std::string path = test::source_path("../shared/data/tinyshakespeare/input.txt");
  if (!io::file_exists(path)) GTEST_SKIP() << "skipped: no shared data";
  const std::string text = datasets::read_text(path);
  EXPECT_EQ(CharTokenizer(text).vocab_size(), 65U);
  const BpeTokenizer tokenizer = BpeTokenizer::train(text, 512);
  const auto ids = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.vocab_size(), 512U);
  EXPECT_LT(ids.size(), text.size() * 6 / 10);
  EXPECT_EQ(tokenizer.decode(ids), text);
}

TEST(TextWindows, InputAndTargetAreOneApart) {
  datasets::TextDataset text(ids_tensor({10, 11, 12, 13, 14, 15, 16}), 3);
  EXPECT_EQ(text.size(), 4U);
  EXPECT_EQ(text.get(3).data.tolist<int64_t>(), (std::vector<int64_t>{13, 14, 15}));
  EXPECT_EQ(text.get(3).target.tolist<int64_t>(), (std::vector<int64_t>{14, 15, 16}));
  EXPECT_ERROR(IndexError, text.get(4), "index 4");
  datasets::TextDataset apart(ids_tensor({10, 11, 12, 13, 14, 15, 16}), 2, 3);
  EXPECT_EQ(apart.size(), 2U);
  const auto batch = apart.get_batch({1, 0});
  EXPECT_EQ(batch[0].data.tolist<int64_t>(), (std::vector<int64_t>{13, 14}));
  EXPECT_EQ(batch[0].target.tolist<int64_t>(), (std::vector<int64_t>{14, 15}));
  EXPECT_EQ(batch[1].data.tolist<int64_t>(), (std::vector<int64_t>{10, 11}));
  EXPECT_ERROR(ValueError, datasets::TextDataset(ids_tensor({1, 2, 3}), 3),
               "found 3 ids (expected more than the window, 3)");
  EXPECT_ERROR(ValueError, datasets::TextDataset(ids_tensor({1, 2, 3}), 0), "window 0");
  EXPECT_ERROR(TypeError, datasets::TextDataset(ones({9}), 3), "found ids of float32 (expected whole numbers, int64)");
  auto loader = make_data_loader<samplers::SequentialSampler>(text.map(transforms::Stack<>()), 4);
  for (auto& b : *loader) EXPECT_TRUE(equal(b.data.narrow(1, 1, 2), b.target.narrow(1, 0, 2)));
}

}  // namespace
}  // namespace cresset::data
