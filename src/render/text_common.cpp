#include "render/inner/text_common.hpp"

#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace llmcalc::render {

MemoryUnit memory_unit_of(const answer::Estimate& estimate, const TextStyle& style) {
  if (const auto asked = find_memory_unit(style.unit)) return *asked;
  const auto& [capacity, needed] = std::tie(estimate.verdict.capacity, estimate.verdict.needed);
  return memory_unit_for(capacity > quantity::Bytes{} ? capacity : needed);
}

namespace {

constexpr std::size_t explanation_indent = 6;

}  // namespace

void add_explanation(Table& table, const answer::Explanation& why, const TextStyle& style) {
  if (!style.explain) return;
  const auto add = [&](std::string_view lead, std::string_view text) {
    if (!text.empty()) table.add_prose(explanation_indent, paint(std::string(lead).append(text), Ink::dim, style));
  };
  add("", why.formula);
  add("= ", why.numbers);
  add("source: ", why.source);
}

constexpr double whole_from = 1e3;    // below, decimals carry information
constexpr double whole_until = 1e15;  // from there on an exponent reads better than six groups of figure_digits
constexpr int figure_digits = 3;

std::string figure_text(double value) {
  if (value >= whole_from && value < whole_until) return quantity::format_count(std::llround(value));
  return quantity::format_number(value, figure_digits);
}

std::string verdict_word(trust::VerdictKind kind, const TextStyle& style) {
  switch (kind) {
    case trust::VerdictKind::fits: return paint("FITS", Ink::good, style);
    case trust::VerdictKind::tight: return paint("TIGHT", Ink::caution, style);
    case trust::VerdictKind::does_not_fit: return paint("DOES NOT FIT", Ink::bad, style);
    case trust::VerdictKind::no_accelerator: break;
  }
  return paint("NO VERDICT", Ink::caution, style);
}

std::string echoed(const Report& report, std::string_view term) {
  const auto* line = quantity::find_or_null(report.question, term, &EchoLine::term);
  return line == nullptr ? std::string() : shown(line->value, Medium::line);
}

std::string host_need_words(const answer::Verdict& verdict) {
  const auto [capacity, needed] = std::pair(verdict.host_capacity, verdict.host_needed);
  if (needed == quantity::Bytes{}) return {};
  const auto gib = quantity::in_gib;
  auto words = fmt::format("host needs {:.2f}", gib(needed));
  if (capacity == quantity::Bytes{}) return words + " GiB a machine";
  words += fmt::format(" of {:.2f} GiB a machine", gib(capacity));
  return needed > capacity ? fmt::format("{}, {:.2f} short", words, gib(needed - capacity)) : words;
}

std::string options_of(const search::Advice& advice) {
  std::string options;
  for (const auto& [term, value] : advice.terms) {
    std::string name = term;
    std::ranges::replace(name, '_', '-');
    options += fmt::format("{}--{} {}", options.empty() ? "" : " ", name, value);
  }
  return options;
}

std::string peak_words(const answer::MemoryAnswer& memory) {
  const auto place = memory.peak_place.empty() ? std::string(memory::name_of(memory.peak_phase)) : memory.peak_place;
  if (memory.stages.size() < 2) return "peak in " + place;
  return fmt::format("peak in {} on pipeline stage {} of {}", place, memory.stage, memory.stages.size());
}

}  // namespace llmcalc::render
