// Workers take jobs from one queue and leave results with the job's epoch. An epoch that is abandoned is only marked:
// its workers notice at the next sample, and their results go with it.
#include "cresset/data/pipeline.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "cresset/core/parallel.h"
#include "cresset/data/random.h"

namespace cresset::data {

FullDataLoaderOptions::FullDataLoaderOptions(const DataLoaderOptions& options)
    : batch_size(options.batch_size()),
      workers(options.workers()),
      max_jobs(options.max_jobs().value_or(options.prefetch_factor() * options.workers())),
      timeout(options.timeout()),
      enforce_ordering(options.enforce_ordering()),
      drop_last(options.drop_last()),
      seed(options.seed()),
      pin_memory(options.pin_memory()) {
  CRESSET_CHECK_AS(ValueError, batch_size > 0, "DataLoader: found batch_size 0 (expected at least 1)");
  CRESSET_CHECK_AS(ValueError, workers == 0 || max_jobs > 0, "DataLoader: found max_jobs (or prefetch_factor) 0 with ",
                   workers, " workers (expected at least 1)");
}

namespace detail {

Parcel::~Parcel() = default;

struct Pipeline::Epoch {
  std::atomic<bool> cancelled{false};
  std::deque<size_t> expected;  // sequence numbers in the order they were pushed; the consumer's alone
  std::map<size_t, Delivery> ready;
};

struct Pipeline::State {
  struct Job {
    std::shared_ptr<Epoch> epoch;
    std::unique_ptr<Request> request;
  };
  std::mutex mutex;
  std::condition_variable work_waits;
  std::condition_variable result_waits;
  std::condition_variable idle;
  std::deque<Job> jobs;
  size_t running = 0;
  size_t gone = 0;                                                   // workers that have left
  std::vector<std::optional<std::pair<size_t, uint64_t>>> fetching;  // each worker's batch and epoch
  bool stopping = false;
  bool one_at_a_time = false;
  size_t workers = 0;
  pid_t owner = 0;
  Fetch fetch;
  std::mutex turn;  // held while a shared source is read
  std::vector<std::thread> threads;
};

namespace {

std::string words_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

// "worker 1, batch 3, index 17: Caught … Original message: words"
std::exception_ptr described(const std::exception_ptr& error, size_t worker, const Request& request,
                             std::optional<size_t> failed) {
  std::string where =
      message_of("DataLoader: worker ", worker, ", batch ", request.sequence, " of epoch ", request.epoch);
  if (failed) {
    where += message_of(", index ", *failed);
  } else if (!request.indices.empty()) {
    constexpr size_t kShown = 8;
    where += ", indices";
    for (size_t i = 0; i < std::min(kShown, request.indices.size()); i++)
      where += message_of(i ? ", " : " ", request.indices[i]);
    if (request.indices.size() > kShown) where += ", …";
  }
  return std::make_exception_ptr(WorkerException(where, words_of(error), error));
}

BatchScope::Key key_of(const Request& request, const std::atomic<bool>* cancelled) {
  return {request.seed, request.epoch, request.indices, request.repeats, cancelled};
}

}  // namespace

std::unique_ptr<Parcel> fetch_in_scope(const Fetch& fetch, size_t worker, Request& request) {
  const BatchScope batch(key_of(request, nullptr));
  return fetch(worker, request);
}

Pipeline::Pipeline(const FullDataLoaderOptions& options, bool one_at_a_time, Fetch fetch)
    : options_(options), one_at_a_time_(one_at_a_time), fetch_(std::move(fetch)) {}

// A thread cannot be ended from outside, and what it reads goes with the loader: the destructor has to wait, but says
// for whom.
Pipeline::~Pipeline() {
  const std::chrono::milliseconds patience = options_.timeout.value_or(std::chrono::seconds(10));
  if (leave(patience)) return;
  const std::string text = message_of(
      "DataLoader: its destructor has waited ", patience.count(),
      " ms for its worker threads and goes on waiting: ", who_is_fetching(),
      ". A thread cannot be ended from outside, and what it reads goes with the loader: it must "
      "return from the data set's get or get_batch, or from a transform, by itself. If it never does, give what that "
      "code waits for (a file, a socket, a lock) a deadline.\n");
  std::fputs(text.c_str(), stderr);
  leave(std::nullopt);
}

std::string Pipeline::who_is_fetching() const {
  const std::lock_guard lock(state_->mutex);
  std::string text;
  for (size_t i = 0; i < state_->fetching.size(); i++)
    if (const auto& batch = state_->fetching[i])
      text += message_of(text.empty() ? "" : ", ", "worker ", i, " is still fetching batch ", batch->first,
                         " of epoch ", batch->second);
  return text.empty() ? "a worker is about to leave" : text;
}

// After a fork the child has the objects but not the threads: they can be neither joined nor told anything, and their
// locks may be held for ever. They are left as they are.
void Pipeline::leave_inherited() {
  if (!state_ || state_->owner == getpid()) return;
  static_cast<void>(state_.release());
  epoch_.reset();
  in_flight_ = 0;
}

bool Pipeline::is_busy() {
  leave_inherited();
  return in_flight_ > 0;
}

void Pipeline::launch() {
  state_ = std::make_unique<State>();
  State& state = *state_;
  state.owner = getpid();
  state.fetching.resize(options_.workers);
  state.workers = options_.workers;
  state.one_at_a_time = one_at_a_time_;
  state.fetch = fetch_;
  try {
    for (size_t i = 0; i < options_.workers; i++) state.threads.emplace_back([&state, i] { work(state, i); });
  } catch (...) {
    stop();
    throw;
  }
}

void Pipeline::start() {
  leave_inherited();
  if (state_ && state_->stopping) stop();
  if (!state_) launch();
  if (epoch_) epoch_->cancelled = true;
  {
    std::unique_lock lock(state_->mutex);
    state_->jobs.clear();
    // A shared source is about to be reset: nobody may be reading it.
    const auto idle = [&] { return !one_at_a_time_ || state_->running == 0; };
    const bool in_time =
        options_.timeout ? state_->idle.wait_for(lock, *options_.timeout, idle) : (state_->idle.wait(lock, idle), true);
    lock.unlock();
    CRESSET_CHECK(in_time, "DataLoader: no new epoch within the timeout of ", options_.timeout->count(),
                  " ms: ", who_is_fetching());
  }
  epoch_ = std::make_shared<Epoch>();
  in_flight_ = 0;
}

void Pipeline::push(std::unique_ptr<Request> request) {
  epoch_->expected.push_back(request->sequence);
  {
    const std::lock_guard lock(state_->mutex);
    state_->jobs.push_back({epoch_, std::move(request)});
  }
  in_flight_++;
  state_->work_waits.notify_one();
}

Pipeline::Delivery Pipeline::pop() {
  CRESSET_CHECK(state_ && state_->owner == getpid(),
                "DataLoader: this loader's workers are in the process that was forked; call begin() again");
  Epoch& epoch = *epoch_;
  const auto there = [&] {
    return options_.enforce_ordering ? epoch.ready.contains(epoch.expected.front()) : !epoch.ready.empty();
  };
  std::unique_lock lock(state_->mutex);
  if (options_.timeout) {
    CRESSET_CHECK(state_->result_waits.wait_for(lock, *options_.timeout, there),
                  "DataLoader: Timeout in DataLoader queue while waiting for next batch (timeout was ",
                  options_.timeout->count(), " ms): batch ", epoch.expected.front(), ", ", in_flight_, " in flight, ",
                  options_.workers, " workers");
  } else {
    state_->result_waits.wait(lock, there);
  }
  auto node =
      epoch.ready.extract(options_.enforce_ordering ? epoch.ready.find(epoch.expected.front()) : epoch.ready.begin());
  std::erase(epoch.expected, node.key());
  in_flight_--;
  return std::move(node.mapped());
}

void Pipeline::stop() {
  CRESSET_CHECK(leave(options_.timeout), "DataLoader: join: not within the timeout of ", options_.timeout->count(),
                " ms: ", who_is_fetching(), " (join() may be called again)");
}

bool Pipeline::leave(std::optional<std::chrono::milliseconds> patience) {
  leave_inherited();
  if (!state_) return true;
  if (epoch_) epoch_->cancelled = true;
  {
    std::unique_lock lock(state_->mutex);
    state_->stopping = true;
    state_->jobs.clear();
    state_->work_waits.notify_all();
    const auto all_gone = [&] { return state_->gone == state_->threads.size(); };
    if (patience && !state_->idle.wait_for(lock, *patience, all_gone)) return false;
  }
  for (std::thread& thread : state_->threads) thread.join();
  state_.reset();
  epoch_.reset();
  in_flight_ = 0;
  return true;
}

void Pipeline::work(State& state, size_t worker) {
  const SerialScope serial;  // the cores are the training thread's
  set_worker_info(WorkerInfo{worker, state.workers});
  while (true) {
    State::Job job;
    {
      // With a shared source the job is taken in turn too, or a later request might be served first.
      std::unique_lock turn(state.turn, std::defer_lock);
      if (state.one_at_a_time) turn.lock();
      {
        std::unique_lock lock(state.mutex);
        state.work_waits.wait(lock, [&] { return state.stopping || !state.jobs.empty(); });
        if (state.stopping) {
          state.gone++;
          state.idle.notify_all();
          return;
        }
        job = std::move(state.jobs.front());
        state.jobs.pop_front();
        state.running++;
        state.fetching[worker] = {job.request->sequence, job.request->epoch};
      }
      Delivery result{job.request->sequence, nullptr, nullptr};
      bool wanted = true;
      {
        const BatchScope batch(key_of(*job.request, &job.epoch->cancelled));
        try {
          result.batch = state.fetch(worker, *job.request);
        } catch (const Cancelled&) {
          wanted = false;
        } catch (...) {
          result.error = described(std::current_exception(), worker, *job.request, batch.failed_index());
        }
      }
      const std::lock_guard lock(state.mutex);
      state.running--;
      state.fetching[worker].reset();
      if (wanted) job.epoch->ready.emplace(result.sequence, std::move(result));
      if (state.running == 0) state.idle.notify_all();
    }
    state.result_waits.notify_one();
    // Freed outside the lock; results of an abandoned epoch go with its last job.
    job = {};
  }
}

}  // namespace detail
}  // namespace cresset::data
