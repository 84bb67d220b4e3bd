// StoreTable: the names and values behind a store, with the version at which each was set. It neither locks nor waits:
// the hash store puts a mutex around it, the server a thread, the file store a file.
#pragma once

#include <map>

#include "cresset/distributed/store.h"

namespace cresset::distributed {

inline constexpr size_t kMaxKeyBytes = 4096;
inline constexpr size_t kMaxValueBytes = size_t{64} << 20;
inline constexpr size_t kMaxListBytes = size_t{16} << 20;

// What a table takes at most. A small entry finds room beyond it, a sixteenth more: a program that fills the store must
// not keep the ranks from telling each other how they are.
struct TableLimits {
  size_t max_bytes = SIZE_MAX;
  size_t max_keys = SIZE_MAX;
};

class StoreTable {
 public:
  explicit StoreTable(TableLimits limits = {}) : limits_(limits) {}
  uint64_t version() const { return version_; }
  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  bool contains(const std::string& key) const { return entries_.contains(key); }
  const std::string* find(const std::string& key) const;

  size_t bytes() const { return bytes_; }

  // Throws ValueError when the table is full; so do add and compare_set.
  void set(const std::string& key, std::string_view value);
  // The same whether it is full or not: a last will must be carried out.
  void set_always(const std::string& key, std::string_view value);
  // What add would give. Throws ValueError when a text that is no number stands there, or when the sum does not fit.
  int64_t sum(const std::string& key, int64_t amount) const;
  int64_t add(const std::string& key, int64_t amount);
  std::string compare_set(const std::string& key, const std::string& expected, const std::string& desired);
  bool erase(const std::string& key);
  // Stops when `max_bytes` are listed; the version is then that of the last entry in the list.
  Changes changes(const std::string& prefix, uint64_t since, size_t max_bytes = kMaxListBytes) const;

 private:
  struct Entry {
    std::string value;
    uint64_t version = 0;
  };

  void check_room(const std::string& key, size_t value_bytes) const;

  TableLimits limits_;
  size_t bytes_ = 0;  // of keys and values
  std::map<std::string, Entry> entries_;
  std::map<uint64_t, const std::string*> order_;  // the keys of entries_, oldest change first
  uint64_t version_ = 0;
};

// The keys that are not there, in the order asked for.
std::vector<std::string> missing_keys(const StoreTable& table, const std::vector<std::string>& keys);

// "TcpStore: key 'x' was not set within 200 ms (tcp://127.0.0.1:4242)"; `missing` may hold the first few of `count`.
[[noreturn]] void throw_not_set(const char* store, const std::string& name, const std::vector<std::string>& missing,
                                size_t count, Milliseconds timeout);

// Throw ValueError for what no store takes.
void check_key(const char* store, const std::string& key);
void check_value(const char* store, const std::string& key, size_t bytes);

using TimePoint = std::chrono::steady_clock::time_point;

// From now on; a time without end does not overflow, and a negative one is over.
CRESSET_API TimePoint deadline_after(Milliseconds timeout);
CRESSET_API Milliseconds left_until(TimePoint deadline);

}  // namespace cresset::distributed
