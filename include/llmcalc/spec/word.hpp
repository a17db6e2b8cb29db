// A term of the vocabulary with its text, and where that came from: what is asked, echoed and advised is made of these.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace llmcalc::spec {

/// Who said a word. `flag` is whoever asks, under every door.
enum class Source { flag, row, file, preset, config, user_preset, assumed, default_value };

/// As answers have them.
inline constexpr std::array<std::string_view, 8> source_words{"flag",   "row",         "file",    "preset",
                                                              "config", "user_preset", "assumed", "default"};
constexpr std::string_view word_of(Source source) { return source_words[static_cast<std::size_t>(source)]; }

struct Origin {
  Source source = Source::flag;
  std::string where = {};  ///< "--seq", "runs.csv:12:seq", "axolotl.yaml:27", "llama-3-8b",
                           ///< "config.json:/num_hidden_layers", "hf default"

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// One option of `llmcalc fit` without its dashes, and its value as one types it: {"micro-batch", "4"}.
struct Word {
  std::string term;
  std::string text;  ///< empty where the term does not apply
  Origin origin = {};

  friend bool operator==(const Word&, const Word&) = default;
};

/// Value that nobody said and the answer depends on.
struct Assumption {
  std::string words = {};  ///< why, or all that is said of it
  std::string term = {};   ///< that it is about: whoever says that term has answered it
  std::string text = {};   ///< of the term, where the assumption is a value: "--seq 4096, of an assumed shape"

  bool is_option() const { return !text.empty(); }
  std::string sentence() const;

  friend bool operator==(const Assumption&, const Assumption&) = default;
};

/// "--micro-batch" of "micro_batch".
std::string option_of(std::string_view term);

}  // namespace llmcalc::spec
