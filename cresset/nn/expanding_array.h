// ExpandingArray<D>: D numbers, made from D of them or from one that stands for all: kernel_size(3), kernel_size({3,
// 5}).
#pragma once

#include <array>
#include <optional>

#include "cresset/core/error.h"
#include "cresset/core/shape.h"

namespace cresset {

namespace detail {
[[noreturn]] CRESSET_API void wrong_count(size_t found, size_t wanted);
}

template <size_t D, class T = int64_t>
class CRESSET_API ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(ArrayRef<T> list) {
    if (list.size() != D) detail::wrong_count(list.size(), D);
    std::copy(list.begin(), list.end(), values_.begin());
  }
  ExpandingArray(T one) { values_.fill(one); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }
  size_t size() const noexcept { return D; }

 protected:
  std::array<T, D> values_;
};

// Elements may be left open: AdaptiveAvgPool2dOptions({std::nullopt, 7}) keeps the height.
template <size_t D, class T = int64_t>
class CRESSET_API ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
 public:
  using Base = ExpandingArray<D, std::optional<T>>;
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list) : ExpandingArrayWithOptionalElem(ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& list) : ExpandingArrayWithOptionalElem(ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(ArrayRef<T> list) : Base(std::optional<T>()) {
    if (list.size() != D) detail::wrong_count(list.size(), D);
    std::copy(list.begin(), list.end(), this->values_.begin());
  }
  ExpandingArrayWithOptionalElem(T one) : Base(std::optional<T>(one)) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)
      : ExpandingArrayWithOptionalElem(ArrayRef<T>(values)) {}
};

template <size_t D, class T>
std::ostream& operator<<(std::ostream& out, const ExpandingArray<D, T>& array) {
  if constexpr (D == 1)
    return out << array->at(0);
  else
    return out << ArrayRef<T>(array);
}

// "[None, 7]"
template <size_t D, class T>
std::ostream& operator<<(std::ostream& out, const ExpandingArrayWithOptionalElem<D, T>& array) {
  if (D > 1) out << '[';
  for (size_t i = 0; i < D; i++) {
    if (i > 0) out << ", ";
    if (const std::optional<T>& element = array->at(i))
      out << *element;
    else
      out << "None";
  }
  return D > 1 ? out << ']' : out;
}

}  // namespace cresset
