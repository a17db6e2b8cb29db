// One row a role: what screens call it, which words adapters are asked by, and what it is to schemes that narrow it.
#pragma once

#include "llmcalc/spec/role.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::spec {

inline constexpr std::size_t role_count = static_cast<std::size_t>(Role::projector) + 1;

/// Use of a matrix as schemes that quantize see it: they choose by it what they narrow, and how.
enum class Use {
  table,    ///< token embedding
  lookups,  ///< embeddings that each layer has for itself
  outside,  ///< beside the layers: files narrow it, engines leave it alone
  head,     ///< hidden state to vocabulary
  query,    ///< the first of attention
  key,
  value,
  attention_in,     ///< several of these in one matrix, or the projections of a gated delta net
  attention_other,  ///< gates, positions and indices of attention
  recurrence,       ///< into a state-space layer and out of it
  latent_down,      ///< down to the latents of MLA, which every rank has whole
  latent_up,        ///< up to its keys and values
  attention_out,    ///< the last of attention
  gate,
  up,
  gate_up,
  down,
  router,
  whole,   ///< a matrix that no scheme narrows
  vector,  ///< norms, biases, positions, convolutions
};

enum class AllLinear : bool { no, yes };

struct RoleFacts {
  Role role;
  std::string_view word;   ///< in descriptions of families
  std::string_view label;  ///< on screens
  Use use;
  AllLinear linear = AllLinear::no;  ///< "all-linear" gives it an adapter
  std::string_view targets = {};     ///< words of --lora-targets that name it
};

const RoleFacts& facts(Role role);
const std::array<RoleFacts, role_count>& all_roles();

using RoleSet = std::bitset<role_count>;

/// Roles that words of --lora-targets name.
RoleSet roles_of(const std::vector<std::string>& targets);

/// Words of --lora-targets for a module as checkpoints and peft call it ("q_proj", "mlp.experts.gate_up_proj"), between
/// commas; empty where no such module is known.
std::string_view words_of_module(std::string_view module);
/// The usual name of a module that a word stands for; the word where it is a name already.
std::string_view module_of_word(std::string_view word);
/// Every linear layer of a Llama-like decoder is among the words.
bool names_all_linear(const std::vector<std::string>& words);
inline constexpr std::string_view all_linear_word = "all-linear";

inline std::string_view label_of(Role role) { return facts(role).label; }
inline Use use_of(Role role) { return facts(role).use; }

}  // namespace llmcalc::spec
