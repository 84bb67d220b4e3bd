#include "cresset/distributed/direct_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

namespace cresset::distributed {
namespace {

// Stays in the second-level cache with what it is added to.
constexpr size_t kChunkBytes = 128 << 10;

struct Card {
  uint64_t host = 0;     // of the machine and its network
  uint64_t secret = 0;   // which stands in the rank's memory, at
  uint64_t address = 0;  // this place
  int64_t pid = 0;
  int64_t page = -1;  // the first rank's descriptor of the page of flags
};

uint64_t hash_of(const std::string& text, uint64_t seed) {
  for (char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return seed;
}

// Namespaces that a link joins are hosts of their own: whoever made them wants the link to be used.
uint64_t host_id() {
  char name[256] = {}, network[256] = {};
  gethostname(name, sizeof name - 1);
  const ssize_t length = readlink("/proc/self/ns/net", network, sizeof network - 1);
  return hash_of(std::string(network, length > 0 ? static_cast<size_t>(length) : 0), hash_of(name, 0xcbf29ce484222325));
}

bool fetch(int64_t pid, void* mine, uint64_t theirs, size_t bytes) {
  auto* at = static_cast<char*>(mine);
  while (bytes > 0) {
    iovec here{at, bytes}, there{reinterpret_cast<void*>(theirs), bytes};  // NOLINT: an address in another process
    const ssize_t moved = process_vm_readv(static_cast<pid_t>(pid), &here, 1, &there, 1, 0);
    if (moved <= 0) {
      if (moved < 0 && errno == EINTR) continue;
      return false;
    }
    at += moved;
    theirs += static_cast<uint64_t>(moved);
    bytes -= static_cast<size_t>(moved);
  }
  return true;
}

// One value of every rank, on every rank.
template <class T>
std::vector<T> exchange_values(const Exchange& exchange, uint64_t slot, const T& mine) {
  const int size = exchange.size(), rank = exchange.rank();
  std::vector<T> all(static_cast<size_t>(size));
  T own = mine;
  auto out = exchange.transport.buffer(&own, sizeof own);
  auto in = exchange.transport.buffer(all.data(), sizeof(T) * all.size());
  for (int i = 1; i < size; i++) {
    const int from = (rank + i) % size;
    in->recv(from, slot, sizeof(T) * static_cast<size_t>(from), sizeof(T));
  }
  for (int i = 1; i < size; i++) out->send((rank + i) % size, slot, 0, sizeof(T));
  for (int i = 1; i < size; i++) in->wait_recv();
  for (int i = 1; i < size; i++) out->wait_send();
  all[static_cast<size_t>(rank)] = mine;
  return all;
}

}  // namespace

// One rank's message to one other. The state is the operation's name with two bits below it: arrived, or the other one
// has gone to wait in the transport.
struct alignas(64) DirectMemory::Flag {
  std::atomic<uint64_t> state;
  uint64_t value;

  static constexpr uint64_t kArrived = 1, kWaitsInTransport = 2;

  // The futex looks at the half that holds the two bits.
  void sleep(uint64_t unless_changed, int64_t nanoseconds) {
    const timespec limit{0, nanoseconds};
    syscall(SYS_futex, &state, FUTEX_WAIT, static_cast<uint32_t>(unless_changed), &limit, nullptr, 0);
  }
  void wake() { syscall(SYS_futex, &state, FUTEX_WAKE, 1, nullptr, nullptr, 0); }
};

DirectMemory::Flag& DirectMemory::flag(Round round, size_t from, size_t to) const {
  return static_cast<Flag*>(page_)[(static_cast<size_t>(round) * ranks_ + from) * ranks_ + to];
}

DirectMemory::~DirectMemory() {
  for (const Peer& peer : peers_)
    if (peer.handle >= 0) close(peer.handle);
  if (page_) munmap(page_, page_bytes_);
}

// The handle first: what is read through the pid afterwards is of the process that it stands for.
bool DirectMemory::open_peer(int64_t pid, uint64_t address, uint64_t secret) {
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  peers_.push_back({static_cast<int>(pid), handle});
  uint64_t found = 0;
  return handle >= 0 && fetch(pid, &found, address, sizeof found) && found == secret;
}

// The page is a file without a name of the first rank's, reached through its open descriptors.
bool DirectMemory::open_page(int owner_pid, int fd, size_t size) {
  const std::string path = "/proc/" + std::to_string(owner_pid) + "/fd/" + std::to_string(fd);
  const int own = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (own < 0) return false;
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
  close(own);
  if (page == MAP_FAILED) return false;
  page_ = page;
  page_bytes_ = size;
  return true;
}

std::shared_ptr<DirectMemory> DirectMemory::probe(const Exchange& exchange) {
  std::shared_ptr<DirectMemory> known(new DirectMemory);
  known->ranks_ = static_cast<size_t>(exchange.size());
  const size_t bytes = kRounds * known->ranks_ * known->ranks_ * sizeof(Flag);
  const char* wish = std::getenv("CRESSET_DIRECT_MEMORY");
  std::random_device random;
  const uint64_t secret = (static_cast<uint64_t>(random()) << 32) | random();
  Card card{host_id(), secret, reinterpret_cast<uint64_t>(&secret), getpid(), -1};
  if (exchange.rank() == 0) {
    const int fd = memfd_create("cresset-flags", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0) card.page = fd;
  }
  if (wish && std::strcmp(wish, "0") == 0) card.host = secret;  // nobody's neighbour
  // Where processes may not look into their siblings (Yama), those that the same launcher started may look into this
  // one.
  if (getppid() > 1) prctl(PR_SET_PTRACER, static_cast<unsigned long>(getppid()), 0, 0, 0);
  const std::vector<Card> cards = exchange_values(exchange, exchange.slot, card);
  bool reached = cards[0].page >= 0;
  for (const Card& other : cards)
    reached = reached && other.host == card.host && known->open_peer(other.pid, other.address, other.secret);
  reached = reached && known->open_page(known->peers_[0].pid, static_cast<int>(cards[0].page), bytes);
  const auto verdicts = exchange_values(exchange, exchange.slot + 1, static_cast<uint64_t>(reached));
  known->reaches_all_ = std::all_of(verdicts.begin(), verdicts.end(), [](uint64_t v) { return v == 1; });
  exchange_values(exchange, exchange.slot + 2, uint64_t{0});  // all have opened it
  if (card.page >= 0) close(static_cast<int>(card.page));
  return known;
}

std::vector<uint64_t> DirectMemory::meet(const Exchange& exchange, Round round, uint64_t value) const {
  constexpr int64_t kNap = 5'000'000;  // nanoseconds
  constexpr int kNaps = 4;
  const auto rank = static_cast<size_t>(exchange.rank());
  const uint64_t slot = exchange.slot + static_cast<uint64_t>(round);
  const uint64_t name = (slot * 0x9e3779b97f4a7c15) & ~uint64_t{3};
  const uint64_t here = name | Flag::kArrived, elsewhere = name | Flag::kWaitsInTransport;
  char token = 0;
  auto buffer = exchange.transport.buffer(&token, 1);
  for (size_t i = 1; i < ranks_; i++) {
    const size_t to = (rank + i) % ranks_;
    Flag& mine = flag(round, rank, to);
    mine.value = value;
    const uint64_t before = mine.state.exchange(here, std::memory_order_acq_rel);
    mine.wake();
    if (before != elsewhere) continue;
    buffer->send(static_cast<int>(to), slot, 0, 1);
    buffer->wait_send();
  }
  std::vector<uint64_t> values(ranks_, value);
  for (size_t i = 1; i < ranks_; i++) {
    const size_t from = (rank + i) % ranks_;
    Flag& theirs = flag(round, from, rank);
    uint64_t seen = theirs.state.load(std::memory_order_acquire);
    for (int nap = 0; seen != here && nap < kNaps; nap++) {
      theirs.sleep(seen, kNap);
      seen = theirs.state.load(std::memory_order_acquire);
    }
    while (seen != here && !theirs.state.compare_exchange_weak(seen, elsewhere, std::memory_order_acq_rel)) {
    }
    if (seen != here) {
      buffer->recv(static_cast<int>(from), slot, 0, 1);
      buffer->wait_recv();
      CRESSET_CHECK_AS(DistributedError, theirs.state.load(std::memory_order_acquire) == here,
                       "DirectMemory: a flag was lost");
    }
    values[from] = theirs.value;
  }
  return values;
}

void DirectMemory::all_reduce(const Exchange& exchange, char* data, size_t count, const Elements& of) const {
  const size_t rank = static_cast<size_t>(exchange.rank()), width = of.size(), chunk = kChunkBytes / width;
  const std::vector<uint64_t> places = meet(exchange, kReady, reinterpret_cast<uint64_t>(data));
  const auto reach = [&](size_t peer, char* into, size_t element, size_t elements) {
    // A pid may be given to another process once its own is gone.
    pollfd ended{peers_[peer].handle, POLLIN, 0};
    if (poll(&ended, 1, 0) != 0) throw BrokenConnection(static_cast<int>(peer), "its process has ended");
    if (!fetch(peers_[peer].pid, into, places[peer] + element * width, elements * width))
      throw BrokenConnection(static_cast<int>(peer),
                             std::string("its memory cannot be reached: ") + std::strerror(errno));
  };
  // Parts begin on cache lines, so that no two ranks share one.
  const size_t line = std::max<size_t>(1, 64 / width), lines = (count + line - 1) / line;
  const auto begin_of = [&](size_t r) { return std::min(count, lines * r / ranks_ * line); };
  const size_t begin = begin_of(rank), end = begin_of(rank + 1);
  char* theirs = exchange.room(chunk * width * ranks_);
  for (size_t at = begin; at < end; at += chunk) {
    const size_t elements = std::min(chunk, end - at);
    char* mine = data + at * width;
    const auto part = [&](size_t r) { return r == rank ? mine : theirs + r * chunk * width; };
    for (size_t r = 0; r < ranks_; r++)
      if (r != rank) reach(r, part(r), at, elements);
    // This rank's own data is an operand and the result's place: the sum so far stays in the scratch until then.
    char* sum = part(0);
    for (size_t r = 1; r < ranks_; r++) {
      char* into = r >= rank ? mine : part(1);
      of.reduction(into, sum, part(r), elements);
      sum = into;
    }
    if (of.average) divide(mine, of.dtype, elements, exchange.size());
  }
  meet(exchange, kReduced, 0);
  for (size_t i = 1; i < ranks_; i++) {
    const size_t owner = (rank + i) % ranks_, first = begin_of(owner), last = begin_of(owner + 1);
    if (first < last) reach(owner, data + first * width, first, last - first);
  }
  meet(exchange, kDone, 0);
}

}  // namespace cresset::distributed
