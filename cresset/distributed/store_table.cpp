#include "cresset/distributed/store_table.h"

#include <algorithm>
#include <charconv>

namespace cresset::distributed {

const std::string* StoreTable::find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second.value;
}

void StoreTable::check_room(const std::string& key, size_t value_bytes) const {
  constexpr size_t kSmall = 4096, kReserve = 16;
  const auto with_reserve = [&](size_t limit) {
    const bool is_small = key.size() + value_bytes <= kSmall && limit < SIZE_MAX / 2;
    return is_small ? limit + limit / kReserve : limit;
  };
  const std::string* before = find(key);
  if (before && value_bytes <= before->size()) return;
  const size_t bytes = bytes_ + value_bytes + (before ? 0 : key.size()) - (before ? before->size() : 0);
  CRESSET_CHECK_AS(ValueError, bytes <= with_reserve(limits_.max_bytes), "the store is full: key '", key.substr(0, 40),
                   "' with ", value_bytes, " bytes would make it ", bytes, " bytes (expected at most ",
                   limits_.max_bytes, "; TcpStoreLimits::max_bytes)");
  CRESSET_CHECK_AS(ValueError, before || entries_.size() < with_reserve(limits_.max_keys), "the store is full: key '",
                   key.substr(0, 40), "' would be its ", entries_.size() + 1, "th (expected at most ", limits_.max_keys,
                   "; TcpStoreLimits::max_keys)");
}

void StoreTable::set(const std::string& key, std::string_view value) {
  check_room(key, value.size());
  set_always(key, value);
}

void StoreTable::set_always(const std::string& key, std::string_view value) {
  const auto [place, is_new] = entries_.try_emplace(key);
  if (!is_new) order_.erase(place->second.version);
  bytes_ += value.size() + (is_new ? key.size() : 0) - place->second.value.size();
  place->second.value = value;
  place->second.version = ++version_;
  order_.emplace_hint(order_.end(), version_, &place->first);
}

int64_t StoreTable::sum(const std::string& key, int64_t amount) const {
  int64_t number = 0;
  if (const std::string* text = find(key)) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    CRESSET_CHECK_AS(ValueError, error == std::errc() && end == text->data() + text->size() && !text->empty(),
                     "add: key '", key, "' holds '", text->substr(0, 40), "' (expected a whole number)");
  }
  int64_t sum = 0;
  CRESSET_CHECK_AS(ValueError, !__builtin_add_overflow(number, amount, &sum), "add: key '", key, "': ", number, " + ",
                   amount, " does not fit into 64 bits");
  return sum;
}

int64_t StoreTable::add(const std::string& key, int64_t amount) {
  const int64_t result = sum(key, amount);
  if (amount != 0 || !contains(key)) set(key, std::to_string(result));
  return result;
}

std::string StoreTable::compare_set(const std::string& key, const std::string& expected, const std::string& desired) {
  const std::string* found = find(key);
  std::string current = found ? *found : std::string();
  if (current != expected) return current;
  set(key, desired);
  return desired;
}

bool StoreTable::erase(const std::string& key) {
  const auto place = entries_.find(key);
  if (place == entries_.end()) return false;
  order_.erase(place->second.version);
  bytes_ -= place->first.size() + place->second.value.size();
  entries_.erase(place);
  return true;
}

Changes StoreTable::changes(const std::string& prefix, uint64_t since, size_t max_bytes) const {
  Changes changes{version_, {}};
  size_t bytes = 0;
  for (auto place = order_.upper_bound(since); place != order_.end(); ++place) {
    const std::string& key = *place->second;
    if (!key.starts_with(prefix)) continue;
    const std::string& value = entries_.at(key).value;
    changes.entries.emplace_back(key, value);
    bytes += key.size() + value.size();
    if (bytes >= max_bytes) {
      changes.version = place->first;
      break;
    }
  }
  return changes;
}

std::vector<std::string> missing_keys(const StoreTable& table, const std::vector<std::string>& keys) {
  std::vector<std::string> missing;
  for (const std::string& key : keys) {
    if (!table.contains(key)) missing.push_back(key);
  }
  return missing;
}

void throw_not_set(const char* store, const std::string& name, const std::vector<std::string>& missing, size_t count,
                   Milliseconds timeout) {
  constexpr size_t kNamed = 8;
  std::string text;
  for (size_t i = 0; i < std::min(missing.size(), kNamed); ++i) {
    text += (i ? ", '" : "'") + missing[i] + "'";
  }
  if (count > std::min(missing.size(), kNamed)) {
    text += " and " + std::to_string(count - std::min(missing.size(), kNamed)) + " more";
  }
  throw DistributedError(message_of(store, ": ", count == 1 ? "key " : "keys ", text,
                                    count == 1 ? " was not set within " : " were not set within ", timeout.count(),
                                    " ms (", name, ")"));
}

void check_key(const char* store, const std::string& key) {
  CRESSET_CHECK_AS(ValueError, key.size() <= kMaxKeyBytes, store, ": the key '", key.substr(0, 40), "...' has ",
                   key.size(), " bytes (expected at most ", kMaxKeyBytes, ")");
}

void check_value(const char* store, const std::string& key, size_t bytes) {
  check_key(store, key);
  CRESSET_CHECK_AS(ValueError, bytes <= kMaxValueBytes, store, ": the value for key '", key, "' has ", bytes,
                   " bytes (expected at most ", kMaxValueBytes, ")");
}

TimePoint deadline_after(Milliseconds timeout) {
  constexpr Milliseconds kForever = std::chrono::hours(24 * 3650);
  return std::chrono::steady_clock::now() + std::clamp(timeout, Milliseconds(0), kForever);
}

Milliseconds left_until(TimePoint deadline) {
  const auto left = deadline - std::chrono::steady_clock::now();
  // Rounded up: what wakes a moment too early would spin until the time has come.
  return std::max(std::chrono::ceil<Milliseconds>(left), Milliseconds(0));
}

}  // namespace cresset::distributed
