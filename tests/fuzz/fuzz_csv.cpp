// Any bytes as a CSV file: a table whose cells can all be read, or an IoError.
// sources: cresset/io/csv.cpp
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cresset/core/error.h"
#include "cresset/io/csv.h"
#include "tests/fuzz/seeds.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  cresset::fuzz::write_seeds(*argc, *argv,
                             {"\x01"
                              "a,b,c\n1,2.5,-3e4\n\"x, \"\"y\"\"\nz\",,7\r\n",
                              "\x03"
                              "a;b\n1;2\n",
                              "\x02"
                              "1;2\n3;4",
                              "\x01"
                              "\xEF\xBB\xBF"
                              "a\n\n\n1\n",
                              "\x01"
                              "a,b\n1\n",
                              "\x01"
                              "\"unclosed"});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  cresset::io::CsvOptions options;
  options.header((data[0] & 1) != 0).delimiter((data[0] & 2) != 0 ? ';' : ',');
  try {
    const auto table = cresset::io::parse_csv({reinterpret_cast<const char*>(data + 1), size - 1}, options);
    size_t letters = 0;
    for (size_t row = 0; row < table.rows(); row++)
      for (size_t column = 0; column < table.columns().size(); column++) letters += table.at(row, column).size();
    if (letters > size) __builtin_trap();
    table.labels(table.columns()[0], table.classes(table.columns()[0]));
    table.numbers(table.columns());
  } catch (const cresset::IoError&) {
  }
  return 0;
}
