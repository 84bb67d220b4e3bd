#include "cresset/distributed/process_group.h"

namespace cresset::distributed {

ProcessGroup::~ProcessGroup() = default;

}  // namespace cresset::distributed
