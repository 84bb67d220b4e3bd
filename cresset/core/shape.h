// ArrayRef (a borrowed array), and Dims: sizes or strides of a tensor, inline up to six of them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cresset/core/export.h"

namespace cresset {

[[noreturn]] CRESSET_API void array_index_out_of_range(size_t index, size_t size);

// Borrows: it must not outlive what it was made from, which for an initializer list is the full expression.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<const T*>;
  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  ArrayRef(const std::vector<T>& v) : data_(v.data()), size_(v.size()) {}
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& a) : data_(a.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&a)[N]) : data_(a), size_(N) {}
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(const std::initializer_list<T>& list) : data_(list.begin()), size_(list.size()) {}
#ifndef __clang__
#pragma GCC diagnostic pop
#endif

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    if (CRESSET_UNLIKELY(i >= size_)) array_index_out_of_range(i, size_);
    return data_[i];
  }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr ArrayRef slice(size_t from, size_t count) const { return {data_ + from, count}; }
  constexpr ArrayRef slice(size_t from) const { return {data_ + from, size_ - from}; }
  std::vector<T> vec() const { return {begin(), end()}; }
  bool equals(ArrayRef other) const { return *this == other; }
  friend bool operator==(ArrayRef a, ArrayRef b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; i++)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

using IntArrayRef = ArrayRef<int64_t>;

// A borrowed array or none, for parameters. In std::optional, {0} would be made from an int: a reference to an int64_t
// that is gone when the call begins.
class OptionalIntArrayRef : public std::optional<IntArrayRef> {
 public:
  OptionalIntArrayRef() = default;
  OptionalIntArrayRef(std::nullopt_t) {}
  OptionalIntArrayRef(const std::optional<IntArrayRef>& list) : optional(list) {}
  OptionalIntArrayRef(const int64_t& one) : optional(IntArrayRef(one)) {}
  OptionalIntArrayRef(const std::initializer_list<int64_t>& list) : optional(IntArrayRef(list)) {}
  template <class List>
  requires(std::is_convertible_v<const List&, IntArrayRef> && !std::is_arithmetic_v<List>)
      OptionalIntArrayRef(const List& list)
      : optional(IntArrayRef(list)) {}
};

CRESSET_API std::string text_of(IntArrayRef list);  // "[2, 3]"
CRESSET_API std::ostream& operator<<(std::ostream& out, IntArrayRef list);

class Dims {
 public:
  static constexpr int kInline = 6;
  Dims() = default;
  Dims(IntArrayRef list) { assign(list); }
  Dims(std::initializer_list<int64_t> list) { assign(IntArrayRef(list)); }
  Dims(const std::vector<int64_t>& list) { assign(list); }
  Dims(const Dims& other) : rank_(other.rank_) {
    if (other.heap_) {
      rank_ = 0;
      assign(other);
    } else {
      std::memcpy(inline_, other.inline_, sizeof inline_);  // of fixed length: no call
    }
  }
  Dims(Dims&& other) noexcept { take(other); }
  Dims& operator=(const Dims& other) {
    if (this == &other) return *this;
    if (heap_ || other.heap_) {
      assign(other);
    } else {
      rank_ = other.rank_;
      std::memcpy(inline_, other.inline_, sizeof inline_);
    }
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this == &other) return *this;
    free_heap();
    take(other);
    return *this;
  }
  ~Dims() { free_heap(); }

  static Dims filled(int rank, int64_t value) {
    Dims d;
    d.resize(rank);
    for (int64_t& x : d) x = value;
    return d;
  }

  int rank() const { return rank_; }
  size_t size() const { return static_cast<size_t>(rank_); }
  bool empty() const { return rank_ == 0; }
  int64_t* data() { return heap_ ? heap_ : inline_; }
  const int64_t* data() const { return heap_ ? heap_ : inline_; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + rank_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + rank_; }
  int64_t& operator[](int i) { return data()[i]; }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t back() const { return data()[rank_ - 1]; }
  operator IntArrayRef() const { return {data(), static_cast<size_t>(rank_)}; }
  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank_ != b.rank_) return false;
    const int64_t *x = a.data(), *y = b.data();
    for (int i = 0; i < a.rank_; i++)
      if (x[i] != y[i]) return false;
    return true;
  }

  void assign(IntArrayRef list) {
    rank_ = 0;
    resize(static_cast<int>(list.size()));
    int64_t* to = data();
    for (int i = 0; i < rank_; i++) to[i] = list[static_cast<size_t>(i)];
  }
  // Keeps what fits; new entries are not set.
  void resize(int rank) {
    if (rank > capacity()) grow(rank);
    rank_ = rank;
  }
  void push_back(int64_t value) {
    resize(rank_ + 1);
    data()[rank_ - 1] = value;
  }
  void insert(int at, int64_t value) {
    resize(rank_ + 1);
    for (int i = rank_ - 1; i > at; i--) data()[i] = data()[i - 1];
    data()[at] = value;
  }
  void erase(int at) {
    for (int i = at; i + 1 < rank_; i++) data()[i] = data()[i + 1];
    rank_--;
  }
  int64_t product() const {
    int64_t n = 1;
    for (int64_t x : *this) n *= x;
    return n;
  }

 private:
  int capacity() const { return heap_ ? capacity_ : kInline; }
  void free_heap() {
    if (heap_) delete[] heap_;
    heap_ = nullptr;
  }
  void grow(int rank) {
    int64_t* more = new int64_t[static_cast<size_t>(rank) * 2];
    std::memcpy(more, data(), sizeof(int64_t) * static_cast<size_t>(rank_));
    free_heap();
    heap_ = more;
    capacity_ = rank * 2;
  }
  void take(Dims& other) {
    rank_ = other.rank_;
    heap_ = std::exchange(other.heap_, nullptr);
    capacity_ = other.capacity_;
    if (!heap_) std::memcpy(inline_, other.inline_, sizeof inline_);
    other.rank_ = 0;
  }

  int32_t rank_ = 0;
  int32_t capacity_ = 0;
  int64_t* heap_ = nullptr;
  int64_t inline_[kInline] = {};
};

inline Dims contiguous_strides(IntArrayRef sizes) {
  Dims strides;
  strides.resize(static_cast<int>(sizes.size()));
  int64_t step = 1;
  for (int i = static_cast<int>(sizes.size()) - 1; i >= 0; i--) {
    strides[i] = step;
    int64_t n = sizes[static_cast<size_t>(i)];
    step *= n > 1 ? n : 1;
  }
  return strides;
}

inline constexpr size_t kMaxDims = 64;  // of a tensor

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

}  // namespace cresset
