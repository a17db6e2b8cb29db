// The model that GGUF's metadata describes: its keys are those of config.json under other names
// (llama.cpp src/llama-arch.cpp, convert_hf_to_gguf.py), so the families of config.json say the rest.
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/checkpoint/gguf.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace llmcalc::read {
namespace {

using nlohmann::json;

/// An architecture of llama.cpp by the model_type of transformers.
struct Architecture {
  std::string_view gguf;
  std::string_view model_type;
};

constexpr Architecture architectures[] = {
    {"llama", "llama"},
    {"qwen2", "qwen2"},
    {"qwen2moe", "qwen2_moe"},
    {"qwen3", "qwen3"},
    {"qwen3moe", "qwen3_moe"},
    {"gemma", "gemma"},
    {"gemma2", "gemma2"},
    {"gemma3", "gemma3_text"},
    {"gpt-oss", "gpt_oss"},
    {"glm4", "glm4"},
    {"glm4moe", "glm4_moe"},
    {"phi2", "phi"},
    {"phi3", "phi3"},
    {"starcoder2", "starcoder2"},
    {"gpt2", "gpt2"},
    {"gptneox", "gpt_neox"},
    {"falcon", "falcon"},
    {"bloom", "bloom"},
    {"mpt", "mpt"},
    {"granite", "granite"},
    {"olmo2", "olmo2"},
    {"olmoe", "olmoe"},
    {"command-r", "cohere"},
    {"stablelm", "stablelm"},
    {"internlm2", "internlm2"},
    {"minicpm", "minicpm"},
    {"llama4", "llama4_text"},
    {"deepseek", "deepseek"},
};

/// A key behind the architecture's name, and that of config.json.
struct Key {
  std::string_view gguf;
  std::string_view config;
  std::string_view term;  ///< where no family knows the keys
};

constexpr Key keys[] = {
    {"block_count", "num_hidden_layers", "layers"},
    {"embedding_length", "hidden_size", "hidden"},
    {"feed_forward_length", "intermediate_size", "ffn"},
    {"attention.head_count", "num_attention_heads", "heads"},
    {"attention.head_count_kv", "num_key_value_heads", "kv_heads"},
    {"attention.key_length", "head_dim", "head_dim"},
    {"context_length", "max_position_embeddings", "max_position"},
    {"vocab_size", "vocab_size", "vocab"},
    {"expert_count", "num_experts", "experts"},
    {"expert_used_count", "num_experts_per_tok", "top_k"},
    {"expert_feed_forward_length", "moe_intermediate_size", "expert_ffn"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size", "shared_ffn"},
    {"expert_shared_count", "n_shared_experts", ""},
    {"leading_dense_block_count", "first_k_dense_replace", "dense_layers"},
    {"attention.sliding_window", "sliding_window", "window"},
    {"attention.q_lora_rank", "q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank", "kv_lora_rank"},
};

/// The largest of a value for each layer: layers without attention have no heads.
std::optional<std::uint64_t> value_of(const Gguf& file, const std::string& key) {
  if (const auto count = file.count(key)) return count;
  const GgufValue* value = file.find(key);
  if (value == nullptr || value->numbers.empty()) return std::nullopt;
  const double largest = std::ranges::max(value->numbers);
  constexpr double most = 9e15;
  return largest >= 0 && largest < most ? std::optional(static_cast<std::uint64_t>(largest)) : std::nullopt;
}

bool varies(const Gguf& file, const std::string& key) {
  const GgufValue* value = file.find(key);
  return value != nullptr && !value->numbers.empty() &&
         std::ranges::any_of(value->numbers, [&](double each) { return each != value->numbers.front(); });
}

bool has_tensor(const Gguf& file, std::string_view name) {
  return quantity::contains(file.tensors, name, &GgufTensor::name);
}

const GgufTensor* embedding(const Gguf& file) {
  return quantity::find_or_null(file.tensors, "token_embd.weight", &GgufTensor::name);
}

/// Rows of the token table; of a shard without it the tokens of the vocabulary.
std::optional<std::uint64_t> vocabulary(const Gguf& file, const std::string& prefix) {
  if (const GgufTensor* table = embedding(file)) return table->dimensions[1];
  if (const auto size = file.count(prefix + "vocab_size")) return size;
  const GgufValue* tokens = file.find("tokenizer.ggml.tokens");
  return tokens == nullptr ? std::nullopt : std::optional(tokens->length);
}

/// Key and value widths of latent attention are told apart in the files since they carry both forms.
void add_latent(const Gguf& file, const std::string& prefix, json& config) {
  const auto rope = file.count(prefix + "rope.dimension_count");
  const auto key = file.count(prefix + "attention.key_length_mla");
  const auto value = file.count(prefix + "attention.value_length_mla");
  if (!rope || !key || !value || *key < *rope) return;
  config["qk_rope_head_dim"] = *rope;
  config["qk_nope_head_dim"] = *key - *rope;
  config["v_head_dim"] = *value;
}

std::string model_type_of(const std::string& architecture, const Gguf& file) {
  const auto experts = file.count(architecture + ".expert_count").value_or(0);
  if (architecture == "llama" && experts > 0) return "mixtral";
  if (architecture == "deepseek2") {
    return file.count(architecture + ".attention.q_lora_rank").value_or(0) > 0 ? "deepseek_v3" : "deepseek_v2";
  }
  const auto* found = quantity::find_or_null(architectures, architecture, &Architecture::gguf);
  return found == nullptr ? std::string() : std::string(found->model_type);
}

}  // namespace

void describe_model(const Gguf& file, std::string_view place, Checkpoint& checkpoint) {
  const std::string architecture = file.text("general.architecture");
  if (architecture.empty()) return;  // a shard behind the first
  const std::string prefix = architecture + ".";
  const std::string type = model_type_of(architecture, file);
  json config;
  for (const Key& key : keys) {
    const std::string name = prefix + std::string(key.gguf);
    const auto value = key.config == "vocab_size" ? vocabulary(file, prefix) : value_of(file, name);
    if (!value) continue;
    config[std::string(key.config)] = *value;
    if (varies(file, name)) {
      checkpoint.notes.push_back(name + " differs from layer to layer: the largest is counted for all");
    }
    const bool says = !key.term.empty() && *value > 0;
    if (type.empty() && says) {
      const std::string where = std::string(place) + ":" + quantity::printable(name);
      checkpoint.words.push_back({std::string(key.term), std::to_string(*value), {Source::file, where}});
    }
  }
  if (type.empty()) {
    checkpoint.notes.push_back("the architecture '" + quantity::printable(architecture) +
                               "' is not known: its sizes are counted in layers like Llama's");
    return;
  }
  config["model_type"] = type;
  config["tie_word_embeddings"] = !has_tensor(file, "output.weight");
  if (type == "mixtral") config["num_local_experts"] = config["num_experts"];
  if (type.starts_with("deepseek")) config["n_routed_experts"] = config["num_experts"];
  add_latent(file, prefix, config);
  checkpoint.config = ConfigText{std::string(place), config.dump()};
}

namespace {

/// Numbers of llama.cpp ggml/include/ggml.h, block sizes of ggml/src/ggml-common.h.
constexpr GgufType gguf_types[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18},    {42, "Q2_0", 64, 18},
};

struct FileType {
  std::uint64_t id;
  std::string_view quant;
};

/// llama.cpp include/llama.h, llama_ftype.
constexpr FileType file_types[] = {
    {0, "f32"},     {1, "f16"},     {2, "q4_0"},     {3, "q4_1"},    {7, "q8_0"},       {8, "q5_0"},    {9, "q5_1"},
    {10, "q2_k"},   {11, "q3_k_s"}, {12, "q3_k_m"},  {13, "q3_k_l"}, {14, "q4_k_s"},    {15, "q4_k_m"}, {16, "q5_k_s"},
    {17, "q5_k_m"}, {18, "q6_k"},   {19, "iq2_xxs"}, {20, "iq2_xs"}, {21, "q2_k_s"},    {22, "iq3_xs"}, {23, "iq3_xxs"},
    {24, "iq1_s"},  {25, "iq4_nl"}, {26, "iq3_s"},   {27, "iq3_m"},  {28, "iq2_s"},     {29, "iq2_m"},  {30, "iq4_xs"},
    {31, "iq1_m"},  {32, "bf16"},   {36, "tq1_0"},   {37, "tq2_0"},  {38, "mxfp4_moe"},
};

}  // namespace

const GgufType* gguf_type(std::uint32_t id) {
  const auto* found = std::ranges::find(gguf_types, id, &GgufType::id);
  return found == std::end(gguf_types) ? nullptr : found;
}

std::string_view gguf_file_type(std::uint64_t id) {
  const auto* found = std::ranges::find(file_types, id, &FileType::id);
  return found == std::end(file_types) ? std::string_view() : found->quant;
}

}  // namespace llmcalc::read
