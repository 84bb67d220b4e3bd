// CSV after RFC 4180: delimiter, quoted fields with doubled quotes and line breaks inside, \n or \r\n. Faults are named
// by file, line and column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cresset/core/arg.h"
#include "cresset/core/tensor.h"
#include "cresset/io/unpack_limits.h"

namespace cresset::io {

struct CsvOptions {
  CRESSET_ARG(bool, header) = true;  // the first line names the columns
  CRESSET_ARG(char, delimiter) = ',';
  CRESSET_ARG(char, quote) = '"';
  CRESSET_ARG(std::vector<std::string>, columns);  // those to keep, in this order; empty: all
  CRESSET_ARG(UnpackLimits, limits);               // what a gzip file may become
};

// A table of texts: every row has as many cells as there are columns.
class CRESSET_API CsvTable {
 public:
  const std::vector<std::string>& columns() const { return columns_; }  // "0", "1", … without a header
  size_t rows() const { return lines_.size(); }
  std::string_view at(size_t row, size_t column) const;
  size_t column(std::string_view name) const;  // its error lists the names
  bool contains(std::string_view name) const;

  // Numbers: float32 [rows, columns.size()]; a cell that is no number is an error.
  Tensor numbers(const std::vector<std::string>& columns) const;
  // The distinct texts of a column, sorted.
  std::vector<std::string> classes(std::string_view column) const;
  // int64 [rows]: the place of each cell in `classes`.
  Tensor labels(std::string_view column, const std::vector<std::string>& classes) const;

 private:
  friend CRESSET_API CsvTable parse_csv(std::string_view text, const CsvOptions& options, const std::string& name);
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<size_t> source_;  // the column of the file, for errors
  std::vector<size_t> lines_;   // the line on which each row begins
  // Every cell's text, one after the other, and where each ends: a string of its own would take 32 bytes for a digit.
  std::string text_;
  std::vector<size_t> ends_;
};

CRESSET_API CsvTable parse_csv(std::string_view text, const CsvOptions& options = {},
                               const std::string& name = "<memory>");
CRESSET_API CsvTable read_csv(const std::string& path, const CsvOptions& options = {});  // plain or gzip

}  // namespace cresset::io
