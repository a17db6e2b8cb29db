// A file of questions: CSV with a question a row, or YAML with a list of them.
#pragma once

#include "read/given.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// What one row or entry says.
struct RunRow {
  std::string name;  ///< its id, else its place
  std::vector<Given> words;
};

/// \param place  the file's name; one that ends in .yaml, .yml or .json is read as YAML, which JSON is a part of
/// \throws quantity::BadInput with the place of what cannot be read
std::vector<RunRow> read_run_rows(std::string_view text, std::string_view place);

}  // namespace llmcalc::read
