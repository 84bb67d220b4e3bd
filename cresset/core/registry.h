// The op registry: every op is one object that knows its name, its forms, its arguments and how to be called with
// Values. The Tensor methods, the Python binding and the reference page are written from it.
#pragma once

#include <string>
#include <vector>

#include "cresset/core/value.h"

namespace cresset {

// How an op stands to autograd; the completeness test holds each op to its word.
enum class Gradient : uint8_t { formula, composed, none };
// Where PyTorch has it: as a method of Tensor, as a function of the namespace, or both.
enum class Where : uint8_t { both, method, function };

struct OpArgument {
  std::string name;
  std::string type;           // "Tensor", "int", "int[]", …
  std::string cpp_type;       // "const Tensor&", "int64_t", …
  std::string default_value;  // C++ text, empty if none
  bool optional = false;
};

class CRESSET_API Op {
 public:
  using Boxed = Value (*)(void (*function)(), const Values& arguments);

  const char* name;       // "add", "add_", "add_out"
  const char* overload;   // "" or "Scalar", "dim", …
  const char* arguments;  // "self, other, alpha=1"
  const char* doc;
  const char* const* types;      // of the arguments
  const char* const* cpp_types;  // of the arguments
  int argument_count;
  const char* result;  // "Tensor", "Tensor[]", "tuple", …
  const char* cpp_result;
  Gradient gradient;
  Where where;
  Boxed boxed;
  void (*function)();
  const Op* functional = nullptr;  // for in-place and out forms: the op they belong to

  Value call(const Values& values) const { return boxed(function, values); }
  bool is_inplace() const { return functional && std::string_view(name).ends_with('_'); }
  bool is_out() const { return functional && std::string_view(name).ends_with("_out"); }
  std::vector<OpArgument> parsed_arguments() const;  // throws if the text does not fit the types
};

CRESSET_API const std::vector<const Op*>& all_ops();  // in order of registration
CRESSET_API const Op* find_op(std::string_view name, std::string_view overload = "");
CRESSET_API std::vector<const Op*> find_overloads(std::string_view name);
CRESSET_API const Op& register_op(Op op);

namespace detail {
template <class T>
struct CppName;
#define CRESSET_CPP_NAME(T, text)              \
  template <>                                  \
  struct CppName<T> {                          \
    static constexpr const char* value = text; \
  }
CRESSET_CPP_NAME(Tensor, "Tensor");
CRESSET_CPP_NAME(Tensor&, "Tensor&");
CRESSET_CPP_NAME(const Tensor&, "const Tensor&");
CRESSET_CPP_NAME(const Scalar&, "const Scalar&");
CRESSET_CPP_NAME(Scalar, "Scalar");
CRESSET_CPP_NAME(int64_t, "int64_t");
CRESSET_CPP_NAME(bool, "bool");
CRESSET_CPP_NAME(double, "double");
CRESSET_CPP_NAME(DType, "DType");
CRESSET_CPP_NAME(Device, "Device");
CRESSET_CPP_NAME(MemoryFormat, "MemoryFormat");
CRESSET_CPP_NAME(IntArrayRef, "IntArrayRef");
CRESSET_CPP_NAME(TensorList, "TensorList");
CRESSET_CPP_NAME(std::string_view, "std::string_view");
CRESSET_CPP_NAME(const TensorOptions&, "const TensorOptions&");
CRESSET_CPP_NAME(std::vector<Tensor>, "std::vector<Tensor>");
CRESSET_CPP_NAME(std::optional<int64_t>, "std::optional<int64_t>");
CRESSET_CPP_NAME(std::optional<double>, "std::optional<double>");
CRESSET_CPP_NAME(std::optional<bool>, "std::optional<bool>");
CRESSET_CPP_NAME(std::optional<std::string_view>, "std::optional<std::string_view>");
CRESSET_CPP_NAME(std::optional<DType>, "std::optional<DType>");
CRESSET_CPP_NAME(std::optional<Scalar>, "std::optional<Scalar>");
CRESSET_CPP_NAME(const std::optional<Scalar>&, "const std::optional<Scalar>&");
CRESSET_CPP_NAME(OptionalIntArrayRef, "OptionalIntArrayRef");
CRESSET_CPP_NAME(std::optional<MemoryFormat>, "std::optional<MemoryFormat>");
CRESSET_CPP_NAME(std::optional<Generator>, "std::optional<Generator>");
using TwoTensors = std::tuple<Tensor, Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;
using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;
using TwoTensorRefs = std::tuple<Tensor&, Tensor&>;
CRESSET_CPP_NAME(TwoTensors, "std::tuple<Tensor, Tensor>");
CRESSET_CPP_NAME(ThreeTensors, "std::tuple<Tensor, Tensor, Tensor>");
using ThreeTensorRefs = std::tuple<Tensor&, Tensor&, Tensor&>;
using FourTensorRefs = std::tuple<Tensor&, Tensor&, Tensor&, Tensor&>;
CRESSET_CPP_NAME(FourTensors, "std::tuple<Tensor, Tensor, Tensor, Tensor>");
CRESSET_CPP_NAME(ThreeTensorRefs, "std::tuple<Tensor&, Tensor&, Tensor&>");
CRESSET_CPP_NAME(FourTensorRefs, "std::tuple<Tensor&, Tensor&, Tensor&, Tensor&>");
CRESSET_CPP_NAME(TwoTensorRefs, "std::tuple<Tensor&, Tensor&>");
#undef CRESSET_CPP_NAME

template <class Result, class... Args>
struct BoxedFunction {
  static constexpr std::array<const char*, sizeof...(Args) + 1> types{Boxing<Bare<Args>>::name..., nullptr};
  static constexpr std::array<const char*, sizeof...(Args) + 1> cpp_types{CppName<Args>::value..., nullptr};
  static Value call(void (*function)(), const Values& values) {
    auto* typed = reinterpret_cast<Result (*)(Args...)>(function);
    return [&]<size_t... I>(std::index_sequence<I...>)->Value {
      auto held =
          std::tuple<decltype(Boxing<Bare<Args>>::unpack(values[I]))...>(Boxing<Bare<Args>>::unpack(values.at(I))...);
      return Boxing<Bare<Result>>::pack(typed(std::get<I>(held)...));
    }
    (std::index_sequence_for<Args...>());
  }
};
template <class... Ts>
struct IsTensorTuple : std::false_type {};
}  // namespace detail

struct OpOptions {
  const char* overload = "";
  Gradient gradient = Gradient::formula;
  Where where = Where::both;
  const Op* functional = nullptr;
};

template <class Result, class... Args>
const Op& define_op(const char* name, Result (*function)(Args...), const char* arguments, const char* doc,
                    OpOptions options = {}) {
  using Boxed = detail::BoxedFunction<Result, Args...>;
  return register_op(Op{name, options.overload, arguments, doc, Boxed::types.data(), Boxed::cpp_types.data(),
                        static_cast<int>(sizeof...(Args)), Boxing<Bare<Result>>::name, detail::CppName<Result>::value,
                        options.gradient, options.where, &Boxed::call, reinterpret_cast<void (*)()>(function),
                        options.functional});
}

}  // namespace cresset
