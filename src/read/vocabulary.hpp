// The vocabulary of a run: every term is a flag of `llmcalc fit` or of `llmcalc serve` and a column of the schema of
// measured runs. Terms of model and hardware are one and the same under both.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::spec {
struct MemoryLimits;
struct Question;
}  // namespace llmcalc::spec

namespace llmcalc::read {

enum class TermGroup { model, run, engine, load, layout, hardware, answer };

/// Values that a term takes, and how they are read and shown.
struct TermValue {
  std::string_view values;                   ///< "integer", "0|1"; empty where `words` says it
  std::vector<std::string_view> (*words)();  ///< of a closed vocabulary; nullptr elsewhere
  /// Sets the value from text; throws quantity::BadInput at `place`. nullptr for what resolve() takes up by itself
  /// (model, gpu, gpus_per_node).
  void (*apply)(spec::Question& question, std::string_view text, std::string_view place);
  /// The effective value as text; empty when it does not apply.
  std::string (*show)(const spec::Question& question);
};

/// One term, written once in presets/vocabulary: parsing, echo, help and documentation follow from it.
struct Term : TermValue {
  std::string_view name;  ///< "kv_heads"; the flag is --kv-heads
  TermGroup group;
  std::string_view help;
};

std::span<const Term> vocabulary();          ///< of a training run
std::span<const Term> serving_vocabulary();  ///< of a server

/// The term of that name ("kv_heads" or "kv-heads") in either vocabulary, or nullptr.
const Term* find_term(std::string_view name);

/// "kv_heads" -> "kv-heads"
std::string option_name(std::string_view term);

/// Values that a term takes, for help and documentation: "integer", or "gelu|relu|...".
std::string values_of(const Term& term);

/// A word that stands for several terms, or for a term in another spelling; resolve() expands it.
struct Shorthand {
  std::string_view name;
  TermGroup group;
  std::string_view values;
  std::string_view help;
};

/// params, config, dtype, zero, inter_node.
std::span<const Shorthand> shorthands();

/// Those of the model, which a server shares with a training run; the others say how one is trained.
bool describes_model(const Shorthand& shorthand);

/// The shorthand of that name ("inter_node" or "inter-node"), or nullptr.
const Shorthand* find_shorthand(std::string_view name);

/// "2GiB", or a share of an accelerator's memory, as "10%".
/// \throws quantity::BadInput at `place`
void take_margin(std::string_view text, std::string_view place, spec::MemoryLimits& limits);

/// Every name of the vocabulary and of its shorthands, for "did you mean".
std::vector<std::string_view> all_term_names();

/// The options that another program's name stands for, of a trainer's first: "micro-batch" and "concurrency" of
/// "batch-size". Underscores count as dashes.
std::vector<std::string_view> synonyms_of(std::string_view name);

/// Words to say in the place of another program's switch that is no option here: "--method qlora" of "qlora"; empty
/// where the name is nobody's.
std::string_view saying_of(std::string_view name);

/// A refusal of a word that is none of those known, with what to say instead.
[[noreturn]] void throw_unknown_word(std::string_view text, std::string_view place,
                                     const std::vector<std::string_view>& known);

}  // namespace llmcalc::read
