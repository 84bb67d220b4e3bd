// ImageFolder: PNG and JPEG files, a folder for each class: root/cat/1.png, root/dog/2.jpg.
#pragma once

#include <string>

#include "cresset/data/datasets/base.h"
#include "cresset/io/image.h"

namespace cresset::data::datasets {

// Yields float32 [C, H, W] from 0 to 1 (uint8 with raw()) and the class as int64. Files are read when asked for; Resize
// or a crop makes them of one size for Stack.
class CRESSET_API ImageFolder : public Dataset<ImageFolder> {
 public:
  explicit ImageFolder(const std::string& root, io::ImageReadMode mode = io::ImageReadMode::RGB);
  ImageFolder& raw(bool on = true);
  ImageFolder& limits(const io::UnpackLimits& limits);  // of each picture

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override { return samples_.size(); }

  const std::vector<std::string>& classes() const { return classes_; }  // the folders' names, sorted
  struct Sample {
    std::string path;
    int64_t target;
  };
  const std::vector<Sample>& samples() const { return samples_; }  // by class, then by path

 private:
  io::ImageReadMode mode_;
  bool raw_ = false;
  io::UnpackLimits limits_ = io::kImageLimits;
  std::vector<std::string> classes_;
  std::vector<Sample> samples_;
};

}  // namespace cresset::data::datasets
