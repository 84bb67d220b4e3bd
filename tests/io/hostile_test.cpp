// Pickles that want to run code, and files that were damaged or made to hurt: an IoError or the right values, never
// anything else.
#include "cresset/io/npy.h"
#include "cresset/io/pt.h"
#include "cresset/io/safetensors.h"
#include "cresset/io/serialize.h"
#include "cresset/io/zip.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/io/support.h"

namespace cresset::io {
namespace {

Source source_of(std::string_view bytes) { return Source::own({bytes.begin(), bytes.end()}, "file"); }

// A .pt with this pickle and a storage of four floats.
Source with_pickle(std::string_view pickle) {
  std::vector<char> bytes;
  MemorySink sink(bytes);
  ZipWriter zip(sink);
  zip.add_text("a/data.pkl", pickle);
  const float values[4] = {1, 2, 3, 4};
  zip.add("a/data/0", values, sizeof values, 64);
  zip.finish();
  return Source::own(std::move(bytes), "hostile.pt");
}
using namespace std::string_literals;
// A tensor of four floats, whose offset, sizes and strides are given as pickled values.
std::string tensor_pickle(const std::string& offset, const std::string& sizes, const std::string& strides,
                          const std::string& numel = "K\x04") {
  return "\x80\x02"s +
         "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
         "0X\x03\0\0\0cpu"s +
         numel + "tQ" + offset + sizes + strides +
         "\x89"
         "ccollections\nOrderedDict\n)RtR.";
}

TEST(HostilePickle, NothingIsExecuted) {
  EXPECT_ERROR(IoError,
               load_pt(with_pickle("\x80\x02"
                                   "cos\nsystem\nX\x08\0\0\0touch /x\x85R."s)),
               "hostile.pt: byte 13 of the pickle: refused to load 'os.system'");
  for (const char* name : {"builtins\neval", "posix\nsystem", "builtins\ngetattr", "torch.jit\nload", "torch\nload",
                           "torch.storage\n_load_from_bytes", "numpy.core.multiarray\nscalar", "torch._utils\nexec"})
    EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x02"s + "c" + name + "\n.")), "refused to load");
  EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x04\x8C\x02os\x8C\x06system\x93.")), "refused to load 'os.system'");
}

TEST(HostilePickle, TensorsStayInsideTheirStorage) {
  EXPECT_EQ(
      load_pt(with_pickle(tensor_pickle("K\0"s, "K\x02K\x02\x86", "K\x02K\x01\x86"))).toTensor()[1][1].item<float>(),
      4);
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("K\x01", "K\x02K\x02\x86", "K\x02K\x01\x86"))),
               "reaches beyond its storage of 4 elements");
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("K\0"s, "K\x05\x85", "K\x01\x85"))), "reaches beyond");
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("J\xFF\xFF\xFF\xFF", "K\x02\x85", "K\x01\x85"))),
               "begins at -1");
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("K\0"s, "J\xFF\xFF\xFF\xFF\x85", "K\x01\x85"))), "size -1");
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("K\0"s, "K\x02\x85", "J\xFF\xFF\xFF\xFF\x85"))), "stride -1");
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("K\0"s, "K\x02\x85", "K\x01K\x01\x86"))),
               "1 sizes and 2 strides");
  const std::string huge = "\x8A\x08\0\0\0\0\0\0\0\x40"s;
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("K\0"s, huge + huge + "\x86", huge + huge + "\x86"))),
               "reaches beyond");
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("K\0"s, huge + huge + "\x86", "K\0K\0\x86"s))),
               "reaches beyond");
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("K\0"s, "K\x02\x85", "K\x01\x85", "K\x05"))),
               "storage '0' has 16 bytes (expected 5 elements of float32)");
  EXPECT_ERROR(IoError, load_pt(with_pickle(tensor_pickle("K\0"s, "K\x02\x85", "K\x01\x85", huge))),
               "storage '0' has 16 bytes");
}

// Newer PyTorch says beside the values that a tensor is to be negated.
TEST(Pickle, LazilyNegatedTensorsAreNegated) {
  std::string pickle = tensor_pickle("K\0"s, "K\x04\x85", "K\x01\x85");
  pickle.insert(pickle.size() - 3, "}X\x03\0\0\0neg\x88s"s);
  EXPECT_EQ(load_pt(with_pickle(pickle)).toTensor()[3].item<float>(), -4);
}

TEST(HostilePickle, GrowthAndNestingAreLimited) {
  // Lists of ten references to the list before: 10^12 values.
  std::string laughs = "\x80\x02(]q\0"s;
  for (char i = 1; i <= 12; i++) {
    laughs += "](";
    for (int k = 0; k < 10; k++) laughs += "h"s + static_cast<char>(i - 1);
    laughs += "eq"s + i;
  }
  EXPECT_ERROR(IoError, load_pt(with_pickle(laughs + "t.")), "shared containers grow");
  EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x02" + std::string(70, ']') + std::string(69, 'a') + ".")),
               "nested deeper");
  EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x02]q\0h\0a."s)), "nested deeper");  // a list in itself
  EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x02X\xFF\xFF\xFF\x7F."s)), "a text of 2147483647 bytes is cut off");
}

TEST(HostilePickle, AStackThatIsNotThereIsAnError) {
  for (std::string_view code : {"t",       "e",       "u",   "a",     "s",     "R", "b",    "Q",  "\x85", "\x86",
                                "\x87",    "0",       "2",   "q\x01", "h\x05", ".", "\x93", "(a", "](R.", "K\x01K\x02R",
                                "]K\x01s", "}K\x01u", "NN.", "i",     "\xFF",  "o", "I1\n", "("})
    EXPECT_THROW(load_pt(with_pickle("\x80\x02" + std::string(code) + ".")), IoError) << code;
  EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x02")), "the pickle is cut off");
  EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x09N.")), "protocol 9");
  EXPECT_ERROR(IoError, load_pt(with_pickle("ctorch\nSize\n.")), "stands where a value should");
}

// Whatever a reader does with these bytes, it throws an IoError or returns.
template <class Read>
int survive(const std::string& bytes, Read read, const std::string& what) {
  try {
    read(source_of(bytes));
    return 1;
  } catch (const IoError&) {
    return 0;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
    return 0;
  }
}

template <class Read>
void torture(const std::string& whole, Read read) {
  for (size_t length = 0; length < whole.size(); length++)
    EXPECT_EQ(survive(whole.substr(0, length), read, "cut at " + std::to_string(length)), 0) << "cut at " << length;
  for (size_t at = 0; at < whole.size(); at++)
    for (int bit = 0; bit < 8; bit++) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      survive(flipped, read, "bit " + std::to_string(bit) + " of byte " + std::to_string(at));
    }
}

StateDict small_state() {
  StateDict state;
  state.insert("w", arange(3.));
  state.insert("flag", tensor({1, 0}).to(kBool));
  return state;
}

TEST(Corruption, Pt) {
  const std::vector<char> bytes = pickle_save(to_value(small_state()));
  torture({bytes.begin(), bytes.end()}, [](const Source& source) { load_pt(source); });
}

TEST(Corruption, Safetensors) {
  std::vector<char> bytes;
  MemorySink sink(bytes);
  save_safetensors(sink, small_state(), Metadata({{"a", "b"}}));
  torture({bytes.begin(), bytes.end()}, [](const Source& source) { read_safetensors(source); });
}

TEST(Corruption, NpyAndNpz) {
  std::vector<char> one, many;
  MemorySink one_sink(one), many_sink(many);
  save_npy(one_sink, arange(3.));
  save_npz(many_sink, small_state());
  torture({one.begin(), one.end()}, [](const Source& source) { load_npy(source); });
  torture({many.begin(), many.end()}, [](const Source& source) { load_npz(source); });
}

// libtorch's C++ torch::save writes objects of a class Module, the ones below under mangled names.
TEST(Pickle, ArchivesOfLibtorchsAreDicts) {
  const std::string tensor = [] {
    const std::string whole = tensor_pickle("K\0"s, "K\x04\x85", "K\x01\x85");
    return whole.substr(2, whole.size() - 3);
  }();
  const std::string below = "c__torch__.___torch_mangle_12\nModule\n)\x81}(X\x01\0\0\0w"s + tensor + "ub",
                    start = "\x80\x02"s + "c__torch__\nModule\n)\x81";
  const IValue held = load_pt(with_pickle(start + "}(X\x05\0\0\0inner"s + below + "X\x01\0\0\0nK\x07ub."s));
  EXPECT_EQ(held.toDict().at("inner").toDict().at("w").toTensor()[3].item<float>(), 4);
  EXPECT_EQ(held.toDict().at("n").toInt(), 7);

  Tensor x;
  set_value(x, load_pt(with_pickle(start + "}(X\x01\0\0\0"s + "0" + tensor + "ub.")));
  EXPECT_EQ(x.numel(), 4);
  std::vector<Tensor> list;
  set_value(list,
            load_pt(with_pickle(start + "}(X\x01\0\0\0"s + "1" + tensor + "X\x01\0\0\0"s + "0" + tensor + "ub.")));
  EXPECT_EQ(list.size(), 2u);

  for (const char* other : {"__torch__.torch.nn\nModule", "__torch__.___torch_mangle_x\nModule", "__torch__\nNet"})
    EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x02"s + "c" + other + "\n)\x81.")), "is a TorchScript class");
  EXPECT_ERROR(IoError, load_pt(with_pickle(start + "Nb.")), "an archive that is filled with no dict");
  EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x02"s + "c__torch__\nModule\nK\x01\x85\x81.")), "with arguments");
  EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x02X\x07\0\0\0archive}b."s)), "sets attributes of what has none");
}

TEST(Pickle, ListsOfOneTypeInLibtorchsArchivesAreLists) {
  const std::string start = "\x80\x02"s + "ctorch.jit._pickle\nbuild_intlist\n";
  EXPECT_EQ(load_pt(with_pickle(start + "](K\x01K\x02" + "e\x85R.")).to<std::vector<int64_t>>(),
            (std::vector<int64_t>{1, 2}));
  EXPECT_ERROR(IoError, load_pt(with_pickle(start + "K\x01\x85R.")), "build_intlist without a list");
  EXPECT_ERROR(IoError, load_pt(with_pickle("\x80\x02"s + "ctorch.jit._pickle\nrestore_type_tag\n.")),
               "refused to load");
}

}  // namespace
}  // namespace cresset::io
