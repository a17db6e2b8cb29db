// What a model_type says without saying it: the structure that transformers builds for a family, and the values of
// keys that its files leave out.
#pragma once

#include "llmcalc/spec/shape.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::read {

class ConfigDocument;
class ConfigReader;

/// A property that a key of the file switches; without a key it always has the value `otherwise`.
struct Flag {
  std::string_view key;
  bool otherwise = false;
};

inline constexpr Flag never{"", false};
inline constexpr Flag always{"", true};

/// Which linear layers have a bias.
struct Biases {
  Flag qkv = never;
  Flag out = never;
  Flag mlp = never;
  Flag head = never;
};

/// Attention alone, as most files of the Llama lineage switch it.
constexpr Biases on_attention(std::string_view key, bool otherwise = false) {
  return {.qkv = {key, otherwise}, .out = {key, otherwise}};
}

/// Every linear layer but the head.
constexpr Biases on_layers(std::string_view key, bool otherwise = false) {
  return {.qkv = {key, otherwise}, .out = {key, otherwise}, .mlp = {key, otherwise}};
}

inline constexpr Biases on_all_layers = {.qkv = always, .out = always, .mlp = always};

enum class Experts { none, optional, required };

/// Sizes that the family's files may leave out; 0: the file must say it, or it follows from others.
struct OmittedSizes {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< 0: as many as heads
  std::int64_t head_dim = 0;  ///< 0: hidden / heads
  std::int64_t ffn = 0;
  std::int64_t ffn_per_hidden = 0;  ///< ffn as a multiple of hidden
  std::int64_t vocab = 0;
  std::int64_t max_position = 0;
};

/// Windowed attention; a family without it ignores sliding_window.
struct Windows {
  bool possible = false;
  Flag switched_on = always;
  std::int64_t width = 0;       ///< where the file does not say
  std::int64_t full_every = 0;  ///< where the file does not say; 0: all layers are windowed
};

struct Family {
  std::string_view model_type;
  std::string_view architecture;  ///< "Llama" of the class LlamaForCausalLM
  std::string_view source;
  spec::Stack stack = spec::Stack::decoder;
  spec::Norm norm = spec::Norm::rmsnorm;
  int norms_per_layer = 2;
  bool final_norm = true;
  bool embedding_norm = false;
  bool pooler = false;
  spec::Position position = spec::Position::rope;
  std::int64_t position_offset = 0;  ///< rows of the position table beyond max_position
  std::string_view activation = "silu";
  bool gated = true;
  bool tied = false;
  Biases biases = {};
  Flag parallel_residual = never;
  spec::QkNorm qk_norm = spec::QkNorm::none;
  Flag qk_norm_on = always;
  bool output_gate = false;
  bool attention_sinks = false;
  OmittedSizes omitted = {};
  Windows windows = {};
  bool latent = false;
  bool linear = false;
  Experts experts = Experts::none;
  bool router_bias = false;
  bool expert_bias = false;
  bool correction_bias = false;
  bool shared_gate = false;
  spec::Writing writing = {};
  /// What the rows of this table cannot say; called last, with the sizes already read.
  void (*adjust)(ConfigReader& reader, spec::Shape& shape) = nullptr;
};

std::span<const Family> dense_families();
std::span<const Family> expert_families();

/// The family of a model_type; null where it is not known.
const Family* family_named(std::string_view model_type);

/// The family of a file by its text model's model_type, by the file's own, or by its architecture.
/// \throws quantity::BadInput when none is known: names the nearest and the keys that a Llama-like decoder lacks
const Family& family_of(const ConfigDocument& document);

}  // namespace llmcalc::read
