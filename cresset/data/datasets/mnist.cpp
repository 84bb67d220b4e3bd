// Finds and checks the four files of MNIST.
#include "cresset/data/datasets/mnist.h"

#include "cresset/data/datasets/pixels.h"
#include "cresset/data/datasets/tensor.h"
#include "cresset/io/gzip.h"
#include "cresset/io/idx.h"
#include "cresset/ops/all.h"

namespace cresset::data::datasets {
namespace {

std::string found(const char* name, const std::string& root, const std::string& file) {
  std::string tried;
  for (const std::string& folder : {root, root + "/" + name + "/raw", root + "/raw"})
    for (const char* ending : {"", ".gz"}) {
      std::string path = message_of(folder, "/", file, ending);
      if (io::file_exists(path)) return path;
      tried += (tried.empty() ? "" : ", ") + path;
    }
  throw IoError(message_of(name, ": ", file, " was not found (looked for ", tried, ")"));
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode) : MNIST(root, mode, "MNIST") {}

MNIST::MNIST(const std::string& root, Mode mode, const char* name) : name_(name), mode_(mode) {
  const std::string which = mode == Mode::kTrain ? "train" : "t10k";
  const std::string image_path = found(name, root, which + "-images-idx3-ubyte");
  const std::string label_path = found(name, root, which + "-labels-idx1-ubyte");
  const Tensor images = io::read_idx(image_path, {3, kByte});
  const Tensor labels = io::read_idx(label_path, {1, kByte});
  CRESSET_CHECK_AS(IoError, images.size(1) == 28 && images.size(2) == 28, name, ": ", image_path, ": found images of ",
                   images.size(1), " x ", images.size(2), " (expected 28 x 28)");
  CRESSET_CHECK_AS(IoError, images.size(0) == labels.size(0), name, ": found ", images.size(0), " images in ",
                   image_path, " and ", labels.size(0), " labels in ", label_path, " (expected as many)");
  const auto* values = labels.numel() > 0 ? labels.data_ptr<uint8_t>() : nullptr;
  for (int64_t i = 0; i < labels.numel(); i++)
    CRESSET_CHECK_AS(IoError, values[i] < 10, name, ": ", label_path, ": found label ", int{values[i]}, " at ", i,
                     " (expected 0 to 9)");
  images_ = images.unsqueeze(1);
  targets_ = labels.to(kLong);
}

Example<> MNIST::get(size_t index) {
  detail::check_index(name_, index, *size());
  const auto i = static_cast<int64_t>(index);
  return {floats(images_[i]), targets_[i]};
}

std::vector<Example<>> MNIST::get_batch(ArrayRef<size_t> indices) {
  return detail::examples_of(floats(detail::gather_rows(name_, images_, indices)),
                             detail::gather_rows(name_, targets_, indices));
}

std::optional<size_t> MNIST::size() const { return static_cast<size_t>(images_.size(0)); }

Tensor MNIST::images() const { return floats(images_); }

const std::vector<std::string>& FashionMNIST::classes() {
  static const auto& names = *new std::vector<std::string>{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                                           "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  return names;
}

}  // namespace cresset::data::datasets
