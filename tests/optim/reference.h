// The small problem that reference.py runs in PyTorch, and what it printed.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cresset/cresset.h"

namespace cresset::testing {

inline constexpr int kReferenceSteps = 50;

// Numbers in [-1, 1) by a linear congruential generator: exact in float32.
std::vector<double> noise(int64_t count, int64_t seed);
Tensor noise_tensor(IntArrayRef sizes, int64_t seed, DType dtype);

std::vector<Tensor> reference_parameters(DType dtype);
// gradient = noise + p / 2: nothing in it is rounded differently from PyTorch
void set_reference_gradients(const std::vector<Tensor>& params, int step);
// All elements of all tensors, as double.
std::vector<double> flat_values(const std::vector<Tensor>& tensors);

struct Reference {
  std::map<std::string, std::vector<double>> runs;       // "adam float64", "lr step"
  std::map<std::string, std::vector<std::string>> keys;  // "state adam", "group adam", "schedule step"
  std::map<std::string, IValue::Dict> saved;             // "adam": what state_dict()["state"] holds
  bool available = false;
};
// Runs the script once. A test begins with: if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
const Reference& reference();

}  // namespace cresset::testing
