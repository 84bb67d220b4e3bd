// Walks the folders once; the pictures are read later.
#include "cresset/data/datasets/image_folder.h"

#include <algorithm>
#include <filesystem>

#include "cresset/data/datasets/tensor.h"
#include "cresset/ops/all.h"

namespace cresset::data::datasets {
namespace {

namespace fs = std::filesystem;

bool is_image(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::vector<std::string> images_below(const fs::path& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink))
    if (entry.is_regular_file() && is_image(entry.path())) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& root, io::ImageReadMode mode) : mode_(mode) {
  CRESSET_CHECK_AS(IoError, fs::is_directory(root), "ImageFolder: ", root, " is not a folder");
  std::string without;
  try {
    for (const auto& entry : fs::directory_iterator(root))
      if (entry.is_directory()) classes_.push_back(entry.path().filename().string());
    std::sort(classes_.begin(), classes_.end());
    for (size_t i = 0; i < classes_.size(); i++) {
      std::vector<std::string> paths = images_below(fs::path(root) / classes_[i]);
      if (paths.empty()) without += (without.empty() ? "" : ", ") + classes_[i];
      for (std::string& path : paths) samples_.push_back({std::move(path), static_cast<int64_t>(i)});
    }
  } catch (const fs::filesystem_error& error) {
    throw IoError(message_of("ImageFolder: ", error.what()));
  }
  CRESSET_CHECK_AS(IoError, !classes_.empty(), "ImageFolder: ", root, " has no folders (expected one for each class)");
  CRESSET_CHECK_AS(IoError, without.empty(), "ImageFolder: ", root, ": found no .png, .jpg or .jpeg in the folders ",
                   without, " (expected at least one for each class)");
}

ImageFolder& ImageFolder::limits(const io::UnpackLimits& limits) {
  limits_ = limits;
  return *this;
}

ImageFolder& ImageFolder::raw(bool on) {
  raw_ = on;
  return *this;
}

Example<> ImageFolder::get(size_t index) {
  detail::check_index("ImageFolder", index, samples_.size());
  const Sample& sample = samples_[index];
  const Tensor image = io::read_image(sample.path, mode_, limits_);
  return {raw_ ? image : image.to(kFloat).div_(255), scalar_tensor(sample.target, kLong)};
}

}  // namespace cresset::data::datasets
