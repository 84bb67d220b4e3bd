#include "cresset/nn/layers/describe.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

namespace cresset::nn::detail {

std::string written(bool value) { return value ? "True" : "False"; }

std::string written(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char digits[64];
  const double size = std::abs(value);
  const bool scientific = size != 0 && (size < 1e-4 || size >= 1e16);
  auto end = std::to_chars(digits, digits + sizeof digits, value,
                           scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(digits, end.ptr);
  if (!scientific && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string tuple(IntArrayRef list) {
  std::string text = "(";
  for (size_t i = 0; i < list.size(); i++) text += (i == 0 ? "" : ", ") + std::to_string(list[i]);
  return text + (list.size() == 1 ? ",)" : ")");
}

std::string one_or_tuple(IntArrayRef list) {
  const bool same = std::all_of(list.begin(), list.end(), [&](int64_t value) { return value == list.front(); });
  return same && !list.empty() ? std::to_string(list.front()) : tuple(list);
}

std::string layer_name(const std::type_info& type) {
  std::string name = demangled(type);
  name.erase(0, name.rfind(':') + 1);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}
void print_line(std::ostream& stream, const Module& layer, const std::string& options) {
  stream << short_name(layer) << '(' << options << ')';
}

}  // namespace cresset::nn::detail
