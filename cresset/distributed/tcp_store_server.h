// The table of a TcpStore and the thread that serves it. Nobody who talks to it can stop it: a client that sends
// nonsense, too much, or nothing at all loses its connection, and the others notice nothing.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "cresset/distributed/socket.h"
#include "cresset/distributed/store_wire.h"
#include "cresset/distributed/tcp_store.h"

namespace cresset::distributed {

class TcpStoreServer {
 public:
  TcpStoreServer(Socket listener, std::string token, const TcpStoreLimits& limits = {});
  ~TcpStoreServer();
  TcpStoreServer(const TcpStoreServer&) = delete;
  TcpStoreServer& operator=(const TcpStoreServer&) = delete;

  const std::string& host() const { return host_; }
  uint16_t port() const { return port_; }
  std::vector<std::string> turned_away() const;

 private:
  struct Connection;
  struct Parked;
  using Id = uint64_t;  // never used twice, so that an event for a closed connection finds none

  void serve();
  int next_pause() const;
  void accept_some();
  void watch(const Connection& connection, uint32_t events, int operation) const;
  void on_event(Id id, uint32_t events);
  void read_from(Connection& connection);
  void flush(Connection& connection);
  void handle_frames(Connection& connection);
  void greet(Connection& connection, wire::Ask ask, wire::Reader& body);
  void handle(Connection& connection, wire::Ask ask, wire::Reader& body);
  void carry_out(Connection& connection, wire::Ask ask, wire::Reader& body);
  void park(Connection& connection, Parked parked);
  bool answer_if_ready(Connection& connection, bool is_late);
  void answer_parked();
  void reply(Connection& connection, wire::Answer answer, std::string_view body = {});
  void check_not_crowded(Connection& connection);
  void count_buffers(Connection& connection);
  bool has_room_for(const Connection& connection, size_t bytes) const;
  void leave_will(Connection& connection, const std::string& key, std::string value);
  void drop(Id id);
  void turn_away(const Connection& connection, const char* why);
  void drop_late_strangers();

  std::string host_;
  uint16_t port_ = 0;
  std::string token_;
  Socket listener_;
  int events_ = -1;  // epoll
  int stop_event_ = -1;
  std::atomic<bool> stopping_{false};
  pid_t owner_;
  std::unique_ptr<std::thread> thread_;

  mutable std::mutex turned_away_mutex_;
  std::vector<std::string> turned_away_;

  const TcpStoreLimits limits_;
  const size_t max_clients_, max_strangers_;

  // The thread's own.
  std::string read_buffer_;
  StoreTable table_;
  std::map<Id, std::unique_ptr<Connection>> connections_;
  std::set<Id> strangers_;  // not greeted yet; the oldest first
  std::set<Id> parked_;
  size_t buffered_ = 0;  // bytes of messages under way, beyond what each connection may have anyway
  size_t will_bytes_ = 0;
  Id next_id_ = 2;  // 0 is the listener, 1 the stop event
  TimePoint accept_after_{};
  bool is_accepting_ = true;
};

}  // namespace cresset::distributed
