// A plain decoder: canonical Huffman codes decoded bit by bit with counts and offsets. Compressed entries are rare
// (NumPy's savez_compressed), so that short and checked counts for more than speed.
#include "cresset/io/inflate.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace cresset::io {
namespace {

constexpr int kLongestCode = 15;

struct Corrupt {
  const char* what;
};

class Bits {
 public:
  Bits(const char* data, size_t size) : at_(reinterpret_cast<const unsigned char*>(data)), end_(at_ + size) {}

  uint32_t take(int count) {
    while (held_ < count) {
      if (at_ == end_) throw Corrupt{"the compressed data ends too early"};
      bits_ |= uint64_t{*at_++} << held_;
      held_ += 8;
    }
    const auto value = static_cast<uint32_t>(bits_ & ((uint64_t{1} << count) - 1));
    bits_ >>= count;
    held_ -= count;
    return value;
  }
  // Stored blocks begin at a whole byte.
  const unsigned char* bytes(size_t count) {
    at_ -= held_ / 8;
    bits_ = 0;
    held_ = 0;
    if (count > static_cast<size_t>(end_ - at_)) throw Corrupt{"the compressed data ends too early"};
    const unsigned char* start = at_;
    at_ += count;
    return start;
  }

 private:
  const unsigned char *at_, *end_;
  uint64_t bits_ = 0;
  int held_ = 0;
};

struct Code {
  std::array<uint16_t, kLongestCode + 1> count{};
  std::array<uint16_t, 288> symbol{};

  Code(const uint8_t* lengths, int symbols) {
    for (int i = 0; i < symbols; i++) count[lengths[i]]++;
    count[0] = 0;
    int left = 1;
    for (int length = 1; length <= kLongestCode; length++) {
      left = 2 * left - count[static_cast<size_t>(length)];
      if (left < 0) throw Corrupt{"a code of the compressed data is over-full"};
    }
    std::array<uint16_t, kLongestCode + 2> first{};
    for (size_t length = 1; length <= kLongestCode; length++)
      first[length + 1] = static_cast<uint16_t>(first[length] + count[length]);
    for (int i = 0; i < symbols; i++)
      if (lengths[i]) symbol[first[lengths[i]]++] = static_cast<uint16_t>(i);
  }

  int decode(Bits& bits) const {
    int code = 0, first = 0, index = 0;
    for (size_t length = 1; length <= kLongestCode; length++) {
      code |= static_cast<int>(bits.take(1));
      const int here = count[length];
      if (code - first < here) return symbol[static_cast<size_t>(index + code - first)];
      index += here;
      first = (first + here) << 1;
      code <<= 1;
    }
    throw Corrupt{"the compressed data has a code that stands for nothing"};
  }
};

constexpr uint16_t kLengthBase[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr uint8_t kLengthExtra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr uint16_t kDistanceBase[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                      33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                      1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr uint8_t kDistanceExtra[] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                      6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

struct Output {
  char* start;
  size_t size, written = 0;

  void put(const void* data, size_t count) {
    if (count > size - written) throw Corrupt{"the compressed data is longer than its size says"};
    std::memcpy(start + written, data, count);
    written += count;
  }
  // The copy may overlap what it writes: runs are made that way.
  void repeat(size_t distance, size_t length) {
    if (distance > written) throw Corrupt{"the compressed data points before its beginning"};
    if (length > size - written) throw Corrupt{"the compressed data is longer than its size says"};
    for (size_t i = 0; i < length; i++, written++) start[written] = start[written - distance];
  }
};

void compressed_block(Bits& bits, Output& out, const Code& lengths, const Code& distances) {
  for (;;) {
    const int symbol = lengths.decode(bits);
    if (symbol == 256) return;
    if (symbol < 256) {
      const char byte = static_cast<char>(symbol);
      out.put(&byte, 1);
      continue;
    }
    const auto l = static_cast<size_t>(symbol - 257);
    if (l >= std::size(kLengthBase)) throw Corrupt{"the compressed data has an unknown length"};
    const size_t length = kLengthBase[l] + bits.take(kLengthExtra[l]);
    const auto d = static_cast<size_t>(distances.decode(bits));
    if (d >= std::size(kDistanceBase)) throw Corrupt{"the compressed data has an unknown distance"};
    out.repeat(kDistanceBase[d] + bits.take(kDistanceExtra[d]), length);
  }
}

void fixed_block(Bits& bits, Output& out) {
  uint8_t lengths[288], distances[30];
  for (size_t i = 0; i < 288; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  std::memset(distances, 5, sizeof distances);
  compressed_block(bits, out, Code(lengths, 288), Code(distances, 30));
}

void dynamic_block(Bits& bits, Output& out) {
  constexpr uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  const int literals = static_cast<int>(bits.take(5)) + 257, distances = static_cast<int>(bits.take(5)) + 1;
  const auto codes = bits.take(4) + 4;
  if (literals > 286 || distances > 30) throw Corrupt{"the compressed data has too many codes"};
  uint8_t lengths[320] = {};
  for (uint32_t i = 0; i < codes; i++) lengths[order[i]] = static_cast<uint8_t>(bits.take(3));
  const Code of_lengths(lengths, 19);
  std::memset(lengths, 0, sizeof lengths);
  for (int at = 0; at < literals + distances;) {
    const int symbol = of_lengths.decode(bits);
    if (symbol < 16) {
      lengths[at++] = static_cast<uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && at == 0) throw Corrupt{"the compressed data repeats a length before the first"};
    const uint8_t value = symbol == 16 ? lengths[at - 1] : uint8_t{0};
    const int times = static_cast<int>(symbol == 16   ? 3 + bits.take(2)
                                       : symbol == 17 ? 3 + bits.take(3)
                                                      : 11 + bits.take(7));
    if (at + times > literals + distances) throw Corrupt{"the compressed data has too many lengths"};
    for (int i = 0; i < times; i++) lengths[at++] = value;
  }
  if (lengths[256] == 0) throw Corrupt{"a block of the compressed data has no end"};
  compressed_block(bits, out, Code(lengths, literals), Code(lengths + literals, distances));
}

void stored_block(Bits& bits, Output& out) {
  const unsigned char* head = bits.bytes(4);
  const size_t length = head[0] | size_t{head[1]} << 8, inverse = head[2] | size_t{head[3]} << 8;
  if ((length ^ inverse) != 0xFFFF) throw Corrupt{"a stored block's length is damaged"};
  out.put(bits.bytes(length), length);
}

}  // namespace

const char* inflate(const char* data, size_t size, char* out, size_t out_size) try {
  Bits bits(data, size);
  Output output{out, out_size};
  for (bool last = false; !last;) {
    last = bits.take(1);
    const uint32_t kind = bits.take(2);
    if (kind == 0)
      stored_block(bits, output);
    else if (kind == 1)
      fixed_block(bits, output);
    else if (kind == 2)
      dynamic_block(bits, output);
    else
      return "the compressed data has a block of an unknown kind";
  }
  return output.written == out_size ? nullptr : "the compressed data is shorter than its size says";
} catch (const Corrupt& corrupt) {
  return corrupt.what;
}

}  // namespace cresset::io
