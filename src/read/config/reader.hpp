// Reads values of a configuration into a shape and remembers where each came from.
#pragma once

#include "llmcalc/read/config.hpp"
#include "read/config/concepts.hpp"
#include "read/config/document.hpp"
#include "read/config/families.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

class ConfigReader {
 public:
  ConfigReader(const ConfigDocument& document, const Family& family) : document_(document), family_(family) {}

  const Family& family() const { return family_; }
  const ConfigDocument& document() const { return document_; }
  const ConfigObject& text_model() const { return document_.text_model(); }

  /// The value of a concept if the file has one.
  std::optional<std::int64_t> find(const Concept& wanted);
  /// The value of a concept, else the family's; where there is neither, 0 until refuse_missing().
  /// \throws quantity::BadInput where a key is null that has no default
  std::int64_t need(const Concept& wanted, std::int64_t otherwise = 0);
  /// The value of a concept or what stands for it.
  std::int64_t value_or(const Concept& wanted, std::int64_t otherwise);
  bool flag(const Flag& wanted) const;
  /// A word of the file under the first of these keys, else the family's.
  std::string word_or(std::string_view term, Keys keys, std::string_view otherwise);

  /// \throws quantity::BadInput that lists every key that need() asked for in vain
  void refuse_missing() const;
  /// \throws quantity::BadInput at the key that gave `term`, or at the file
  [[noreturn]] void refuse(std::string_view term, std::string problem) const;

  void came_from(std::string_view term, std::string pointer);
  void by_default(std::string_view term);
  void note(std::string text) { notes_.push_back(std::move(text)); }

  std::vector<KeyOrigin> take_origins() { return std::move(origins_); }
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  const ConfigDocument& document_;
  const Family& family_;
  std::vector<const Concept*> missing_;
  std::vector<KeyOrigin> origins_;
  std::vector<std::string> notes_;
};

/// "'num_hidden_layers' (layers), 'vocab_size' (vocab)": each with its commonest key.
std::string names_of(const std::vector<const Concept*>& wanted);

}  // namespace llmcalc::read
