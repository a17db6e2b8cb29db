#include "read/checkpoint/tensor_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>

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
  const auto found = std::ranges::find_if(tensors, [&](const auto& tensor) { return tensor.name.ends_with(ending); });
  return found == tensors.end() ? nullptr : &*found;
}

/// The number behind "layers." in a name, and one more.
std::uint64_t layers_until(std::string_view name) {
  constexpr std::string_view layers = "layers.";
  const auto at = name.find(layers);
  if (at == std::string_view::npos) return 0;
  const auto digits = name.substr(at + layers.size());
  std::uint64_t index = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  constexpr std::uint64_t most = 100'000;
  return read.ec == std::errc() && index < most ? index + 1 : 0;
}

}  // namespace

std::optional<std::uint64_t> parameters_of(const StoredTensor& tensor) {
  if (is_beside(tensor.name)) return 0;
  if (tensor.type == "F4") return tensor.elements;
  for (const Packing& packing : packings) {
    if (tensor.type == packing.type && tensor.name.ends_with(packing.ending)) return tensor.elements * packing.weights;
  }
  const bool packed = tensor.type == "I32" || tensor.type == "U8" || tensor.type == "I64";
  return packed ? std::nullopt : std::optional(tensor.elements);
}

std::vector<Given> shape_words(const std::vector<StoredTensor>& tensors, std::string_view place) {
  std::uint64_t layers = 0;
  for (const auto& tensor : tensors) layers = std::max(layers, layers_until(tensor.name));
  const StoredTensor* table = ending_with(tensors, "embed_tokens.weight");
  const StoredTensor* query = ending_with(tensors, "self_attn.q_proj.weight");
  const StoredTensor* key = ending_with(tensors, "self_attn.k_proj.weight");
  const StoredTensor* gate = ending_with(tensors, "mlp.gate_proj.weight");
  const auto is_matrix = [](const StoredTensor* tensor) { return tensor != nullptr && tensor->shape.size() == 2; };
  if (layers == 0 || !is_matrix(table) || !is_matrix(query) || !is_matrix(key) || !is_matrix(gate)) return {};

  constexpr std::uint64_t usual_head = 128;  // Llama 2 and 3, Mistral, Qwen: the names do not say it
  const StoredTensor* norm = ending_with(tensors, "self_attn.q_norm.weight");
  const std::uint64_t head = norm != nullptr && norm->shape.size() == 1 ? norm->shape[0] : usual_head;
  if (head == 0 || query->shape[0] % head != 0 || key->shape[0] % head != 0) return {};

  std::vector<Given> words;
  const auto say = [&](std::string_view term, std::uint64_t value, const StoredTensor& because) {
    words.push_back(
        {std::string(term), std::to_string(value), {Source::file, std::string(place) + ":" + because.name}});
  };
  say("layers", layers, *query);
  say("hidden", table->shape[1], *table);
  say("heads", query->shape[0] / head, *query);
  say("kv_heads", key->shape[0] / head, *key);
  say("head_dim", head, norm == nullptr ? *query : *norm);
  say("ffn", gate->shape[0], *gate);
  say("vocab", table->shape[0], *table);
  const StoredTensor* output = ending_with(tensors, "lm_head.weight");
  say("tied", output == nullptr ? 1 : 0, output == nullptr ? *table : *output);
  if (norm != nullptr) {
    say("qk_norm", 0, *norm);
    words.back().text = "per-head";
  }
  if (const StoredTensor* bias = ending_with(tensors, "self_attn.q_proj.bias")) {
    say("bias", 0, *bias);
    words.back().text = "qkv";
  }
  return words;
}

}  // namespace llmcalc::read
