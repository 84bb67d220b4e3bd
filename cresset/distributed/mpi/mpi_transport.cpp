// Bytes over MPI. Its waits cannot be cut off, so requests are tested in a loop; all calls go through one lock, which
// any MPI that allows threads accepts. Tags have too few bits for a slot's hash: groups compare fingerprints first.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_set>

#include "cresset/distributed/fingerprint.h"
#include "cresset/distributed/mpi/mpi_loader.h"

namespace cresset::distributed {
namespace {

std::mutex& mpi_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

std::atomic<bool> gave_up{false};  // an operation has failed: MPI_Finalize would wait for others that do not come
bool ended = false;                // no more calls, under the lock
bool initialized_here = false;
int largest_tag = 32767;

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw BrokenConnection(-1, message_of(call, ": ", std::string(text, static_cast<size_t>(length))));
}

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm communicator, int rank, int size) : communicator_(communicator), rank_(rank), size_(size) {}
  ~MpiTransport() override { close(); }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const char* name() const override { return "mpi"; }
  bool names_messages() const override { return false; }
  std::unique_ptr<TransportBuffer> buffer(void* data, size_t bytes) override;
  void interrupt() override { interrupted_ = true; }
  void close() override {
    // Freeing a communicator waits for all its ranks, and MPI frees it in the end.
    communicator_ = MPI_COMM_NULL;
  }
  bool interrupted() const { return interrupted_; }
  MPI_Comm communicator() const { return communicator_; }

 private:
  MPI_Comm communicator_;
  int rank_, size_;
  std::atomic<bool> interrupted_{false};
};

class MpiBuffer final : public TransportBuffer {
 public:
  MpiBuffer(MpiTransport& transport, void* data) : transport_(transport), data_(static_cast<char*>(data)) {
    const std::lock_guard lock(mpi_mutex());
    alive().insert(this);
  }
  ~MpiBuffer() override {
    const std::lock_guard lock(mpi_mutex());
    alive().erase(this);
    if (!ended) abandon();
  }
  // All that there are, for the end. Under the lock.
  static std::unordered_set<MpiBuffer*>& alive() {
    static auto* all = new std::unordered_set<MpiBuffer*>;
    return *all;
  }
  // What was not waited for belongs to an operation that failed, or to one that waits for whatever may come; nothing
  // may arrive in memory that is given back. Under the lock.
  void abandon() {
    for (MPI_Request& request : receives_) {
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
    for (MPI_Request& request : sends_) {
      int done = 0;
      const bool left = MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
      if (left) continue;
      gave_up = true;  // the other side may never ask for it
      MPI_Request_free(&request);
    }
    receives_.clear();
    sends_.clear();
  }

  void send(int peer, uint64_t slot, size_t offset, size_t bytes) override {
    MPI_Request request;
    const std::lock_guard lock(usable());
    check_not_ended();
    check(MPI_Isend(data_ + offset, length(bytes), MPI_BYTE, peer, tag(slot), transport_.communicator(), &request),
          "MPI_Isend");
    sends_.push_back(request);
  }
  void recv(int peer, uint64_t slot, size_t offset, size_t bytes) override {
    MPI_Request request;
    const std::lock_guard lock(usable());
    check_not_ended();
    check(MPI_Irecv(data_ + offset, length(bytes), MPI_BYTE, peer, tag(slot), transport_.communicator(), &request),
          "MPI_Irecv");
    receives_.push_back(request);
  }
  void recv_any(const std::vector<int>&, uint64_t slot, size_t offset, size_t bytes) override {
    recv(MPI_ANY_SOURCE, slot, offset, bytes);
  }
  void wait_send() override { wait(sends_); }
  int wait_recv() override { return wait(receives_); }
  void cut_off() override { cut_off_ = true; }

 private:
  static int length(size_t bytes) {
    // The algorithms cut large messages into segments; what they do not cut is refused here.
    CRESSET_CHECK_AS(ValueError, bytes <= size_t{1} << 30, "mpi: found a message of ", bytes,
                     " bytes (expected at most 2^30: send it in parts)");
    return static_cast<int>(bytes);
  }
  static int tag(uint64_t slot) { return static_cast<int>(slot % static_cast<uint64_t>(largest_tag)); }
  std::mutex& usable() const {
    if (transport_.interrupted()) throw Interrupted();
    return mpi_mutex();
  }
  // The program ends while a thread of its own still talks.
  static void check_not_ended() {
    if (ended) throw Interrupted();
  }

  // In the order posted: the first ones first.
  int wait(std::deque<MPI_Request>& requests) {
    for (int tries = 0;; tries++) {
      {
        const std::lock_guard lock(usable());
        if (cut_off_) throw Interrupted();
        check_not_ended();
        int done = 0;
        MPI_Status status;
        if (!requests.empty()) check(MPI_Test(&requests.front(), &done, &status), "MPI_Test");
        if (done) {
          requests.pop_front();
          return status.MPI_SOURCE;
        }
      }
      // At first the answer is near; then leave the core to those who compute.
      if (tries < 200)
        sched_yield();
      else
        usleep(tries < 2000 ? 20 : tries < 20'000 ? 200 : 1000);
    }
  }

  MpiTransport& transport_;
  char* data_;
  std::deque<MPI_Request> sends_, receives_;
  std::atomic<bool> cut_off_{false};
};

std::unique_ptr<TransportBuffer> MpiTransport::buffer(void* data, size_t) {
  return std::make_unique<MpiBuffer>(*this, data);
}

void initialize() {
  int initialized = 0, provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  if (!initialized) {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    initialized_here = true;
  } else {
    MPI_Query_thread(&provided);
  }
  CRESSET_CHECK_AS(DistributedError, provided >= MPI_THREAD_SERIALIZED,
                   "init_process_group: this MPI allows no threads (found level ", provided, ", expected ",
                   MPI_THREAD_SERIALIZED, " or more)");
  void* bound = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
  if (found) largest_tag = *static_cast<int*>(bound);
}

std::shared_ptr<Transport> connect(const std::string& name, const std::vector<int>& ranks, int place) {
  static std::once_flag once;
  std::call_once(once, initialize);
  const std::lock_guard lock(mpi_mutex());
  int world = 0, self = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  CRESSET_CHECK_AS(DistributedError, static_cast<int>(ranks.size()) <= world,
                   "init_process_group: the backend mpi has ", world, " processes (expected ", ranks.size(),
                   "): start the program with mpirun -n ", ranks.size());
  CRESSET_CHECK_AS(DistributedError, self == ranks[static_cast<size_t>(place)], "init_process_group: this is rank ",
                   self, " of MPI's world (expected ", ranks[static_cast<size_t>(place)], ")");
  MPI_Group everyone, members;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &everyone);
  MPI_Group_incl(everyone, static_cast<int>(ranks.size()), ranks.data(), &members);
  uint64_t hash = 0;
  for (const char c : name) hash = mix(hash, static_cast<unsigned char>(c));
  const int status = MPI_Comm_create_group(MPI_COMM_WORLD, members, static_cast<int>(hash % 30000), &communicator);
  MPI_Group_free(&members);
  MPI_Group_free(&everyone);
  check(status, "MPI_Comm_create_group");
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  return std::make_shared<MpiTransport>(communicator, place, static_cast<int>(ranks.size()));
}

void finalize() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!initialized_here || finalized) return;
  const std::lock_guard lock(mpi_mutex());
  for (MpiBuffer* buffer : MpiBuffer::alive()) buffer->abandon();
  ended = true;
  if (!gave_up) MPI_Finalize();
}

const bool registered = [] {
  register_mpi({connect, [] { gave_up = true; }, finalize});
  return true;
}();

}  // namespace
}  // namespace cresset::distributed
