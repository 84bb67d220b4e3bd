// MeshGroup: the ProcessGroup over a Transport. Its queue keeps the order, its watchdog turns silence into an
// explanation, and its first error is its last.
#pragma once

#include <sys/types.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include "cresset/distributed/algorithms.h"
#include "cresset/distributed/flight_recorder.h"
#include "cresset/distributed/health.h"
#include "cresset/distributed/work_state.h"

namespace cresset::distributed {

// While one lives, this thread waits for what it starts: operations run on it when nothing else is queued.
class CRESSET_API CallerWaits {
 public:
  explicit CallerWaits(bool waits);
  ~CallerWaits();
  CallerWaits(const CallerWaits&) = delete;
  CallerWaits& operator=(const CallerWaits&) = delete;
  static bool now();

 private:
  bool before_;
};

struct MeshOptions {
  std::string name = "default";
  int number = 0;          // in the name: "group 3"
  std::vector<int> ranks;  // of the world, in the group's order
  Milliseconds timeout = kDefaultTimeout;
};

class MeshGroup final : public ProcessGroup, public Watched {
 public:
  MeshGroup(std::shared_ptr<Transport> transport, std::shared_ptr<Health> health, MeshOptions options);
  ~MeshGroup() override;

  int rank() const override { return transport_->rank(); }
  int size() const override { return transport_->size(); }
  int global_rank(int rank) const override;
  int rank_of(int global_rank) const override;
  const std::string& name() const override { return options_.name; }
  const std::vector<int>& ranks() const { return options_.ranks; }  // of the world, in the group's order
  const char* backend() const override { return transport_->name(); }
  Milliseconds timeout() const override { return Milliseconds(timeout_.load()); }
  void set_timeout(Milliseconds timeout) override;
  std::exception_ptr error() const override;
  FlightRecorder& recorder() override { return recorder_; }

  Work all_reduce(std::vector<Tensor> tensors, ReduceOp op) override;
  Work broadcast(std::vector<Tensor> tensors, int root) override;
  Work reduce(Tensor tensor, int root, ReduceOp op) override;
  Work all_gather(std::vector<Tensor> outputs, Tensor input) override;
  Work gather(std::vector<Tensor> outputs, Tensor input, int root) override;
  Work scatter(Tensor output, std::vector<Tensor> inputs, int root) override;
  Work reduce_scatter(Tensor output, std::vector<Tensor> inputs, ReduceOp op) override;
  Work all_to_all(std::vector<Tensor> outputs, std::vector<Tensor> inputs) override;
  Work barrier() override;
  Work send(Tensor tensor, int destination, int tag) override;
  Work recv(Tensor tensor, int source, int tag) override;
  void follow_plan(uint64_t digest) override { plan_ = digest; }
  void shutdown() override;

  // A barrier through the store, which works without the connections.
  void monitored_barrier(Milliseconds timeout, bool name_all);
  // The first half of shutdown: what is queued ends, and nothing new begins. The connections stay.
  void finish_queue();
  // Ends what is under way at once, for a process that is about to end.
  void abandon(const std::string& why);

  void watch() override;
  std::string progress() const override;

 private:
  using Clock = std::chrono::steady_clock;
  using Body = std::function<void(const Exchange&)>;

  struct Operation {
    Fingerprint what;
    std::string detail;  // more of what must fit together: the parts of an all_to_all
    Body body;
    std::shared_ptr<WorkState> work;
    uint64_t record = 0;
  };
  // What the watchdog knows of an operation that runs.
  struct Transfer;
  struct Flight {
    Fingerprint what;
    std::string detail;
    std::string title;                   // of the end of the group, which waits for others, too
    std::shared_ptr<Transfer> transfer;  // of a send or receive
    Clock::time_point started;
    bool published = false;
    std::optional<Clock::time_point> disagreed;

    // Sends and receives are counted apart.
    bool is_collective() const { return title.empty() && !transfer; }
  };
  using Flights = std::list<Flight>;
  // This rank and another wait in sends to each other.
  struct Circle {
    std::string words;
    Clock::time_point since;
    bool told = false;
  };

  Work submit(Fingerprint what, std::vector<Tensor> result, Body body, std::string detail = {});
  void execute(Operation& operation);
  void run_queue();
  void agree_first(const Fingerprint& what);
  using Title = std::function<std::string()>;  // made only when something has failed
  // What the body throws becomes what the caller is to hear.
  std::exception_ptr explained(const Fingerprint& what, const Title& title, const std::function<void()>& body);
  // The same, of an operation that somebody waits for.
  std::exception_ptr run_guarded(const Fingerprint& what, const Title& title, const std::function<void()>& body);
  Flights::iterator take_off(const Fingerprint& what, std::string detail, std::string title,
                             std::shared_ptr<Transfer> transfer);
  void land(Flights::iterator flight);

  // The group dies of `words`: a whole sentence, or a cause that each operation puts its own name in front of.
  enum class Words { sentence, cause };
  void die(const std::string& words, Words kind);
  std::exception_ptr death_of(const std::string& title) const;
  // The same, when all others have had time to hear of it.
  std::exception_ptr told_death_of(const std::string& title) const;
  bool others_have_heard() const;
  void check_alive(const char* op) const;
  bool forked() const;  // this process is a child of the one whose group it is
  void watch_collective(Flight& flight, Clock::time_point now);
  std::string disagreement(const Flight& flight, bool& complete) const;
  std::string too_late(const Flight& flight) const;
  // Tells the others what this rank meant by its last operations, and by the one that it is in, if any.
  void publish(const Flight* flight);
  void give_up(const std::string& sentence);

  // Point to point; mesh_point_to_point.cpp tells how.
  struct Offer;
  struct FrameHead;
  struct Line;
  struct Mailbox;
  static std::shared_ptr<Mailbox> make_mailbox(int size);
  Work start_point_to_point(OpKind op, const Tensor& tensor, int peer, int tag);
  std::string whereto(const Transfer& transfer) const;   // " to rank 1 (float32[10], tag 5, group default)"
  std::string title_of(const Transfer& transfer) const;  // "send to rank 1 (…)", for this rank's own ears
  void check_open() const;
  void open_line(int peer, OpKind op);
  void fail_transfers();
  void close_mailbox();
  void leave_mailbox_to_parent();
  void make_offer(const std::shared_ptr<Transfer>& transfer);
  void post_offers(int peer);
  void acknowledge(const Transfer& transfer);
  void post_receipts(int peer);
  void publish_taken();
  void hear_what_was_taken();
  void ask_postman(int peer);
  void carry_post();
  void look_for_offer(const std::shared_ptr<Transfer>& transfer);
  void match(Transfer& transfer, int from, const Offer& offer);
  void let_fetch(const std::shared_ptr<Transfer>& transfer);
  void hear(Line& line, OpKind op);
  bool ends_unmissed(Line& line);
  void hear_receipts(int from, const char* frame);
  void hear_offers(int from, const char* frame);
  std::shared_ptr<Transfer> receiver_of(int from, const Offer& offer, const char* brought);
  void fetch_when_matched(Transfer& transfer);
  void fetch_for_others();
  void check_fits(const Transfer& transfer);
  void take(const Transfer& transfer, const char* brought);
  void fetch(Transfer& transfer);
  void finish(Transfer& transfer, const std::exception_ptr& error);
  // Why the other side of a send or receive will not come: "rank 1 (host a, pid 7) exited with status 0 …". Or empty.
  std::string nobody_left(const Flight& flight) const;
  // What others have offered and nobody has received; of one rank of the group, or of all for -1.
  std::string offers_in_words(int peer) const;
  std::string transfer_too_late(const Flight& flight) const;
  // Tells those whose offers nobody has asked for what is waited for instead.
  void publish_unmet(Clock::time_point now);
  std::string doings_towards(int sender, Clock::time_point now) const;
  std::string in_a_circle(int peer, Clock::time_point now) const;
  void warn_of_circles(Clock::time_point now);

  const pid_t owner_;
  std::shared_ptr<Transport> transport_;
  std::shared_ptr<Health> health_;
  MeshOptions options_;
  std::atomic<int64_t> timeout_;
  FlightRecorder recorder_;
  std::atomic<uint64_t> plan_{0};
  uint64_t agreed_plan_ = 0;

  mutable std::mutex mutex_;  // the queue
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  bool busy_ = false;
  std::atomic<bool> closed_{false};
  uint64_t sequence_ = 0;
  std::thread thread_;
  std::vector<char> scratch_;
  std::atomic<uint64_t> completed_{0};
  uint64_t monitored_ = 0;

  mutable std::mutex flights_mutex_;
  Flights flights_;
  std::array<Fingerprint, 8> last_operations_;  // at their sequence number modulo 8
  std::map<int, std::string> published_unmet_;  // by rank of the group; the watchdog's own
  std::map<int, Circle> circles_;               // likewise
  std::atomic<int> calls_{0};                   // operations under way, and those whose failure is being looked into
  std::optional<Clock::time_point> gave_up_;
  std::string last_words_;

  mutable std::mutex death_mutex_;
  std::atomic<bool> dead_{false};
  std::string death_;
  Words death_kind_ = Words::sentence;
  Clock::time_point died_;

  std::shared_ptr<Mailbox> mailbox_;
  std::atomic<uint64_t> messages_{0};
};

}  // namespace cresset::distributed
