#include "cresset/distributed/hash_store.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "cresset/distributed/store_table.h"

namespace cresset::distributed {

namespace {
constexpr const char* kHashStore = "HashStore";
}

struct HashStore::Shared {
  // A forked child has a copy of the table, and perhaps a mutex that nobody will ever unlock.
  std::unique_lock<std::mutex> lock() {
    CRESSET_CHECK_AS(DistributedError, getpid() == owner, kHashStore, ": this store belongs to process ", owner,
                     " and cannot be used in its forked child ", getpid());
    return std::unique_lock(mutex);
  }

  const pid_t owner = getpid();
  std::mutex mutex;
  std::condition_variable changed;
  StoreTable table;
};

HashStore::HashStore(Milliseconds timeout) : HashStore(std::make_shared<Shared>(), timeout) {}
HashStore::HashStore(std::shared_ptr<Shared> shared, Milliseconds timeout)
    : Store(timeout), shared_(std::move(shared)) {}
HashStore::~HashStore() = default;

void HashStore::set(const std::string& key, std::string_view value) {
  check_value(kHashStore, key, value.size());
  const auto lock = shared_->lock();
  shared_->table.set(key, value);
  shared_->changed.notify_all();
}

std::string HashStore::get(const std::string& key, Milliseconds timeout) {
  check_key(kHashStore, key);
  auto lock = shared_->lock();
  const auto is_there = [&] { return shared_->table.contains(key); };
  if (!shared_->changed.wait_until(lock, deadline_after(timeout), is_there)) {
    throw_not_set(kHashStore, name(), {key}, 1, timeout);
  }
  return *shared_->table.find(key);
}

std::optional<std::string> HashStore::try_get(const std::string& key) {
  check_key(kHashStore, key);
  const auto lock = shared_->lock();
  const std::string* value = shared_->table.find(key);
  return value ? std::optional(*value) : std::nullopt;
}

int64_t HashStore::add(const std::string& key, int64_t amount) {
  check_key(kHashStore, key);
  const auto lock = shared_->lock();
  try {
    const int64_t sum = shared_->table.add(key, amount);
    shared_->changed.notify_all();
    return sum;
  } catch (const ValueError& error) {
    throw ValueError(std::string(kHashStore) + ": " + error.msg());
  }
}

std::string HashStore::compare_set(const std::string& key, const std::string& expected, const std::string& desired) {
  check_value(kHashStore, key, desired.size());
  const auto lock = shared_->lock();
  std::string value = shared_->table.compare_set(key, expected, desired);
  shared_->changed.notify_all();
  return value;
}

void HashStore::wait(const std::vector<std::string>& keys, Milliseconds timeout) {
  for (const std::string& key : keys) check_key(kHashStore, key);
  auto lock = shared_->lock();
  const auto are_there = [&] { return missing_keys(shared_->table, keys).empty(); };
  if (shared_->changed.wait_until(lock, deadline_after(timeout), are_there)) return;
  const auto missing = missing_keys(shared_->table, keys);
  throw_not_set(kHashStore, name(), missing, missing.size(), timeout);
}

bool HashStore::check(const std::vector<std::string>& keys) {
  const auto lock = shared_->lock();
  return missing_keys(shared_->table, keys).empty();
}

bool HashStore::delete_key(const std::string& key) {
  const auto lock = shared_->lock();
  return shared_->table.erase(key);
}

int64_t HashStore::num_keys() {
  const auto lock = shared_->lock();
  return shared_->table.size();
}

Changes HashStore::changes(const std::string& prefix, uint64_t since, Milliseconds timeout) {
  auto lock = shared_->lock();
  Changes found;
  shared_->changed.wait_until(lock, deadline_after(timeout), [&] {
    found = shared_->table.changes(prefix, since);
    since = std::max(since, found.version);
    return !found.entries.empty();
  });
  return found;
}

void HashStore::last_will(const std::string& key, std::string_view value) {
  check_value(kHashStore, key, value.size());
}

void HashStore::withdraw_will(const std::string& key) { check_key(kHashStore, key); }

std::shared_ptr<Store> HashStore::clone() { return std::shared_ptr<Store>(new HashStore(shared_, timeout())); }

}  // namespace cresset::distributed
