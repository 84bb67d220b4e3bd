// Tokenizers: characters, and byte pairs. Both are trained from text, go back from ids to the same text, and are saved
// as text files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cresset/core/tensor.h"

namespace cresset::data {

// One id for each distinct byte of the training text, in the order of the bytes.
class CRESSET_API CharTokenizer {
 public:
  explicit CharTokenizer(std::string_view text);

  std::vector<int64_t> encode(std::string_view text) const;  // a byte that was not in the training text is an error
  std::string decode(ArrayRef<int64_t> ids) const;
  size_t vocab_size() const { return characters_.size(); }

  void save(const std::string& path) const;
  static CharTokenizer load(const std::string& path);

 private:
  std::string characters_;
  std::array<int16_t, 256> ids_{};
};

// Byte-pair encoding (Sennrich et al. 2016) over bytes: ids 0 to 255 are the bytes, each further one joins two earlier.
// Text is cut before blanks and where letters meet other signs, and pairs are joined within those pieces only.
class CRESSET_API BpeTokenizer {
 public:
  // Learns pairs until there are vocab_size ids, or no pair comes twice.
  static BpeTokenizer train(std::string_view text, size_t vocab_size);

  std::vector<int64_t> encode(std::string_view text) const;  // any bytes
  std::string decode(ArrayRef<int64_t> ids) const;
  std::string_view token(int64_t id) const;
  size_t vocab_size() const { return tokens_.size(); }

  void save(const std::string& path) const;
  static BpeTokenizer load(const std::string& path);

 private:
  BpeTokenizer();
  void join(int32_t left, int32_t right);

  std::vector<std::string> tokens_;
  std::vector<std::pair<int32_t, int32_t>> merges_;
  std::unordered_map<uint64_t, int32_t> ranks_;  // of a pair, to the id of what it makes
};

// Ids as int64 [n].
CRESSET_API Tensor ids_tensor(ArrayRef<int64_t> ids);

}  // namespace cresset::data
