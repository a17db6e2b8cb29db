// How the settings of one trainer or server become words of a question: a table from key to term, and the rules that
// look at several keys at once.
#pragma once

#include "dialects/core/sheet.hpp"
#include "llmcalc/spec/serving.hpp"
#include "serving/options.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// What a key is good for.
enum class Use {
  term,      ///< its value is the value of a term
  written,   ///< the same, and the term is printed under this key
  rule,      ///< the format's rules read it
  unmapped,  ///< it moves memory or time, and no term says how
  size,      ///< the same, where a size of 0 says something as well
  alias,     ///< another name of the key `name`
  block,     ///< a level of the file that others leave out, by the beginning of its keys
  harmless   ///< it moves neither
};

/// Their word for a value, and ours.
struct Spelling {
  std::string_view theirs;
  std::string_view ours;
};

/// "theirs=ours ...", or "@name" of a list in presets/dialects/words.rows. "yes" and "no" are those of a switch,
/// however a file writes them; what is ours may be nothing, where theirs says nothing.
std::vector<Spelling> spellings_of(std::string_view words);
/// The first of theirs for ours; empty where they have no word for it.
std::string_view theirs_for(std::string_view ours, std::string_view words);

/// A row of a format's table.
struct FormatRow {
  std::string_view key;  ///< "micro_batch_size"; "wandb_* seed" for all that begin so, and for another
  Use use = Use::harmless;
  std::string_view name = {};  ///< of the term, also of a rule; of an unmapped key, what is assumed instead
  /// Where empty, values are ours already; of several the first is printed. Of an unmapped key, the term with which the
  /// question can say it.
  std::string_view words = {};
};

struct Letter;
struct ServerLetter;

struct Format {
  std::string_view name;       ///< "axolotl configuration"
  std::string_view framework;  ///< word of --framework or --engine; empty where the file does not decide it
  std::span<const std::span<const FormatRow>> tables;
  /// The keys that a file of this format has: "tp model+max_model_len !stage" is the first, or both of the next, and
  /// never the last; empty where it is known by its command alone.
  std::string_view keys;
  void (*rules)(Sheet& sheet);
  bool serves = false;  ///< it starts a server
  /// Gives the keys of another way to write the same the names that the tables have.
  void (*rename)(Settings& settings) = nullptr;
  /// The command with the files that it needs, as a shell takes them; nullptr where it is read alone.
  std::string (*write)(Letter& letter) = nullptr;
  /// Whose options it says beside those of its tables.
  std::optional<spec::Engine> engine = {};
  /// The command that starts the server, after the file that it reads where it needs one.
  std::string (*start)(const ServerLetter& letter) = nullptr;
};

bool recognizes(const Format& format, const Settings& settings);

/// Gives settings the names that the tables have.
void rename(const Format& format, Settings& settings);

const FormatRow* find_row(const Format& format, std::string_view key);

/// Takes out of a server's settings those whose value nobody knows, for an option to say their terms.
/// \return those terms
std::vector<Given> take_open(const Format& format, Settings& settings);

/// Takes over every setting that the tables know, and names those that they do not; then the rules.
void apply(const Format& format, Sheet& sheet);

const Format& accelerate_format();
const Format& automodel_format();
const Format& axolotl_format();
const Format& deepspeed_format();
const Format& lightning_format();
const Format& litgpt_format();
const Format& llama_factory_format();
const Format& llm_foundry_format();
const Format& maxtext_format();
const Format& megatron_format();
const Format& ms_swift_format();
const Format& ms_swift_megatron_format();
const Format& nemo_format();
const Format& nemo_rl_format();
const Format& openrlhf_format();
const Format& prime_rl_format();
const Format& primus_format();
const Format& slime_format();
const Format& torchtitan_format();
const Format& torchtune_format();
const Format& trainer_format();
const Format& unsloth_format();
const Format& verl_format();

const Format& llama_factory_server_format();
const Format& llama_server_format();
const Format& modelfile_format();
const Format& ollama_create_format();
const Format& ollama_format();
const Format& sglang_format();
const Format& trtllm_format();
const Format& vllm_format();

/// Those that a file of settings may be in, the most particular first.
std::span<const Format* const> file_formats();

}  // namespace llmcalc::dialects
