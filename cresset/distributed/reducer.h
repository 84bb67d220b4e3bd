// Reducer: averages the gradients of a set of parameters over a group while backward still runs. Each gradient is
// written into its place in a flat bucket; the bucket whose last gradient has come is reduced at once, in the order of
// the plan, which is the same on all ranks. One backward is one round; when backward returns, the gradients are final.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "cresset/distributed/bucket_plan.h"
#include "cresset/distributed/comm_hooks.h"

namespace cresset::distributed {

struct ReducerOptions {
  Group group;
  BucketLimits limits;
  bool find_unused_parameters = false;
  bool static_graph = false;
  bool gradient_as_bucket_view = true;
};

class CRESSET_API Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  // All parameters require gradients and are known by these names.
  static std::shared_ptr<Reducer> make(std::vector<std::string> names, std::vector<Tensor> parameters,
                                       ReducerOptions options);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  void set_hook(CommHook hook) { hook_ = std::move(hook); }
  bool has_hook() const { return static_cast<bool>(hook_); }
  // Runs before each round that reduces (not before those that shadow others').
  void set_round_begin(std::function<void()> function) { round_begin_ = std::move(function); }
  // Runs at the end of each round that reduced, with the number of such rounds.
  void set_round_end(std::function<void(int64_t round)> function) { round_end_ = std::move(function); }

  // Whether the backward of the forward that begins now reduces.
  void begin_forward(bool reduces);
  // What forward returned: the parameters from which no way leads there will get no gradient.
  void end_forward(const std::vector<Tensor>& outputs);
  void set_accumulating(bool on) { accumulating_ = on; }
  bool accumulating() const { return accumulating_; }

  // One round without gradients of one's own: what a rank does that has run out of inputs.
  void shadow_round();
  // Sums are divided by this many ranks instead of by all; 0: by all.
  void set_divisor(int active_ranks) { divisor_ = active_ranks; }
  // The rank of the group whose order of arrival counts.
  void set_authority(int rank) { authority_ = rank; }

  const BucketPlan& plan() const { return plan_; }
  void set_plan(BucketPlan plan);
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Tensor>& parameters() const { return parameters_; }
  int64_t rounds() const { return rounds_; }

 private:
  class RoundEnd;
  struct Slot {
    size_t bucket = 0;
    Tensor view;  // its place in the bucket
    unsigned hook = 0;
    bool arrived = false;  // in this round, or known not to come
    bool unused = false;   // in this round, on this rank
    bool used = false;     // since the last round that reduced
    Tensor kept;           // the gradient of an unused parameter, for when it turns out that nobody used it
  };
  struct Bucket {
    Bucket(GradBucket bucket, Tensor flat_, std::vector<size_t> members_)
        : shown(std::move(bucket)), flat(std::move(flat_)), members(std::move(members_)) {}
    GradBucket shown;
    Tensor flat;
    std::vector<size_t> members;
    size_t pending = 0;
    BucketWork work;
  };
  enum class Round { none, local, reducing };

  Reducer(std::vector<std::string> names, std::vector<Tensor> parameters, ReducerOptions options);
  void attach();
  void install(BucketPlan plan);
  void begin_round();
  void on_gradient(size_t index);
  void bring_into_bucket(Slot& slot, const Tensor& parameter);
  void mark_unused(size_t index);
  void launch_ready();
  void launch(Bucket& bucket);
  void finish_round();
  void handle_missing();
  void start_exchange_of_used();
  void complete_buckets();
  void settle_unused();
  void rebuild();
  void reset_round();
  void wait_for_abandoned();
  [[noreturn]] void missing_gradients(const std::vector<size_t>& missing) const;

  std::vector<std::string> names_;
  std::vector<Tensor> parameters_;
  ReducerOptions options_;
  CommHook hook_;
  std::function<void()> round_begin_;
  std::function<void(int64_t)> round_end_;
  std::unordered_map<const TensorImpl*, size_t> index_of_;
  BucketPlan plan_;
  std::vector<Slot> slots_;
  std::vector<Bucket> buckets_;
  std::vector<size_t> arrival_;

  Round round_ = Round::none;
  size_t next_ = 0;  // the first bucket that was not started
  bool shadowing_ = false;
  std::vector<Work> abandoned_;
  std::optional<bool> forward_reduces_;  // said by a forward whose backward has not come yet
  bool accumulating_ = false;
  bool walked_ = false;
  std::vector<bool> reachable_;  // from what forward returned
  Tensor used_by_any_;
  Work exchange_of_used_;
  bool graph_known_ = false;  // static_graph: after the first round
  std::vector<bool> never_here_, never_anywhere_;
  int divisor_ = 0;
  int authority_ = 0;
  int64_t rounds_ = 0;
};

}  // namespace cresset::distributed
