// Recording of kernel calls. Arguments are kept as aliases: the handles themselves would keep the graph alive, and
// would follow a later set_data to other memory.
#include "cresset/compile/capture.h"

#include "cresset/autograd/differentiable.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/copy.h"

namespace cresset::compile {
namespace {

Tensor memory_of(const Tensor& tensor) { return tensor.defined() ? alias(tensor) : Tensor(); }

Value memory_of(const Value& value) {
  if (auto* tensor = std::get_if<Tensor>(&value)) return memory_of(*tensor);
  if (auto* list = std::get_if<std::vector<Tensor>>(&value)) {
    std::vector<Tensor> aliases;
    for (const Tensor& tensor : *list) aliases.push_back(memory_of(tensor));
    return aliases;
  }
  return value;
}

// A replay changes values under the feet of whoever saved them; the version tells.
void bump_written(const Value& value) {
  if (auto* tensor = std::get_if<Tensor>(&value)) {
    if (tensor->defined()) autograd::bump_version(*tensor);
  } else if (auto* list = std::get_if<std::vector<Tensor>>(&value)) {
    for (const Tensor& t : *list) autograd::bump_version(t);
  }
}

void check_input(size_t i, const Tensor& found, const Tensor& wanted) {
  CRESSET_CHECK(found.defined(), "replay: input ", i, " is undefined (expected a tensor)");
  CRESSET_CHECK_AS(ShapeError, found.sizes() == wanted.sizes(), "replay: input ", i, " has shape ",
                   text_of(found.sizes()), " (expected ", text_of(wanted.sizes()), ", as recorded)");
  CRESSET_CHECK_AS(TypeError, found.dtype() == wanted.dtype(), "replay: input ", i, " has dtype ",
                   name_of(found.dtype()), " (expected ", name_of(wanted.dtype()), ", as recorded)");
}

}  // namespace

class Captured::Recorder : public modes::BelowMode {
 public:
  explicit Recorder(std::vector<Call>& calls) : calls_(calls) {}
  void kernel(const KernelBase& kernel, modes::Replay replay, const Values& arguments) override {
    if (auto* first = std::get_if<Tensor>(&arguments[0]); first && first->is_meta()) return;  // runs no kernel
    Values held;
    for (const Value& value : arguments) held.push_back(memory_of(value));
    calls_.push_back({&kernel, replay, std::move(held)});
  }
  void value_read(const Tensor& tensor) override {
    throw Error(message_of("item: a tensor of shape ", text_of(tensor.sizes()),
                           " was read while a step is captured; a replay could not follow its value"));
  }

 private:
  std::vector<Call>& calls_;
};

Captured::Captured(std::vector<Tensor> inputs, const std::function<std::vector<Tensor>()>& step) {
  for (const Tensor& input : inputs) {
    CRESSET_CHECK(input.defined(), "capture: an input is undefined (expected a tensor)");
    inputs_.push_back(alias(input));
  }
  first_ = default_generator().get_state();
  {
    Recorder recorder(calls_);
    modes::BelowScope scope(recorder);
    for (const Tensor& output : step()) outputs_.push_back(output.detach());
  }
  GeneratorState after = default_generator().get_state();
  check_counters(after);
  counters_ = after.offset - first_.offset;
}

// Counters that the step did not take from the default generator could not be renewed.
void Captured::check_counters(const GeneratorState& after) const {
  for (const Call& call : calls_)
    for (const Value& value : call.arguments)
      if (auto* at = std::get_if<PhiloxCursor>(&value))
        CRESSET_CHECK(at->seed == first_.seed && after.seed == first_.seed && at->first >= first_.offset &&
                          at->first <= after.offset,
                      "capture: ", call.kernel->name(),
                      " drew random numbers from a generator that is not the default ",
                      "one, or was seeded inside the step; a replay would repeat them");
}

void Captured::draw_fresh_counters() {
  PhiloxCursor fresh = default_generator().reserve(counters_);
  for (Call& call : calls_)
    for (Value& value : call.arguments)
      if (auto* at = std::get_if<PhiloxCursor>(&value)) *at = {fresh.seed, fresh.first + (at->first - first_.offset)};
  first_ = {fresh.seed, fresh.first};
}

const std::vector<Tensor>& Captured::operator()(TensorList inputs) {
  CRESSET_CHECK(inputs.size() == inputs_.size(), "replay: found ", inputs.size(), " inputs (expected ", inputs_.size(),
                ", as recorded)");
  for (size_t i = 0; i < inputs.size(); i++) check_input(i, inputs[i], inputs_[i]);
  NoGradGuard no_grad;
  for (size_t i = 0; i < inputs.size(); i++)
    if (inputs[i].impl()->data() != inputs_[i].impl()->data()) copy_(inputs_[i], inputs[i]);
  if (counters_) draw_fresh_counters();
  for (const Call& call : calls_) {
    if (CRESSET_UNLIKELY(thread_state.modes_below != 0))
      modes::kernel_called(*call.kernel, call.replay, call.arguments);
    call.replay(*call.kernel, call.arguments);
    for (int i = 0; i < call.kernel->outputs(); i++) bump_written(call.arguments[static_cast<size_t>(i)]);
  }
  return outputs_;
}

std::vector<std::string> Captured::kernel_names() const {
  std::vector<std::string> names;
  for (const Call& call : calls_) names.emplace_back(call.kernel->name());
  return names;
}

}  // namespace cresset::compile
