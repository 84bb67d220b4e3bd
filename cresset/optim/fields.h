// The fields that options, states and schedulers list by PyTorch's names (options.h, param_state.h, lr_scheduler.h).
// Only sources that make or read such a list include this: the variants would cost every program that includes optim.
#pragma once

#include <deque>
#include <variant>

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

// One field of options: its name in PyTorch and where it is held. An IValue is written as it is and not read back: what
// PyTorch has there and Cresset has no use for (foreach, capturable).
struct OptionField {
  const char* name;
  std::variant<double*, bool*, int64_t*, Pair*, Triple*, OptionalPair*, std::optional<int64_t>*,
               std::optional<std::string>*, IValue>
      value;
  bool may_be_missing = false;  // from a dict that is loaded: PyTorch's older versions do not have it
};
struct OptionFields : std::vector<OptionField> {
  using std::vector<OptionField>::vector;
  bool listed = true;  // false: the class does not override fields()
};

struct StateField {
  // How it is written: PyTorch keeps most step counts as 0-d float tensors, some as numbers.
  enum class Form { plain, scalar_tensor };
  const char* name;
  // nullptr: PyTorch has it and Cresset has no use for it.
  std::variant<Tensor*, int64_t*, double*, std::deque<Tensor>*, std::nullptr_t> value;
  Form form = Form::plain;
  bool may_be_missing = false;
  bool own_shape = false;  // a tensor whose shape is not the parameter's
};
struct StateFields : std::vector<StateField> {
  using std::vector<StateField>::vector;
  bool listed = true;
};

// One field of a scheduler's state: PyTorch's name, and where it is held. An IValue is written and not read back.
struct SchedulerField {
  const char* name;
  std::variant<double*, int64_t*, bool*, unsigned*, std::string*, std::vector<double>*, std::vector<int64_t>*, IValue>
      value;
};
struct SchedulerFields : std::vector<SchedulerField> {
  using std::vector<SchedulerField>::vector;
};

}  // namespace cresset::optim
