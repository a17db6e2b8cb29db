#include "spec/names.hpp"

#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/formats/quant.hpp"
#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/rates.hpp"
#include "llmcalc/spec/serving.hpp"
#include "llmcalc/spec/training.hpp"
#include "llmcalc/spec/word.hpp"
#include "quantity/lists.hpp"
#include "spec/image.hpp"
#include "spec/measurement.hpp"

namespace llmcalc::spec {

template <class E>
std::span<const Named<E>> vocabulary() {
  return words_of(Named<E>());
}

#include "engines/names.inc"
#include "names/names.inc"

namespace {

constexpr Named<formats::Quant> other_words[] = {
#include "formats/quant_words.inc"
};

constexpr Named<formats::Quant> mixtures[] = {
#include "formats/mixtures.inc"
};

std::vector<Named<formats::Quant>> all_words() {
  const auto word = [](const formats::QuantFacts& facts) { return Named<formats::Quant>{facts.quant, facts.name}; };
  auto words = quantity::mapped(formats::all_quants(), word);
  quantity::append(words, other_words);
  return words;
}

}  // namespace

template <>
std::span<const Named<formats::Quant>> vocabulary<formats::Quant>() {
  static const std::vector<Named<formats::Quant>> words = all_words();
  return words;
}

std::optional<formats::Quant> nearest_type(std::string_view mixture) {
  const auto* found = quantity::find_or_null(mixtures, mixture, &Named<formats::Quant>::name);
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

std::string option_of(std::string_view term) {
  std::string option = "--" + std::string(term);
  std::ranges::replace(option, '_', '-');
  return option;
}

std::string Assumption::sentence() const {
  if (!is_option()) return words;
  return option_of(term) + " " + text + (words.empty() ? "" : ", " + words);
}

}  // namespace llmcalc::spec
