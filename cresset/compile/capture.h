// Capture and replay: a step runs once and its kernel calls are recorded, below autograd; afterwards it is replayed on
// new inputs without shape rules, allocation or graph. What is recorded is memory, so:
//
// - Inputs are copied into the tensors that were recorded, which must keep their shape, dtype and device. Everything
// else
//   that the step reads (parameters) is read where it lies, and what it writes in place (an update) changes there.
// - The recording holds the memory of every tensor it names, also of those that the step has dropped. It holds no
// graph.
// - Plain numbers (a learning rate, a wrapped number) are recorded as they were. A tensor's value may not be taken into
//   the program while a step is recorded (item throws): the replay could not follow it.
// - Gradients land in the buffers that were .grad after the recorded step. A .grad that existed before is added to, so
// a
//   step that accumulates must zero it inside.
// - Random numbers (dropout) come from fresh counters of the default generator in each replay: those that the step
// itself
//   would have taken. Other generators are refused.
#pragma once

#include <functional>

#include "cresset/core/kernel.h"

namespace cresset::compile {

class CRESSET_API Captured {
 public:
  // Runs `step` (it is a real run) and records it. The outputs are what it returns.
  Captured(std::vector<Tensor> inputs, const std::function<std::vector<Tensor>()>& step);

  // Replays the step on new inputs. The outputs are the recorded ones, overwritten by each replay.
  const std::vector<Tensor>& operator()(TensorList inputs);

  const std::vector<Tensor>& outputs() const { return outputs_; }
  size_t size() const { return calls_.size(); }
  std::vector<std::string> kernel_names() const;

 private:
  class Recorder;
  void check_counters(const GeneratorState& after) const;
  void draw_fresh_counters();

  struct Call {
    const KernelBase* kernel;
    modes::Replay replay;
    Values arguments;
  };
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<Call> calls_;
  GeneratorState first_;   // of the default generator, when the counters in calls_ were reserved
  uint64_t counters_ = 0;  // how many a step reserves
};

}  // namespace cresset::compile
