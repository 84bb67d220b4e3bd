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

// The group of a key that only its members need: "at/group 3/1".
inline std::optional<std::string> members_only(const std::string& key) {
  for (const std::string_view kind : {"at/", "wants/", "took/", "monitored/", "connected/"}) {
    if (!key.starts_with(kind)) continue;
    const size_t end = key.find('/', kind.size());
    if (end != std::string::npos) return key.substr(kind.size(), end - kind.size());
  }
  return {};
}

// Whether this key is about the group, and of no use when all members have left it.
inline bool is_of_group(const std::string& key, const std::string& group) {
  return members_only(key) == group || key == "error/" + group || key.starts_with("knows/error/" + group + "/");
}

}  // namespace cresset::distributed
