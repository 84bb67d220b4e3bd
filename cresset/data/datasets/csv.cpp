// Chooses the columns.
#include "cresset/data/datasets/csv.h"

#include "cresset/ops/all.h"

namespace cresset::data::datasets {

CsvDataset::CsvDataset(const std::string& path, const CsvDatasetOptions& options)
    : CsvDataset(io::read_csv(path, options.csv()), options) {}

CsvDataset::CsvDataset(const io::CsvTable& table, const CsvDatasetOptions& options)
    : rows_(rows_of(table, options, names_, classes_)) {}

PairDataset CsvDataset::rows_of(const io::CsvTable& table, const CsvDatasetOptions& options,
                                std::vector<std::string>& names, std::vector<std::string>& classes) {
  const std::string& label = options.label();
  names = options.features();
  if (names.empty())
    for (const std::string& column : table.columns())
      if (label.empty() || column != label) names.push_back(column);
  Tensor targets;
  if (label.empty()) {
    targets = zeros({static_cast<int64_t>(table.rows())});
  } else if (options.regression()) {
    targets = table.numbers({label}).squeeze(1);
  } else {
    classes = options.classes().empty() ? table.classes(label) : options.classes();
    targets = table.labels(label, classes);
  }
  return {table.numbers(names), targets};
}

}  // namespace cresset::data::datasets
