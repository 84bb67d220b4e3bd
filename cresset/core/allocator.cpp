// Small blocks: 4 MiB chunks are cut into slabs, a slab belongs to one heap and one size class, a heap to one thread. A
// block freed elsewhere goes onto its owner's remote list, which the owner drains before it asks for a slab: a thread
// that allocates for another to free stays flat. Large blocks: one cache under a mutex, its links in the free blocks.
#include "cresset/core/allocator.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "cresset/core/error.h"

namespace cresset {
namespace detail {
namespace {

constexpr size_t kSmallBytes = size_t{32} << 10;
// Beyond any machine, and keeps the arithmetic from wrapping. The address sanitizer aborts on larger requests.
constexpr size_t kMaxBytes = CRESSET_ADDRESS_SANITIZER ? size_t{1} << 39 : size_t{1} << 46;

[[noreturn, gnu::cold]] void throw_out_of_memory(size_t bytes, int64_t reserved) {
  throw OutOfMemoryError(
      message_of("allocate: out of memory: wanted ", bytes, " bytes (", reserved, " bytes are reserved already)"));
}

size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

}  // namespace

#if !CRESSET_ADDRESS_SANITIZER

namespace {

constexpr size_t kMediumSlabs = 4;  // classes above 4 KiB take four slabs at once, or their tails would waste a quarter
constexpr size_t kFirstMediumClass = kInlineClasses + 2 * 8;
constexpr size_t kSlabs = kChunkBytes / kSlabBytes;
constexpr int64_t kTrimStep = int64_t{32} << 20;

constexpr size_t kMapBytes = size_t{1} << 20;
constexpr size_t kHugePage = size_t{2} << 20;  // a first touch of such pages is 5 to 15 times as fast (measured)
constexpr size_t kLargeClasses = 16 * 32;
constexpr int64_t kCacheFloor = int64_t{256} << 20;

size_t log2_floor(size_t value) { return static_cast<size_t>(std::bit_width(value)) - 1; }

// 16 classes of 64 bytes, then 8 per doubling.
size_t size_class_of(size_t bytes) {
  const size_t last = bytes - (bytes != 0);
  if (last < 1024) return last / kBlockAlignment;
  const size_t power = log2_floor(last);
  return kInlineClasses + (power - 10) * 8 + (last >> (power - 3)) - 8;
}

size_t bytes_of_class(size_t size_class) {
  if (size_class < kInlineClasses) return (size_class + 1) * kBlockAlignment;
  const size_t step = size_class - kInlineClasses;
  return (step % 8 + 9) << (7 + step / 8);
}

// 16 classes per doubling, from 32 KiB on.
size_t large_class_of(size_t bytes) {
  const size_t power = log2_floor(bytes - 1);
  return (power - 15) * 16 + ((bytes - 1) >> (power - 4)) - 16;
}

size_t bytes_of_large_class(size_t large_class) { return (large_class % 16 + 17) << (11 + large_class / 16); }

struct Heap : ThreadHeap {
  struct Fresh {
    char* next = nullptr;
    char* end = nullptr;
  };
  Fresh fresh[kSizeClasses];  // the part of each class's newest slab that was never handed out, and is untouched
  int64_t slab_bytes = 0;
  int64_t trim_at = kTrimStep;
  Heap* next_heap = nullptr;
  Heap* next_idle = nullptr;
  alignas(64) std::atomic<FreeBlock*> remote{nullptr};
};

struct Chunk : SlabOwners {
  uint8_t size_class[kSlabs];
  uint16_t carved[kSlabs];  // blocks handed out so far, at the index of a slab's first piece
  uint16_t free_blocks[kSlabs];
  uint64_t available;  // bit i: a slab may begin at piece i; piece 0 holds this table
  uint64_t all;
  Chunk* previous;
  Chunk* next;
  bool medium;

  static Chunk* of(const void* block) { return static_cast<Chunk*>(SlabOwners::of(block)); }
  size_t pieces() const { return medium ? kMediumSlabs : 1; }
  size_t slab_bytes() const { return pieces() * kSlabBytes; }
  size_t first_piece_of(const void* block) const {
    const size_t piece = slab_of(block);
    return medium ? piece - (piece - 1) % kMediumSlabs : piece;
  }
  char* slab(size_t piece) { return reinterpret_cast<char*>(this) + piece * kSlabBytes; }
};
static_assert(sizeof(Chunk) <= kSlabBytes);

struct CachedBlock {
  CachedBlock* previous;
  CachedBlock* next;
  CachedBlock* older;
  CachedBlock* newer;
  size_t bytes;
};

constinit ThreadHeap no_heap;     // the thread has not allocated yet
constinit ThreadHeap ended_heap;  // the thread's heap was given up; what still runs are destructors

void* map(size_t bytes, size_t alignment) {
  const size_t mapped = bytes + (alignment > 4096 ? alignment : 0);
  void* start = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  if (mapped == bytes) return start;
  const auto address = reinterpret_cast<uintptr_t>(start);
  const uintptr_t aligned = round_up(address, alignment);
  if (aligned > address) munmap(start, aligned - address);
  if (aligned < address + alignment) munmap(reinterpret_cast<void*>(aligned + bytes), address + alignment - aligned);
  return reinterpret_cast<void*>(aligned);
}

void* map_large(size_t bytes) {
  if (bytes < kMapBytes) return std::aligned_alloc(kBlockAlignment, bytes);
  if (bytes < kHugePage) return map(bytes, 0);
  void* block = map(bytes, kHugePage);
  if (block != nullptr) madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}

// What all threads share. Every member function expects the mutex held; the object is never destroyed, because globals
// still free tensors while the process exits.
class Central {
 public:
  static Central& get() {
    alignas(Central) static char storage[sizeof(Central)];
    static Central* central = new (storage) Central;
    return *central;
  }

  std::mutex mutex;
  std::mutex late_mutex;  // guards late_heap; taken before `mutex`
  Heap* late_heap = nullptr;
  pthread_key_t thread_end{};
  std::atomic<int64_t> late_bytes{0};  // freed by threads that have no heap any more

  Heap* adopt_heap();
  void idle_heap(Heap* heap);
  Heap* take_idle_heaps() { return std::exchange(idle_heaps_, nullptr); }

  char* take_slab(Heap* heap, size_t size_class);
  void give_slab(Chunk* chunk, size_t piece);
  void release_chunks();

  void* take_large(size_t bytes);
  void give_large(void* block, size_t bytes) noexcept;
  void release_cached(int64_t keep);

  MemoryStats stats();
  void reset_peaks();

 private:
  Central();
  Chunk* new_chunk(bool medium);
  template <class Map>
  void* from_system(size_t bytes, Map map);
  CachedBlock* find_cached(size_t bytes);
  void unlink(CachedBlock* block);
  int64_t small_bytes() const;
  void note_peak();

  Heap* heaps_ = nullptr;
  Heap* idle_heaps_ = nullptr;
  Chunk* chunks_[2] = {};  // those with a slab to give: small, medium
  CachedBlock* bins_[kLargeClasses] = {};
  CachedBlock* oldest_ = nullptr;
  CachedBlock* newest_ = nullptr;
  std::unordered_map<void*, size_t> oversized_;  // live blocks larger than their request's class
  int64_t cached_bytes_ = 0;
  int64_t large_bytes_ = 0;
  int64_t large_high_water_ = 0;
  int64_t slab_bytes_ = 0;
  MemoryStats stats_;
};

Central::Central() {
  pthread_key_create(&thread_end, [](void* heap) {
    Central& central = Central::get();
    thread_heap = &ended_heap;
    std::lock_guard lock(central.mutex);
    central.idle_heap(static_cast<Heap*>(heap));
  });
  // A fork finds the shared state whole. Heaps of the parent's other threads may be in mid-change in the child: nobody
  // adopts them there, and blocks freed to their remote lists stay there.
  const auto lock = [] {
    Central::get().late_mutex.lock();
    Central::get().mutex.lock();
  };
  const auto unlock = [] {
    Central::get().mutex.unlock();
    Central::get().late_mutex.unlock();
  };
  pthread_atfork(lock, unlock, unlock);
}

Heap* Central::adopt_heap() {
  if (Heap* heap = idle_heaps_) {
    idle_heaps_ = heap->next_idle;
    return heap;
  }
  void* memory = std::aligned_alloc(alignof(Heap), sizeof(Heap));
  if (memory == nullptr) throw_out_of_memory(sizeof(Heap), stats_.reserved_bytes);
  auto* heap = new (memory) Heap;
  heap->next_heap = std::exchange(heaps_, heap);
  return heap;
}

void Central::idle_heap(Heap* heap) { heap->next_idle = std::exchange(idle_heaps_, heap); }

template <class Map>
void* Central::from_system(size_t bytes, Map map) {
  void* block = map();
  if (block == nullptr) {
    release_cached(0);
    block = map();
  }
  if (block == nullptr) throw_out_of_memory(bytes, stats_.reserved_bytes);
  ++stats_.system_allocations;
  stats_.reserved_bytes += static_cast<int64_t>(bytes);
  stats_.peak_reserved_bytes = std::max(stats_.peak_reserved_bytes, stats_.reserved_bytes);
  return block;
}

Chunk* Central::new_chunk(bool medium) {
  auto* chunk = static_cast<Chunk*>(from_system(kChunkBytes, [] { return map(kChunkBytes, kChunkBytes); }));
  chunk->medium = medium;
  const size_t pieces = chunk->pieces();
  for (size_t piece = 1; piece + pieces <= kSlabs; piece += pieces) chunk->all |= uint64_t{1} << piece;
  chunk->available = chunk->all;
  chunks_[medium] = chunk;
  return chunk;
}

char* Central::take_slab(Heap* heap, size_t size_class) {
  const bool medium = size_class >= kFirstMediumClass;
  Chunk* chunk = chunks_[medium] != nullptr ? chunks_[medium] : new_chunk(medium);
  const auto first = static_cast<size_t>(std::countr_zero(chunk->available));
  chunk->available &= chunk->available - 1;
  if (chunk->available == 0) {
    chunks_[medium] = chunk->next;
    if (chunk->next != nullptr) chunk->next->previous = nullptr;
    chunk->next = nullptr;
  }
  for (size_t piece = first; piece < first + chunk->pieces(); ++piece) {
    chunk->owner[piece] = heap;
    chunk->size_class[piece] = static_cast<uint8_t>(size_class);
  }
  slab_bytes_ += static_cast<int64_t>(chunk->slab_bytes());
  note_peak();
  return chunk->slab(first);
}

void Central::give_slab(Chunk* chunk, size_t piece) {
  slab_bytes_ -= static_cast<int64_t>(chunk->slab_bytes());
  for (size_t i = 0; i < chunk->pieces(); ++i) chunk->owner[piece + i] = nullptr;
  if (chunk->available == 0) {
    Chunk*& head = chunks_[chunk->medium];
    chunk->next = head;
    if (head != nullptr) head->previous = chunk;
    head = chunk;
  }
  chunk->available |= uint64_t{1} << piece;
}

void Central::release_chunks() {
  for (Chunk*& head : chunks_) {
    for (Chunk *chunk = head, *next = nullptr; chunk != nullptr; chunk = next) {
      next = chunk->next;
      if (chunk->available != chunk->all) {
        for (uint64_t rest = chunk->available; rest != 0; rest &= rest - 1) {
          madvise(chunk->slab(static_cast<size_t>(std::countr_zero(rest))), chunk->slab_bytes(), MADV_DONTNEED);
        }
        continue;
      }
      (chunk->previous != nullptr ? chunk->previous->next : head) = next;
      if (next != nullptr) next->previous = chunk->previous;
      munmap(chunk, kChunkBytes);
      ++stats_.system_frees;
      stats_.reserved_bytes -= static_cast<int64_t>(kChunkBytes);
    }
  }
}

void Central::unlink(CachedBlock* block) {
  (block->previous != nullptr ? block->previous->next : bins_[large_class_of(block->bytes)]) = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
  (block->older != nullptr ? block->older->newer : oldest_) = block->newer;
  (block->newer != nullptr ? block->newer->older : newest_) = block->older;
  cached_bytes_ -= static_cast<int64_t>(block->bytes);
}

void Central::release_cached(int64_t keep) {
  while (oldest_ != nullptr && cached_bytes_ > keep) {
    CachedBlock* block = oldest_;
    const size_t bytes = block->bytes;
    unlink(block);
    if (bytes < kMapBytes) {
      std::free(block);
    } else {
      munmap(block, bytes);
    }
    ++stats_.system_frees;
    stats_.reserved_bytes -= static_cast<int64_t>(bytes);
  }
  if (keep == 0) large_high_water_ = large_bytes_;
}

// A block of the request's own class, or one at most 12 % larger than the request.
CachedBlock* Central::find_cached(size_t bytes) {
  const size_t wanted = large_class_of(bytes);
  if (bins_[wanted] != nullptr) return bins_[wanted];
  for (size_t larger = wanted + 1; larger < kLargeClasses; ++larger) {
    if (bytes_of_large_class(larger) > bytes + bytes / 25 * 3) return nullptr;
    if (bins_[larger] != nullptr) return bins_[larger];
  }
  return nullptr;
}

void* Central::take_large(size_t bytes) {
  size_t size = bytes_of_large_class(large_class_of(bytes));
  void* block = find_cached(bytes);
  if (auto* cached = static_cast<CachedBlock*>(block)) {
    if (cached->bytes != size) oversized_.emplace(block, cached->bytes);
    size = cached->bytes;
    unlink(cached);
  } else {
    // As much may lie idle as was ever in use at once: two alternating batch sizes fit, drifting sizes stay bounded.
    release_cached(std::max(kCacheFloor, large_high_water_));
    block = from_system(size, [size] { return map_large(size); });
  }
  ++stats_.allocations;
  large_bytes_ += static_cast<int64_t>(size);
  large_high_water_ = std::max(large_high_water_, large_bytes_);
  note_peak();
  return block;
}

void Central::give_large(void* memory, size_t bytes) noexcept {
  const auto oversized = oversized_.empty() ? oversized_.end() : oversized_.find(memory);
  size_t size = bytes_of_large_class(large_class_of(bytes));
  if (oversized != oversized_.end()) {
    size = oversized->second;
    oversized_.erase(oversized);
  }
  CachedBlock*& bin = bins_[large_class_of(size)];
  auto* block = new (memory) CachedBlock{nullptr, bin, newest_, nullptr, size};
  if (bin != nullptr) bin->previous = block;
  bin = block;
  (newest_ != nullptr ? newest_->newer : oldest_) = block;
  newest_ = block;
  cached_bytes_ += static_cast<int64_t>(size);
  large_bytes_ -= static_cast<int64_t>(size);
}

int64_t Central::small_bytes() const {
  int64_t bytes = late_bytes.load(std::memory_order_relaxed);
  for (const Heap* heap = heaps_; heap != nullptr; heap = heap->next_heap) {
    bytes += heap->allocated_bytes.load(std::memory_order_relaxed);
  }
  return bytes;
}

// The sum over all heaps is asked for only when whole slabs could make a new peak.
void Central::note_peak() {
  if (large_bytes_ + slab_bytes_ <= stats_.peak_allocated_bytes) return;
  stats_.peak_allocated_bytes = std::max(stats_.peak_allocated_bytes, large_bytes_ + small_bytes());
}

MemoryStats Central::stats() {
  note_peak();
  MemoryStats result = stats_;
  result.allocated_bytes = large_bytes_ + small_bytes();
  result.peak_allocated_bytes = std::max(result.peak_allocated_bytes, result.allocated_bytes);
  for (const Heap* heap = heaps_; heap != nullptr; heap = heap->next_heap) {
    result.allocations += heap->allocations.load(std::memory_order_relaxed);
  }
  return result;
}

void Central::reset_peaks() {
  stats_.peak_allocated_bytes = large_bytes_ + small_bytes();
  stats_.peak_reserved_bytes = stats_.reserved_bytes;
}

// The calling thread's heap, or null while the thread ends.
Heap* own_heap() {
  ThreadHeap* heap = thread_heap;
  if (CRESSET_LIKELY(heap != &no_heap)) return heap == &ended_heap ? nullptr : static_cast<Heap*>(heap);
  Central& central = Central::get();
  std::lock_guard lock(central.mutex);
  Heap* adopted = central.adopt_heap();
  pthread_setspecific(central.thread_end, adopted);
  thread_heap = adopted;
  return adopted;
}

void drain_remote(Heap* heap) {
  if (heap->remote.load(std::memory_order_relaxed) == nullptr) return;
  FreeBlock* block = heap->remote.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    FreeBlock* next = block->next;
    FreeBlock*& list = heap->free[Chunk::of(block)->size_class[SlabOwners::slab_of(block)]];
    block->next = list;
    list = block;
    block = next;
  }
}

void push_remote(Heap* owner, FreeBlock* block) {
  FreeBlock* head = owner->remote.load(std::memory_order_relaxed);
  do {
    block->next = head;
  } while (!owner->remote.compare_exchange_weak(head, block, std::memory_order_release, std::memory_order_relaxed));
}

// A page's worth of blocks at a time, in rising order: what is not needed yet is not touched.
void carve(Heap* heap, size_t size_class) {
  Heap::Fresh& fresh = heap->fresh[size_class];
  const size_t bytes = bytes_of_class(size_class);
  const size_t fitting = static_cast<size_t>(fresh.end - fresh.next) / bytes;
  const size_t count = std::min(fitting, std::max<size_t>(1, 4096 / bytes));
  Chunk* chunk = Chunk::of(fresh.next);
  uint16_t& carved = chunk->carved[chunk->first_piece_of(fresh.next)];
  carved = static_cast<uint16_t>(carved + count);
  for (size_t i = count; i-- > 0;) {
    auto* block = reinterpret_cast<FreeBlock*>(fresh.next + i * bytes);
    block->next = heap->free[size_class];
    heap->free[size_class] = block;
  }
  fresh.next += count * bytes;
  if (fitting == count) fresh = {};
}

void give_empty_slab(Heap* heap, Chunk* chunk, size_t piece) {
  Heap::Fresh& fresh = heap->fresh[chunk->size_class[piece]];
  char* start = chunk->slab(piece);
  if (fresh.next > start && fresh.next < start + chunk->slab_bytes()) fresh = {};
  heap->slab_bytes -= static_cast<int64_t>(chunk->slab_bytes());
  Central& central = Central::get();
  std::lock_guard lock(central.mutex);
  central.give_slab(chunk, piece);
}

// Gives back the slabs of a class whose blocks are all in the free list: counted here, not on the fast path.
void trim_class(Heap* heap, size_t size_class) {
  for (FreeBlock* block = heap->free[size_class]; block != nullptr; block = block->next) {
    Chunk* chunk = Chunk::of(block);
    ++chunk->free_blocks[chunk->first_piece_of(block)];
  }
  FreeBlock** kept = &heap->free[size_class];
  for (FreeBlock *block = *kept, *next = nullptr; block != nullptr; block = next) {
    next = block->next;
    Chunk* chunk = Chunk::of(block);
    const size_t piece = chunk->first_piece_of(block);
    if (chunk->free_blocks[piece] != chunk->carved[piece]) {
      *kept = block;
      kept = &block->next;
      continue;
    }
    --chunk->free_blocks[piece];
    if (--chunk->carved[piece] == 0) give_empty_slab(heap, chunk, piece);
  }
  *kept = nullptr;
  for (FreeBlock* block = heap->free[size_class]; block != nullptr; block = block->next) {
    Chunk* chunk = Chunk::of(block);
    chunk->free_blocks[chunk->first_piece_of(block)] = 0;
  }
}

void trim(Heap* heap) {
  drain_remote(heap);
  for (size_t size_class = 0; size_class < kSizeClasses; ++size_class) trim_class(heap, size_class);
  heap->trim_at = std::max(kTrimStep, 2 * heap->slab_bytes);
}

void refill(Heap* heap, size_t size_class) {
  drain_remote(heap);
  if (heap->free[size_class] != nullptr) return;
  Heap::Fresh& fresh = heap->fresh[size_class];
  if (fresh.next == nullptr) {
    // Memory that one class no longer needs must not stay with it for ever when another grows.
    if (heap->slab_bytes >= heap->trim_at) trim(heap);
    Central& central = Central::get();
    std::lock_guard lock(central.mutex);
    fresh.next = central.take_slab(heap, size_class);
    const size_t slab_bytes = Chunk::of(fresh.next)->slab_bytes();
    fresh.end = fresh.next + slab_bytes;
    heap->slab_bytes += static_cast<int64_t>(slab_bytes);
  }
  carve(heap, size_class);
}

void* take_small(Heap* heap, size_t size_class) {
  if (heap->free[size_class] == nullptr) refill(heap, size_class);
  return heap->take(size_class, bytes_of_class(size_class));
}

// For threads that are ending: destructors of their last objects may still allocate.
[[gnu::cold]] void* take_small_late(size_t size_class) {
  Central& central = Central::get();
  std::lock_guard late_lock(central.late_mutex);
  if (central.late_heap == nullptr) {
    std::lock_guard lock(central.mutex);
    central.late_heap = central.adopt_heap();
  }
  return take_small(central.late_heap, size_class);
}

void give_small(void* block, size_t size_class) noexcept {
  Heap* heap = own_heap();
  auto* owner = static_cast<Heap*>(SlabOwners::of(block)->owner[SlabOwners::slab_of(block)]);
  const size_t bytes = bytes_of_class(size_class);
  if (heap == owner) return heap->give(block, size_class, bytes);
  if (heap != nullptr) {
    ThreadHeap::add(heap->allocated_bytes, -static_cast<int64_t>(bytes));
  } else {
    Central::get().late_bytes.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }
  push_remote(owner, static_cast<FreeBlock*>(block));
}

}  // namespace

constinit thread_local ThreadHeap* thread_heap [[gnu::tls_model("initial-exec")]] = &no_heap;

void* allocate_slow(size_t bytes) {
  if (CRESSET_LIKELY(bytes <= kSmallBytes)) {
    const size_t size_class = size_class_of(bytes);
    Heap* heap = own_heap();
    return heap != nullptr ? take_small(heap, size_class) : take_small_late(size_class);
  }
  Central& central = Central::get();
  std::lock_guard lock(central.mutex);
  if (bytes > kMaxBytes) throw_out_of_memory(bytes, central.stats().reserved_bytes);
  return central.take_large(bytes);
}

void deallocate_slow(void* block, size_t bytes) noexcept {
  if (block == nullptr) return;
  if (CRESSET_LIKELY(bytes <= kSmallBytes)) return give_small(block, size_class_of(bytes));
  Central& central = Central::get();
  std::lock_guard lock(central.mutex);
  central.give_large(block, bytes);
}

}  // namespace detail

MemoryStats memory_stats() {
  detail::Central& central = detail::Central::get();
  std::lock_guard lock(central.mutex);
  return central.stats();
}

void reset_peak_memory_stats() {
  detail::Central& central = detail::Central::get();
  std::lock_guard lock(central.mutex);
  central.reset_peaks();
}

void empty_cache() {
  detail::Central& central = detail::Central::get();
  if (detail::Heap* heap = detail::own_heap()) detail::trim(heap);
  std::lock_guard late_lock(central.late_mutex);
  if (central.late_heap != nullptr) detail::trim(central.late_heap);
  std::unique_lock lock(central.mutex);
  detail::Heap* idle = central.take_idle_heaps();
  lock.unlock();
  for (detail::Heap* heap = idle; heap != nullptr; heap = heap->next_idle) detail::trim(heap);
  lock.lock();
  while (idle != nullptr) central.idle_heap(std::exchange(idle, idle->next_idle));
  central.release_cached(0);
  central.release_chunks();
}

#else  // Each block comes from the system's allocator, so that the address sanitizer sees stale uses and leaks.

namespace {

constinit std::atomic<int64_t> live_bytes{0}, peak_bytes{0}, allocation_count{0}, free_count{0};

}  // namespace

constinit thread_local ThreadHeap* thread_heap [[gnu::tls_model("initial-exec")]] = nullptr;

void* allocate_slow(size_t bytes) {
  const size_t rounded = round_up(bytes + (bytes == 0), kBlockAlignment);
  void* block = bytes > kMaxBytes ? nullptr : std::aligned_alloc(kBlockAlignment, rounded);
  if (block == nullptr) throw_out_of_memory(bytes, live_bytes);
  ++allocation_count;
  const int64_t live = live_bytes += static_cast<int64_t>(rounded);
  int64_t peak = peak_bytes;
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
  return block;
}

void deallocate_slow(void* block, size_t bytes) noexcept {
  if (block == nullptr) return;
  std::free(block);
  ++free_count;
  live_bytes -= static_cast<int64_t>(round_up(bytes + (bytes == 0), kBlockAlignment));
}

}  // namespace detail

MemoryStats memory_stats() {
  const int64_t live = detail::live_bytes, peak = detail::peak_bytes, count = detail::allocation_count;
  return {live, peak, live, peak, count, count, detail::free_count};
}

void reset_peak_memory_stats() { detail::peak_bytes = detail::live_bytes.load(); }
void empty_cache() {}

#endif

}  // namespace cresset
