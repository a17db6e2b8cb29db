#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"

#include <algorithm>

namespace llmcalc::read {
namespace {

Given said_of(const Term& term, std::string value) {
  return {std::string(term.name), std::move(value), {Source::flag, spec::option_of(term.name)}};
}

bool is_of_model(const Given& word) { return find_term(word.term)->group == TermGroup::model; }

/// A question in words: what was to be kept, and what is said beside it.
class Speaker {
 public:
  Speaker(const spec::Question& question, const std::vector<Given>& base, const Sources& sources)
      : question_(question), base_(base), sources_(sources) {}

  std::vector<Given> shortest(std::span<const std::string_view> first) {
    auto words = complete(with_said(base_, said(first)));
    const auto added = words.begin() + static_cast<std::ptrdiff_t>(base_.size());
    const auto place = [&](const Given& word) { return std::ranges::find(first, word.term) - first.begin(); };
    std::stable_sort(added, words.end(), [&](const Given& a, const Given& b) { return place(a) < place(b); });
    std::ranges::copy(base_, words.begin());  // as it was said
    for (std::size_t i = words.size(); i > base_.size(); --i) {
      auto fewer = words;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i - 1));
      if (asks_the_same(fewer)) words = std::move(fewer);
    }
    return words;
  }

 private:
  std::vector<Given> missing(const std::vector<Given>& words) const {
    return differences(question_, resolved_question(words, sources_.config, sources_.catalogue));
  }

  bool asks_the_same(const std::vector<Given>& words) const try {
    return missing(words).empty();
  } catch (const quantity::BadInput&) {
    return false;
  }

  /// The values of terms that the question has.
  std::vector<Given> said(std::span<const std::string_view> terms) const {
    std::vector<Given> words;
    for (const auto name : terms) {
      const Term& term = *find_term(name);
      std::string value = term.show(question_);
      if (!value.empty()) words.push_back(said_of(term, std::move(value)));
    }
    return words;
  }

  /// A value that is said may change the default of another, so that it takes some rounds; where the words so far
  /// contradict each other, all else is said as well: a value that is nobody's default but of the type is among those
  /// that were to be said first.
  std::vector<Given> complete(std::vector<Given> words) const try {
    constexpr int most_rounds = 4;
    for (int round = 0; round < most_rounds; ++round) {
      const auto more = missing(words);
      if (more.empty()) return words;
      words = with_said(std::move(words), more);
    }
    return words;
  } catch (const quantity::BadInput&) {
    auto all = differences(question_, spec::Question());
    std::erase_if(all, is_of_model);
    return with_said(std::move(words), all);
  }

  const spec::Question& question_;
  const std::vector<Given>& base_;
  const Sources& sources_;
};

}  // namespace

std::vector<Given> differences(const spec::Question& question, const spec::Question& other) {
  std::vector<Given> words;
  for (const Term& term : vocabulary()) {
    std::string value = term.show(question);
    if (term.name == "model" || value.empty() || value == term.show(other)) continue;
    words.push_back(said_of(term, std::move(value)));
  }
  return words;
}

std::vector<Given> with_said(std::vector<Given> words, const std::vector<Given>& others) {
  for (const Given& other : others) {
    auto* said = quantity::find_or_null(words, other.term, &Given::term);
    if (said == nullptr) {
      words.push_back(other);
    } else {
      *said = other;
    }
  }
  return words;
}

std::vector<Given> words_of(const spec::Question& question) {
  auto words = differences(question, spec::Question());
  const auto is_value = [](const Given& word) { return is_of_model(word) || find_term(word.term)->apply == nullptr; };
  std::erase_if(words, is_value);
  return words;
}

std::vector<Given> say(const spec::Question& question, const std::vector<Given>& base,
                       std::span<const std::string_view> first, const Sources& sources) {
  return Speaker(question, base, sources).shortest(first);
}

}  // namespace llmcalc::read
