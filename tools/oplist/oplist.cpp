// Writes the files that come from the op registry: the list of Tensor methods, their definitions, and docs/ops.md.
//   cresset-oplist [--write | --check] [source folder]
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "cresset/core/registry.h"
#include "cresset/ops/alias_table.h"

using cresset::Op;

namespace {

// Declared by hand in tensor.h, with more forms than one op has.
const std::set<std::string> kByHand = {"to", "contiguous"};

// An op under one of its names: its own or an alias's.
struct Named {
  const Op* op;
  std::string name, space;  // space: of an alias like linalg::inv
};

// "neg_" under the alias "negative" of "neg" is "negative_"; empty if the op has nothing to do with the alias.
std::string form_name(const Op& op, const std::string& alias, std::string_view target) {
  std::string_view name = op.name;
  if (name == target) return alias;
  if (op.functional && op.functional->name == target) return alias + std::string(name.substr(target.size()));
  return "";
}

std::vector<Named> under_aliases() {
  std::vector<Named> list;
  for (const auto& [alias, target] : cresset::op_aliases()) {
    std::string name = alias, space;
    if (size_t colons = name.find("::"); colons != std::string::npos) {
      space = name.substr(0, colons);
      name = name.substr(colons + 2);
    }
    size_t before = list.size();
    for (const Op* op : cresset::all_ops())
      if (std::string form = form_name(*op, name, target); !form.empty()) list.push_back({op, form, space});
    if (list.size() == before) throw cresset::ValueError(cresset::message_of("alias ", alias, ": no op ", target));
  }
  return list;
}

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

// The call's arguments by name.
std::string arguments(const Op& op, const std::string& self) {
  std::string text;
  for (const auto& argument : op.parsed_arguments())
    text += (text.empty() ? "" : ", ") + (argument.name == "self" ? self : argument.name);
  return text;
}

std::string declarations() {
  std::ostringstream out;
  out << "// Written by cresset-oplist from the op registry: do not edit.\n// clang-format off\n";
  for (const Op* op : cresset::all_ops())
    if (is_method(*op)) out << op->cpp_result << " " << op->name << "(" << parameters(*op, true, true) << ") const;\n";
  for (const Named& alias : under_aliases())
    if (is_method(*alias.op) && alias.space.empty())
      out << alias.op->cpp_result << " " << alias.name << "(" << parameters(*alias.op, true, true) << ") const;\n";
  return out.str();
}

std::string definitions() {
  std::ostringstream out;
  out << "// Written by cresset-oplist from the op registry: do not edit.\n// clang-format off\n#include "
         "\"cresset/ops/all.h\"\n\nnamespace "
         "cresset {\n\n";
  auto define = [&](const Op& op, const std::string& name) {
    out << op.cpp_result << " Tensor::" << name << "(" << parameters(op, false, true)
        << ") const { return cresset::" << op.name << "(" << arguments(op, "*this") << "); }\n";
  };
  for (const Op* op : cresset::all_ops())
    if (is_method(*op)) define(*op, op->name);
  for (const Named& alias : under_aliases())
    if (is_method(*alias.op) && alias.space.empty()) define(*alias.op, alias.name);
  out << "\n}  // namespace cresset\n";
  return out.str();
}

std::string aliases() {
  std::ostringstream out;
  out << "// Written by cresset-oplist from the op registry and ops/alias_table.cpp: do not edit.\n// clang-format "
         "off\n#pragma once\n\n#include \"cresset/ops/all.h\"\n\nnamespace cresset {\n\n";
  for (const auto& [op, name, space] : under_aliases()) {
    if (op->where == cresset::Where::method) continue;
    std::string call = std::string("cresset::") + op->name + "(" + arguments(*op, "self") + ")";
    std::string text = std::string("inline ") + op->cpp_result + " " + name + "(" + parameters(*op, true, false) +
                       ") { return " + call + "; }";
    out << (space.empty() ? text : "namespace " + space + " { " + text + " }") << "\n";
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
  out << "\n## Other names\n\n| alias | op |\n| --- | --- |\n";
  for (const auto& [alias, target] : cresset::op_aliases()) out << "| `" << alias << "` | `" << target << "` |\n";
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
                                                       {"/cresset/ops/aliases.h", aliases()},
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
