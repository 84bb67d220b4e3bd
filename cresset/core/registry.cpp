// The list of ops and the parsing of their argument texts.
#include "cresset/core/registry.h"

#include <deque>

namespace cresset {
namespace {
// Never destroyed: ops may be looked up while globals go.
std::deque<Op>& ops() {
  static auto* list = new std::deque<Op>;
  return *list;
}
std::vector<const Op*>& pointers() {
  static auto* list = new std::vector<const Op*>;
  return *list;
}

std::string trimmed(std::string_view text) {
  size_t from = text.find_first_not_of(' ');
  if (from == std::string_view::npos) return "";
  return std::string(text.substr(from, text.find_last_not_of(' ') - from + 1));
}
}  // namespace

const Op& register_op(Op op) {
  ops().push_back(op);
  pointers().push_back(&ops().back());
  return ops().back();
}

const std::vector<const Op*>& all_ops() { return pointers(); }

const Op* find_op(std::string_view name, std::string_view overload) {
  for (const Op* op : pointers())
    if (name == op->name && overload == op->overload) return op;
  return nullptr;
}

std::vector<const Op*> find_overloads(std::string_view name) {
  std::vector<const Op*> found;
  for (const Op* op : pointers())
    if (name == op->name) found.push_back(op);
  return found;
}

std::vector<OpArgument> Op::parsed_arguments() const {
  std::vector<OpArgument> list;
  std::string_view rest = arguments;
  while (!trimmed(rest).empty()) {
    int depth = 0;  // commas inside braces belong to a default value
    size_t end = 0;
    for (; end < rest.size(); end++) {
      if (rest[end] == '{' || rest[end] == '(') depth++;
      if (rest[end] == '}' || rest[end] == ')') depth--;
      if (rest[end] == ',' && depth == 0) break;
    }
    std::string one = trimmed(rest.substr(0, end));
    rest = end < rest.size() ? rest.substr(end + 1) : std::string_view();
    size_t equal = one.find('=');
    OpArgument argument;
    argument.name = trimmed(one.substr(0, equal));
    if (equal != std::string::npos) argument.default_value = trimmed(one.substr(equal + 1));
    CRESSET_CHECK(list.size() < static_cast<size_t>(argument_count), "op ", name, ": more arguments are named in \"",
                  arguments, "\" than the function has (", argument_count, ")");
    argument.type = types[list.size()];
    argument.cpp_type = cpp_types[list.size()];
    argument.optional = argument.cpp_type.find("ptional") != std::string::npos;  // std::optional, OptionalIntArrayRef
    list.push_back(argument);
  }
  CRESSET_CHECK(list.size() == static_cast<size_t>(argument_count), "op ", name, ": \"", arguments, "\" names ",
                list.size(), " arguments (expected ", argument_count, ")");
  return list;
}

void wrong_value(const Value& found, const char* wanted) {
  constexpr const char* names[] = {"None",   "Tensor",  "Tensor[]",  "Scalar",        "int",
                                   "float",  "bool",    "string",    "int[]",         "dtype",
                                   "device", "options", "Generator", "memory format", "random counters"};
  throw TypeError(message_of("op call: found an argument of type ", names[found.index()], " (expected ", wanted, ")"));
}

}  // namespace cresset
