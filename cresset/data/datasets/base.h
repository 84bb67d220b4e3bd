// What a data set is: BatchDataset yields batches, Dataset single examples by index, StatefulDataset and
// IterableDataset streams that end. libtorch's classes, with the last from PyTorch.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "cresset/data/example.h"
#include "cresset/data/random.h"

namespace cresset::serialize {
class OutputArchive;
class InputArchive;
}  // namespace cresset::serialize

namespace cresset::data::datasets {

template <typename SourceDataset, typename AppliedTransform>
class MapDataset;
template <typename DatasetType, typename TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform);

namespace detail {
template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
}  // namespace detail

template <typename Self, typename Batch = std::vector<Example<>>, typename BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = detail::is_optional<BatchType>;

  virtual ~BatchDataset() = default;

  virtual Batch get_batch(BatchRequest request) = 0;
  virtual std::optional<size_t> size() const = 0;  // nothing: nobody knows

  // This data set with a transform over each batch.
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return datasets::map(static_cast<Self&>(*this), std::move(transform));
  }
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return datasets::map(std::move(static_cast<Self&>(*this)), std::move(transform));
  }
};

template <typename Self, typename SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual ExampleType get(size_t index) = 0;

  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (size_t i = 0; i < indices.size(); i++) {
      const data::detail::SampleScope sample(i);
      batch.push_back(get(indices[i]));
    }
    return batch;
  }
};

// Takes the number of examples in place of indices.
template <typename Self, typename Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

// A stream that ends with an empty optional and starts over at reset(). A loader's workers share it, one at a time.
template <typename Self, typename Batch = std::vector<Example<>>, typename BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  virtual void reset() = 0;
  // libtorch's, for a program's own use: a loader finds its place in a stream by reading up to it.
  virtual void save(serialize::OutputArchive& /* archive */) const {}
  virtual void load(serialize::InputArchive& /* archive */) {}
};

// torch::save(*dataset, path) and load.
template <typename Self, typename Batch, typename BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const StatefulDataset<Self, Batch, BatchRequest>& dataset) {
  dataset.save(archive);
  return archive;
}
template <typename Self, typename Batch, typename BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    StatefulDataset<Self, Batch, BatchRequest>& dataset) {
  dataset.load(archive);
  return archive;
}

// PyTorch's: next() gives one example after another.
template <typename Self, typename SingleExample = Example<>>
class IterableDataset : public StatefulDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual std::optional<ExampleType> next() = 0;

  std::optional<std::vector<ExampleType>> get_batch(size_t count) override {
    std::vector<ExampleType> batch;
    for (size_t i = 0; i < count; i++) {
      const data::detail::SampleScope sample(i);
      std::optional<ExampleType> one = next();
      if (!one) break;
      batch.push_back(std::move(*one));
    }
    if (batch.empty()) return std::nullopt;
    if (auto* scope = data::detail::BatchScope::current()) scope->note_examples(batch.size());
    return batch;
  }
  std::optional<size_t> size() const override { return std::nullopt; }
};

}  // namespace cresset::data::datasets

namespace cresset::data {
using datasets::BatchDataset;
using datasets::Dataset;
using datasets::IterableDataset;
using datasets::StatefulDataset;
using datasets::StreamDataset;
}  // namespace cresset::data
