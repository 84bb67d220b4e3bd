// The iterator of a loader, for range-based for: moves forward only, and equals end() once the epoch is over.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "cresset/core/error.h"

namespace cresset::data {

template <typename Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  Iterator() = default;  // the end
  explicit Iterator(std::function<std::optional<Batch>()> producer)
      : state_(std::make_shared<State>(State{std::move(producer), {}, false})) {}

  Iterator& operator++() {
    current("Incrementing", "increment iterator");
    state_->batch.reset();  // its memory is free for the next one
    state_->fetched = false;
    at_end();
    return *this;
  }
  Batch& operator*() { return current("Dereferencing", "dereference iterator that was"); }
  Batch* operator->() { return &**this; }

  // Two that are not end() are equal only as copies of each other, and comparing them fetches nothing.
  bool operator==(const Iterator& other) const {
    if (state_ && other.state_) return state_ == other.state_;
    return at_end() && other.at_end();
  }

  // Expires with the last copy.
  std::weak_ptr<const void> life() const { return state_; }

 private:
  struct State {
    std::function<std::optional<Batch>()> producer;
    std::optional<Batch> batch;
    bool fetched;
  };
  // The first batch is fetched when somebody looks, and so is the one after a batch whose fetch threw.
  bool at_end() const {
    if (!state_) return true;
    if (!state_->fetched) state_->batch = state_->producer();
    state_->fetched = true;
    return !state_->batch;
  }
  Batch& current(const char* doing, const char* what) const {
    CRESSET_CHECK(state_, "DataLoader: ", doing, " the DataLoader's past-the-end iterator is not allowed");
    CRESSET_CHECK(!at_end(), "DataLoader: Attempted to ", what, " past the end");
    return *state_->batch;
  }

  std::shared_ptr<State> state_;
};

}  // namespace cresset::data
