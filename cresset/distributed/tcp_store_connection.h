// What the TCP store's server knows of one connection.
#pragma once

#include "cresset/distributed/tcp_store_server.h"

namespace cresset::distributed {

// A request that waits for keys, or for changes under a prefix.
struct TcpStoreServer::Parked {
  wire::Ask ask = wire::Ask::kGet;
  TimePoint deadline;
  std::vector<std::string> keys;  // of changes: the prefix alone
  size_t present = 0;             // this many keys in front were there already
  uint64_t since = 0;
};

struct TcpStoreServer::Connection {
  Id id = 0;
  Socket socket;
  TimePoint born;
  bool is_trusted = false;
  std::string introduction;               // who it says it is
  std::string expected_proof, own_proof;  // after the challenge
  std::string in, out;
  size_t sent = 0;          // of out
  bool is_writing = false;  // waits until the socket takes more of it
  size_t counted = 0;       // of in and out, in buffered_
  std::unique_ptr<Parked> parked;
  std::map<std::string, std::string> wills;
};

}  // namespace cresset::distributed
