// Life of a TensorImpl, and questions about strides.
#include "cresset/core/tensor_impl.h"

#include <new>
#include <ostream>

#include "cresset/core/allocator.h"
#include "cresset/core/error.h"
#include "cresset/core/thread_state.h"

namespace cresset {

constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

void array_index_out_of_range(size_t index, size_t size) {
  throw IndexError(message_of("ArrayRef::at: index ", index, " is out of range for ", size, " elements"));
}

std::string text_of(IntArrayRef list) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); i++) out += (i ? ", " : "") + std::to_string(list[i]);
  return out + "]";
}
std::ostream& operator<<(std::ostream& out, IntArrayRef list) { return out << text_of(list); }

// A node's destructor drops its inputs' nodes, which may be the last to hold theirs, and so on: they queue up here
// instead.
void NodeBase::destroy(NodeBase* node) {
  static constinit thread_local NodeBase* doomed = nullptr;
  static constinit thread_local bool busy = false;
  if (busy) {
    node->next_doomed = doomed;
    doomed = node;
    return;
  }
  busy = true;
  node->deallocate_self();
  while (doomed) {
    NodeBase* last = doomed;
    doomed = last->next_doomed;
    last->deallocate_self();
  }
  busy = false;
}

TensorImpl* TensorImpl::make() { return new (allocate(sizeof(TensorImpl))) TensorImpl; }

TensorImpl::~TensorImpl() {
  if (autograd) delete autograd;
  if (binding) delete binding;
}

void TensorImpl::destroy(TensorImpl* impl) {
  if (CRESSET_UNLIKELY(impl->binding != nullptr) && impl->binding->last_handle_gone &&
      impl->binding->last_handle_gone(impl->binding->object, impl))
    return;
  impl->~TensorImpl();
  deallocate(impl, sizeof(TensorImpl));
}

// Kernels keep their loops in arrays of this size.
static void check_rank(IntArrayRef sizes) {
  CRESSET_CHECK_AS(ShapeError, sizes.size() <= kMaxDims, "tensor: found ", sizes.size(),
                   " dimensions (expected at most ", kMaxDims, ")");
}

void TensorImpl::set_sizes_contiguous(IntArrayRef new_sizes) {
  check_rank(new_sizes);
  int rank = static_cast<int>(new_sizes.size());
  sizes.resize(rank);
  strides.resize(rank);
  int64_t step = 1, count = 1;
  for (int i = rank - 1; i >= 0; i--) {
    int64_t n = new_sizes[static_cast<size_t>(i)];
    sizes[i] = n;
    strides[i] = step;
    step *= n > 1 ? n : 1;
    count *= n;
  }
  numel = count;
  contiguous = true;
}

void TensorImpl::set_geometry(IntArrayRef new_sizes, IntArrayRef new_strides) {
  check_rank(new_sizes);
  bool fits = true, empty = false;
  int64_t count = 1;
  for (int64_t n : new_sizes) {
    empty = empty || n == 0;
    fits = fits && !__builtin_mul_overflow(count, n, &count);
  }
  CRESSET_CHECK_AS(ShapeError, fits || empty, "tensor: shape ", text_of(new_sizes),
                   " has more elements than an int64 can count");
  sizes.assign(new_sizes);
  strides.assign(new_strides);
  numel = empty ? 0 : count;
  refresh_contiguous();
}

void TensorImpl::refresh_contiguous() { contiguous = cresset::is_contiguous(sizes, strides); }

Dims channels_last_strides(IntArrayRef sizes) {
  int rank = static_cast<int>(sizes.size());
  CRESSET_CHECK_AS(ShapeError, rank == 4 || rank == 5,
                   "memory_format: channels last wants 4 or 5 dimensions, found shape ", text_of(sizes));
  Dims strides = Dims::filled(rank, 0);
  strides[1] = 1;
  int64_t step = sizes[1];
  for (int i = rank - 1; i >= 2; i--) {
    strides[i] = step;
    step *= sizes[static_cast<size_t>(i)];
  }
  strides[0] = step;
  return strides;
}

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides, MemoryFormat format) {
  size_t rank = sizes.size();
  for (int64_t n : sizes)
    if (n == 0) return true;
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) {
    int64_t step = 1;
    for (size_t i = rank; i-- > 0;) {
      if (sizes[i] == 1) continue;
      if (strides[i] != step) return false;
      step *= sizes[i];
    }
    return true;
  }
  if (rank != (format == MemoryFormat::ChannelsLast ? 4u : 5u)) return false;
  Dims wanted = channels_last_strides(sizes);
  for (size_t i = 0; i < rank; i++)
    if (sizes[i] != 1 && strides[i] != wanted[static_cast<int>(i)]) return false;
  return true;
}

bool is_dense(IntArrayRef sizes, IntArrayRef strides) {
  // Each step finds the dimension that continues where the ones so far end; ranks are small.
  int64_t step = 1;
  size_t rank = sizes.size(), left = 0;
  for (size_t i = 0; i < rank; i++) {
    if (sizes[i] == 0) return true;
    left += sizes[i] != 1;
  }
  for (; left > 0; left--) {
    size_t i = rank;
    while (i-- > 0 && !(strides[i] == step && sizes[i] != 1)) continue;
    if (i >= rank) return false;
    step *= sizes[i];
  }
  return true;
}

}  // namespace cresset
