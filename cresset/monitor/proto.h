// The protobuf wire format, as far as event files need it: messages are only written, and built from the inside out.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace cresset::monitor {

class Message {
 public:
  Message& integer(uint32_t field, int64_t value) {
    key(field, 0);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& real(uint32_t field, double value) {
    key(field, 1);
    fixed(std::bit_cast<uint64_t>(value));
    return *this;
  }
  Message& single(uint32_t field, float value) {
    key(field, 5);
    fixed(std::bit_cast<uint32_t>(value));
    return *this;
  }
  Message& text(uint32_t field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_.append(value);
    return *this;
  }
  Message& message(uint32_t field, const Message& value) { return text(field, value.bytes_); }
  // Packed.
  template <class Values>
  Message& reals(uint32_t field, const Values& values) {
    Message packed;
    for (double value : values) packed.fixed(std::bit_cast<uint64_t>(value));
    return message(field, packed);
  }
  template <class Values>
  Message& singles(uint32_t field, const Values& values) {
    Message packed;
    for (double value : values) packed.fixed(std::bit_cast<uint32_t>(static_cast<float>(value)));
    return message(field, packed);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(uint32_t field, uint32_t wire) { varint(uint64_t{field} << 3 | wire); }
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  template <class Bits>
  void fixed(Bits bits) {
    bytes_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }

  std::string bytes_;
};

}  // namespace cresset::monitor
