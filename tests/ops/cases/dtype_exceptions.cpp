#include "tests/ops/cases/dtype_exceptions.h"

#include <algorithm>

namespace cresset::test {

const std::vector<DTypeException>& dtype_exceptions() {
  static const std::vector<DType> complex{kComplex64, kComplex128}, integers{kUInt8, kInt8, kInt16, kInt32, kInt64};
  static const std::vector<DTypeException> all = {
      {{"complex", "view_as_complex"}, {kFloat16}, "makes complex32, a type that is not here"},
      {{"inner", "einsum", "matrix_power"},
       {kBool},
       "some shapes of bool work there by chance, for want of a check; products of bool matrices do not"},
      {{"scatter_reduce"}, complex, "complex numbers have no order; it notices only where two of them meet"},
      {{"soft_margin_loss"}, complex, "there is nothing to minimise"},
      {{"affine_grid_generator"}, integers, "a grid of whole numbers, cut off, samples corners only"},
      {{"affine_grid_generator"}, complex, "nothing can be sampled at complex places"},
      {{"rnn_tanh_cell", "rnn_relu_cell", "rnn_relu"}, integers, "no weights of whole numbers can be trained"},
      {{"rnn_tanh_cell", "lstm_cell", "gru_cell", "lstm", "gru", "rnn_tanh"},
       complex,
       "composed there of ops that happen to take them; the kernels here are of real numbers"},
  };
  return all;
}

bool is_excepted(const OpCase& op_case, DType dtype) {
  for (const DTypeException& one : dtype_exceptions())
    if (std::count(one.ops.begin(), one.ops.end(), op_case.name) &&
        std::count(one.dtypes.begin(), one.dtypes.end(), dtype))
      return true;
  return false;
}

}  // namespace cresset::test
