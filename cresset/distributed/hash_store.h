// HashStore: a table for the threads of one process. Its clones share the table.
#pragma once

#include "cresset/distributed/store.h"

namespace cresset::distributed {

class CRESSET_API HashStore final : public Store {
 public:
  explicit HashStore(Milliseconds timeout = kDefaultTimeout);
  ~HashStore() override;

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
  // The table goes with the process: nobody is left to read a will.
  void last_will(const std::string& key, std::string_view value) override;
  void withdraw_will(const std::string& key) override;
  std::shared_ptr<Store> clone() override;
  std::string name() const override { return "hash://"; }

 private:
  struct Shared;
  HashStore(std::shared_ptr<Shared> shared, Milliseconds timeout);

  std::shared_ptr<Shared> shared_;
};

}  // namespace cresset::distributed
