// What the tests of data parallelism share: processes that form a group, and small models on known data.
#pragma once

#include <cresset/cresset.h>

#include <functional>
#include <string>

#include "cresset/distributed/distributed.h"

namespace ddp_test {

using cresset::Tensor;
namespace nn = cresset::nn;
namespace dist = cresset::distributed;

// Runs the function in `ranks` processes that have formed the default group, and fails the test unless all end well.
// What a process throws becomes part of the failure.
void run(int ranks, const std::function<void(int rank)>& body);
// The same for processes that are meant to fail: each one's error.
std::vector<std::string> errors_of(int ranks, const std::function<void(int rank)>& body);

// In a process of run(): throws, with the line.
void require_at(bool holds, const char* what, const char* file, int line);
#define REQUIRE(...) ::ddp_test::require_at(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// Of one size; the largest difference, divided by the largest value of b.
double relative_difference(const Tensor& a, const Tensor& b);
bool same_bits(const Tensor& a, const Tensor& b);
// Throws unless the tensor has the same bits on all ranks.
void require_same_everywhere(const Tensor& tensor, const std::string& name);

// Linear layers with tanh between them.
nn::Sequential mlp(std::vector<int64_t> widths = {6, 16, 12, 4});
// The rows of `rank` of a batch that is the same on every rank.
Tensor rows_of(const Tensor& batch, int rank, int ranks);
Tensor mean_square(const Tensor& output, const Tensor& target);

}  // namespace ddp_test
