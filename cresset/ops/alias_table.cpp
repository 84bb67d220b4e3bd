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
      {"absolute", "abs"},
      {"arcsin", "asin"},
      {"arccos", "acos"},
      {"arctan", "atan"},
      {"arcsinh", "asinh"},
      {"arccosh", "acosh"},
      {"arctanh", "atanh"},
      {"fix", "trunc"},
      {"special::expit", "sigmoid"},
      {"special::erf", "erf"},
      {"special::erfc", "erfc"},
      {"special::erfinv", "erfinv"},
      {"special::exp2", "exp2"},
      {"special::expm1", "expm1"},
      {"special::log1p", "log1p"},
      {"special::digamma", "digamma"},
      {"special::psi", "digamma"},
      {"special::gammaln", "lgamma"},
      {"special::logit", "logit"},
      {"special::sinc", "sinc"},
      {"special::round", "round"},
      {"special::i0", "i0"},
      {"special::polygamma", "polygamma"},
      {"special::multigammaln", "mvlgamma"},
      {"special::i0e", "special_i0e"},
      {"special::i1", "special_i1"},
      {"special::i1e", "special_i1e"},
      {"special::entr", "special_entr"},
      {"special::erfcx", "special_erfcx"},
      {"special::ndtr", "special_ndtr"},
      {"special::ndtri", "special_ndtri"},
      {"special::log_ndtr", "special_log_ndtr"},
      {"special::bessel_j0", "special_bessel_j0"},
      {"special::bessel_j1", "special_bessel_j1"},
      {"special::bessel_y0", "special_bessel_y0"},
      {"special::bessel_y1", "special_bessel_y1"},
  };
  return table;
}

}  // namespace cresset
