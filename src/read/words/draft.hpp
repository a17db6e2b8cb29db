// The question while it is being put together: every part of resolve() adds to it and says where a value is from.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "read/given.hpp"
#include "read/presets.hpp"
#include "read/resolve.hpp"
#include "read/words.hpp"
#include "spec/image.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

class QuestionDraft {
 public:
  QuestionDraft(const Words& given, const Catalogue& known, const Values& typed)
      : words(given), catalogue(known), values(typed) {}

  const Words& words;
  const Catalogue& catalogue;
  const Values& values;
  spec::Question question;
  std::optional<formats::Quant> published_quant;  ///< of the weights of the model that was named, where not in 16 bits
  std::int64_t published_group = 0;               ///< inputs that share a scale of those; 0: as usual
  std::string family;                             ///< of the preset that was named; else empty
  std::vector<spec::Assumption> assumptions;
  std::vector<std::string> unread;           ///< of the model's file
  std::vector<spec::ImageRule> image_rules;  ///< of each tower of a model that a file describes

  spec::Shape& shape() { return question.model.shape; }
  spec::Training& training() { return question.training; }
  spec::Layout& layout() { return question.layout; }

  bool given(std::string_view term) const { return words.has(term); }

  /// Applies the word of a term if there is one.
  void take(std::string_view term);

  /// Records where the value of a term comes from.
  void set_origin(std::string_view term, Origin origin);
  void derive(std::string_view term, std::string_view how);  ///< a default with its rule
  /// A default that moves the answer; what was assumed of the term before gives way.
  /// \param text  the value as one types it; empty where `words` say it
  void assume(std::string_view term, std::string_view how, std::string text, std::string words = {});
  /// What is assumed of no single term.
  void assume(std::string words) { assumptions.push_back({.words = std::move(words)}); }

  Origin origin(std::string_view term) const;

  /// Where to look for a term: the place of its word, or else its flag.
  std::string place(std::string_view term) const;

  /// A term with its value, for messages: "--tp 2", or "tp 1 (default)".
  std::string said(std::string_view term) const;

  /// Throws BadInput at the place of `term`, whose word is said to contradict that of `other`.
  [[noreturn]] void contradiction(std::string_view term, std::string_view other, std::string_view why,
                                  std::string hint = {}) const;

 private:
  std::map<std::string, Origin, std::less<>> origins_;
};

}  // namespace llmcalc::read
