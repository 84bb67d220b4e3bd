// Data sets out of data sets: AnyDataset, Subset, random_split, ConcatDataset, StackDataset, ChainDataset.
#pragma once

#include <initializer_list>
#include <memory>
#include <tuple>

#include "cresset/data/datasets/base.h"

namespace cresset::data::datasets {

namespace detail {
CRESSET_API void check_index(const char* who, size_t index, size_t size);
[[noreturn]] CRESSET_API void unsized(const char* who);
// The first part that ends behind the index.
CRESSET_API size_t part_of(const std::vector<size_t>& ends, size_t index);
CRESSET_API std::vector<size_t> split_lengths(size_t size, const std::vector<double>& fractions);
CRESSET_API std::vector<std::vector<size_t>> split_indices(size_t size, const std::vector<size_t>& lengths,
                                                           const std::optional<Generator>& generator);

template <typename D>
size_t known_size(const char* who, const D& dataset) {
  const std::optional<size_t> size = dataset.size();
  if (!size) unsized(who);
  return *size;
}
}  // namespace detail

// A data set of any type that yields SingleExample. Copies share it.
template <typename SingleExample = Example<>>
class AnyDataset : public Dataset<AnyDataset<SingleExample>, SingleExample> {
 public:
  template <typename D>
  requires(!std::is_same_v<std::remove_cvref_t<D>, AnyDataset>) AnyDataset(D dataset)
      : held_(std::make_shared<Held<D>>(std::move(dataset))) {}

  SingleExample get(size_t index) override { return held_->get(index); }
  std::vector<SingleExample> get_batch(ArrayRef<size_t> indices) override { return held_->get_batch(indices); }
  std::optional<size_t> size() const override { return held_->size(); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual SingleExample get(size_t index) = 0;
    virtual std::vector<SingleExample> get_batch(ArrayRef<size_t> indices) = 0;
    virtual std::optional<size_t> size() const = 0;
  };
  template <typename D>
  struct Held : Base {
    explicit Held(D dataset_) : dataset(std::move(dataset_)) {}
    SingleExample get(size_t index) override { return dataset.get(index); }
    std::vector<SingleExample> get_batch(ArrayRef<size_t> indices) override { return dataset.get_batch(indices); }
    std::optional<size_t> size() const override { return dataset.size(); }
    D dataset;
  };
  std::shared_ptr<Base> held_;
};

// The examples of a data set at some of its indices, in that order.
template <typename D>
class Subset : public Dataset<Subset<D>, typename D::ExampleType> {
 public:
  using ExampleType = typename D::ExampleType;

  Subset(D dataset, std::vector<size_t> indices) : dataset_(std::move(dataset)), indices_(std::move(indices)) {
    const size_t size = detail::known_size("Subset", dataset_);
    for (size_t index : indices_) detail::check_index("Subset", index, size);
  }

  ExampleType get(size_t index) override { return dataset_.get(source(index)); }
  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<size_t> sources;
    sources.reserve(indices.size());
    for (size_t index : indices) sources.push_back(source(index));
    return dataset_.get_batch(sources);
  }
  std::optional<size_t> size() const override { return indices_.size(); }
  const std::vector<size_t>& indices() const { return indices_; }

 private:
  size_t source(size_t index) const {
    detail::check_index("Subset", index, indices_.size());
    return indices_[index];
  }
  D dataset_;
  std::vector<size_t> indices_;
};

// Random parts of these lengths, which add up to the size. The default generator's, unless one is given.
template <typename D>
std::vector<Subset<D>> random_split(const D& dataset, const std::vector<size_t>& lengths,
                                    const std::optional<Generator>& generator = std::nullopt) {
  std::vector<Subset<D>> parts;
  for (auto& indices : detail::split_indices(detail::known_size("random_split", dataset), lengths, generator))
    parts.emplace_back(dataset, std::move(indices));
  return parts;
}

// The same by fractions that add up to 1; what rounding leaves over goes to the first parts.
template <typename D>
std::vector<Subset<D>> random_split(const D& dataset, const std::vector<double>& fractions,
                                    const std::optional<Generator>& generator = std::nullopt) {
  const size_t size = detail::known_size("random_split", dataset);
  return random_split(dataset, detail::split_lengths(size, fractions), generator);
}

// random_split(digits, {8000, 2000}) or random_split(digits, {0.8, 0.2}).
template <typename D, typename Number>
std::vector<Subset<D>> random_split(const D& dataset, std::initializer_list<Number> parts,
                                    const std::optional<Generator>& generator = std::nullopt) {
  using Part = std::conditional_t<std::is_floating_point_v<Number>, double, size_t>;
  return random_split(dataset, std::vector<Part>(parts.begin(), parts.end()), generator);
}

// One data set after the other.
template <typename SingleExample = Example<>>
class ConcatDataset : public Dataset<ConcatDataset<SingleExample>, SingleExample> {
 public:
  explicit ConcatDataset(std::vector<AnyDataset<SingleExample>> datasets) : datasets_(std::move(datasets)) {
    size_t total = 0;
    for (const auto& dataset : datasets_) ends_.push_back(total += detail::known_size("ConcatDataset", dataset));
  }

  SingleExample get(size_t index) override {
    detail::check_index("ConcatDataset", index, *size());
    const size_t part = detail::part_of(ends_, index);
    return datasets_[part].get(part == 0 ? index : index - ends_[part - 1]);
  }
  std::optional<size_t> size() const override { return ends_.empty() ? 0 : ends_.back(); }

 private:
  std::vector<AnyDataset<SingleExample>> datasets_;
  std::vector<size_t> ends_;
};

// Data sets side by side: example i is the tuple of their examples i.
template <typename... Ds>
class StackDataset : public Dataset<StackDataset<Ds...>, std::tuple<typename Ds::ExampleType...>> {
 public:
  using ExampleType = std::tuple<typename Ds::ExampleType...>;

  explicit StackDataset(Ds... datasets) : datasets_(std::move(datasets)...) {
    const size_t first = detail::known_size("StackDataset", std::get<0>(datasets_));
    std::apply([&](const auto&... d) { (check("StackDataset", first, *d.size()), ...); }, datasets_);
  }

  ExampleType get(size_t index) override {
    return std::apply([&](auto&... d) { return ExampleType(d.get(index)...); }, datasets_);
  }
  std::optional<size_t> size() const override { return std::get<0>(datasets_).size(); }

 private:
  static void check(const char* who, size_t first, size_t size) {
    CRESSET_CHECK_AS(ShapeError, first == size, who, ": found data sets of ", first, " and ", size,
                     " examples (expected one size)");
  }
  std::tuple<Ds...> datasets_;
};

// Iterable data sets of one type, one after the other.
template <typename D>
class ChainDataset : public IterableDataset<ChainDataset<D>, typename D::ExampleType> {
 public:
  using ExampleType = typename D::ExampleType;

  explicit ChainDataset(std::vector<D> datasets) : datasets_(std::move(datasets)) {}

  std::optional<ExampleType> next() override {
    for (; at_ < datasets_.size(); at_++)
      if (std::optional<ExampleType> one = datasets_[at_].next()) return one;
    return std::nullopt;
  }
  void reset() override {
    for (D& dataset : datasets_) dataset.reset();
    at_ = 0;
  }

 private:
  std::vector<D> datasets_;
  size_t at_ = 0;
};

}  // namespace cresset::data::datasets
