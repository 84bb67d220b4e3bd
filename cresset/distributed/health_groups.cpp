// What is said of groups, and how it goes again: a program may make and destroy them for days.
#include "cresset/distributed/health.h"
#include "cresset/distributed/health_keys.h"

namespace cresset::distributed {

// Each member leaves a list of what it has set. Whoever finds the lists of all removes it all; two may find them.
void Health::close_in_store(Store& store, const Task& task) const {
  const std::string base = key(task.key.substr(0, task.key.rfind('/') + 1));
  std::vector<std::string> lists;
  for (const int rank : task.ranks) lists.push_back(base + std::to_string(rank));
  if (!store.check(lists)) return;
  for (const std::string& list : lists) {
    const auto names = store.try_get(list);
    if (!names) continue;
    for (const std::string& name : split(*names, '\n'))
      if (!name.empty()) store.delete_key(key(name));
    store.delete_key(list);
  }
}

void Health::open_group(const std::string& name) {
  const std::lock_guard lock(mutex_);
  open_groups_.insert(name);
}

void Health::close_group(const std::string& name, const std::vector<int>& ranks) {
  const std::lock_guard lock(mutex_);
  open_groups_.erase(name);
  std::erase_if(table_, [&](const auto& entry) { return is_of_group(entry.first, name); });
  std::string mine;
  std::erase_if(posted_, [&](const std::string& key) {
    if (!is_of_group(key, name)) return false;
    mine += key + "\n";
    return true;
  });
  if (lost_store_ || stopping_) return;
  tasks_.push_back({Task::close, message_of("closed/", name, "/", options_.rank), mine, ranks});
  changed_.notify_all();
}

void Health::forget(const std::string& prefix) {
  const std::lock_guard lock(mutex_);
  std::erase_if(table_, [&](const auto& entry) { return entry.first.starts_with(prefix); });
  std::erase_if(posted_, [&](const std::string& key) {
    if (!key.starts_with(prefix)) return false;
    if (!lost_store_) tasks_.push_back({Task::erase, key, ""});
    return true;
  });
  changed_.notify_all();
}

std::vector<std::string> Health::keys_left_behind() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> keys;
  if (!joined_) return keys;
  for (const std::string& name : posted_) keys.push_back(key(name));
  for (const char* what : {"member", "beat", "goodbye"}) keys.push_back(key(of(what, options_.rank)));
  return keys;
}

}  // namespace cresset::distributed
