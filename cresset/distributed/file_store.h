// FileStore: a table in a file that all processes can reach, for machines without a network between the processes.
// Waiting looks at the file every few milliseconds.
#pragma once

#include "cresset/distributed/store.h"

namespace cresset::distributed {

class FileLog;

class CRESSET_API FileStore final : public Store {
 public:
  // The last of `expected_users` stores to be destroyed removes the file; with 0 it stays. A file that an earlier run
  // left behind is taken up as it is.
  explicit FileStore(const std::string& path, int64_t expected_users = 0, Milliseconds timeout = kDefaultTimeout);
  ~FileStore() override;

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
  std::string name() const override;

 private:
  struct Wills;
  FileStore(std::shared_ptr<FileLog> log, Milliseconds timeout);

  std::shared_ptr<FileLog> log_;
  std::unique_ptr<Wills> wills_;
};

}  // namespace cresset::distributed
