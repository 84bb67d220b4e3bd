// The table of interned shapes.
#include "cresset/autograd/kept_dims.h"

#include <mutex>
#include <set>

namespace cresset::autograd {

KeptDims::KeptDims(IntArrayRef dims) : rank_(static_cast<int32_t>(dims.size())) {
  if (rank_ <= Dims::kInline) {
    for (int i = 0; i < rank_; i++) inline_[i] = dims[static_cast<size_t>(i)];
    return;
  }
  static auto* mutex = new std::mutex;
  static auto* table = new std::set<std::vector<int64_t>>;
  std::lock_guard lock(*mutex);
  interned_ = table->insert(dims.vec()).first->data();
}

}  // namespace cresset::autograd
