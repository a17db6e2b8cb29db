// The model of Megatron-LM's arguments; defaults are those of megatron/training/arguments.py and of
// core/transformer/transformer_config.py.
#include "dialects/trainers/megatron_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>

namespace llmcalc::dialects {
namespace {

/// GPT-2's byte-pair vocabulary, that of Megatron-LM's example scripts.
constexpr std::int64_t gpt2_vocabulary = 50'257;
constexpr std::int64_t usual_divisor = 128;  // --make-vocab-size-divisible-by

/// core/transformer/transformer_config.py, MLATransformerConfig
constexpr std::int64_t usual_kv_rank = 512;
constexpr std::int64_t usual_rope_dim = 64;
constexpr std::int64_t usual_head_dim = 128;

/// Its place is that of what the arguments leave unsaid; its value may hang on a variable.
const Setting* number_of_layers(const Sheet& sheet) { return sheet.settings().find("num_layers"); }

/// Tokenizers whose vocabulary is always the same (training/tokenizer/tokenizer.py; the models' own files).
struct Tokenizer {
  std::string_view type;
  std::int64_t vocabulary;
};
constexpr Tokenizer tokenizers[] = {
    {"llama2tokenizer", 32'000}, {"bertwordpiecelowercase", 30'522}, {"bertwordpiececase", 28'996}};

/// What the arguments or their tokenizer say. The one that reads numbers has one more, for the end of a document
/// (tokenizer.py, _NullTokenizer).
std::optional<std::int64_t> said_vocabulary(const Sheet& sheet) {
  const std::string type = sheet.text("tokenizer_type");
  const auto said = sheet.count("vocab_size");
  if (said) return quantity::checked_add(*said, type == "nulltokenizer" ? 1 : 0);
  const auto* found = quantity::find_or_null(tokenizers, type, &Tokenizer::type);
  return found == nullptr ? std::nullopt : std::optional(found->vocabulary);
}

/// Of a table that is padded to a multiple of the ranks that share it (training/tokenizer, vocab_size_with_padding).
void take_vocabulary(Sheet& sheet) {
  if (sheet.has("vocab")) return;
  const auto said = said_vocabulary(sheet);
  const auto divisor = sheet.count("make_vocab_size_divisible_by").value_or(usual_divisor);
  const auto ranks = sheet.count("tensor_model_parallel_size").value_or(1);
  const Setting* because = sheet.find({"vocab_size", "tokenizer_type"});
  if (because == nullptr) because = number_of_layers(sheet);
  if (because == nullptr || divisor < 1 || ranks < 1) return;
  const auto padded = quantity::ceil_to(said.value_or(gpt2_vocabulary), quantity::checked_multiply(divisor, ranks));
  sheet.say("vocab", std::to_string(padded), *because);
  if (!said) {
    sheet.assume("a vocabulary of 50,257, GPT-2's, padded to " + std::to_string(padded) +
                 ": the arguments do not say that of the tokenizer; --vocab does");
  }
}

void take_mlp(Sheet& sheet) {
  const bool gated = sheet.is_on("swiglu");
  const Setting* because = sheet.find({"swiglu", "squared_relu"});
  if (because == nullptr) because = number_of_layers(sheet);
  sheet.say("mlp", gated ? "swiglu" : sheet.is_on("squared_relu") ? "squared-relu" : "gelu", *because);
  const Setting* width = sheet.settings().find("hidden_size");
  if (!gated || width == nullptr || sheet.settings().has("ffn_hidden_size")) return;
  if (!width->unknown.empty()) return sheet.take("ffn", *width);
  if (const auto hidden = sheet.count("hidden_size")) {
    // arguments.py, validate_args: int((4 * hidden * 2 / 3) / 64) * 64
    constexpr std::int64_t unit = 64;
    sheet.say("ffn", std::to_string(quantity::checked_multiply(8, *hidden) / 3 / unit * unit), *sheet.find("swiglu"));
  }
}

void take_switches(Sheet& sheet) {
  const Setting& size = *number_of_layers(sheet);
  const auto because = [&](std::string_view key) -> const Setting& {
    const Setting* setting = sheet.find(key);
    return setting == nullptr ? size : *setting;
  };
  const bool unbiased = sheet.is_on("disable_bias_linear");
  const Setting& bias = because(unbiased ? "disable_bias_linear" : "add_qkv_bias");
  sheet.say("bias", !unbiased ? "all" : sheet.is_on("add_qkv_bias") ? "qkv" : "none", bias);
  const bool untied = sheet.is_on("untie_embeddings_and_output_weights");
  sheet.say("tied", untied ? "0" : "1", because("untie_embeddings_and_output_weights"));
  if (sheet.is_on("qk_layernorm")) sheet.say("qk_norm", "per-head", because("qk_layernorm"));
  // training/arguments.py, validate_args: the switch of old scripts stands for --position-embedding-type rope.
  constexpr std::string_view rotary = "use_rotary_position_embeddings";
  if (sheet.is_on(rotary)) sheet.say("position", "rope", because(rotary));
  sheet.by_default("norm", "layernorm", "Megatron-LM default");
  sheet.by_default("position", "learned", "Megatron-LM default");
}

void take_heads(Sheet& sheet) {
  const auto groups = sheet.count("num_query_groups");
  if (groups && sheet.is_on("group_query_attention")) {
    sheet.say("kv_heads", std::to_string(*groups), *sheet.find("num_query_groups"));
  }
  if (!sheet.is_on("multi_latent_attention") && sheet.find("kv_lora_rank") == nullptr) return;
  const auto take = [&](std::string_view key, std::string_view term, std::int64_t usual) {
    const Setting* setting = sheet.find(key);
    if (setting != nullptr) return sheet.say(term, setting->text, *setting);
    sheet.by_default(term, std::to_string(usual), "Megatron-LM default");
  };
  take("q_lora_rank", "q_lora_rank", 0);
  take("kv_lora_rank", "kv_lora_rank", usual_kv_rank);
  take("qk_head_dim", "qk_nope_head_dim", usual_head_dim);
  take("qk_pos_emb_head_dim", "qk_rope_head_dim", usual_rope_dim);
  take("v_head_dim", "v_head_dim", usual_head_dim);
}

/// The n of "[0]*n" at the front of "([0]*3+[1]*58)".
std::optional<std::int64_t> leading_dense(std::string_view text) {
  constexpr std::string_view dense = "([0]*";
  if (!text.starts_with(dense)) return std::nullopt;
  std::int64_t count = 0;
  const auto read = std::from_chars(text.data() + dense.size(), text.data() + text.size(), count);
  const std::string_view tail(read.ptr, static_cast<std::size_t>(text.data() + text.size() - read.ptr));
  const bool only = tail.starts_with("+[1]*") && tail.find('[', 2) == std::string_view::npos;
  return read.ec == std::errc() && only ? std::optional(count) : std::nullopt;
}

void take_experts(Sheet& sheet) {
  if (sheet.has("experts")) sheet.by_default("top_k", "2", "Megatron-LM default");
  const Setting* frequency = sheet.find("moe_layer_freq");
  if (frequency == nullptr || !sheet.has("experts")) return;
  const bool digits = quantity::is_number(frequency->text);
  std::string text = frequency->text;
  std::erase(text, ' ');
  if (digits) {
    sheet.say("moe_every", frequency->text, *frequency);
  } else if (const auto dense = leading_dense(text)) {
    sheet.say("dense_layers", std::to_string(*dense), *frequency);
  } else {
    sheet.assume(*frequency, "every layer has experts");
  }
}

/// Layers of several kinds, encoders beside decoders: what the other arguments say of the shape is not enough.
bool take_foreign(Sheet& sheet) {
  const Setting* foreign = sheet.find({"hybrid_layer_pattern", "hybrid_override_pattern", "hybrid_attention_ratio",
                                       "hybrid_mlp_ratio", "encoder_num_layers"});
  if (foreign == nullptr) return false;
  for (const auto term : {"layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "max_position", "norm",
                          "position", "dropout", "experts", "top_k", "expert_ffn", "shared_ffn", "vocab"}) {
    sheet.unsay(term);
  }
  sheet.leave_open("model", foreign->key + ": layers of several kinds are not read from the arguments", *foreign);
  return true;
}

void write_heads(const spec::Shape& shape, Page& page) {
  page.put("num_attention_heads", shape.heads);
  if (const auto& latent = shape.latent; latent.kv_rank > 0) {
    page.say("multi_latent_attention", true);
    if (latent.q_rank > 0) page.put("q_lora_rank", latent.q_rank);
    page.put("kv_lora_rank", latent.kv_rank);
    page.put("qk_head_dim", latent.qk_nope_dim);
    page.put("qk_pos_emb_head_dim", latent.qk_rope_dim);
    return page.put("v_head_dim", latent.v_dim);
  }
  if (shape.head_dim * shape.heads != shape.hidden) page.put("kv_channels", shape.head_dim);
  if (shape.kv_heads == shape.heads) return;
  page.say("group_query_attention", true);
  page.put("num_query_groups", shape.kv_heads);
}

}  // namespace

void write_megatron_model(Letter& letter) {
  const spec::Shape& shape = letter.question.model.shape;
  Page& page = letter.settings;
  page.put("num_layers", shape.layers);
  page.put("hidden_size", shape.hidden);
  page.put("ffn_hidden_size", shape.ffn);
  write_heads(shape, page);
  page.put("max_position_embeddings", std::max(letter.question.training.seq, shape.max_position));
  if (shape.mlp == spec::Mlp::swiglu) page.say("swiglu", true);
  if (!shape.mlp_bias) page.say("disable_bias_linear", true);
  if (!shape.tied) page.say("untie_embeddings_and_output_weights", true);
  if (shape.moe.experts == 0) return;
  page.put("num_experts", shape.moe.experts);
  page.put("moe_router_topk", shape.moe.top_k);
  page.put("moe_ffn_hidden_size", shape.moe.expert_ffn);
  page.say("moe_grouped_gemm", true);
}

void take_megatron_model(Sheet& sheet) {
  if (take_foreign(sheet) || number_of_layers(sheet) == nullptr) return;
  take_vocabulary(sheet);
  take_mlp(sheet);
  take_switches(sheet);
  take_heads(sheet);
  take_experts(sheet);
}

}  // namespace llmcalc::dialects
