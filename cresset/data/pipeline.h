// Pipeline: worker threads that turn requests into batches. It knows neither type; the loader's template does.
// Everything that could hang is here: queues, threads, waiting, stopping, forks.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "cresset/data/dataloader_options.h"
#include "cresset/data/parcel.h"

namespace cresset::data::detail {

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
  bool is_busy();  // in this process: batches were asked for and not taken

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

}  // namespace cresset::data::detail
