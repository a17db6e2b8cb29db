// The model that GGUF's metadata describes: its keys are those of config.json under other names
// (llama.cpp src/llama-arch.cpp, convert_hf_to_gguf.py), so the families of config.json say the rest.
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/checkpoint/gguf.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
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
#include "formats/gguf_architectures.inc"
};

/// A key behind the architecture's name, and that of config.json.
struct Key {
  std::string_view gguf;
  std::string_view config;
  std::string_view term = {};  ///< where no family knows the keys
};

constexpr Key keys[] = {
#include "formats/gguf_keys.inc"
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
  if (config.contains("kv_lora_rank") && !config.contains("q_lora_rank")) config["q_lora_rank"] = nullptr;  // V2-Lite
  const auto rope = file.count(prefix + "rope.dimension_count");
  const auto key = file.count(prefix + "attention.key_length_mla");
  const auto value = file.count(prefix + "attention.value_length_mla");
  if (!rope || !key || !value || *key < *rope) return;
  config["qk_rope_head_dim"] = *rope;
  config["qk_nope_head_dim"] = *key - *rope;
  config["v_head_dim"] = *value;
}

/// Biases and norms of queries are told by their tensors (gguf-py/gguf/constants.py, TENSOR_NAMES), of which the first
/// shard of a file may have none.
void add_attention(const Gguf& file, json& config) {
  if (file.tensors.empty()) return;
  const bool biased = has_tensor(file, "blk.0.attn_q.bias") || has_tensor(file, "blk.0.attn_qkv.bias");
  for (const auto* key : {"attention_bias", "use_qkv_bias", "bias"}) config[key] = biased;
  config["use_qk_norm"] = has_tensor(file, "blk.0.attn_q_norm.weight");
  if (!has_tensor(file, "blk.0.attn_norm_2.weight")) return;
  config["new_decoder_architecture"] = true;  // Falcon 40B
  config["num_kv_heads"] = config["num_key_value_heads"];
}

std::string model_type_of(const std::string& architecture, const Gguf& file) {
  const auto experts = file.count(architecture + ".expert_count").value_or(0);
  if (architecture == "llama" && experts > 0) return "mixtral";
  if (architecture == "deepseek2") {
    constexpr std::uint64_t sigmoid = 2;  // gguf-py/gguf/constants.py, ExpertGatingFuncType: V3's, which adds a bias
    return file.count(architecture + ".expert_gating_func") == sigmoid ? "deepseek_v3" : "deepseek_v2";
  }
  const auto* found = quantity::find_or_null(architectures, architecture, &Architecture::gguf);
  return found == nullptr ? std::string() : std::string(found->model_type);
}

struct TensorUse {
  std::string_view name;
  spec::Use use;
  spec::FileTensors::Part part;
};

constexpr TensorUse tensor_uses[] = {
#include "formats/gguf_tensors.inc"
};

}  // namespace

void hold(const GgufTensor& tensor, spec::FileTensors& held) {
  std::string_view name = quantity::without_start(tensor.name, "blk.");
  const bool in_layer = name.size() < tensor.name.size();
  const auto layer = in_layer ? quantity::take_number<std::uint32_t>(name) : std::optional<std::uint32_t>(0);
  if (!layer || !name.ends_with(".weight") || tensor.bytes == 0) return;
  const std::string_view stem = quantity::without_end(quantity::without_start(name, "."), ".weight");
  const std::string_view plain = quantity::without_end(stem, "_exps");
  const std::string_view matrix = quantity::without_end(plain, "_shexp");
  for (const TensorUse& each : tensor_uses) {
    if (each.name != matrix) continue;
    held.add(each.use, each.part, plain.size() < stem.size(), *layer, static_cast<double>(tensor.elements),
             static_cast<double>(tensor.bytes));
  }
}

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
  add_attention(file, config);
  add_latent(file, prefix, config);
  checkpoint.config = ConfigText{std::string(place), config.dump()};
}

namespace {

struct FileType {
  std::uint64_t id;
  std::string_view quant;
};

constexpr FileType file_types[] = {
#include "formats/file_types.inc"
};

}  // namespace

std::string_view gguf_file_type(std::uint64_t id) {
  const auto* found = quantity::find_or_null(file_types, id, &FileType::id);
  return found == nullptr ? std::string_view() : found->quant;
}

}  // namespace llmcalc::read
