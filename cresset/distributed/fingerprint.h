// Fingerprint: what a rank means by its n-th operation. Equal on all ranks, or they disagree.
#pragma once

#include <string>

#include "cresset/core/dtype.h"
#include "cresset/distributed/process_group.h"

namespace cresset::distributed {

enum class OpKind : uint8_t {
  all_reduce,
  broadcast,
  reduce,
  all_gather,
  gather,
  scatter,
  reduce_scatter,
  all_to_all,
  barrier,
  send,
  recv
};
CRESSET_API const char* name_of(OpKind op);

struct Fingerprint {
  uint64_t sequence = 0;
  OpKind op = OpKind::barrier;
  DType dtype = DType::Undefined;
  ReduceOp reduce_op = ReduceOp::SUM;
  int32_t root = -1;
  int32_t tag = 0;
  int64_t count = 0;
  uint64_t plan = 0;
  const char* call = nullptr;  // what the user called, where it is not the operation itself: "all_gather_object"

  const char* name() const { return call ? call : name_of(op); }
  // The first slot of the operation; its messages are numbered from there.
  uint64_t hash() const;
  // "all_reduce(SUM) of float32[1000]", "broadcast from rank 2 of int64[3]"
  std::string text() const;
  // "all_reduce #1042"
  std::string title() const;
  // "all_reduce #1042 (float32[1000], group default)"
  std::string title_in(const std::string& group) const;

 private:
  // "float32[1000]"; of objects, whose lengths go ahead, nothing or how many.
  std::string of_what() const;
};

// "group default" for "default"; names that say so already stay: "group 1".
CRESSET_API std::string in_words(const std::string& group);

// A good mixer of 64 bits, for slots.
constexpr uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
constexpr uint64_t mix(uint64_t seed, uint64_t value) { return mix(seed * 0x9e3779b97f4a7c15u + value + 1); }

}  // namespace cresset::distributed
