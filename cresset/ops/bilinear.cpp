// bilinear as two products of matrices: input1 meets all weights, and what comes out meets input2 row by row.
#include "cresset/ops/bilinear.h"

#include "cresset/ops/forms.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"

namespace cresset {

static const Op& bilinear_op = define_op("bilinear", &bilinear, "input1, input2, weight, bias={}",
                                         "The bilinear form of two inputs for each of weight's matrices, plus bias.",
                                         {.gradient = Gradient::composed, .where = Where::function});

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) try {
  CRESSET_INTERCEPT(bilinear, , Tensor, input1, input2, weight, bias);
  CRESSET_CHECK_AS(ShapeError, input1.dim() > 0 && input1.dim() == input2.dim(),
                   "bilinear(): input dimensions do not match: got ", input1.dim(), " and ", input2.dim());
  for (int64_t d = 0; d + 1 < input1.dim(); d++)
    CRESSET_CHECK_AS(ShapeError, input1.size(d) == input2.size(d),
                     "bilinear(): input batch dimensions do not match at dim ", d, ": got ", input1.size(d), " and ",
                     input2.size(d));
  CRESSET_CHECK_AS(ShapeError, weight.dim() == 3, "bilinear(): weight has shape ", text_of(weight.sizes()),
                   " (expected three dimensions)");
  const int64_t outputs = weight.size(0), first = weight.size(1), second = weight.size(2);
  CRESSET_CHECK_AS(ShapeError, input1.size(-1) == first, "bilinear(): input1 size does not match weight size: got ",
                   input1.size(-1), " but expected ", first);
  CRESSET_CHECK_AS(ShapeError, input2.size(-1) == second, "bilinear(): input2 size does not match weight size: got ",
                   input2.size(-1), " but expected ", second);
  CRESSET_CHECK_AS(ShapeError, !bias.defined() || (bias.dim() == 1 && bias.size(0) == outputs),
                   "bilinear(): bias size does not match weight size: got ",
                   bias.defined() ? text_of(bias.sizes()) : "", " but expected ", outputs);
  Dims sizes(input1.sizes());
  sizes[sizes.rank() - 1] = outputs;
  CRESSET_CHECK_AS(TypeError,
                   input1.dtype() == weight.dtype() && input2.dtype() == weight.dtype() &&
                       (!bias.defined() || bias.dtype() == weight.dtype()),
                   "bilinear(): expected scalar type ", toString(weight.dtype()), " but found inputs of ",
                   toString(input1.dtype()), " and ", toString(input2.dtype()));
  const int64_t rows = input1.numel() / std::max<int64_t>(first, 1);
  CRESSET_CHECK_AS(ShapeError, first > 0 && second > 0, "bilinear(): found inputs of size ", first, " and ", second,
                   " (expected at least 1)");
  if (compute_dtype(weight.dtype()) != weight.dtype())  // what lies between is not rounded
    return bilinear(input1.to(kFloat), input2.to(kFloat), weight.to(kFloat), bias.defined() ? bias.to(kFloat) : bias)
        .to(weight.dtype());
  Tensor met = mm(reshape(input1, {rows, first}), reshape(permute(weight, {1, 0, 2}), {first, outputs * second}));
  Tensor y = bmm(reshape(met, {rows, outputs, second}), reshape(input2, {rows, second, 1}));
  y = reshape(y, sizes);
  return bias.defined() ? add(y, bias) : y;
}
CRESSET_ERRORS_OF(bilinear, , input1, input2, weight, bias)

}  // namespace cresset
