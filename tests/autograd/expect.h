// Short words for the autograd tests: tensors from values, values from tensors, errors by type and words.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cresset/cresset.h"

namespace cresset {

inline Tensor tensor_of(const std::vector<double>& values, IntArrayRef sizes, DType dtype = kFloat) {
  Tensor x = empty(sizes, kDouble);
  for (size_t i = 0; i < values.size(); i++) x.data_ptr<double>()[i] = values[i];
  return x.to(dtype);
}
inline Tensor leaf_of(const std::vector<double>& values, DType dtype = kFloat) {
  return tensor_of(values, {static_cast<int64_t>(values.size())}, dtype).requires_grad_();
}
inline Tensor leaf_of(const std::vector<double>& values, IntArrayRef sizes, DType dtype = kFloat) {
  return tensor_of(values, sizes, dtype).requires_grad_();
}

inline std::vector<double> values_of(const Tensor& x) {
  if (!x.defined()) return {};
  Tensor flat = x.detach().to(kDouble).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}
using Numbers = std::vector<double>;

// The message of the error of type E that `act` throws; empty, with a failure, if it does not.
template <class E, class F>
std::string error_of(F&& act) {
  try {
    act();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw another type: " << error.what();
    return {};
  }
  ADD_FAILURE() << "did not throw";
  return {};
}

}  // namespace cresset

// EXPECT_ERROR(AutogradError, "leaf", x.add_(1));
#define EXPECT_ERROR(Type, words, ...)                                                                  \
  do {                                                                                                  \
    std::string message = ::cresset::error_of<::cresset::Type>([&] { (void)(__VA_ARGS__); });           \
    EXPECT_NE(message.find(words), std::string::npos) << "wanted: " << words << "\nfound: " << message; \
  } while (false)
