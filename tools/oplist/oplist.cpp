// Writes the files that come from the op registry: the list of Tensor methods, their definitions, and docs/ops.md.
//   cresset-oplist [--write | --check] [source folder]
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "cresset/core/registry.h"

using cresset::Op;

namespace {

// Declared by hand in tensor.h, with more forms than one op has.
const std::set<std::string> kByHand = {"to", "contiguous"};

std::string parameters(const Op& op, bool with_defaults, bool skip_self) {
  std::string text;
  for (const auto& argument : op.parsed_arguments()) {
    if (skip_self && &argument - &op.parsed_arguments()[0] == 0) continue;
    if (skip_self && argument.name == "self") continue;
    text += (text.empty() ? "" : ", ") + argument.cpp_type + " " + argument.name;
    if (with_defaults && !argument.default_value.empty()) text += " = " + argument.default_value;
  }
  return text;
}

bool is_method(const Op& op) {
  if (op.where == cresset::Where::function || op.is_out() || kByHand.contains(op.name)) return false;
  auto arguments = op.parsed_arguments();
  if (arguments.empty()) return false;
  for (const auto& argument : arguments)
    if (argument.name == "self") return argument.cpp_type == "const Tensor&";
  return false;
}

std::string declarations() {
  std::ostringstream out;
  out << "// Written by cresset-oplist from the op registry: do not edit.\n// clang-format off\n";
  for (const Op* op : cresset::all_ops())
    if (is_method(*op)) out << op->cpp_result << " " << op->name << "(" << parameters(*op, true, true) << ") const;\n";
  return out.str();
}

std::string definitions() {
  std::ostringstream out;
  out << "// Written by cresset-oplist from the op registry: do not edit.\n// clang-format off\n#include "
         "\"cresset/ops/all.h\"\n\nnamespace "
         "cresset {\n\n";
  for (const Op* op : cresset::all_ops()) {
    if (!is_method(*op)) continue;
    std::string call;
    for (const auto& argument : op->parsed_arguments())
      call += (call.empty() ? "" : ", ") + (argument.name == "self" ? std::string("*this") : argument.name);
    out << op->cpp_result << " Tensor::" << op->name << "(" << parameters(*op, false, true)
        << ") const { return cresset::" << op->name << "(" << call << "); }\n";
  }
  out << "\n}  // namespace cresset\n";
  return out.str();
}

std::string reference() {
  std::ostringstream out;
  out << "# Ops\n\nWritten by `cresset-oplist` from the op registry. Every op passes the modes (autocast, capture, "
         "profiler) and is a\n"
         "function of `cresset::`; *method* says that it is one of `Tensor` too. Gradient: *formula* stands beside the "
         "forward,\n"
         "*composed* comes from the ops it calls, *none* means that the result is not differentiable.\n\n"
         "| op | arguments | forms | gradient | |\n| --- | --- | --- | --- | --- |\n";
  const char* gradients[] = {"formula", "composed", "none"};
  for (const Op* op : cresset::all_ops()) {
    if (op->functional) continue;
    std::string forms = is_method(*op) || kByHand.contains(op->name) ? "method" : "";
    for (const Op* other : cresset::all_ops())
      if (other->functional == op)
        forms += std::string(forms.empty() ? "" : ", ") + (other->is_out() ? "out" : "in-place");
    out << "| `" << op->name << "`" << (*op->overload ? std::string(" (") + op->overload + ")" : "") << " | `"
        << parameters(*op, true, false) << "` | " << forms << " | " << gradients[static_cast<int>(op->gradient)]
        << " | " << op->doc << " |\n";
  }
  return out.str();
}

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "--check", root = argc > 2 ? argv[2] : CRESSET_SOURCE_DIR;
  if (mode != "--check" && mode != "--write") {
    std::cerr << "usage: cresset-oplist [--write | --check] [source folder]\n";
    return 2;
  }
  int stale = 0;
  const std::pair<const char*, std::string> files[] = {{"/cresset/core/tensor_methods.inc", declarations()},
                                                       {"/cresset/ops/tensor_methods.cpp", definitions()},
                                                       {"/docs/ops.md", reference()}};
  for (const auto& [name, text] : files) {
    if (read(root + name) == text) continue;
    if (mode == "--check") {
      std::cerr << name + 1 << " is not what the op registry says; run `cresset-oplist --write`\n";
      stale = 1;
      continue;
    }
    std::ofstream(root + name) << text;
    std::cout << "wrote " << name + 1 << "\n";
  }
  return stale;
}
