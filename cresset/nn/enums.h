// libtorch's tags for choices: each is a type of its own, held in a std::variant by the options that allow it, so that
// a wrong choice does not compile: LeakyReLU's gain takes kLeakyReLU, a loss takes kMean, kSum or kNone.
#pragma once

#include <string>
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
#define CRESSET_TAG(Name)                            \
  struct k##Name {                                   \
    bool operator==(const k##Name&) const = default; \
    static constexpr const char* name = "k" #Name;   \
  };
CRESSET_FOR_EACH_TAG(CRESSET_TAG)
#undef CRESSET_TAG

// "kMean" of a variant that holds kMean.
template <class Variant>
std::string get_enum_name(const Variant& choice) {
  return std::visit([](const auto& tag) -> std::string { return std::decay_t<decltype(tag)>::name; }, choice);
}

// What ops call a loss's reduction: 0 none, 1 mean, 2 sum.
template <class Variant>
int64_t reduction_get_enum(const Variant& choice) {
  std::string name = get_enum_name(choice);
  if (name == "kNone") return 0;
  if (name == "kMean") return 1;
  CRESSET_CHECK_AS(ValueError, name == "kSum", "reduction: found ", name, " (expected kNone, kMean or kSum)");
  return 2;
}
}  // namespace enumtype

#define CRESSET_TAG(Name) inline constexpr enumtype::k##Name k##Name{};
CRESSET_FOR_EACH_TAG(CRESSET_TAG)
#undef CRESSET_TAG
#undef CRESSET_FOR_EACH_TAG

}  // namespace cresset
