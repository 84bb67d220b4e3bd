// libtorch code compiles against this header: `torch` is defined as `cresset` (an alias would break code that reopens
// the namespace), `at` and `c10` hold the same names, and the macros that users write are here.
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

#include "cresset/core/arg.h"
#include "cresset/core/dlpack.h"
#include "cresset/core/ordered_dict.h"
#include "cresset/cresset.h"
#include "cresset/data/datasets/chunk.h"

#ifndef torch
#define torch cresset
#endif

namespace cresset {

using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

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

template <class... Args>
std::string str(const Args&... args) {
  return message_of(args...);
}

// at::make_generator<at::CPUGeneratorImpl>(seed)
struct CPUGeneratorImpl {};
template <class Impl>
requires std::is_same_v<Impl, CPUGeneratorImpl> Generator make_generator(uint64_t seed = default_rng_seed_val) {
  return Generator(seed);
}

// at::globalContext(), as far as programs ask it.
class Context {
 public:
  void setDeterministicAlgorithms(bool mode, bool warn_only) { use_deterministic_algorithms(mode, warn_only); }
  bool deterministicAlgorithms() const { return are_deterministic_algorithms_enabled(); }
  bool deterministicAlgorithmsWarnOnly() const { return is_deterministic_algorithms_warn_only_enabled(); }
  void alertNotDeterministic(const char* caller) const { alert_not_deterministic(caller); }
  bool hasCUDA() const { return cuda::is_available(); }
  const Generator& defaultGenerator(Device) const { return default_generator(); }
};
inline Context& globalContext() {
  static Context context;
  return context;
}
inline bool hasCUDA() { return cuda::is_available(); }
namespace cuda {
inline bool cudnn_is_available() { return false; }
}  // namespace cuda

// Folds f(first, last, identity) of parts of [begin, end), in their order.
template <class T, class F, class Combine>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain, T identity, const F& f, const Combine& combine) {
  std::map<int64_t, T> parts;
  std::mutex mutex;
  parallel_for(begin, end, grain, [&](int64_t first, int64_t last) {
    T part = f(first, last, identity);
    const std::lock_guard lock(mutex);
    parts.emplace(first, std::move(part));
  });
  T result = identity;
  for (auto& [first, part] : parts) result = combine(result, part);
  return result;
}
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }

// What std::cout << tensor does, with libtorch's name.
inline void print(const Tensor& tensor) { std::cout << tensor; }

// ---- names of element types
inline DType typeMetaToScalarType(TypeMeta meta) { return meta.toScalarType(); }
inline TypeMeta scalarTypeToTypeMeta(DType dtype) { return TypeMeta(dtype); }
inline DType get_default_dtype_as_scalartype() { return default_dtype(); }
inline DType promoteTypes(DType a, DType b) { return promote_types(a, b); }
inline bool canCast(DType from, DType to) { return can_cast(from, to); }
template <class T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, dtype_of<T>> {};

// for_blob(data, sizes).strides(…).deleter(…).make_tensor(): from_blob with named arguments.
class TensorMaker {
 public:
  TensorMaker(void* data, IntArrayRef sizes) : data_(data), sizes_(sizes.vec()) {}
  TensorMaker& strides(IntArrayRef value) { return strides_ = value.vec(), *this; }
  TensorMaker& storage_offset(std::optional<int64_t> value) { return offset_ = value.value_or(0), *this; }
  TensorMaker& deleter(BlobDeleter value) { return deleter_ = std::move(value), *this; }
  TensorMaker& target_device(std::optional<Device> value) { return device_ = value, *this; }
  TensorMaker& options(TensorOptions value) { return options_ = value, *this; }
  Tensor make_tensor() const {
    const TensorOptions options = device_ ? options_.device(device_) : options_;
    const Dims strides = strides_ ? Dims(*strides_) : contiguous_strides(sizes_);
    return from_blob(data_, sizes_, strides, offset_, deleter_, options);
  }

 private:
  void* data_;
  std::vector<int64_t> sizes_;
  std::optional<std::vector<int64_t>> strides_;
  int64_t offset_ = 0;
  BlobDeleter deleter_;
  std::optional<Device> device_;
  TensorOptions options_;
};
inline TensorMaker for_blob(void* data, IntArrayRef sizes) { return TensorMaker(data, sizes); }

inline std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool sorted = true,  // NOLINT
                                                   bool return_inverse = false, bool return_counts = false) {
  return unique(self, sorted, return_inverse, return_counts);
}

namespace autograd {
using ::cresset::GradMode;
}
namespace linalg {
// The driver chooses among cuSOLVER's; there is one here.
inline std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool full_matrices, std::optional<std::string_view>) {
  return linalg_svd(A, full_matrices);
}
inline Tensor svdvals(const Tensor& A, std::optional<std::string_view>) { return linalg_svdvals(A); }
inline std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& A, const Tensor& B, std::optional<double> rcond,
                                                        std::nullopt_t) {
  return linalg_lstsq(A, B, rcond);
}
}  // namespace linalg

namespace special {
inline Tensor zeta(const Tensor& self, const Scalar& other) { return special_zeta(self, wrapped_number(other)); }
inline Tensor zeta(const Scalar& self, const Tensor& other) { return special_zeta(wrapped_number(self), other); }
}  // namespace special

// libtorch's overload that does not centre, known by what stands where the other has pad_mode.
template <class OneSided>
requires std::is_same_v<OneSided, bool> || std::is_same_v<OneSided, std::nullopt_t> ||
    std::is_same_v<OneSided, std::optional<bool>>
        Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                    std::optional<int64_t> win_length, const Tensor& window, bool normalized, OneSided onesided,
                    std::optional<bool> return_complex = std::nullopt) {
  return stft(self, n_fft, hop_length, win_length, window, /*center=*/false, "reflect", normalized, onesided,
              return_complex);
}

namespace enumtype {
template <class... Tags>
std::string get_enum_name(const std::variant<Tags...>& choice) {
  return std::visit([](auto tag) { return name_of(tag.tag); }, choice);
}
template <class... Tags>
int64_t reduction_get_enum(const std::variant<Tags...>& choice) {
  return std::visit([](auto tag) { return reduction_get_enum(tag.tag); }, choice);
}
}  // namespace enumtype

namespace detail {
inline Generator& getDefaultCPUGenerator() { return default_generator(); }
inline Generator createCPUGenerator(uint64_t seed = default_rng_seed_val) { return Generator(seed); }
}  // namespace detail

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

namespace c10 {
using namespace ::cresset;
template <class Key, class Value>
using Dict = ::cresset::GenericDict<Key, Value>;
namespace impl {
using GenericDict = ::cresset::GenericDict<::cresset::IValue, ::cresset::IValue>;
}
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
}

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

// ---- checks: without a message, libtorch's own words
#define CRESSET_TORCH_CHECK(Type, condition, ...)                                         \
  do {                                                                                    \
    if (CRESSET_UNLIKELY(!(condition)))                                                   \
      throw ::cresset::Type(::cresset::detail::check_message(#condition, ##__VA_ARGS__)); \
  } while (false)
#define TORCH_CHECK(condition, ...) CRESSET_TORCH_CHECK(Error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_ARG(condition, argument, ...) \
  TORCH_CHECK(condition, "invalid argument ", argument, ": ", ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) CRESSET_TORCH_CHECK(IndexError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) CRESSET_TORCH_CHECK(ValueError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) CRESSET_TORCH_CHECK(TypeError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) CRESSET_TORCH_CHECK(NotImplementedError, condition, ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...)                                                                    \
  CRESSET_TORCH_CHECK(Error, condition, #condition " INTERNAL ASSERT FAILED at ", __FILE__, ":", __LINE__, ". ", \
                      ##__VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) static_cast<void>(0)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ERROR(...) throw ::cresset::Error(::cresset::message_of(__VA_ARGS__))
#define TORCH_WARN(...) (std::cerr << ::cresset::message_of("Warning: ", ##__VA_ARGS__, "\n"))
#define TORCH_WARN_ONCE(...)                          \
  do {                                                \
    [[maybe_unused]] static const bool warned = [&] { \
      TORCH_WARN(__VA_ARGS__);                        \
      return true;                                    \
    }();                                              \
  } while (false)
#define TORCH_API CRESSET_API
#define C10_API CRESSET_API
#define C10_EXPORT CRESSET_API
#define C10_LIKELY CRESSET_LIKELY
#define C10_UNLIKELY CRESSET_UNLIKELY
#define C10_UNUSED [[maybe_unused]]

#define TORCH_ARG CRESSET_ARG
#define TORCH_MODULE CRESSET_MODULE
#define TORCH_MODULE_IMPL CRESSET_MODULE_IMPL
#define FORWARD_HAS_DEFAULT_ARGS CRESSET_FORWARD_HAS_DEFAULT_ARGS
#define FORWARD_ARG CRESSET_FORWARD_ARG

// ---- how optimizers of one's own save and load themselves, within serialize(archive) of options and states, and
// within the optimizer's save and load
#define _TORCH_OPTIM_SERIALIZE(name) ::cresset::optim::serialize(archive, #name, self.name)  // NOLINT
#define _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Name)                                       /* NOLINT */ \
  ::cresset::optim::serialize<Name##ParamState, Name##Options>(archive, self)
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name) ::cresset::optim::serialize(archive, #name, name())  // NOLINT
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(name) _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name)         // NOLINT
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)                                                 /* NOLINT */ \
  ::cresset::optim::serialize(archive, #name, static_cast<T&>(this->name()))
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(T, name) /* NOLINT */ \
  ::cresset::optim::serialize(archive, #name, static_cast<std::optional<T>&>(this->name()))
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(T, name) _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)  // NOLINT

// ---- dispatch on the element type; scalar_t is the C++ type inside the body
#define CRESSET_DISPATCH_CASE(enumerator, name, ...)                          \
  case enumerator: {                                                          \
    using name [[maybe_unused]] = ::cresset::detail::ElementType<enumerator>; \
    return __VA_ARGS__();                                                     \
  }
#define AT_DISPATCH_CASE(enumerator, ...) CRESSET_DISPATCH_CASE(enumerator, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                                            \
  [&] {                                                                                                                \
    const ::cresset::DType dispatched_dtype = TYPE;                                                                    \
    switch (dispatched_dtype) {                                                                                        \
      __VA_ARGS__                                                                                                      \
      default:                                                                                                         \
        throw ::cresset::NotImplementedError(                                                                          \
            ::cresset::message_of('"', NAME, "\" not implemented for '", ::cresset::toString(dispatched_dtype), "'")); \
    }                                                                                                                  \
  }()
#define AT_DISPATCH_CASE_FLOATING_TYPES(...)        \
  AT_DISPATCH_CASE(::cresset::kDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::cresset::kFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                \
  AT_DISPATCH_CASE(::cresset::kComplexDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::cresset::kComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)       \
  AT_DISPATCH_CASE(::cresset::kByte, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::cresset::kChar, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::cresset::kShort, __VA_ARGS__) \
  AT_DISPATCH_CASE(::cresset::kInt, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::cresset::kLong, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)        \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)        \
  AT_DISPATCH_CASE(::cresset::kHalf, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)           \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)           \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                  \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                  \
                     CRESSET_DISPATCH_CASE(::cresset::kInt, index_t, __VA_ARGS__) \
                         CRESSET_DISPATCH_CASE(::cresset::kLong, index_t, __VA_ARGS__))
// Each set of types by itself, or with one to three more.
#define CRESSET_DISPATCH(SET, TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_##SET(__VA_ARGS__))
#define CRESSET_DISPATCH_AND(SET, A, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_##SET(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define CRESSET_DISPATCH_AND2(SET, A, B, TYPE, NAME, ...)                                 \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                          \
                     AT_DISPATCH_CASE_##SET(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                         AT_DISPATCH_CASE(B, __VA_ARGS__))
#define CRESSET_DISPATCH_AND3(SET, A, B, C, TYPE, NAME, ...)                              \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                          \
                     AT_DISPATCH_CASE_##SET(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                         AT_DISPATCH_CASE(B, __VA_ARGS__) AT_DISPATCH_CASE(C, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES(...) CRESSET_DISPATCH(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(...) CRESSET_DISPATCH_AND(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(...) CRESSET_DISPATCH_AND2(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(...) CRESSET_DISPATCH(FLOATING_TYPES_AND_HALF, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(...) CRESSET_DISPATCH(INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(...) CRESSET_DISPATCH_AND(INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(...) CRESSET_DISPATCH(COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES_AND(...) CRESSET_DISPATCH_AND(COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(...) CRESSET_DISPATCH(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(...) CRESSET_DISPATCH_AND(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(...) CRESSET_DISPATCH_AND2(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(...) CRESSET_DISPATCH_AND3(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(...) CRESSET_DISPATCH(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(...) CRESSET_DISPATCH_AND(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(...) CRESSET_DISPATCH_AND2(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(...) CRESSET_DISPATCH_AND3(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(...) CRESSET_DISPATCH(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(...) CRESSET_DISPATCH_AND(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(...) CRESSET_DISPATCH_AND2(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(...) CRESSET_DISPATCH_AND3(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)

namespace cresset::detail {

template <class... Args>
std::string check_message(const char* condition, const Args&... args) {
  if constexpr (sizeof...(Args) == 0)
    return message_of("Expected ", condition, " to be true, but got false.");
  else
    return message_of(args...);
}

template <DType dtype>
auto element_of() {
#define CRESSET_ELEMENT_OF(T, Name) \
  if constexpr (dtype == DType::Name) return T();
  CRESSET_FOR_EACH_DTYPE(CRESSET_ELEMENT_OF)
#undef CRESSET_ELEMENT_OF
}
template <DType dtype>
using ElementType = decltype(element_of<dtype>());

}  // namespace cresset::detail

namespace cresset::optim {

template <class T>
struct DequeElement;
template <class T>
struct DequeElement<std::deque<T>> {
  using type = T;
};

// A value under its name; undefined tensors and empty optionals are left out.
template <class T>
void serialize(serialize::OutputArchive& archive, const std::string& name, const T& value) {
  if constexpr (requires { typename DequeElement<T>::type; }) {
    serialize(archive, name, std::vector<typename DequeElement<T>::type>(value.begin(), value.end()));
  } else {
    const IValue written(value);
    if (!written.isNone() && !(written.isTensor() && !written.toTensor().defined())) archive.write(name, written);
  }
}
template <class T>
void serialize(serialize::InputArchive& archive, const std::string& name, T& value) {
  if constexpr (requires { typename DequeElement<T>::type; }) {
    std::vector<typename DequeElement<T>::type> items;
    serialize(archive, name, items);
    value.assign(items.begin(), items.end());
  } else {
    constexpr bool may_be_missing = std::is_same_v<T, Tensor> || requires { value.has_value(); };
    IValue read;
    if (may_be_missing && !archive.try_read(name, read)) return;
    if (!may_be_missing) archive.read(name, read);
    value = read.to<T>();
  }
}

// A whole optimizer, in PyTorch's layout, and the mark by which libtorch's load functions know their format.
template <class State, class Options>
void serialize(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  static_assert(std::is_base_of_v<OptimizerParamState, State> && std::is_base_of_v<OptimizerOptions, Options>);
  optimizer.Optimizer::save(archive);
  archive.write("pytorch_version", IValue("1.5.0"));
}
template <class State, class Options>
void serialize(serialize::InputArchive& archive, Optimizer& optimizer) {
  static_assert(std::is_base_of_v<OptimizerParamState, State> && std::is_base_of_v<OptimizerOptions, Options>);
  optimizer.load_states_of([]() -> std::unique_ptr<OptimizerParamState> { return std::make_unique<State>(); },
                           archive.values());
}

}  // namespace cresset::optim

namespace c10::guts {
// libtorch 1.x finds a parameter's state by this text of its address; here the address itself finds it.
inline void* to_string(::cresset::TensorImpl* impl) { return impl; }
template <class Number>
requires std::is_arithmetic_v<Number> std::string to_string(Number number) { return std::to_string(number); }
}  // namespace c10::guts
