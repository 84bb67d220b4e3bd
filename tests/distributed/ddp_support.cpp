#include "ddp_support.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "processes.h"

namespace ddp_test {
namespace {

}  // namespace

void require_at(bool holds, const char* what, const char* file, int line) {
  if (!holds) throw std::runtime_error(std::string(std::strrchr(file, '/') + 1) + ":" + std::to_string(line) + ": " + what);
}

double relative_difference(const Tensor& a, const Tensor& b) {
  if (!(a.sizes() == b.sizes())) return INFINITY;
  cresset::NoGradGuard no_grad;
  const double apart = (a.detach().to(cresset::kDouble) - b.detach().to(cresset::kDouble)).abs().max().item<double>();
  const double size = b.detach().to(cresset::kDouble).abs().max().item<double>();
  return apart == 0 ? 0 : apart / size;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && dist::digest_of(a) == dist::digest_of(b);
}

void require_same_everywhere(const Tensor& tensor, const std::string& name) {
  REQUIRE(tensor.defined());
  try {
    dist::check_parameters(std::vector<Tensor>{tensor});
  } catch (const cresset::DistributedError& error) {
    throw std::runtime_error(name + " is not the same on all ranks: " + error.what());
  }
}

nn::Sequential mlp(std::vector<int64_t> widths) {
  nn::Sequential net;
  for (size_t i = 0; i + 1 < widths.size(); i++) {
    if (i > 0) net->push_back(nn::Tanh());
    net->push_back(nn::Linear(widths[i], widths[i + 1]));
  }
  return net;
}

Tensor rows_of(const Tensor& batch, int rank, int ranks) {
  const int64_t rows = batch.size(0) / ranks;
  return batch.slice(0, rank * rows, (rank + 1) * rows);
}

Tensor mean_square(const Tensor& output, const Tensor& target) { return (output - target).square().mean(); }

}  // namespace ddp_test
