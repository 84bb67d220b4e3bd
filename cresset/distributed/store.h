// Store: the small shared table through which processes find and watch each other. Every wait has a deadline, and its
// error names the key. PrefixStore gives a part of one its own names; HashStore is for threads of one process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cresset/core/error.h"
#include "cresset/core/export.h"

namespace cresset::distributed {

using Milliseconds = std::chrono::milliseconds;
inline constexpr Milliseconds kDefaultTimeout = std::chrono::minutes(5);

// What was set under a prefix after a version, in the order in which it was set.
struct Changes {
  uint64_t version = 0;  // give it back to hear of what comes next
  std::vector<std::pair<std::string, std::string>> entries;
};

class CRESSET_API Store {
 public:
  explicit Store(Milliseconds timeout = kDefaultTimeout) : timeout_(timeout) {}
  virtual ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  virtual void set(const std::string& key, std::string_view value) = 0;
  // Waits for the key.
  std::string get(const std::string& key) { return get(key, timeout_); }
  virtual std::string get(const std::string& key, Milliseconds timeout) = 0;
  virtual std::optional<std::string> try_get(const std::string& key) = 0;
  // Adds to a number (0 when absent) and returns the sum; get reads it as decimal text.
  virtual int64_t add(const std::string& key, int64_t amount) = 0;
  // Sets `desired` where `expected` stands (an absent key counts as empty), and returns what stands there afterwards.
  virtual std::string compare_set(const std::string& key, const std::string& expected, const std::string& desired) = 0;
  void wait(const std::vector<std::string>& keys) { wait(keys, timeout_); }
  virtual void wait(const std::vector<std::string>& keys, Milliseconds timeout) = 0;
  virtual bool check(const std::vector<std::string>& keys) = 0;
  virtual bool delete_key(const std::string& key) = 0;
  virtual int64_t num_keys() = 0;

  // Returns as soon as a key with this prefix is set after `since`, or with no entries at the end of the timeout.
  // Only each key's newest value is listed.
  virtual Changes changes(const std::string& prefix, uint64_t since, Milliseconds timeout) = 0;
  // Sets the key when this process is gone, however it goes, unless the will was withdrawn: a killed process cannot
  // say so itself. A second will for the key replaces the first.
  virtual void last_will(const std::string& key, std::string_view value) = 0;
  virtual void withdraw_will(const std::string& key) = 0;

  // Another connection to the same table, for a thread that waits long.
  virtual std::shared_ptr<Store> clone() = 0;
  // Where it is, for messages: "tcp://127.0.0.1:4242".
  virtual std::string name() const = 0;

  Milliseconds timeout() const { return timeout_; }
  void set_timeout(Milliseconds timeout) { timeout_ = timeout; }

 protected:
  std::atomic<Milliseconds> timeout_;
};

// The names of `inner` that begin with a prefix and a slash.
class CRESSET_API PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, std::shared_ptr<Store> inner);

  void set(const std::string& key, std::string_view value) override;
  using Store::get;
  using Store::wait;
  std::string get(const std::string& key, Milliseconds timeout) override;
  std::optional<std::string> try_get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, const std::string& expected, const std::string& desired) override;
  void wait(const std::vector<std::string>& keys, Milliseconds timeout) override;
  bool check(const std::vector<std::string>& keys) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;
  Changes changes(const std::string& prefix, uint64_t since, Milliseconds timeout) override;
  void last_will(const std::string& key, std::string_view value) override;
  void withdraw_will(const std::string& key) override;
  std::shared_ptr<Store> clone() override;
  std::string name() const override { return inner_->name(); }

 private:
  std::string inside(const std::string& key) const { return prefix_ + key; }
  std::vector<std::string> inside(const std::vector<std::string>& keys) const;

  std::string prefix_;
  std::shared_ptr<Store> inner_;
};

}  // namespace cresset::distributed
