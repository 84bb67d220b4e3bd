// Where a forward op was called, and what went wrong behind it.
#include "cresset/autograd/anomaly.h"

#include <cstdio>

#include "cresset/autograd/engine.h"
#include "cresset/autograd/variable.h"
#include "cresset/core/warning.h"

namespace cresset::autograd {
namespace {

thread_local bool check_nan_enabled = true;

bool has_nan(const Tensor& x) {
  Tensor here = x.detach().to(Device(kCPU)).to(x.is_complex() ? kComplexDouble : kDouble).contiguous();
  const double* values = static_cast<const double*>(here.data_ptr());
  int64_t count = here.numel() * (x.is_complex() ? 2 : 1);
  for (int64_t i = 0; i < count; i++)
    if (values[i] != values[i]) return true;
  return false;
}

}  // namespace

bool is_anomaly_enabled() { return thread_state.anomaly; }
bool is_anomaly_check_nan_enabled() { return check_nan_enabled; }
void set_anomaly_enabled(bool on, bool check_nan) {
  thread_state.anomaly = on;
  check_nan_enabled = check_nan;
}
DetectAnomalyGuard::DetectAnomalyGuard(bool check_nan)
    : before_(thread_state.anomaly), before_check_(check_nan_enabled) {
  set_anomaly_enabled(true, check_nan);
}
DetectAnomalyGuard::~DetectAnomalyGuard() { set_anomaly_enabled(before_, before_check_); }

void Node::note_call_site() {
  NodeExtras& own = extras();
  own.made_at = CallSite::here();
  if (Node* running = current_node()) {  // create_graph: a backward made this node
    NodeExtras* from = running->extras_or_null();
    own.induced_by = std::make_shared<const InducedBy>(
        InducedBy{running->name(), from ? from->made_at : CallSite(), from ? from->induced_by : nullptr});
  }
}

// The forward's place as a warning, too, in libtorch's words: programs catch the error and read it there.
static void warn_of_forward(const Node& node) {
  const NodeExtras* extras = node.extras_or_null();
  if (!extras || extras->made_at.empty()) {
    CRESSET_WARN("Error detected in ", node.name(),
                 ". No forward pass information available. Enable detect anomaly during forward pass for more "
                 "information.");
    return;
  }
  CRESSET_WARN("Error detected in ", node.name(),
               ". Traceback of forward call that caused the error:", extras->made_at.text());
  for (const InducedBy* by = extras->induced_by.get(); by; by = by->before.get())
    CRESSET_WARN("Previous calculation was induced by ", by->name,
                 ". Traceback of forward call that induced the previous calculation:", by->made_at.text());
}

Grads call_with_anomaly_check(Node& node, const std::function<Grads()>& call) {
  auto where = [&] {
    warn_of_forward(node);
    NodeExtras* extras = node.extras_or_null();
    return extras && !extras->made_at.empty() ? "\n  its forward op was called at:" + extras->made_at.text()
                                              : std::string("\n  its forward op was called outside anomaly mode");
  };
  Grads results;
  try {
    results = call();
  } catch (const Error& error) {
    throw AutogradError(message_of("anomaly: ", node.name(), " failed in backward: ", error.what(), where()));
  } catch (...) {  // somebody else's exception: it must stay what it is
    std::fprintf(stderr, "anomaly: %s failed in backward%s\n", node.name().c_str(), where().c_str());
    throw;
  }
  if (!check_nan_enabled) return results;
  for (size_t i = 0; i < results.size(); i++) {
    if (!results[i].defined() || results[i].is_meta() || !is_differentiable(results[i].dtype())) continue;
    if (has_nan(results[i]))
      throw AutogradError(
          message_of("anomaly: Function '", node.name(), "' returned nan values in its ", i, "th output.", where()));
  }
  return results;
}

}  // namespace cresset::autograd
