// Pruning: parameters whose unimportant elements are held at zero by a mask. weight = weight_orig * weight_mask is
// computed before each call of the module; further pruning goes on with what is left.
#pragma once

#include <utility>

#include "cresset/nn/utils/module_ref.h"

namespace cresset::nn::utils::prune {

// How much to prune: a fraction (0.3) or a number of elements or channels (3).
class Amount {
 public:
  Amount(double fraction) : fraction_(fraction) {}
  Amount(int64_t count) : count_(count), is_count_(true) {}
  Amount(int count) : Amount(int64_t{count}) {}
  // Of `size` there are; refuses what cannot be.
  CRESSET_API int64_t of(int64_t size) const;

 private:
  double fraction_ = 0;
  int64_t count_ = 0;
  bool is_count_ = false;
};

// The mask is there, but prunes nothing.
CRESSET_API void identity(ModuleRef module, const std::string& name);
CRESSET_API void random_unstructured(ModuleRef module, const std::string& name, Amount amount);
// Those of smallest magnitude, or of the smallest scores if given.
CRESSET_API void l1_unstructured(ModuleRef module, const std::string& name, Amount amount,
                                 const Tensor& importance_scores = {});
// Whole channels along dim.
CRESSET_API void random_structured(ModuleRef module, const std::string& name, Amount amount, int64_t dim);
// Those of smallest n-norm.
CRESSET_API void ln_structured(ModuleRef module, const std::string& name, Amount amount, double n, int64_t dim,
                               const Tensor& importance_scores = {});
CRESSET_API void custom_from_mask(ModuleRef module, const std::string& name, const Tensor& mask);

enum class Method { l1_unstructured, random_unstructured };
// All the parameters compete with each other: one layer may lose more than another.
CRESSET_API void global_unstructured(const std::vector<std::pair<ModuleRef, std::string>>& parameters, Method method,
                                     Amount amount);

// Makes the pruning permanent: the parameter is an ordinary one again, with its zeros.
CRESSET_API void remove(ModuleRef module, const std::string& name);
// Whether this module or one below it is being pruned.
CRESSET_API bool is_pruned(ModuleRef module);

}  // namespace cresset::nn::utils::prune
