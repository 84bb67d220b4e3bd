// A Store kept by one process and reached over TCP. The server is a thread of its own; a client is one connection, on
// which one request runs at a time.
#pragma once

#include "cresset/distributed/store.h"

namespace cresset::distributed {

// What a server holds at most, whoever asks for it. A client that wants more is told so, and the others go on.
struct TcpStoreLimits {
  size_t max_bytes = size_t{1} << 30;  // of all keys and values; four times as much of messages under way
  size_t max_keys = 1'000'000;
  size_t max_clients =
      0;  // connections that have been let in; 0: five eighths of the descriptors this process may have
};

struct TcpStoreOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;                       // 0: the server takes a free one
  bool is_server = false;                  // whether this process keeps the table
  int listen_fd = -1;                      // a socket that listens already (the launcher's), in place of host and port
  std::string token;                       // what a client must know; empty: nothing is asked
  std::string introduction;                // who a client is, for what the server says of it: "rank 1 (pid 7)"
  Milliseconds timeout = kDefaultTimeout;  // for connecting and for every wait without its own
  TcpStoreLimits limits;                   // of the server
};

class TcpStoreServer;

class CRESSET_API TcpStore final : public Store {
 public:
  explicit TcpStore(const TcpStoreOptions& options);
  ~TcpStore() override;

  // Those who introduced themselves and were turned away, or turned away themselves, because of the token, in words:
  // "rank 1 (pid 7) came without a token". Of the server in this process; empty elsewhere.
  std::vector<std::string> turned_away() const;

  uint16_t port() const;
  const std::string& host() const;

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
  struct Client;
  TcpStore(const TcpStoreOptions& options, std::shared_ptr<TcpStoreServer> server);

  TcpStoreOptions options_;
  std::shared_ptr<TcpStoreServer> server_;
  std::unique_ptr<Client> client_;
};

using TCPStore = TcpStore;  // PyTorch's spelling

}  // namespace cresset::distributed
