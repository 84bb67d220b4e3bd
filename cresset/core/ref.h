// Ref<T>: an intrusive pointer. T derives from Counted and has a static `destroy(T*)`, so that pooled objects, graph
// nodes (freed in a loop) and plain objects share one handle. A sole owner gives up its object without an atomic write.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace cresset {

struct Counted {
  mutable std::atomic<uint32_t> references{1};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  static Ref adopt(T* object) { return Ref(object, Adopt{}); }
  static Ref share(T* object) {
    if (object) object->references.fetch_add(1, std::memory_order_relaxed);
    return adopt(object);
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_) object_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> Ref(Ref<U> other)
  noexcept : object_(other.release()) {}
  Ref& operator=(const Ref& other) noexcept {
    Ref copy(other);
    std::swap(object_, copy.object_);
    return *this;
  }
  Ref& operator=(Ref&& other) noexcept {
    Ref moved(std::move(other));
    std::swap(object_, moved.object_);
    return *this;
  }
  ~Ref() { drop(object_); }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref& other) const { return object_ == other.object_; }
  bool unique() const { return object_ && object_->references.load(std::memory_order_acquire) == 1; }
  uint32_t use_count() const { return object_ ? object_->references.load(std::memory_order_relaxed) : 0; }
  T* release() { return std::exchange(object_, nullptr); }
  void reset() { drop(std::exchange(object_, nullptr)); }

 private:
  struct Adopt {};
  Ref(T* object, Adopt) : object_(object) {}
  static void drop(T* object) {
    if (!object) return;
    // The last owner leaves the count at one and calls destroy. So a class whose objects can be found again through a
    // weak pointer may look at its count there, under its own lock, and stay alive.
    uint32_t count = object->references.load(std::memory_order_acquire);
    while (count != 1)
      if (object->references.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel,
                                                   std::memory_order_acquire))
        return;
    T::destroy(object);
  }

  T* object_ = nullptr;
};

}  // namespace cresset
