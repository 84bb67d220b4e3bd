// LoaderCore: what a loader does whatever its types are: epochs, prefetching, delivery, and its state in the middle of
// an epoch.
#pragma once

#include <memory>
#include <optional>

#include "cresset/core/ivalue.h"
#include "cresset/data/dataloader_options.h"
#include "cresset/data/parcel.h"

namespace cresset::data::detail {

class CRESSET_API LoaderCore {
 public:
  LoaderCore(const DataLoaderOptions& options, bool one_at_a_time);
  virtual ~LoaderCore();
  LoaderCore(const LoaderCore&) = delete;
  LoaderCore& operator=(const LoaderCore&) = delete;

  const FullDataLoaderOptions& options() const noexcept { return options_; }

  // Stops and joins the workers; throws when that takes longer than the timeout. The destructor does, and begin()
  // starts again.
  void join();

  // The epoch that begin() starts next; without it each begin() starts the following one.
  void set_epoch(size_t epoch);
  size_t epoch() const { return epoch_; }
  uint64_t seed() const { return seed_; }

  // Where the loader stands: what it has delivered, not what was fetched ahead. After load_state_dict the next begin()
  // goes on with the batch after the last delivered one, with the same samples and the same random numbers. After an
  // epoch's last batch that is the first one of the following epoch, whether the pass had come to its end or not. A
  // pass that was left early is gone on with: the state does not know that it was left for good.
  IValue state_dict() const;
  void load_state_dict(const IValue& state);

 protected:
  // Starts an epoch at the source and says which.
  virtual size_t open_epoch(std::optional<size_t> epoch) = 0;
  virtual size_t upcoming_epoch() const = 0;
  virtual std::unique_ptr<Request> next_request() = 0;  // null: the epoch is over
  virtual std::unique_ptr<Parcel> fetch(size_t worker, Request& request) = 0;
  virtual bool skips_by_fetching() const { return false; }  // a stream has no other way to move on
  virtual bool may_repeat() const { return false; }
  virtual IValue source_state() const { return {}; }
  virtual void load_source_state(const IValue&) {}

  size_t begin_epoch();                            // the number of this iteration, which its iterator keeps
  std::unique_ptr<Parcel> next(size_t iteration);  // null: the end
  void shut_down();                                // for destructors of derived classes, whose parts the workers use

  std::shared_ptr<LoaderCore*> self_;   // iterators watch it
  std::weak_ptr<const void> iterator_;  // the latest, while there is a copy of it
  uint64_t seed_;

 private:
  struct Position;
  struct Progress;
  void open(std::optional<size_t> epoch, const Position& from);
  void open_following();
  std::unique_ptr<Parcel> next_in_epoch();
  std::unique_ptr<Parcel> fetch_here();  // without workers
  std::unique_ptr<Request> numbered_request();
  void refill();
  void delivered(size_t sequence);

  FullDataLoaderOptions options_;
  size_t iteration_ = 0;
  size_t epoch_ = 0;
  size_t sequence_ = 0;     // of the next request
  bool under_way_ = false;  // an epoch has begun and is not at its end
  bool exhausted_ = false;  // no more requests
  std::optional<size_t> given_epoch_;
  std::unique_ptr<Progress> progress_;
};

}  // namespace cresset::data::detail
