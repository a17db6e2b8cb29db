#include "read/presets/spelling.hpp"

#include "llmcalc/quantity/text.hpp"
#include "read/presets/names.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace llmcalc::read {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_separator(char c) { return c == '-' || c == '_' || c == ' ' || c == '/' || c == ':'; }

/// What stands around the name of a card and does not tell it from another.
constexpr std::array<std::string_view, 14> card_words{"nvidia",     "amd",     "intel",    "geforce",    "tesla",
                                                      "quadro",     "radeon",  "instinct", "graphics",   "gpu",
                                                      "generation", "edition", "server",   "workstation"};

/// What people leave out where the number says enough: "4070 ti super".
constexpr std::array<std::string_view, 4> card_series{"rtx", "gtx", "rx", "arc"};

/// How a checkpoint was tuned, packed or dated. What changes the shape (distill, mini, vl, coder) is none of these.
constexpr std::array<std::string_view, 27> model_words{"instruct", "it",      "chat", "base", "hf",   "bnb",  "4bit",
                                                       "8bit",     "unsloth", "gguf", "gptq", "awq",  "mlx",  "fp8",
                                                       "fp16",     "bf16",    "int4", "int8", "pt",   "meta", "nf4",
                                                       "dynamic",  "w4a16",   "2501", "2503", "2506", "2507"};

constexpr std::string_view unit = "gb";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto* const end = std::ranges::find_if(text, is_separator);
    const auto length = static_cast<std::size_t>(end - text.begin());
    if (length > 0) words.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return words;
}

std::string without(std::string_view name, auto const& words) {
  const std::string lower = quantity::to_lower(name);
  std::string rest;
  for (const auto word : words_of(lower)) {
    if (std::ranges::find(words, word) == words.end()) rest += word;
  }
  return rest;
}

}  // namespace

std::string card_spelling(std::string_view name) { return without(name, card_words); }

std::string card_without_series(std::string_view name) {
  std::string rest;
  for (const auto word : words_of(name)) {
    const auto lower = quantity::to_lower(word);
    if (std::ranges::find(card_series, lower) == card_series.end()) rest.append(rest.empty() ? "" : "-").append(lower);
  }
  const auto spelling = card_spelling(rest);
  const bool is_number = spelling.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::string() : spelling;
}

std::int64_t capacity_in(std::string_view name) {
  constexpr std::size_t most_digits = 4;
  const auto words = words_of(name);
  const auto last = words.empty() ? std::string() : quantity::to_lower(words.back());
  const auto digits = std::min(last.find_first_not_of("0123456789"), last.size());
  const bool is_one = digits > 0 && digits <= most_digits && std::string_view(last).substr(digits) == "gb";
  return is_one ? std::stoll(last.substr(0, digits)) : 0;
}

std::string card_without_capacity(std::string_view name) {
  const auto spelling = card_spelling(name);
  const auto capacity = capacity_in(name);
  if (capacity == 0) return spelling;
  return spelling.substr(0, spelling.size() - std::to_string(capacity).size() - unit.size());
}

std::string card_with_bare_capacity(std::string_view name) {
  const auto spelling = card_spelling(name);
  return capacity_in(name) == 0 ? spelling : spelling.substr(0, spelling.size() - unit.size());
}

std::string model_spelling(std::string_view name) { return without(without_organisation(name), model_words); }

std::string_view size_in(std::string_view name) {
  for (std::size_t start = 0; start < name.size();) {
    if (!is_digit(name[start]) || (start > 0 && !is_separator(name[start - 1]))) {
      ++start;
      continue;
    }
    auto end = start;
    while (end < name.size() && (is_digit(name[end]) || name[end] == '.')) ++end;
    const bool sized = end < name.size() && (name[end] == 'b' || name[end] == 'm');
    if (sized && (end + 1 == name.size() || is_separator(name[end + 1]))) return name.substr(start, end + 1 - start);
    start = end;
  }
  return {};
}

}  // namespace llmcalc::read
