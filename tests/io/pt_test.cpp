// .pt files: round trips, sharing, and what PyTorch wrote and reads.
#include "cresset/io/pt.h"

#include "cresset/io/npy.h"
#include "cresset/io/safetensors.h"
#include "cresset/io/serialize.h"
#include "cresset/io/zip.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/io/support.h"

namespace cresset::io {
namespace {

using test::TempFolder;

IValue round_trip(const IValue& value) { return pickle_load(pickle_save(value)); }
Tensor numbers(DType dtype) { return tensor({0., 1., 2., 100.}).to(dtype); }

TEST(Pt, PlainValuesComeBack) {
  IValue::Dict dict;
  dict["none"] = IValue();
  dict["true"] = true;
  dict["double"] = 2.5;
  dict["text"] = std::string("h\xC3\xA4llo\n\0x", 10);
  dict["list"] = IValue::List{{1, IValue::Tuple{{2, "x"}}, IValue::List{}}};
  dict["empty"] = IValue::Dict{};
  dict["unit"] = IValue::Tuple{};
  dict.items.emplace_back(5, "five");
  const IValue loaded = round_trip(dict);
  const IValue::Dict& back = loaded.toDict();
  EXPECT_TRUE(back.at("none").isNone());
  EXPECT_EQ(back.at("true").toBool(), true);
  EXPECT_EQ(back.at("double").toDouble(), 2.5);
  EXPECT_EQ(back.at("text").toStringRef(), dict["text"].toStringRef());
  EXPECT_EQ(back.at("list").toList()[1].toTuple()[1].toStringRef(), "x");
  EXPECT_EQ(back.at("empty").toDict().size(), 0u);
  EXPECT_EQ(back.at("unit").toTuple().size(), 0u);
  EXPECT_EQ(back.items.back().first.toInt(), 5);
  for (int64_t n : {int64_t{0}, int64_t{255}, int64_t{256}, int64_t{65536}, int64_t{-1}, int64_t{1} << 31,
                    -(int64_t{1} << 31), INT64_MAX, INT64_MIN})
    EXPECT_EQ(round_trip(n).toInt(), n);
}

TEST(Pt, EveryDtypeAndStrideComesBack) {
  for (int i = 0; i < kDTypes; i++) {
    const Tensor x = numbers(static_cast<DType>(i)).view({2, 2}).t();
    const Tensor y = round_trip(x).toTensor();
    EXPECT_EQ(y.dtype(), x.dtype());
    EXPECT_EQ(y.strides(), x.strides());
    EXPECT_TRUE(equal(x, y)) << name_of(x.dtype());
  }
}

TEST(Pt, SharedStoragesStayShared) {
  const Tensor x = arange(12.).view({3, 4});
  const IValue loaded = round_trip(IValue::List{{x, x[1], x.t()}});
  const Tensor whole = loaded.toList()[0].toTensor(), row = loaded.toList()[1].toTensor();
  EXPECT_TRUE(whole.is_alias_of(row));
  EXPECT_EQ(row.storage_offset(), 4);
  Tensor changed = row;
  changed.fill_(-1);
  EXPECT_EQ(whole[1][0].item<double>(), -1);
  EXPECT_EQ(loaded.toList()[2].toTensor()[0][1].item<double>(), -1);
}

TEST(Pt, ASmallSliceMakesASmallFile) {
  const Tensor big = arange(100'000.);
  EXPECT_LT(pickle_save(big.slice(0, 500, 600)).size(), 4000u);
  EXPECT_TRUE(equal(round_trip(big.slice(0, 500, 600)).toTensor(), big.slice(0, 500, 600)));
  EXPECT_GT(pickle_save(big.slice(0, 0, 90'000)).size(), 100'000 * 4u);  // most of it: whole
  // Two far ends reach over everything.
  const IValue ends = round_trip(IValue::List{{big.slice(0, 0, 2), big.slice(0, 99'998)}});
  EXPECT_EQ(ends.toList()[1].toTensor()[1].item<double>(), 99'999);
}

TEST(Pt, OneStorageUnderTwoDtypesIsWrittenTwice) {
  const Tensor x = tensor({1.f, 2.f});
  const IValue back = round_trip(IValue::List{{x, x.view(kInt)}});
  EXPECT_TRUE(equal(back.toList()[0].toTensor(), x));
  EXPECT_EQ(back.toList()[1].toTensor()[0].item<int>(), 0x3F800000);
}

TEST(Pt, GradientsAreRememberedAndUndefinedTensorsAreNone) {
  EXPECT_TRUE(round_trip(ones({2}).requires_grad_()).toTensor().requires_grad());
  EXPECT_TRUE(round_trip(Tensor()).isNone());
  EXPECT_ERROR(IoError, pickle_save(empty({2}, TensorOptions(kMeta))), "meta device");
}

TEST(Pt, MetaReadsShapesAlone) {
  TempFolder folder;
  save_pt(folder / "a.pt", ones({3, 4}));
  const Tensor shape_only = load_pt(folder / "a.pt", kMeta).toTensor();
  EXPECT_TRUE(shape_only.is_meta());
  EXPECT_EQ(shape_only.sizes(), IntArrayRef({3, 4}));
}

TEST(Pt, NestingIsLimitedBothWays) {
  IValue deep = 1;
  for (int i = 0; i < 70; i++) deep = IValue::List{{deep}};
  EXPECT_ERROR(IoError, pickle_save(deep), "nested deeper than 64");
}

TEST(Pt, StoragesAreAlignedInTheFile) {
  const std::vector<char> bytes = pickle_save(IValue::List{{ones({3}), ones({5}), ones({7})}});
  ZipReader zip("test", Source::borrow(bytes.data(), bytes.size(), "memory"));
  for (const auto& entry : zip.entries()) EXPECT_EQ(entry.offset % 64, 0u) << entry.name;
}

TEST(Pt, EqualValuesGiveEqualFiles) { EXPECT_EQ(pickle_save(ones({3})), pickle_save(ones({3}))); }

TEST(PtExchange, PyTorchReadsWhatCressetWrote) {
  TempFolder folder;
  const Tensor x = arange(24.).view({4, 6});
  IValue::Dict all;
  all["x"] = x;
  all["t"] = x.t();
  all["row"] = x[1];
  all["slice"] = arange(1000.).slice(0, 100, 110);
  IValue::Dict dtypes;
  for (int i = 0; i < kDTypes; i++) dtypes[name_of(static_cast<DType>(i))] = numbers(static_cast<DType>(i));
  all["dtypes"] = dtypes;
  all["wants"] = ones({2}).requires_grad_();
  all["list"] = IValue::List{{1, IValue::List{{"b", IValue()}}, true}};
  all["tuple"] = IValue::Tuple{{1, IValue::Tuple{}}};
  IValue::Dict ints;
  ints.items = {{0, "a"}, {5, "b"}};
  all["ints"] = ints;
  all["numbers"] =
      std::vector<int64_t>{0, 255, 256, 65536, -1, int64_t{1} << 31, -(int64_t{1} << 31), INT64_MAX, INT64_MIN};
  all["text"] = "h\xC3\xA4llo";
  all["scalar"] = tensor(3.5);
  all["empty"] = empty({0, 5});
  all["float"] = 2.5;
  all["typed"] = std::vector<double>{1.5, -2};
  save(IValue(all), folder / "all.pt");
  const std::vector<char> memory = pickle_save(all);
  test::write_contents(folder / "memory.pt", {memory.data(), memory.size()});
  all.items.resize(all.items.size() - 2);
  // 1.13's own list of what weights_only may load lacks these.
  IValue::Dict& restricted = all["dtypes"].toDict();
  std::erase_if(restricted.items, [](const auto& item) { return item.first.toStringRef() == "none"; });
  save(IValue(all), folder / "nofloat.pt");
  IValue::Dict state;
  state["weight"] = arange(12.).view({4, 3});
  state["bias"] = zeros({4});
  save(IValue(state), folder / "state.pt");
  IValue::Dict sgd, of_weight, group;
  of_weight["momentum_buffer"] = ones({4, 3});
  IValue::Dict states;
  states.items = {{0, of_weight}};
  group["lr"] = 0.125;
  group["momentum"] = 0.9;
  group["dampening"] = 0.;
  group["weight_decay"] = 0.;
  group["nesterov"] = false;
  group["params"] = std::vector<int64_t>{0, 1};
  sgd["state"] = states;
  sgd["param_groups"] = IValue::List{{group}};
  save(IValue(sgd), folder / "sgd.pt");
  auto ran = test::run_script("io/exchange.py", "check torch " + folder.path());
  SKIP_OR_EXPECT_SUCCESS(ran, "PyTorch");
}

void check_plain_values(const IValue::Dict& d) {
  EXPECT_TRUE(d.at("none").isNone());
  EXPECT_TRUE(d.at("true").toBool());
  EXPECT_EQ(d.at("int").toInt(), 7);
  EXPECT_EQ(d.at("negative").toInt(), -70000);
  EXPECT_EQ(d.at("long").toInt(), int64_t{1} << 40);
  EXPECT_EQ(d.at("min").toInt(), INT64_MIN);
  EXPECT_EQ(d.at("float").toDouble(), 2.5);
  EXPECT_EQ(d.at("inf").toDouble(), -HUGE_VAL);
  EXPECT_EQ(d.at("text").toStringRef(), "h\xC3\xA4llo");
  EXPECT_EQ(d.at("list").toList()[1].toList()[1].toTuple()[1].toStringRef(), "x");
  EXPECT_EQ(d.at("tuple").toTuple().size(), 4u);
  EXPECT_EQ(d.at("ints").toDict().items[1].first.toInt(), 5);
  EXPECT_EQ(d.at("size").toTuple()[1].toInt(), 6);
  EXPECT_EQ(d.at("dtype").toStringRef(), "torch.float16");
  EXPECT_EQ(d.at("device").toStringRef(), "cpu");
  EXPECT_EQ(d.at("bytes").toStringRef(), "ab");
  EXPECT_EQ(d.at("set").toList().size(), 2u);
}

void check_tensors(const IValue::Dict& d) {
  const Tensor x = arange(24.).view({4, 6}).to(kFloat);
  EXPECT_TRUE(equal(d.at("x").toTensor(), x));
  EXPECT_TRUE(equal(d.at("row").toTensor(), x[1]));
  EXPECT_TRUE(d.at("row").toTensor().is_alias_of(d.at("x").toTensor()));
  EXPECT_EQ(d.at("t").toTensor().strides(), IntArrayRef({1, 6}));
  EXPECT_TRUE(equal(d.at("t").toTensor(), x.t()));
  EXPECT_TRUE(equal(d.at("step").toTensor(), x.slice(0, 0, 4, 2).slice(1, 1, 6, 2)));
  EXPECT_TRUE(d.at("parameter").toTensor().requires_grad());
  EXPECT_TRUE(d.at("wants").toTensor().requires_grad());
  EXPECT_EQ(d.at("scalar").toTensor().item<double>(), 3.5);
  EXPECT_EQ(d.at("empty").toTensor().sizes(), IntArrayRef({0, 5}));
  EXPECT_EQ(d.at("expanded").toTensor().strides(), IntArrayRef({0, 0}));
  EXPECT_EQ(d.at("dtypes").toDict().size(), 12u);
  for (const auto& [name, held] : d.at("dtypes").toDict()) {
    EXPECT_EQ(name.toStringRef(), name_of(held.toTensor().dtype()));
    EXPECT_TRUE(equal(held.toTensor(), numbers(held.toTensor().dtype()))) << name.toStringRef();
  }
}

TEST(Pt, OtherFormatsAreCalledByTheirNames) {
  TempFolder folder;
  StateDict state;
  state.insert("w", ones({2}));
  save_safetensors(folder / "a.safetensors", state);
  EXPECT_ERROR(IoError, load_pt(folder / "a.safetensors"), "a safetensors file; load_safetensors reads it");
  save_npy(folder / "a.npy", ones({2}));
  EXPECT_ERROR(IoError, load_pt(folder / "a.npy"), "a NumPy file; load_npy reads it");
}

TEST(PtExchange, CressetReadsWhatPyTorchWrote) {
  TempFolder folder;
  auto ran = test::run_script("io/exchange.py", "write torch " + folder.path());
  SKIP_OR_EXPECT_SUCCESS(ran, "PyTorch");
  const IValue all = load_pt(folder / "all.pt");
  check_plain_values(all.toDict());
  check_tensors(all.toDict());
  Tensor loaded;
  load(loaded, folder / "tensor.pt");
  EXPECT_EQ(loaded.sizes(), IntArrayRef({4, 6}));
  EXPECT_EQ(load_pt(folder / "shared_list.pt").toList()[1].toList()[1].toInt(), 2);
  for (const char* protocol : {"3", "4", "5"}) {
    const IValue held = load_pt(folder / "protocol" + protocol + ".pt");
    EXPECT_EQ(held.toDict().at("l").toList()[2].toStringRef(), "s");
    EXPECT_EQ(held.toDict().at("x").toTensor().numel(), 24);
  }
  const IValue training = load_pt(folder / "training.pt");
  EXPECT_EQ(training.toDict().at("model").toDict().at("1.running_mean").toTensor().sizes(), IntArrayRef({4}));
  const IValue::Dict& optimizer = training.toDict().at("optimizer").toDict();
  EXPECT_EQ(optimizer.at("param_groups").toList()[0].toDict().at("lr").toDouble(), 0.01);
  EXPECT_EQ(optimizer.at("state").toDict().items[0].second.toDict().at("exp_avg").toTensor().sizes(),
            IntArrayRef({4, 3}));
  EXPECT_ERROR(IoError, load_pt(folder / "legacy.pt"), "before 1.6 (not a zip archive); convert it in Python");
  EXPECT_ERROR(IoError, load_pt(folder / "huge_int.pt"), "an integer");
  EXPECT_ERROR(IoError, load_pt(folder / "module.pt"), "refused to load 'torch.nn.modules.container.Sequential'");
  EXPECT_ERROR(IoError, load_pt(folder / "module.pt"), "torch.save(module.state_dict(), path) gives such");
  EXPECT_ERROR(IoError, load_pt(folder / "script.pt"), "TorchScript");
}

}  // namespace
}  // namespace cresset::io
