#include "read/checkpoint/tensor_names.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace llmcalc::read {
namespace {

/// What quantizers keep beside the weights: GPTQ and AWQ, compressed-tensors, ModelOpt, bitsandbytes, MXFP4.
constexpr std::array<std::string_view, 16> beside_weights{".scales",
                                                          ".qzeros",
                                                          ".g_idx",
                                                          ".weight_scale",
                                                          ".weight_scale_2",
                                                          ".weight_shape",
                                                          ".input_scale",
                                                          ".absmax",
                                                          ".quant_map",
                                                          "_scales",
                                                          ".nested_absmax",
                                                          ".weight_scale_inv",
                                                          ".weight_zero_point",
                                                          ".nested_quant_map",
                                                          ".inv_freq",
                                                          ".input_global_scale"};

struct Packing {
  std::string_view ending;
  std::string_view type;
  std::uint64_t weights;  ///< an element
};

/// Eight 4-bit weights an I32 in GPTQ, AWQ and compressed-tensors; two an octet in NVFP4 and MXFP4.
constexpr Packing packings[] = {
    {".qweight", "I32", 8}, {".weight_packed", "I32", 8}, {".weight_packed", "U8", 2},
    {"_blocks", "U8", 2},   {".weight", "U8", 2},
};

bool is_beside(std::string_view name) {
  if (name.find(".quant_state.") != std::string_view::npos) return true;
  return std::ranges::any_of(beside_weights, [&](std::string_view ending) { return name.ends_with(ending); });
}

const StoredTensor* ending_with(const std::vector<StoredTensor>& tensors, std::string_view ending) {
  return quantity::find_if_or_null(tensors, [&](const auto& tensor) { return tensor.name.ends_with(ending); });
}

constexpr std::uint64_t most_layers = 100'000;

/// The number behind "layers." in a name, and one more.
std::uint64_t layers_until(std::string_view name) {
  constexpr std::string_view layers = "layers.";
  const auto at = name.find(layers);
  if (at == std::string_view::npos) return 0;
  name.remove_prefix(at + layers.size());
  const auto index = quantity::take_number<std::uint64_t>(name);
  return index && *index < most_layers ? *index + 1 : 0;
}

const Packing* packing_of(const StoredTensor& tensor) {
  const auto packs = [&](const Packing& p) { return tensor.type == p.type && tensor.name.ends_with(p.ending); };
  return quantity::find_if_or_null(packings, packs);
}

bool is_matrix(const StoredTensor* tensor) { return tensor != nullptr && tensor->shape.size() == 2; }

/// The tensors of a layer as Llama and its heirs call them.
struct LlamaTensors {
  explicit LlamaTensors(const std::vector<StoredTensor>& tensors);
  /// All are there, and heads of that width divide them.
  bool tell_shape() const;

  std::uint64_t layers = 0;
  const StoredTensor* table;
  const StoredTensor* query;
  const StoredTensor* key;
  const StoredTensor* gate;
  const StoredTensor* norm;  ///< of each query
  std::uint64_t head = 128;  ///< Llama 2 and 3, Mistral, Qwen: where no norm says it, the names do not either
};

LlamaTensors::LlamaTensors(const std::vector<StoredTensor>& tensors)
    : table(ending_with(tensors, "embed_tokens.weight")),
      query(ending_with(tensors, "self_attn.q_proj.weight")),
      key(ending_with(tensors, "self_attn.k_proj.weight")),
      gate(ending_with(tensors, "mlp.gate_proj.weight")),
      norm(ending_with(tensors, "self_attn.q_norm.weight")) {
  for (const auto& tensor : tensors) layers = std::max(layers, layers_until(tensor.name));
  if (norm != nullptr && norm->shape.size() == 1) head = norm->shape[0];
}

bool LlamaTensors::tell_shape() const {
  const bool there = layers > 0 && is_matrix(table) && is_matrix(query) && is_matrix(key) && is_matrix(gate);
  return there && head > 0 && query->shape[0] % head == 0 && key->shape[0] % head == 0;
}

}  // namespace

std::optional<std::uint64_t> parameters_of(const StoredTensor& tensor) {
  if (is_beside(tensor.name)) return 0;
  if (tensor.type == "F4") return tensor.elements;
  if (const Packing* packing = packing_of(tensor)) return tensor.elements * packing->weights;
  const bool packed = tensor.type == "I32" || tensor.type == "U8" || tensor.type == "I64";
  return packed ? std::nullopt : std::optional(tensor.elements);
}

std::vector<Given> shape_words(const std::vector<StoredTensor>& tensors, std::string_view place) {
  const LlamaTensors of(tensors);
  if (!of.tell_shape()) return {};
  std::vector<Given> words;
  const auto say = [&](std::string_view term, std::string text, const StoredTensor& because) {
    words.push_back({std::string(term), std::move(text), {Source::file, std::string(place) + ":" + because.name}});
  };
  say("layers", std::to_string(of.layers), *of.query);
  say("hidden", std::to_string(of.table->shape[1]), *of.table);
  say("heads", std::to_string(of.query->shape[0] / of.head), *of.query);
  say("kv_heads", std::to_string(of.key->shape[0] / of.head), *of.key);
  say("head_dim", std::to_string(of.head), of.norm == nullptr ? *of.query : *of.norm);
  say("ffn", std::to_string(of.gate->shape[0]), *of.gate);
  say("vocab", std::to_string(of.table->shape[0]), *of.table);
  const StoredTensor* output = ending_with(tensors, "lm_head.weight");
  say("tied", output == nullptr ? "1" : "0", output == nullptr ? *of.table : *output);
  if (of.norm != nullptr) say("qk_norm", "per-head", *of.norm);
  if (const StoredTensor* bias = ending_with(tensors, "self_attn.q_proj.bias")) say("bias", "qkv", *bias);
  return words;
}

}  // namespace llmcalc::read
