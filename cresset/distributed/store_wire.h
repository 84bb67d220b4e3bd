// What the TCP store's server and clients say to each other: frames of a magic number, a kind, a length and a body of
// numbers (little-endian) and texts (with their length in front).
//
// A client greets with a nonce, whether it has a token, and who it says it is. The server answers kOpen when it asks
// for no token, otherwise kChallenge with a nonce of its own; each side then proves with an HMAC over both nonces that
// it knows the token, the client first: who only connects gets nothing that could be tried against a list of passwords.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cresset/distributed/sha256.h"
#include "cresset/distributed/store_table.h"

namespace cresset::distributed::wire {

inline constexpr uint32_t kMagic = 0x74735243;  // "CRst"
inline constexpr uint8_t kProtocol = 2;
inline constexpr size_t kHeaderBytes = 9;
inline constexpr size_t kNonceBytes = 32;
inline constexpr size_t kMaxIntroduction = 100;
inline constexpr size_t kMaxRequestBytes = kMaxValueBytes + (size_t{1} << 20);  // a value with its key
// A list of changes may be one value longer than the limit at which it stops, and is longer on the wire than counted.
inline constexpr size_t kMaxReplyBytes = 2 * kMaxRequestBytes + 8 * kMaxListBytes;
inline constexpr size_t kMaxKeys = 100'000;       // in one request: each costs more memory than its bytes on the wire
inline constexpr size_t kMaxGreetingBytes = 160;  // from those who have not shown yet who they are

enum class Ask : uint8_t {
  kHello = 1,
  kProof,
  kSet,
  kGet,
  kTryGet,
  kAdd,
  kCompareSet,
  kWait,
  kCheck,
  kDelete,
  kNumKeys,
  kChanges,
  kLastWill,
  kWithdrawWill,
  kGoodbye,
};

enum class Answer : uint8_t { kDone = 1, kNo, kLate, kBadValue, kOpen, kChallenge, kRefused };

class Writer {
 public:
  void number(uint64_t value, int bytes = 8) {
    for (int i = 0; i < bytes; ++i) text_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void text(std::string_view value) {
    number(value.size(), 4);
    text_ += value;
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size(), 4);
    for (const std::string& value : values) text(value);
  }
  const std::string& body() const { return text_; }

 private:
  std::string text_;
};

// Throws ValueError where a body ends too early; whoever sent it is not to be trusted.
class Reader {
 public:
  explicit Reader(std::string_view body) : rest_(body) {}
  uint64_t number(int bytes = 8) {
    uint64_t value = 0;
    const std::string_view digits = take(static_cast<size_t>(bytes));
    for (int i = 0; i < bytes; ++i) value |= uint64_t{static_cast<uint8_t>(digits[static_cast<size_t>(i)])} << (8 * i);
    return value;
  }
  std::string text() { return std::string(take(number(4))); }
  std::string key() {
    std::string value = text();
    CRESSET_CHECK_AS(ValueError, value.size() <= kMaxKeyBytes, "a key of ", value.size(), " bytes");
    return value;
  }
  std::vector<std::string> keys() {
    std::vector<std::string> values;
    const uint64_t count = number(4);
    CRESSET_CHECK_AS(ValueError, count <= kMaxKeys, "a list of ", count, " keys");
    for (uint64_t left = count; left > 0; --left) values.push_back(key());
    return values;
  }
  void end() const { CRESSET_CHECK_AS(ValueError, rest_.empty(), rest_.size(), " bytes too many"); }

 private:
  std::string_view take(size_t bytes) {
    CRESSET_CHECK_AS(ValueError, bytes <= rest_.size(), "a message that ends too early");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
};

template <class Kind>
std::string frame(Kind kind, std::string_view body) {
  Writer header;
  header.number(kMagic, 4);
  header.number(static_cast<uint8_t>(kind), 1);
  header.number(body.size(), 4);
  std::string whole;
  whole.reserve(kHeaderBytes + body.size());
  whole += header.body();
  whole += body;
  return whole;
}

inline std::string proof(std::string_view who, std::string_view token, std::string_view server_nonce,
                         std::string_view client_nonce) {
  std::string message(who);
  message += server_nonce;
  message += client_nonce;
  return std::string(view_of(hmac_sha256(token, message)));
}

// From the kernel's generator.
std::string new_nonce();

}  // namespace cresset::distributed::wire
