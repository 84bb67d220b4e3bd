// The queue and its thread. A thread that waits for its operation anyway carries it out itself when nothing is queued:
// for small messages the hand-over would cost more than the message.
#include "cresset/distributed/mesh_group.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cresset/core/parallel.h"
#include "cresset/distributed/called_as.h"

namespace cresset::distributed {
namespace {

thread_local bool caller_waits = false;

// How long the cause of a broken connection is looked for: a disagreement takes up to a second and a half to be told.
constexpr Milliseconds kExplained{1800};

template <class T>
void keep_for_ever(std::shared_ptr<T>& object) {
  new std::shared_ptr<T>(std::move(object));
}

}  // namespace

CallerWaits::CallerWaits(bool waits) : before_(caller_waits) { caller_waits = waits; }
CallerWaits::~CallerWaits() { caller_waits = before_; }
bool CallerWaits::now() { return caller_waits; }

MeshGroup::MeshGroup(std::shared_ptr<Transport> transport, std::shared_ptr<Health> health, MeshOptions options)
    : owner_(getpid()),
      transport_(std::move(transport)),
      health_(std::move(health)),
      options_(std::move(options)),
      timeout_(options_.timeout.count()),
      recorder_(options_.name, transport_->rank(), transport_->size()),
      mailbox_(make_mailbox(transport_->size())) {}

MeshGroup::~MeshGroup() {
  if (!forked()) {
    shutdown();
    return;
  }
  // The threads are the parent's, and so are the connections: nothing may be closed here.
  if (thread_.joinable()) thread_.detach();
  leave_mailbox_to_parent();
  keep_for_ever(transport_);
  keep_for_ever(health_);
}

bool MeshGroup::forked() const { return getpid() != owner_; }

int MeshGroup::global_rank(int rank) const {
  CRESSET_CHECK_AS(ValueError, rank >= 0 && rank < size(), "ProcessGroup: found rank ", rank, " (expected 0 to ",
                   size() - 1, ", ", in_words(name()), ")");
  return options_.ranks[static_cast<size_t>(rank)];
}

int MeshGroup::rank_of(int global_rank) const {
  const auto found = std::find(options_.ranks.begin(), options_.ranks.end(), global_rank);
  return found == options_.ranks.end() ? -1 : static_cast<int>(found - options_.ranks.begin());
}

void MeshGroup::set_timeout(Milliseconds timeout) {
  CRESSET_CHECK_AS(ValueError, timeout.count() > 0, "set_timeout: found ", timeout.count(),
                   " ms (expected more than 0)");
  timeout_ = timeout.count();
}

std::string MeshGroup::progress() const { return name() + "=" + std::to_string(completed_.load()); }

Work MeshGroup::submit(Fingerprint what, std::vector<Tensor> result, Body body, std::string detail) {
  const char* called = CalledAs::now(name_of(what.op));
  if (std::strcmp(called, name_of(what.op)) != 0) what.call = called;
  check_alive(called);
  // What is written to has new values, as after an operation in place.
  for (const Tensor& tensor : result)
    if (!tensor.is_inference()) tensor.impl()->version().fetch_add(1, std::memory_order_relaxed);
  auto work = std::make_shared<WorkState>();
  work->result = std::move(result);
  std::unique_lock lock(mutex_);
  CRESSET_CHECK_AS(DistributedError, !closed_, called, ": ", in_words(name()), " was destroyed");
  what.sequence = ++sequence_;
  what.plan = plan_;
  Operation operation{what, std::move(detail), std::move(body), work, recorder_.queued(what)};
  if (caller_waits && queue_.empty() && !busy_) {
    busy_ = true;
    lock.unlock();
    execute(operation);
    lock.lock();
    busy_ = false;
    // Somebody may have queued up meanwhile, or want to close.
    if (!queue_.empty() || closed_) changed_.notify_all();
    return Work(std::move(work));
  }
  queue_.push_back(std::move(operation));
  if (!thread_.joinable()) thread_ = std::thread([this] { run_queue(); });
  changed_.notify_all();
  return Work(std::move(work));
}

void MeshGroup::run_queue() {
  // The training thread needs the cores more than a sum of bytes that come over a wire.
  const SerialScope serial;
  const NoGradGuard no_grad;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !busy_ && (!queue_.empty() || closed_); });
    if (queue_.empty()) return;
    Operation operation = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    execute(operation);
    operation = {};
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

// For a transport whose slots are short. Those who follow a plan that was compared once need not be asked again.
void MeshGroup::agree_first(const Fingerprint& what) {
  if (what.plan != 0 && what.plan == agreed_plan_) return;
  constexpr uint64_t kAgreement = 1;
  uint64_t mine = what.hash();
  std::vector<uint64_t> theirs(static_cast<size_t>(size()), mine);
  auto out = transport_->buffer(&mine, sizeof mine);
  auto in = transport_->buffer(theirs.data(), theirs.size() * sizeof mine);
  for (int i = 1; i < size(); i++) {
    const int from = (rank() + size() - i) % size();
    in->recv(from, kAgreement, static_cast<size_t>(from) * sizeof mine, sizeof mine);
    out->send((rank() + i) % size(), kAgreement, 0, sizeof mine);
  }
  for (int i = 1; i < size(); i++) in->wait_recv();
  for (int i = 1; i < size(); i++) out->wait_send();
  agreed_plan_ = what.plan;
  if (std::count(theirs.begin(), theirs.end(), mine) == size()) return;
  // The watchdog finds out who meant what, and ends this.
  while (!dead_) std::this_thread::sleep_for(Milliseconds(5));
  throw Interrupted();
}

void MeshGroup::execute(Operation& operation) {
  recorder_.started(operation.record);
  health_->note_operation(operation.what, options_.number);
  // It stays in the air until a failure is explained: the others must hear what was meant, even if a connection broke
  // before the operation was slow.
  const auto flight = take_off(operation.what, operation.detail, {}, nullptr);
  const std::exception_ptr error = run_guarded(
      operation.what, [&] { return operation.what.title(); },
      [&] {
        const Exchange exchange{*transport_, operation.what.hash(), scratch_};
        if (!transport_->names_messages()) agree_first(operation.what);
        operation.body(exchange);
      });
  land(flight);
  std::string words;
  if (error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& failed) {
      words = failed.what();
    }
  } else {
    completed_ = operation.what.sequence;
  }
  recorder_.ended(operation.record, words);
  operation.body = nullptr;
  operation.work->finish(error);
}

std::exception_ptr MeshGroup::run_guarded(const Fingerprint& what, const Title& title,
                                          const std::function<void()>& body) {
  struct Call {
    std::atomic<int>& count;
    explicit Call(std::atomic<int>& calls) : count(calls) { count++; }
    ~Call() { count--; }
  } call(calls_);
  return explained(what, title, body);
}

std::exception_ptr MeshGroup::explained(const Fingerprint& what, const Title& title,
                                        const std::function<void()>& body) {
  if (dead_) return told_death_of(title());
  try {
    body();
    return nullptr;
  } catch (const Interrupted&) {
    return told_death_of(title());
  } catch (const BrokenConnection& broken) {
    // The neighbour whose socket broke may be a victim too: the store knows who went first. Or it has met an error that
    // is everybody's, and left because of it. Or it was done, and those who are not are about to find that they
    // disagree.
    const auto known = [&] { return dead_ || health_->heard("error/" + name()); };
    std::string cause = health_->wait_for_cause(options_.ranks, name(), what, kExplained, known);
    if (const auto sentence = health_->heard("error/" + name())) {
      die(*sentence, Words::sentence);
      return told_death_of(title());
    }
    if (cause.empty() && !dead_) {
      const std::string peer = broken.peer < 0 ? "another rank" : health_->who(global_rank(broken.peer));
      cause = "the connection to " + peer + " broke (" + broken.what() + ")";
    }
    die(cause, Words::cause);
    return told_death_of(title());
  } catch (const std::exception& failed) {
    die(title() + " (" + in_words(name()) + ") failed on " + health_->who(global_rank(rank())) + ": " + failed.what(),
        Words::sentence);
    return told_death_of(title());
  }
}

MeshGroup::Flights::iterator MeshGroup::take_off(const Fingerprint& what, std::string detail, std::string title,
                                                 std::shared_ptr<Transfer> transfer) {
  const std::lock_guard lock(flights_mutex_);
  flights_.push_back({what, std::move(detail), std::move(title), std::move(transfer), Clock::now(), false, {}});
  if (flights_.back().is_collective()) last_operations_[what.sequence % last_operations_.size()] = what;
  return std::prev(flights_.end());
}

void MeshGroup::land(Flights::iterator flight) {
  const std::lock_guard lock(flights_mutex_);
  flights_.erase(flight);
}

void MeshGroup::finish_queue() {
  {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    changed_.notify_all();
    // An operation that another thread carries out itself ends first.
    changed_.wait(lock, [&] { return !busy_ && queue_.empty(); });
  }
  if (thread_.joinable()) {
    if (thread_.get_id() == std::this_thread::get_id())
      thread_.detach();
    else
      thread_.join();
  }
  close_mailbox();
  // Those who are still in an operation that this rank has finished may have meant another.
  const std::lock_guard lock(flights_mutex_);
  publish(nullptr);
}

void MeshGroup::shutdown() {
  finish_queue();
  transport_->close();
}

void MeshGroup::abandon(const std::string& why) {
  die(why, Words::cause);
  const auto deadline = Clock::now() + Milliseconds(500);
  std::unique_lock lock(mutex_);
  while (Clock::now() < deadline &&
         !changed_.wait_for(lock, Milliseconds(10), [&] { return !busy_ && queue_.empty(); })) {
    lock.unlock();
    transport_->interrupt();
    lock.lock();
  }
  publish_taken();
  const std::lock_guard flights(flights_mutex_);
  publish(nullptr);
}

}  // namespace cresset::distributed
