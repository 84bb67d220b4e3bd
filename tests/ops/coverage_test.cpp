// What there is and what is missing: every name that users look for (coverage/names.txt) exists or stands in
// docs/missing.txt, and docs/coverage.md says what each op can do. Dtypes are probed by calling the op.
//   CRESSET_WRITE=1 test_ops --gtest_filter='Coverage*'   writes both pages
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "cresset/cresset.h"
#include "cresset/ops/alias_table.h"
#include "tests/ops/cases/cases.h"
#include "tests/ops/cases/dtype_exceptions.h"
#include "tests/support/paths.h"

namespace cresset::test {
namespace {

const std::string kRoot = test::source_path("");

std::string text_in(const std::string& path) {
  std::ifstream in(kRoot + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> lines_in(const std::string& path) {
  std::istringstream text(text_in(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  return lines;
}

// Names that are no ops: each is used here, so that it is there if this file compiles.
const std::set<std::string>& plain_functions() {
  static const std::set<std::string> names = [] {
    Tensor x = tensor({1.0F, 2.0F});
    float memory[2] = {1, 2};
    from_blob(memory, {2});
    x[0].item<float>();
    (void)(x.data().is_same(x) || x.is_leaf() || x.is_contiguous() || x.data_ptr() == nullptr);
    (void)(x.storage_offset() + x.element_size() + x.numel() + x.dim() + x.size(0) + x.stride(0));
    (void)(x.nbytes() + static_cast<size_t>(get_num_threads()));
    (void)(x.is_floating_point() || x.is_complex());
    (void)(result_type(x, x) == promote_types(kFloat, kDouble) || can_cast(kFloat, kDouble));
    use_deterministic_algorithms(are_deterministic_algorithms_enabled());
    set_printoptions({});
    triplet_margin_with_distance_loss(x, x, x);
    AdaptiveSoftmaxWeights weights{{2}, ones({2, 2}), {}, {}};
    adaptive_log_softmax(ones({1, 2}), weights);
    x.new_tensor({1, 2}).set_(x);
    set_default_dtype(get_default_dtype());
    x.variable_data();
    x.set_data(x.clone());
    return std::set<std::string>{"result_type",
                                 "can_cast",
                                 "use_deterministic_algorithms",
                                 "set_printoptions",
                                 version() ? "version" : "",
                                 "triplet_margin_with_distance_loss",
                                 "adaptive_log_softmax",
                                 "new_tensor",
                                 "set_",
                                 x.tolist<float>().empty() ? "" : "tolist",
                                 "tensor",
                                 "from_blob",
                                 "item",
                                 "data",
                                 "is_same",
                                 "is_leaf",
                                 "is_contiguous",
                                 "data_ptr",
                                 "storage_offset",
                                 "element_size",
                                 "nbytes",
                                 "numel",
                                 "dim",
                                 "size",
                                 "stride",
                                 "is_complex",
                                 "is_floating_point",
                                 "get_num_threads",
                                 "result_type",
                                 "promote_types",
                                 "set_default_dtype",
                                 "variable_data",
                                 "set_data",
                                 "get_default_dtype"};
  }();
  return names;
}

bool exists(const std::string& name) {
  if (plain_functions().count(name) || !find_overloads(name).empty()) return true;
  for (const OpAlias& alias : op_aliases())
    if (name == alias.alias) return true;
  return false;
}

bool accepts(const OpCase& c, DType dtype) {
  Make make(dtype);
  for (const Sample& sample : c.samples(make)) {
    try {
      call_fresh(c, sample.arguments);
      return true;
    } catch (const Error&) {
      continue;
    }
  }
  return false;
}

// "all" or a list that names whole kinds by one word.
std::string words_for(const std::vector<DType>& accepted) {
  if (accepted.size() == all_dtypes.size()) return "all";
  const std::pair<const char*, std::vector<DType>> kinds[] = {{"integers", {kUInt8, kInt8, kInt16, kInt32, kInt64}},
                                                              {"bool", {kBool}},
                                                              {"half, bfloat16", {kFloat16, kBFloat16}},
                                                              {"float, double", {kFloat, kDouble}},
                                                              {"complex", {kComplex64, kComplex128}}};
  std::string text;
  for (const auto& [word, kind] : kinds) {
    std::vector<DType> some;
    for (DType dtype : kind)
      if (std::count(accepted.begin(), accepted.end(), dtype)) some.push_back(dtype);
    if (some.empty()) continue;
    std::string names;
    for (DType dtype : some) names += (names.empty() ? "" : ", ") + std::string(name_of(dtype));
    text += (text.empty() ? "" : ", ") + (some.size() == kind.size() ? word : names);
  }
  return text.empty() ? "none of its own" : text;
}
std::string dtypes_of(const OpCase& c) {
  std::vector<DType> accepted;
  for (DType dtype : all_dtypes)
    if (accepts(c, dtype)) accepted.push_back(dtype);
  return words_for(accepted);
}

std::string coverage_page() {
  std::map<std::string, std::string> rows;
  const char* gradients[] = {"formula", "composed", "none"};
  for (const OpCase& c : all_cases()) {
    const Op& op = c.op();
    std::string forms;
    for (const Op* other : all_ops())
      if (other->functional == &op)
        forms += std::string(forms.empty() ? "" : ", ") + (other->is_out() ? "out" : "in-place");
    Make make(kFloat);
    size_t samples = c.samples(make).size();
    std::string name = op.overload[0] ? message_of(op.name, " (", op.overload, ")") : op.name;
    rows[name] = message_of("| `", name, "` | ", dtypes_of(c), " | ", gradients[static_cast<int>(op.gradient)], " | ",
                            forms, " | ", samples, " + ", c.errors.size(), " | ",
                            c.torch.empty() ? "—: " + c.not_in_torch : "`" + c.torch + "`", " |\n");
  }
  std::string page =
      "# Coverage\n\nWritten by the tests from the op registry and the op cases. Dtypes are those that the op accepted "
      "when it was "
      "called with\nthem; cases are samples and wrong inputs, each run in every dtype and layout; the last column is "
      "the "
      "op of libtorch that it\nis compared with. Names that do not exist yet stand in [missing.txt](missing.txt), "
      "other names of the "
      "same op in [ops.md](ops.md).\n\n| op | dtypes | gradient | forms | cases | compared with |\n| --- | --- | --- | "
      "--- | --- | "
      "--- |\n";
  for (const auto& [name, row] : rows) page += row;
  page += "\n## Refused, though libtorch 1.13 takes them\n\nA parity test holds this list complete.\n\n";
  page += "| ops | dtypes | why |\n| --- | --- | --- |\n";
  for (const DTypeException& one : dtype_exceptions()) {
    std::string ops;
    for (const std::string& op : one.ops) ops += (ops.empty() ? "`" : ", `") + op + "`";
    page += message_of("| ", ops, " | ", words_for(one.dtypes), " | ", one.why, " |\n");
  }
  return page;
}

bool writes() { return std::getenv("CRESSET_WRITE") != nullptr; }

}  // namespace

TEST(Coverage, every_name_exists_or_is_called_missing) {
  std::vector<std::string> listed = lines_in("/docs/missing.txt");
  std::set<std::string> missing(listed.begin(), listed.end());
  if (writes()) {
    std::ofstream out(kRoot + "/docs/missing.txt");
    out << "# Names that users look for and that do not exist yet. A test holds this list true.\n";
    for (const std::string& name : lines_in("/tests/ops/coverage/names.txt"))
      if (name[0] != '[' && !exists(name)) out << name << "\n";
    return;
  }
  std::vector<std::string> names = lines_in("/tests/ops/coverage/names.txt");
  ASSERT_GT(names.size(), 400U);
  for (const std::string& name : names) {
    if (name[0] == '[') continue;
    EXPECT_NE(exists(name), missing.count(name) == 1) << name << (exists(name) ? " exists" : " does not exist");
    missing.erase(name);
  }
  for (const std::string& name : missing) ADD_FAILURE() << name << " is missing but nobody looks for it";
}

TEST(Coverage, the_page_says_what_the_ops_can_do) {
  std::string page = coverage_page();
  if (writes())
    std::ofstream(kRoot + "/docs/coverage.md") << page;
  else
    EXPECT_TRUE(page == text_in("/docs/coverage.md")) << "docs/coverage.md is stale; see the head of this file";
}

TEST(Coverage, aliases_are_other_names_of_ops) {
  for (const OpAlias& alias : op_aliases()) {
    EXPECT_FALSE(find_overloads(alias.op).empty()) << alias.alias << ": no op " << alias.op;
    EXPECT_TRUE(find_overloads(alias.alias).empty()) << alias.alias << " is an op itself";
  }
}

}  // namespace cresset::test
