// By which names a preset is found: its own, those that people, drivers and hubs spell, and what somebody may have
// meant.
#pragma once

#include "llmcalc/formats/quant.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// Equal without regard to the case of ASCII letters.
bool same_name(std::string_view a, std::string_view b);

/// "Meta-Llama-3-8B" of "meta-llama/Meta-Llama-3-8B".
std::string_view without_organisation(std::string_view hf_id);

/// Whether a name is one of the Hub, with its organisation.
bool is_repository(std::string_view name);

/// Equality but for case and separators, of a repository without its organisation too: "llama3.1:8b", "llama-3.1-8b".
bool is_spelled_alike(std::string_view known, std::string_view name);

/// The items of a list that is joined by '|'.
std::vector<std::string_view> split_aliases(std::string_view joined);

/// Every name that leads to one preset.
struct PresetNames {
  std::string_view id;
  std::vector<std::string_view> aliases;
  std::string_view hf_id;

  bool contains(std::string_view name) const;
  void append_to(std::vector<std::string_view>& names) const;
};

/// Whether a word around the name of a card or a machine, its maker's or its landlord's, tells it from no other.
bool is_card_word(std::string_view word);

/// The core of a card's name, without case, separators and the words that makers put around it: "rtx4090" of
/// "NVIDIA GeForce RTX 4090", "h10080gbhbm3" of "NVIDIA H100 80GB HBM3" (as nvidia-smi says it).
std::string card_spelling(std::string_view name);

/// That core without the name of the series: "4070tisuper" of "RTX 4070 Ti Super"; empty where a bare number is left,
/// which cards of several series have.
std::string card_without_series(std::string_view name);

/// That core without a capacity at the end: "rtx4090" of "RTX 4090 24GB".
std::string card_without_capacity(std::string_view name);

/// That core with the capacity as a bare number: "rtx5060ti8" of "RTX 5060 Ti 8GB".
std::string card_with_bare_capacity(std::string_view name);

/// The GB at the end of a card's name; 0 where it says none.
std::int64_t capacity_in(std::string_view name);

/// The core of a model's name, without its organisation, case, separators and the words that say how it was tuned
/// or packed: "llama3.18b" of "unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit".
std::string model_spelling(std::string_view name);

/// That core with its maker before it, as bartowski names repositories: "qwenqwen332b" of "Qwen/Qwen3-32B" and
/// "bartowski/Qwen_Qwen3-32B-GGUF".
std::string spelling_with_maker(std::string_view name);

/// A name without case and separators.
std::string plain_spelling(std::string_view name);

/// How a checkpoint's name says that its weights are packed: AWQ of "Qwen2.5-7B-Instruct-AWQ", Q4_K_M of
/// "llama3.1:8b-instruct-q4_K_M", 16 bits of "gpt-oss-20b-BF16"; empty where it says nothing.
/// \param repository  the model's own, whose publisher's words a name without one is in
std::optional<formats::Quant> packing_in(std::string_view name, std::string_view repository);

/// Whether a name ends with a mixture that its publisher made for that model: "Qwen3-8B-UD-Q4_K_XL".
bool is_mixed_by_hand(std::string_view name);

/// Whether a checkpoint's name says in how many bits its weights are packed and not how, as MLX's do: "Qwen3-8B-4bit".
bool says_bits_alone(std::string_view name);

/// The part of a model's name that says its size, "8b" of "llama-3.1-8b-instruct"; empty where there is none.
std::string_view size_in(std::string_view lower_case_name);

/// A preset and all that it is called.
struct KnownPreset {
  std::string_view id;
  std::vector<std::string_view> names;
};

/// "which of a, b and c?" where the name is a part of theirs, "did you mean 'a'?" where it is near; or empty.
std::string hint_for_name(const std::vector<KnownPreset>& presets, std::string_view name);

/// Words to say instead; empty for any other name.
std::string hint_for_card(std::string_view name);

/// Words to somebody who named a model that nobody can load, or that makes no text; empty for any other name.
std::string hint_for_model(std::string_view name);

}  // namespace llmcalc::read
