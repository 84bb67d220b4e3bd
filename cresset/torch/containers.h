// libtorch's containers: List, Dict, SmallVector, and irange.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <vector>

#include "cresset/core/ivalue.h"

namespace cresset {

// c10::irange(n): 0, 1, … n - 1 in a range-based for.
template <class Integer>
class IntegerRange {
 public:
  class iterator {
   public:
    using value_type = Integer;
    explicit iterator(Integer at) : at_(at) {}
    Integer operator*() const { return at_; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    Integer at_;
  };
  IntegerRange(Integer first, Integer last) : first_(first), last_(last < first ? first : last) {}
  iterator begin() const { return iterator(first_); }
  iterator end() const { return iterator(last_); }

 private:
  Integer first_, last_;
};

// A vector; libtorch's keeps its first N elements in itself.
template <class T>
class SmallVectorImpl : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    this->insert(this->end(), first, last);
  }
  void append(size_t count, const T& value) { this->insert(this->end(), count, value); }
  void append(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  T pop_back_val() {
    T last = std::move(this->back());
    this->pop_back();
    return last;
  }
};
template <class T, unsigned N = 8>
class SmallVector : public SmallVectorImpl<T> {
 public:
  using SmallVectorImpl<T>::SmallVectorImpl;
  SmallVector(ArrayRef<T> values) : SmallVectorImpl<T>(values.begin(), values.end()) {}
};
using DimVector = SmallVector<int64_t, 5>;
template <class T>
std::ostream& operator<<(std::ostream& out, const SmallVectorImpl<T>& items) {
  for (size_t i = 0; i < items.size(); i++) out << (i ? ", " : "[") << items[i];
  return out << (items.empty() ? "[]" : "]");
}

// c10::List<T>: copies share their elements; copy() does not.
template <class T>
class GenericList {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = typename std::vector<T>::iterator;

  GenericList() : items_(std::make_shared<std::vector<T>>()) {}
  GenericList(std::initializer_list<T> items) : items_(std::make_shared<std::vector<T>>(items)) {}
  explicit GenericList(ArrayRef<T> items) : items_(std::make_shared<std::vector<T>>(items.begin(), items.end())) {}
  explicit GenericList(std::vector<T> items) : items_(std::make_shared<std::vector<T>>(std::move(items))) {}
  GenericList(const IValue::List& list) : GenericList(IValue(list).to<std::vector<T>>()) {}

  size_t size() const { return items_->size(); }
  bool empty() const { return items_->empty(); }
  T get(size_t i) const { return items_->at(i); }
  void set(size_t i, T value) const { items_->at(i) = std::move(value); }
  T extract(size_t i) const { return std::move(items_->at(i)); }
  decltype(auto) operator[](size_t i) const { return items_->at(i); }
  iterator begin() const { return items_->begin(); }
  iterator end() const { return items_->end(); }
  iterator insert(iterator before, T value) const { return items_->insert(before, std::move(value)); }
  void push_back(T value) const { items_->push_back(std::move(value)); }
  template <class... Args>
  void emplace_back(Args&&... args) const {
    items_->emplace_back(std::forward<Args>(args)...);
  }
  void append(const GenericList& more) const {
    const std::vector<T> added = more.vec();
    items_->insert(items_->end(), added.begin(), added.end());
  }
  iterator erase(iterator at) const { return items_->erase(at); }
  iterator erase(iterator first, iterator last) const { return items_->erase(first, last); }
  void pop_back() const { items_->pop_back(); }
  void reserve(size_t capacity) const { items_->reserve(capacity); }
  void resize(size_t size) const { items_->resize(size); }
  void resize(size_t size, const T& value) const { items_->resize(size, value); }
  void clear() const { items_->clear(); }
  std::vector<T> vec() const { return *items_; }
  GenericList copy() const { return GenericList(*items_); }
  bool is(const GenericList& other) const { return items_ == other.items_; }
  size_t use_count() const { return static_cast<size_t>(items_.use_count()); }
  friend bool operator==(const GenericList& a, const GenericList& b) { return *a.items_ == *b.items_; }

  operator IValue() const {
    if constexpr (std::is_constructible_v<IValue, std::vector<T>>)
      return *items_;
    else
      return IValue::List(std::vector<IValue>(items_->begin(), items_->end()));
  }

 private:
  std::shared_ptr<std::vector<T>> items_;
};
template <class T>
using List = GenericList<T>;

inline GenericList<int64_t> IValue::toIntList() const { return GenericList<int64_t>(toIntVector()); }
inline GenericList<double> IValue::toDoubleList() const { return GenericList<double>(toDoubleVector()); }
inline GenericList<Tensor> IValue::toTensorList() const { return GenericList<Tensor>(toTensorVector()); }

// c10::Dict<std::string, Tensor> and the like: what pickle_save takes, and what pickle_load(data).toGenericDict()
// gives, in the order of insertion.
template <class Key, class Value>
class GenericDict {
 public:
  class Entry {
   public:
    Entry(Key key, Value value) : key_(std::move(key)), value_(std::move(value)) {}
    const Key& key() const { return key_; }
    const Value& value() const { return value_; }

   private:
    Key key_;
    Value value_;
  };
  using const_iterator = typename std::vector<Entry>::const_iterator;

  GenericDict() = default;
  GenericDict(const IValue::Dict& dict) {
    for (const auto& [key, value] : dict) entries_.emplace_back(key.template to<Key>(), value.template to<Value>());
  }
  void insert(Key key, Value value) {
    if (!contains(key)) entries_.emplace_back(std::move(key), std::move(value));
  }
  void insert_or_assign(Key key, Value value) {
    erase(key);
    entries_.emplace_back(std::move(key), std::move(value));
  }
  size_t erase(const Key& key) {
    return std::erase_if(entries_, [&](const Entry& entry) { return is_same(entry.key(), key); });
  }
  const_iterator find(const Key& key) const {
    return std::find_if(begin(), end(), [&](const Entry& entry) { return is_same(entry.key(), key); });
  }
  bool contains(const Key& key) const { return find(key) != end(); }
  const Value& at(const Key& key) const {
    const const_iterator found = find(key);
    CRESSET_CHECK_AS(IndexError, found != end(), "Dict::at: the key is not among the ", size(), " of this dict");
    return found->value();
  }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }

  operator IValue() const {
    IValue::Dict dict;
    for (const Entry& entry : entries_) dict.items.emplace_back(entry.key(), entry.value());
    return dict;
  }

 private:
  static bool is_same(const Key& a, const Key& b) {
    if constexpr (std::is_same_v<Key, IValue>)
      return a.isString() == b.isString() &&
             (a.isString() ? a.toStringRef() == b.toStringRef() : a.toInt() == b.toInt());
    else
      return a == b;
  }
  std::vector<Entry> entries_;
};

}  // namespace cresset
