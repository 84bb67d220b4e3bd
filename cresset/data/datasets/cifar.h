// CIFAR-10 and CIFAR-100 in their binary version, from root/cifar-10-batches-bin (cifar-100-binary) or root itself.
#pragma once

#include <string>

#include "cresset/data/datasets/base.h"

namespace cresset::data::datasets {

// Images are held as bytes and given out as float32 [3, 32, 32] from 0 to 1; targets are int64.
class CRESSET_API CIFAR10 : public Dataset<CIFAR10> {
 public:
  enum class Mode { kTrain, kTest };

  explicit CIFAR10(const std::string& root, Mode mode = Mode::kTrain);

  Example<> get(size_t index) override;
  std::vector<Example<>> get_batch(ArrayRef<size_t> indices) override;
  std::optional<size_t> size() const override;

  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  const Tensor& bytes() const { return images_; }  // uint8 [N, 3, 32, 32]
  const Tensor& targets() const { return targets_; }
  static const std::vector<std::string>& classes();

 protected:
  struct Source {
    const char* name;
    std::vector<std::string> files;
    std::string folder;
    size_t label_bytes;  // before each image; the last is the target
    int labels;
  };
  CIFAR10(const std::string& root, Mode mode, const Source& source);

 private:
  const char* name_;
  Mode mode_;
  Tensor images_, targets_;
};

class CRESSET_API CIFAR100 : public CIFAR10 {
 public:
  explicit CIFAR100(const std::string& root, Mode mode = Mode::kTrain);

  template <typename TransformType>
  MapDataset<CIFAR100, TransformType> map(TransformType transform) {
    return datasets::map(*this, std::move(transform));
  }
};

}  // namespace cresset::data::datasets
