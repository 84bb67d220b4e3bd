#include "cresset/distributed/fingerprint.h"

#include "cresset/distributed/called_as.h"

namespace cresset::distributed {
namespace {

thread_local const char* called_as = nullptr;

}  // namespace

CalledAs::CalledAs(const char* name) : before_(called_as) {
  if (!called_as) called_as = name;
}
CalledAs::~CalledAs() { called_as = before_; }
const char* CalledAs::now(const char* otherwise) { return called_as ? called_as : otherwise; }

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
  // The lengths of all_gather_object must not meet somebody's all_gather of a number.
  for (const char* c = call; c && *c; c++) h = mix(h, static_cast<unsigned char>(*c));
  return mix(h, plan + static_cast<uint32_t>(tag));
}

std::string Fingerprint::text() const {
  std::string out = name();
  if (op == OpKind::all_reduce || op == OpKind::reduce || op == OpKind::reduce_scatter)
    out += message_of("(", name_of(reduce_op), ")");
  if (op == OpKind::broadcast || op == OpKind::scatter) out += message_of(" from rank ", root);
  if (op == OpKind::reduce || op == OpKind::gather) out += message_of(" to rank ", root);
  if (const std::string things = of_what(); !things.empty()) out += " of " + things;
  if (plan != 0) out += message_of(" (plan ", plan, ")");
  return out;
}

std::string in_words(const std::string& group) {
  return group.starts_with("group ") ? group : message_of("group ", group);
}

std::string Fingerprint::title() const { return message_of(name(), " #", sequence); }

std::string Fingerprint::of_what() const {
  if (dtype == DType::Undefined) return {};
  const std::string_view called = name();
  if (called == "broadcast_object_list" && dtype == kInt64) return message_of(count, " objects");
  if (called.find("object") != std::string_view::npos) return {};
  std::string out = cresset::name_of(dtype);
  return op == OpKind::all_to_all ? out : message_of(out, "[", count, "]");
}

std::string Fingerprint::title_in(const std::string& group) const {
  const std::string things = of_what();
  return message_of(title(), " (", things, things.empty() ? "" : ", ", in_words(group), ")");
}

}  // namespace cresset::distributed
