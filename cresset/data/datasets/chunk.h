// ChunkDataset: libtorch's stream over data that lies in chunks (files, shards). Threads read chunks ahead; a sampler
// orders the examples of each, and batches go on across the borders of chunks.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>
#include <variant>

#include "cresset/core/arg.h"
#include "cresset/core/parallel.h"
#include "cresset/data/datasets/base.h"
#include "cresset/data/parcel.h"
#include "cresset/data/samplers/samplers.h"

namespace cresset::data::datasets {

// A reader of one's own derives from it and names its BatchType. With several preloaders, several threads read at once.
template <typename SingleExample, typename Chunk = std::vector<SingleExample>>
class ChunkDataReader {
 public:
  using ExampleType = SingleExample;
  using ChunkType = Chunk;

  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  virtual void reset() = 0;
};

struct ChunkDatasetOptions {
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count),
        batch_size_(batch_size),
        cache_size_(cache_size),
        cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
    CRESSET_CHECK_AS(ValueError, preloader_count > 0,
                     "ChunkDatasetOptions: Preloader count is 0. At least one preloader needs to be specified.");
    CRESSET_CHECK_AS(ValueError, batch_size > 0,
                     "ChunkDatasetOptions: Batch size is 0. A positive batch size needs to be specified.");
    CRESSET_CHECK_AS(ValueError, cache_size > 0,
                     "ChunkDatasetOptions: Cache size is 0. A positive cache size needs to be specified.");
    CRESSET_CHECK_AS(ValueError, cache_size >= batch_size,
                     "ChunkDatasetOptions: Cache size is less than batch size. Cache needs to be large enough to hold "
                     "at least one batch. Found ",
                     cache_size, " and ", batch_size);
    CRESSET_CHECK_AS(ValueError, cross_chunk_shuffle_count > 0,
                     "ChunkDatasetOptions: cross_chunk_shuffle_count needs to be greater than 0.");
  }
  CRESSET_ARG(size_t, preloader_count);            // threads
  CRESSET_ARG(size_t, batch_size);                 // what the loader must ask for
  CRESSET_ARG(size_t, cache_size);                 // examples that wait; no chunk is added while there are more
  CRESSET_ARG(size_t, cross_chunk_shuffle_count);  // chunks whose examples are ordered together
  // How long get_batch and reset wait for the reader; none: for ever.
  CRESSET_ARG(std::optional<std::chrono::milliseconds>, timeout);
};

// Shared, since it owns threads: make_shared_dataset<ChunkDataset<Reader>>(reader, chunk_sampler, example_sampler,
// options). The samplers get their sizes when it is reset.
template <typename ChunkReader, typename ChunkSampler = samplers::RandomSampler,
          typename ExampleSampler = samplers::RandomSampler>
class ChunkDataset final : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                                                  typename ChunkReader::BatchType, size_t> {
 public:
  using UnwrappedBatchType = typename ChunkReader::BatchType;
  using BatchType = std::optional<UnwrappedBatchType>;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;
  using Policy = std::function<void(UnwrappedBatchType&)>;  // changes what was read, before it is ordered

  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options, Policy preprocessing_policy = {})
      : chunk_reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options),
        preprocessing_policy_(std::move(preprocessing_policy)) {}
  // As the loader's destructor, it has to wait for a thread that reads, but says so.
  ~ChunkDataset() override {
    const std::chrono::milliseconds patience = options_.timeout().value_or(std::chrono::seconds(10));
    if (!leave(patience)) {
      const std::string text = message_of(
          "ChunkDataset: its destructor has waited ", patience.count(),
          " ms for a chunk that is still being read, and goes on waiting: read_chunk must return by itself\n");
      std::fputs(text.c_str(), stderr);
      leave(std::nullopt);
    }
  }

  BatchType get_batch(size_t batch_size) override {
    CRESSET_CHECK_AS(ValueError, batch_size == options_.batch_size(),
                     "ChunkDataset: The requested batch size does not match with the initialized batch size.\n The "
                     "requested batch size is ",
                     batch_size, ", while the dataset is created with batch size equal to ", options_.batch_size());
    std::unique_lock lock(mutex_);
    CRESSET_CHECK(!preloaders_.empty(), "ChunkDataset: Dataset needs to call reset() before calling get_batch().");
    const auto there = [&] { return waiting_.size() >= batch_size || failures_ > 0 || running_ == 0; };
    CRESSET_CHECK(wait(lock, options_.timeout(), there), "ChunkDataset: no batch within the timeout of ",
                  options_.timeout()->count(), " ms: ", running_, " of ", preloaders_.size(),
                  " threads are still reading");
    if (waiting_.empty()) return std::nullopt;
    if (auto* failure = std::get_if<std::exception_ptr>(&waiting_.front())) {
      const std::exception_ptr thrown = *failure;
      waiting_.pop_front();
      failures_--;
      std::rethrow_exception(thrown);
    }
    UnwrappedBatchType batch;
    while (batch.size() < batch_size && !waiting_.empty()) {
      auto* example = std::get_if<ExampleType>(&waiting_.front());
      if (!example) break;
      batch.push_back(std::move(*example));
      waiting_.pop_front();
    }
    changed_.notify_all();
    return batch;
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  void reset() override {
    CRESSET_CHECK(leave(options_.timeout()), "ChunkDataset: reset: a chunk is still being read after the timeout of ",
                  options_.timeout()->count(), " ms (reset() may be called again)");
    if (!loaded_) {
      chunk_reader_.reset();
      chunk_sampler_.reset(chunk_reader_.chunk_count());
    }
    loaded_ = stopped_ = false;
    waiting_.clear();
    failures_ = 0;
    running_ = options_.preloader_count();
    for (size_t i = 0; i < options_.preloader_count(); i++) preloaders_.emplace_back([this] { preload(); });
  }

  std::optional<size_t> size() const override { return std::nullopt; }
  ChunkSampler& chunk_sampler() { return chunk_sampler_; }

  // The place among the chunks; the next reset() goes on from it.
  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    const std::lock_guard lock(mutex_);
    if (preloaders_.empty()) chunk_sampler_.reset(chunk_reader_.chunk_count());  // a place among so many
    chunk_sampler_.load(archive);
    loaded_ = true;
  }

 private:
  using ExampleType = typename UnwrappedBatchType::value_type;

  void preload() {
    const SerialScope serial;
    std::optional<std::vector<size_t>> chunks;
    do {
      chunks.reset();
      try {
        {
          const std::lock_guard lock(mutex_);
          if (!stopped_) chunks = chunk_sampler_.next(options_.cross_chunk_shuffle_count());
        }
        if (chunks) add(read(*chunks));
      } catch (const std::exception& error) {
        fail(error.what());
      } catch (...) {
        fail("an exception without words");
      }
    } while (chunks);
    const std::lock_guard lock(mutex_);
    running_--;
    changed_.notify_all();
  }

  void fail(const std::string& words) {
    const WorkerException error("ChunkDataset: reading a chunk failed", words, std::current_exception());
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(std::make_exception_ptr(error));
    failures_++;
    changed_.notify_all();
  }

  UnwrappedBatchType read(const std::vector<size_t>& chunks) {
    UnwrappedBatchType examples;
    for (size_t index : chunks) {
      auto chunk = chunk_reader_.read_chunk(index);
      std::move(chunk.begin(), chunk.end(), std::back_inserter(examples));
    }
    if (preprocessing_policy_) preprocessing_policy_(examples);
    return examples;
  }

  void add(const UnwrappedBatchType& examples) {
    if (examples.empty()) return;
    std::unique_lock lock(mutex_);
    const size_t enough = std::max(options_.cache_size(), options_.batch_size());
    changed_.wait(lock, [&] { return stopped_ || waiting_.size() < enough; });
    if (stopped_) return;
    example_sampler_.reset(examples.size());
    while (auto indices = example_sampler_.next(options_.batch_size()))
      for (size_t index : *indices) waiting_.emplace_back(examples[index]);
    changed_.notify_all();
  }

  // False when that takes longer than the timeout.
  template <class Condition>
  bool wait(std::unique_lock<std::mutex>& lock, std::optional<std::chrono::milliseconds> timeout,
            const Condition& condition) {
    if (timeout) return changed_.wait_for(lock, *timeout, condition);
    changed_.wait(lock, condition);
    return true;
  }
  bool leave(std::optional<std::chrono::milliseconds> timeout) {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    if (!wait(lock, timeout, [&] { return running_ == 0; })) return false;
    lock.unlock();
    for (std::thread& preloader : preloaders_) preloader.join();
    preloaders_.clear();
    return true;
  }

  ChunkReader chunk_reader_;
  ChunkSampler chunk_sampler_;
  ExampleSampler example_sampler_;
  ChunkDatasetOptions options_;
  Policy preprocessing_policy_;
  bool loaded_ = false;

  mutable std::mutex mutex_;  // guards the samplers and what follows
  std::condition_variable changed_;
  std::deque<std::variant<ExampleType, std::exception_ptr>> waiting_;
  size_t failures_ = 0, running_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> preloaders_;
};

}  // namespace cresset::data::datasets
