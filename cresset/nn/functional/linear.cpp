#include "cresset/nn/functional/linear.h"

#include "cresset/ops/bilinear.h"
#include "cresset/ops/matmul.h"

namespace cresset::nn::functional {

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return cresset::linear(input, weight, bias);
}
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  return cresset::bilinear(input1, input2, weight, bias);
}

}  // namespace cresset::nn::functional
