#include "cresset/distributed/store.h"

#include <set>

namespace cresset::distributed {

Store::~Store() = default;

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> inner)
    : Store(inner ? inner->timeout() : kDefaultTimeout), prefix_(std::move(prefix)), inner_(std::move(inner)) {
  CRESSET_CHECK_AS(ValueError, inner_, "PrefixStore: found no store for the prefix '", prefix_, "' (expected one)");
  prefix_ += '/';
}

std::vector<std::string> PrefixStore::inside(const std::vector<std::string>& keys) const {
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const std::string& key : keys) names.push_back(inside(key));
  return names;
}

void PrefixStore::set(const std::string& key, std::string_view value) { inner_->set(inside(key), value); }

std::string PrefixStore::get(const std::string& key, Milliseconds timeout) { return inner_->get(inside(key), timeout); }

std::optional<std::string> PrefixStore::try_get(const std::string& key) { return inner_->try_get(inside(key)); }

int64_t PrefixStore::add(const std::string& key, int64_t amount) { return inner_->add(inside(key), amount); }

std::string PrefixStore::compare_set(const std::string& key, const std::string& expected, const std::string& desired) {
  return inner_->compare_set(inside(key), expected, desired);
}

void PrefixStore::wait(const std::vector<std::string>& keys, Milliseconds timeout) {
  inner_->wait(inside(keys), timeout);
}

bool PrefixStore::check(const std::vector<std::string>& keys) { return inner_->check(inside(keys)); }

bool PrefixStore::delete_key(const std::string& key) { return inner_->delete_key(inside(key)); }

int64_t PrefixStore::num_keys() {
  // A long list comes in parts, and a key that is set meanwhile comes twice.
  std::set<std::string> keys;
  Changes part;
  do {
    part = inner_->changes(prefix_, part.version, Milliseconds(0));
    for (auto& [key, value] : part.entries) keys.insert(std::move(key));
  } while (!part.entries.empty());
  return static_cast<int64_t>(keys.size());
}

Changes PrefixStore::changes(const std::string& prefix, uint64_t since, Milliseconds timeout) {
  Changes changes = inner_->changes(inside(prefix), since, timeout);
  for (auto& [key, value] : changes.entries) key.erase(0, prefix_.size());
  return changes;
}

void PrefixStore::last_will(const std::string& key, std::string_view value) { inner_->last_will(inside(key), value); }

void PrefixStore::withdraw_will(const std::string& key) { inner_->withdraw_will(inside(key)); }

std::shared_ptr<Store> PrefixStore::clone() {
  auto copy = std::make_shared<PrefixStore>(prefix_.substr(0, prefix_.size() - 1), inner_->clone());
  copy->set_timeout(timeout());
  return copy;
}

}  // namespace cresset::distributed
