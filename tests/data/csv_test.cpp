// CSV: the format, columns, labels, and faults by line and column.
#include <gtest/gtest.h>

#include "cresset/data/data.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/data/temporary_folder.h"

namespace cresset::data::datasets {
namespace {

using io::CsvOptions;
using io::parse_csv;
using testing::TemporaryFolder;

TEST(Csv, QuotesBlanksAndLineEnds) {
  const auto table = parse_csv("a,b,c\r\n1,\"x, \"\"y\"\"\nz\",3\n\n4,,\"\"\n7,8,9");
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.at(0, 1), "x, \"y\"\nz");
  EXPECT_EQ(table.at(1, 1), "");
  EXPECT_EQ(table.at(1, 2), "");
  EXPECT_EQ(table.at(2, 2), "9");
  EXPECT_ERROR(IndexError, table.at(3, 0), "row 3");
}

TEST(Csv, OptionsChangeTheFormat) {
  const auto table = parse_csv("1;'a;b';3\n4;'it''s';6\n", CsvOptions().header(false).delimiter(';').quote('\''));
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(table.at(0, 1), "a;b");
  EXPECT_EQ(table.at(1, 1), "it's");
  const auto chosen = parse_csv(
      "\xEF\xBB\xBF"
      "a,b,c\n1,2,3\n",
      CsvOptions().columns({"c", "a"}));
  EXPECT_EQ(chosen.at(0, 0), "3");
  EXPECT_EQ(chosen.at(0, 1), "1");
}

TEST(Csv, NumbersAndClasses) {
  const auto table = parse_csv("x,kind,y\n1, b,2.5e1\n-3,a, +4 \n0.5,b,1\n");
  EXPECT_TRUE(equal(table.numbers({"y", "x"}), tensor({{25.0, 1.0}, {4.0, -3.0}, {1.0, 0.5}}, kFloat)));
  EXPECT_EQ(table.classes("kind"), (std::vector<std::string>{" b", "a", "b"}));
  EXPECT_TRUE(equal(table.labels("kind", {"b", "a", " b"}), tensor({2, 1, 0}, kLong)));
}

TEST(Csv, NumbersBeyondFloatAreInfiniteOrZero) {
  const auto table = parse_csv("x\n1e39\n-1e400\n1e-400\n+5\n");
  EXPECT_TRUE(equal(table.numbers({"x"}), tensor({INFINITY, -INFINITY, 0.0F, 5.0F}, kFloat).unsqueeze(1)));
  EXPECT_ERROR(IoError, parse_csv("x\n+-5\n").numbers({"x"}), "found \"+-5\" (expected a number)");
}

TEST(Csv, ColumnsOfOneNameAreNotMixedUp) {
  const auto table = parse_csv("a,b,a\n1,2,3\n", {}, "t.csv");
  EXPECT_ERROR(IoError, table.numbers({"a"}), "t.csv: more than one column is called \"a\" (it has a, b, a)");
  EXPECT_EQ(table.numbers({"b"}).item<float>(), 2);
  EXPECT_EQ(table.at(0, 2), "3");
  EXPECT_ERROR(IoError, parse_csv("a,b,a\n1,2,3\n", CsvOptions().columns({"a"})), "more than one column");
  const TemporaryFolder folder;
  const std::string path = folder.write("index.csv", std::string(",w\n0,5\n"));  // as pandas writes an index
  EXPECT_EQ(CsvDataset(path).feature_names(), (std::vector<std::string>{"", "w"}));
}

TEST(Csv, FaultsAreNamedByLineAndColumn) {
  EXPECT_ERROR(IoError, parse_csv("a,b\n1,2\n3\n", {}, "t.csv"),
               "t.csv: line 3, column 2: found 1 fields (expected 2)");
  EXPECT_ERROR(IoError, parse_csv("a,b\n1,2,3\n", {}, "t.csv"), "line 2, column 3: found 3 fields (expected 2)");
  EXPECT_ERROR(IoError, parse_csv("a,b\n1,\"2\n3,4\n", {}, "t.csv"), "line 2, column 2: a quoted field has no end");
  EXPECT_ERROR(IoError, parse_csv("a,b\n\"1\"x,2\n", {}, "t.csv"), "line 2, column 1: found 'x' after a quoted field");
  EXPECT_ERROR(IoError, parse_csv("", {}, "t.csv"), "t.csv: found no line (expected a header)");
  EXPECT_ERROR(IoError, parse_csv("a,b\n1,2\n", CsvOptions().columns({"z"})), "no column \"z\" (it has a, b)");
  const auto table = parse_csv("a,b\n1,\"two\nlines\"\n3,4x\n", {}, "t.csv");
  EXPECT_ERROR(IoError, table.numbers({"b"}), "line 2, column 2 (\"b\"): found \"two\nlines\" (expected a number)");
  EXPECT_ERROR(IoError, table.labels("b", {"two\nlines"}), "line 4, column 2 (\"b\"): found \"4x\"");
  EXPECT_ERROR(IoError, table.numbers({"q"}), "no column \"q\"");
  EXPECT_ERROR(IoError, io::read_csv("/nowhere.csv"), "/nowhere.csv");
  EXPECT_ERROR(IoError, io::parse_csv(std::string(2'000'000, ',')), "line 1: found more than 1048576 columns");
}

TEST(Csv, DatasetOfClassesAndOfNumbers) {
  const TemporaryFolder folder;
  const std::string path = folder.write("iris.csv", std::string("w,l,kind\n1,2,setosa\n3,4,virginica\n5,6,setosa\n"));
  CsvDataset flowers(path, {"kind"});
  EXPECT_EQ(flowers.size(), 3U);
  EXPECT_EQ(flowers.classes(), (std::vector<std::string>{"setosa", "virginica"}));
  EXPECT_EQ(flowers.feature_names(), (std::vector<std::string>{"w", "l"}));
  EXPECT_TRUE(equal(flowers.get(1).data, tensor({3.0, 4.0}, kFloat)));
  EXPECT_EQ(flowers.get(1).target.item<int64_t>(), 1);
  CsvDataset named(path, CsvDatasetOptions("kind").classes({"virginica", "setosa"}).features({"l"}));
  EXPECT_EQ(named.get(0).target.item<int64_t>(), 1);
  EXPECT_TRUE(equal(named.features(), tensor({{2.0}, {4.0}, {6.0}}, kFloat)));
  CsvDataset numbers(path, CsvDatasetOptions("l").regression(true).features({"w"}));
  EXPECT_TRUE(equal(numbers.targets(), tensor({2.0, 4.0, 6.0}, kFloat)));
  EXPECT_ERROR(IoError, CsvDataset(path, {"l"}), "line 2, column 3 (\"kind\"): found \"setosa\" (expected a number)");
  EXPECT_ERROR(IoError, CsvDataset(path, CsvDatasetOptions("kind").classes({"setosa"})),
               "found \"virginica\" (expected one of setosa)");
  auto loader = make_data_loader<samplers::SequentialSampler>(flowers.map(transforms::Stack<>()), 3);
  for (auto& batch : *loader) EXPECT_TRUE(equal(batch.data, flowers.features()));
  io::write_file(folder / "iris.csv.gz", io::gzip(io::read_file(path)));
  EXPECT_EQ(CsvDataset(folder / "iris.csv.gz", {"kind"}).size(), 3U);
}

TEST(Csv, ADataSetWithoutATargetNeedsNoOptions) {
  TemporaryFolder folder;
  const std::string path = folder / "numbers.csv";
  const std::string text = "a,b\n1,2\n3,4\n";
  io::write_file(path, std::vector<uint8_t>(text.begin(), text.end()));
  CsvDataset numbers(path);
  EXPECT_TRUE(equal(numbers.features(), tensor({{1.F, 2.F}, {3.F, 4.F}})));
  EXPECT_TRUE(equal(numbers.targets(), zeros({2})));
  EXPECT_ERROR(IoError, CsvDataset(folder / "missing.csv"), "read_csv: ");
  EXPECT_ERROR(IoError, io::read_image(folder / "missing.png"), "read_image: ");
}

struct Squares : data::Dataset<Squares> {  // by libtorch's short name
  Example<> get(size_t i) override { return {full({}, static_cast<double>(i * i)), Tensor()}; }
  std::optional<size_t> size() const override { return 4; }
};
static_assert(std::is_base_of_v<data::BatchDataset<Squares>, Squares>);

}  // namespace
}  // namespace cresset::data::datasets
