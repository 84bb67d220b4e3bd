// Checkpoints: everything a training needs to go on as if it had never stopped, in one file per step.
//
//   io::Checkpoint checkpoint("runs/mnist");
//   checkpoint.add("model", model).add("optimizer", optimizer).add("schedule", schedule).add("loader", loader);
//   int64_t step = checkpoint.load_newest().value_or(0);
//   … checkpoint.set("best", 0.97); checkpoint.save(step);
//
// A file is a .pt (torch.load reads it) with a digest of all its bytes at the end, and is there whole or not at all.
// The state of the default random generator is in it.
#pragma once

#include "cresset/io/bytes.h"
#include "cresset/io/serialize.h"

namespace cresset::io {

struct CheckpointOptions {
  int keep = 3;     // how many of the newest files stay; 0: all
  bool rng = true;  // save and restore the default generator
  // Whose files these are, where each of several processes keeps its own: saved in them, and compared on loading.
  // distributed::load_newest fills it in.
  std::optional<int64_t> rank = std::nullopt;
};

class CRESSET_API Checkpoint {
 public:
  explicit Checkpoint(std::string folder, CheckpointOptions options = {});

  // Anything with state_dict and load_state_dict. Handles (shared pointers, module holders) are kept; other objects
  // must outlive this.
  template <Stateful T>
  Checkpoint& add(const std::string& name, T& object) {
    if constexpr (PointsToStateDict<T> && std::is_copy_constructible_v<T>) {
      return add_part(name, {[object] { return state_of(object); },
                             [object](const IValue& value) mutable { set_state(object, value); }});
    } else {
      return add_part(
          name, {[&object] { return state_of(object); }, [&object](const IValue& value) { set_state(object, value); }});
    }
  }
  Checkpoint& add(const std::string& name, Generator generator);
  Checkpoint& add(const std::string& name, const Tensor& tensor);  // its values are copied into it on loading

  // Values of the user's own, saved with the rest.
  void set(const std::string& key, IValue value);
  const IValue* get(const std::string& key) const { return values_.find(key); }
  void set_rank(std::optional<int64_t> rank) { options_.rank = rank; }
  std::optional<int64_t> rank() const { return options_.rank; }
  const std::string& folder() const { return folder_; }

  // Writes step-00001000.ckpt, of this and earlier steps leaves the newest `keep`, and returns the path. What logs
  // (AppendFile) have gathered is written first, so that they reach as far as the checkpoint.
  std::string save(int64_t step);
  // The newest file that is whole, and its step; empty if there is none. Broken files and those of another rank are
  // passed over; skipped() says why. That only files of other ranks are there is an error.
  std::optional<int64_t> load_newest();
  int64_t load(const std::string& path);
  const std::vector<std::string>& skipped() const { return skipped_; }

  // The checkpoints of a folder, oldest first.
  std::vector<std::string> files() const;

 private:
  struct Part {
    std::function<IValue()> state;
    std::function<void(const IValue&)> set_state;
  };
  Checkpoint& add_part(const std::string& name, Part part);
  void apply(const std::string& path, const IValue::Dict& held);
  void prune(const std::string& newest) const;

  std::string folder_;
  CheckpointOptions options_;
  OrderedDict<std::string, Part> parts_;
  IValue::Dict values_;
  std::vector<std::string> skipped_;
};

// What a checkpoint file holds, after its digest was checked; kMeta gives shapes only. "step", "state" and "values" are
// there, with the right types; "rank" may be.
CRESSET_API IValue read_checkpoint(const std::string& path, Device device = kCPU);
CRESSET_API std::optional<int64_t> rank_in_checkpoint(const IValue& held);  // files of older versions have none
// Whether a file ends with a checkpoint's digest.
CRESSET_API bool is_checkpoint(const Source& source);

}  // namespace cresset::io
