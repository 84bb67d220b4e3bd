// An independent reader of event files: frames, checksums and protobuf fields, sharing no code with the writer.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cresset::test {

// CRC-32C bit by bit.
inline uint32_t slow_crc32c(const std::string& data) {
  uint32_t crc = 0xFFFFFFFF;
  for (unsigned char byte : data) {
    crc ^= byte;
    for (int i = 0; i < 8; i++) crc = (crc >> 1) ^ (0x82F63B78 & (0 - (crc & 1)));
  }
  return ~crc;
}

inline std::vector<std::string> records_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> records;
  auto check = [&](const std::string& data, size_t at) {
    uint32_t masked;
    std::memcpy(&masked, file.data() + at, 4);
    const uint32_t rotated = masked - 0xA282EAD8;
    EXPECT_EQ(rotated >> 17 | rotated << 15, slow_crc32c(data));
  };
  for (size_t at = 0; at < file.size();) {
    uint64_t length;
    EXPECT_GE(file.size() - at, 16u);
    std::memcpy(&length, file.data() + at, 8);
    check(file.substr(at, 8), at + 8);
    records.push_back(file.substr(at + 12, length));
    check(records.back(), at + 12 + length);
    at += 16 + length;
  }
  return records;
}

struct Field {
  uint32_t number, wire;
  uint64_t integer = 0;
  std::string bytes;
  double real() const {
    double value;
    std::memcpy(&value, &integer, 8);
    return value;
  }
  float single() const {
    float value;
    std::memcpy(&value, &integer, 4);
    return value;
  }
};

class Fields : public std::vector<Field> {
 public:
  explicit Fields(const std::string& bytes) {
    size_t at = 0;
    auto varint = [&] {
      uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(at++));
        value |= uint64_t{byte & 127u} << shift;
        if (byte < 128) return value;
      }
    };
    while (at < bytes.size()) {
      const uint64_t key = varint();
      Field field{static_cast<uint32_t>(key >> 3), static_cast<uint32_t>(key & 7), 0, {}};
      if (field.wire == 0) {
        field.integer = varint();
      } else if (field.wire == 2) {
        const uint64_t length = varint();
        EXPECT_LE(at + length, bytes.size());
        field.bytes = bytes.substr(at, length);
        at += length;
      } else {
        const size_t size = field.wire == 1 ? 8 : 4;
        std::memcpy(&field.integer, bytes.data() + at, size);
        at += size;
      }
      push_back(std::move(field));
    }
  }
  const Field* find(uint32_t number) const {
    for (const Field& field : *this)
      if (field.number == number) return &field;
    return nullptr;
  }
  Fields sub(uint32_t number) const { return Fields(find(number) ? find(number)->bytes : ""); }
  std::string text(uint32_t number) const { return find(number) ? find(number)->bytes : ""; }
  std::vector<Field> all(uint32_t number) const {
    std::vector<Field> found;
    for (const Field& field : *this)
      if (field.number == number) found.push_back(field);
    return found;
  }
};

inline std::vector<double> packed_doubles(const std::string& bytes) {
  std::vector<double> values(bytes.size() / 8);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
inline std::vector<float> packed_floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

inline std::string event_file_in(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) return entry.path();
  ADD_FAILURE() << "no event file in " << folder;
  return {};
}

}  // namespace cresset::test
