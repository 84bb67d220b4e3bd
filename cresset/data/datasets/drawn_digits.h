// DrawnDigits: 28 x 28 images of the ten digits, drawn from strokes with random shape, slant, size, thickness and
// noise. Needs no files; item i depends on (seed, i) alone.
#pragma once

#include "cresset/data/datasets/base.h"

namespace cresset::data::datasets {

// As MNIST gives them: float32 [1, 28, 28] from 0 to 1, and the digit as int64. A test set is one with another seed.
class CRESSET_API DrawnDigits : public Dataset<DrawnDigits> {
 public:
  static constexpr int64_t kSide = 28;

  explicit DrawnDigits(size_t size = 10000, uint64_t seed = 0);  // draws all of them

  Example<> get(size_t index) override;
  std::vector<Example<>> get_batch(ArrayRef<size_t> indices) override;
  std::optional<size_t> size() const override;

  const Tensor& bytes() const { return images_; }  // uint8 [N, 1, 28, 28]
  const Tensor& targets() const { return targets_; }

  static int64_t digit(uint64_t seed, size_t index);
  static void draw(uint64_t seed, size_t index, uint8_t* pixels);  // 784 bytes, row by row

 private:
  Tensor images_, targets_;
};

}  // namespace cresset::data::datasets
