// Epochs, prefetching and the loader's state.
#include "cresset/data/loader_core.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "cresset/data/pipeline.h"
#include "cresset/data/random.h"

namespace cresset::data::detail {

struct LoaderCore::Position {
  size_t epoch = 0;
  size_t batches = 0;      // all before this one are delivered
  std::set<size_t> ahead;  // and these, where order does not matter

  // Batches that went ahead of a gap leave `ahead` once the gap is closed; a resumed epoch may come to them only then.
  bool was_delivered(size_t sequence) const { return sequence < batches || ahead.contains(sequence); }
};

struct LoaderCore::Progress {
  std::unique_ptr<Pipeline> pipeline;  // null without workers
  std::optional<Position> resume;
  Position position;
  std::unordered_map<size_t, uint32_t> seen;  // how often each sample came, where samplers repeat
  // The pass goes on in the middle of an epoch and has delivered nothing yet: that epoch may have nothing left.
  bool resumed = false;
  std::optional<size_t> asked_epoch;  // by set_epoch, for the pass that was resumed
};

LoaderCore::LoaderCore(const DataLoaderOptions& options, bool one_at_a_time)
    : self_(std::make_shared<LoaderCore*>(this)), seed_(0), options_(options), progress_(std::make_unique<Progress>()) {
  seed_ = options_.seed ? *options_.seed : drawn_seed();
  if (options_.workers > 0)
    progress_->pipeline = std::make_unique<Pipeline>(
        options_, one_at_a_time, [this](size_t worker, Request& request) { return fetch(worker, request); });
}

LoaderCore::~LoaderCore() = default;

void LoaderCore::shut_down() {
  self_.reset();
  progress_->pipeline.reset();
}

void LoaderCore::join() {
  if (progress_->pipeline) progress_->pipeline->stop();
  iteration_++;
  under_way_ = false;
}

void LoaderCore::set_epoch(size_t epoch) { given_epoch_ = epoch; }

size_t LoaderCore::begin_epoch() {
  CRESSET_CHECK(iterator_.expired() || !progress_->pipeline || !progress_->pipeline->is_busy(),
                "DataLoader: Attempted to get a new DataLoader iterator while another iterator is not yet exhausted "
                "(let it go, or call join() first)");
  if (progress_->pipeline) progress_->pipeline->start();
  const Position from = progress_->resume.value_or(Position{});
  const bool in_the_middle = from.batches > 0 || !from.ahead.empty();
  // Where something of an epoch is done already, the rest of it comes first, whatever set_epoch said.
  const bool given = given_epoch_ && !in_the_middle;
  open(progress_->resume && !given ? progress_->resume->epoch : given_epoch_, from);
  // Only now: who calls again after an error gets the same epoch from the same place.
  progress_->resumed = in_the_middle;
  progress_->asked_epoch = given_epoch_;
  progress_->resume.reset();
  given_epoch_.reset();
  return ++iteration_;
}

void LoaderCore::open(std::optional<size_t> epoch, const Position& from) {
  progress_->seen.clear();
  epoch_ = open_epoch(epoch);
  progress_->position = {epoch_, from.batches, from.ahead};
  sequence_ = 0;
  exhausted_ = false;
  under_way_ = true;
  while (sequence_ < from.batches && !exhausted_) {
    const std::unique_ptr<Request> request = numbered_request();
    if (!request ||
        (skips_by_fetching() && !fetch_in_scope([this](size_t w, Request& r) { return fetch(w, r); }, 0, *request)))
      exhausted_ = true;
  }
  refill();
}

// The state was taken at its epoch's last batch, before the pass had come to its end (a stream knows its end only when
// it gets there). A pass over the nothing that is left would cost the run an epoch.
void LoaderCore::open_following() {
  progress_->resumed = false;
  if (progress_->pipeline) progress_->pipeline->start();
  open(std::max(epoch_ + 1, progress_->asked_epoch.value_or(0)), {});
}

std::unique_ptr<Request> LoaderCore::numbered_request() {
  std::unique_ptr<Request> request = next_request();
  if (!request) return nullptr;
  request->sequence = sequence_++;
  request->seed = seed_;
  request->epoch = epoch_;
  if (may_repeat())
    for (size_t index : request->indices) request->repeats.push_back(progress_->seen[index]++);
  return request;
}

void LoaderCore::refill() {
  if (!progress_->pipeline) return;
  while (!exhausted_ && progress_->pipeline->in_flight() < options_.max_jobs) {
    std::unique_ptr<Request> request = numbered_request();
    if (!request) {
      exhausted_ = true;
    } else if (!progress_->position.was_delivered(request->sequence)) {
      progress_->pipeline->push(std::move(request));
    }
  }
}

void LoaderCore::delivered(size_t sequence) {
  progress_->resumed = false;
  progress_->position.ahead.insert(sequence);
  while (progress_->position.ahead.erase(progress_->position.batches) > 0) progress_->position.batches++;
}

std::unique_ptr<Parcel> LoaderCore::next(size_t iteration) {
  CRESSET_CHECK(iteration == iteration_,
                "DataLoader: this iterator is over: begin() was called again, or the loader was joined");
  if (!under_way_) return nullptr;
  std::unique_ptr<Parcel> batch = next_in_epoch();
  if (!batch && progress_->resumed) {
    open_following();
    batch = next_in_epoch();
  }
  if (!batch) under_way_ = false;
  return batch;
}

std::unique_ptr<Parcel> LoaderCore::next_in_epoch() {
  if (!progress_->pipeline) return fetch_here();
  while (progress_->pipeline->in_flight() > 0) {
    Pipeline::Delivery delivery = progress_->pipeline->pop();
    if (!delivery.batch && !delivery.error) {
      exhausted_ = true;  // a stream at its end
      continue;
    }
    delivered(delivery.sequence);
    refill();
    if (delivery.error) std::rethrow_exception(delivery.error);
    return std::move(delivery.batch);
  }
  return nullptr;
}

std::unique_ptr<Parcel> LoaderCore::fetch_here() {
  std::unique_ptr<Request> request;
  while (!exhausted_) {
    request = numbered_request();
    if (!request || !progress_->position.was_delivered(request->sequence)) break;
  }
  if (!request) return nullptr;
  try {
    std::unique_ptr<Parcel> batch = fetch_in_scope([this](size_t w, Request& r) { return fetch(w, r); }, 0, *request);
    if (batch) delivered(request->sequence);
    return batch;
  } catch (...) {
    delivered(request->sequence);  // who goes on gets the batch after it
    throw;
  }
}

IValue LoaderCore::state_dict() const {
  Position at;
  if (progress_->resume) {
    at = *progress_->resume;
    if (given_epoch_ && at.batches == 0 && at.ahead.empty()) at.epoch = *given_epoch_;
  } else if (under_way_) {
    at = progress_->position;
  } else {
    at.epoch = given_epoch_.value_or(upcoming_epoch());
  }
  std::vector<int64_t> ahead(at.ahead.begin(), at.ahead.end());
  IValue::Dict state;
  state["seed"] = static_cast<int64_t>(seed_);
  state["epoch"] = static_cast<int64_t>(at.epoch);
  state["batches"] = static_cast<int64_t>(at.batches);
  state["ahead"] = std::move(ahead);
  state["batch_size"] = static_cast<int64_t>(options_.batch_size);
  state["sampler"] = source_state();
  return state;
}

void LoaderCore::load_state_dict(const IValue& state) {
  const IValue::Dict& dict = state.toDict();
  const int64_t batch_size = dict.at("batch_size").toInt();
  CRESSET_CHECK_AS(ValueError, batch_size == static_cast<int64_t>(options_.batch_size),
                   "DataLoader::load_state_dict: found a state of batches of ", batch_size, " (expected ",
                   options_.batch_size, ", this loader's batch_size)");
  const int64_t epoch = dict.at("epoch").toInt(), batches = dict.at("batches").toInt();
  CRESSET_CHECK_AS(ValueError, epoch >= 0 && batches >= 0, "DataLoader::load_state_dict: found epoch ", epoch,
                   " and batches ", batches, " (expected 0 or more)");
  Position at{static_cast<size_t>(epoch), static_cast<size_t>(batches), {}};
  for (const IValue& one : dict.at("ahead").elements()) at.ahead.insert(static_cast<size_t>(one.toInt()));
  if (!dict.at("sampler").isNone()) load_source_state(dict.at("sampler"));
  seed_ = static_cast<uint64_t>(dict.at("seed").toInt());
  join();  // what is under way belongs to another position
  given_epoch_.reset();
  progress_->resume = at;
}

}  // namespace cresset::data::detail
