// Samplers say which examples a loader asks for. The order of an epoch is a function of (seed, epoch): that is what
// makes a run repeatable and a position in it worth saving.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cresset/core/ivalue.h"
#include "cresset/core/tensor.h"
#include "cresset/io/archivable.h"

namespace cresset::data::detail {
CRESSET_API void write_sampler(serialize::OutputArchive& archive, const IValue& state);
CRESSET_API IValue read_sampler(const serialize::InputArchive& archive);
}  // namespace cresset::data::detail

namespace cresset::data::samplers {

template <typename BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;

  // Starts an epoch, over a data set of another size if one is given.
  virtual void reset(std::optional<size_t> new_size) = 0;
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;  // nothing: the epoch is over

  // The epoch that the next reset() starts. Without it each reset starts the following one.
  virtual void set_epoch(size_t epoch) {
    epoch_ = epoch;
    given_ = true;
  }
  size_t epoch() const { return epoch_; }
  size_t upcoming_epoch() const { return started_ && !given_ ? epoch_ + 1 : epoch_; }
  virtual void set_seed(uint64_t seed) { seed_ = seed; }
  uint64_t seed() const { return seed_; }

  virtual std::optional<size_t> size() const { return std::nullopt; }  // indices in an epoch, if that is known
  virtual bool may_repeat() const { return false; }                    // whether an index may come twice in an epoch

  // A sampler with more to remember than seed and epoch overrides both.
  virtual IValue state_dict() const {
    IValue::Dict state;
    state["seed"] = static_cast<int64_t>(seed_);
    state["epoch"] = static_cast<int64_t>(epoch_);
    return state;
  }
  virtual void load_state_dict(const IValue& state) {
    seed_ = static_cast<uint64_t>(state.toDict().at("seed").toInt());
    set_epoch(static_cast<size_t>(state.toDict().at("epoch").toInt()));
  }

  // What torch::save(sampler, path) writes and load reads: the values of state_dict, unless overridden.
  virtual void save(serialize::OutputArchive& archive) const { detail::write_sampler(archive, state_dict()); }
  virtual void load(serialize::InputArchive& archive) { load_state_dict(detail::read_sampler(archive)); }

  // What a loader calls before reset(), so that it counts epochs for samplers that do not.
  void next_epoch() {
    if (started_ && !given_) epoch_++;
    started_ = true;
    given_ = false;
    announced_ = true;
  }

 protected:
  // What reset() calls in samplers that use the epoch, loader or not.
  void enter_epoch() {
    if (!announced_) next_epoch();
    announced_ = false;
  }

  uint64_t seed_ = 0;
  size_t epoch_ = 0;

 private:
  bool started_ = false;
  bool given_ = false;
  bool announced_ = false;
};

template <typename BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}
template <typename BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

// A sampler that lists an epoch's indices when the epoch starts.
class CRESSET_API IndexSampler : public Sampler<> {
 public:
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  size_t index() const noexcept { return index_; }  // how many of them have been handed out

  IValue state_dict() const override;
  void load_state_dict(const IValue& state) override;

 protected:
  virtual std::vector<size_t> order() const = 0;  // of epoch_, with seed_
  virtual void resize(size_t new_size) = 0;

 private:
  std::vector<size_t> indices_;
  size_t index_ = 0;
  bool listed_ = false;
};

}  // namespace cresset::data::samplers
