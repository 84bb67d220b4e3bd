// A batch is one gather from the ids seen as overlapping windows.
#include "cresset/data/datasets/text.h"

#include "cresset/data/datasets/tensor.h"
#include "cresset/io/gzip.h"
#include "cresset/ops/all.h"

namespace cresset::data::datasets {

TextDataset::TextDataset(Tensor ids, size_t window, size_t stride)
    : ids_(std::move(ids)), window_(static_cast<int64_t>(window)), stride_(static_cast<int64_t>(stride)), size_(0) {
  CRESSET_CHECK_AS(TypeError, is_integral(ids_.dtype(), false), "TextDataset: found ids of ", name_of(ids_.dtype()),
                   " (expected whole numbers, int64)");
  CRESSET_CHECK_AS(ShapeError, ids_.dim() == 1, "TextDataset: found ids of shape ", ids_.sizes(),
                   " (expected one dimension)");
  CRESSET_CHECK_AS(ValueError, window > 0 && stride > 0, "TextDataset: found window ", window, " and stride ", stride,
                   " (expected at least 1)");
  CRESSET_CHECK_AS(ValueError, ids_.numel() > window_, "TextDataset: found ", ids_.numel(),
                   " ids (expected more than the window, ", window, ")");
  ids_ = ids_.contiguous();
  size_ = static_cast<size_t>((ids_.numel() - window_ - 1) / stride_ + 1);
}

Example<> TextDataset::get(size_t index) {
  detail::check_index("TextDataset", index, size_);
  const int64_t begin = static_cast<int64_t>(index) * stride_;
  return {ids_.narrow(0, begin, window_), ids_.narrow(0, begin + 1, window_)};
}

std::vector<Example<>> TextDataset::get_batch(ArrayRef<size_t> indices) {
  const Tensor windows = ids_.as_strided({static_cast<int64_t>(size_), window_ + 1}, {stride_, 1});
  const Tensor batch = detail::gather_rows("TextDataset", windows, indices);
  return detail::examples_of(batch.narrow(1, 0, window_).contiguous(), batch.narrow(1, 1, window_).contiguous());
}

std::string read_text(const std::string& path, const io::UnpackLimits& limits) {
  const std::vector<uint8_t> bytes = io::read_maybe_gzip(path, "TextDataset", limits);
  return {bytes.begin(), bytes.end()};
}

}  // namespace cresset::data::datasets
