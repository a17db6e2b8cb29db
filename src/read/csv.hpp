// Comma-separated values as RFC 4180 has them, with the line of every row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

struct CsvRow {
  std::int64_t line = 0;  ///< of the file, counted from 1, on which the row begins
  std::vector<std::string> cells;
};

/// Reads all rows, the header included. Quoted cells may hold commas, doubled quotes and line breaks; a quote inside a
/// cell that does not begin with one is a character like any other. Lines end in LF, CR LF or CR; a byte-order mark
/// and empty lines are skipped.
/// \param place  the file's name, for messages
/// \throws quantity::BadInput with FILE:LINE:BYTE when a quote is not closed or text follows a closing quote
std::vector<CsvRow> read_csv(std::string_view text, std::string_view place);

}  // namespace llmcalc::read
