// What an optimizer remembers about each parameter. ParamStates keeps it in the order of the parameters, so that a step
// walks along a vector and looks nothing up; asking for one by its tensor is for the edges.
#pragma once

#include <memory>
#include <vector>

#include "cresset/core/arg.h"
#include "cresset/core/ivalue.h"
#include "cresset/optim/serialized.h"

namespace cresset::optim {

struct StateFields;

class CRESSET_API OptimizerParamState : public Serialized {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  virtual StateFields fields();
};

// Of one class, with the same values in all that is saved; tensors are compared element by element.
CRESSET_API bool operator==(const OptimizerParamState& a, const OptimizerParamState& b);

template <typename Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override {
    return std::unique_ptr<OptimizerParamState>(new Derived(static_cast<const Derived&>(*this)));
  }
};

// Used as a map from a tensor's implementation to its state, as libtorch's: state()[p.unsafeGetTensorImpl()].
class CRESSET_API ParamStates {
 public:
  using key_type = void*;
  using mapped_type = std::unique_ptr<OptimizerParamState>;
  using Entry = std::pair<key_type, mapped_type>;
  using value_type = Entry;

  template <class Base>
  class Iterator {
   public:
    Iterator(Base at, Base end) : at_(at), end_(end) { skip(); }
    auto& operator*() const { return *at_; }
    auto* operator->() const { return &*at_; }
    Iterator& operator++() {
      ++at_;
      skip();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void skip() {
      while (at_ != end_ && !at_->second) ++at_;
    }
    Base at_, end_;
  };
  using iterator = Iterator<std::vector<Entry>::iterator>;
  using const_iterator = Iterator<std::vector<Entry>::const_iterator>;

  iterator begin() { return {entries_.begin(), entries_.end()}; }
  iterator end() { return {entries_.end(), entries_.end()}; }
  const_iterator begin() const { return {entries_.begin(), entries_.end()}; }
  const_iterator end() const { return {entries_.end(), entries_.end()}; }
  size_t size() const;
  bool empty() const { return size() == 0; }
  void clear();

  std::unique_ptr<OptimizerParamState>& operator[](const void* impl);
  std::unique_ptr<OptimizerParamState>& operator[](const Tensor& param) { return (*this)[param.impl()]; }
  std::unique_ptr<OptimizerParamState>& at(const void* impl);  // its error says what is missing
  const std::unique_ptr<OptimizerParamState>& at(const void* impl) const;
  std::unique_ptr<OptimizerParamState>& at(const Tensor& param) { return at(param.impl()); }
  const std::unique_ptr<OptimizerParamState>& at(const Tensor& param) const { return at(param.impl()); }
  iterator find(const void* impl);
  const_iterator find(const void* impl) const;
  size_t count(const void* impl) const { return find(impl) == end() ? 0 : 1; }
  bool contains(const void* impl) const { return count(impl) != 0; }
  // Leaves what is there already, and says whether it put the new one in.
  std::pair<iterator, bool> emplace(const void* impl, std::unique_ptr<OptimizerParamState> state);
  std::pair<iterator, bool> insert(Entry entry) { return emplace(entry.first, std::move(entry.second)); }
  size_t erase(const void* impl);  // how many there were

  // The entry of the parameter that stands at `position` in the order of all groups.
  std::unique_ptr<OptimizerParamState>& in_order(size_t position, void* impl) {
    if (CRESSET_UNLIKELY(position >= entries_.size() || entries_[position].first != impl)) move_to(position, impl);
    return entries_[position].second;
  }

 private:
  void move_to(size_t position, void* impl);  // makes the entry if there is none
  std::vector<Entry> entries_;
};

}  // namespace cresset::optim
