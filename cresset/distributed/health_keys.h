// The keys and values that Health keeps in the store, taken apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cresset/core/error.h"

namespace cresset::distributed {

inline std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// A key: "beat/2".
inline std::string of(const char* what, int rank) { return message_of(what, "/", rank); }

// The rank at the end of "death/2".
inline std::optional<int> rank_in(const std::string& key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return {};
  const std::string rest = key.substr(prefix.size());
  if (rest.empty() || rest.find_first_not_of("0123456789") != std::string::npos || rest.size() > 9) return {};
  return std::stoi(rest);
}

}  // namespace cresset::distributed
