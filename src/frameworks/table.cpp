#include "llmcalc/frameworks/table.hpp"

#include "frameworks/rows_megatron.hpp"
#include "frameworks/rows_textbook.hpp"
#include "frameworks/rows_torch.hpp"
#include "frameworks/rows_trainer.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::frameworks {

namespace {

constexpr auto framework_count = static_cast<std::size_t>(spec::Framework::count);

using Table = std::array<const Row*, framework_count>;

constexpr void put(Table& table, std::span<const Row> rows) {
  for (const Row& row : rows) table[static_cast<std::size_t>(row.framework)] = &row;
}

constexpr Table assemble() {
  Table table{};
  for (const std::span<const Row> rows : {std::span<const Row>(textbook_rows), std::span<const Row>(trainer_rows),
                                          std::span<const Row>(torch_rows), std::span<const Row>(megatron_rows)}) {
    put(table, rows);
  }
  return table;
}

constexpr Table table = assemble();

static_assert(std::ranges::find(table, nullptr) == table.end(), "a framework of the enumeration has no row");

constexpr std::size_t count_words() {
  std::size_t sum = 0;
  for (const Row* row : table) sum += row->words.size();
  return sum;
}

constexpr auto list_words() {
  std::array<spec::Named<spec::Framework>, count_words()> all{};
  std::size_t next = 0;
  for (const Row* row : table) {
    for (const std::string_view word : row->words) all[next++] = {row->framework, word};
  }
  return all;
}

constexpr auto words = list_words();

}  // namespace

const Row& row_of(spec::Framework framework) { return *table[static_cast<std::size_t>(framework)]; }

std::span<const Row* const> rows() { return table; }

}  // namespace llmcalc::frameworks

namespace llmcalc::spec {

template <>
std::span<const Named<Framework>> vocabulary<Framework>() {
  return frameworks::words;
}

}  // namespace llmcalc::spec
