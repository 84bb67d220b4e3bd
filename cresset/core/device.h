// Device types and devices. `Mock` exists for tests: memory that is readable only inside its own kernels.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "cresset/core/export.h"

namespace cresset {

enum class DeviceType : int8_t { CPU, CUDA, Meta, Mock };
inline constexpr int kDeviceTypes = 4;
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta;

CRESSET_API const char* name_of(DeviceType type);  // "CPU", "CUDA": messages

struct CRESSET_API Device {
  using Type = DeviceType;
  DeviceType kind = DeviceType::CPU;
  int8_t number = -1;

  constexpr Device() = default;
  constexpr Device(DeviceType t, int i = -1) : kind(t), number(static_cast<int8_t>(i)) {}
  Device(const std::string& text);  // "cpu", "cuda", "cuda:1", "meta"
  Device(const char* text) : Device(std::string(text)) {}

  constexpr DeviceType type() const { return kind; }
  constexpr int index() const { return number; }
  constexpr bool has_index() const { return number >= 0; }
  constexpr bool is_cpu() const { return kind == DeviceType::CPU; }
  constexpr bool is_cuda() const { return kind == DeviceType::CUDA; }
  constexpr bool is_meta() const { return kind == DeviceType::Meta; }
  std::string str() const;  // "cuda:0"
  constexpr bool operator==(const Device& other) const {
    return kind == other.kind && (number < 0 ? 0 : number) == (other.number < 0 ? 0 : other.number);
  }
};

CRESSET_API std::ostream& operator<<(std::ostream& out, const Device& device);
CRESSET_API std::ostream& operator<<(std::ostream& out, DeviceType type);

}  // namespace cresset
