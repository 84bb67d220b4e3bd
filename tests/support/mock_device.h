// The mock device: memory that can be touched only while one of its kernels runs. It stands for a GPU in tests: an op
// that reads or writes values outside a kernel faults here as it would there.
#pragma once

#include <functional>

#include "cresset/core/tensor.h"

namespace cresset::test {

inline constexpr DeviceType kMock = DeviceType::Mock;

// The same values, strides and offset on the mock device, and back. Made without ops.
Tensor on_mock(const Tensor& tensor);
Tensor off_mock(const Tensor& tensor);

// How many kernels have run on the mock device.
int64_t mock_kernel_calls();

// Runs f; true if it touched mock memory outside a kernel. f is then abandoned where it stood (its objects leak), so a
// true is a test's last finding.
bool touches_mock_memory(const std::function<void()>& f);

}  // namespace cresset::test
