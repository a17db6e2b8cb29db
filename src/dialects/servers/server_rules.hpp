// What the commands of engines have in common, read and written.
#pragma once

#include "dialects/core/format.hpp"
#include "dialects/launch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/spec/question.hpp"
#include "read/settings.hpp"

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// vLLM's numbers: k, m and g are decimal, K, M and G binary (vllm/engine/arg_utils.py, human_readable_int).
void take_human_number(Sheet& sheet, std::initializer_list<std::string_view> keys, std::string_view term);

/// The model, which is a word by itself or an option.
void take_served_model(Sheet& sheet, std::initializer_list<std::string_view> keys);

/// "eagle=owner/name", or "eagle" where no checkpoint is named.
std::string eagle_layers(std::string_view checkpoint);

/// The value of a key of an object that is an option's value, or is said key by key (--speculative-config.method mtp).
std::string value_in(const Sheet& sheet, std::string_view key, std::string_view name);

/// --speculative-config as JSON: {"method": "eagle3", "num_speculative_tokens": 3}.
void take_speculation(Sheet& sheet, std::string_view key);

/// --dtype, as vLLM and SGLang have it: how weights rest that nothing quantizes. bfloat16 is the type of the products
/// as well, and of the weights only where they are not published quantized: it says nothing.
void take_weight_type(Sheet& sheet);

/// No command says how it is used.
void assume_load(Sheet& sheet);

/// A server while its command is written.
struct ServerLetter {
  const serving::Deployment& deployment;
  const ServedNames& names;
  spec::Question question;  ///< as it is started: what the engine chose stands in it where the command says it

  std::string text(std::string_view term) const;
  bool asks_context() const;  ///< or the engine takes its own
  /// "VARIABLE=1 ", without which the engine refuses a context beyond what the model was trained with; empty within it.
  std::string beyond_trained(std::string_view variable) const;
  const spec::Serving& serving() const { return question.serving; }
};

/// How a dialect says an option that has a rule.
struct Told {
  std::string_view option;  ///< as it is printed
  /// Empty for a switch; nothing where it is left out.
  std::optional<std::string> (*value)(const ServerLetter& letter);
};

/// An option as it is printed; a switch has no value.
struct Line {
  std::string_view name;
  std::string value;
};

/// All options that the question needs, in the order of the engine's rows.
std::vector<Line> lines_of(const ServerLetter& letter, std::span<const Told> rules);

/// "start --option value --switch"
std::string command_of(std::string start, const std::vector<Line>& lines);

/// A number that splits or adds something.
inline std::optional<std::string> above(std::int64_t least, std::int64_t count) {
  return count > least ? std::optional(std::to_string(count)) : std::nullopt;
}

inline std::optional<std::string> if_so(bool yes, std::string value = {}) {
  return yes ? std::optional(std::move(value)) : std::nullopt;
}

// Options that several dialects have by other names alone.

std::optional<std::string> all_ranks(const ServerLetter& letter);  ///< of a copy, those of copied attention as well
std::optional<std::string> ranks_of_copies(const ServerLetter& letter);
std::optional<std::string> scheme(const ServerLetter& letter);  ///< to which weights are quantized as they load
std::optional<std::string> loras(const ServerLetter& letter);
std::optional<std::string> takes_loras(const ServerLetter& letter);
std::optional<std::string> node_rank(const ServerLetter& letter);  ///< on each node another
std::optional<std::string> drafted(const ServerLetter& letter);    ///< tokens that are proposed, where any are

/// The method that proposes tokens, as a dialect calls it.
struct DraftWords {
  std::string_view own_layers;
  std::string_view eagle;
  std::string_view model;
};

std::optional<std::string> drafter(const ServerLetter& letter, const DraftWords& words);

/// The checkpoint, and the scheme to which the engine is told to quantize it as it loads it.
struct ServedAs {
  std::string model;
  std::optional<std::string> scheme;
};

ServedAs served_as(const ServerLetter& letter);

/// Layers that propose tokens as EAGLE's do are a checkpoint of their own: the one that was named, or is known for the
/// model.
std::optional<std::string> draft_model(const ServerLetter& letter);

/// The note in the place of a command with such layers where no checkpoint is known for the model.
std::string without_layers(const std::string& model);

/// Copies of the whole model, or of its attention alone where all of them share the experts.
std::int64_t copies(const ServerLetter& letter);

/// A repository of GGUF files on the Hub, of which llama.cpp and Ollama fetch the type behind the colon (llama.cpp
/// common/arg.cpp, --hf-repo; huggingface.co/docs/hub/ollama).
bool is_gguf_repository(std::string_view name);

/// The file of such a repository with the type, "owner/name-GGUF:Q8_0".
std::string fetched(const ServedNames& names, formats::Quant quant);

/// The file that was made of other weights, or downloaded.
std::string gguf_file(const ServedNames& names, formats::Quant quant);

/// The type of a cache as ggml calls it.
std::string ggml_word(spec::CacheType type);

/// Empty where the text is none: it begins with an instruction, and one of them is FROM.
std::optional<Settings> parse_modelfile(std::string_view text, std::string_view place);

}  // namespace llmcalc::dialects
