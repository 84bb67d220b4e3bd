// What a MeshGroup keeps about its sends and receives; mesh_point_to_point.cpp tells how they meet.
#pragma once

#include "cresset/distributed/mesh_group.h"
#include "cresset/distributed/staging.h"

namespace cresset::distributed {

inline constexpr uint64_t kOffers = 0x68656164;
inline constexpr uint64_t kReceipts = 0x72636564;
inline constexpr size_t kBrought = 216;  // bytes that an offer brings along
inline constexpr size_t kAhead = 8;      // letters of a rank that may come before the first is read

inline std::string described(DType dtype, int64_t count) {
  return message_of(cresset::name_of(dtype), "[", count, "]");
}

struct MeshGroup::Offer {
  uint64_t message = 0;  // its sender's number
  int64_t count = 0;
  uint64_t dtype = 0;
  int64_t tag = 0;
  char brought[kBrought];
};

struct MeshGroup::Transfer {
  bool sends() const { return what.op == OpKind::send; }
  bool wants(int other, int64_t tag) const { return (peer < 0 || peer == other) && what.tag == tag; }

  Fingerprint what;
  std::string with;   // " to rank 1 (float32[10], tag 5, group default)"
  std::string title;  // "send to rank 1 (…)", for this rank's own ears
  Tensor tensor;
  int peer = -1;  // of the group; -1: whoever comes first
  bool caller_fetches = false;
  std::shared_ptr<WorkState> work;
  uint64_t record = 0;
  Flights::iterator flight;
  std::atomic<bool> ended{false};
  std::atomic<bool> matched{false};  // a receive has found its offer
  int from = -1;
  Offer offer;  // made or found
  std::optional<Input> data;
  std::unique_ptr<TransportBuffer> letter, payload;
};

// Where the letters of one kind from one rank arrive, one after the other, in `kAhead` places.
struct MeshGroup::Line {
  int from = -1;
  size_t bytes = 0;
  std::vector<char> places;
  std::unique_ptr<TransportBuffer> buffer;
  std::thread listener;
  bool ended = false;
};

struct MeshGroup::Mailbox {
  struct Unwanted {
    int from;
    Offer offer;
  };
  // The last receipt to a rank, which must have left before the next is written.
  struct Receipt {
    std::mutex mutex;
    uint64_t message = 0;
    std::unique_ptr<TransportBuffer> buffer;
    bool under_way = false;
  };

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::map<uint64_t, std::shared_ptr<Transfer>> sends;  // not taken yet
  std::list<std::shared_ptr<Transfer>> receives;        // not matched yet, in the order of the calls
  std::list<Unwanted> offers;                           // that nobody has asked for, in the order of their coming
  int fetching = 0;                                     // matched receives that are not done
  std::atomic<bool> closing{false};
  bool ended = false;
  std::map<int, Line> offer_lines, receipt_lines;
  std::map<int, Receipt> receipts;
  std::deque<std::shared_ptr<Transfer>> to_fetch;
  std::vector<std::thread> fetchers;
  size_t idle = 0;
};

}  // namespace cresset::distributed
