// libtorch's tags for choices: each is a type of its own, and a Choice<kMean, kSum> takes only those, so that a wrong
// one does not compile: LeakyReLU's gain takes kLeakyReLU, a loss takes kMean, kSum or kNone. A std::variant would do
// the same, but options are full of them and they are what takes longest to compile.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "cresset/core/error.h"

namespace cresset {

// One line per tag: constant and the name that messages print.
#define CRESSET_FOR_EACH_TAG(X) \
  X(Linear)                     \
  X(Conv1D)                     \
  X(Conv2D)                     \
  X(Conv3D)                     \
  X(ConvTranspose1D)            \
  X(ConvTranspose2D)            \
  X(ConvTranspose3D)            \
  X(Sigmoid)                    \
  X(Tanh)                       \
  X(ReLU)                       \
  X(GELU)                       \
  X(SiLU)                       \
  X(Mish)                       \
  X(SELU)                       \
  X(LeakyReLU)                  \
  X(FanIn)                      \
  X(FanOut)                     \
  X(Constant)                   \
  X(Reflect)                    \
  X(Replicate)                  \
  X(Circular)                   \
  X(Nearest)                    \
  X(Bilinear)                   \
  X(Bicubic)                    \
  X(Trilinear)                  \
  X(Area)                       \
  X(NearestExact)               \
  X(Sum)                        \
  X(Mean)                       \
  X(Max)                        \
  X(None)                       \
  X(BatchMean)                  \
  X(Zeros)                      \
  X(Border)                     \
  X(Reflection)                 \
  X(RNN_TANH)                   \
  X(RNN_RELU)                   \
  X(LSTM)                       \
  X(GRU)                        \
  X(Valid)                      \
  X(Same)

namespace enumtype {
#define CRESSET_TAG(Name) Name,
enum class Tag : uint8_t { CRESSET_FOR_EACH_TAG(CRESSET_TAG) };
#undef CRESSET_TAG

#define CRESSET_TAG(Name)                            \
  struct k##Name {                                   \
    static constexpr Tag tag = Tag::Name;            \
    bool operator==(const k##Name&) const = default; \
  };
CRESSET_FOR_EACH_TAG(CRESSET_TAG)
#undef CRESSET_TAG

CRESSET_API const char* name_of(Tag tag);  // "kMean"

// One of the tags; the first unless said.
template <class First, class... Rest>
class Choice {
 public:
  template <class T>
  static constexpr bool allows = std::is_same_v<T, First> || (std::is_same_v<T, Rest> || ...);

  constexpr Choice() = default;
  template <class T>
  requires(allows<T>) constexpr Choice(T) : tag_(T::tag) {}
  // From a choice among fewer.
  template <class... Others>
  requires((allows<Others> && ...)) constexpr Choice(const Choice<Others...>& other) : tag_(other.tag()) {}

  // From what a user's own options hold, as libtorch's do.
  template <class... Others>
  requires((allows<Others> && ...)) constexpr Choice(const std::variant<Others...>& other)
      : tag_(std::visit([](auto held) { return held.tag; }, other)) {}

  template <class T>
  constexpr bool is() const {
    static_assert(allows<T>, "this choice does not allow that tag");
    return tag_ == T::tag;
  }
  constexpr Tag tag() const { return tag_; }
  // The place of the tag among those that are allowed.
  constexpr size_t index() const {
    constexpr Tag all[] = {First::tag, Rest::tag...};
    size_t i = 0;
    while (all[i] != tag_) i++;
    return i;
  }
  bool operator==(const Choice&) const = default;

 private:
  Tag tag_ = First::tag;
};

template <class... Tags>
std::string get_enum_name(const Choice<Tags...>& choice) {
  return name_of(choice.tag());
}

// What ops call a loss's reduction: 0 none, 1 mean, 2 sum.
CRESSET_API int64_t reduction_get_enum(Tag tag);
template <class... Tags>
int64_t reduction_get_enum(const Choice<Tags...>& choice) {
  return reduction_get_enum(choice.tag());
}
}  // namespace enumtype

#define CRESSET_TAG(Name) inline constexpr enumtype::k##Name k##Name{};
CRESSET_FOR_EACH_TAG(CRESSET_TAG)
#undef CRESSET_TAG

}  // namespace cresset
