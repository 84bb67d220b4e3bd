// The messages that TensorBoard's plugins read, as values of a Summary.
#pragma once

#include <utility>
#include <vector>

#include "cresset/core/ivalue.h"
#include "cresset/monitor/proto.h"

namespace cresset::monitor {

// An Event that holds one Summary with one value.
Message summary_event(const Message& value);

Message scalar_value(const std::string& tag, double value);
// Over 1,549 buckets that grow by 1.1 from 1e-12 to 1e20 on both sides of zero, as PyTorch's default; empty ends are
// left out. Values that are not finite are not counted.
Message histogram_value(const std::string& tag, const Tensor& values);
// uint8 [C, H, W], C from 1 to 4.
std::string png_of(const Tensor& image);
Message image_value(const std::string& tag, const Tensor& image);
// A PNG; its size is read from it.
Message png_value(const std::string& tag, std::string_view png);
Message text_value(const std::string& tag, const std::string& text);
Message pr_curve_value(const std::string& tag, const Tensor& labels, const Tensor& predictions, int thresholds,
                       const Tensor& weights);

// The three values of the hparams plugin: the experiment, the start and the end of a session.
std::vector<Message> hparams_values(const IValue::Dict& hparams, const std::vector<std::string>& metrics);

// An image or a batch in any layout ("CHW", "HWC", "HW", "NCHW", "NHWC"), as uint8 [C, H, W]; a batch becomes a grid.
Tensor to_image(const char* function, const Tensor& image, const std::string& layout);
Tensor grid_of(const Tensor& images, int64_t columns);

}  // namespace cresset::monitor
