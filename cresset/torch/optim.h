// Optimizers of one's own write and read their options and states through these, which the macros call.
#pragma once

#include <deque>
#include <memory>
#include <type_traits>
#include <unordered_map>

#include "cresset/io/serialize.h"
#include "cresset/optim/optimizer.h"

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

namespace ska {
// The name by which libtorch's programs declare an optimizer's states; other maps of that name are the standard's.
template <class Key, class Value>
using flat_hash_map =
    std::conditional_t<std::is_same_v<Value, std::unique_ptr<::cresset::optim::OptimizerParamState>> &&
                           std::is_pointer_v<Key>,
                       ::cresset::optim::ParamStates, std::unordered_map<Key, Value>>;
}  // namespace ska

namespace c10::guts {
// libtorch 1.x finds a parameter's state by this text of its address; here the address itself finds it.
inline void* to_string(::cresset::TensorImpl* impl) { return impl; }
template <class Number>
requires std::is_arithmetic_v<Number> std::string to_string(Number number) { return std::to_string(number); }
}  // namespace c10::guts
