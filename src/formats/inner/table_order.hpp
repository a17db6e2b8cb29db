// Whether the rows of a table stand in the order of the enumeration that looks them up.
#pragma once

#include <cstddef>

namespace llmcalc::formats {

/// \param key  the member of a row that names its enumerator
template <class Table, class Row, class Enum>
constexpr bool in_enumeration_order(const Table& table, Enum Row::*key) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].*key != static_cast<Enum>(i)) return false;
  }
  return true;
}

}  // namespace llmcalc::formats
