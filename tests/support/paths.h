// Where the project's own files are. One function, compiled in one place, so that a compiler cache serves every copy of
// the tree.
#pragma once

#include <string>

namespace cresset::test {

std::string source_path(const std::string& name);  // "tests/nn/layers_reference.py"

}  // namespace cresset::test
