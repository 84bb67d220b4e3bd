#include "cresset/nn/enums.h"

namespace cresset::enumtype {

const char* name_of(Tag tag) {
#define CRESSET_TAG(Name) "k" #Name,
  static constexpr const char* names[] = {CRESSET_FOR_EACH_TAG(CRESSET_TAG)};
#undef CRESSET_TAG
  return names[static_cast<size_t>(tag)];
}

int64_t reduction_get_enum(Tag tag) {
  if (tag == Tag::None) return 0;
  if (tag == Tag::Mean) return 1;
  CRESSET_CHECK_AS(ValueError, tag == Tag::Sum, "reduction: found ", name_of(tag), " (expected kNone, kMean or kSum)");
  return 2;
}

}  // namespace cresset::enumtype
