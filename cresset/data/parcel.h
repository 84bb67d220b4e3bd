// What loaders and their workers pass to each other: requests and batches whose types only the loader's template knows.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cresset/core/error.h"

namespace cresset::data {

// What a worker threw, with its words; the original is kept.
struct CRESSET_API WorkerException : public Error {
  WorkerException(const std::string& where, const std::string& words, std::exception_ptr original)
      : Error(where + ": Caught exception in DataLoader worker thread. Original message: " + words),
        original_exception(std::move(original)),
        message(what()) {}
  std::exception_ptr original_exception;
  std::string message;
};

namespace detail {

// A value whose type only the loader knows.
struct CRESSET_API Parcel {
  virtual ~Parcel();
};
template <class T>
struct ParcelOf : Parcel {
  explicit ParcelOf(T held) : value(std::move(held)) {}
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
  explicit RequestOf(T held) : value(std::move(held)) {}
  T value;
};

using Fetch = std::function<std::unique_ptr<Parcel>(size_t worker, Request& request)>;

// Calls `fetch` with the thread's randomness set up for the request.
CRESSET_API std::unique_ptr<Parcel> fetch_in_scope(const Fetch& fetch, size_t worker, Request& request);

}  // namespace detail
}  // namespace cresset::data
