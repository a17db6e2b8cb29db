#include "read/config/reader.hpp"

#include "llmcalc/quantity/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::read {
namespace {

constexpr std::string_view default_origin = "transformers default";

}  // namespace

std::optional<std::int64_t> ConfigReader::find(const Concept& wanted) {
  auto found = text_model().integer(wanted.keys, wanted.range);
  if (!found) return std::nullopt;
  came_from(wanted.term, std::move(found->pointer));
  return found->value;
}

std::int64_t ConfigReader::need(const Concept& wanted, std::int64_t otherwise) {
  if (const auto found = find(wanted)) return *found;
  if (otherwise > 0) {
    by_default(wanted.term);
    return otherwise;
  }
  if (const auto pointer = text_model().null_at(wanted.keys)) {
    throw quantity::BadInput(document_.at(*pointer), fmt::format("is null, but {} has no default for model_type '{}'",
                                                                 wanted.term, family_.model_type));
  }
  missing_.push_back(&wanted);
  return 0;
}

std::int64_t ConfigReader::value_or(const Concept& wanted, std::int64_t otherwise) {
  if (const auto found = find(wanted)) return *found;
  by_default(wanted.term);
  return otherwise;
}

bool ConfigReader::flag(const Flag& wanted) const {
  if (wanted.key.empty()) return wanted.otherwise;
  const auto found = text_model().boolean({&wanted.key, 1});
  return found ? found->value : wanted.otherwise;
}

std::string ConfigReader::word_or(std::string_view term, Keys keys, std::string_view otherwise) {
  if (auto found = text_model().text(keys)) {
    came_from(term, std::move(found->pointer));
    return found->value;
  }
  by_default(term);
  return std::string(otherwise);
}

void ConfigReader::refuse_missing() const {
  if (missing_.empty()) return;
  throw quantity::BadInput(
      document_.place(),
      fmt::format("lacks keys that model_type '{}' needs: {}", family_.model_type, names_of(missing_)),
      fmt::format("compare with {}", family_.source));
}

void ConfigReader::refuse(std::string_view term, std::string problem) const {
  const auto origin = std::ranges::find(origins_, term, &KeyOrigin::term);
  const bool in_file = origin != origins_.end() && origin->pointer != default_origin;
  throw quantity::BadInput(in_file ? document_.at(origin->pointer) : document_.place(), std::move(problem));
}

void ConfigReader::came_from(std::string_view term, std::string pointer) {
  const auto known = std::ranges::find(origins_, term, &KeyOrigin::term);
  if (known != origins_.end()) {
    known->pointer = std::move(pointer);
  } else {
    origins_.push_back({std::string(term), std::move(pointer)});
  }
}

void ConfigReader::by_default(std::string_view term) { came_from(term, std::string(default_origin)); }

std::string names_of(const std::vector<const Concept*>& wanted) {
  std::string text;
  for (const Concept* one : wanted) {
    if (!text.empty()) text += ", ";
    text += fmt::format("'{}' ({})", one->keys.front(), one->term);
  }
  return text;
}

}  // namespace llmcalc::read
