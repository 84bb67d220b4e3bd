// The aliases, in the order of PyTorch's documentation.
#include "cresset/ops/alias_table.h"

namespace cresset {

const std::vector<OpAlias>& op_aliases() {
  static const std::vector<OpAlias> table = {
      {"negative", "neg"},
      {"subtract", "sub"},
      {"multiply", "mul"},
      {"divide", "div"},
      {"true_divide", "div"},
      {"linalg::inv", "linalg_inv"},
      {"linalg::inv_ex", "linalg_inv_ex"},
      {"linalg::solve", "linalg_solve"},
      {"linalg::solve_ex", "linalg_solve_ex"},
      {"linalg::solve_triangular", "linalg_solve_triangular"},
      {"linalg::tensorinv", "linalg_tensorinv"},
      {"linalg::tensorsolve", "linalg_tensorsolve"},
      {"linalg::det", "linalg_det"},
      {"linalg::slogdet", "linalg_slogdet"},
      {"linalg::cholesky", "linalg_cholesky"},
      {"linalg::cholesky_ex", "linalg_cholesky_ex"},
      {"linalg::qr", "linalg_qr"},
      {"linalg::lu_factor", "linalg_lu_factor"},
      {"linalg::lu_factor_ex", "linalg_lu_factor_ex"},
      {"linalg::lu", "linalg_lu"},
      {"linalg::lu_solve", "linalg_lu_solve"},
      {"linalg::eigh", "linalg_eigh"},
      {"linalg::eigvalsh", "linalg_eigvalsh"},
      {"linalg::eig", "linalg_eig"},
      {"linalg::eigvals", "linalg_eigvals"},
      {"linalg::svd", "linalg_svd"},
      {"linalg::svdvals", "linalg_svdvals"},
      {"linalg::pinv", "linalg_pinv"},
      {"linalg::matrix_rank", "linalg_matrix_rank"},
      {"linalg::lstsq", "linalg_lstsq"},
      {"linalg::vector_norm", "linalg_vector_norm"},
      {"linalg::matrix_norm", "linalg_matrix_norm"},
      {"linalg::norm", "linalg_norm"},
      {"linalg::cond", "linalg_cond"},
      {"linalg::cross", "linalg_cross"},
      {"linalg::multi_dot", "linalg_multi_dot"},
      {"linalg::vecdot", "linalg_vecdot"},
      {"linalg::vander", "linalg_vander"},
      {"linalg::diagonal", "linalg_diagonal"},
      {"linalg_matrix_power", "matrix_power"},
      {"linalg::matrix_power", "matrix_power"},
      {"linalg_matrix_exp", "matrix_exp"},
      {"linalg::matrix_exp", "matrix_exp"},
      {"linalg_matmul", "matmul"},
      {"linalg::matmul", "matmul"},
      {"ger", "outer"},
  };
  return table;
}

}  // namespace cresset
