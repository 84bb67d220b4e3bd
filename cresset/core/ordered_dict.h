// OrderedDict: a map that keeps the order of insertion: parameters, buffers and modules by name.
#pragma once

#include <initializer_list>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cresset/core/error.h"

namespace cresset {

// One entry; `for (auto& [name, value] : dict)` takes it apart.
template <class Key, class Value>
class OrderedDictItem {
 public:
  OrderedDictItem(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
  const Key& key() const { return pair_.first; }
  Value& value() { return pair_.second; }
  const Value& value() const { return pair_.second; }
  const std::pair<Key, Value>& pair() const { return pair_; }
  Value& operator*() { return pair_.second; }
  const Value& operator*() const { return pair_.second; }
  Value* operator->() { return &pair_.second; }
  const Value* operator->() const { return &pair_.second; }
  template <size_t I>
  auto& get() {
    if constexpr (I == 0)
      return std::as_const(pair_.first);
    else
      return pair_.second;
  }
  template <size_t I>
  const auto& get() const {
    return std::get<I>(pair_);
  }

 private:
  std::pair<Key, Value> pair_;
};

template <class Key, class Value>
class OrderedDict {
 public:
  using Item = OrderedDictItem<Key, Value>;
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  // What errors call an entry: "parameter", "submodule".
  explicit OrderedDict(std::string kind = "Key") : kind_(std::move(kind)) {}
  OrderedDict(std::initializer_list<Item> items) : kind_("Key") {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  Iterator begin() { return items_.begin(); }
  ConstIterator begin() const { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator end() const { return items_.end(); }
  Item& front() { return const_cast<Item&>(std::as_const(*this).front()); }
  const Item& front() const {
    CRESSET_CHECK_AS(IndexError, !items_.empty(), "Called front() on an empty OrderedDict");
    return items_.front();
  }
  Item& back() { return const_cast<Item&>(std::as_const(*this).back()); }
  const Item& back() const {
    CRESSET_CHECK_AS(IndexError, !items_.empty(), "Called back() on an empty OrderedDict");
    return items_.back();
  }
  Item& operator[](size_t index) { return const_cast<Item&>(std::as_const(*this)[index]); }
  const Item& operator[](size_t index) const {
    CRESSET_CHECK_AS(IndexError, index < items_.size(), "OrderedDict: Index ", index,
                     " is out of bounds (expected less than ", items_.size(), ")");
    return items_[index];
  }
  Value& operator[](const Key& key) { return const_cast<Value&>(std::as_const(*this)[key]); }
  const Value& operator[](const Key& key) const {
    if (const Value* value = find(key)) return *value;
    throw IndexError(message_of(kind_, " '", key, "' is not defined"));
  }
  const Value& at(const Key& key) const { return (*this)[key]; }
  Value& at(const Key& key) { return (*this)[key]; }
  Value* find(const Key& key) noexcept { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Value* find(const Key& key) const noexcept {
    auto found = index_.find(key);
    return found == index_.end() ? nullptr : &items_[found->second].value();
  }
  bool contains(const Key& key) const noexcept { return find(key) != nullptr; }
  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  bool empty() const noexcept { return items_.empty(); }
  const std::string& key_description() const noexcept { return kind_; }

  Value& insert(Key key, Value value) {
    CRESSET_CHECK_AS(ValueError, !contains(key), kind_, " '", key, "' already defined");
    index_.emplace(key, items_.size());
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  void update(const OrderedDict& other) {
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void erase(const Key& key) {
    auto found = index_.find(key);
    CRESSET_CHECK_AS(IndexError, found != index_.end(), kind_, " '", key, "' doesn't exist");
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(found->second));
    index_.clear();
    for (size_t i = 0; i < items_.size(); i++) index_.emplace(items_[i].key(), i);
  }
  void reserve(size_t capacity) {
    items_.reserve(capacity);
    index_.reserve(capacity);
  }
  void clear() {
    items_.clear();
    index_.clear();
  }

  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const {
    std::vector<Key> result;
    for (const Item& item : items_) result.push_back(item.key());
    return result;
  }
  std::vector<Value> values() const {
    std::vector<Value> result;
    for (const Item& item : items_) result.push_back(item.value());
    return result;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> result;
    for (const Item& item : items_) result.push_back(item.pair());
    return result;
  }

 private:
  std::string kind_;
  std::vector<Item> items_;
  std::unordered_map<Key, size_t> index_;
};

}  // namespace cresset

template <class Key, class Value>
struct std::tuple_size<cresset::OrderedDictItem<Key, Value>> : std::integral_constant<size_t, 2> {};
template <class Key, class Value>
struct std::tuple_element<0, cresset::OrderedDictItem<Key, Value>> {
  using type = const Key;
};
template <class Key, class Value>
struct std::tuple_element<1, cresset::OrderedDictItem<Key, Value>> {
  using type = Value;
};
