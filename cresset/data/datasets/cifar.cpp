// Records of one or two label bytes and 3 x 32 x 32 of image.
#include "cresset/data/datasets/cifar.h"

#include <cstring>

#include "cresset/data/datasets/pixels.h"
#include "cresset/data/datasets/tensor.h"
#include "cresset/io/gzip.h"
#include "cresset/ops/all.h"

namespace cresset::data::datasets {
namespace {

constexpr size_t kImage = 3 * 32 * 32;

}  // namespace

CIFAR10::CIFAR10(const std::string& root, Mode mode)
    : CIFAR10(
          root, mode,
          {"CIFAR10",
           mode == Mode::kTrain ? std::vector<std::string>{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                                           "data_batch_4.bin", "data_batch_5.bin"}
                                : std::vector<std::string>{"test_batch.bin"},
           "cifar-10-batches-bin", 1, 10}) {}

CIFAR100::CIFAR100(const std::string& root, Mode mode)
    : CIFAR10(root, mode, {"CIFAR100", {mode == Mode::kTrain ? "train.bin" : "test.bin"}, "cifar-100-binary", 2, 100}) {
}

CIFAR10::CIFAR10(const std::string& root, Mode mode, const Source& source) : name_(source.name), mode_(mode) {
  const size_t record = source.label_bytes + kImage;
  std::vector<std::vector<uint8_t>> files;
  std::vector<std::string> paths;
  size_t count = 0;
  for (const std::string& file : source.files) {
    std::string path = message_of(root, "/", source.folder, "/", file);
    if (!io::file_exists(path)) path = message_of(root, "/", file);
    CRESSET_CHECK_AS(IoError, io::file_exists(path), name_, ": ", file, " was not found (looked in ", root, " and ",
                     root, "/", source.folder, ")");
    files.push_back(io::read_file(path, "CIFAR"));
    CRESSET_CHECK_AS(IoError, !files.back().empty() && files.back().size() % record == 0, name_, ": ", path, ": found ",
                     files.back().size(), " bytes (expected a multiple of ", record,
                     ", the size of a record; truncated?)");
    count += files.back().size() / record;
    paths.push_back(std::move(path));
  }
  images_ = empty_contiguous({static_cast<int64_t>(count), 3, 32, 32}, kByte, kCPU);
  targets_ = empty_contiguous({static_cast<int64_t>(count)}, kLong, kCPU);
  auto* image = images_.data_ptr<uint8_t>();
  auto* target = targets_.data_ptr<int64_t>();
  for (size_t f = 0; f < files.size(); f++)
    for (size_t at = 0; at < files[f].size(); at += record, image += kImage) {
      const uint8_t label = files[f][at + source.label_bytes - 1];
      CRESSET_CHECK_AS(IoError, label < source.labels, name_, ": ", paths[f], ": found label ", int{label},
                       " in record ", at / record, " (expected 0 to ", source.labels - 1, ")");
      *target++ = label;
      std::memcpy(image, files[f].data() + at + source.label_bytes, kImage);
    }
}

Example<> CIFAR10::get(size_t index) {
  detail::check_index(name_, index, *size());
  const auto i = static_cast<int64_t>(index);
  return {floats(images_[i]), targets_[i]};
}

std::vector<Example<>> CIFAR10::get_batch(ArrayRef<size_t> indices) {
  return detail::examples_of(floats(detail::gather_rows(name_, images_, indices)),
                             detail::gather_rows(name_, targets_, indices));
}

std::optional<size_t> CIFAR10::size() const { return static_cast<size_t>(images_.size(0)); }

const std::vector<std::string>& CIFAR10::classes() {
  static const auto& names = *new std::vector<std::string>{"airplane", "automobile", "bird",  "cat",  "deer",
                                                           "dog",      "frog",       "horse", "ship", "truck"};
  return names;
}

}  // namespace cresset::data::datasets
