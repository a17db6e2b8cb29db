#include "render/inner/card.hpp"

#include <utility>

namespace llmcalc::render {

Card::Card(std::string_view title) : table_({Align::left, Align::left}) {
  table_.wrap_last_column();
  table_.add_line(std::string(title));
}

void Card::add(std::string_view label, std::string value) {
  if (!value.empty()) table_.add_row({std::string(label), std::move(value)});
}

void Card::add_heading(std::string_view heading) {
  table_.add_line({});
  table_.add_line("  " + std::string(heading));
}

std::string unless_zero(std::int64_t value) { return value == 0 ? std::string() : std::to_string(value); }

}  // namespace llmcalc::render
