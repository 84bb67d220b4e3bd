// libtorch's data_parallel, on one device. Cresset trains on several by processes (distributed.h), one for each.
#pragma once

#include <optional>
#include <vector>

#include "cresset/core/cuda.h"
#include "cresset/core/error.h"
#include "cresset/core/tensor.h"

namespace cresset::nn::parallel {

// Moves module and input to the device and runs it there. Without devices, all CUDA devices are meant.
template <class ModuleType>
Tensor data_parallel(ModuleType module, Tensor input, std::optional<std::vector<Device>> devices = std::nullopt,
                     std::optional<Device> output_device = std::nullopt, int64_t /* dim */ = 0) {
  if (!devices) {
    devices.emplace();
    for (size_t i = 0; i < cuda::device_count(); i++) devices->emplace_back(kCUDA, static_cast<int>(i));
  }
  CRESSET_CHECK_AS(DeviceError, !devices->empty(),
                   "data_parallel: Expected at least one CUDA device to be available, or a list of devices");
  CRESSET_CHECK_AS(NotImplementedError, devices->size() == 1, "data_parallel: found ", devices->size(),
                   " devices (expected 1; several are trained on by a process each: DistributedDataParallel)");
  const Device device = devices->front();
  module->to(device);
  return module->forward(input.to(device)).to(output_device.value_or(device));
}

}  // namespace cresset::nn::parallel
