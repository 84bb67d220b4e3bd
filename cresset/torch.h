// libtorch code compiles against this header: `torch` is defined as `cresset` (an alias would break code that reopens
// the namespace), `at` and `c10` hold the same names, and cresset/torch/ has the macros and names that Cresset itself
// does not use.
#pragma once

// What torch/torch.h brings of the standard library, and <fstream> and <random>: programs lean on it.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <stack>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cresset/core/dlpack.h"
#include "cresset/core/ordered_dict.h"
#include "cresset/cresset.h"
#include "cresset/data/datasets/chunk.h"
#include "cresset/torch/containers.h"
#include "cresset/torch/data_parallel.h"
#include "cresset/torch/dispatch.h"
#include "cresset/torch/jit.h"
#include "cresset/torch/macros.h"
#include "cresset/torch/meta.h"
#include "cresset/torch/names.h"
#include "cresset/torch/older_forms.h"
#include "cresset/torch/optim.h"

#ifndef torch
#define torch cresset
#endif

namespace c10 {
using namespace ::cresset;
template <class Key, class Value>
using Dict = ::cresset::GenericDict<Key, Value>;
namespace impl {
using GenericDict = ::cresset::GenericDict<::cresset::IValue, ::cresset::IValue>;
using GenericList = ::cresset::GenericList<::cresset::IValue>;
}  // namespace impl
using std::get;
using std::get_if;
using std::holds_alternative;
using std::monostate;
using std::variant;
using std::visit;
template <class T>
using complex = std::complex<T>;
using std::string_view;

template <class Integer>
::cresset::IntegerRange<Integer> irange(Integer last) {
  return {Integer{0}, last};
}
template <class First, class Last>
::cresset::IntegerRange<Last> irange(First first, Last last) {
  return {static_cast<Last>(first), last};
}
}  // namespace c10

namespace at {
using namespace ::cresset;

// Unlike torch::tensor: a number makes a tensor of one dimension, and integers and doubles keep their type.
template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  return ::cresset::tensor(values, options.dtype(options.dtype_opt().value_or(::cresset::dtype_of<T>)));
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(values.begin(), values.size()), options);
}
template <class T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(values), options);
}
template <class T>
requires std::is_arithmetic_v<T> Tensor tensor(T value, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(&value, 1), options);
}
// The view that gradients flow through.
inline Tensor alias(const Tensor& self) { return self.alias(); }
}  // namespace at

// Options hold a choice of tags where libtorch's hold a variant: asked the same way.
namespace c10 {
template <class Tag, class... Tags>
const Tag* get_if(const ::cresset::enumtype::Choice<Tags...>* choice) {
  static constexpr Tag tag{};
  return choice && choice->template is<Tag>() ? &tag : nullptr;
}
template <class Tag, class... Tags>
bool holds_alternative(const ::cresset::enumtype::Choice<Tags...>& choice) {
  return choice.template is<Tag>();
}
}  // namespace c10
namespace caffe2 {
using ::cresset::TypeMeta;
}

// As libtorch's headers have it: std::cout << x.sizes().vec() prints the elements, apart by spaces.
namespace std {
template <class T>
ostream& operator<<(ostream& out, const vector<T>& items) {  // NOLINT
  for (size_t i = 0; i < items.size(); i++) out << (i ? " " : "") << items[i];
  return out;
}
}  // namespace std
