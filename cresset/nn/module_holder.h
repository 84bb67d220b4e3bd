// ModuleHolder: a module by shared pointer, with value-like construction: Linear(3, 4) makes a LinearImpl. Its
// operator() runs forward and, where there are any, the hooks; forward itself runs none.
#pragma once

#include <memory>

#include "cresset/nn/call.h"

namespace cresset {
namespace detail {
struct ModuleHolderIndicator {};
template <class T>
inline constexpr bool is_module_holder_v = std::is_base_of_v<ModuleHolderIndicator, std::decay_t<T>>;
}  // namespace detail

namespace nn {

namespace detail {
using cresset::detail::is_module_holder_v;
[[noreturn]] CRESSET_API void empty_holder(const std::type_info& contained);
// Takes over a fresh module. Not make_shared, which would be compiled anew for every type of module.
CRESSET_API std::shared_ptr<Module> held(Module* module);
CRESSET_API void learn_call(Module& module, CallFunction function);
CRESSET_API AnyValue call_with_hooks(Module& module, CallFunction function, AnyValues arguments);

template <class M, class R, class... Args>
[[gnu::noinline, gnu::cold]] R call_hooked(M& module, Args&&... args) {
  AnyValue result;
  if constexpr (ForwardsAny<M>) {
    result = call_with_hooks(module, call_function<M>(), any_values(std::forward<Args>(args)...));
  } else if constexpr (ForwardsKnown<M>) {
    result =
        call_with_hooks(module, call_function<M>(), Forward<decltype(&M::forward)>::pack(std::forward<Args>(args)...));
  } else {
    hooks_need_one_forward(module);
  }
  if constexpr (!std::is_void_v<R>) {
    if (auto* value = result.template try_get<std::decay_t<R>>()) return std::move(*value);
    wrong_result(module, typeid(R), result.type_info());
  }
}
}  // namespace detail

template <class Contained>
class ModuleHolder : cresset::detail::ModuleHolderIndicator {
 protected:
  // The owner is of one type for all holders: a shared_ptr for each type of module would cost every program that
  // includes this a second. impl_ points into it, and means nothing without it.
  std::shared_ptr<Module> owner_;
  Contained* impl_ = nullptr;

 public:
  using ContainedType = Contained;
  using Impl = Contained;

  ModuleHolder() {
    static_assert(std::is_default_constructible_v<Contained>,
                  "this module has no default constructor: start it empty with nullptr (Linear fc{nullptr})");
    if constexpr (std::is_default_constructible_v<Contained>) {
      impl_ = new Contained;
      owner_ = detail::held(impl_);
      learn();
    }
  }
  ModuleHolder(std::nullptr_t) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(module.get()) {
    owner_ = std::move(module);
    learn();
  }
  template <class Head, class... Tail>
  requires(!(
      cresset::detail::is_module_holder_v<Head> && sizeof...(Tail) == 0 &&
      std::is_base_of_v<ModuleHolder, std::decay_t<Head>>)&&!(std::is_convertible_v<Head, std::shared_ptr<Contained>> &&
                                                              sizeof...(Tail) ==
                                                                  0)) explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...)) {
    owner_ = detail::held(impl_);
    learn();
  }

  explicit operator bool() const noexcept { return !is_empty(); }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  std::shared_ptr<Contained> ptr() const {
    if (CRESSET_UNLIKELY(!owner_)) detail::empty_holder(typeid(Contained));
    return {owner_, impl_};
  }
  Contained* get() {
    if (CRESSET_UNLIKELY(!owner_)) detail::empty_holder(typeid(Contained));
    return impl_;
  }
  const Contained* get() const { return const_cast<ModuleHolder*>(this)->get(); }
  bool is_empty() const noexcept { return owner_ == nullptr; }

  template <class... Args, class C = Contained>
  auto operator()(Args&&... args) -> decltype(std::declval<C&>().forward(std::forward<Args>(args)...)) {
    using R = decltype(get()->forward(std::forward<Args>(args)...));
    if (CRESSET_UNLIKELY(get()->has_hooks()))
      return detail::call_hooked<Contained, R>(*impl_, std::forward<Args>(args)...);
    return impl_->forward(std::forward<Args>(args)...);
  }

  // Sequential's operator[] and a list's: holder[0].
  template <class Index>
  decltype(auto) operator[](Index&& index) {
    return (*get())[std::forward<Index>(index)];
  }

 private:
  void learn() {
    if (owner_) detail::learn_call(*impl_, detail::call_function<Contained>());
  }
};

// std::cout << linear
template <class Contained>
std::ostream& operator<<(std::ostream& out, const ModuleHolder<Contained>& holder) {
  return out << *holder;
}

}  // namespace nn
}  // namespace cresset

// CRESSET_MODULE(Net) makes the holder Net of NetImpl.
#define CRESSET_MODULE_IMPL(Name, ImplType)                    \
  class Name : public ::cresset::nn::ModuleHolder<ImplType> {  \
   public:                                                     \
    using ::cresset::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl [[maybe_unused]] = ImplType;                    \
  }
#define CRESSET_MODULE(Name) CRESSET_MODULE_IMPL(Name, Name##Impl)
// The same for the library's own layers, as an alias: a header of 150 layers then costs their users no 150 holders.
#define CRESSET_LAYER(Name) using Name = ::cresset::nn::ModuleHolder<Name##Impl>

// In a module whose forward has default arguments, so that Sequential and AnyModule know them:
//   CRESSET_FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
#define CRESSET_FORWARD_HAS_DEFAULT_ARGS(...) CRESSET_FORWARD_DEFAULTS_AS(, override, __VA_ARGS__)
// The same in two parts, for the library's own layers: declared in the header, defined in the source.
#define CRESSET_FORWARD_DEFAULTS_IN_SOURCE                             \
  bool _forward_has_default_args() override;                           \
  unsigned int _forward_num_required_args() override;                  \
  std::vector<::cresset::nn::AnyValue> _forward_populate_default_args( \
      std::vector<::cresset::nn::AnyValue>&& arguments) override;
#define CRESSET_FORWARD_DEFAULTS(Impl, ...) CRESSET_FORWARD_DEFAULTS_AS(Impl::, , __VA_ARGS__)
#define CRESSET_FORWARD_DEFAULTS_AS(scope, specifier, ...)                             \
  bool scope _forward_has_default_args() specifier { return true; }                    \
  unsigned int scope _forward_num_required_args() specifier {                          \
    const std::pair<unsigned int, ::cresset::nn::AnyValue> defaults[] = {__VA_ARGS__}; \
    return defaults[0].first;                                                          \
  }                                                                                    \
  std::vector<::cresset::nn::AnyValue> scope _forward_populate_default_args(           \
      std::vector<::cresset::nn::AnyValue>&& arguments) specifier {                    \
    const std::pair<unsigned int, ::cresset::nn::AnyValue> defaults[] = {__VA_ARGS__}; \
    std::vector<::cresset::nn::AnyValue> filled = std::move(arguments);                \
    for (const auto& [index, value] : defaults)                                        \
      if (index >= filled.size()) filled.push_back(value);                             \
    return filled;                                                                     \
  }
#define CRESSET_FORWARD_ARG(index, value) \
  { index, ::cresset::nn::AnyValue(value) }
