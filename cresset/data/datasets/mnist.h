// MNIST and FashionMNIST from their IDX files, plain or .gz, in torchvision's folders (root/MNIST/raw) or in root
// itself.
#pragma once

#include <string>

#include "cresset/data/datasets/base.h"

namespace cresset::data::datasets {

// Images are held as bytes and given out as float32 [1, 28, 28] from 0 to 1; targets are int64.
class CRESSET_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  Example<> get(size_t index) override;
  std::vector<Example<>> get_batch(ArrayRef<size_t> indices) override;
  std::optional<size_t> size() const override;

  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  Tensor images() const;                           // all of them as floats: four times the memory
  const Tensor& bytes() const { return images_; }  // uint8 [N, 1, 28, 28]
  const Tensor& targets() const { return targets_; }

 protected:
  MNIST(const std::string& root, Mode mode, const char* name);

 private:
  const char* name_;
  Mode mode_;
  Tensor images_, targets_;
};

class CRESSET_API FashionMNIST : public MNIST {
 public:
  explicit FashionMNIST(const std::string& root, Mode mode = Mode::kTrain) : MNIST(root, mode, "FashionMNIST") {}

  // map() is of this type, not of MNIST's.
  template <typename TransformType>
  MapDataset<FashionMNIST, TransformType> map(TransformType transform) {
    return datasets::map(*this, std::move(transform));
  }
  static const std::vector<std::string>& classes();
};

}  // namespace cresset::data::datasets
