// What a MeshGroup keeps about its sends and receives; mesh_point_to_point.cpp tells how they meet.
#pragma once

#include <set>

#include "cresset/distributed/mesh_group.h"
#include "cresset/distributed/staging.h"

namespace cresset::distributed {

inline constexpr uint64_t kOffers = 0x68656164;
inline constexpr uint64_t kReceipts = 0x72636564;
inline constexpr size_t kOfferFrame = 128 << 10;     // bytes
inline constexpr size_t kReceiptFrame = 4 << 10;     // bytes
inline constexpr size_t kFramesAhead = 2;            // that may come from a rank before the first is read
inline constexpr size_t kLargestBrought = 16 << 10;  // bytes that an offer brings along
inline constexpr size_t kBroughtAhead = 1 << 20;     // bytes brought to one rank that it has not taken
inline constexpr int64_t kToFetch = -1;

// Where the bytes of a message that is fetched pass.
inline uint64_t payload_slot(uint64_t message, int sender) {
  return mix(0x64617461, mix(message, static_cast<uint64_t>(sender)));
}

inline std::string described(DType dtype, int64_t count) {
  return message_of(cresset::name_of(dtype), "[", count, "]");
}

struct MeshGroup::Offer {
  uint64_t message = 0;  // its sender's number
  int64_t count = 0;
  uint32_t dtype = 0;
  int32_t tag = 0;
  int64_t brings = kToFetch;  // so many bytes stand behind it in the frame, or the receiver fetches them

  size_t brought() const { return brings > 0 ? static_cast<size_t>(brings) : 0; }
  size_t letter() const { return sizeof *this + brought(); }
};

// Letters travel many in a frame. Of offers: behind each what it brings. Of receipts: the numbers of messages.
struct MeshGroup::FrameHead {
  uint64_t bytes = 0;  // of the frame, with this
  uint64_t letters = 0;
  uint64_t read = 0;  // in a frame of receipts: how many frames of offers have been read so far
};

struct MeshGroup::Transfer {
  bool sends() const { return what.op == OpKind::send; }
  bool wants(int other, int64_t tag) const { return (peer < 0 || peer == other) && what.tag == tag; }

  Fingerprint what;
  Tensor tensor;
  int peer = -1;  // of the group; -1: whoever comes first
  bool caller_waits = false;
  std::shared_ptr<WorkState> work;
  uint64_t record = 0;
  Flights::iterator flight;
  std::atomic<bool> ended{false};
  std::atomic<bool> matched{false};  // a receive has found its offer
  bool left_to_caller = false;       // to fetch; with the mailbox's lock
  int from = -1;
  Offer offer;  // made or found
  std::optional<Input> data;
  std::unique_ptr<TransportBuffer> payload;
};

// Where frames of one kind from one rank arrive, one after the other, in `kFramesAhead` places.
struct MeshGroup::Line {
  int from = -1;
  size_t bytes = 0;  // of a place
  std::vector<char> places;
  std::unique_ptr<TransportBuffer> buffer;
  std::thread listener;
  bool ended = false;
};

struct MeshGroup::Mailbox {
  struct Unwanted {
    int from;
    Offer offer;
    std::vector<char> brought;
  };
  // Offers to a rank. Whoever adds one posts it, unless frames are under way: then whoever hears that they were read.
  struct Offers {
    std::mutex mutex;
    std::deque<std::shared_ptr<Transfer>> waiting;
    size_t waiting_bytes = 0;
    size_t brought = 0;  // bytes that it has not taken yet
    std::vector<char> places;
    std::unique_ptr<TransportBuffer> buffer;
    uint64_t posted = 0, read = 0;  // frames
  };
  // Receipts for a rank. The last frame must have left before the next is written.
  struct Receipts {
    std::mutex posting;
    std::vector<char> place;
    std::unique_ptr<TransportBuffer> buffer;
    bool under_way = false;
    uint64_t told_read = 0;
    std::mutex mutex;  // of what is to be told
    std::deque<uint64_t> waiting;
    uint64_t read = 0;
    // What the last frames told. They may be lost: a connection that this rank closes is broken for the other when it
    // writes, whatever it has not read.
    std::array<std::vector<uint64_t>, kFramesAhead> last;
    uint64_t frames = 0;
  };
  struct Peer {
    Line offer_line, receipt_line;
    Offers offers;
    Receipts receipts;
  };

  explicit Mailbox(size_t size) : peers(size) {}
  Peer& peer(int rank) { return peers[static_cast<size_t>(rank)]; }

  mutable std::mutex mutex;
  std::condition_variable changed, fetchable, postable;
  std::map<uint64_t, std::shared_ptr<Transfer>> sends;  // not taken yet
  std::list<std::shared_ptr<Transfer>> receives;        // not matched yet, in the order of the calls
  std::list<Unwanted> offers;                           // that nobody has asked for, in the order of their coming
  int fetching = 0;                                     // matched receives that are not done
  std::atomic<bool> closing{false};
  bool ended = false;
  std::vector<Peer> peers;
  std::deque<std::shared_ptr<Transfer>> to_fetch;
  std::vector<std::thread> fetchers;
  size_t idle = 0;
  std::set<int> to_post;
  std::thread postman;
};

}  // namespace cresset::distributed
