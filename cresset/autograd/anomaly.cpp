// Where a forward op was called, and what went wrong behind it.
#include "cresset/autograd/anomaly.h"

#include <cstdio>

#include "cresset/autograd/variable.h"

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

void Node::note_call_site() { extras().made_at = CallSite::here(); }

Grads call_with_anomaly_check(Node& node, const std::function<Grads()>& call) {
  auto where = [&] {
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
