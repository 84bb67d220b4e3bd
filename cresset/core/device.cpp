// Parsing and printing of devices.
#include "cresset/core/device.h"

#include <cctype>
#include <ostream>

#include "cresset/core/error.h"

namespace cresset {
namespace {
constexpr const char* kLowerNames[] = {"cpu", "cuda", "meta", "mock"};
}

const char* name_of(DeviceType type) {
  constexpr const char* names[] = {"CPU", "CUDA", "Meta", "Mock"};
  return names[static_cast<int>(type)];
}

Device::Device(const std::string& text) {
  size_t colon = text.find(':');
  std::string head = text.substr(0, colon);
  for (int i = 0; i < kDeviceTypes; i++) {
    if (head != kLowerNames[i]) continue;
    kind = static_cast<DeviceType>(i);
    if (colon == std::string::npos) return;
    std::string tail = text.substr(colon + 1);
    bool digits = !tail.empty() && tail.size() <= 2;
    for (char c : tail) digits = digits && std::isdigit(static_cast<unsigned char>(c));
    if (!digits) break;
    number = static_cast<int8_t>(std::stoi(tail));
    return;
  }
  throw DeviceError(
      message_of("Device: found \"", text, "\" (expected cpu, cuda or meta, with an index such as cuda:0 or without)"));
}

std::string Device::str() const {
  std::string name = kLowerNames[static_cast<int>(kind)];
  return number < 0 ? name : name + ":" + std::to_string(number);
}

std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }
std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << kLowerNames[static_cast<int>(type)]; }

}  // namespace cresset
