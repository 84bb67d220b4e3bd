#include "cresset/nn/layers/describe.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

#include "cresset/core/print.h"

namespace cresset::nn::detail {

bool as_libtorch() { return print_style() == PrintStyle::libtorch; }

std::string written(bool value) { return value ? either("True", "true") : either("False", "false"); }

std::string written(double value) {
  if (as_libtorch()) return message_of(value);
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

std::string listed(IntArrayRef list) { return as_libtorch() ? text_of(list) : tuple(list); }
std::string tuple(IntArrayRef list) {
  if (as_libtorch()) return list.size() == 1 ? std::to_string(list.front()) : text_of(list);
  std::string text = "(";
  for (size_t i = 0; i < list.size(); i++) text += (i == 0 ? "" : ", ") + std::to_string(list[i]);
  return text + (list.size() == 1 ? ",)" : ")");
}

std::string one_or_tuple(IntArrayRef list) {
  if (as_libtorch()) return tuple(list);
  const bool same = std::all_of(list.begin(), list.end(), [&](int64_t value) { return value == list.front(); });
  return same && !list.empty() ? std::to_string(list.front()) : tuple(list);
}

std::string layer_name(const std::type_info& type) {
  std::string name = demangled(type);
  name.erase(0, name.rfind(':') + 1);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}
std::string printed_name(const Module& layer) { return either("", "torch::nn::") + short_name(layer); }
void print_line(std::ostream& stream, const Module& layer, const std::string& options) {
  stream << printed_name(layer) << '(' << options << ')';
}

}  // namespace cresset::nn::detail
