// CsvDataset: rows of a CSV file as float32 features, with one column as the target.
#pragma once

#include <string>

#include "cresset/data/datasets/tensor.h"
#include "cresset/io/csv.h"

namespace cresset::data::datasets {

struct CsvDatasetOptions {
  CsvDatasetOptions() = default;
  CsvDatasetOptions(std::string label) : label_(std::move(label)) {}
  CRESSET_ARG(std::string, label);                  // the target's column; empty: no target, a float 0
  CRESSET_ARG(std::vector<std::string>, features);  // empty: all other columns
  CRESSET_ARG(bool, regression) = false;            // the target is a float32 number, not a class
  CRESSET_ARG(std::vector<std::string>, classes);   // the classes' names; empty: those in the file, sorted
  CRESSET_ARG(io::CsvOptions, csv);
};

class CRESSET_API CsvDataset : public Dataset<CsvDataset> {
 public:
  CsvDataset(const std::string& path, const CsvDatasetOptions& options = {});

  Example<> get(size_t index) override { return rows_.get(index); }
  std::vector<Example<>> get_batch(ArrayRef<size_t> indices) override { return rows_.get_batch(indices); }
  std::optional<size_t> size() const override { return rows_.size(); }

  const Tensor& features() const { return rows_.data; }  // [N, features]
  const Tensor& targets() const { return rows_.target; }
  const std::vector<std::string>& feature_names() const { return names_; }
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  CsvDataset(const io::CsvTable& table, const CsvDatasetOptions& options);
  static PairDataset rows_of(const io::CsvTable& table, const CsvDatasetOptions& options,
                             std::vector<std::string>& names, std::vector<std::string>& classes);
  std::vector<std::string> names_;
  std::vector<std::string> classes_;
  PairDataset rows_;
};

}  // namespace cresset::data::datasets
