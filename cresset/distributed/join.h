// Uneven inputs. A rank that has no more keeps the others' collectives company until all have run out, and then takes
// over the parameters of one that went on longest.
//
//   model.join([&] { for (auto& batch : *loader) { … } });
#pragma once

#include <functional>

#include "cresset/core/export.h"

namespace cresset::distributed {

class DataParallelBase;

struct JoinOptions {
  // Ranks that have run out count as gradients of zero: each input weighs as much as before. false: the average is over
  // those that have inputs.
  bool divide_by_initial_world_size = true;
  // All ranks throw as soon as one has run out.
  bool throw_on_early_termination = false;
  bool enable = true;  // false: does nothing, for programs that know their inputs to be even
};

// The scope form of it: the end of the scope is the end of this rank's inputs.
class CRESSET_API Join {
 public:
  explicit Join(DataParallelBase& model, JoinOptions options = {});
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;
  ~Join() noexcept(false);  // shadows, unless an exception is on its way
  void finish();

 private:
  DataParallelBase& model_;
  JoinOptions options_;
  int exceptions_;
  bool open_ = true;
};

}  // namespace cresset::distributed
