// A frame stands for one checkpointed call. Each tensor that the call saves becomes a Place in it, numbered in order.
// The first backward that wants one runs the function again under hooks that fill all places that are still alive.
#include "cresset/autograd/checkpoint.h"

#include <mutex>

#include "cresset/autograd/engine.h"
#include "cresset/autograd/saved.h"
#include "cresset/core/generator.h"

namespace cresset::autograd {
namespace {

struct Frame;

struct Place {
  std::shared_ptr<Frame> frame;
  Dims sizes;
  DType dtype;
  Device device;
  Tensor value;  // between the second computation and its reading
};

// Names the call in messages of saved inputs; it is in no graph.
class CheckpointNode final : public Pooled<CheckpointNode> {
 public:
  CheckpointNode() : Pooled("checkpoint", nullptr, 0, 0) {}
  Grads apply(Tensor*, size_t) override { return {}; }
};

struct Frame : std::enable_shared_from_this<Frame> {
  std::function<variable_list(const variable_list&)> function;
  std::vector<Saved> inputs;
  std::vector<std::weak_ptr<Place>> places;
  std::optional<GeneratorState> rng_state;
  Ref<Node> node = make_node<CheckpointNode>();
  std::recursive_mutex mutex;

  std::shared_ptr<void> pack(const Tensor& tensor) {
    auto place =
        std::make_shared<Place>(Place{shared_from_this(), tensor.sizes(), tensor.dtype(), tensor.device(), Tensor()});
    places.push_back(place);
    return place;
  }
  Tensor unpack(Place& place) {
    std::lock_guard lock(mutex);
    if (!place.value.defined()) recompute();
    return std::move(place.value);
  }
  void recompute();
  void fill(size_t number, const Tensor& tensor);
  void drop_values() {
    std::lock_guard lock(mutex);
    for (auto& weak : places)
      if (auto place = weak.lock()) place->value.reset();
  }
};

// The random numbers of the first computation for the second, and afterwards those that were due.
class RngScope {
 public:
  explicit RngScope(const std::optional<GeneratorState>& state) {
    if (!state) return;
    before_ = default_generator().get_state();
    default_generator().set_state(*state);
  }
  ~RngScope() {
    if (before_) default_generator().set_state(*before_);
  }
  RngScope(const RngScope&) = delete;
  RngScope& operator=(const RngScope&) = delete;

 private:
  std::optional<GeneratorState> before_;
};

void Frame::fill(size_t number, const Tensor& tensor) {
  CRESSET_CHECK_AS(AutogradError, number < places.size(),
                   "checkpoint: a different number of tensors was saved during the original forward and recomputation: "
                   "more than the ",
                   places.size(), " of the first time");
  auto place = places[number].lock();
  if (!place) return;
  CRESSET_CHECK_AS(
      AutogradError,
      tensor.sizes() == IntArrayRef(place->sizes) && tensor.dtype() == place->dtype && tensor.device() == place->device,
      "checkpoint: recomputed values have different metadata than during the forward pass: saved tensor ", number,
      " has shape ", text_of(tensor.sizes()), ", dtype ", name_of(tensor.dtype()), " (expected ", text_of(place->sizes),
      ", ", name_of(place->dtype), ")");
  place->value = tensor;
}

void Frame::recompute() {
  variable_list arguments;
  {
    AutoGradMode on(true);  // connected, so that the same nodes are made again
    for (size_t i = 0; i < inputs.size(); i++) arguments.push_back(inputs[i].unpack(*node));
  }
  size_t count = 0;
  RngScope rng(rng_state);
  AutoGradMode on(true);
  variable_list outputs;
  {
    SavedTensorHooksScope hooks({[&](const Tensor& tensor) -> std::shared_ptr<void> {
                                   fill(count++, tensor);
                                   return {};
                                 },
                                 [](const std::shared_ptr<void>&) -> Tensor {
                                   throw AutogradError("checkpoint: the recomputed graph cannot be run backward");
                                 }});
    outputs = function(arguments);
  }
  CRESSET_CHECK_AS(AutogradError, count == places.size(),
                   "checkpoint: a different number of tensors was saved during the original forward and recomputation: "
                   "found ",
                   count, " (expected ", places.size(), ")");
  if (current_node()) queue_callback([frame = shared_from_this()] { frame->drop_values(); });
}

}  // namespace

static constexpr const char* kNoFunction = "checkpoint: found an empty function (expected one that can be called)";

variable_list checkpoint(std::function<variable_list(const variable_list&)> function, const variable_list& inputs,
                         CheckpointOptions options) {
  CRESSET_CHECK_AS(ValueError, function != nullptr, kNoFunction);
  if (!thread_state.grad_enabled) return function(inputs);
  auto frame = std::make_shared<Frame>();
  frame->function = std::move(function);
  for (const Tensor& input : inputs) frame->inputs.emplace_back().keep(input);
  if (options.preserve_rng_state) frame->rng_state = default_generator().get_state();
  SavedTensorHooksScope hooks({[frame](const Tensor& tensor) { return frame->pack(tensor); },
                               [](const std::shared_ptr<void>& object) {
                                 Place& place = *static_cast<Place*>(object.get());
                                 return place.frame->unpack(place);
                               }});
  return frame->function(inputs);
}

Tensor checkpoint(std::function<Tensor(const Tensor&)> function, const Tensor& input, CheckpointOptions options) {
  CRESSET_CHECK_AS(ValueError, function != nullptr, kNoFunction);
  return checkpoint(
      [function = std::move(function)](const variable_list& in) { return variable_list{function(in[0])}; },
      variable_list{input}, options)[0];
}

Tensor checkpoint_sequential(const std::vector<std::function<Tensor(const Tensor&)>>& functions, int64_t segments,
                             const Tensor& input, CheckpointOptions options) {
  CRESSET_CHECK_AS(ValueError, segments > 0 && segments <= static_cast<int64_t>(functions.size()),
                   "checkpoint_sequential: found ", segments, " segments for ", functions.size(),
                   " functions (expected 1 to that many)");
  size_t length = functions.size() / static_cast<size_t>(segments);
  auto run = [&functions](size_t from, size_t to) {
    return [part = std::vector<std::function<Tensor(const Tensor&)>>(functions.begin() + static_cast<ptrdiff_t>(from),
                                                                     functions.begin() + static_cast<ptrdiff_t>(to))](
               const Tensor& x) {
      Tensor y = x;
      for (auto& function : part) y = function(y);
      return y;
    };
  };
  Tensor x = input;
  for (size_t part = 0; part + 1 < static_cast<size_t>(segments); part++)
    x = checkpoint(std::function<Tensor(const Tensor&)>(run(part * length, (part + 1) * length)), x, options);
  return run((static_cast<size_t>(segments) - 1) * length, functions.size())(x);
}

}  // namespace cresset::autograd
