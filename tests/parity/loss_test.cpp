// ctc_loss beside libtorch's, behind log_softmax: there the two gradients are the same, though not before it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cresset/ops/all.h"
#include "tests/parity/torch_twin.h"

namespace cresset {
namespace {

using parity::torch_twin;

void expect_near_torch(const Tensor& ours, const at::Tensor& theirs) {
  EXPECT_TRUE(at::allclose(torch_twin(ours), theirs, 1e-10, 1e-10, /*equal_nan=*/true))
      << torch_twin(ours) << "\nlibtorch:\n"
      << theirs;
}

struct Batch {
  std::vector<int64_t> times, lengths;
};

TEST(CtcParity, LossAndGradientBehindLogSoftmax) {
  manual_seed(3);
  for (int64_t reduction : {0, 1, 2})
    for (bool zero_infinity : {false, true})
      for (const Batch& batch : {Batch{{12, 10, 12}, {4, 0, 5}}, Batch{{12, 12, 2}, {5, 1, 2}}}) {
        Tensor x = randn({12, 3, 6}, kDouble), targets = randint(1, 6, {3, 5}, kLong);
        at::Tensor twin = torch_twin(x).requires_grad_();
        x.requires_grad_();
        Tensor loss = ctc_loss(log_softmax(x, 2), targets, batch.times, batch.lengths, 0, reduction, zero_infinity);
        at::Tensor theirs = at::ctc_loss(at::log_softmax(twin, 2), torch_twin(targets), batch.times, batch.lengths, 0,
                                         reduction, zero_infinity);
        expect_near_torch(loss.detach(), theirs.detach());
        sum(loss).backward();
        theirs.sum().backward();
        expect_near_torch(x.grad(), twin.grad());
      }
}

TEST(CtcParity, TargetsInARow) {
  manual_seed(4);
  Tensor x = log_softmax(randn({9, 2, 4}, kFloat), 2).to(kDouble), targets = randint(1, 4, {5}, kLong);
  Tensor times = tensor({9, 7}), lengths = tensor({2, 3});
  expect_near_torch(ctc_loss(x, targets, times, lengths),
                    at::ctc_loss(torch_twin(x), torch_twin(targets), torch_twin(times), torch_twin(lengths)));
}

}  // namespace
}  // namespace cresset
