#include "cresset/distributed/file_store.h"

#include <thread>

#include "cresset/distributed/file_log.h"

namespace cresset::distributed {

namespace {

constexpr const char* kFileStore = "FileStore";

// Looks until `ready` says yes or the time is over. Nothing is held in between: other threads use the same store.
template <class Ready>
bool look_until(FileLog& log, Milliseconds timeout, const Ready& ready) {
  const auto deadline = deadline_after(timeout);
  for (auto pause = Milliseconds(1);; pause = std::min(pause * 2, Milliseconds(10))) {
    if (log.read(timeout, ready)) return true;
    const auto left = left_until(deadline);
    if (left == Milliseconds(0)) return false;
    std::this_thread::sleep_for(std::min(pause, left));
  }
}

}  // namespace

struct FileStore::Wills {
  std::mutex mutex;
  std::map<std::string, FileWill> of_key;
};

FileStore::FileStore(const std::string& path, int64_t expected_users, Milliseconds timeout)
    : Store(timeout), wills_(std::make_unique<Wills>()) {
  CRESSET_CHECK_AS(ValueError, !path.empty(), kFileStore, ": found an empty path (expected a file's)");
  CRESSET_CHECK_AS(ValueError, expected_users >= 0, kFileStore, ": ", path, ": found ", expected_users,
                   " expected users (expected 0 or more)");
  log_ = std::make_shared<FileLog>(path, expected_users, timeout);
}

FileStore::FileStore(std::shared_ptr<FileLog> log, Milliseconds timeout)
    : Store(timeout), log_(std::move(log)), wills_(std::make_unique<Wills>()) {}

FileStore::~FileStore() {
  if (!log_->is_owner()) return;  // the wills are the parent's
  for (auto& [key, will] : wills_->of_key) log_->withdraw_will(will);
}

std::string FileStore::name() const { return "file://" + log_->path(); }

void FileStore::set(const std::string& key, std::string_view value) {
  check_value(kFileStore, key, value.size());
  log_->change(timeout_, [&](const StoreTable&) { log_->set(key, value); });
}

std::string FileStore::get(const std::string& key, Milliseconds timeout) {
  check_key(kFileStore, key);
  std::string value;
  const auto ready = [&](const StoreTable& table) {
    const std::string* found = table.find(key);
    if (found) value = *found;
    return found != nullptr;
  };
  if (!look_until(*log_, timeout, ready)) throw_not_set(kFileStore, name(), {key}, 1, timeout);
  return value;
}

std::optional<std::string> FileStore::try_get(const std::string& key) {
  check_key(kFileStore, key);
  return log_->read(timeout_, [&](const StoreTable& table) {
    const std::string* found = table.find(key);
    return found ? std::optional(*found) : std::nullopt;
  });
}

int64_t FileStore::add(const std::string& key, int64_t amount) {
  check_key(kFileStore, key);
  try {
    return log_->change(timeout_, [&](const StoreTable& table) {
      const int64_t sum = table.sum(key, amount);
      if (amount != 0 || !table.contains(key)) log_->set(key, std::to_string(sum));
      return sum;
    });
  } catch (const ValueError& error) {
    throw ValueError(std::string(kFileStore) + ": " + error.msg());
  }
}

std::string FileStore::compare_set(const std::string& key, const std::string& expected, const std::string& desired) {
  check_value(kFileStore, key, desired.size());
  return log_->change(timeout_, [&](const StoreTable& table) {
    const std::string* found = table.find(key);
    std::string current = found ? *found : std::string();
    if (current != expected) return current;
    log_->set(key, desired);
    return desired;
  });
}

void FileStore::wait(const std::vector<std::string>& keys, Milliseconds timeout) {
  for (const std::string& key : keys) check_key(kFileStore, key);
  std::vector<std::string> missing;
  const auto ready = [&](const StoreTable& table) {
    missing = missing_keys(table, keys);
    return missing.empty();
  };
  if (!look_until(*log_, timeout, ready)) throw_not_set(kFileStore, name(), missing, missing.size(), timeout);
}

bool FileStore::check(const std::vector<std::string>& keys) {
  return log_->read(timeout_, [&](const StoreTable& table) { return missing_keys(table, keys).empty(); });
}

bool FileStore::delete_key(const std::string& key) {
  return log_->change(timeout_, [&](const StoreTable& table) {
    if (!table.contains(key)) return false;
    log_->erase(key);
    return true;
  });
}

int64_t FileStore::num_keys() {
  return log_->read(timeout_, [](const StoreTable& table) { return table.size(); });
}

Changes FileStore::changes(const std::string& prefix, uint64_t since, Milliseconds timeout) {
  Changes found;
  look_until(*log_, timeout, [&](const StoreTable& table) {
    found = table.changes(prefix, since);
    since = std::max(since, found.version);
    return !found.entries.empty();
  });
  return found;
}

void FileStore::last_will(const std::string& key, std::string_view value) {
  check_value(kFileStore, key, value.size());
  CRESSET_CHECK_AS(DistributedError, log_->is_owner(), kFileStore, ": ", log_->path(),
                   " belongs to the parent process");
  const std::lock_guard lock(wills_->mutex);
  log_->leave_will(wills_->of_key[key], key, value, timeout_);
}

void FileStore::withdraw_will(const std::string& key) {
  CRESSET_CHECK_AS(DistributedError, log_->is_owner(), kFileStore, ": ", log_->path(),
                   " belongs to the parent process");
  const std::lock_guard lock(wills_->mutex);
  const auto found = wills_->of_key.find(key);
  if (found == wills_->of_key.end()) return;
  log_->withdraw_will(found->second);
  wills_->of_key.erase(found);
}

std::shared_ptr<Store> FileStore::clone() { return std::shared_ptr<Store>(new FileStore(log_, timeout())); }

}  // namespace cresset::distributed
