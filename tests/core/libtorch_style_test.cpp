// A program as libtorch's users write it, compiled against cresset/torch.h.
#include "cresset/torch.h"

#include <gtest/gtest.h>

// User code reopens the namespace, so `torch` must be more than an alias.
namespace torch {
namespace my_extension {
Tensor twice(const Tensor& x) { return x * 2; }
}  // namespace my_extension
}  // namespace torch

namespace {

struct RampOptions {
  RampOptions(int64_t length) : length_(length) {}
  TORCH_ARG(int64_t, length);
  TORCH_ARG(double, slope) = 1.0;
  TORCH_ARG(c10::optional<at::ScalarType>, dtype) = c10::nullopt;
};

at::Tensor ramp(const RampOptions& options) {
  TORCH_CHECK_VALUE(options.length() >= 0, "ramp: length must not be negative, but got ", options.length());
  auto dtype = options.dtype() ? *options.dtype() : torch::kFloat32;
  return at::arange(options.length(), at::TensorOptions().dtype(dtype)).mul(options.slope());
}

double sum_of(const at::Tensor& x) {
  double sum = 0;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "sum_of", [&] {
    auto values = x.accessor<scalar_t, 1>();
    for (const auto i : c10::irange(values.size(0))) sum += values[i];
  });
  return sum;
}

TEST(LibtorchStyle, OptionsAreFluent) {
  auto x = ramp(RampOptions(4).slope(0.5).dtype(torch::kDouble));
  EXPECT_EQ(x.sizes(), at::IntArrayRef({4}));
  EXPECT_EQ(x.dtype(), torch::kFloat64);
  EXPECT_EQ(sum_of(x), 3.0);
  EXPECT_EQ(RampOptions(4).slope(0.5).slope(), 0.5);
}

TEST(LibtorchStyle, NamespacesHoldTheSameNames) {
  torch::Tensor a = torch::ones({2, 3}, torch::dtype(torch::kFloat32).requires_grad(true));
  at::Tensor b = torch::my_extension::twice(a);
  b.sum().backward();
  EXPECT_EQ(a.grad().sum().item<float>(), 12.f);
  c10::Scalar two = 2;
  c10::ArrayRef<int64_t> sizes = a.sizes();
  std::vector<int64_t> expected{2, 3};
  EXPECT_EQ(sizes, c10::IntArrayRef(expected));
  EXPECT_EQ(two.toInt(), 2);
  EXPECT_EQ(torch::Device(torch::kCPU), c10::Device(c10::DeviceType::CPU));
  EXPECT_EQ(c10::str("a", 1), "a1");
  at::optional<int64_t> none = torch::nullopt;
  EXPECT_FALSE(none.has_value());
}

TEST(LibtorchStyle, GradientsAreFoundByName) {
  auto x = torch::arange(1, 4, torch::TensorOptions().dtype(torch::kFloat32)).requires_grad_(true);
  auto y = (x * x).sum();
  auto first = torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  auto second = torch::autograd::grad({first.sum()}, {x})[0];
  EXPECT_EQ(second.select(0, 2).item<float>(), 2.f);
}

TEST(LibtorchStyle, ChecksThrowTypedErrorsWithTheirMessage) {
  try {
    ramp(RampOptions(-1));
    FAIL() << "a negative length was accepted";
  } catch (const c10::Error& e) {
    EXPECT_STREQ(e.what_without_backtrace(), "ramp: length must not be negative, but got -1");
  }
  EXPECT_THROW(TORCH_CHECK_INDEX(false, "index"), c10::IndexError);
  EXPECT_THROW(TORCH_CHECK_TYPE(false, "type"), c10::TypeError);
  EXPECT_THROW(TORCH_CHECK_NOT_IMPLEMENTED(false), c10::NotImplementedError);
  EXPECT_THROW(AT_ERROR("no ", 1), c10::Error);
  EXPECT_THROW(TORCH_INTERNAL_ASSERT(1 == 2, "odd"), c10::Error);
  EXPECT_NO_THROW(TORCH_CHECK(true));
}

TEST(LibtorchStyle, ACheckWithoutMessageNamesItsCondition) {
  try {
    TORCH_CHECK(1 > 2);
    FAIL() << "1 > 2";
  } catch (const c10::Error& e) {
    EXPECT_NE(std::string(e.what()).find("Expected 1 > 2 to be true"), std::string::npos);
  }
}

TEST(LibtorchStyle, DispatchRefusesOtherTypesByName) {
  try {
    sum_of(torch::ones({2}, torch::kInt));
    FAIL() << "int is no floating type";
  } catch (const c10::NotImplementedError& e) {
    EXPECT_STREQ(e.what(), "\"sum_of\" not implemented for 'Int'");
  }
}

// Other tests of this program want Cresset's own form.
struct PrintsAsLibtorch {
  torch::PrintStyle before = torch::set_print_style(torch::PrintStyle::libtorch);
  ~PrintsAsLibtorch() { torch::set_print_style(before); }
};

TEST(LibtorchStyle, TensorsPrint) {
  const PrintsAsLibtorch style;
  std::ostringstream out;
  out << torch::tensor({{1.5, 2.0}, {3.0, 4.25}});
  EXPECT_EQ(out.str(), " 1.5000  2.0000\n 3.0000  4.2500\n[ CPUFloatType{2,2} ]");
}

template <class T>
std::string printed(const T& x) {
  const PrintsAsLibtorch style;
  std::ostringstream out;
  out << x;
  return out.str();
}
TEST(LibtorchStyle, ADtypePrintsAsCppCallsItAndAScalarTypeByItsEnumerator) {
  auto x = torch::ones({2}, torch::kLong);
  EXPECT_EQ(printed(x.dtype()), "long int");
  EXPECT_EQ(printed(x.scalar_type()), "Long");
  EXPECT_EQ(printed(x.options().dtype()), "long int");
  EXPECT_EQ(printed(torch::get_default_dtype()), "float");
  EXPECT_EQ(x.dtype().name(), "long int");
  EXPECT_EQ(x.dtype().itemsize(), 8u);
  EXPECT_EQ(x.dtype().toScalarType(), torch::kLong);
  EXPECT_TRUE(x.dtype().isScalarType(torch::kLong) && x.dtype().isScalarType());
  EXPECT_TRUE(x.dtype().Match<int64_t>());
  EXPECT_EQ(x.dtype(), caffe2::TypeMeta::Make<int64_t>());
  EXPECT_EQ(torch::ones({1}, x.dtype()).to(torch::ones({1}).dtype()).dtype(), torch::kFloat);
  auto dtype = x.dtype();
  dtype = torch::kHalf;
  EXPECT_EQ(dtype, torch::scalarTypeToTypeMeta(torch::kHalf));
  EXPECT_EQ(torch::CppTypeToScalarType<double>::value, torch::kDouble);
}

TEST(LibtorchStyle, ATypePrintsComparesAndDispatches) {
  auto x = torch::ones({2});
  EXPECT_EQ(printed(x.type()), "CPUFloatType");
  EXPECT_EQ(x.type().toString(), x.toString());
  EXPECT_EQ(x.type(), torch::zeros({1}).type());
  EXPECT_NE(x.type(), torch::zeros({1}, torch::kInt).type());
  EXPECT_EQ(x.type().scalarType(), torch::kFloat);
  EXPECT_EQ(AT_DISPATCH_ALL_TYPES(x.type(), "size", [] { return sizeof(scalar_t); }), 4u);
}

TEST(LibtorchStyle, DispatchTakesMoreTypes) {
  auto size = [](torch::ScalarType type) {
    return AT_DISPATCH_ALL_TYPES_AND3(at::kBool, at::kHalf, at::kBFloat16, type, "size",
                                      [] { return sizeof(scalar_t); });
  };
  EXPECT_EQ(size(torch::kBool), 1u);
  EXPECT_EQ(size(torch::kBFloat16), 2u);
  EXPECT_THROW(size(torch::kComplexFloat), c10::NotImplementedError);
  EXPECT_EQ(AT_DISPATCH_INDEX_TYPES(torch::kLong, "index", [] { return sizeof(index_t); }), 8u);
  EXPECT_EQ(
      AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(at::kHalf, torch::kHalf, "size", [] { return sizeof(scalar_t); }),
      2u);
}

TEST(LibtorchStyle, AStorageIsAHandleOnTheMemory) {
  auto x = torch::ones({4});
  auto tail = x.slice(0, 2);
  torch::Storage storage = tail.storage();
  EXPECT_EQ(storage.data(), x.data_ptr());
  EXPECT_EQ(storage.nbytes(), 16u);
  EXPECT_EQ(storage.device(), torch::kCPU);
  EXPECT_TRUE(storage.is_alias_of(x.storage()));
  EXPECT_FALSE(storage.is_alias_of(torch::ones({4}).storage()));
  EXPECT_EQ(storage.use_count(), 3u);  // x, tail and the handle
}

TEST(LibtorchStyle, QuestionsAboutATensor) {
  const auto x = torch::ones({1});
  EXPECT_TRUE(x.has_storage());
  EXPECT_FALSE(torch::Tensor().has_storage());
  EXPECT_FALSE(x.is_mkldnn());
  EXPECT_FALSE(x.pin_memory().is_pinned());
  EXPECT_EQ(x.const_data_ptr(), x.data_ptr());
  EXPECT_TRUE(x.is_nonzero());
  EXPECT_TRUE(x.is_same_size(torch::zeros({1})));
  EXPECT_FALSE(x.is_same_size(torch::zeros({1, 1})));
}

TEST(LibtorchStyle, IndicesPrint) {
  using namespace torch::indexing;
  EXPECT_EQ(printed(Slice(1, 5, 2)), "1:5:2");
  EXPECT_EQ(printed(Slice()), "0:9223372036854775807:1");
  EXPECT_EQ(Slice(2, None).start(), 2);
  EXPECT_EQ(printed(std::vector<TensorIndex>{3, None, "...", Slice(0, 3), true}), "(3, None, ..., 0:3:1, true)");
  EXPECT_EQ(printed(TensorIndex(torch::tensor(2))), "2\n[ CPULongType{} ]");
}

TEST(LibtorchStyle, SmallThingsPrint) {
  const PrintsAsLibtorch style;
  EXPECT_EQ(printed(at::Half(0.5f)), "0.5");
  EXPECT_EQ(printed(at::BFloat16(1.5f)), "1.5");
  EXPECT_EQ(printed(torch::MemoryFormat::ChannelsLast), "ChannelsLast");
  std::ostringstream out;
  out << torch::ones({2, 3}).sizes().vec() << '|' << std::vector<double>{0.5};
  EXPECT_EQ(out.str(), "2 3|0.5");
  testing::internal::CaptureStdout();
  torch::print(torch::tensor(1.5));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "1.5\n[ CPUFloatType{} ]");
}

TEST(LibtorchStyle, ForBlobNamesTheArguments) {
  float data[] = {1, 2, 3, 4, 5};
  int freed = 0;
  {
    auto x =
        torch::for_blob(data, {2, 2}).strides({1, 2}).storage_offset(1).deleter([&](void*) { freed++; }).make_tensor();
    EXPECT_EQ(x.tolist<float>(), (std::vector<float>{2, 4, 3, 5}));
  }
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(at::for_blob(data, {1}).options(torch::kInt).target_device(torch::kCPU).make_tensor().dtype(), torch::kInt);
}

TEST(LibtorchStyle, ParallelReduceFoldsInOrder) {
  auto text = at::parallel_reduce(
      0, 50, 3, std::string(),
      [](int64_t first, int64_t last, std::string start) {
        for (; first < last; first++) start += std::to_string(first);
        return start;
      },
      std::plus<std::string>());
  std::string expected;
  for (int i = 0; i < 50; i++) expected += std::to_string(i);
  EXPECT_EQ(text, expected);
  EXPECT_EQ(at::divup(7, 3), 3);
}
TEST(LibtorchStyle, ComplexTensorsPrintBothParts) {
  using C = c10::complex<float>;
  EXPECT_EQ(printed(torch::tensor({C(1, 2), C(3, -4)})), "[1.+2.j, 3.-4.j]\n[ CPUComplexFloatType{2} ]");
  EXPECT_EQ(printed(torch::tensor({C(1.5, 2), C(3, -4)}).view({1, 2})),
            "[[1.5000+2.j, 3.0000-4.j]]\n[ CPUComplexFloatType{1,2} ]");
  EXPECT_EQ(printed(torch::tensor(C(1, 2))), "1.+2.j\n[ CPUComplexFloatType{} ]");
  EXPECT_EQ(printed(torch::empty({0, 2}, torch::kComplexDouble)), "[ CPUComplexDoubleType{0,2} ]");
}

TEST(LibtorchStyle, ADeviceTypeIsEnoughForTo) {
  auto x = torch::ones({2}, torch::kFloat);
  EXPECT_TRUE(x.to(torch::kCPU).is_same(x));
  EXPECT_FALSE(x.to(torch::kCPU, /*non_blocking=*/false, /*copy=*/true).is_same(x));
  EXPECT_EQ(x.to(torch::kCPU, torch::kDouble).dtype(), torch::kDouble);
  EXPECT_TRUE(x.to(torch::kMeta).is_meta());
}

TEST(LibtorchStyle, FillTakesATensor) {
  auto x = torch::zeros({2, 3});
  x.fill_(torch::tensor(2.5));
  EXPECT_EQ(x.sum().item<float>(), 15);
  auto value = torch::tensor(3.0, torch::requires_grad());
  auto y = torch::zeros({4});
  y.fill_(value);
  y.sum().backward();
  EXPECT_EQ(value.grad().item<float>(), 4);
  try {
    x.fill_(torch::ones({1}));
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what(),
                 "fill_: only supports 0-dimension value tensor but got tensor with 1 dimensions (shape [1])");
  }
}

TEST(LibtorchStyle, PackedAccessorsReadAndWrite) {
  auto x = torch::arange(6, torch::kFloat).view({2, 3});
  torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> a =
      x.packed_accessor32<float, 2, torch::RestrictPtrTraits>();
  a[1][2] = 9;
  EXPECT_EQ((x.packed_accessor64<float, 2>()[1][2]), 9);
  EXPECT_EQ(a.size(1), 3);
  EXPECT_THROW((torch::empty({1}, torch::kFloat).expand({int64_t{1} << 31}).packed_accessor32<float, 1>()), c10::Error);
}

TEST(LibtorchStyle, PrintSaysWhatItIs) {
  testing::internal::CaptureStderr();
  torch::ones({2, 3}).print();
  torch::Tensor().print();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[CPUFloatType [2, 3]]\n[UndefinedTensor]\n");
}

TEST(LibtorchStyle, CudaSeedsAreTheDefaultGenerators) {
  torch::cuda::manual_seed_all(7);
  auto x = torch::rand({3});
  torch::manual_seed(7);
  EXPECT_TRUE(torch::equal(x, torch::rand({3})));
}

TEST(LibtorchStyle, CrossEntropyLossIsCrossEntropy) {
  auto x = torch::rand({2, 3}), target = torch::tensor({0, 2});
  EXPECT_TRUE(
      torch::equal(torch::cross_entropy_loss(x, target), at::cross_entropy_loss(x, target, {}, at::Reduction::Mean)));
}

TEST(LibtorchStyle, NamesThatProgramsUse) {
  EXPECT_EQ(torch::str("a", 1, 2.5, 'b'), "a12.5b");
  EXPECT_EQ(c10::str("a", 1), "a1");
  auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
  EXPECT_EQ(generator.current_seed(), 5u);
  {
    torch::autograd::AutoGradMode off(false);
    EXPECT_FALSE(torch::GradMode::is_enabled());
  }
  torch::autograd::AnomalyMode::set_enabled(true, false);
  EXPECT_TRUE(torch::autograd::AnomalyMode::is_enabled());
  EXPECT_FALSE(torch::autograd::AnomalyMode::should_check_nan());
  torch::autograd::AnomalyMode::set_enabled(false);
  {
    torch::amp::Autocast guard(torch::kBFloat16);
    EXPECT_TRUE(torch::amp::Autocast::is_enabled());
  }
}

// Without an include of its own, as programs have it from torch/torch.h.
TEST(LibtorchStyle, TheStandardLibraryComesWithIt) {
  std::map<int, int> map{{1, 2}};
  std::vector<int> numbers(3);
  std::iota(numbers.begin(), numbers.end(), map[1]);
  std::ostringstream text;
  text << std::setw(3) << *std::max_element(numbers.begin(), numbers.end());
  EXPECT_EQ(text.str(), "  4");
  std::mt19937 random(1);
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::thread([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }).join();
  EXPECT_FALSE(std::ifstream("/nowhere").good());
}

}  // namespace
