// TensorImpl: what a Tensor handle points to. The graph edge and the view's base stand in it, since nearly every tensor
// of a training step has one; what only leaves and hooked tensors need is in AutogradData, made when asked for.
#pragma once

#include "cresset/core/dtype.h"
#include "cresset/core/shape.h"
#include "cresset/core/storage.h"

namespace cresset {

// The part of a graph node that core must know: how to hold it and let it go. autograd::Node derives from it.
struct CRESSET_API NodeBase : Counted {
  bool released = false;                // what it saved is gone
  bool runs_without_gradients = false;  // as a user's function does, which sees zeros instead
  NodeBase* next_doomed = nullptr;
  virtual ~NodeBase() = default;
  static void destroy(NodeBase* node);  // never recurses: a long chain is freed in a loop
  virtual void deallocate_self() = 0;   // runs the destructor and gives the memory back
};

// Filled in by autograd: gradient, hooks, the leaf's accumulator, name.
struct CRESSET_API AutogradDataBase {
  virtual ~AutogradDataBase() = default;
};

// How a view came to be decides whether it may be changed in place.
enum class ViewOrigin : uint8_t { ordinary, no_grad, multi_view, inference, custom_function };

// A binding's object for this tensor (Python's), told when the tensor goes.
struct BindingSlot {
  void* object = nullptr;
  // Called when the last C++ handle goes; returns true if the binding keeps the tensor alive.
  bool (*last_handle_gone)(void* object, struct TensorImpl* impl) = nullptr;
};

struct CRESSET_API TensorImpl : Counted {
  DType dtype = kFloat;
  Device device;
  bool requires_grad = false;  // for a tensor with a node: true; for a leaf: asked for
  bool contiguous = true;
  bool wrapped_number = false;  // a C++ or Python number: counts little in promotion
  bool inference = false;
  bool differentiable_view = false;  // base is set and gradients flow to it
  ViewOrigin origin = ViewOrigin::ordinary;
  uint32_t view_version = 0;  // of the base, when this view's node was made
  uint32_t output_nr = 0;     // which output of the node this is
  Dims sizes, strides;
  int64_t numel = 0;
  int64_t offset = 0;  // in elements
  Ref<StorageImpl> storage;
  Ref<NodeBase> node;
  Ref<TensorImpl> base;
  Ref<VersionCounter> own_version;  // null: the storage's
  AutogradDataBase* autograd = nullptr;
  BindingSlot* binding = nullptr;

  TensorImpl() = default;
  TensorImpl(const TensorImpl&) = delete;
  ~TensorImpl();

  static TensorImpl* make();
  static void destroy(TensorImpl* impl);

  void* data() const { return static_cast<char*>(storage->data) + offset * static_cast<int64_t>(element_size(dtype)); }
  std::atomic<uint32_t>& version() const { return own_version ? own_version->value : storage->version; }
  void set_sizes_contiguous(IntArrayRef new_sizes);
  void set_geometry(IntArrayRef new_sizes, IntArrayRef new_strides);
  void refresh_contiguous();
};

CRESSET_API bool is_contiguous(IntArrayRef sizes, IntArrayRef strides, MemoryFormat format = MemoryFormat::Contiguous);
CRESSET_API bool is_dense(IntArrayRef sizes, IntArrayRef strides);  // non-overlapping, without holes, in any order
CRESSET_API Dims channels_last_strides(IntArrayRef sizes);

}  // namespace cresset
