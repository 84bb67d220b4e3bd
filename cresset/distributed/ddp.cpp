#include "cresset/distributed/ddp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "cresset/distributed/called_as.h"
#include "cresset/distributed/collectives.h"
#include "cresset/distributed/drift.h"
#include "cresset/distributed/drift_watch.h"
#include "cresset/distributed/throw_together.h"
#include "cresset/io/checksum.h"
#include "cresset/io/serialize.h"
#include "cresset/ops/all.h"

namespace cresset::distributed {
namespace {

constexpr const char* kName = "DistributedDataParallel: ";
constexpr const char* kPrefix = "module.";

// One line for each tensor of the model: kind, name, what it is.
std::string description(const nn::Module& module) {
  std::string text;
  const auto add = [&](const char* kind, const std::string& name, const Tensor& tensor) {
    text += message_of(kind, ' ', name, '\t', name_of(tensor.dtype()), text_of(tensor.sizes()),
                       tensor.requires_grad() || kind[0] == 'b' ? "" : " without gradient", '\n');
  };
  for (const auto& [name, tensor] : module.named_parameters()) add("parameter", name, tensor);
  for (const auto& [name, tensor] : module.named_buffers()) add("buffer", name, tensor);
  return text;
}

std::vector<std::pair<std::string, std::string>> lines_of(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    lines.emplace_back(line.substr(0, tab), line.substr(tab + 1));
  }
  return lines;
}

// What is different about another rank's model; empty: nothing.
std::string difference(const std::string& first, int first_rank, const std::string& other, int rank) {
  const auto a = lines_of(first), b = lines_of(other);
  for (size_t i = 0; i < std::max(a.size(), b.size()); i++) {
    if (i >= a.size()) return message_of(b[i].first, " is on rank ", rank, ", but not on rank ", first_rank);
    if (i >= b.size()) return message_of(a[i].first, " is on rank ", first_rank, ", but not on rank ", rank);
    if (a[i].first != b[i].first)
      return message_of("tensor ", i, " is ", b[i].first, " on rank ", rank, ", but ", a[i].first, " on rank ",
                        first_rank);
    if (a[i].second != b[i].second)
      return message_of(b[i].first, " is ", b[i].second, " on rank ", rank, ", but ", a[i].second, " on rank ",
                        first_rank);
  }
  return {};
}

// Tensors of one rank for all, in one message: those of several dtypes travel as bytes.
void broadcast_values(const Group& group, const std::vector<Tensor>& tensors, int root) {
  if (group->size() == 1 || tensors.empty()) return;
  NoGradGuard no_grad;
  const bool one_dtype =
      std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.dtype() == tensors[0].dtype(); });
  const int source = group->global_rank(root);
  if (one_dtype) {
    broadcast_coalesced(tensors, source, group);
    return;
  }
  size_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.nbytes();
  Tensor packed = empty({static_cast<int64_t>(bytes)}, TensorOptions(kByte));
  auto* at = static_cast<char*>(packed.data_ptr());
  if (group->rank() == root)
    for (const Tensor& tensor : tensors) {
      if (tensor.numel() > 0) std::memcpy(at, tensor.contiguous().data_ptr(), tensor.nbytes());
      at += tensor.nbytes();
    }
  broadcast(packed, source, group);
  if (group->rank() == root) return;
  for (const Tensor& tensor : tensors) {
    Tensor values = empty_contiguous(tensor.sizes(), tensor.dtype(), tensor.device());
    if (tensor.numel() > 0) std::memcpy(values.data_ptr(), at, tensor.nbytes());
    at += tensor.nbytes();
    tensor.copy_(values);
  }
}

size_t bytes_of(double megabytes, const char* what) {
  CRESSET_CHECK_AS(ValueError, megabytes > 0 && std::isfinite(megabytes), kName, what, " is ", megabytes,
                   " (expected more than 0)");
  return static_cast<size_t>(megabytes * 1024 * 1024);
}

}  // namespace

DataParallelBase::DataParallelBase(std::shared_ptr<nn::Module> module, DDPOptions options)
    : Module("DistributedDataParallel"), wrapped_(std::move(module)), options_(std::move(options)) {
  CRESSET_CHECK_AS(ValueError, wrapped_, kName, "found an empty module (expected one to wrap)");
  CRESSET_CHECK_AS(ValueError, options_.check_parameters_every() >= 0, kName, "check_parameters_every is ",
                   options_.check_parameters_every(), " (expected 0 or more)");
  register_module("module", wrapped_);
  group_ = options_.group() ? options_.group() : default_group();
  const auto parameters = wrapped_->named_parameters();
  names_ = parameters.keys();
  parameters_ = parameters.values();
  buffers_ = wrapped_->buffers();
  const bool any =
      std::any_of(parameters_.begin(), parameters_.end(), [](const Tensor& p) { return p.requires_grad(); });
  CRESSET_CHECK_AS(ValueError, any, kName, "no parameter of ", nn::short_name(*wrapped_),
                   " requires a gradient (expected at least one)");
  for (size_t i = 0; i < parameters_.size(); i++)
    CRESSET_CHECK_AS(DeviceError, parameters_[i].is_cpu(), kName, "parameter ", names_[i], " is on ",
                     parameters_[i].device().str(), " (expected the CPU, until there is an NCCL group)");
  for (size_t i = 0; i < parameters_.size(); i++)
    CRESSET_CHECK_AS(ValueError, !drift_watch::is_exempt(parameters_[i]), kName, "parameter ", names_[i],
                     " belongs to another DistributedDataParallel (expected one around a model)");
  check_same_model();
  share_values(0);
  make_reducer();
  drift_watch::exempt(parameters_);
}

DataParallelBase::~DataParallelBase() { drift_watch::end_exemption(parameters_); }

void DataParallelBase::check_same_model() const {
  if (group_->size() == 1) return;
  const std::string mine = description(*wrapped_);
  io::Digest digest;
  digest.add(mine.data(), mine.size());
  const uint64_t value = digest.value();
  const CalledAs called("DistributedDataParallel's comparison of the models");
  const auto digests = all_gather_object({reinterpret_cast<const char*>(&value), sizeof value}, group_);
  if (std::all_of(digests.begin(), digests.end(), [&](const std::string& d) { return d == digests[0]; })) return;
  const auto texts = all_gather_object(mine, group_);
  for (size_t r = 1; r < texts.size(); r++)
    if (texts[r] != texts[0])
      throw_together(*group_, kName + difference(texts[0], group_->global_rank(0), texts[r],
                                                 group_->global_rank(static_cast<int>(r))));
}

// Parameters and buffers of one rank for all.
void DataParallelBase::share_values(int root) {
  std::vector<Tensor> values;
  for (const Tensor& parameter : parameters_) values.push_back(parameter.detach());
  values.insert(values.end(), buffers_.begin(), buffers_.end());
  const CalledAs called("DistributedDataParallel's first broadcast");
  broadcast_values(group_, values, root);
}

void DataParallelBase::make_reducer() {
  std::vector<std::string> names;
  std::vector<Tensor> parameters;
  trainable_.clear();
  for (size_t i = 0; i < parameters_.size(); i++) {
    trainable_.push_back(parameters_[i].requires_grad());
    if (!trainable_.back()) continue;
    names.push_back(names_[i]);
    parameters.push_back(parameters_[i]);
  }
  ReducerOptions options;
  options.group = group_;
  options.limits = {bytes_of(options_.first_bucket_mb(), "first_bucket_mb"),
                    bytes_of(options_.bucket_cap_mb(), "bucket_cap_mb")};
  options.limits.first_bytes = std::min(options.limits.first_bytes, options.limits.bytes);
  options.find_unused_parameters = options_.find_unused_parameters();
  options.static_graph = options_.static_graph();
  options.gradient_as_bucket_view = options_.gradient_as_bucket_view();
  if (reducer_) steps_before_ += reducer_->rounds();
  reducer_.reset();  // before the new one takes its place at the parameters
  reducer_ = Reducer::make(std::move(names), std::move(parameters), std::move(options));
  reducer_->set_hook(hook_);
  reducer_->set_round_end([this](int64_t round) { end_of_round(steps_before_ + round); });
  reducer_->set_round_begin([this] {
    if (joining_) announce(Event::round);
  });
}

// A parameter that was frozen or thawed after the start: all ranks must have done so, and get new buckets.
void DataParallelBase::follow_requires_grad() {
  bool same = true;
  for (size_t i = 0; i < parameters_.size(); i++) same = same && parameters_[i].requires_grad() == trainable_[i];
  if (same) return;
  check_same_model();
  const bool accumulating = reducer_->accumulating();
  make_reducer();
  reducer_->set_accumulating(accumulating);
}

// ---- forward
void DataParallelBase::before_forward() {
  if (!thread_state.grad_enabled) return;
  follow_requires_grad();
  reducer_->begin_forward(!reducer_->accumulating());
  if (!options_.broadcast_buffers() || buffers_.empty() || !wrapped_->is_training() || reducer_->accumulating()) return;
  if (joining_) announce(Event::buffers);
  send_buffers(joining_ ? authority_ : 0);
}

void DataParallelBase::send_buffers(int root) {
  const CalledAs called("DistributedDataParallel's buffers");
  broadcast_values(group_, buffers_, root);
}

void DataParallelBase::after_forward(const ResultTensors& results) {
  if (thread_state.grad_enabled && results.all) reducer_->end_forward(results.tensors);
}

void DataParallelBase::end_of_round(int64_t round) {
  const int64_t every = options_.check_parameters_every();
  if (every == 0 || group_->size() == 1 || (round != 1 && round % every != 0)) return;
  DriftCheck check{names_, parameters_, group_, message_of(" after step ", round - 1)};
  check.takes_part = !shadowing_;
  check.agreement = reducer_->plan().digest();
  check.agreement_on = "the bucket plan";
  check_drift(check);
}

// ---- no_sync, hooks
DataParallelBase::NoSync::NoSync(DataParallelBase& model) : model_(model), before_(model.reducer_->accumulating()) {
  model_.reducer_->set_accumulating(true);
}
DataParallelBase::NoSync::~NoSync() { model_.reducer_->set_accumulating(before_); }

void DataParallelBase::register_comm_hook(CommHook hook) {
  CRESSET_CHECK_AS(ValueError, hook, kName,
                   "register_comm_hook: found an empty hook (expected one that can be called)");
  CRESSET_CHECK_AS(ValueError, !hook_, kName, "register_comm_hook: there is a hook already (it can be set once)");
  CRESSET_CHECK_AS(ValueError, steps() == 0, kName, "register_comm_hook: after ", steps(),
                   " steps (expected before the first backward)");
  hook_ = std::move(hook);
  reducer_->set_hook(hook_);
}

// ---- state
const BucketPlan& DataParallelBase::bucket_plan() const { return reducer_->plan(); }
int64_t DataParallelBase::steps() const { return steps_before_ + reducer_->rounds(); }

IValue DataParallelBase::plan_state() const { return reducer_->plan().state(reducer_->names()); }
void DataParallelBase::load_plan_state(const IValue& state) {
  reducer_->set_plan(BucketPlan::from_state(state, reducer_->names()));
}

IValue DataParallelBase::checkpoint_state() const {
  IValue::Dict dict;
  dict["module"] = io::to_value(wrapped_->state_dict());
  dict["plan"] = plan_state();
  return dict;
}

void DataParallelBase::load_checkpoint_state(const IValue& state) {
  CRESSET_CHECK_AS(TypeError, state.isDict(), kName, "cannot load a ", state.tagKind(), " (expected a dict)");
  const IValue* module = state.toDict().find("module");
  const IValue* plan = state.toDict().find("plan");
  if (!module || !module->isDict()) {
    load_state_dict(io::to_state_dict(state));
    return;
  }
  wrapped_->load_state_dict(io::to_state_dict(*module));
  if (plan) load_plan_state(*plan);
}

nn::IncompatibleKeys DataParallelBase::load_state_dict(const nn::StateDict& state, bool strict) {
  const bool prefixed = state.size() > 0 && std::all_of(state.begin(), state.end(), [](const auto& item) {
                          return item.key().starts_with(kPrefix);
                        });
  return prefixed ? Module::load_state_dict(state, strict) : wrapped_->load_state_dict(state, strict);
}

}  // namespace cresset::distributed
