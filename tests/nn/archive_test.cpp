// Modules with a save and load of their own, as libtorch's users override them.
#include "cresset/torch.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"

namespace {

// Adds to what is registered.
struct CountingImpl : torch::nn::Module {
  CountingImpl() : linear(register_module("linear", torch::nn::Linear(2, 2))) {}
  void save(torch::serialize::OutputArchive& archive) const override {
    torch::nn::Module::save(archive);
    archive.write("calls", torch::IValue(calls));
    torch::serialize::OutputArchive nested;
    nested.write("words", torch::IValue("some words"));
    archive.write("more", nested);
  }
  void load(torch::serialize::InputArchive& archive) override {
    torch::nn::Module::load(archive);
    torch::IValue value;
    archive.read("calls", value);
    calls = value.toInt();
    torch::serialize::InputArchive nested;
    archive.read("more", nested);
    nested.read("words", value);
    words = value.toStringRef();
    sum = linear->weight.sum().item<double>();  // what was loaded is there already
  }
  torch::nn::Linear linear;
  int64_t calls = 0;
  double sum = 0;
  std::string words;
};
TORCH_MODULE(Counting);

// Has a form of its own; private, as an override may be.
class PackedImpl : public torch::nn::Module {
 public:
  PackedImpl() { weight = register_parameter("weight", torch::zeros({3})); }
  torch::Tensor weight;

 private:
  void save(torch::serialize::OutputArchive& archive) const override { archive.write("packed", weight.detach() * 2); }
  void load(torch::serialize::InputArchive& archive) override {
    torch::Tensor packed;
    archive.read("packed", packed);
    torch::NoGradGuard no_grad;
    weight.copy_(packed / 2);
  }
};
TORCH_MODULE(Packed);

struct NetImpl : torch::nn::Module {
  NetImpl()
      : plain(register_module("plain", torch::nn::Linear(2, 3))),
        counting(register_module("counting", Counting())),
        packed(register_module("packed", Packed())) {}
  torch::nn::Linear plain;
  Counting counting;
  Packed packed;
};
TORCH_MODULE(Net);

struct NotSavedImpl : torch::nn::LinearImpl {
  using torch::nn::LinearImpl::LinearImpl;
  bool is_serializable() const override { return false; }
};

Net changed_net() {
  Net net;
  torch::NoGradGuard no_grad;
  net->packed->weight.fill_(5);
  net->counting->calls = 7;
  return net;
}

TEST(Archive, OwnSaveAndLoadAreCalledForAModule) {
  Counting saved, loaded;
  saved->calls = 3;
  std::stringstream stream;
  torch::save(saved, stream);
  torch::load(loaded, stream);
  EXPECT_EQ(loaded->calls, 3);
  EXPECT_EQ(loaded->words, "some words");
  EXPECT_TRUE(torch::equal(loaded->linear->weight, saved->linear->weight));
  EXPECT_EQ(loaded->sum, saved->linear->weight.sum().item<double>());
}

TEST(Archive, OwnSaveAndLoadAreCalledForModulesBelow) {
  const Net saved = changed_net();
  Net loaded;
  std::stringstream stream;
  torch::save(saved, stream);
  torch::load(loaded, stream);
  EXPECT_EQ(loaded->counting->calls, 7);
  EXPECT_TRUE(torch::equal(loaded->packed->weight, saved->packed->weight));
  EXPECT_TRUE(torch::equal(loaded->plain->bias, saved->plain->bias));

  torch::serialize::OutputArchive archive;
  archive << saved;
  std::vector<std::string> keys;
  for (const auto& item : archive.values()) keys.push_back(item.first.toStringRef());
  EXPECT_EQ(keys,
            (std::vector<std::string>{"plain.weight", "plain.bias", "counting.linear.weight", "counting.linear.bias",
                                      "counting.calls", "counting.more", "packed.packed"}));
}

TEST(Archive, SharedPointersAndCheckpointsTakeTheSameWay) {
  auto saved = std::make_shared<CountingImpl>(), loaded = std::make_shared<CountingImpl>();
  saved->calls = 9;
  std::stringstream stream;
  torch::save(saved, stream);
  torch::load(loaded, stream);
  EXPECT_EQ(loaded->calls, 9);
  EXPECT_EQ(torch::io::state_of(*saved).toDict().at("calls").toInt(), 9);
}

TEST(Archive, WithoutOwnFormsItIsTheStateDictAndAllOrNothing) {
  torch::nn::Sequential net(torch::nn::Linear(2, 3), torch::nn::BatchNorm1d(3));
  torch::serialize::OutputArchive archive;
  net->save(archive);
  std::vector<std::string> keys;
  for (const auto& item : archive.values()) keys.push_back(item.first.toStringRef());
  EXPECT_EQ(keys, net->state_dict().keys());

  torch::nn::Sequential other(torch::nn::Linear(2, 3), torch::nn::BatchNorm1d(4));
  const torch::Tensor before = other[0]->as<torch::nn::Linear>()->weight.detach().clone();
  torch::serialize::InputArchive in{torch::IValue(archive.values())};
  EXPECT_ERROR(cresset::ValueError, other->load(in), "size mismatch for 1.weight");
  EXPECT_TRUE(torch::equal(other[0]->as<torch::nn::Linear>()->weight, before));
  torch::nn::Linear alone(2, 3);
  EXPECT_ERROR(cresset::ValueError, alone->load(in), "Missing key(s) in state_dict: \"weight\", \"bias\"");
}

TEST(Archive, AnOwnFormStillMissesWhatItNeeds) {
  Net net;
  torch::serialize::InputArchive in{torch::IValue(torch::IValue::Dict{})};
  EXPECT_ERROR(cresset::ValueError, net->load(in),
               "loading state_dict for Net:\n\tMissing key(s) in state_dict: \"plain.weight\", \"plain.bias\"");
}

// Reads what an earlier version of the class wrote; saves as any module.
struct RenamedImpl : torch::nn::Module {
  RenamedImpl() { scale = register_parameter("scale", torch::ones({2})); }
  void load(torch::serialize::InputArchive& archive) override {
    torch::Tensor old;
    if (!archive.try_read("gamma", old)) return torch::nn::Module::load(archive);
    torch::NoGradGuard no_grad;
    scale.copy_(old);
  }
  torch::Tensor forward(const torch::Tensor& x) { return x * scale; }
  torch::Tensor scale;
};
TORCH_MODULE(Renamed);

// Tells other tools something; loads as any module.
struct LabelledImpl : torch::nn::LinearImpl {
  using torch::nn::LinearImpl::LinearImpl;
  void save(torch::serialize::OutputArchive& archive) const override {
    torch::nn::Module::save(archive);
    archive.write("label", torch::IValue("a linear layer"));
  }
};
TORCH_MODULE(Labelled);

torch::serialize::InputArchive read_back(const torch::nn::Module& module) {
  torch::serialize::OutputArchive out;
  out << module;
  return torch::serialize::InputArchive{torch::IValue(out.values())};
}

TEST(Archive, AModuleMayOverrideLoadAlone) {
  torch::nn::Sequential net(torch::nn::Linear(2, 2), Renamed());
  torch::IValue::Dict earlier;
  earlier["0.weight"] = torch::full({2, 2}, 3.0);
  earlier["0.bias"] = torch::zeros({2});
  earlier["1.gamma"] = torch::full({2}, 4.0);
  torch::serialize::InputArchive in{torch::IValue(earlier)};
  in >> net;
  EXPECT_EQ(net[0]->as<torch::nn::Linear>()->weight.sum().item<double>(), 12);
  EXPECT_EQ(net[1]->as<Renamed>()->scale.sum().item<double>(), 8);
  torch::serialize::InputArchive own = read_back(*net);
  torch::nn::Sequential other(torch::nn::Linear(2, 2), Renamed());
  own >> other;
  EXPECT_EQ(other[1]->as<Renamed>()->scale.sum().item<double>(), 8);
}

TEST(Archive, AModuleMayOverrideSaveAlone) {
  torch::nn::Sequential saved(Labelled(2, 2)), loaded(Labelled(2, 2));
  torch::serialize::InputArchive in = read_back(*saved);
  in >> loaded;
  EXPECT_TRUE(torch::equal(loaded[0]->as<Labelled>()->weight, saved[0]->as<Labelled>()->weight));
}

TEST(Archive, ALoadThatFailsPutsBackWhatTheOthersHad) {
  torch::nn::Sequential net(torch::nn::Linear(2, 2), Renamed(), torch::nn::Linear(2, 2));
  const torch::Tensor before = net[0]->as<torch::nn::Linear>()->weight.detach().clone();
  torch::IValue::Dict earlier;
  earlier["0.weight"] = torch::full({2, 2}, 3.0);
  earlier["0.bias"] = torch::zeros({2});
  earlier["1.gamma"] = torch::full({2}, 4.0);
  torch::serialize::InputArchive lacking{torch::IValue(earlier)};
  EXPECT_ERROR(cresset::ValueError, lacking >> net, "\"2.weight\", \"2.bias\"");
  EXPECT_TRUE(torch::equal(net[0]->as<torch::nn::Linear>()->weight, before));
  EXPECT_EQ(net[1]->as<Renamed>()->scale.sum().item<double>(), 2);

  earlier["1.gamma"] = torch::IValue("no tensor");
  torch::serialize::InputArchive wrong{torch::IValue(earlier)};
  EXPECT_ERROR(cresset::TypeError, wrong >> net, "Tensor");
  EXPECT_TRUE(torch::equal(net[0]->as<torch::nn::Linear>()->weight, before));
}

TEST(Archive, ValuesOfASubmoduleThatIsNotThereAreRefused) {
  const torch::nn::Sequential longer(torch::nn::Linear(2, 2), torch::nn::Linear(2, 2));
  torch::nn::Sequential shorter(torch::nn::Linear(2, 2));
  const torch::Tensor before = shorter[0]->as<torch::nn::Linear>()->weight.detach().clone();
  torch::serialize::InputArchive in = read_back(*longer);
  EXPECT_ERROR(cresset::ValueError, in >> shorter, "Unexpected key(s) in state_dict: \"1.weight\", \"1.bias\"");
  EXPECT_TRUE(torch::equal(shorter[0]->as<torch::nn::Linear>()->weight, before));
}

TEST(Archive, ModulesThatAreNotSerializableAreLeftOut) {
  struct HolderOfOne : torch::nn::Module {
    HolderOfOne() {
      register_module("kept", torch::nn::Linear(1, 1));
      register_module("left", std::make_shared<NotSavedImpl>(1, 1));
    }
  };
  HolderOfOne one;
  torch::serialize::OutputArchive archive;
  archive << one;
  EXPECT_EQ(archive.values().size(), 2u);
  torch::serialize::InputArchive in{torch::IValue(archive.values())};
  in >> one;
}

// A class of the user's own, with libtorch's operators.
struct Point {
  torch::Tensor at = torch::zeros({2});
};
torch::serialize::OutputArchive& operator<<(torch::serialize::OutputArchive& archive, const Point& point) {
  archive.write("at", point.at);
  return archive;
}
torch::serialize::InputArchive& operator>>(torch::serialize::InputArchive& archive, Point& point) {
  archive.read("at", point.at);
  return archive;
}
TEST(Archive, OwnClassesWithOperatorsAreSaved) {
  Point saved{torch::ones({2})}, loaded;
  std::stringstream stream;
  torch::save(saved, stream);
  torch::load(loaded, stream);
  EXPECT_TRUE(torch::equal(loaded.at, saved.at));
}

TEST(Archive, ChildrenMayBeArchivesWithin) {
  torch::nn::Sequential saved(torch::nn::Linear(2, 3), torch::nn::Sequential(torch::nn::Linear(3, 1))),
      loaded(torch::nn::Linear(2, 3), torch::nn::Sequential(torch::nn::Linear(3, 1)));
  torch::serialize::OutputArchive whole, first, second, last;
  saved[0]->save(first);
  saved[1]->as<torch::nn::Sequential>()->ptr(0)->save(last);
  second.write("0", last);
  whole.write("0", first);
  whole.write("1", second);
  torch::serialize::InputArchive archive{torch::IValue(whole.values())};
  loaded->load(archive);
  EXPECT_TRUE(torch::equal(loaded->forward(torch::ones({1, 2})), saved->forward(torch::ones({1, 2}))));
}

// Reads its child by hand from what the default save wrote.
struct ByHandImpl : torch::nn::Module {
  ByHandImpl() : linear(register_module("linear", torch::nn::Linear(2, 2))) {}
  void load(torch::serialize::InputArchive& archive) override {
    torch::serialize::InputArchive nested;
    archive.read("linear", nested);
    linear->load(nested);
  }
  torch::nn::Linear linear;
};
TORCH_MODULE(ByHand);

TEST(Archive, AChildIsReadAsAnArchiveOfItsOwn) {
  ByHand saved, loaded;
  std::vector<char> bytes;
  torch::save(saved, bytes);
  torch::load(loaded, bytes);
  EXPECT_TRUE(torch::equal(loaded->linear->weight, saved->linear->weight));
  torch::serialize::InputArchive archive, nested;
  archive.load_from(bytes);
  EXPECT_FALSE(archive.try_read("lin", nested));
  EXPECT_ERROR(c10::Error, archive.read("lin", nested), "there is no 'lin'");
}

}  // namespace
