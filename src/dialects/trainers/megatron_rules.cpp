// What Megatron-LM's arguments mean together; defaults are those of megatron/training/arguments.py and of
// core/transformer/transformer_config.py.

#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/presets.hpp"
#include "spec/names.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <tuple>

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

/// The table of the model whose tokenizer is named: a few rows more than the tokenizer has tokens.
std::optional<std::int64_t> vocabulary_of_model(const Sheet& sheet) {
  const Setting* named = sheet.settings().find("tokenizer_model");
  if (named == nullptr || named->text.find('/') == std::string::npos) return std::nullopt;
  const auto preset = read::Catalogue().find_model(named->text);
  return preset && preset->is_called(named->text) ? std::optional(preset->shape.vocab) : std::nullopt;
}

/// The vocabulary that the arguments or their tokenizer say. The one that reads numbers has one more, for the end of a
/// document (tokenizer.py, _NullTokenizer).
std::optional<std::int64_t> said_vocabulary(const Sheet& sheet) {
  const std::string type = sheet.text("tokenizer_type");
  const auto said = sheet.count("vocab_size");
  if (said) return quantity::checked_add(*said, type == "nulltokenizer" ? 1 : 0);
  const auto* found = quantity::find_or_null(tokenizers, type, &Tokenizer::type);
  return found == nullptr ? vocabulary_of_model(sheet) : std::optional(found->vocabulary);
}

/// Rows of a table that is padded to a multiple of the ranks that share it (training/tokenizer,
/// vocab_size_with_padding).
void take_vocabulary(Sheet& sheet) {
  if (sheet.has("vocab")) return;
  const auto said = said_vocabulary(sheet);
  const auto divisor = sheet.count("make_vocab_size_divisible_by").value_or(usual_divisor);
  const auto ranks = sheet.count("tensor_model_parallel_size").value_or(1);
  const Setting* because = sheet.find({"vocab_size", "tokenizer_type", "tokenizer_model"});
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
  sheet.by_default("norm", "layernorm", "Megatron-LM default");
  if (!sheet.has("position") &&
      sheet.is_on("no_position_embedding")) {  // megatron/training/arguments.py, validate_args
    sheet.leave_open("position", "Megatron-LM starts no run with it beside learned positions",
                     sheet.said("no_position_embedding"));
  } else {
    sheet.by_default("position", "learned", "Megatron-LM default");
  }
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
  text.remove_prefix(dense.size());
  const auto count = quantity::take_number<std::int64_t>(text);
  const bool only = text.starts_with("+[1]*") && text.find('[', 2) == std::string_view::npos;
  return only ? count : std::nullopt;
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

void take_types(Sheet& sheet) {
  for (const auto key : {"bf16", "fp16"}) {
    if (sheet.is_on(key)) sheet.say("dtype", key, sheet.said(key));
  }
  sheet.by_default("dtype", "fp32", "Megatron-LM default");
  const bool in_blocks = sheet.text("fp8_recipe") == "mxfp8";  // delayed, tensorwise and blockwise scale larger parts
  if (const Setting* fp8 = sheet.find("fp8_format")) sheet.say("compute", in_blocks ? "mxfp8" : "fp8-e4m3", *fp8);
  if (const Setting* fp4 = sheet.find("fp4_format")) sheet.say("compute", "nvfp4", *fp4);
}

/// --recompute-granularity, -method, -num-layers, -modules.
void take_granularity(Sheet& sheet) {
  const Setting* granularity = sheet.find("recompute_granularity");
  if (granularity == nullptr) return;
  const std::string method = sheet.text("recompute_method");
  const auto layers = sheet.count("recompute_num_layers");
  const bool some = granularity->text == "full" && !method.empty() && layers;
  sheet.say("recompute", some ? method + "-" + std::to_string(*layers) : granularity->text, *granularity);
  const Setting* modules = sheet.find("recompute_modules");
  if (modules != nullptr && granularity->text == "selective") sheet.say("recompute_modules", modules->text, *modules);
}

void take_virtual_stages(Sheet& sheet) {
  const Setting* share = sheet.find("num_layers_per_virtual_pipeline_stage");
  if (share == nullptr) return;
  const auto layers = sheet.count("num_layers");
  const auto stages = sheet.count("pipeline_model_parallel_size").value_or(1);
  if (!layers || stages < 1) return;
  const auto size = sheet.count(share->key).value_or(0);
  if (size > 0 && *layers / stages >= size) sheet.say("vpp", std::to_string(*layers / stages / size), *share);
}

/// Megatron-FSDP shards what its strategy names (core/distributed/fsdp, data_parallel_sharding_strategy); nothing where
/// none is said.
void take_megatron_fsdp(Sheet& sheet) {
  if (!sheet.is_on("use_megatron_fsdp") && !sheet.is_on("use_custom_fsdp")) return;
  const Setting& because = *sheet.find({"use_megatron_fsdp", "use_custom_fsdp"});
  const std::string strategy = sheet.text("data_parallel_sharding_strategy");
  constexpr Spelling strategies[] = {
      {"optim", "zero1"}, {"optim_grads", "zero2"}, {"optim_grads_params", "zero3"}, {"no_shard", "ddp"}};
  for (const auto& [theirs, ours] : strategies) {
    if (strategy == theirs) sheet.say("sharding", ours, because);
  }
  sheet.assume(because, "Megatron-FSDP's own buffers are not modelled");
}

void take_sharding(Sheet& sheet) {
  // Whole tensors go to ranks (core/optimizer/layer_wise_optimizer.py, LayerWiseDistributedOptimizer).
  if (sheet.text("optimizer") == "dist_muon") sheet.say("sharding", "zero1", *sheet.find("optimizer"));
  take_megatron_fsdp(sheet);
}

/// A graph of the whole iteration, or of what the scope names.
void take_graphs(Sheet& sheet) {
  const Setting* graphs = sheet.find({"cuda_graph_impl", "enable_cuda_graph"});
  const std::string impl = sheet.text({"cuda_graph_impl", "enable_cuda_graph"});
  if (graphs == nullptr || impl == "none" || impl == "false") return;
  const std::string scope = sheet.text("cuda_graph_scope");
  if (scope.empty()) return sheet.assume(*graphs, "the memory of CUDA graphs is not counted");
  sheet.say("cuda_graph", scope.find("full_iteration") != std::string::npos ? "full" : "scoped", *graphs);
}

/// The dispatcher that sends a token once to each node (core/transformer/moe/token_dispatcher.py, flex with DeepEP).
void take_dispatcher(Sheet& sheet) {
  const Setting* backend = sheet.find("moe_flex_dispatcher_backend");
  if (backend != nullptr && sheet.text("moe_token_dispatcher_type") == "flex")
    sheet.say("node_dispatch", "1", *backend);
}

void take_loss(Sheet& sheet) {
  if (!sheet.is_on("cross_entropy_loss_fusion")) return;
  const bool by_te = sheet.text("cross_entropy_fusion_impl") == "te";
  sheet.say("loss", by_te ? "te-fused" : "vocab-parallel-fused", *sheet.find("cross_entropy_loss_fusion"));
}

void write_layout(const spec::Layout& layout, Page& page) {
  if (layout.cp > 1) page.put("cp_comm_type", layout.cp_exchange == spec::ContextExchange::ring ? "p2p" : "a2a");
  if (layout.node_dispatch) {
    page.put("moe_token_dispatcher_type", "flex");
    page.put("moe_flex_dispatcher_backend", "deepep");
  }
  if (layout.ep > 1 || layout.etp != layout.tp) page.put("expert_tensor_parallel_size", layout.etp);
}

void write_sharding(const spec::Layout& layout, Page& page) {
  const int stage = spec::zero_stage(layout.sharding);
  if (stage == 0) return;
  page.say("use_distributed_optimizer", true);
  if (layout.data_overlap.value_or(false)) page.say("overlap_param_gather", true);
  if (stage == 1) return;
  page.say("use_megatron_fsdp", true);
  page.put("data_parallel_sharding_strategy", stage == 2 ? "optim_grads" : "optim_grads_params");
  page.say("gradient_accumulation_fusion", false);
}

/// Products in fewer than 16 bits run beside a model in bf16 (training/arguments.py, _add_mixed_precision_args).
void write_types(const spec::Precision& precision, Page& page) {
  using formats::Dtype;
  const Dtype compute = precision.compute;
  const bool is_narrow = formats::is_narrow_float(compute);
  if ((is_narrow ? precision.weights : compute) == Dtype::bf16) page.say("bf16", true);
  if ((is_narrow ? precision.weights : compute) == Dtype::fp16) page.say("fp16", true);
  if (compute == Dtype::fp8_e4m3) page.put("fp8_format", "hybrid");
  if (compute == Dtype::nvfp4) page.put("fp4_format", "e2m1");
  if (compute != Dtype::mxfp8) return;
  page.put("fp8_format", "e4m3");
  page.put("fp8_recipe", "mxfp8");
}

void write_recompute_words(const spec::Recompute& recompute, Page& page) {
  using spec::RecomputeLayers;
  if (recompute.policy == spec::RecomputePolicy::selective) page.put("recompute_granularity", "selective");
  const auto modules = quantity::mapped(recompute.modules, spec::name_of<spec::RecomputeModule>);
  if (!modules.empty()) page.put("recompute_modules", quantity::joined(modules, " "));
  if (recompute.policy != spec::RecomputePolicy::full || recompute.layers == RecomputeLayers::every) return;
  page.put("recompute_granularity", "full");
  page.put("recompute_method", recompute.layers == RecomputeLayers::block ? "block" : "uniform");
  page.put("recompute_num_layers", recompute.count);
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

void write_megatron_run(Letter& letter) {
  const auto& [training, layout] = std::tie(letter.question.training, letter.question.layout);
  Page& page = letter.settings;
  write_layout(layout, page);
  write_sharding(layout, page);
  write_types(training.precision, page);
  write_recompute_words(training.recompute, page);
  if (training.cuda_graph == spec::CudaGraph::none) return;
  const bool whole = training.cuda_graph == spec::CudaGraph::full;
  page.put("cuda_graph_impl", whole ? "local" : "transformer_engine");
  page.put("cuda_graph_scope", whole ? "full_iteration" : "attn moe_router moe_preprocess");
}

void take_megatron_run(Sheet& sheet) {
  // arguments.py and yaml_arguments.py: without tensor parallelism sequence parallelism is switched off.
  if (sheet.count("tensor_model_parallel_size").value_or(1) == 1) sheet.unsay("sp");
  take_types(sheet);
  take_granularity(sheet);
  take_virtual_stages(sheet);
  take_sharding(sheet);
  take_loss(sheet);
  take_graphs(sheet);
  take_dispatcher(sheet);
  take_length(sheet, {"train_iters", {"max_epochs", "num_train_epochs"}});
}

}  // namespace llmcalc::dialects
