// save and load of everything they take, to everything they write to.
#include "cresset/io/serialize.h"

#include <sstream>

#include "tests/core/expect_error.h"
#include "tests/io/model_like.h"
#include "tests/io/support.h"

namespace cresset {
namespace {

using test::Line;
using test::LineImpl;
using test::TempFolder;

TEST(Save, TensorsListsAndDicts) {
  TempFolder folder;
  const Tensor x = rand({2, 3});
  save(x, folder / "x.pt");
  Tensor y;
  load(y, folder / "x.pt");
  EXPECT_TRUE(equal(x, y));

  save(std::vector<Tensor>{x, x + 1}, folder / "list.pt");
  std::vector<Tensor> list;
  load(list, folder / "list.pt");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(equal(list[1], x + 1));

  const OrderedDict<std::string, Tensor> dict{{"b", x}, {"a", x * 2}};
  save(dict, folder / "dict.pt");
  OrderedDict<std::string, Tensor> back;
  load(back, folder / "dict.pt");
  EXPECT_EQ(back.keys(), dict.keys());
  EXPECT_TRUE(equal(back["a"], x * 2));
}

TEST(Save, ALoadedTensorIsSeenByAllHandles) {
  std::vector<char> bytes;
  save(ones({3}), bytes);
  Tensor x = zeros({3});
  const Tensor other_handle = x;
  load(x, bytes);
  EXPECT_EQ(other_handle.sum().item<double>(), 3);
}

TEST(Save, HoldersPointersAndObjects) {
  TempFolder folder;
  Line line;
  line->weight.fill_(2);
  line->bias.fill_(5);
  save(line, folder / "line.pt");
  Line again;
  load(again, folder / "line.pt");
  EXPECT_TRUE(equal(again->weight, line->weight));
  auto pointer = std::make_shared<LineImpl>();
  load(pointer, folder / "line.pt");
  EXPECT_EQ(pointer->bias.item<double>(), 5);
  LineImpl object;
  load(object, folder / "line.pt");
  EXPECT_EQ(object.bias.item<double>(), 5);

  test::Momentum optimizer{{line->weight}, {}, 0.25}, other{{line->weight}, {}, 1};
  optimizer.step({ones({3})});
  save(optimizer, folder / "optimizer.pt");
  load(other, folder / "optimizer.pt");
  EXPECT_EQ(other.lr, 0.25);
  EXPECT_TRUE(equal(other.buffers[0], optimizer.buffers[0]));
}

TEST(Save, StreamsMemoryAndFunctions) {
  const Tensor x = arange(5.);
  std::stringstream stream;
  save(x, stream);
  std::vector<char> bytes{'o', 'l', 'd'};
  save(x, bytes);
  EXPECT_EQ(stream.str(), std::string(bytes.begin(), bytes.end()));
  std::string collected;
  save(x, [&](const void* data, size_t size) {
    collected.append(static_cast<const char*>(data), size);
    return size;
  });
  EXPECT_EQ(collected, stream.str());
  Tensor a, b, c, d;
  load(a, stream);
  load(b, bytes);
  load(c, bytes.data(), bytes.size());
  load(d, bytes, Device(kCPU));
  for (const Tensor& y : {a, b, c, d}) EXPECT_TRUE(equal(x, y));
}

TEST(Save, FailuresAreNamed) {
  TempFolder folder;
  std::ostringstream full;
  full.setstate(std::ios::badbit);
  EXPECT_ERROR(IoError, save(ones({2}), full), "the stream does not take");
  EXPECT_ERROR(IoError, save(ones({2}), [](const void*, size_t size) { return size - 1; }), "the writer took");
  Tensor x;
  EXPECT_ERROR(IoError, load(x, folder / "missing.pt"), "missing.pt: No such file");
  std::istringstream empty;
  EXPECT_ERROR(IoError, load(x, empty), "(stream): the file is empty");
  std::vector<char> bytes;
  save(IValue(5), bytes);
  EXPECT_ERROR(TypeError, load(x, bytes), "found int (expected Tensor)");
  Line line;
  EXPECT_ERROR(TypeError, load(line, bytes), "found a int (expected a dict of tensors)");
  save(OrderedDict<std::string, Tensor>{{"other", ones({1})}}, bytes);
  EXPECT_ERROR(Error, load(line, bytes), "missing 'weight'");
}

TEST(Archive, KeysNestAndAreChecked) {
  serialize::OutputArchive out, inner;
  out.write("x", ones({2}));
  out.write("n", IValue(7));
  inner.write("y", zeros({3}), /*is_buffer=*/true);
  out.write("inner", inner);
  EXPECT_ERROR(ValueError, out.write("x", ones({2})), "'x' is written twice");
  std::stringstream stream;
  out.save_to(stream);

  serialize::InputArchive in, nested;
  in.load_from(stream);
  EXPECT_EQ(in.keys(), (std::vector<std::string>{"x", "n", "inner"}));
  Tensor x, y;
  IValue n;
  in.read("x", x);
  in.read("n", n);
  in.read("inner", nested);
  nested.read("y", y);
  EXPECT_EQ(x.sum().item<double>(), 2);
  EXPECT_EQ(n.toInt(), 7);
  EXPECT_EQ(y.numel(), 3);
  EXPECT_FALSE(in.try_read("z", x));
  EXPECT_ERROR(IndexError, in.read("z", x), "there is no 'z' (found: 'x', 'n', 'inner')");
}

TEST(Load, FaultsNameTheFile) {
  TempFolder folder;
  const std::string path = folder / "x.pt";
  save(ones({2}), path);
  Line line;
  EXPECT_ERROR(TypeError, load(line, path), "load: " + path + ": found a Tensor (expected a dict of tensors)");
  save(OrderedDict<std::string, Tensor>{{"bias", ones({})}}, path);
  EXPECT_ERROR(Error, load(line, path), "load: " + path + ": load_state_dict: missing 'weight'");
  Tensor x;
  EXPECT_ERROR(TypeError, load(x, path), "load: " + path + ": ");
  EXPECT_ERROR(IoError, load(x, folder / "missing.pt"), "load: " + (folder / "missing.pt") + ": No such file");
}

TEST(Load, FromAFunctionThatReads) {
  std::vector<char> bytes;
  const Tensor x = rand({2, 3});
  save(x, bytes);
  auto size = [&] { return bytes.size(); };
  Tensor y;
  load(
      y,
      [&](uint64_t at, void* buffer, size_t wanted) -> size_t {
        const size_t given = std::min<size_t>({wanted, bytes.size() - at, 100});
        std::copy_n(bytes.data() + at, given, static_cast<char*>(buffer));
        return given;
      },
      size);
  EXPECT_TRUE(equal(x, y));
  EXPECT_ERROR(IoError,
               load(
                   y, [](uint64_t, void*, size_t) -> size_t { return 0; }, size),
               "load: the read function gave 0 bytes at 0");
}

TEST(Archive, IsNestedAsLibtorchsAre) {
  serialize::OutputArchive whole, part(whole.compilation_unit());
  part.write("x", ones({2}));
  whole.write("part", part);
  EXPECT_TRUE(whole.values().contains("part"));
}

}  // namespace
}  // namespace cresset
