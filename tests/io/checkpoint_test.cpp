// Checkpoints: a training goes on bit for bit, broken files are passed over, old ones go.
#include "cresset/io/checkpoint.h"

#include "cresset/io/checksum.h"
#include "cresset/io/pt.h"
#include "tests/core/expect_error.h"
#include "tests/io/model_like.h"
#include "tests/io/support.h"

namespace cresset::io {
namespace {

using test::Line;
using test::Momentum;
using test::TempFolder;

// A position in a shuffled order, as a sampler has.
struct Position {
  int64_t at = 0;
  IValue state_dict() const {
    IValue::Dict state;
    state["at"] = at;
    return state;
  }
  void load_state_dict(const IValue& value) { at = value.toDict().at("at").toInt(); }
};

struct Training {
  Line model;
  Momentum optimizer{{model->weight, model->bias}, {}, 0.1};
  Position position;
  void step() {
    optimizer.step({randn({3}), randn({})});
    optimizer.lr *= 0.99;
    position.at++;
  }
  Checkpoint checkpoint(const std::string& folder, CheckpointOptions options = {}) {
    Checkpoint result(folder, options);
    result.add("model", model).add("optimizer", optimizer).add("sampler", position);
    return result;
  }
};

TEST(Checkpoint, ATrainingGoesOnBitForBit) {
  TempFolder folder;
  manual_seed(3);
  Training straight;
  for (int i = 0; i < 10; i++) straight.step();

  manual_seed(3);
  Training first;
  Checkpoint saver = first.checkpoint(folder / "run/a");
  for (int i = 0; i < 4; i++) first.step();
  saver.set("best", 0.5);
  EXPECT_EQ(saver.save(4), folder / "run/a/step-00000004.ckpt");

  manual_seed(99);
  Training second;
  Checkpoint loader = second.checkpoint(folder / "run/a");
  ASSERT_EQ(loader.load_newest(), 4);
  EXPECT_EQ(loader.get("best")->toDouble(), 0.5);
  for (int i = 4; i < 10; i++) second.step();
  EXPECT_TRUE(equal(second.model->weight, straight.model->weight));
  EXPECT_TRUE(equal(second.model->bias, straight.model->bias));
  EXPECT_EQ(second.optimizer.lr, straight.optimizer.lr);
  EXPECT_EQ(second.position.at, 10);
}

TEST(Checkpoint, TheNewestWholeOneIsFound) {
  TempFolder folder;
  Training training;
  Checkpoint checkpoint = training.checkpoint(folder.path());
  EXPECT_FALSE(checkpoint.load_newest());
  for (int64_t step : {10, 20, 100}) {
    training.position.at = step;
    checkpoint.save(step);
  }
  const std::string newest = folder / "step-00000100.ckpt", whole = test::contents_of(newest);
  for (size_t length : {size_t{0}, size_t{1}, size_t{10}, size_t{100}, whole.size() - 1}) {
    test::write_contents(newest, whole.substr(0, length));
    EXPECT_EQ(checkpoint.load_newest(), 20) << length;
    ASSERT_EQ(checkpoint.skipped().size(), 1u);
    EXPECT_NE(checkpoint.skipped()[0].find("step-00000100.ckpt"), std::string::npos);
  }
  test::write_contents(newest, whole);
  EXPECT_EQ(checkpoint.load_newest(), 100);
  EXPECT_EQ(training.position.at, 100);
  EXPECT_TRUE(checkpoint.skipped().empty());
}

TEST(Checkpoint, EveryFlippedBitIsNoticed) {
  TempFolder folder;
  Position position;
  Checkpoint checkpoint(folder.path());
  checkpoint.add("sampler", position);
  const std::string path = checkpoint.save(1), whole = test::contents_of(path);
  for (size_t at = 0; at < whole.size(); at++) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    test::write_contents(path, flipped);
    EXPECT_THROW(checkpoint.load(path), IoError) << at;
  }
}

TEST(Checkpoint, OldOnesAndForgottenTemporariesGo) {
  TempFolder folder;
  Training training;
  Checkpoint checkpoint = training.checkpoint(folder.path(), {.keep = 2});
  test::write_contents(folder / "step-00000001.ckpt.tmp-1-0", "left behind");
  std::filesystem::last_write_time(folder / "step-00000001.ckpt.tmp-1-0",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  test::write_contents(folder / "notes.txt", "mine");
  for (int64_t step : {1, 2, 3, 200000000, 1000000000}) checkpoint.save(step);
  EXPECT_EQ(checkpoint.files(),
            (std::vector<std::string>{folder / "step-200000000.ckpt", folder / "step-1000000000.ckpt"}));
  EXPECT_EQ(folder.count(), 3u);
}

TEST(Checkpoint, LaterStepsPushNoNewFilesOut) {
  TempFolder folder;
  Training training;
  Checkpoint checkpoint = training.checkpoint(folder.path(), {.keep = 1});
  test::write_contents(folder / "step-00009000.ckpt", "broken");
  checkpoint.save(1);
  const std::string path = checkpoint.save(2);
  EXPECT_EQ(checkpoint.files(), (std::vector<std::string>{path, folder / "step-00009000.ckpt"}));
  EXPECT_EQ(checkpoint.load_newest(), 2);
}

TEST(Checkpoint, MissingPartsAreNamedBeforeAnythingChanges) {
  TempFolder folder;
  Position position;
  Checkpoint small(folder.path());
  small.add("sampler", position);
  small.save(7);
  Training training;
  training.position.at = -1;
  Checkpoint checkpoint = training.checkpoint(folder.path());
  EXPECT_ERROR(IoError, checkpoint.load_newest(), "does not hold 'model', 'optimizer'");
  EXPECT_EQ(training.position.at, -1);
  EXPECT_ERROR(ValueError, small.add("sampler", position), "already defined");
  EXPECT_ERROR(ValueError, small.save(-1), "step is -1");
}

TEST(Checkpoint, TensorsAndGeneratorsJoinIn) {
  TempFolder folder;
  Generator generator(5);
  generator.set_offset(17);
  Tensor average = ones({2});
  Checkpoint checkpoint(folder.path(), {.rng = false});
  checkpoint.add("generator", generator).add("average", average);
  checkpoint.save(1);
  generator.set_offset(99);
  average.zero_();
  checkpoint.load_newest();
  EXPECT_EQ(generator.get_offset(), 17u);
  EXPECT_EQ(average.sum().item<double>(), 2);
}

TEST(Checkpoint, TorchLoadReadsIt) {
  TempFolder folder;
  Training training;
  training.step();
  Checkpoint checkpoint = training.checkpoint(folder.path());
  checkpoint.set("accuracy", 0.75);
  const std::string path = checkpoint.save(12);
  EXPECT_EQ(load_pt(path).toDict().at("step").toInt(), 12);
  auto ran = test::run(test::python() +
                       " -c 'import sys\ntry:\n  import torch\nexcept ImportError:\n  sys.exit(77)\n"
                       "held = torch.load(sys.argv[1])\n"
                       "assert held[\"step\"] == 12 and held[\"values\"] == {\"accuracy\": 0.75}\n"
                       "assert held[\"state\"][\"model\"][\"weight\"].shape == (3,)\n"
                       "assert held[\"state\"][\"optimizer\"][\"state\"][0][\"momentum_buffer\"].shape == (3,)' " +
                       path);
  SKIP_OR_EXPECT_SUCCESS(ran, "PyTorch");
}

TEST(Checkpoint, AFileOfAnotherRankIsNotTaken) {
  TempFolder folder;
  Position position{7};
  const auto of = [&](int64_t rank) {
    Checkpoint checkpoint(folder / std::to_string(rank), {.rank = rank});
    checkpoint.add("sampler", position);
    return checkpoint;
  };
  const std::string path = of(0).save(40);
  EXPECT_EQ(rank_in_checkpoint(read_checkpoint(path)), 0);
  Checkpoint second = of(1);
  const std::string own = second.save(20);
  const std::string copy = folder / "1/step-00000040.ckpt",
                    words = copy + ": found the checkpoint of rank 0 (expected rank 1's)";
  std::filesystem::copy(path, copy);
  position.at = -1;
  EXPECT_ERROR(IoError, second.load(copy), words);
  EXPECT_EQ(position.at, -1);
  EXPECT_EQ(second.load_newest(), 20);
  ASSERT_EQ(second.skipped().size(), 1u);
  EXPECT_EQ(second.skipped()[0], "Checkpoint: " + words);
  // Nothing of its own: to begin anew cannot be meant.
  std::filesystem::remove(own);
  EXPECT_ERROR(IoError, second.load_newest(), words + ", and the folder has none of this rank");
  // Who does not say which rank it is takes any.
  Checkpoint any(folder / "1");
  any.add("sampler", position);
  EXPECT_EQ(any.load_newest(), 40);
}

TEST(Checkpoint, FilesWithoutARankLoadAsBefore) {
  TempFolder folder;
  Position position{7};
  Checkpoint old(folder.path());
  old.add("sampler", position);
  EXPECT_FALSE(rank_in_checkpoint(read_checkpoint(old.save(3))));
  Checkpoint now(folder.path(), {.rank = 5});
  now.add("sampler", position);
  EXPECT_EQ(now.load_newest(), 3);
}

// Right digests, wrong entries.
TEST(Checkpoint, EntriesThatLackAreNamedWithTheirFile) {
  TempFolder folder;
  Position position;
  Checkpoint checkpoint(folder.path());
  checkpoint.add("sampler", position);
  checkpoint.save(1);
  const auto write = [&](const IValue::Dict& held) {
    std::vector<char> bytes;
    MemorySink sink(bytes);
    write_pt_archive(sink, held, 30);
    Digest digest;
    digest.add(bytes.data(), bytes.size());
    char comment[32];
    std::snprintf(comment, sizeof comment, "cresset-xxh64:%016llx", static_cast<unsigned long long>(digest.value()));
    const std::string path = folder / "step-00000002.ckpt";
    test::write_contents(path, std::string(bytes.begin(), bytes.end()) + comment);
    return path;
  };
  const IValue::Dict whole = read_checkpoint(folder / "step-00000001.ckpt").toDict();
  EXPECT_EQ(checkpoint.load(write(whole)), 1);  // the helper writes what can be read
  for (const char* name : {"step", "state", "values", "rng", "rank"}) {
    IValue::Dict without, wrong = whole;
    for (const auto& [key, value] : whole)
      if (key.toStringRef() != name) without.items.emplace_back(key, value);
    wrong[name] = "text";
    const bool needed = std::string_view(name) != "rng" && std::string_view(name) != "rank";
    for (const IValue::Dict& held : {without, wrong}) {
      if (!needed && !held.contains(name)) continue;
      const std::string path = write(held);
      EXPECT_ERROR(IoError, checkpoint.load(path), "Checkpoint: " + path + ": its entry '" + name + "' is ");
      EXPECT_EQ(checkpoint.load_newest(), 1) << name;
      ASSERT_EQ(checkpoint.skipped().size(), 1u);
    }
  }
}

TEST(Checkpoint, FaultsNameTheFileAndThePart) {
  TempFolder folder;
  Training training;
  Checkpoint checkpoint(folder.path());
  checkpoint.add("model", training.model);
  const std::string path = checkpoint.save(1);
  Position position;
  Checkpoint other(folder.path());
  other.add("model", position);
  EXPECT_ERROR(IndexError, other.load(path), "Checkpoint: " + path + ": part 'model': ");
  EXPECT_ERROR(IndexError, other.load_newest(), "Checkpoint: " + path + ": part 'model': ");
  EXPECT_ERROR(IoError, other.load(folder / "none"), "Checkpoint: " + (folder / "none") + ": No such file");
}

}  // namespace
}  // namespace cresset::io
