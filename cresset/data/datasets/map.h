// MapDataset: a data set with a transform over each of its batches.
#pragma once

#include <type_traits>

#include "cresset/data/datasets/base.h"

namespace cresset::data::datasets {
namespace detail {

template <bool condition, typename T>
using optional_if_t = std::conditional_t<condition, std::optional<T>, T>;

// The example that the transform makes of one of the source's, where both work on single examples.
template <typename Source, typename Transform>
struct MappedExample {};
template <typename Source, typename Transform>
requires requires {
  typename Source::ExampleType;
  typename Transform::OutputType;
}
struct MappedExample<Source, Transform> {
  using ExampleType = typename Transform::OutputType;
};

}  // namespace detail

template <typename SourceDataset, typename AppliedTransform>
class MapDataset
    : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                          detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>,
                          typename SourceDataset::BatchRequestType>,
      public detail::MappedExample<SourceDataset, AppliedTransform> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType = detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType indices) override {
    auto batch = dataset_.get_batch(std::move(indices));
    if constexpr (SourceDataset::is_stateful) {
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(std::move(batch));
    }
  }

  // One example, where source and transform have such.
  auto get(size_t index) requires requires(SourceDataset& d, AppliedTransform& t) { t.apply(d.get(size_t{})); }
  { return transform_.apply(dataset_.get(index)); }

  std::optional<size_t> size() const noexcept override { return dataset_.size(); }

  void reset() requires requires(SourceDataset& d) { d.reset(); }
  { dataset_.reset(); }

  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

template <typename DatasetType, typename TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  using Source = typename DatasetType::BatchType;
  using Batch = typename std::conditional_t<DatasetType::is_stateful, Source, std::optional<Source>>::value_type;
  static_assert(std::is_same_v<Batch, typename TransformType::InputBatchType>,
                "the data set's batches are not what the transform takes");
  return {std::move(dataset), std::move(transform)};
}

}  // namespace cresset::data::datasets
