// How a loader works. libtorch's options, with seed, prefetch_factor and pin_memory from PyTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>  // for std::chrono::milliseconds: <chrono> itself has calendars, which take long to compile
#include <optional>

#include "cresset/core/arg.h"
#include "cresset/core/export.h"

namespace cresset::data {

struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}

  CRESSET_ARG(size_t, batch_size) = 1;
  // Threads that fetch ahead; 0: the calling thread fetches when asked.
  CRESSET_ARG(size_t, workers) = 0;
  // The most batches under way or waiting to be taken; prefetch_factor for each worker unless said.
  CRESSET_ARG(std::optional<size_t>, max_jobs);
  CRESSET_ARG(size_t, prefetch_factor) = 2;
  // How long to wait for a batch, or for workers to leave, before it is an error; for ever unless said.
  CRESSET_ARG(std::optional<std::chrono::milliseconds>, timeout);
  // Batches in the sampler's order; false: as they get ready.
  CRESSET_ARG(bool, enforce_ordering) = true;
  // Leaves out a last batch that is smaller than batch_size.
  CRESSET_ARG(bool, drop_last) = false;
  // Of the sampler's order and of every sample's random numbers; from the default generator unless said.
  CRESSET_ARG(std::optional<uint64_t>, seed);
  // For copies to a GPU. Accepted, and without effect: batches are made in pageable memory.
  CRESSET_ARG(bool, pin_memory) = false;
};

// The options with every default worked out.
struct CRESSET_API FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options);

  size_t batch_size;
  size_t workers;
  size_t max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering;
  bool drop_last;
  std::optional<uint64_t> seed;
  bool pin_memory;
};

}  // namespace cresset::data
