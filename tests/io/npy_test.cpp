// NumPy's files, both ways.
#include "cresset/io/npy.h"

#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"
#include "tests/io/support.h"

namespace cresset::io {
namespace {

using test::TempFolder;

Source npy(const std::string& header, size_t data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  if (version > 1) bytes += std::string(2, '\0');
  bytes += header + std::string(data, '\1');
  return Source::own({bytes.begin(), bytes.end()}, "x.npy");
}

TEST(Npy, RoundTripsKeepDtypeAndShape) {
  TempFolder folder;
  for (int i = 0; i < kDTypes; i++) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == kBFloat16) continue;
    const Tensor x = tensor({{0., 1.}, {2., 100.}}).to(dtype).t();
    save_npy(folder / "x.npy", x);
    EXPECT_TRUE(equal(load_npy(folder / "x.npy"), x)) << name_of(dtype);
  }
  for (const Tensor& x : {tensor(2.5), empty({0, 3}), arange(7.), zeros({1, 2, 3, 4, 5})}) {
    save_npy(folder / "x.npy", x);
    EXPECT_EQ(load_npy(folder / "x.npy").sizes(), x.sizes());
  }
  EXPECT_ERROR(IoError, save_npy(folder / "b.npy", ones({2}, kBFloat16)), "bfloat16, which NumPy does not have");
}

TEST(Npy, HeadersThatLieAreNamed) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(load_npy(npy(good, 8)).numel(), 2);
  EXPECT_EQ(load_npy(npy(good, 8, 2)).numel(), 2);
  EXPECT_ERROR(IoError, load_npy(npy(good, 7)), "has 7 bytes of data, which are no float32 of shape [2]");
  EXPECT_ERROR(IoError, load_npy(npy(good, 9)), "has 9 bytes of data");
  EXPECT_ERROR(IoError,
               load_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}", 0)),
               "has 0 bytes of data, which are no float32 of shape [4294967296, 4294967296, 0]");
  EXPECT_ERROR(IoError, load_npy(npy(good, 8, 4)), "format version 4");
  EXPECT_ERROR(IoError, load_npy(npy("{'descr': '<f4', 'fortran_order': False}", 8)), "lacks");
  EXPECT_ERROR(IoError, load_npy(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", 8)), "damaged at byte");
  EXPECT_ERROR(IoError, load_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8)),
               "damaged at byte");
  EXPECT_ERROR(IoError, load_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 8)),
               "64 bits do not hold");
  EXPECT_ERROR(IoError,
               load_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000000000000, 9,)}", 8)),
               "has 8 bytes of data");
  EXPECT_ERROR(IoError, load_npy(Source::own({'x'}, "x")), "cut off");
  EXPECT_ERROR(IoError, load_npy(Source::own(std::vector<char>(20, 'x'), "x")), "not a NumPy file");
}

TEST(NpyExchange, CressetReadsWhatNumPyWrote) {
  TempFolder folder;
  auto ran = test::run_script("io/exchange.py", "write numpy " + folder.path());
  SKIP_OR_EXPECT_SUCCESS(ran, "NumPy");
  const Tensor small = tensor({{0., 1.}, {2., 100.}});
  const std::pair<const char*, DType> files[] = {{"b1", kBool},
                                                 {"u1", kByte},
                                                 {"i1", kChar},
                                                 {"li2", kShort},
                                                 {"li4", kInt},
                                                 {"li8", kLong},
                                                 {"lf2", kHalf},
                                                 {"lf4", kFloat},
                                                 {"lf8", kDouble},
                                                 {"lc8", kComplexFloat},
                                                 {"lc16", kComplexDouble},
                                                 {"bi4", kInt},
                                                 {"bf8", kDouble},
                                                 {"bc8", kComplexFloat}};
  for (const auto& [name, dtype] : files) EXPECT_TRUE(equal(load_npy(folder / name + ".npy"), small.to(dtype))) << name;
  const Tensor x = arange(24.).to(kFloat).view({2, 3, 4});
  EXPECT_TRUE(equal(load_npy(folder / "fortran.npy"), x));
  EXPECT_EQ(load_npy(folder / "fortran.npy").strides(), IntArrayRef({1, 2, 6}));
  EXPECT_EQ(load_npy(folder / "scalar.npy").dim(), 0);
  EXPECT_EQ(load_npy(folder / "empty.npy").sizes(), IntArrayRef({0, 3}));
  for (const char* version : {"1", "2", "3"}) EXPECT_TRUE(equal(load_npy(folder / "version" + version + ".npy"), x));
  EXPECT_ERROR(IoError, load_npy(folder / "object.npy"), "Python objects");
  EXPECT_ERROR(IoError, load_npy(folder / "struct.npy"), "structures");
  EXPECT_ERROR(IoError, load_npy(folder / "text.npy"), "dtype '<U2'");
  EXPECT_ERROR(IoError, load_npy(folder / "unsigned.npy"), "dtype '<u4'");
  const StateDict plain = load_npz(folder / "plain.npz"), packed = load_npz(folder / "packed.npz");
  EXPECT_TRUE(equal(plain["x"], x));
  EXPECT_TRUE(equal(packed["x"], x.repeat({50, 1, 1})));
  EXPECT_TRUE(equal(packed["y"], arange(3)));
}

TEST(NpyExchange, NumPyReadsWhatCressetWrote) {
  TempFolder folder;
  const Tensor x = arange(24.).to(kFloat).view({2, 3, 4});
  save_npy(folder / "x.npy", x);
  save_npy(folder / "t.npy", x.permute({2, 1, 0}));
  save_npy(folder / "one.npy", arange(5));
  save_npy(folder / "scalar.npy", tensor(2.5));
  StateDict all;
  for (int i = 0; i < kDTypes; i++)
    if (static_cast<DType>(i) != kBFloat16)
      all.insert(name_of(static_cast<DType>(i)), tensor({0., 1., 2., 100.}).to(static_cast<DType>(i)));
  save_npz(folder / "all.npz", all);
  auto ran = test::run_script("io/exchange.py", "check numpy " + folder.path());
  SKIP_OR_EXPECT_SUCCESS(ran, "NumPy");
}

}  // namespace
}  // namespace cresset::io
