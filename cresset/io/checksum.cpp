// Both CRCs by tables of eight bytes at a time, made by the compiler.
#include "cresset/io/checksum.h"

#include <array>
#include <bit>
#include <cstring>

namespace cresset::io {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables tables_of(uint32_t polynomial) {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; bit++) value = (value >> 1) ^ (value & 1 ? polynomial : 0);
    tables[0][byte] = value;
  }
  for (size_t k = 1; k < 8; k++)
    for (size_t byte = 0; byte < 256; byte++)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 255];
  return tables;
}

constexpr Tables kCrc32 = tables_of(0xEDB88320), kCrc32c = tables_of(0x82F63B78);

uint32_t crc(const Tables& t, const unsigned char* at, size_t size, uint32_t before) {
  uint32_t value = ~before;
  for (; size >= 8; at += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    word ^= value;
    value = t[7][word & 255] ^ t[6][word >> 8 & 255] ^ t[5][word >> 16 & 255] ^ t[4][word >> 24 & 255] ^
            t[3][word >> 32 & 255] ^ t[2][word >> 40 & 255] ^ t[1][word >> 48 & 255] ^ t[0][word >> 56];
  }
  for (; size > 0; at++, size--) value = (value >> 8) ^ t[0][(value ^ *at) & 255];
  return ~value;
}

constexpr uint64_t kP1 = 0x9E3779B185EBCA87, kP2 = 0xC2B2AE3D27D4EB4F, kP3 = 0x165667B19E3779F9,
                   kP4 = 0x85EBCA77C2B2AE63, kP5 = 0x27D4EB2F165667C5;

template <class Integer>
Integer load(const unsigned char* at) {
  Integer value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint64_t mixed(uint64_t lane, uint64_t word) { return std::rotl(lane + word * kP2, 31) * kP1; }

}  // namespace

uint32_t crc32(const void* data, size_t size, uint32_t before) {
  return crc(kCrc32, static_cast<const unsigned char*>(data), size, before);
}
uint32_t crc32c(const void* data, size_t size, uint32_t before) {
  return crc(kCrc32c, static_cast<const unsigned char*>(data), size, before);
}

void Digest::block(const unsigned char* at) {
  for (int i = 0; i < 4; i++) lanes_[i] = mixed(lanes_[i], load<uint64_t>(at + 8 * i));
}

void Digest::add(const void* data, size_t size) {
  auto* at = static_cast<const unsigned char*>(data);
  total_ += size;
  if (held_ > 0) {
    const size_t taken = size < 32 - held_ ? size : 32 - held_;
    std::memcpy(rest_ + held_, at, taken);
    held_ += taken, at += taken, size -= taken;
    if (held_ < 32) return;
    block(rest_);
    held_ = 0;
  }
  for (; size >= 32; at += 32, size -= 32) block(at);
  if (size > 0) std::memcpy(rest_, at, size);
  held_ = size;
}

uint64_t Digest::value() const {
  uint64_t hash = kP5;
  if (total_ >= 32) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (uint64_t lane : lanes_) hash = (hash ^ mixed(0, lane)) * kP1 + kP4;
  }
  hash += total_;
  const unsigned char* at = rest_;
  size_t left = held_;
  for (; left >= 8; at += 8, left -= 8) hash = std::rotl(hash ^ mixed(0, load<uint64_t>(at)), 27) * kP1 + kP4;
  if (left >= 4) {
    hash = std::rotl(hash ^ load<uint32_t>(at) * kP1, 23) * kP2 + kP3;
    at += 4, left -= 4;
  }
  for (; left > 0; at++, left--) hash = std::rotl(hash ^ *at * kP5, 11) * kP1;
  hash = (hash ^ hash >> 33) * kP2;
  hash = (hash ^ hash >> 29) * kP3;
  return hash ^ hash >> 32;
}

}  // namespace cresset::io
