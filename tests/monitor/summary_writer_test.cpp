// Event files, read back by an independent decoder and by TensorBoard itself where it is installed.
#include "cresset/monitor/summary_writer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/io/support.h"
#include "tests/monitor/records.h"

namespace cresset::monitor {
namespace {

using test::event_file_in;
using test::Fields;
using test::records_of;
using test::TempFolder;

// The Summary.Value of each event after the first (the version).
std::vector<Fields> values_in(const std::string& folder) {
  std::vector<Fields> values;
  const std::vector<std::string> records = records_of(event_file_in(folder));
  for (size_t i = 1; i < records.size(); i++)
    if (Fields(records[i]).find(5)) values.push_back(Fields(records[i]).sub(5).sub(1));
  return values;
}

struct TwoLayers {
  Tensor w1 = ones({5, 4}), b1 = zeros({5}), w2 = ones({2, 5});
  OrderedDict<std::string, Tensor> named_parameters() const {
    return {{"first.weight", w1}, {"first.bias", b1}, {"last.linear.weight", w2}};
  }
  Tensor forward(const Tensor& x) { return log_softmax(linear(relu(linear(x, w1, b1)), w2), 1); }
};

TEST(SummaryWriter, ScalarsHaveTagStepAndTime) {
  TempFolder folder;
  SummaryWriter writer(folder / "run");
  writer.add_scalar("loss", 0.5, 3, 1234.5);
  writer.add_scalar("loss", tensor(0.25), 4);
  writer.flush();
  const std::string path = event_file_in(folder / "run");
  const std::vector<std::string> records = records_of(path);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(Fields(records[0]).text(3), "brain.Event:2");
  const Fields event(records[1]);
  EXPECT_EQ(event.find(1)->real(), 1234.5);
  EXPECT_EQ(event.find(2)->integer, 3u);
  EXPECT_EQ(event.sub(5).sub(1).text(1), "loss");
  EXPECT_EQ(event.sub(5).sub(1).find(2)->single(), 0.5f);
  EXPECT_EQ(Fields(records[2]).sub(5).sub(1).find(2)->single(), 0.25f);
  EXPECT_ERROR(ShapeError, writer.add_scalar("loss", ones({2})), "'loss' has shape [2]");
}

TEST(SummaryWriter, BufferedEventsAreThereAfterTheDestructor) {
  TempFolder folder;
  {
    SummaryWriter writer(folder.path());
    for (int i = 0; i < 5000; i++) writer.add_scalar("x", i, i);
  }
  EXPECT_EQ(records_of(event_file_in(folder.path())).size(), 5001u);
}

TEST(SummaryWriter, ScalarsOfOneChartAreRunsOfTheirOwn) {
  TempFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_scalars("acc/all", {{"train", 0.9}, {"test", 0.8}}, 1);
  writer.add_scalars("acc/all", {{"train", 0.95}, {"test", 0.85}}, 2);
  writer.close();
  const std::vector<Fields> train = values_in(folder / "acc_all_train");
  ASSERT_EQ(train.size(), 2u);
  EXPECT_EQ(train[1].text(1), "acc/all");
  EXPECT_EQ(train[1].find(2)->single(), 0.95f);
}

TEST(SummaryWriter, HistogramsCountEveryFiniteValue) {
  TempFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_histogram("w", tensor({-1., 0., 0., 0.5, 1e30, static_cast<double>(NAN)}), 1);
  EXPECT_ERROR(ValueError, writer.add_histogram("w", tensor({static_cast<double>(NAN)})), "no finite value among 1");
  writer.close();
  const Fields histogram = values_in(folder.path())[0].sub(5);
  EXPECT_EQ(histogram.find(1)->real(), -1);
  EXPECT_EQ(histogram.find(2)->real(), static_cast<double>(1e30f));
  EXPECT_EQ(histogram.find(3)->real(), 5);
  const std::vector<double> limits = test::packed_doubles(histogram.text(6)),
                            counts = test::packed_doubles(histogram.text(7));
  ASSERT_EQ(limits.size(), counts.size());
  double sum = 0;
  for (double count : counts) sum += count;
  EXPECT_EQ(sum, 5);
  EXPECT_EQ(counts.front(), 0);
  EXPECT_LE(limits.front(), -1);
  EXPECT_TRUE(std::is_sorted(limits.begin(), limits.end()));
}

TEST(SummaryWriter, ImagesInEveryLayout) {
  TempFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_image("chw", rand({3, 4, 6}));
  writer.add_image("hwc", zeros({4, 6, 1}, kByte), 0, "HWC");
  writer.add_image("hw", rand({4, 6}), 0, "HW");
  writer.add_images("batch", rand({10, 3, 4, 6}));
  writer.add_figure("figure", rand({3, 4, 6}));
  EXPECT_ERROR(ShapeError, writer.add_image("bad", rand({4, 6})), "add_image: found shape [4, 6] (expected CHW)");
  EXPECT_ERROR(ShapeError, writer.add_image("bad", rand({5, 4, 6})), "1 to 4 channels");
  EXPECT_ERROR(ValueError, writer.add_image("bad", rand({3, 4, 6}), 0, "CWH"), "found layout CWH");
  EXPECT_ERROR(ValueError, writer.add_figure("bad", std::string_view("no png")), "that are no PNG");
  writer.close();
  const std::vector<Fields> values = values_in(folder.path());
  ASSERT_EQ(values.size(), 5u);
  EXPECT_EQ(values[0].sub(4).find(1)->integer, 4u);
  EXPECT_EQ(values[0].sub(4).find(2)->integer, 6u);
  EXPECT_EQ(values[3].sub(4).find(1)->integer, 8u);   // two rows
  EXPECT_EQ(values[3].sub(4).find(2)->integer, 48u);  // eight columns
  const std::string png = values[0].sub(4).text(4);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1A\n");
  {
    SummaryWriter again(folder / "again");
    again.add_figure("png", png);
  }
  const Fields figure = values_in(folder / "again")[0].sub(4);
  EXPECT_EQ(figure.find(1)->integer, 4u);
  EXPECT_EQ(figure.find(2)->integer, 6u);
  EXPECT_EQ(figure.find(3)->integer, 3u);
}

TEST(SummaryWriter, PrCurvesCountAsTheyShould) {
  TempFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_pr_curve("pr", tensor({1, 0, 1, 0}), tensor({1.0, 0.6, 0.4, 0.1}), 0, /*num_thresholds=*/3);
  EXPECT_ERROR(ShapeError, writer.add_pr_curve("pr", ones({2}), ones({3})), "labels have shape [2]");
  EXPECT_ERROR(ValueError, writer.add_pr_curve("pr", ones({1}), tensor({1.5})), "a prediction is 1.5");
  writer.close();
  const Fields value = values_in(folder.path())[0];
  EXPECT_EQ(value.sub(9).sub(1).text(1), "pr_curves");
  const std::vector<float> rows = test::packed_floats(value.sub(8).text(5));
  // Thresholds 0, 0.5 and 1: tp, fp, tn, fn, precision, recall.
  const float wanted[] = {2, 1, 1, 2, 1, 0, 0, 1, 2, 0, 1, 1, 0.5, 0.5, 1, 1, 0.5, 0.5};
  ASSERT_EQ(rows.size(), std::size(wanted));
  for (size_t i = 0; i < rows.size(); i++) EXPECT_FLOAT_EQ(rows[i], wanted[i]) << i;
}

TEST(SummaryWriter, GraphsHaveNamesOpsAndShapes) {
  TempFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_graph(std::make_shared<TwoLayers>(), ones({3, 4}));
  writer.close();
  const Fields graph(Fields(records_of(event_file_in(folder.path()))[1]).sub(4));
  std::vector<std::string> names;
  std::vector<int64_t> shape;
  for (const auto& node : graph.all(1)) {
    const Fields def(node.bytes);
    names.push_back(def.text(1) + ":" + def.text(2));
    if (def.text(1) == "first/linear") {
      EXPECT_EQ(def.all(3).size(), 3u);
      EXPECT_EQ(def.all(3)[0].bytes, "input");
      EXPECT_EQ(def.all(3)[1].bytes, "first/weight");
      for (const auto& dim : def.sub(5).sub(2).sub(1).sub(7).all(2))
        shape.push_back(static_cast<int64_t>(Fields(dim.bytes).find(1)->integer));
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"input:input", "first/weight:Parameter", "first/bias:Parameter",
                                             "last/linear/weight:Parameter", "first/linear:linear", "relu:relu",
                                             "last/linear/linear:linear", "log_softmax:log_softmax", "output:output"}));
  EXPECT_EQ(shape, (std::vector<int64_t>{3, 5}));
}

TEST(SummaryWriter, EmbeddingsWriteTheProjectorsFiles) {
  TempFolder folder;
  SummaryWriter writer(folder.path());
  writer.add_embedding(arange(6.).view({3, 2}), {"a", "b", "c"}, rand({3, 3, 4, 4}), 7, "points");
  EXPECT_EQ(test::contents_of(folder / "00007/points/tensors.tsv"), "0\t1\n2\t3\n4\t5\n");
  EXPECT_EQ(test::contents_of(folder / "00007/points/metadata.tsv"), "a\nb\nc\n");
  EXPECT_EQ(test::contents_of(folder / "00007/points/sprite.png").substr(1, 3), "PNG");
  const std::string config = test::contents_of(folder / "projector_config.pbtxt");
  EXPECT_NE(config.find("tensor_path: \"00007/points/tensors.tsv\""), std::string::npos);
  EXPECT_NE(config.find("single_image_dim: 4"), std::string::npos);
  EXPECT_ERROR(ValueError, writer.add_embedding(ones({3, 2}), {"a"}), "found 1 labels (expected 3");
  EXPECT_ERROR(ShapeError, writer.add_embedding(ones({3})), "found shape [3]");
}

TEST(SummaryWriter, FoldersThatCannotBeMadeAreNamed) {
  TempFolder folder;
  test::write_contents(folder / "file", "");
  EXPECT_ERROR(IoError, SummaryWriter(folder / "file/run"), "file/run: no folder can be made: Not a directory");
}

TEST(SummaryWriter, HparamsInBracesOrInADict) {
  TempFolder folder;
  SummaryWriter writer(folder / "run");
  writer.add_hparams({{"lr", 0.1}}, {{"acc", 0.9}}, "number");
  writer.add_hparams({{"name", "adam"}}, {{"acc", 0.9}}, "text");
  IValue::Dict dict;
  dict["lr"] = 0.1;
  writer.add_hparams(dict, {{"acc", 0.9}}, "dict");
  for (const char* run : {"number", "text", "dict"})
    EXPECT_TRUE(std::filesystem::is_directory(folder / (std::string("run/") + run))) << run;
}

TEST(SummaryWriter, AResumedRunHidesWhatWasLoggedAfterItsCheckpoint) {
  TempFolder folder;
  const auto log = [&](SummaryWriter& writer, double value, int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; step++) {
      writer.add_scalar("loss", value, step);
      writer.add_scalars("both", {{"train", value}}, step);
    }
  };
  {
    SummaryWriter killed(folder / "run");
    log(killed, 1, 1, 6);
  }
  // The reader takes files by their names, and those begin with the second.
  const std::string first = event_file_in(folder / "run"), first_both = event_file_in(folder / "run/both_train");
  for (const std::string& path : {first, first_both})
    std::filesystem::rename(path, std::filesystem::path(path).parent_path() / "events.out.tfevents.0000000001.x");
  {
    SummaryWriter resumed(folder / "run", {.purge_step = 5});
    log(resumed, 2, 5, 7);
    resumed.close();
    const std::string run = folder / "run";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".x") continue;
      const std::vector<std::string> records = records_of(entry.path());
      ASSERT_EQ(records.size(), 5u) << entry.path();
      EXPECT_EQ(Fields(records[1]).find(2)->integer, 5u);
      EXPECT_EQ(Fields(records[1]).sub(7).find(1)->integer, 1u);  // SessionLog.START
      EXPECT_FALSE(Fields(records[2]).find(7));
    }
    log(resumed, 3, 8, 8);  // a new file, which hides nothing
  }
  for (const char* below : {"run", "run/both_train"}) {
    const auto ran = test::run_script("monitor/read_events.py", folder / below);
    if (ran.status == 77) continue;  // no TensorBoard here; its bytes were looked at above
    ASSERT_EQ(ran.status, 0) << ran.output;
    EXPECT_NE(ran.output.find("[(1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0), (5, 2.0), (6, 2.0), (7, 2.0), (8, 3.0)]"),
              std::string::npos)
        << ran.output;
  }
}

// The whole records; the last write may have been cut off by the kill.
int64_t whole_records_in(const std::string& path) {
  const std::string file = test::contents_of(path);
  int64_t count = 0;
  for (size_t at = 0; file.size() - at >= 16; count++) {
    uint64_t length = 0;
    std::memcpy(&length, file.data() + at, 8);
    if (length > file.size() - at - 16) break;
    at += 16 + length;
  }
  return count;
}

TEST(SummaryWriter, AKilledRunHasLoggedUpToItsLastFlush) {
  for (const int fatal : {SIGTERM, SIGKILL}) {
    TempFolder folder;
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      SummaryWriter writer(folder.path(), {.flush_secs = 0.02});
      for (int step = 0; step < 3; step++) writer.add_scalar("loss", step, step);
      while (true) ::pause();  // no further event comes
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto logged = [&] { return folder.count() == 1 ? whole_records_in(event_file_in(folder.path())) : 0; };
    while (logged() < 4 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::kill(child, fatal);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WTERMSIG(status), fatal);
    EXPECT_EQ(records_of(event_file_in(folder.path())).size(), 4u);
    const auto ran = test::run_script("monitor/read_events.py", folder.path());
    if (ran.status == 77) continue;  // no TensorBoard here; its bytes were looked at above
    ASSERT_EQ(ran.status, 0) << ran.output;
    EXPECT_NE(ran.output.find("scalar loss [(0, 0.0), (1, 1.0), (2, 2.0)]"), std::string::npos) << ran.output;
  }
}

TEST(SummaryWriter, TwoSecondsAreTheDefaultAndNonsenseIsRefused) {
  TempFolder folder;
  EXPECT_EQ(SummaryWriterOptions().flush_secs, 2);
  SummaryWriter at_once(folder / "run", {.flush_secs = 0});
  at_once.add_scalar("x", 1, 1);
  EXPECT_EQ(records_of(event_file_in(folder / "run")).size(), 2u);
  SummaryWriter with_suffix(folder / "other", "comment", ".tail");
  EXPECT_TRUE(event_file_in(folder / "other").ends_with(".tail"));
  EXPECT_ERROR(ValueError, SummaryWriter(folder.path(), {.flush_secs = -1}), "found flush_secs -1");
  EXPECT_ERROR(ValueError, SummaryWriter(folder.path(), {.flush_secs = NAN}), "found flush_secs nan");
}

TEST(SummaryWriter, ThreadsAndForkedChildrenShareIt) {
  TempFolder folder;
  SummaryWriter writer(folder.path(), {.flush_secs = 0.001});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&, i] {
      for (int step = 0; step < 500; step++) {
        writer.add_scalar("t" + std::to_string(i), step, step);
        writer.add_scalars("chart", {{"t" + std::to_string(i), 1.0}}, step);
      }
    });
  constexpr int kChildren = 5;
  for (int i = 0; i < kChildren; i++) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      writer.add_scalar("child", i, i);
      writer.flush();
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  for (std::thread& thread : threads) thread.join();
  writer.close();
  EXPECT_EQ(values_in(folder.path()).size(), 2000u + kChildren);
  for (int i = 0; i < 4; i++) EXPECT_EQ(values_in(folder / ("chart_t" + std::to_string(i))).size(), 500u);
}

TEST(SummaryWriter, TensorBoardReadsAllOfIt) {
  TempFolder folder;
  SummaryWriter writer(folder / "run");
  writer.add_scalar("loss", 0.5, 3);
  writer.add_scalar("loss", 0.25, 4);
  writer.add_histogram("weights", tensor({-1., 0., 2.}), 1);
  writer.add_image("picture", rand({3, 4, 6}), 1);
  writer.add_text("note", "some *words*", 1);
  writer.add_pr_curve("pr", tensor({1, 0}), tensor({0.9, 0.2}), 1);
  writer.add_graph(TwoLayers(), ones({3, 4}));
  writer.add_hparams({{"lr", 0.125}, {"name", "adam"}, {"nesterov", true}}, {{"accuracy", 0.75}}, "trial");
  writer.close();
  auto ran = test::run_script("monitor/read_events.py", folder / "run");
  SKIP_OR_EXPECT_SUCCESS(ran, "tensorboard");
  auto found = [&](const std::string& words) {
    EXPECT_NE(ran.output.find(words), std::string::npos) << words << " in:\n" << ran.output;
  };
  found("scalar loss [(3, 0.5), (4, 0.25)]");
  found("histogram weights -1.0 2.0 3.0 1.0 3");
  found("image picture 6 4 (6, 4)");
  found("tensor note/text_summary text [b'some *words*'] [] [1]");
  found("tensor pr pr_curves [] [1.0, 1.0, 1.0] [6, 127]");
  found("node first/linear linear ['input', 'first/weight', 'first/bias'] [[3, 5]]");
  ran = test::run_script("monitor/read_events.py", folder / "run/trial");
  ASSERT_EQ(ran.status, 0) << ran.output;
  found("scalar accuracy [(0, 0.75)]");
  found("key: \"lr\" value { number_value: 0.125");
  found("string_value: \"adam\"");
  found("name: \"nesterov\" type: DATA_TYPE_BOOL");
  found("tag: \"accuracy\"");
}

}  // namespace
}  // namespace cresset::monitor
