// Anomaly mode: each node remembers where its forward op was called; a backward that throws or makes a nan says so.
#pragma once

#include <functional>

#include "cresset/autograd/node.h"

namespace cresset::autograd {

// For this thread, while it lives.
class CRESSET_API DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true);
  ~DetectAnomalyGuard();
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool before_, before_check_;
};

CRESSET_API bool is_anomaly_enabled();
CRESSET_API bool is_anomaly_check_nan_enabled();
CRESSET_API void set_anomaly_enabled(bool on, bool check_nan = true);
// libtorch's name for the three.
struct AnomalyMode {
  static bool is_enabled() { return is_anomaly_enabled(); }
  static bool should_check_nan() { return is_anomaly_check_nan_enabled(); }
  static void set_enabled(bool enabled, bool check_nan = true) { set_anomaly_enabled(enabled, check_nan); }
};

Grads call_with_anomaly_check(Node& node, const std::function<Grads()>& call);

}  // namespace cresset::autograd
