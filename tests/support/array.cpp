// Arrays, their way to and from tensors, and comparisons whose messages name the first difference.
#include "tests/support/array.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/support/mock_device.h"

namespace cresset::test {

int64_t count(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (int64_t size : sizes) n *= size;
  return n;
}

Array Array::filled(std::vector<int64_t> sizes, Complex value) {
  auto n = static_cast<size_t>(count(sizes));
  return {std::move(sizes), std::vector<Complex>(n, value)};
}

Complex& Array::operator[](const Index& index) {
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); i++) at = at * sizes[i] + index[i];
  return values.at(static_cast<size_t>(at));
}

void for_each_index(const std::vector<int64_t>& sizes, const std::function<void(const Index&)>& f) {
  Index index(sizes.size(), 0);
  for (int64_t left = count(sizes); left > 0; left--) {
    f(index);
    for (size_t i = sizes.size(); i-- > 0;) {
      if (++index[i] < sizes[i]) break;
      index[i] = 0;
    }
  }
}

std::vector<int64_t> broadcast(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> sizes(std::max(a.size(), b.size()), 1);
  for (const auto* part : {&a, &b})
    for (size_t i = 0; i < part->size(); i++) {
      int64_t& size = sizes[sizes.size() - part->size() + i];
      if ((*part)[i] != 1) size = (*part)[i];
    }
  return sizes;
}

Array broadcast_to(const Array& x, const std::vector<int64_t>& sizes) {
  if (x.sizes == sizes) return x;
  size_t lead = sizes.size() - x.sizes.size();
  return gathered(x, sizes, [&](const Index& index) {
    Index from(index.begin() + static_cast<int64_t>(lead), index.end());
    for (size_t i = 0; i < from.size(); i++)
      if (x.sizes[i] == 1) from[i] = 0;
    return from;
  });
}

Array gathered(const Array& x, std::vector<int64_t> sizes, const std::function<Index(const Index&)>& from) {
  Array y = Array::filled(std::move(sizes));
  size_t at = 0;
  for_each_index(y.sizes, [&](const Index& index) { y.values[at++] = x[from(index)]; });
  return y;
}

Array reduced(const Array& x, std::vector<int64_t> dims, bool keepdim,
              const std::function<Complex(const std::vector<Complex>&)>& f) {
  std::vector<bool> gone(x.sizes.size(), dims.empty());
  for (int64_t dim : dims)
    if (x.rank() > 0) gone[static_cast<size_t>(dim < 0 ? dim + x.rank() : dim)] = true;
  std::vector<int64_t> kept, shown;
  for (size_t i = 0; i < gone.size(); i++) {
    kept.push_back(gone[i] ? 1 : x.sizes[i]);
    if (!gone[i] || keepdim) shown.push_back(kept.back());
  }
  std::vector<std::vector<Complex>> groups(static_cast<size_t>(count(kept)));
  for_each_index(x.sizes, [&](const Index& index) {
    int64_t at = 0;
    for (size_t i = 0; i < kept.size(); i++) at = at * kept[i] + (gone[i] ? 0 : index[i]);
    groups[static_cast<size_t>(at)].push_back(x[index]);
  });
  Array y{shown, {}};
  for (const auto& group : groups) y.values.push_back(f(group));
  return y;
}

namespace {

template <class T>
Complex number_of(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<double>(static_cast<float>(value));
  else if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else
    return Complex(value);
}

template <class T>
T element_of(Complex value) {
  if constexpr (std::is_same_v<T, bool>)
    return value != 0.0;
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return T(static_cast<float>(value.real()));
  else if constexpr (std::is_integral_v<T>)  // wraps, as the hardware does
    return std::isfinite(value.real()) ? static_cast<T>(static_cast<int64_t>(value.real())) : T(0);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value.real());
  else
    return T(value);
}

// f(position) in row-major order; a loop without calls, since large tensors come here often.
template <class F>
void for_each_element(const Tensor& tensor, F&& f) {
  IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  Index index(sizes.size(), 0);
  int64_t at = 0;
  for (int64_t left = tensor.numel(); left > 0; left--) {
    f(at);
    for (size_t i = sizes.size(); i-- > 0;) {
      at += strides[i];
      if (++index[i] < sizes[i]) break;
      at -= sizes[i] * strides[i];
      index[i] = 0;
    }
  }
}

std::string text_of_index(int64_t at, const std::vector<int64_t>& sizes) {
  Index index(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; at /= sizes[i]) index[i] = at % sizes[i];
  return text_of(index);
}

bool close(double found, double wanted, double allowed) {
  if (std::isnan(wanted) || std::isnan(found)) return std::isnan(wanted) && std::isnan(found);
  if (std::isinf(wanted) || std::isinf(found)) return wanted == found;
  return std::abs(found - wanted) <= allowed;
}

}  // namespace

Array read(const Tensor& tensor) {
  if (tensor.device().type() == DeviceType::Mock) return read(off_mock(tensor));
  Array array{tensor.sizes().vec(), {}};
  array.values.reserve(static_cast<size_t>(tensor.numel()));
  dispatch(tensor.dtype(), [&](auto* p) {
    auto* data = static_cast<decltype(p)>(tensor.impl()->data());
    for_each_element(tensor, [&](int64_t at) { array.values.push_back(number_of(data[at])); });
  });
  return array;
}

void write(const Tensor& tensor, const Array& array) {
  size_t next = 0;
  dispatch(tensor.dtype(), [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    auto* data = static_cast<T*>(tensor.impl()->data());
    for_each_element(tensor, [&](int64_t at) { data[at] = element_of<T>(array.values.at(next++)); });
  });
}

Tensor tensor_of(const Array& array, DType dtype) {
  Tensor tensor = empty_contiguous(array.sizes, dtype, kCPU);
  write(tensor, array);
  return tensor;
}

Complex stored_as(Complex value, DType dtype) {
  return dispatch(dtype, [&](auto* p) { return number_of(element_of<std::remove_pointer_t<decltype(p)>>(value)); });
}

Tolerance tolerance_of(DType dtype, double times) {
  switch (dtype) {
    case DType::Half:
      return {2e-3 * times, 1e-3 * times};
    case DType::BFloat16:
      return {1.6e-2 * times, 8e-3 * times};
    case DType::Float:
    case DType::ComplexFloat:
      return {4e-6 * times, 2e-6 * times};
    case DType::Double:
    case DType::ComplexDouble:
      return {1e-12 * times, 1e-13 * times};
    default:
      return {0, 0};
  }
}

::testing::AssertionResult near(const Array& found, const Array& wanted, Tolerance tolerance) {
  if (found.sizes != wanted.sizes)
    return ::testing::AssertionFailure() << "shape " << text_of(found.sizes) << " (wanted " << text_of(wanted.sizes)
                                         << ")";
  int64_t wrong = 0, first = -1;
  for (size_t i = 0; i < wanted.values.size(); i++) {
    Complex a = found.values[i], b = wanted.values[i];
    double size = std::isfinite(b.real()) && std::isfinite(b.imag()) ? std::abs(b) : 0;
    double allowed = tolerance.absolute + tolerance.relative * size;
    if (close(a.real(), b.real(), allowed) && close(a.imag(), b.imag(), allowed)) continue;
    if (wrong++ == 0) first = static_cast<int64_t>(i);
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << wrong << " of " << wanted.numel() << " elements differ; the first at "
                                       << text_of_index(first, wanted.sizes) << ": found "
                                       << found.values[static_cast<size_t>(first)] << ", wanted "
                                       << wanted.values[static_cast<size_t>(first)];
}

::testing::AssertionResult near(const Tensor& found, const Array& wanted, double tolerance_times) {
  Array rounded = wanted;
  for (Complex& value : rounded.values) value = stored_as(value, found.dtype());
  return near(read(found), rounded, tolerance_of(found.dtype(), tolerance_times));
}

::testing::AssertionResult same_bits(const Tensor& found, const Tensor& wanted) {
  if (!(found.sizes() == wanted.sizes()) || found.dtype() != wanted.dtype())
    return ::testing::AssertionFailure() << "found " << found.dtype() << text_of(found.sizes()) << ", wanted "
                                         << wanted.dtype() << text_of(wanted.sizes());
  return near(read(found), read(wanted), {0, 0});
}

::testing::AssertionResult same_geometry(const Tensor& found, const Tensor& wanted) {
  if (found.sizes() == wanted.sizes() && found.strides() == wanted.strides() && found.dtype() == wanted.dtype())
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "found " << found.dtype() << text_of(found.sizes()) << " with strides "
                                       << text_of(found.strides()) << ", wanted " << wanted.dtype()
                                       << text_of(wanted.sizes()) << " with strides " << text_of(wanted.strides());
}

}  // namespace cresset::test
