#include "cresset/distributed/fingerprint.h"

namespace cresset::distributed {

const char* name_of(OpKind op) {
  constexpr const char* names[] = {"all_reduce",     "broadcast",  "reduce",  "all_gather", "gather", "scatter",
                                   "reduce_scatter", "all_to_all", "barrier", "send",       "recv"};
  return names[static_cast<int>(op)];
}

uint64_t Fingerprint::hash() const {
  uint64_t h = mix(0x63726573u, sequence);
  h = mix(h, static_cast<uint64_t>(op) | static_cast<uint64_t>(dtype) << 8 | static_cast<uint64_t>(reduce_op) << 16 |
                 static_cast<uint64_t>(static_cast<uint32_t>(root)) << 32);
  h = mix(h, static_cast<uint64_t>(count));
  return mix(h, plan + static_cast<uint32_t>(tag));
}

std::string Fingerprint::text() const {
  std::string out = name_of(op);
  if (op == OpKind::all_reduce || op == OpKind::reduce || op == OpKind::reduce_scatter)
    out += message_of("(", name_of(reduce_op), ")");
  if (op == OpKind::broadcast || op == OpKind::scatter) out += message_of(" from rank ", root);
  if (op == OpKind::reduce || op == OpKind::gather) out += message_of(" to rank ", root);
  if (dtype == DType::Undefined) return out;
  out += std::string(" of ") + cresset::name_of(dtype);
  if (op != OpKind::all_to_all) out += message_of("[", count, "]");
  if (plan != 0) out += message_of(" (plan ", plan, ")");
  return out;
}

std::string in_words(const std::string& group) {
  return group.starts_with("group ") ? group : message_of("group ", group);
}

std::string Fingerprint::title() const { return message_of(name_of(op), " #", sequence); }

std::string Fingerprint::title_in(const std::string& group) const {
  std::string out = title() + " (";
  if (dtype != DType::Undefined) {
    out += cresset::name_of(dtype);
    if (op != OpKind::all_to_all) out += message_of("[", count, "]");
    out += ", ";
  }
  return out + in_words(group) + ")";
}

}  // namespace cresset::distributed
