// Batch norm over a part of the ranks.
#pragma once

#include "cresset/distributed/process_group.h"

namespace cresset::distributed {

// While one lives, synchronised batch norms of this thread take their statistics from this group and not from the
// default one; their backward does, too, whenever it comes.
class CRESSET_API SyncBatchNormGroup {
 public:
  explicit SyncBatchNormGroup(Group group);  // null: the default one
  ~SyncBatchNormGroup();
  SyncBatchNormGroup(const SyncBatchNormGroup&) = delete;
  SyncBatchNormGroup& operator=(const SyncBatchNormGroup&) = delete;

 private:
  Group before_;
};

}  // namespace cresset::distributed
