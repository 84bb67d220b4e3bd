// What stands between the brackets of an index expression, with libtorch's names: integers, Slice, None, Ellipsis (or
// "..."), bool, and tensors. `using namespace cresset::indexing;` makes x.index({Slice(1, None), "...", 0}) readable.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "cresset/core/tensor.h"

namespace cresset::indexing {

inline constexpr std::nullopt_t None = std::nullopt;
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};

inline constexpr int64_t INDEX_MAX = std::numeric_limits<int64_t>::max();
inline constexpr int64_t INDEX_MIN = std::numeric_limits<int64_t>::min();

// start, start + step, … before stop; what is None is the beginning, the end and 1. Negative bounds count from the end.
// A negative step can be written down, as in libtorch; indexing refuses it.
class Slice {
 public:
  explicit Slice(std::optional<int64_t> start = None, std::optional<int64_t> stop = None,
                 std::optional<int64_t> step = None)
      : step_(std::max(step.value_or(1), -INDEX_MAX)) {
    CRESSET_CHECK_AS(ValueError, step_ != 0, "Slice: slice step cannot be zero (expected a positive one)");
    start_ = start.value_or(step_ < 0 ? INDEX_MAX : 0);
    stop_ = stop.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX);
  }
  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }
  bool is_full() const { return start_ == 0 && stop_ == INDEX_MAX && step_ == 1; }

 private:
  int64_t start_, stop_, step_;
};
CRESSET_API std::ostream& operator<<(std::ostream& out, const Slice& slice);

class TensorIndex {
 public:
  enum class Kind : uint8_t { none, ellipsis, integer, boolean, slice, tensor };

  TensorIndex(std::nullopt_t) : kind_(Kind::none) {}
  TensorIndex(EllipsisIndexType) : kind_(Kind::ellipsis) {}
  TensorIndex(const char* text) : kind_(Kind::ellipsis) {
    CRESSET_CHECK_AS(ValueError, text && std::strcmp(text, "...") == 0, "TensorIndex: Expected \"...\" to represent ",
                     "an ellipsis index, but got \"", text ? text : "(null)", "\"");
  }
  template <class T>
  requires std::is_integral_v<T> TensorIndex(T value)
      : kind_(std::is_same_v<T, bool> ? Kind::boolean : Kind::integer), integer_(static_cast<int64_t>(value)) {}
  TensorIndex(Slice slice) : kind_(Kind::slice), slice_(slice) {}
  TensorIndex(Tensor tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_ellipsis() const { return kind_ == Kind::ellipsis; }
  bool is_integer() const { return kind_ == Kind::integer; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_slice() const { return kind_ == Kind::slice; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};
CRESSET_API std::ostream& operator<<(std::ostream& out, const TensorIndex& index);
CRESSET_API std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices);

}  // namespace cresset::indexing
