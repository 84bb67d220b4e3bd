// One pass over the text, a record at a time.
#include "cresset/io/csv.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "cresset/io/gzip.h"

namespace cresset::io {
namespace {

// A line of delimiters alone would otherwise take 32 times its size.
constexpr size_t kMostColumns = size_t{1} << 20;

class Reader {
 public:
  Reader(std::string_view text, const CsvOptions& options, const std::string& name)
      : text_(text), options_(options), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark
  }

  // The next record, empty lines skipped; false at the end.
  bool next(std::vector<std::string>& fields) {
    while (at_ < text_.size() && end_of_line()) skip_line_end();
    fields.clear();
    record_line_ = line_;
    if (at_ >= text_.size()) return false;
    while (true) {
      column_ = fields.size() + 1;
      CRESSET_CHECK_AS(IoError, column_ <= kMostColumns, "read_csv: ", name_, ": line ", line_, ": found more than ",
                       kMostColumns, " columns (expected at most that many)");
      fields.push_back(at_ < text_.size() && text_[at_] == options_.quote() ? quoted() : plain());
      if (at_ >= text_.size()) return true;
      if (end_of_line()) {
        skip_line_end();
        return true;
      }
      CRESSET_CHECK_AS(IoError, text_[at_] == options_.delimiter(), where(), ": found '", text_[at_],
                       "' after a quoted field (expected '", options_.delimiter(), "' or the end of the line)");
      at_++;
    }
  }
  size_t line() const { return record_line_; }

 private:
  std::string where() const { return message_of("read_csv: ", name_, ": line ", line_, ", column ", column_); }
  bool end_of_line() const { return text_[at_] == '\n' || text_[at_] == '\r'; }
  void skip_line_end() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') at_++;
    at_++;
    line_++;
  }
  std::string plain() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != options_.delimiter() && !end_of_line()) at_++;
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string quoted() {
    const size_t opened = line_;
    std::string field;
    for (at_++; at_ < text_.size(); at_++) {
      const char c = text_[at_];
      if (c == options_.quote()) {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != options_.quote()) {
          at_++;
          return field;
        }
        at_++;
      } else if (c == '\n') {
        line_++;
      }
      field += c;
    }
    throw IoError(message_of("read_csv: ", name_, ": line ", opened, ", column ", column_,
                             ": a quoted field has no end (expected ", options_.quote(), ")"));
  }

  std::string_view text_;
  const CsvOptions& options_;
  const std::string& name_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t record_line_ = 1;
  size_t column_ = 1;
};

std::string list_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 20;
  std::string out;
  for (size_t i = 0; i < names.size() && i < kShown; i++) out += (i ? ", " : "") + names[i];
  return names.size() > kShown ? out + ", …" : out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class Wide>
std::errc parse(std::string_view text, float& value) {
  Wide wide = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wide);
  value = static_cast<float>(wide);
  return end == text.data() + text.size() ? error : std::errc::invalid_argument;
}

// What float32 cannot hold becomes infinite, or 0, as in Python; long doubles tell which.
bool number(std::string_view text, float& value) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::errc error = parse<double>(text, value);
  if (error == std::errc::result_out_of_range) error = parse<long double>(text, value);
  return error == std::errc();
}

// The place of a column by its name.
size_t place_of(const std::vector<std::string>& names, std::string_view name, const std::string& file) {
  const auto found = std::find(names.begin(), names.end(), name);
  CRESSET_CHECK_AS(IoError, found != names.end(), "read_csv: ", file, ": no column \"", name, "\" (it has ",
                   list_of(names), ")");
  CRESSET_CHECK_AS(IoError, std::find(found + 1, names.end(), name) == names.end(), "read_csv: ", file,
                   ": more than one column is called \"", name, "\" (it has ", list_of(names), ")");
  return static_cast<size_t>(found - names.begin());
}

}  // namespace

std::string_view CsvTable::at(size_t row, size_t column) const {
  CRESSET_CHECK_AS(IndexError, row < rows() && column < columns_.size(), "CsvTable: found row ", row, ", column ",
                   column, " (expected less than ", rows(), " and ", columns_.size(), ")");
  const size_t cell = row * columns_.size() + column, begin = cell == 0 ? 0 : ends_[cell - 1];
  return std::string_view(text_).substr(begin, ends_[cell] - begin);
}

bool CsvTable::contains(std::string_view name) const {
  return std::find(columns_.begin(), columns_.end(), name) != columns_.end();
}

size_t CsvTable::column(std::string_view name) const { return place_of(columns_, name, name_); }

Tensor CsvTable::numbers(const std::vector<std::string>& columns) const {
  std::vector<size_t> wanted;
  wanted.reserve(columns.size());
  for (const std::string& name : columns) wanted.push_back(column(name));
  Tensor out = empty_contiguous({static_cast<int64_t>(rows()), static_cast<int64_t>(wanted.size())}, kFloat, kCPU);
  if (out.numel() == 0) return out;
  auto* values = out.data_ptr<float>();
  for (size_t row = 0; row < rows(); row++)
    for (size_t c : wanted)
      CRESSET_CHECK_AS(IoError, number(at(row, c), *values++), "read_csv: ", name_, ": line ", lines_[row], ", column ",
                       source_[c] + 1, " (\"", columns_[c], "\"): found \"", at(row, c), "\" (expected a number)");
  return out;
}

std::vector<std::string> CsvTable::classes(std::string_view name) const {
  const size_t c = column(name);
  std::vector<std::string> names;
  for (size_t row = 0; row < rows(); row++) names.emplace_back(at(row, c));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Tensor CsvTable::labels(std::string_view name, const std::vector<std::string>& classes) const {
  const size_t c = column(name);
  std::unordered_map<std::string_view, int64_t> places;
  for (size_t i = 0; i < classes.size(); i++) places.emplace(classes[i], static_cast<int64_t>(i));
  Tensor out = empty_contiguous({static_cast<int64_t>(rows())}, kLong, kCPU);
  for (size_t row = 0; row < rows(); row++) {
    const auto found = places.find(at(row, c));
    CRESSET_CHECK_AS(IoError, found != places.end(), "read_csv: ", name_, ": line ", lines_[row], ", column ",
                     source_[c] + 1, " (\"", columns_[c], "\"): found \"", at(row, c), "\" (expected one of ",
                     list_of(classes), ")");
    out.data_ptr<int64_t>()[row] = found->second;
  }
  return out;
}

CsvTable parse_csv(std::string_view text, const CsvOptions& options, const std::string& name) {
  Reader reader(text, options, name);
  CsvTable table;
  table.name_ = name;
  std::vector<std::string> fields;
  std::vector<std::string> names;
  bool more = reader.next(fields);
  CRESSET_CHECK_AS(IoError, more, "read_csv: ", name, ": found no line (expected ",
                   options.header() ? "a header)" : "at least one)");
  if (options.header()) {
    names = fields;
    more = reader.next(fields);
  } else {
    for (size_t i = 0; i < fields.size(); i++) names.push_back(std::to_string(i));
  }
  table.columns_ = options.columns().empty() ? names : options.columns();
  for (size_t i = 0; i < table.columns_.size(); i++)
    table.source_.push_back(options.columns().empty() ? i : place_of(names, table.columns_[i], name));
  for (; more; more = reader.next(fields)) {
    CRESSET_CHECK_AS(IoError, fields.size() == names.size(), "read_csv: ", name, ": line ", reader.line(), ", column ",
                     std::min(fields.size(), names.size()) + 1, ": found ", fields.size(), " fields (expected ",
                     names.size(), ")");
    table.lines_.push_back(reader.line());
    for (size_t source : table.source_) {
      table.text_ += fields[source];
      table.ends_.push_back(table.text_.size());
    }
  }
  return table;
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  const std::vector<uint8_t> bytes = read_maybe_gzip(path, "read_csv", options.limits());
  return parse_csv({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, options, path);
}

}  // namespace cresset::io
