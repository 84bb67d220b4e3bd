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
  using Entry = std::pair<void*, std::unique_ptr<OptimizerParamState>>;

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
  OptimizerParamState& at(const void* impl) const;  // its error says what is missing
  OptimizerParamState& at(const Tensor& param) const { return at(param.impl()); }
  iterator find(const void* impl);
  const_iterator find(const void* impl) const;
  size_t count(const void* impl) const { return find(impl) == end() ? 0 : 1; }

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
