// Host memory: every tensor, graph node and storage comes from here. Small blocks are taken from the calling thread's
// own heap in a handful of inlined instructions; large blocks are kept in one shared cache, so that a training loop
// soon asks the system for nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cresset/core/export.h"

#if defined(__SANITIZE_ADDRESS__)
#define CRESSET_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CRESSET_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef CRESSET_ADDRESS_SANITIZER
#define CRESSET_ADDRESS_SANITIZER 0
#endif

namespace cresset {

struct MemoryStats {
  int64_t allocated_bytes = 0;       // held by callers, rounded up to the block sizes
  int64_t peak_allocated_bytes = 0;  // sampled at every large block and every new slab; rises within slabs go unseen
  int64_t reserved_bytes = 0;        // held from the system: what callers hold and what is cached
  int64_t peak_reserved_bytes = 0;
  int64_t allocations = 0;  // calls of allocate
  int64_t system_allocations = 0;
  int64_t system_frees = 0;
};

CRESSET_API MemoryStats memory_stats();
CRESSET_API void reset_peak_memory_stats();

// Gives back all cached large blocks and the empty slabs of this thread and of ended threads. Other running threads
// keep their slabs: only the owner may look into a heap.
CRESSET_API void empty_cache();

namespace detail {

inline constexpr size_t kBlockAlignment = 64;
inline constexpr size_t kInlineClasses = 16;  // multiples of 64 bytes up to 1 KiB
inline constexpr size_t kSizeClasses = kInlineClasses + 5 * 8;
inline constexpr size_t kSlabBytes = size_t{64} << 10;
inline constexpr size_t kChunkBytes = size_t{4} << 20;

struct [[gnu::may_alias]] FreeBlock {
  FreeBlock* next;
};

// Only the owner writes the counters, so that a load and a store do; atomics let memory_stats read along.
struct ThreadHeap {
  std::atomic<int64_t> allocated_bytes{0};  // may be negative: a block counts off where it is freed
  std::atomic<int64_t> allocations{0};
  FreeBlock* free[kSizeClasses] = {};

  static void add(std::atomic<int64_t>& counter, int64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void* take(size_t size_class, size_t block_bytes) {
    FreeBlock* block = free[size_class];
    free[size_class] = block->next;
    add(allocated_bytes, static_cast<int64_t>(block_bytes));
    add(allocations, 1);
    return block;
  }
  void give(void* block, size_t size_class, size_t block_bytes) {
    auto* head = static_cast<FreeBlock*>(block);
    head->next = free[size_class];
    free[size_class] = head;
    add(allocated_bytes, -static_cast<int64_t>(block_bytes));
  }
};

// A chunk begins with the owner of each of its slabs. The table stands apart from the slabs because headers inside them
// would all fall into one cache set.
struct SlabOwners {
  ThreadHeap* owner[kChunkBytes / kSlabBytes];

  static SlabOwners* of(const void* block) {
    return reinterpret_cast<SlabOwners*>(reinterpret_cast<uintptr_t>(block) & ~(kChunkBytes - 1));
  }
  static size_t slab_of(const void* block) {
    return (reinterpret_cast<uintptr_t>(block) & (kChunkBytes - 1)) / kSlabBytes;
  }
};

// Never null: a thread without a heap points to an empty one, which fails every fast path.
extern CRESSET_API constinit thread_local ThreadHeap* thread_heap [[gnu::tls_model("initial-exec")]];

CRESSET_API void* allocate_slow(size_t bytes);
CRESSET_API void deallocate_slow(void* block, size_t bytes) noexcept;

}  // namespace detail

// 64-byte aligned and never null; zero bytes give a block of their own. Throws OutOfMemoryError.
[[nodiscard, gnu::returns_nonnull, gnu::assume_aligned(64)]] inline void* allocate(size_t bytes) {
#if !CRESSET_ADDRESS_SANITIZER
  const size_t size_class = (bytes - 1) / detail::kBlockAlignment;  // zero bytes wrap round to the slow path
  if (CRESSET_LIKELY(size_class < detail::kInlineClasses)) {
    detail::ThreadHeap* heap = detail::thread_heap;
    if (CRESSET_LIKELY(heap->free[size_class] != nullptr)) {
      return heap->take(size_class, (size_class + 1) * detail::kBlockAlignment);
    }
  }
#endif
  return detail::allocate_slow(bytes);
}

// `bytes` as given to allocate. Any thread may free any block, also while the process exits. Null is ignored.
inline void deallocate(void* block, size_t bytes) noexcept {
#if !CRESSET_ADDRESS_SANITIZER
  const size_t size_class = (bytes - 1) / detail::kBlockAlignment;
  if (CRESSET_LIKELY(size_class < detail::kInlineClasses && block != nullptr)) {
    detail::ThreadHeap* heap = detail::thread_heap;
    if (CRESSET_LIKELY(detail::SlabOwners::of(block)->owner[detail::SlabOwners::slab_of(block)] == heap)) {
      return heap->give(block, size_class, (size_class + 1) * detail::kBlockAlignment);
    }
  }
#endif
  detail::deallocate_slow(block, bytes);
}

}  // namespace cresset
