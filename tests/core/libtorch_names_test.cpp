// Names of libtorch that programs use beside its tensors: containers, guards, errors, threads, dispatch.
#include "cresset/torch.h"

#include <gtest/gtest.h>

#include "tests/support/message_when.h"

namespace {

template <class T>
std::string shown(const T& x) {
  const torch::PrintStyle before = torch::set_print_style(torch::PrintStyle::libtorch);
  std::ostringstream out;
  out << x;
  torch::set_print_style(before);
  return out.str();
}

TEST(LibtorchNames, AListIsSharedByItsCopies) {
  c10::List<int64_t> list({1, 2, 3});
  c10::List<int64_t> same = list, apart = list.copy();
  same.push_back(4);
  list[0] = 7;
  list.set(1, 9);
  EXPECT_EQ(same.vec(), (std::vector<int64_t>{7, 9, 3, 4}));
  EXPECT_EQ(apart.vec(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_TRUE(list.is(same) && list == same && !(list == apart));
  list.insert(list.begin(), 5);
  list.erase(list.begin() + 1);
  list.append(apart);
  list.pop_back();
  EXPECT_EQ(list.get(0), 5);
  int64_t sum = 0;
  for (int64_t value : list) sum += value;
  EXPECT_EQ(sum, 5 + 9 + 3 + 4 + 1 + 2);
  EXPECT_THROW(list.get(9), std::out_of_range);
  c10::List<bool> flags({true, false});
  EXPECT_FALSE(flags[1]);
}

TEST(LibtorchNames, IValuesHoldListsAndGiveThemBack) {
  const torch::IValue numbers = c10::List<int64_t>({3, 4}), words = c10::List<std::string>({"a", "b"});
  EXPECT_TRUE(numbers.isIntList());
  EXPECT_EQ(numbers.toIntList().get(1), 4);
  EXPECT_EQ(torch::IValue(std::vector<double>{0.5}).toDoubleList()[0], 0.5);
  EXPECT_EQ(torch::IValue(std::vector<torch::Tensor>{torch::ones({2})}).toTensorList().get(0).numel(), 2);
  EXPECT_EQ(words.toList().get(1).toStringRef(), "b");
  const c10::List<std::string> back = words.toList();
  EXPECT_EQ(back.vec(), (std::vector<std::string>{"a", "b"}));
  const torch::IValue pair = std::make_tuple(1, 2.0);
  EXPECT_EQ(pair.toTuple()->elements().size(), 2U);
}

TEST(LibtorchNames, IValuesPrint) {
  EXPECT_EQ(shown(torch::IValue()), "None");
  EXPECT_EQ(shown(torch::IValue(true)), "True");
  EXPECT_EQ(shown(torch::IValue(-3)), "-3");
  EXPECT_EQ(shown(torch::IValue(1.0)), "1.");
  EXPECT_EQ(shown(torch::IValue(1e20)), "1e+20");
  EXPECT_EQ(shown(torch::IValue(0.1)), "0.10000000000000001");
  EXPECT_EQ(shown(torch::IValue(std::numeric_limits<double>::infinity())), "inf");
  EXPECT_EQ(shown(torch::IValue("abc")), "abc");
  EXPECT_EQ(shown(torch::IValue(std::vector<double>{1, 2.5})), "[1., 2.5]");
  EXPECT_EQ(shown(torch::IValue(std::make_tuple(1, 2.0))), "(1, 2.)");
  EXPECT_EQ(shown(torch::IValue(std::tuple<int64_t>(1))), "(1,)");
  EXPECT_EQ(shown(torch::IValue(torch::ones({2}))), " 1\n 1\n[ CPUFloatType{2} ]");
  c10::Dict<std::string, int64_t> dict;
  EXPECT_EQ(shown(torch::IValue(dict)), "{}");
  dict.insert("k", 1);
  dict.insert("j", 2);
  EXPECT_EQ(shown(torch::IValue(dict)), "{k: 1, j: 2}");
}

TEST(LibtorchNames, SmallVectorsGrowAndAreShapes) {
  c10::SmallVector<int64_t, 4> sizes = {2, 3};
  sizes.append({4});
  sizes.append(2, 1);
  EXPECT_EQ(shown(sizes), "[2, 3, 4, 1, 1]");
  EXPECT_EQ(sizes.pop_back_val(), 1);
  EXPECT_EQ(torch::ones(sizes).sizes(), (at::IntArrayRef{2, 3, 4, 1}));
  const at::DimVector dims(torch::ones({5, 6}).sizes());
  EXPECT_EQ(shown(dims), "[5, 6]");
  EXPECT_EQ(shown(at::DimVector()), "[]");
  const at::IntArrayRef shape = c10::makeArrayRef(sizes);
  EXPECT_EQ(std::vector<int64_t>(shape.rbegin(), shape.rend()), (std::vector<int64_t>{1, 4, 3, 2}));
}

TEST(LibtorchNames, AnErrorMayCarryABacktrace) {
  const c10::Error error("no luck", "frame 0");
  EXPECT_STREQ(error.what(), "no luck\nframe 0");
  EXPECT_STREQ(error.what_without_backtrace(), "no luck");
  EXPECT_EQ(error.msg(), "no luck");
  EXPECT_EQ(error.backtrace(), "frame 0");
  EXPECT_EQ(c10::Error("plain").backtrace(), "");
  EXPECT_THROW(C10_THROW_ERROR(IndexError, "far"), c10::IndexError);
  EXPECT_THROW(TORCH_CHECK_LINALG(false, "singular"), c10::LinAlgError);
}

TEST(LibtorchNames, ThreadsKnowTheirNumber) {
  EXPECT_EQ(at::get_thread_num(), 0);
  EXPECT_FALSE(at::in_parallel_region());
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  std::vector<int> seen(3, -1);
  at::parallel_for(0, 3, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) seen[static_cast<size_t>(i)] = at::get_thread_num();
  });
  at::set_num_threads(before);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
  at::set_num_interop_threads(2);
  EXPECT_GE(at::get_num_interop_threads(), 1);
}

TEST(LibtorchNames, GeneratorsHaveADeviceAndAMutex) {
  at::Generator generator = at::detail::createCPUGenerator(3);
  EXPECT_EQ(generator.device(), torch::kCPU);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(5);
  EXPECT_EQ(generator.current_seed(), 5U);
}

TEST(LibtorchNames, DeviceGuardsGuardTheCpu) {
  const c10::DeviceGuard guard(torch::kCPU);
  EXPECT_EQ(guard.current_device(), torch::kCPU);
  EXPECT_EQ(guard.original_device(), torch::kCPU);
  at::OptionalDeviceGuard later;
  EXPECT_FALSE(later.current_device());
  later.reset_device(torch::kCPU);
  EXPECT_EQ(*later.current_device(), torch::kCPU);
  EXPECT_EQ(cresset::test::message_when([] { at::DeviceGuard cuda(torch::Device("cuda:1")); }),
            "DeviceGuard: found cuda:1 (expected cpu)");
}

TEST(LibtorchNames, CasesOfDispatchTakeMoreTypes) {
  auto size = [](torch::ScalarType type) {
    return AT_DISPATCH_SWITCH(
        type, "size", AT_DISPATCH_CASE_INTEGRAL_TYPES([] {
          return sizeof(scalar_t);
        }) AT_DISPATCH_CASE_FLOATING_TYPES_AND2(at::kHalf, at::kBool, [] { return 10 * sizeof(scalar_t); }));
  };
  EXPECT_EQ(size(torch::kInt), 4U);
  EXPECT_EQ(size(torch::kHalf), 20U);
  EXPECT_EQ(size(torch::kBool), 10U);
  EXPECT_THROW(size(torch::kBFloat16), c10::NotImplementedError);
  const auto any = [](torch::ScalarType type) {
    return AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kBool, at::kHalf, at::kBFloat16, type, "any",
                                                  [] { return sizeof(scalar_t); });
  };
  EXPECT_EQ(any(torch::kComplexDouble) + any(torch::kBFloat16), 18U);
}

TEST(LibtorchNames, EachScalarTypeIsNamed) {
  std::string names;
#define APPEND(type, name) names += std::string(#name) + std::to_string(sizeof(type)) + " ";
  AT_FORALL_SCALAR_TYPES_AND2(Bool, Half, APPEND)
#undef APPEND
  EXPECT_EQ(names, "Byte1 Char1 Short2 Int4 Long8 Float4 Double8 Bool1 Half2 ");
}

TEST(LibtorchNames, AViewIsSetToItsLike) {
  auto x = torch::arange(6).view({2, 3});
  EXPECT_TRUE(x.is_set_to(x.view({2, 3})));
  EXPECT_FALSE(x.is_set_to(x.view({3, 2})) || x.is_set_to(x.clone()) || x[0].is_set_to(x[1]));
  EXPECT_TRUE(x.sum_to_size({2, 3}).is_same(x));
  EXPECT_EQ(x.new_empty_strided({2, 2}, {1, 2}).strides(), (at::IntArrayRef{1, 2}));
  EXPECT_EQ(at::size(x, 1) + at::stride(x, 0), 6);
  EXPECT_EQ(at::infer_size({2, 1}, {3}), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(at::maybe_wrap_dim(-1, 3), 2);
}

}  // namespace
