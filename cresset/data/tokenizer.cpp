// Training counts each distinct piece of text once, with how often it comes.
#include "cresset/data/tokenizer.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "cresset/io/atomic_file.h"
#include "cresset/io/gzip.h"

namespace cresset::data {
namespace {

uint64_t key(int32_t left, int32_t right) {
  return (uint64_t{static_cast<uint32_t>(left)} << 32) | static_cast<uint32_t>(right);
}

enum class Kind { kBlank, kWord, kOther };
Kind kind_of(char c) {
  const auto u = static_cast<unsigned char>(c);
  if (c == ' ' || c == '\n' || c == '\t' || c == '\r') return Kind::kBlank;
  const bool word = (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9') || u >= 0x80;
  return word ? Kind::kWord : Kind::kOther;
}

// The piece at the front: blanks, or one optional blank and then letters, or then other signs.
std::string_view piece_of(std::string_view text) {
  size_t end = 0;
  if (text[0] == ' ' && text.size() > 1 && kind_of(text[1]) != Kind::kBlank) end = 1;
  const Kind kind = kind_of(text[end]);
  const bool blank = kind == Kind::kBlank;
  while (end < text.size() && kind_of(text[end]) == kind) {
    // The last blank before a word belongs to the word.
    if (blank && end > 0 && text[end] == ' ' && end + 1 < text.size() && kind_of(text[end + 1]) != Kind::kBlank) break;
    end++;
  }
  return text.substr(0, end);
}

template <class F>
void for_each_piece(std::string_view text, const F& f) {
  while (!text.empty()) {
    const std::string_view piece = piece_of(text);
    f(piece);
    text.remove_prefix(piece.size());
  }
}

std::vector<int32_t> bytes_of(std::string_view text) {
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  for (char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

void replace_pair(std::vector<int32_t>& ids, int32_t left, int32_t right, int32_t made) {
  size_t to = 0;
  for (size_t at = 0; at < ids.size(); to++) {
    const bool here = at + 1 < ids.size() && ids[at] == left && ids[at + 1] == right;
    ids[to] = here ? made : ids[at];
    at += here ? 2 : 1;
  }
  ids.resize(to);
}

// A file of ours: its first line says what it is, then numbers, one or more a line.
std::vector<std::vector<int64_t>> read_numbers(const char* function, const std::string& path,
                                               std::string_view first_line) {
  const std::vector<uint8_t> bytes = io::read_file(path, function);
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::vector<int64_t>> lines;
  for (size_t line = 1; !text.empty(); line++) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line == 1) {
      CRESSET_CHECK_AS(IoError, one == first_line, function, ": ", path, ": found the first line \"", one.substr(0, 40),
                       "\" (expected \"", first_line, "\")");
      lines.emplace_back();
      continue;
    }
    std::vector<int64_t>& numbers = lines.emplace_back();
    while (!one.empty()) {
      int64_t value = 0;
      const auto [after, error] = std::from_chars(one.data(), one.data() + one.size(), value);
      CRESSET_CHECK_AS(IoError, error == std::errc(), function, ": ", path, ": line ", line, ": found \"",
                       one.substr(0, 40), "\" (expected a number)");
      one.remove_prefix(static_cast<size_t>(after - one.data()));
      numbers.push_back(value);
      while (one.starts_with(' ')) one.remove_prefix(1);
    }
  }
  CRESSET_CHECK_AS(IoError, !lines.empty(), function, ": ", path, ": found an empty file (expected \"", first_line,
                   "\")");
  lines.erase(lines.begin());
  return lines;
}

constexpr const char* kCharFile = "cresset characters 1";
constexpr const char* kPairFile = "cresset byte pairs 1";

}  // namespace

Tensor ids_tensor(ArrayRef<int64_t> ids) {
  Tensor out = empty_contiguous({static_cast<int64_t>(ids.size())}, kLong, kCPU);
  if (!ids.empty()) std::memcpy(out.data_ptr(), ids.data(), ids.size() * sizeof(int64_t));
  return out;
}

CharTokenizer::CharTokenizer(std::string_view text) {
  std::array<bool, 256> seen{};
  for (char c : text) seen[static_cast<unsigned char>(c)] = true;
  ids_.fill(-1);
  for (size_t byte = 0; byte < 256; byte++)
    if (seen[byte]) {
      ids_[byte] = static_cast<int16_t>(characters_.size());
      characters_ += static_cast<char>(byte);
    }
}

std::vector<int64_t> CharTokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids;
  ids.reserve(text.size());
  for (size_t i = 0; i < text.size(); i++) {
    const int16_t id = ids_[static_cast<unsigned char>(text[i])];
    CRESSET_CHECK_AS(ValueError, id >= 0, "CharTokenizer::encode: found byte ",
                     int{static_cast<unsigned char>(text[i])}, " at ", i, " (expected one of the ", vocab_size(),
                     " characters of the training text)");
    ids.push_back(id);
  }
  return ids;
}

std::string CharTokenizer::decode(ArrayRef<int64_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (int64_t id : ids) {
    CRESSET_CHECK_AS(IndexError, id >= 0 && id < static_cast<int64_t>(vocab_size()), "CharTokenizer::decode: found id ",
                     id, " (expected 0 to ", vocab_size(), " - 1)");
    text += characters_[static_cast<size_t>(id)];
  }
  return text;
}

void CharTokenizer::save(const std::string& path) const {
  std::string text = std::string(kCharFile) + "\n";
  for (char c : characters_) text += std::to_string(int{static_cast<unsigned char>(c)}) + "\n";
  io::write_text_file(path, text);
}

CharTokenizer CharTokenizer::load(const std::string& path) {
  constexpr const char* kLoad = "CharTokenizer::load";
  std::string characters;
  for (const auto& line : read_numbers(kLoad, path, kCharFile)) {
    CRESSET_CHECK_AS(IoError, line.size() == 1 && line[0] >= 0 && line[0] < 256, kLoad, ": ", path, ": line ",
                     characters.size() + 2, ": found ", text_of(line), " (expected one number from 0 to 255)");
    characters += static_cast<char>(line[0]);
  }
  return CharTokenizer(characters);
}

BpeTokenizer::BpeTokenizer() {
  for (int byte = 0; byte < 256; byte++) tokens_.emplace_back(1, static_cast<char>(byte));
}

void BpeTokenizer::join(int32_t left, int32_t right) {
  ranks_.emplace(key(left, right), static_cast<int32_t>(tokens_.size()));
  tokens_.push_back(tokens_[static_cast<size_t>(left)] + tokens_[static_cast<size_t>(right)]);
  merges_.emplace_back(left, right);
}

BpeTokenizer BpeTokenizer::train(std::string_view text, size_t vocab_size) {
  CRESSET_CHECK_AS(ValueError, vocab_size >= 256, "BpeTokenizer::train: found vocab_size ", vocab_size,
                   " (expected at least 256, the bytes)");
  std::unordered_map<std::string_view, int64_t> counts;
  for_each_piece(text, [&](std::string_view piece) { counts[piece]++; });
  struct Word {
    std::vector<int32_t> ids;
    int64_t count;
  };
  std::vector<Word> words;
  for (const auto& [piece, count] : counts)
    if (piece.size() > 1) words.push_back({bytes_of(piece), count});

  // How often each pair comes, kept up to date as pairs are joined.
  std::unordered_map<uint64_t, int64_t> pairs;
  const auto count_word = [&](const Word& word, int64_t sign) {
    for (size_t i = 0; i + 1 < word.ids.size(); i++) pairs[key(word.ids[i], word.ids[i + 1])] += sign * word.count;
  };
  for (const Word& word : words) count_word(word, 1);

  BpeTokenizer tokenizer;
  while (tokenizer.vocab_size() < vocab_size) {
    uint64_t best = 0;
    int64_t most = 1;
    // Of equally frequent pairs the one with the smaller ids, so that the result does not hang on the map's order.
    for (const auto& [pair, count] : pairs)
      if (count > most || (count == most && most > 1 && pair < best)) best = pair, most = count;
    if (most < 2) break;
    const auto left = static_cast<int32_t>(best >> 32), right = static_cast<int32_t>(best & 0xFFFFFFFF);
    const auto made = static_cast<int32_t>(tokenizer.vocab_size());
    tokenizer.join(left, right);
    for (Word& word : words) {
      bool has = false;
      for (size_t i = 0; i + 1 < word.ids.size() && !has; i++) has = word.ids[i] == left && word.ids[i + 1] == right;
      if (!has) continue;
      count_word(word, -1);
      replace_pair(word.ids, left, right, made);
      count_word(word, 1);
    }
    pairs.erase(best);
  }
  return tokenizer;
}

std::vector<int64_t> BpeTokenizer::encode(std::string_view text) const {
  std::vector<int64_t> out;
  std::unordered_map<std::string_view, std::vector<int32_t>> known;
  for_each_piece(text, [&](std::string_view piece) {
    const auto [at, fresh] = known.try_emplace(piece);
    std::vector<int32_t>& ids = at->second;
    if (fresh) {
      ids = bytes_of(piece);
      // The earliest learnt pair first, as in training.
      while (ids.size() > 1) {
        int32_t first = INT32_MAX;
        for (size_t i = 0; i + 1 < ids.size(); i++) {
          const auto rank = ranks_.find(key(ids[i], ids[i + 1]));
          if (rank != ranks_.end()) first = std::min(first, rank->second);
        }
        if (first == INT32_MAX) break;
        const auto [left, right] = merges_[static_cast<size_t>(first) - 256];
        replace_pair(ids, left, right, first);
      }
    }
    out.insert(out.end(), ids.begin(), ids.end());
  });
  return out;
}

std::string_view BpeTokenizer::token(int64_t id) const {
  CRESSET_CHECK_AS(IndexError, id >= 0 && id < static_cast<int64_t>(vocab_size()), "BpeTokenizer: found id ", id,
                   " (expected 0 to ", vocab_size(), " - 1)");
  return tokens_[static_cast<size_t>(id)];
}

std::string BpeTokenizer::decode(ArrayRef<int64_t> ids) const {
  std::string text;
  for (int64_t id : ids) text += token(id);
  return text;
}

void BpeTokenizer::save(const std::string& path) const {
  std::string text = std::string(kPairFile) + "\n";
  for (const auto& [left, right] : merges_) text += std::to_string(left) + " " + std::to_string(right) + "\n";
  io::write_text_file(path, text);
}

BpeTokenizer BpeTokenizer::load(const std::string& path) {
  constexpr size_t kLongest = 1 << 16;  // a hostile file could double a token with every line
  constexpr const char* kLoad = "BpeTokenizer::load";
  BpeTokenizer tokenizer;
  for (const auto& line : read_numbers(kLoad, path, kPairFile)) {
    const auto known = static_cast<int64_t>(tokenizer.vocab_size());
    const auto fits = [&](int64_t id) { return id >= 0 && id < known; };
    CRESSET_CHECK_AS(IoError, line.size() == 2 && fits(line[0]) && fits(line[1]), kLoad, ": ", path, ": line ",
                     known - 256 + 2, ": found ", text_of(line), " (expected two ids from 0 to ", known - 1, ")");
    CRESSET_CHECK_AS(IoError, tokenizer.token(line[0]).size() + tokenizer.token(line[1]).size() <= kLongest, kLoad,
                     ": ", path, ": line ", known - 256 + 2, ": found a token of more than ", kLongest,
                     " bytes (expected fewer)");
    tokenizer.join(static_cast<int32_t>(line[0]), static_cast<int32_t>(line[1]));
  }
  return tokenizer;
}

}  // namespace cresset::data
