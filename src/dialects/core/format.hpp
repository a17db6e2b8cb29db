// How the settings of one trainer or server become words of a question: a table from key to term, and the rules that
// look at several keys at once.
#pragma once

#include "dialects/core/sheet.hpp"
#include "llmcalc/spec/serving.hpp"
#include "serving/options.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// The use of a key.
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

/// Whose keys they are: a row of presets/dialects/formats.rows.
enum class Dialect {
#include "dialects/formats_names.inc"
};

struct Letter;
struct ServerLetter;

using Rules = void(Sheet&);
/// Gives the keys of another way to write the same the names that the tables have.
using Rename = void(Settings&);
/// The command with the files that it needs, as a shell takes them.
using Write = std::string(Letter&);
using StartServer = std::string(const ServerLetter&);

struct Format {
  Dialect dialect;
  std::string_view name;  ///< "axolotl configuration"
  /// Words of --framework or --engine: the first is meant where the file does not decide it, and the others are started
  /// alike; empty where no file means one.
  std::string_view frameworks;
  std::span<const std::span<const FormatRow>> tables;
  /// The keys that a file of this format has: "tp model+max_model_len !stage" is the first, or both of the next, and
  /// never the last; empty where it is known by its command alone.
  std::string_view keys;
  Rules* rules;
  bool serves = false;  ///< it starts a server
  Rename* rename = nullptr;
  Write* write = nullptr;        ///< nullptr where it is read alone
  StartServer* start = nullptr;  ///< of a server

  std::string_view framework() const { return frameworks.substr(0, frameworks.find(' ')); }
  bool starts(std::string_view word) const;
};

/// The most particular first.
std::span<const Format> formats();

const Format& row_of(Dialect dialect);

bool recognizes(const Format& format, const Settings& settings);

/// Gives settings the names that the tables have.
void rename(const Format& format, Settings& settings);

const FormatRow* find_row(const Format& format, std::string_view key);

/// Whether a table or the engine knows the key.
bool knows_key(const Format& format, std::string_view key);
/// The one key in full that begins so; empty where there is none or several are.
std::string key_beginning(const Format& format, std::string_view beginning);

/// The term that a key says by itself, or with others that say nothing without it; empty for what is assumed instead,
/// or moves nothing.
std::string_view term_of(const Format& format, std::string_view key);

/// Takes out of a server's settings those whose value nobody knows, for an option to say their terms.
/// \return those terms
std::vector<Given> take_open(const Format& format, Settings& settings);

/// Takes over every setting that the tables know, and names those that they do not; then the rules.
void apply(const Format& format, Sheet& sheet);

// What the rows name, each in the source of its dialect.
Rules accelerate_rules, automodel_rules, axolotl_rules, deepspeed_rules, gpt_neox_rules, lightning_rules, litgpt_rules,
    levanter_rules, lms_rules, llama_factory_rules, llama_factory_server_rules, llama_cpp_python_rules,
    llama_server_rules, llm_foundry_rules, maxtext_rules, megatron_bridge_rules, megatron_rules, modelfile_rules,
    ms_swift_rules, ms_swift_megatron_rules, nemo_rules, nemo_rl_rules, ollama_rules, openrlhf_rules, peft_rules,
    prime_rl_rules, primus_rules, sglang_rules, slime_rules, torchtitan_rules, torchtune_rules, trainer_rules,
    trtllm_rules, unsloth_rules, verl_rules, vllm_rules;
Rename complete_llama_factory, open_fsdp_config, rename_gpt_neox, rename_megatron_yaml, rename_nemo, rename_nemo_rl,
    rename_unsloth, take_primus_defaults;
Write write_axolotl, write_lightning, write_litgpt, write_llama_factory, write_megatron, write_ms_swift,
    write_torchtitan, write_torchtune, write_trainer, write_unsloth;
StartServer start_llama_server, start_lms, start_ollama, start_sglang, start_trtllm, start_vllm;

}  // namespace llmcalc::dialects
