// histogram with a number of bins beside libtorch's; with edges it is compared by its op case.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cresset/ops/all.h"
#include "tests/parity/torch_twin.h"

namespace cresset {
namespace {

using parity::torch_twin;

TEST(HistogramParity, NumberOfBins) {
  manual_seed(8);
  const double given[] = {-1, 1.5};
  for (DType dtype : {kFloat, kDouble})
    for (int64_t bins : {1, 4, 10, 64})
      for (bool ranged : {false, true})
        for (bool weighted : {false, true})
          for (bool density : {false, true}) {
            SCOPED_TRACE(message_of(name_of(dtype), ", bins ", bins, ranged ? ", ranged" : "",
                                    weighted ? ", weighted" : "", density ? ", density" : ""));
            const Tensor x = randn({30, 7}, dtype), weight = rand({30, 7}, dtype);
            std::optional<ArrayRef<double>> range;
            c10::optional<at::ArrayRef<double>> their_range;
            if (ranged) range = given, their_range = at::ArrayRef<double>(given, 2);
            auto [hist, edges] = x.histogram(bins, range, weighted ? weight : Tensor(), density);
            auto [their_hist, their_edges] =
                at::histogram(torch_twin(x), bins, their_range,
                              weighted ? c10::optional<at::Tensor>(torch_twin(weight)) : c10::nullopt, density);
            const double tolerance = dtype == kFloat ? 1e-5 : 1e-12;
            EXPECT_TRUE(at::allclose(torch_twin(hist), their_hist, tolerance, tolerance));
            EXPECT_TRUE(at::allclose(torch_twin(edges), their_edges, tolerance, tolerance));
          }
}

TEST(HistogramParity, ConstantDataAndRefusals) {
  const Tensor same = full({5}, 2.f), none = empty({0});
  for (const Tensor& x : {same, none}) {
    auto [hist, edges] = histogram(x, 3);
    auto [their_hist, their_edges] = at::histogram(torch_twin(x), 3);
    EXPECT_TRUE(at::equal(torch_twin(hist), their_hist));
    EXPECT_TRUE(at::allclose(torch_twin(edges), their_edges));
  }
  const double backwards[] = {2, 1}, single[] = {2};
  EXPECT_THROW(histogram(same, 3, backwards), ValueError);
  EXPECT_ANY_THROW(at::histogram(torch_twin(same), 3, at::ArrayRef<double>(backwards, 2)));
  EXPECT_THROW(histogram(same, 3, single), ValueError);
  EXPECT_ANY_THROW(at::histogram(torch_twin(same), 3, at::ArrayRef<double>(single, 1)));
}

}  // namespace
}  // namespace cresset
