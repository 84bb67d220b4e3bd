// TextDataset: windows of a text for language models.
#pragma once

#include <string>

#include "cresset/data/datasets/base.h"
#include "cresset/io/unpack_limits.h"

namespace cresset::data::datasets {

// Example i is ids [i * stride, i * stride + window) and, as target, the same shifted by one. Stride 1, every place,
// unless said.
class CRESSET_API TextDataset : public Dataset<TextDataset> {
 public:
  TextDataset(Tensor ids, size_t window, size_t stride = 1);  // int64 [n]

  Example<> get(size_t index) override;
  std::vector<Example<>> get_batch(ArrayRef<size_t> indices) override;
  std::optional<size_t> size() const override { return size_; }

 private:
  Tensor ids_;
  int64_t window_, stride_;
  size_t size_;
};

// The whole of a text file, plain or gzip.
CRESSET_API std::string read_text(const std::string& path, const io::UnpackLimits& limits = {});

}  // namespace cresset::data::datasets
