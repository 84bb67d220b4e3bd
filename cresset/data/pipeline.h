// Pipeline: worker threads that turn requests into batches. It knows neither type; the loader's template does.
// Everything that could hang is here: queues, threads, waiting, stopping, forks.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cresset/core/error.h"
#include "cresset/data/dataloader_options.h"

namespace cresset::data {

// What a worker threw, with its words; the original is kept.
struct CRESSET_API WorkerException : public Error {
  WorkerException(std::string message, std::exception_ptr original)
      : Error(std::move(message)), original_exception(std::move(original)) {}
  std::exception_ptr original_exception;
};

namespace detail {

// A value whose type only the loader knows.
struct CRESSET_API Parcel {
  virtual ~Parcel();
};
template <class T>
struct ParcelOf : Parcel {
  explicit ParcelOf(T value) : value(std::move(value)) {}
  T value;
};

// What is to be fetched, with what the samples' random numbers depend on.
struct CRESSET_API Request : Parcel {
  size_t sequence = 0;  // number of the batch in its epoch
  uint64_t seed = 0;
  uint64_t epoch = 0;
  std::vector<size_t> indices;    // of the samples; places in the stream where there are none
  std::vector<uint32_t> repeats;  // how often each came before, where that can be
};
template <class T>
struct RequestOf : Request {
  explicit RequestOf(T value) : value(std::move(value)) {}
  T value;
};

using Fetch = std::function<std::unique_ptr<Parcel>(size_t worker, Request& request)>;

// Calls `fetch` with the thread's randomness set up for the request.
CRESSET_API std::unique_ptr<Parcel> fetch_in_scope(const Fetch& fetch, size_t worker, Request& request);

class Pipeline {
 public:
  // `one_at_a_time`: the workers share what they fetch from, and requests are served strictly in turn.
  Pipeline(const FullDataLoaderOptions& options, bool one_at_a_time, Fetch fetch);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void start();  // a new epoch: what is under way is abandoned
  void push(std::unique_ptr<Request> request);
  size_t in_flight() const { return in_flight_; }

  struct Delivery {
    size_t sequence = 0;
    std::unique_ptr<Parcel> batch;  // null: a stream was at its end
    std::exception_ptr error;       // a WorkerException
  };
  // The next batch, in order or not. Throws when the time is up; nothing is lost then. Something must be in flight.
  Delivery pop();
  // Joins the workers; start() makes new ones. Throws when the time is up: they go on leaving, and it may be called
  // again.
  void stop();

 private:
  struct State;
  struct Epoch;
  void launch();
  void leave_inherited();
  bool leave(std::optional<std::chrono::milliseconds> patience);  // false: some worker is still fetching
  std::string who_is_fetching() const;
  static void work(State& state, size_t worker);

  FullDataLoaderOptions options_;
  bool one_at_a_time_;
  Fetch fetch_;
  std::unique_ptr<State> state_;
  std::shared_ptr<Epoch> epoch_;
  size_t in_flight_ = 0;
};

}  // namespace detail
}  // namespace cresset::data
