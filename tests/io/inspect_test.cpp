// The command line: what `cresset inspect` prints, and how it refuses.
#include <sys/stat.h>

#include "cresset/io/io.h"
#include "cresset/ops/all.h"
#include "tests/io/model_like.h"
#include "tests/io/support.h"

namespace cresset::io {
namespace {

using test::TempFolder;

std::string program() {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return self + "/cresset";
}
test::Ran cresset_command(const std::string& arguments) { return test::run(program() + " " + arguments); }

class Inspect : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(program())) GTEST_SKIP() << "skipped: the command line is not built";
  }
  void expect_words(const std::string& file, std::initializer_list<const char*> words) {
    const test::Ran ran = cresset_command("inspect " + folder / file);
    EXPECT_EQ(ran.status, 0) << ran.output;
    for (const char* word : words)
      EXPECT_NE(ran.output.find(word), std::string::npos) << word << " in:\n" << ran.output;
  }
  TempFolder folder;
};

TEST_F(Inspect, PrintsEveryFormat) {
  StateDict state;
  state.insert("layer.weight", ones({3, 4}));
  state.insert("layer.bias", ones({3}, kBFloat16));
  save_safetensors(folder / "a.safetensors", state, Metadata({{"format", "pt"}}));
  expect_words("a.safetensors", {"safetensors", "layer.weight", "float32", "[3, 4]", "48", "layer.bias", "bfloat16",
                                 "metadata", "format  \"pt\"", "2 tensors, 54 B"});
  IValue::Dict dict;
  dict["model"] = to_value(state);
  dict["lr"] = 0.5;
  dict["betas"] = IValue::Tuple{{0.9, 0.999}};
  dict["shared"] = IValue::List{{state["layer.weight"], state["layer.weight"][0]}};
  save(IValue(dict), folder / "a.pt");
  expect_words("a.pt", {"PyTorch .pt", "model.layer.weight", "lr     0.5", "betas  [0.9, 0.999]", "shared.1", "[4]",
                        "4 tensors, 118 B (in storages of 54 B)"});
  save_npy(folder / "a.npy", arange(5));
  expect_words("a.npy", {"NumPy array", "int64", "[5]"});
  StateDict plain;
  plain.insert("x", ones({2}));
  save_npz(folder / "a.npz", plain);
  expect_words("a.npz", {"NumPy archive", "x ", "[2]"});
  test::Line line;
  Checkpoint checkpoint(folder.path());
  checkpoint.add("model", line);
  checkpoint.set("best", "yes");
  checkpoint.save(12);
  expect_words("step-00000012.ckpt",
               {"Cresset checkpoint", "state.model.weight", "step", "12", "values.best", "\"yes\"", "rng.seed"});
}

TEST_F(Inspect, JsonIsJson) {
  IValue::Dict dict;
  dict["quo\"te\n"] = "x\\y";
  dict["t"] = ones({2, 3});
  dict["step"] = 12;
  dict["lr"] = 0.1;
  dict["large"] = 1e300;
  dict["best"] = std::numeric_limits<double>::infinity();
  dict["betas"] = IValue::Tuple{{0.9, -std::numeric_limits<double>::infinity(), 3}};
  dict["flags"] = IValue::List{{true, IValue(), "a"}};
  dict["none"] = IValue();
  dict["empty"] = IValue::Dict();
  save(IValue(dict), folder / "a.pt");
  test::write_contents(folder / "a.json", cresset_command("inspect --json " + folder / "a.pt").output);
  auto ran = test::run(
      test::python() +
      " -c 'import json, sys\nd = json.load(open(sys.argv[1]))\n"
      "assert d[\"tensors\"] == [{\"name\": \"t\", \"dtype\": \"float32\", \"shape\": [2, 3], \"bytes\": 24}], d\n"
      "assert d[\"values\"] == {\"quo\\\"te\\n\": \"x\\\\y\", \"step\": 12, \"lr\": 0.1, \"large\": 1e300, "
      "\"best\": \"inf\", \"betas\": [0.9, \"-inf\", 3], \"flags\": [True, None, \"a\"], \"none\": None, \"empty\": "
      "{}}, "
      "d' " +
      folder / "a.json");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(Inspect, CutFilesEndWithOneSentence) {
  StateDict state;
  for (int i = 0; i < 20; i++) state.insert("layer" + std::to_string(i) + ".weight", ones({30}));
  save_safetensors(folder / "a.safetensors", state);
  save(state, folder / "a.pt");
  test::Line line;
  Checkpoint checkpoint(folder.path());
  checkpoint.add("model", line);
  checkpoint.set("long", std::string(2000, 'x'));
  checkpoint.save(1);
  save_npy(folder / "a.npy", ones({1000}));
  for (const char* file : {"a.safetensors", "a.pt", "step-00000001.ckpt", "a.npy"}) {
    const std::string whole = test::contents_of(folder / file);
    for (size_t length : {0, 1, 10, 100, 1000}) {
      const std::string cut = folder / "cut-" + file;
      test::write_contents(cut, whole.substr(0, length));
      const test::Ran ran = cresset_command("inspect " + cut);
      EXPECT_EQ(ran.status, 1) << file << " cut at " << length << ": " << ran.output;
      EXPECT_EQ(std::count(ran.output.begin(), ran.output.end(), '\n'), 1) << ran.output;
      EXPECT_NE(ran.output.find(cut), std::string::npos) << ran.output;
    }
  }
}

TEST_F(Inspect, UsageAndVersion) {
  EXPECT_EQ(cresset_command("--help").status, 0);
  EXPECT_NE(cresset_command("--help").output.find("inspect FILE"), std::string::npos);
  EXPECT_EQ(cresset_command("--version").output.substr(0, 8), "cresset ");
  EXPECT_EQ(cresset_command("").status, 2);
  EXPECT_EQ(cresset_command("dance").status, 2);
  EXPECT_NE(cresset_command("dance").output.find("there is no command dance"), std::string::npos);
  EXPECT_EQ(cresset_command("inspect").status, 2);
  EXPECT_EQ(cresset_command("inspect a --fast").status, 2);
  const test::Ran missing = cresset_command("inspect " + folder / "none");
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.output.find("No such file"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(cresset_command("inspect " + folder / "pipe").output.find("not a plain file"), std::string::npos);
  test::write_contents(folder / "noise.txt", "just words, and enough of them");
  EXPECT_NE(cresset_command("inspect " + folder / "noise.txt").output.find("is no checkpoint, .pt, safetensors"),
            std::string::npos);
}

}  // namespace
}  // namespace cresset::io
